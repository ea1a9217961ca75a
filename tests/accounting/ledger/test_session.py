"""Sessions: paid in full before the first question, each answer kept before the next, never anything given back."""

import os
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_tools import ask_in_a_race, group_debit, one_thing, refused_unchanged
from tests.support.processes import in_a_child, side_by_side

import takifugu as tf
from takifugu.accounting.ledger import DRAWN, PUBLISHED, RESERVED, Ledger, Session
from takifugu.accounting.ledger.moving import with_answer
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import BudgetExceeded, InputError, LedgerError
from takifugu.numbers.noise import SystemEntropy

DEBIT = group_debit(one_thing(7), "1/2")
TRUTH = 5


def opened(ledger: Ledger) -> Session:
    return Session.open(ledger, "data", [DEBIT], budget="1/2")


def search(session: Session, questions: int) -> int:
    """Bisect for the answer: each threshold depends on what was answered before."""
    noise, low, high = DiscreteLaplace(Fraction(1, 20), Fraction(1)), 0, 16
    for _ in range(questions):
        middle = (low + high) // 2

        def draw(_: object) -> str:
            return str(noise.draw((TRUTH,), SystemEntropy())[0] <= middle)  # noqa: B023

        low, high = (low, middle) if session.ask(f"at most {middle}?", draw) == "True" else (middle + 1, high)
    return low


def test_questions_depend_on_answers_and_each_is_kept_before_the_next(ledger: Ledger) -> None:
    session = opened(ledger)
    assert (session.answers, ledger.pending()[0].state) == ((), RESERVED)
    seen = []

    def draw(before: object) -> str:
        seen.append((before, Ledger.open(ledger.store.path).session_of(session.paid)))
        return f"answer {len(seen)}"

    assert [session.ask(f"question {n}", draw) for n in (1, 2, 3)] == ["answer 1", "answer 2", "answer 3"]
    assert all(given == stored for given, stored in seen)
    assert [len(stored) for _, stored in seen] == [0, 1, 2]
    assert ledger.pending()[0].state == DRAWN
    assert session.close() == tuple((f"question {n}", f"answer {n}") for n in (1, 2, 3))
    assert {entry.state for entry in ledger.history("data")} == {PUBLISHED}


def test_a_search_by_noisy_thresholds_finds_the_answer(ledger: Ledger) -> None:
    session = opened(ledger)
    assert search(session, 5) == TRUTH
    (left,) = tf.resume(ledger)
    assert "it is a session" in left.problem  # nothing else completes it
    assert len(session.answers) == 5
    assert ledger.spent("data").spent.epsilon == Fraction(1, 2)
    session.close()
    assert ledger.spent("data").spent.epsilon == Fraction(1, 2)  # however much was asked
    refused_unchanged(ledger, BudgetExceeded, None, "data", [DEBIT])


@pytest.mark.parametrize("values", [b'{"format": "another"}', None], ids=["drawn at once", "not drawn"])
def test_another_release_that_was_paid_for_is_no_session(ledger: Ledger, values: bytes | None) -> None:
    paid = ledger.reserve("data", [DEBIT], budget=1)
    if values is not None:
        ledger.drawn(paid, values)
    with pytest.raises(LedgerError, match="is no session"):
        Session(ledger, paid).ask("question", lambda _: "no")
    assert ledger.drawn(paid, b"its own values") == (values or b"its own values")


def test_only_an_open_session_can_be_closed(ledger: Ledger) -> None:
    """Closing drops what was kept: of another release these would be its noisy values."""
    paid = ledger.reserve("data", [DEBIT], budget=1)
    ledger.drawn(paid, b"its own values")
    with pytest.raises(LedgerError, match="is no session"):
        ledger.close_session(paid)
    assert ledger.pending()[0].bundle == b"its own values"
    session = Session.open(ledger, "other", [DEBIT])
    session.close()
    for late in (
        lambda: session.answers, session.close, lambda: session.ask("one more", lambda _: "no"),
        lambda: ledger.close_session(session.paid),
    ):  # fmt: skip
        with pytest.raises(LedgerError, match="is closed"):
            late()


@pytest.mark.parametrize("answer", [3.5, None, b"7", ("7",)])
def test_an_answer_is_the_one_that_is_kept(ledger: Ledger, answer: Any) -> None:
    session = opened(ledger)
    with pytest.raises(InputError, match="the answer is not a text"):
        session.ask("question", lambda _: answer)
    with pytest.raises(InputError, match="the question is not a text"):
        session.ask(answer, lambda _: "7")
    assert session.answers == ()


def killed_at_a_question(path: Path, when: str) -> None:
    book = Ledger.open(path)
    mine = Session(book, book.pending("data")[0])
    if when == "after":
        mine.ask("second", lambda _: "drawn by the first process")
    mine.ask("next", lambda _: str(os.kill(os.getpid(), signal.SIGKILL)))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_session_goes_on_where_it_was_killed(ledger: Ledger, when: str) -> None:
    session = opened(ledger)
    assert session.ask("first", lambda _: "kept") == "kept"

    assert in_a_child(killed_at_a_question, ledger.store.path, when) == -signal.SIGKILL
    again = Ledger.open(ledger.store.path)
    resumed = Session(again, again.pending("data")[0])
    assert resumed.answers[0] == ("first", "kept")
    assert len(resumed.answers) == (2 if when == "after" else 1)
    assert resumed.ask("next", lambda before: str(len(before))) == ("2" if when == "after" else "1")
    assert again.spent("data").spent.epsilon == Fraction(1, 2)


def test_two_processes_never_draw_two_answers_to_one_question(ledger: Ledger) -> None:
    session = opened(ledger)
    other = Session(Ledger.open(ledger.store.path), session.paid)
    assert session.ask("the same", lambda _: other.ask("the same", lambda _: "first")) == "first"
    with pytest.raises(LedgerError, match="another process, and was another one"):
        session.ask("mine", lambda _: other.ask("theirs", lambda _: "x") + "y")
    assert [question for question, _ in session.answers] == ["the same", "theirs"]


def test_processes_that_race_see_the_same_answers(ledger: Ledger) -> None:
    session = opened(ledger)
    answers = side_by_side(ask_in_a_race, [(str(ledger.store.path), session.paid.group, 6)] * 3)
    assert answers[0] == answers[1] == answers[2] == [answer for _, answer in session.answers][:6]


def test_an_answer_is_kept_in_its_place_only() -> None:
    one, two, other = ("a?", "1"), ("b?", "2"), ("c?", "3")
    assert with_answer((), 0, one) == (one,)
    assert with_answer((one,), 1, two) == (one, two)
    assert with_answer((one, two), 0, ("a?", "9")) == (one, two)  # the first answer counts
    for number, known in ((1, ()), (2, (one,)), (9, (one, two))):
        with pytest.raises(LedgerError, match=rf"question {number} .* was asked, and {len(known)} answers are kept"):
            with_answer(known, number, other)
    with pytest.raises(LedgerError, match="question 1 of the session was asked by another process"):
        with_answer((one, two), 1, other)
