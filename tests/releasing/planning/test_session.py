"""What a session loses, by enumeration of what it answers: for every adaptive choice of places and thresholds."""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.support import session_oracle as oracle
from tests.support.asymmetric import SAFE, geometric, steps

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.mechanisms.one_sided import Asymmetric, Visits, visits
from takifugu.numbers.noise import SystemEntropy
from takifugu.releasing.planning.session import Inquiry, Reply, Terms

PLACES = ("bar", "gym", "inn")
HALF, CAP = Fraction(1, 2), 4
#: What is paid: so many times log 2, which is what one value costs.
LOG_2 = math.log(2)


def terms(limit: int | None, most: int) -> Terms:
    """Return a session whose values cost log 2 each."""
    values = most if limit is None else min(limit, most)
    framework = Asymmetric(visits(), Visits.of(PLACES, most=most))
    return Terms.of("safe", tf.calibrate(framework, tf.AtMost(tf.Visitors(), 1, limit=limit), values * LOG_2))


def by_answers(past: oracle.Answers) -> tuple[str, int] | None:
    """Begin at the gym; where it is safe go on to the bar, with a lower threshold, else to the inn and end."""
    if not past:
        return "gym", 1
    if len(past) == 1:
        return ("bar", 0) if past[0][2] == SAFE else ("inn", 2)
    if len(past) == 2 and past[1][2] != 3:
        (left,) = {*PLACES} - {place for place, _, _ in past}
        return left, 0
    return None


def in_turn(past: oracle.Answers) -> tuple[str, int] | None:
    """Ask about one place after the other, whether anybody is there."""
    return (PLACES[len(past)], 0) if len(past) < len(PLACES) else None


def twice(past: oracle.Answers) -> tuple[str, int] | None:
    """Ask about one place twice."""
    return ("bar", 0) if len(past) < 2 else None


def answered(terms: Terms, counts: dict[str, int], strategy: oracle.Strategy) -> oracle.Answers:
    """Play a session as calls play it."""
    replies: list[Reply] = []
    while (question := strategy(transcript(replies))) is not None and not terms.is_over(replies):
        (inquiry,) = terms.questions([question[0]], question[1], replies)
        text = terms.draw([counts[place] for place in PLACES], inquiry, replies, SystemEntropy())
        replies.append(Reply.read(inquiry.text, text))
    return transcript(replies)


def transcript(replies: list[Reply]) -> oracle.Answers:
    answers = []
    for reply in replies:
        value = reply.value if isinstance(reply.value, str) else min(reply.value, CAP)
        answers.append((reply.question.place, reply.question.at_most, value))
    return tuple(answers)


def played(
    terms: Terms, counts: dict[str, int], strategy: oracle.Strategy, monkeypatch: pytest.MonkeyPatch
) -> dict[Any, Fraction]:
    """Return the law of what is answered: each possible noise in turn, each with its mass."""
    law: dict[Any, Fraction] = defaultdict(Fraction)
    masses = geometric(HALF, CAP)
    for noise in product(masses, repeat=len(PLACES)):
        draws = iter(noise)
        monkeypatch.setattr("takifugu.numbers.noise.geometric", lambda *_, draws=draws: np.array([next(draws)]))
        law[answered(terms, counts, strategy)] += math.prod(masses[k] for k in noise)
    return dict(law)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("strategy", [by_answers, in_turn])
@pytest.mark.parametrize(("limit", "most"), [(None, 1), (None, 2), (1, 3), (2, 3), (5, 2)])
def test_answers_have_their_law(limit: int | None, most: int, strategy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"bar": 1, "gym": 2, "inn": 0}
    true = oracle.transcripts(counts, strategy, limit, HALF, CAP)
    assert played(terms(limit, most), counts, strategy, monkeypatch) == true
    assert sum(true.values()) == 1


