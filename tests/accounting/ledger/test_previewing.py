"""What releases would cost: as `reserve` finds it, without a byte written and without a ledger made."""

import shlex
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.accounting.ledger.test_accounts import alone, pooled_debits, singles
from tests.accounting.ledger.test_people import about
from tests.support.ledger_tools import TWO_BITS, chain_framework, charge, group_debit, one_thing, with_delta

from takifugu.accounting.composition import joint
from takifugu.accounting.ledger import Amount, Debit, Ledger, preview
from takifugu.accounting.ledger.previewing import Charged
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import BudgetExceeded, InputError, LedgerError
from takifugu.mechanisms import group, wasserstein
from takifugu.model.queries import Count, Histogram

FRAMEWORK = one_thing(7)
NOTHING = Amount(Fraction(0), Fraction(0))


def amount(epsilon: int | str) -> Amount:
    return Amount(Fraction(epsilon), Fraction(0))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    where = tmp_path / "ledger.db"
    Ledger.open(where).reserve("data", [group_debit(FRAMEWORK, "1/2")], budget=1)
    return where


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


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


def test_a_charge_above_the_own_epsilon_says_why(empty: Path) -> None:
    """The first release was made for sequences that forget; under the second belief it costs more."""
    debits = []
    for framework, units in ((chain_framework(100, 0.6), 12), (chain_framework(100, 0.9), 120)):
        noisy = charge(framework, Count(1), units, Covers.ENTRIES)
        alone = joint(framework, [replace(noisy, framework="")]).epsilon
        debits.append(Debit(framework, replace(noisy, epsilon=alone)))
    Ledger.open(empty).reserve("data", debits[:1], budget=50)
    (one,) = preview(empty, "data", debits[1:]).charges
    assert one.charged.epsilon > one.alone.epsilon
    assert one.reason.endswith("every belief is charged for every release")
    assert one.reason.startswith("earlier releases were made under another belief")


def test_what_is_added_is_exact_and_says_why(empty: Path) -> None:
    far, book = chain_framework(100, 0.7), Ledger.open(empty)
    quiet, loud = (charge(far, Count(1), scale, Covers.ENTRIES) for scale in (24, 2))
    book.reserve("sum", [about("", "1/2")], budget=9)
    for source, past in (("less", quiet), ("more", loud)):
        book.reserve(source, [Debit(far, past)], budget=99)
    two = [about("", "1/4", name="a"), about("", "1/8", name="b")]
    assert preview(empty, "sum", two).charges == (Charged(1, amount("3/8"), amount("3/8"), "its own epsilon is added"),)
    for source, released, why in (
        ("less", quiet, "what values reveal about each other is paid for once, together with the other releases"),
        ("more", loud, "together with the other releases its noise hides less than alone"),
    ):
        added = joint(far, [released, released]).epsilon - joint(far, [released]).epsilon
        (one,) = preview(empty, source, [Debit(far, released)]).charges
        assert (one.units, one.alone, one.charged) == (1, amount(1), Amount(added, Fraction(0)))
        assert one.reason == why


def test_a_delta_is_added_too(empty: Path) -> None:
    debits = [Debit(FRAMEWORK, with_delta(FRAMEWORK, "1/4"))]
    previewed = preview(empty, "data", debits)
    both = Amount(Fraction(1, 4), Fraction(1, 1000))
    assert previewed.charges[0].alone == previewed.charges[0].charged == previewed.after == previewed.budget == both
    Ledger.open(empty).reserve("data", debits, budget=(1, "1/100"))
    assert preview(empty, "data", debits).charges == previewed.charges


def test_those_whom_a_pooled_promise_ties_are_listed_and_the_others_are_not(empty: Path) -> None:
    book = Ledger.open(empty)
    book.reserve("data", pooled_debits({"Ana": (1,), "Ben": (1,)}, Count(1), wasserstein.MECHANISM), budget=9)
    book.reserve("data", [about("Cid")])
    first, second = preview(empty, "data", [about("Ana", "1/4")]).charges
    assert (first.units, first.alone, first.charged) == (1, amount("1/4"), amount("1/4"))
    assert (second.units, second.alone, second.charged) == (1, NOTHING, amount("1/4"))
    assert second.reason.startswith("nothing is released about it, but a pooled answer ties it")


@pytest.mark.parametrize("over", ["work", "sleep", "both"])
def test_whichever_budget_it_is_preview_says_what_reserve_would(empty: Path, over: str) -> None:
    """Sleep's is what its first release cost, and nobody declared it."""
    book = Ledger.open(empty)
    book.reserve("sleep", [about("Ana", "1/2")])
    book.reserve("work", [about("Ben", "1/2")], budget=9 if over == "sleep" else "1/2")
    if over == "work":
        book.set_budget("sleep", 9)
    debits = [about("Ana", "1/4")]
    previewed = preview(empty, "work", debits, same_people=True)
    assert not previewed.fits
    assert (previewed.before, previewed.after) == (amount("1/2"), amount("3/4"))
    with pytest.raises(BudgetExceeded) as refused:
        book.reserve("work", debits, same_people=True)
    assert previewed.words == str(refused.value)
    assert ("no budget was declared" in previewed.words) == (over == "sleep")
    again = preview(empty, "sleep", [about("Cid", "3/4")])
    assert (again.budget_is_declared, again.fits) == (over == "work", over == "work")
    assert ("no budget was declared" in again.words) == (over != "work")


def test_units_that_are_charged_alike_are_one_line(empty: Path) -> None:
    units = {"ann": (4, 2), "bob": (6,), "cid": (3,)}
    Ledger.open(empty).reserve("data", alone(units, Histogram(), group.MECHANISM), budget=9)
    previewed = preview(empty, "data", alone({**units, "dan": (3,)}, Histogram(), group.MECHANISM))
    assert sum(one.units for one in previewed.charges) == 4
    assert all(one.alone == amount(1) for one in previewed.charges)


def test_what_has_no_joint_promise_is_told_and_not_raised(empty: Path) -> None:
    first, second = singles(TWO_BITS)
    Ledger.open(empty).reserve("data", [first], budget=100)
    previewed = preview(empty, "data", [second])
    assert (previewed.fits, previewed.after, previewed.charges) == (False, None, ())
    assert "is alone" in previewed.words


def test_what_cannot_be_counted_is_raised(path: Path) -> None:
    for error, options in ((LedgerError, {"budget": 2}), (InputError, {"budget": 0})):
        with pytest.raises(error, match="budget"):
            preview(path, "data", [group_debit(FRAMEWORK, "1/4")], **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nothing to reserve"):
        preview(path, "data", [])
    Ledger.open(path).reserve("people", [group_debit(FRAMEWORK, "1/4", "Ana")], budget=1)
    assert "same_people" in str(preview(path, "others", [group_debit(FRAMEWORK, "1/4", "Ana")]).asks)
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


def test_a_budget_below_what_another_unit_has_spent_is_raised(empty: Path) -> None:
    book = Ledger.open(empty)
    book.reserve("data", [group_debit(FRAMEWORK, 1, "Ana")])  # its budget is what it cost
    for ask in (book.reserve, lambda *args: preview(empty, *args)):
        with pytest.raises(LedgerError, match=r"has spent epsilon 1 already: epsilon 0\.5 is less"):
            ask("data", [group_debit(FRAMEWORK, "1/4", "Bob")], "1/2")
