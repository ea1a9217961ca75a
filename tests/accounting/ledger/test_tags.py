"""Keyed hashes of 16 bytes stand for people: of two that were alike one would pay for both, or both are refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.ledger_tools import chain_framework, dump, group_debit, one_thing

from takifugu.accounting.ledger import Debit, Ledger
from takifugu.accounting.ledger.asking import roster_of, units_in
from takifugu.accounting.ledger.store import Store
from takifugu.core.errors import LedgerError


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "ledger.db")


def debits_of(units: int) -> list[Debit]:
    """Return debits of so many units, each of which costs epsilon 1."""
    one = group_debit(one_thing(7), 1)
    return [replace(one, unit=f"participant {n}") for n in range(units)]


def alike(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let names have one tag."""
    real = Store.tag_of_unit
    monkeypatch.setattr(Store, "tag_of_unit", lambda self, name: real(self, names[0] if name in names else name))


def test_a_tag_has_16_bytes_that_differ_between_ledgers(tmp_path: Path) -> None:
    tags = {Ledger.open(tmp_path / f"{n}.db").tag_of(name) for n in range(3) for name in ("", "Ana", "Ben")}
    assert {len(tag) for tag in tags} == {16}
    assert len(tags) == 9


@pytest.mark.parametrize("names", [("Ana", "Ben"), ("", "Ana")])
def test_two_people_of_one_tag_are_not_debited_together(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str]
) -> None:
    alike(monkeypatch, *names)
    before = dump(ledger.store.path)
    debits = [group_debit(chain_framework(7), "1/2", name) for name in ("Ana", "Ben", "Cid")]
    with pytest.raises(LedgerError, match="one keyed hash for two people"):
        ledger.reserve("data", debits, budget=9)
    assert dump(ledger.store.path) == before


def test_two_people_of_one_tag_who_come_apart_pay_for_each_other(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever is released about either, none is charged less than with a tag of its own."""
    honest = Ledger.open(tmp_path / "honest.db")
    debits = [group_debit(chain_framework(n), e, name) for n, e, name in ((7, "1/2", "Ana"), (9, 1, "Ben"))]
    releases = [[debits[0]], [debits[1]], [debits[1]], [debits[0]]]
    spent = []
    for book in (honest, ledger):
        if book is ledger:
            alike(monkeypatch, "Ana", "Ben")
        for together in releases:
            book.reserve("data", together, budget=99)
        spent.append({one.unit: one.spent.epsilon for one in book.spent("data").units})
    assert (len(spent[0]), len(spent[1])) == (2, 1)
    assert min(spent[1].values()) > max(spent[0].values())
    assert ledger.check() == ()


@pytest.mark.parametrize("shapes", [1, 2, 256, 257])
def test_a_roster_is_read_as_it_was_written(shapes: int) -> None:
    units = {bytes([n % 256, n // 256] * 8): n % shapes for n in range(600)}
    roster = roster_of(units, shapes)
    assert units_in(roster, shapes) == units
    assert len(roster) == 600 * (16 + {1: 0, 2: 1, 256: 1, 257: 2}[shapes])


def test_units_of_one_past_are_written_once_and_part_when_they_differ(ledger: Ledger) -> None:
    """A release about all of them touches no row of a unit; one about some of them divides their standing."""

    def standings() -> list[tuple[int, str]]:
        return [(units, epsilon) for _, _, _, epsilon, _, units, _ in dump(ledger.store.path)["standings"]]

    everybody = debits_of(20)
    ledger.reserve("data", everybody, budget=99)
    assert standings() == [(20, "1")]
    before = dump(ledger.store.path)["units"]
    ledger.reserve("data", everybody)
    assert standings() == [(20, "2")]
    assert dump(ledger.store.path)["units"] == before
    ledger.reserve("data", everybody[:8])
    assert sorted(standings()) == [(8, "3"), (12, "2")]
    ledger.reserve("data", everybody)
    assert sorted(standings()) == [(8, "4"), (12, "3")]
    for mine in (everybody[:4], everybody[4:8]):
        ledger.reserve("data", mine)
    assert sorted(standings()) == [(4, "5"), (4, "5"), (12, "3")]
    assert ledger.check() == ()
    ledger.rebuild()
    assert sorted(standings()) == [(4, "5"), (4, "5"), (12, "3")]


def test_a_unit_takes_less_than_64_bytes(ledger: Ledger) -> None:
    """Its row, its tag in the event, and a share of the pages; of a second release about it nothing."""

    def size() -> int:
        with closing(sqlite3.connect(ledger.store.path)) as connection:
            connection.execute("pragma wal_checkpoint(truncate)")
            return ledger.store.path.stat().st_size

    few = size()
    debits = debits_of(20_000)
    for _ in range(2):
        ledger.reserve("data", debits, budget=99)
        assert size() - few < 50 * 20_000
