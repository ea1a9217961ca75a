"""What an extension registers in a test ends with it."""

from collections.abc import Iterator

import pytest
from tests.support.registries import restored


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    with restored():
        yield
