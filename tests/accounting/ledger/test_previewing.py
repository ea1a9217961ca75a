"""What releases would cost: as `reserve` finds it, without a byte written and without a ledger made."""

import shlex
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.accounting.ledger.test_accounts import alone, pooled_debits
from tests.accounting.ledger.test_people import about
from tests.support.ledger_tools import (
    TWO_BITS,
    chain_framework,
    charge,
    group_debit,
    one_thing,
    promised,
    table_framework,
    with_delta,
)

from takifugu.accounting.composition import charge_of, joint
from takifugu.accounting.ledger import Amount, Debit, Ledger, preview
from takifugu.accounting.ledger.previewing import Charged
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import BudgetExceeded, InputError, LedgerError
from takifugu.mechanisms import group, wasserstein
from takifugu.model.queries import Count, Histogram, Identity

FRAMEWORK = one_thing(7)
NOTHING = Amount(Fraction(0), Fraction(0))


def amount(epsilon: int | str) -> Amount:
    return Amount(Fraction(epsilon), Fraction(0))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    where = tmp_path / "ledger.db"
    Ledger.open(where).reserve("data", [group_debit(FRAMEWORK, "1/2")], budget=1)
    return where


@pytest.mark.parametrize("where", [None, "missing.db"])
def test_a_ledger_that_is_not_there_is_empty_and_is_not_made(tmp_path: Path, where: str | None) -> None:
    place = None if where is None else tmp_path / where
    previewed = preview(place, "data", [group_debit(FRAMEWORK, 1)])
    assert (previewed.before, previewed.after) == (NOTHING, amount(1))
    assert (previewed.budget, previewed.budget_is_declared) == (amount(1), False)
    assert (previewed.fits, previewed.words) == (True, "")
    assert preview(place, "data", [group_debit(FRAMEWORK, 1)], budget=4).budget == amount(4)
    assert not preview(place, "data", [group_debit(FRAMEWORK, 2)], budget=1).fits
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_and_reserve_says_the_same(path: Path) -> None:
    before = path.read_bytes()
    for epsilon in ("1/4", "1/2", "3/4", "2"):
        debit = group_debit(FRAMEWORK, epsilon)
        previewed = preview(path, "data", [debit])
        assert path.read_bytes() == before
        copy = path.with_name(f"copy {len(epsilon)}{epsilon[0]}.db")
        copy.write_bytes(before)
        if previewed.fits:
            assert previewed.after == Ledger.open(copy).reserve("data", [debit]).spent
        else:
            with pytest.raises(BudgetExceeded) as refused:
                Ledger.open(copy).reserve("data", [debit])
            assert str(refused.value).replace(shlex.quote(str(copy)), str(path)) == previewed.words
        assert (previewed.before, previewed.budget, previewed.budget_is_declared) == (amount("1/2"), amount(1), True)
    assert sorted(p.name for p in path.parent.glob("ledger.db*")) == ["ledger.db"]


def test_a_charge_above_the_own_epsilon_says_why(tmp_path: Path) -> None:
    """The first release was made for sequences that forget; under the second belief it costs more."""
    path = tmp_path / "ledger.db"
    fast, slow = chain_framework(100, 0.6), chain_framework(100, 0.9)
    charges = [charge(f, Count(1), units, Covers.ENTRIES) for f, units in ((fast, 12), (slow, 120))]
    epsilons = [joint(f, [replace(c, framework="")]).epsilon for f, c in zip((fast, slow), charges, strict=True)]
    first, second = (replace(c, epsilon=epsilon) for c, epsilon in zip(charges, epsilons, strict=True))
    Ledger.open(path).reserve("data", [Debit(fast, first)], budget=50)
    previewed = preview(path, "data", [Debit(slow, second)])
    (one,) = previewed.charges
    assert one.charged.epsilon > one.alone.epsilon
    assert one.reason.endswith("every belief is charged for every release")
    assert one.reason.startswith("earlier releases were made under another belief")


def test_what_is_added_is_exact_and_says_why(tmp_path: Path) -> None:
    path, far = tmp_path / "ledger.db", chain_framework(100, 0.7)
    quiet, loud = (charge(far, Count(1), scale, Covers.ENTRIES) for scale in (24, 2))
    book = Ledger.open(path)
    book.reserve("sum", [about("", "1/2")], budget=9)
    for source, past in (("less", quiet), ("more", loud)):
        book.reserve(source, [Debit(far, past)], budget=99)
    two = [about("", "1/4", name="a"), about("", "1/8", name="b")]
    assert preview(path, "sum", two).charges == (Charged(1, amount("3/8"), amount("3/8"), "its own epsilon is added"),)
    for source, released, why in (
        ("less", quiet, "what values reveal about each other is paid for once, together with the other releases"),
        ("more", loud, "together with the other releases its noise hides less than alone"),
    ):
        added = joint(far, [released, released]).epsilon - joint(far, [released]).epsilon
        (one,) = preview(path, source, [Debit(far, released)]).charges
        assert (one.units, one.alone, one.charged) == (1, amount(1), Amount(added, Fraction(0)))
        assert one.reason == why


def test_a_delta_is_added_too(tmp_path: Path) -> None:
    debits = [Debit(FRAMEWORK, with_delta(FRAMEWORK, "1/4"))]
    previewed = preview(tmp_path / "ledger.db", "data", debits)
    both = Amount(Fraction(1, 4), Fraction(1, 1000))
    assert previewed.charges[0].alone == previewed.charges[0].charged == previewed.after == previewed.budget == both
    Ledger.open(tmp_path / "ledger.db").reserve("data", debits, budget=(1, "1/100"))
    assert preview(tmp_path / "ledger.db", "data", debits).charges == previewed.charges


