"""Clocks that go wrong change no total: events follow each other by their numbers, and `created` is for readers."""

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.ledger_edits import published

from takifugu.accounting.ledger import Ledger, events


class Backwards:
    """A clock that runs an hour back whenever it is asked."""

    hours = 0

    @classmethod
    def now(cls, zone: object) -> datetime:
        cls.hours += 1
        return datetime(2026, 3, 1, 12, tzinfo=UTC) - timedelta(hours=cls.hours)


def test_two_hosts_an_hour_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The later payment is dated before the earlier one, and both before the ledger began."""
    monkeypatch.setattr(events, "datetime", Backwards)
    hosts = [Ledger.open(tmp_path / "ledger.db") for _ in range(2)]
    for number in range(4):
        published(hosts[number % 2], budget=9 if number == 0 else None)
    rows = [json.loads(text) for text, _ in hosts[0].store.after(0)]
    dates = [row["created"] for row in rows if row["kind"] in ("began", "paid")]
    assert dates == sorted(dates, reverse=True)
    for host, other in (hosts, hosts[::-1]):
        assert host.spent("data") == other.spent("data")
        assert host.spent("data").epsilon == Fraction(4, 10)
        assert [payment.group for payment in host.payments()] == [payment.group for payment in other.payments()]
        assert host.check() == ()
