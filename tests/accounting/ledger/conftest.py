"""A new ledger of events for each test."""

from pathlib import Path

import pytest

from takifugu.accounting.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "ledger.db")
