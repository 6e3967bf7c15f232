"""A clone of the working tree in which the whole pipeline has run once on config/test.yaml."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TRACKED = ("Snakefile", "rules", "workflow", "config", "profiles", "published", "envs")


class Clone:
    """A copy of the project in a folder of its own, and Snakemake calls in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def command(self, *arguments: str) -> list[str]:
        return [
            *(sys.executable, "-m", "snakemake", "--cores", "2"),
            *("--configfile", "config/test.yaml"),
            *arguments,
        ]

    def snakemake(self, *arguments: str, **options) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.root,
            env=os.environ | {"PYTHONWARNINGS": "default"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            **options,
        )

    def planned(self, *arguments: str) -> set[str]:
        """Names of the rules that a dry run would run."""
        run = self.snakemake("--dry-run", "--quiet", "rules", *arguments)
        assert run.returncode == 0, run.stderr
        whole = self.snakemake("--dry-run", *arguments)
        text = whole.stdout + whole.stderr
        table = text.partition("Job stats:")[2].partition("total")[0].splitlines()[3:]
        return {line.split()[0] for line in table if line.strip()} - {"all"}


def copy_of(repository: Path, root: Path) -> Clone:
    root.mkdir(parents=True, exist_ok=True)
    for name in TRACKED:
        source = repository / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, root / name)
    return Clone(root)


@pytest.fixture(scope="session")
def fresh_clone(repository, tmp_path_factory):
    """Make copies of the project in which nothing has run."""
    return lambda: copy_of(repository, tmp_path_factory.mktemp("clone") / "project")


@pytest.fixture(scope="session")
def finished(fresh_clone):
    """A copy in which the default target was made."""
    clone = fresh_clone()
    run = clone.snakemake()
    assert run.returncode == 0, run.stderr[-4000:]
    return clone
