"""The build for this machine, made once."""

from pathlib import Path

import pytest

from deploy.build import HERE, build


@pytest.fixture(scope="session")
def built() -> Path:
    return build(HERE).parent
