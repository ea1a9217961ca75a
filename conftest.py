"""How the tests are run: Hypothesis profiles, and documents whose every code block is executed."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from sybil import Sybil
from tests.support import documents

settings.register_profile("local", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "local")

_documents = Sybil(documents.parsers(), patterns=["*.md"], setup=documents.enter, teardown=documents.leave)
pytest_collect_file = _documents.pytest()


@pytest.fixture(autouse=True)
def _doctests_write_nowhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