def test_those_whom_a_pooled_promise_ties_are_listed_and_the_others_are_not(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    book = Ledger.open(path)
    book.reserve("data", pooled_debits({"Ana": (1,), "Ben": (1,)}, Count(1), wasserstein.MECHANISM), budget=9)
    book.reserve("data", [about("Cid")])
    first, second = preview(path, "data", [about("Ana", "1/4")]).charges
    assert (first.units, first.alone, first.charged) == (1, amount("1/4"), amount("1/4"))
    assert (second.units, second.alone, second.charged) == (1, NOTHING, amount("1/4"))
    assert second.reason.startswith("nothing is released about it, but a pooled answer ties it")


@pytest.mark.parametrize("over", ["work", "sleep", "both"])
def test_whichever_budget_it_is_preview_says_what_reserve_would(tmp_path: Path, over: str) -> None:
    """Sleep's is what its first release cost, and nobody declared it."""
    path = tmp_path / "ledger.db"
    book = Ledger.open(path)
    book.reserve("sleep", [about("Ana", "1/2")])
    book.reserve("work", [about("Ben", "1/2")], budget=9 if over == "sleep" else "1/2")
    if over == "work":
        book.set_budget("sleep", 9)
    debits = [about("Ana", "1/4")]
    previewed = preview(path, "work", debits, same_people=True)
    assert not previewed.fits
    assert (previewed.before, previewed.after) == (amount("1/2"), amount("3/4"))
    with pytest.raises(BudgetExceeded) as refused:
        book.reserve("work", debits, same_people=True)
    assert previewed.words == str(refused.value)
    assert ("no budget was declared" in previewed.words) == (over == "sleep")
    again = preview(path, "sleep", [about("Cid", "3/4")])
    assert (again.budget_is_declared, again.fits) == (over == "work", over == "work")
    assert ("no budget was declared" in again.words) == (over != "work")


def test_units_that_are_charged_alike_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    units = {"ann": (4, 2), "bob": (6,), "cid": (3,)}
    ledger = Ledger.open(path)
    ledger.reserve("data", alone(units, Histogram(), group.MECHANISM), budget=9)
    previewed = preview(path, "data", alone({**units, "dan": (3,)}, Histogram(), group.MECHANISM))
    assert sum(one.units for one in previewed.charges) == 4
    assert all(one.alone == amount(1) for one in previewed.charges)


def test_what_has_no_joint_promise_is_told_and_not_raised(tmp_path: Path) -> None:
    path, framework = tmp_path / "ledger.db", table_framework(*TWO_BITS, "s")
    first, second = (Debit(framework, charge_of(promised(framework, Identity(n), wasserstein.MECHANISM))) for n in "uv")
    Ledger.open(path).reserve("data", [first], budget=100)
    previewed = preview(path, "data", [second])
    assert (previewed.fits, previewed.after, previewed.charges) == (False, None, ())
    assert "is alone" in previewed.words


def test_what_cannot_be_counted_is_raised(path: Path) -> None:
    for error, options in ((LedgerError, {"budget": 2}), (InputError, {"budget": 0})):
        with pytest.raises(error, match="budget"):
            preview(path, "data", [group_debit(FRAMEWORK, "1/4")], **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nothing to reserve"):
        preview(path, "data", [])
    Ledger.open(path).reserve("people", [group_debit(FRAMEWORK, "1/4", "Ana")], budget=1)
    with pytest.raises(InputError, match="same_people"):
        preview(path, "others", [group_debit(FRAMEWORK, "1/4", "Ana")])
    previewed = preview(path, "others", [group_debit(FRAMEWORK, "1/4", "Ana")], same_people=True)
    assert previewed.after == amount("1/2")
    (one,) = previewed.charges
    assert one.reason.startswith("releases about another source of the same people")
    Ledger.open(path).reserve("late", [group_debit(FRAMEWORK, "1/4", "Ana")], budget=1, same_people=False)
    (one,) = preview(path, "late", [group_debit(FRAMEWORK, "1/8", "Ana")], same_people=True).charges
    assert "releases about another source of the same people" in one.reason


def test_a_ledger_that_goes_away_is_not_made_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Ledger.open

    def gone(where: Path, **more: Any) -> Ledger:
        where.unlink(missing_ok=True)
        return opened(where, **more)

    monkeypatch.setattr(Ledger, "open", gone)
    with pytest.raises(LedgerError, match="there is no ledger"):
        preview(path, "data", [group_debit(FRAMEWORK, "1/4")])
    assert not path.exists()


@pytest.mark.parametrize(
    ("keep", "words"), [(None, "is a folder"), (0, "empty file"), *((n, "is damaged") for n in (1, 100, 2048, -1))]
)
def test_a_file_that_is_no_ledger_any_more_is_raised(path: Path, keep: int | None, words: str) -> None:
    where = path.parent if keep is None else path
    if keep is not None:
        path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(LedgerError, match=words):
        preview(where, "data", [group_debit(FRAMEWORK, "1/4")])


def test_a_budget_below_what_another_unit_has_spent_is_raised(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    book = Ledger.open(path)
    book.reserve("data", [group_debit(FRAMEWORK, 1, "Ana")])  # its budget is what it cost
    for ask in (book.reserve, lambda *args: preview(path, *args)):
        with pytest.raises(LedgerError, match=r"has spent epsilon 1 already: epsilon 0\.5 is less"):
            ask("data", [group_debit(FRAMEWORK, "1/4", "Bob")], "1/2")
