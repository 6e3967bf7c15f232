from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).parent.parent

# The machine that runs the tests may be busy: a slow example is no fault.
settings.register_profile("infoecon", deadline=None, derandomize=True)
settings.load_profile("infoecon")


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the clone."""
    return REPOSITORY
