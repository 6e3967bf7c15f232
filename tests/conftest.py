from pathlib import Path

import pytest
from clones import copy_of
from hypothesis import settings

REPOSITORY = Path(__file__).parent.parent

# The machine that runs the tests may be busy: a slow example is no fault.
settings.register_profile("infoecon", deadline=None, derandomize=True)
settings.load_profile("infoecon")


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the clone."""
    return REPOSITORY


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
