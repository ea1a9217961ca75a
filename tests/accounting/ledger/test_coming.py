"""A ledger that is not there yet is made with what is first written: what is asked or refused before leaves nothing."""

from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_edits import debit, kinds, pay, published

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger import ledger as ledgers
from takifugu.core.errors import BudgetExceeded, LedgerError
from takifugu.core.lasting import lasting, open_things


def test_nothing_is_made_before_something_is_paid(tmp_path: Path) -> None:
    announced = list[bool]()
    ledger = Ledger.coming(tmp_path / "ledger.db", lambda: announced.append(True))
    assert ledger.is_new
    assert ledger.show() == ledger.pending() == ledger.check() == ()
    assert ledger.preview("data", [debit()], 1, entries="these").fits
    with pytest.raises(BudgetExceeded, match=r"ledger\.db"):
        pay(ledger, debit(epsilon="2"), budget=1)
    with pytest.raises(LedgerError, match="no source"):
        ledger.budget("data", 3)
    assert [*tmp_path.iterdir()] == announced == []
    before = ledger.id
    published(ledger, budget=1)
    published(ledger)
    assert announced == [True]
    assert (ledger.is_new, ledger.id) == (True, before)
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.db"]
    again = Ledger.coming(tmp_path / "ledger.db")
    assert (again.is_new, again.id, again.check()) == (False, before, ())


def test_another_process_makes_it_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its key is another one: whoever is charged by both is one person."""
    path = tmp_path / "ledger.db"
    late, real, others = Ledger.coming(path), ledgers.trial_of, list[Any]()
    rehearsed = late.id

    def outrun(*words: Any) -> Any:
        computed = real(*words)
        if not others:
            others.append(path)
            others[0] = pay(Ledger.open(path), budget=9)
        return computed

    monkeypatch.setattr(ledgers, "trial_of", outrun)
    pay(late)
    assert not late.is_new
    assert late.id == Ledger.open(path).id != rehearsed
    assert kinds(late) == ["began", "budget", "paid", "paid"]
    assert late.view().people.sizes == [2]
    assert late.spent("data", "ann").epsilon * 10 == 2
    assert late.check() == ()


def test_another_process_makes_it_and_pays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many events as were rehearsed, under another key: what was decided on the first is not written to it."""
    path = tmp_path / "ledger.db"
    late, real = Ledger.coming(path), ledgers.trial_of

    def outrun(*words: Any) -> Any:
        computed = real(*words)
        Ledger.open(path)
        return computed

    monkeypatch.setattr(ledgers, "trial_of", outrun)
    pay(late, budget=9)
    assert kinds(Ledger.open(path)) == ["began", "budget", "paid"]
    assert late.check() == Ledger.open(path).check() == ()


def test_two_that_wait_for_one_are_one(tmp_path: Path) -> None:
    with lasting():
        one, other = (Ledger.coming(tmp_path / "ledger.db") for _ in range(2))
        assert one.id != other.id
        pay(one, budget=9)
        assert pay(other).spent.epsilon * 10 == 2
        assert (one.id, one.check()) == (other.id, ())
        (opened,) = (open_things() or {}).values()  # it is closed at the end
        assert Ledger.open(tmp_path / "ledger.db") is opened
        assert opened.id == one.id
