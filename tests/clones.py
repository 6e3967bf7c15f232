"""Copies of the project in which the pipeline runs for the tests."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

TRACKED = ("Snakefile", "rules", "workflow", "config", "profiles", "published", "envs")


class Clone:
    """A copy of the project in a folder of its own, and Snakemake calls in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def command(self, *arguments: str) -> list[str]:
        # Targets come first: --configfile takes every word that follows it.
        return [sys.executable, "-m", "snakemake", *arguments, "--cores", "2", "--configfile", "config/test.yaml"]

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

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a run in the background; what it says goes to ``driver.log``."""
        with (self.root / "driver.log").open("ab") as log:
            return subprocess.Popen(
                self.command(*arguments), cwd=self.root, stdout=log, stderr=log, start_new_session=True
            )

    def wait_for(self, condition: Callable[[], object], seconds: float = 120.0) -> None:
        """Wait until a running pipeline got as far as a test wants."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, (self.root / "driver.log").read_text()[-3000:]
            time.sleep(0.05)

    def planned(self, *arguments: str) -> set[str]:
        """Names of the rules that a dry run would run."""
        run = self.snakemake("--dry-run", *arguments)
        text = run.stdout + run.stderr
        assert run.returncode == 0, text[-3000:]
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
