"""The lock, pyproject.toml, the Makefile and the conda environments agree."""

import re
import tomllib
from importlib import metadata

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def lock(repository):
    lines = (repository / "envs/requirements.lock").read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


@pytest.fixture(scope="module")
def project(repository):
    return tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_version_is_exact_and_stands_once(lock, repository):
    lines = [line for line in (repository / "envs/requirements.lock").read_text(encoding="utf-8").splitlines() if line]
    assert lines == sorted(lines, key=str.lower)
    assert len(lines) == len(lock)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line) for line in lines)


def test_what_the_project_names_is_locked(lock, project):
    names = [*project["dependencies"], *(name for group in project["optional-dependencies"].values() for name in group)]
    for requirement in map(Requirement, names):
        if requirement.name != "torch":
            assert canonicalize_name(requirement.name) in lock, f"{requirement.name} is not in envs/requirements.lock"


def test_torch_has_one_version_everywhere(lock, project, repository):
    pinned = next(name for name in project["dependencies"] if name.startswith("torch"))
    assert "torch" not in lock
    for file in ("Makefile", "envs/pipeline.post-deploy.sh"):
        assert pinned in (repository / file).read_text(encoding="utf-8")


def test_the_conda_environment_offers_the_python_that_the_project_wants(project, repository):
    environment = yaml.safe_load((repository / "envs/pipeline.yaml").read_text(encoding="utf-8"))
    python = next(entry for entry in environment["dependencies"] if entry.startswith("python"))
    assert project["requires-python"] in python


def test_the_installed_packages_are_the_locked_ones(lock):
    installed = {name: metadata.version(name) for name in lock}
    assert installed == {name: next(iter(requirement.specifier)).version for name, requirement in lock.items()}
