"""What is written: texts that read back as they are, keys, sources, tags of people, and amounts."""

import hmac
import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_tools import chain_framework, dump, epsilons_of, group_debit, one_thing, refused_unchanged

from takifugu.accounting.amounts import SMALLEST_SPEND, short
from takifugu.accounting.ledger import Amount, Debit, Ledger
from takifugu.accounting.ledger.asking import roster_of, units_in
from takifugu.accounting.ledger.encoding import canonical
from takifugu.accounting.ledger.store import Store
from takifugu.accounting.ledger.values import NOTHING, Spent, as_budget, most
from takifugu.core.errors import InputError, LedgerError


def test_equal_values_are_written_alike() -> None:
    assert canonical({"b": [1, "x"], "a": {"d": 1, "c": 2}}, "this") == '{"a":{"c":2,"d":1},"b":[1,"x"]}'
    assert canonical({"x": "\U0001f421"}, "this") == '{"x":"\\ud83d\\udc21"}'  # which JSON writes in two halves


@pytest.mark.parametrize("value", [math.inf, math.nan, Fraction(1, 3), {1: 2}, (1, 2), {1, 2}, "half a \ud83d"])
def test_what_does_not_read_back_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match=r"the charge .*: name states by strings or numbers"):
        canonical({"x": value}, "the charge")


def test_a_new_ledger_has_its_own_long_key_and_a_new_source_no_budget_of_any_kind(tmp_path: Path) -> None:
    ledgers = [Ledger.open(tmp_path / f"{n}.db") for n in range(3)]
    assert [len(key) for key in {ledger.store.key for ledger in ledgers}] == [32] * 3
    new = ledgers[0].source("data")
    assert (new.budget, new.budget_is_implied) == (None, False)
    assert ledgers[0].source("data") == new
    (row,) = ledgers[0].show()
    assert (row.budget, row.budget_is_implied, row.units, row.releases, row.unpublished) == (None, False, 0, 0, 0)


# Amounts, as they are compared, written and left: every rounding is against the one who spends.
MUCH_EPSILON, MUCH_DELTA = Amount(Fraction(3), Fraction(0)), Amount(Fraction(1), Fraction(1, 10))


def test_the_most_is_the_largest_epsilon_and_the_largest_delta_and_an_amount_fits_in_both() -> None:
    assert most([MUCH_EPSILON, MUCH_DELTA]) == most([MUCH_DELTA, MUCH_EPSILON]) == Amount(Fraction(3), Fraction(1, 10))
    assert most([]) == NOTHING
    assert MUCH_EPSILON.fits(MUCH_EPSILON)
    assert not MUCH_EPSILON.fits(MUCH_DELTA)
    assert not MUCH_DELTA.fits(MUCH_EPSILON)


@pytest.mark.parametrize("gap", [Fraction(0), Fraction(1, 10**8), Fraction(1, 10**30), Fraction(-1, 10**9)])
@pytest.mark.parametrize("budget", [Fraction("0.0150300689"), Fraction(2, 3), Fraction("12345.678"), Fraction(1, 7)])
def test_what_is_spent_and_a_budget_are_written_in_their_true_order(budget: Fraction, gap: Fraction) -> None:
    spent = budget - gap
    words = Amount(spent, spent / 10**9).with_budget(Amount(budget, budget / 10**9))
    amounts = [[Fraction(part.split()[-1].replace(",", "")) for part in text.split(", delta")] for text in words]
    for written, most_written in zip(*amounts, strict=True):
        assert (written < most_written, written == most_written) == (spent < budget, spent == budget)
    assert amounts[0][0] >= spent
    assert gap == 0 or amounts[1][0] <= budget


@pytest.mark.parametrize(("value", "up", "down"), [
    (Fraction(1, 3), "1/3", "1/3"),
    (Fraction(123456789), "123,456,789", "123,456,789"),
    (Fraction(1234567891), "1.23457e9", "1.23456e9"),
    (Fraction(1000001, 3000000), "0.333334", "0.333333"),
    (Fraction(2**40 + 1, 2**40), "1.00001", "1"),
])  # fmt: skip
def test_what_is_spent_is_written_up_and_what_is_left_down(value: Fraction, up: str, down: str) -> None:
    assert (short(value, up=True), short(value, up=False)) == (up, down)
    assert Fraction(up.replace(",", "")) >= value >= Fraction(down.replace(",", ""))
    assert str(Amount(value, value)) == f"epsilon {up}, delta {up}"
    assert Amount(value, Fraction(0)).text(up=False) == f"epsilon {down}"


def test_what_is_left_is_never_below_nothing() -> None:
    spent, budget = Amount(Fraction(1, 2), Fraction(1, 100)), Amount(Fraction(2), Fraction(3, 100))
    assert Spent(spent, budget, ()).left == Amount(Fraction(3, 2), Fraction(1, 50))
    assert Spent(budget, spent, ()).left == NOTHING
    assert Spent(spent, None, ()).left is None


def test_the_smallest_budget() -> None:
    assert as_budget(SMALLEST_SPEND).epsilon == SMALLEST_SPEND
    assert as_budget(Amount(Fraction(1), Fraction(1, 9))).delta == Fraction(1, 9)
    with pytest.raises(InputError, match="too small to be meant"):
        as_budget(SMALLEST_SPEND * Fraction(999, 1000))


# Keyed hashes of 16 bytes stand for people: of two that were alike one would pay for both, or both are refused.


def debits_of(units: int) -> list[Debit]:
    """Return debits of so many units, each of which costs epsilon 1."""
    one = group_debit(one_thing(7), 1)
    return [replace(one, unit=f"participant {n}") for n in range(units)]


def alike(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let names have one tag."""
    real = Store.tag_of_unit
    monkeypatch.setattr(Store, "tag_of_unit", lambda self, name: real(self, names[0] if name in names else name))


@pytest.mark.parametrize("name", ["", "Ana", "Zoë", "n" * 200])
def test_the_tag_of_a_person_is_an_hmac_of_16_bytes(tmp_path: Path, name: str) -> None:
    ledgers = [Ledger.open(tmp_path / f"{n}.db") for n in range(3)]
    for ledger in ledgers:
        assert ledger.tag_of(name) == hmac.digest(ledger.store.key, b"unit\0" + name.encode(), "sha256")[:16]
    assert len({ledger.tag_of(other) for ledger in ledgers for other in (name, "Ben")}) == 6


@pytest.mark.parametrize("names", [("Ana", "Ben"), ("", "Ana")])
def test_two_people_of_one_tag_are_not_debited_together(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str]
) -> None:
    alike(monkeypatch, *names)
    debits = [group_debit(chain_framework(7), "1/2", name) for name in ("Ana", "Ben", "Cid")]
    refused_unchanged(ledger, LedgerError, "one keyed hash for two people", "data", debits, budget=9)


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
        spent.append(epsilons_of(book))
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
