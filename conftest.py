"""How the tests are run: Hypothesis profiles, and documents whose every code block is executed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from sybil import Sybil
from tests.support import documents

# The same examples everywhere and every time, and none fails for being slow. `make fuzz` looks for new ones.
always: dict[str, Any] = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **always)
settings.register_profile("explore", derandomize=False, print_blob=True, **always)
settings.load_profile("same")

_documents = Sybil(documents.parsers(), patterns=["*.md"], setup=documents.enter, teardown=documents.leave)
pytest_collect_file = _documents.pytest()


@pytest.fixture(autouse=True)
def _doctests_write_nowhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
