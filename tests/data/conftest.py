"""CSV files as DuckDB reads them, and as they are read where it is not installed."""

import pytest


@pytest.fixture
def without_duckdb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takifugu.data.files.formats.find_spec", lambda name: None if name == "duckdb" else name)


@pytest.fixture(params=["duckdb", "polars"])
def reader(request: pytest.FixtureRequest) -> str:
    """Read CSV files with DuckDB, and without."""
    if request.param == "polars":
        request.getfixturevalue("without_duckdb")
    return str(request.param)
