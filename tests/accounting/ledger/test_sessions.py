"""Sessions: paid in full before the first question, each answer kept before the next, never anything given back."""

import signal
from fractions import Fraction
from typing import Any

import pytest
from tests.support.ledger_edits import answer_and_die, ask_in_a_race, debit, pay
from tests.support.processes import in_a_child, side_by_side

from takifugu.accounting.ledger import SESSION, Amount, Ledger
from takifugu.core.errors import InputError, LedgerError


@pytest.fixture
def group(ledger: Ledger) -> str:
    return pay(ledger, debit(epsilon="1/2"), budget="1/2", recipe=SESSION).group


def test_values_of_a_release_are_not_kept_in_a_session(ledger: Ledger, group: str) -> None:
    ledger.answer(group, 0, ("how many", "7"))
    assert ledger.keep(group, b"all at once") != b"all at once"
    assert ledger.answers(group) == (("how many", "7"),)


@pytest.mark.parametrize("question", [("x", float("nan")), ("half a \ud83d", "7")])
def test_an_answer_that_would_not_read_back_is_refused(ledger: Ledger, group: str, question: Any) -> None:
    with pytest.raises(InputError):
        ledger.answer(group, 0, question)
    assert ledger.answers(group) == ()


@pytest.mark.parametrize("is_answered", [False, True])
def test_a_session_goes_on_where_it_was_killed(ledger: Ledger, group: str, is_answered: bool) -> None:
    ledger.answer(group, 0, ("first", "kept"))
    assert in_a_child(answer_and_die, ledger.store.name, group, is_answered) == -signal.SIGKILL
    again = Ledger.open(ledger.store.name)
    answers = again.answers(group)
    assert answers[0] == ("first", "kept")
    assert len(answers) == 1 + is_answered
    assert again.answer(group, len(answers), ("next", "here")) == "here"
    assert again.spent("data") == Amount(Fraction(1, 2))
    assert again.check() == ()


def test_processes_that_race_see_the_same_answers(ledger: Ledger, group: str) -> None:
    answers = side_by_side(ask_in_a_race, [(ledger.store.name, group, 6)] * 3)
    assert answers[0] == answers[1] == answers[2] == [answer for _, answer in ledger.answers(group)]


@pytest.mark.parametrize("is_over", [False, True])
def test_what_another_process_writes_between_two_readings(
    ledger: Ledger, group: str, monkeypatch: pytest.MonkeyPatch, is_over: bool
) -> None:
    """The events were read before it, and what waits after it: no answer is taken for lost."""
    other, waiting, late = Ledger.open(ledger.store.name), ledger.store.waiting, list[str]()
    ledger.answer(group, 0, ("first", "1"))

    def outrun(name: str) -> list[bytes]:
        if not late:
            late.append(name)
            other.publish(name) if is_over else other.answer(name, 1, ("second", "2"))
        return waiting(name)

    monkeypatch.setattr(ledger.store, "waiting", outrun)
    if is_over:
        with pytest.raises(LedgerError, match="is published or closed"):
            ledger.answers(group)
    else:
        assert ledger.answers(group) == (("first", "1"), ("second", "2"))
        assert ledger.check() == ()
