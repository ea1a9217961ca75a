"""What releases would cost: as `reserve` finds it, without a byte written and without a ledger made."""

import random
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_tools import one_thing
from tests.support.paying import group_debit, unchanged

from takifugu.accounting.ledger import Amount, Ledger
from takifugu.accounting.ledger import ledger as ledgers
from takifugu.core.errors import BudgetExceeded, LedgerError, ReadingChanged

FRAMEWORK = one_thing(7)
THESE: dict[str, Any] = {"entries": "these"}


def amount(epsilon: int | str) -> Amount:
    return Amount(Fraction(epsilon))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    where = tmp_path / "ledger.db"
    Ledger.open(where).reserve("data", [group_debit(FRAMEWORK, "1/2")], 1, **THESE)
    return where


def test_a_rehearsal_without_a_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen = Ledger.blank().preview("data", [group_debit(FRAMEWORK, 1)], **THESE)
    assert (seen.before, seen.after) == (Amount(), amount(1))
    assert (seen.budget, seen.budget_is_declared, seen.fits) == (amount(1), False, True)
    declared = Ledger.blank().preview("data", [group_debit(FRAMEWORK, 1)], 4, **THESE)
    assert (declared.budget, declared.budget_is_declared) == (amount(4), True)
    assert not Ledger.blank().preview("data", [group_debit(FRAMEWORK, 2)], 1, **THESE).fits
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_and_reserve_says_the_same(path: Path) -> None:
    before = path.read_bytes()
    for epsilon in ("1/4", "1/2", "3/4", "2"):
        debit = group_debit(FRAMEWORK, epsilon)
        path.write_bytes(before)
        seen = Ledger.open(path).preview("data", [debit], **THESE)
        assert path.read_bytes() == before
        if seen.fits:
            assert seen.after == Ledger.open(path).reserve("data", [debit], **THESE).spent
        else:
            with pytest.raises(BudgetExceeded) as refused:
                Ledger.open(path).reserve("data", [debit], **THESE)
            assert str(refused.value) == str(seen.over)
        assert (seen.before, seen.budget, seen.budget_is_declared) == (amount("1/2"), amount(1), True)
    assert [file.name for file in path.parent.iterdir()] == ["ledger.db"]


@pytest.mark.parametrize("over", ["work", "sleep", "both"])
def test_whichever_budget_it_is_preview_says_what_reserve_would(tmp_path: Path, over: str) -> None:
    """Sleep's is what its first release cost, and nobody declared it."""
    book, how = Ledger.open(tmp_path / "ledger.db"), {**THESE, "same_people": True}
    book.reserve("sleep", [group_debit(FRAMEWORK, "1/2", "Ana")], **THESE)
    book.reserve("work", [group_debit(FRAMEWORK, "1/2", "Ben")], 9 if over == "sleep" else "1/2", **how)
    if over == "work":
        book.budget("sleep", 9)
    debits = [group_debit(FRAMEWORK, "1/4", "Ana")]
    seen = book.preview("work", debits, **how)
    assert not seen.fits
    assert (seen.before, seen.after) == (amount("1/2"), amount("3/4"))
    with pytest.raises(BudgetExceeded) as refused:
        book.reserve("work", debits, **how)
    assert str(seen.over) == str(refused.value)


def test_a_preview_of_another_ledger_is_computed_anew(tmp_path: Path) -> None:
    book, other = (Ledger.open(tmp_path / f"{name}.db") for name in ("book", "other"))
    for ledger, times in ((book, 1), (other, 3)):
        for _ in range(times):
            ledger.reserve("s", [group_debit(FRAMEWORK, 1, "ana")], 10, **THESE)
    debits = [group_debit(FRAMEWORK, 1, "ana", "zoe")]
    for preview in (book.preview, Ledger.blank().preview):
        other.pay(preview("s", debits, **THESE))
    assert other.spent("s", "ana") == amount(5)
    assert other.spent("s", "zoe") == amount(2)
    assert other.check() == ()


def test_a_preview_is_paid_for_once(path: Path) -> None:
    """Its random names are those of the payment: a second one of them would hide what became of the first."""
    ledger, debits = Ledger.open(path), [group_debit(FRAMEWORK, "1/8")]
    seen = ledger.preview("data", debits, **THESE)
    first = ledger.pay(seen)
    ledger.keep(first.group, b"noisy")
    with unchanged(path), pytest.raises(LedgerError, match="was paid for before"):
        ledger.pay(seen)
    assert [payment.ids for payment in ledger.payments("data")][1:] == [first.ids]


# Costs are computed while others pay.


def test_nobody_waits_while_costs_are_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real, go_on, computing = tmp_path / "ledger.db", ledgers.trial_of, threading.Event(), threading.Event()
    Ledger.open(path).reserve("data", [group_debit(FRAMEWORK, 1)], 9, **THESE)

    def waiting(*args: Any) -> Any:
        returned = real(*args)
        if threading.current_thread() is other and not computing.is_set():
            computing.set()
            assert go_on.wait(60)
        return returned

    def slow() -> None:
        Ledger.open(path).reserve("data", [group_debit(FRAMEWORK, 1)], **THESE)

    monkeypatch.setattr(ledgers, "trial_of", waiting)
    other = threading.Thread(target=slow)
    other.start()
    assert computing.wait(60)
    assert Ledger.open(path, timeout=0.5).reserve("data", [group_debit(FRAMEWORK, 1)], **THESE).spent == amount(2)
    go_on.set()
    other.join()
    assert Ledger.open(path).spent("data") == amount(3)


# Readings, as classes of equal ones, against a list of lists.


@pytest.mark.sampled(9)
@pytest.mark.parametrize("seed", range(6))
def test_classes_of_readings_are_those_of_a_plain_list(seed: int) -> None:
    """A text that is known is never asked about; what is declared the same joins the nearest, else it stays apart."""
    chance, ledger, classes = random.Random(seed), Ledger.blank(), list[list[str]]()
    for _ in range(8):
        text, answer = f"v: {chance.randrange(4)}\nw: {chance.randrange(2)}", chance.choice((None, True, False))
        known = [text for members in classes for text in members]

        def reserve(same: bool | None, text: str = text) -> object:
            debits, budget = [group_debit(FRAMEWORK, "1/9", "ana")], None if ledger.show() else 9
            return ledger.reserve("s", debits, budget, reading=text, same_entries=same, why="told", **THESE)

        if text in known or not known:
            reserve(None)
            classes += [] if known else [[text]]
            continue
        with pytest.raises(ReadingChanged) as caught:
            reserve(None)
        if answer is None:
            continue
        reserve(answer)
        before = caught.value.before.rpartition("\n")[0]
        home = next((members for members in classes if answer and before in members), None)
        assert not answer or home is not None
        classes.append([text]) if home is None else home.append(text)
    view = ledger.view()
    readings: dict[int, list[str]] = {}
    for step in view.steps:
        reading = view.content(view.groups[step.group].paid.reading).decode()
        members = readings.setdefault(view.tables.find(step.entries), [])
        members += [] if reading in members else [reading]
    assert sorted(map(sorted, readings.values())) == sorted(map(sorted, classes))
