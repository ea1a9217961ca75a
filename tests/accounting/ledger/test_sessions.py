"""Sessions: paid in full before the first question, each answer kept before the next, never anything given back."""

import signal
from fractions import Fraction
from typing import Any

import pytest
from tests.support.ledger_edits import answer_and_die, ask_in_a_race, debit, pay
from tests.support.paying import refused_unchanged
from tests.support.processes import in_a_child, side_by_side

from takifugu.accounting.ledger import DRAWN, RESERVED, SESSION, Amount, Ledger
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import BudgetExceeded, InputError, LedgerError
from takifugu.numbers.noise import SystemEntropy

TRUTH = 5


@pytest.fixture
def group(ledger: Ledger) -> str:
    return pay(ledger, debit(epsilon="1/2"), budget="1/2", recipe=SESSION).group


def test_questions_depend_on_answers_and_each_is_kept_before_the_next(ledger: Ledger, group: str) -> None:
    assert ledger.pending()[0].state == RESERVED
    for number in range(3):
        assert len(Ledger.open(ledger.store.name).answers(group)) == number
        ledger.answer(group, number, (f"question {number}", f"answer {number}"))
    assert ledger.pending()[0].state == DRAWN
    assert ledger.pending()[0].values is None  # nothing else completes it
    assert ledger.answers(group) == tuple((f"question {n}", f"answer {n}") for n in range(3))


def test_a_search_by_noisy_thresholds_finds_the_answer_and_costs_what_was_paid(ledger: Ledger, group: str) -> None:
    noise, low, high = DiscreteLaplace(Fraction(1, 20), Fraction(1)), 0, 16
    for number in range(5):
        middle = (low + high) // 2
        drawn = str(noise.draw((TRUTH,), SystemEntropy())[0] <= middle)
        is_below = ledger.answer(group, number, (f"at most {middle}?", drawn)) == "True"
        low, high = (low, middle) if is_below else (middle + 1, high)
    assert low == TRUTH
    assert ledger.spent("data") == Amount(Fraction(1, 2))
    ledger.publish(group)
    assert ledger.spent("data") == Amount(Fraction(1, 2))
    refused_unchanged(ledger, BudgetExceeded, None, "data", [debit()])


def test_another_release_that_was_paid_for_is_no_session(ledger: Ledger) -> None:
    """Closing drops what was kept: of another release these would be its noisy values."""
    paid = pay(ledger, budget=1)
    for act in (lambda: ledger.answers(paid.group), lambda: ledger.answer(paid.group, 0, ("question", "no"))):
        with pytest.raises(LedgerError, match="is no session"):
            act()
    assert ledger.keep(paid.group, b"its own values") == b"its own values"


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