def largest(strategy: oracle.Strategy, limit: int | None, most: int, decay: Fraction = HALF) -> float:
    """Return the largest loss of all moves of all counts up to 2, in steps of log 2."""
    worst = 0.0
    for numbers in product(range(3), repeat=len(PLACES)):
        counts = dict(zip(PLACES, numbers, strict=True))
        law = oracle.transcripts(counts, strategy, limit, decay, CAP)
        for after in oracle.moves(counts, most):
            worst = max(worst, steps(law, oracle.transcripts(after, strategy, limit, decay, CAP), HALF))
    return worst


@pytest.mark.sampled(5)
@pytest.mark.parametrize("strategy", [by_answers, in_turn])
@pytest.mark.parametrize(("limit", "most", "values"), [(None, 1, 1), (None, 2, 2), (1, 3, 1), (2, 3, 2), (5, 2, 2)])
def test_a_session_loses_what_was_paid_and_no_more(limit: int | None, most: int, values: int, strategy: Any) -> None:
    assert largest(strategy, limit, most) == values
    paid = terms(limit, most).calibration
    assert paid.epsilon == pytest.approx(values * LOG_2)
    assert paid.scale == pytest.approx(1 / LOG_2)


@pytest.mark.mutants
def test_mutants_lose_more() -> None:
    """Half the noise; numbers without an end; a place that is answered anew where one person can be at one only."""
    assert largest(in_turn, 1, 3, HALF**2) == 2
    assert largest(in_turn, None, 3) > 1
    assert largest(twice, None, 1) == 2


@pytest.mark.parametrize(("limit", "most"), [(None, 2), (2, 3)])
def test_the_answers_are_a_table_with_the_noise_that_was_drawn(limit: int | None, most: int) -> None:
    session = terms(limit, most)
    replies = [Reply(Inquiry("inn", 0), SAFE), Reply(Inquiry("bar", 2), 7)]
    table = session.answered(replies)
    assert table.problem.labels == ("inn", "bar")
    assert table.randomiser.units == session.noise.units  # type: ignore[attr-defined]
    assert table.randomiser.thresholds == (0, 2)  # type: ignore[attr-defined]
    assert tuple(table.query.steps(table.problem.answers[0])) == (0, 2)  # type: ignore[attr-defined]
    assert tf.exact_loss(table).loss <= float(session.calibration.epsilon) * (1 + 1e-9)
    alike = session.answered([replace(reply, question=Inquiry(reply.question.place, 1)) for reply in replies])
    assert alike.query.threshold == 1  # type: ignore[attr-defined]
    half = replace(table, randomiser=replace(table.randomiser, units=session.noise.units / 4))  # type: ignore[type-var]
    assert tf.exact_loss(half).loss > float(session.calibration.epsilon)


def test_questions_are_of_the_table() -> None:
    session = terms(2, 3)
    replies = [Reply(Inquiry("inn", 0), SAFE)]
    assert session.questions(["gym", "gym", "inn"], None, replies) == [Inquiry("gym", 1), Inquiry("inn", 0)]
    assert session.questions(["gym"], "2.5", replies) == [Inquiry("gym", 2)]
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: session.questions(["gim"], None, ()), "no place 'gim'.*did you mean 'gym'"),
        (lambda: session.questions(["inn"], 3, replies), "'inn' was asked about before, whether it is at most 0"),
        (lambda: session.questions(["gym"], -1, ()), "threshold is -1"),
        (lambda: session.questions(["gym"], "many", ()), "threshold"),
    ]
    for call, words in refused:
        with pytest.raises(InputError, match=words):
            call()
    alone = Asymmetric(visits(), Visits.of(PLACES[:1], most=1))
    one_place = Terms.of("safe", tf.calibrate(alone, tf.AtMost(tf.Visitors(), 1), LOG_2))
    assert one_place.questions(["bar"], 2, ()) == [Inquiry("bar", 2)]
    framework = Asymmetric(visits(), Visits.of(PLACES, most=1))
    with pytest.raises(InputError, match="does not say which places are safe"):
        Terms.of("visitors", tf.calibrate(framework, tf.Visitors(), 1))
