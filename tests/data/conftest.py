"""Files of tests are small, and DuckDB reads the large ones: here it reads all."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_file_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takifugu.data.files.csv_file.SMALL", 0)
