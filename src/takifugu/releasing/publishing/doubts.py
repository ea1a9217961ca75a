"""Where published values contradict the beliefs that the guarantee rests on: said from public numbers alone.

What is compared: the noisy values, the noise, the beliefs, and the lengths and gaps that are public. The claim: if one
of the beliefs is true, a table is doubted with probability 0.001 at most. Where the distribution of a cell with its
noise is known, a value is told that is less probable than this share of it. Elsewhere half is left to the noise (the
interval of all values at once, at .9995), half to the belief (`likely_range`, of all cells at once); a value is told
where it lies farther from every likely answer than the noise goes. Where entries may be missing without anybody knowing
of it, they can explain a number that is too small, and that is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.analysis.questions.expected_answer import expected_range
from takifugu.analysis.questions.likely_range import likely_range
from takifugu.analysis.randomisers import Noise
from takifugu.core.arrays import FloatArray
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.escaping import number, plus_minus
from takifugu.model.queries.answer import Additive
from takifugu.releasing.advice.worth import rounded
from takifugu.releasing.planning.questions import NoisyAnswer, Question
from takifugu.releasing.postprocess.estimate import Prior, chances_of
from takifugu.releasing.postprocess.intervals import LEVEL
from takifugu.releasing.publishing.estimating import priors_of_table

#: A table whose beliefs are true is doubted with this probability at most.
MISS = 0.001


#: A published value that no belief explains: whether missing rows could do so, its distance beyond (negative, so that
#: the first of all is told), and its words.
Doubt = tuple[bool, float, str]


def doubts_of(drawn: Sequence[NoisyAnswer]) -> tuple[str, ...]:
    """Say where a table's values contradict every belief of their answer, if they do."""
    values, doubts = sum(len(answer.labels) for answer in drawn), list[Doubt]()
    expected, priors = _compared(answer.question for answer in drawn), priors_of_table([a.question for a in drawn])
    for answer in drawn:
        noise, of_beliefs = answer.question.calibration.randomiser, expected.get(_kind(answer.question))
        if of_beliefs is not None and answer.labels and isinstance(noise, Noise):
            laws = None if priors is None else priors[id(answer.question.calibration)]
            doubts += _of_answer(answer, of_beliefs, noise, values, laws)
    if not doubts:
        return ()
    may_miss, _, words = min(doubts, key=lambda doubt: doubt[:2])
    more = ""
    if len(doubts) > 1:
        rest = f"all {values - 1:,}" if len(doubts) == values else f"{len(doubts) - 1:,} of the {values - 1:,}"
        others = "the other cell" if values == 2 else f"{rest} other cells"
        more = f", and likewise in {others}"
    missing = "rows are missing, or " if may_miss else ""
    sentence = f"{words}{more}: {missing}the model looks wrong, and the guarantee rests on it"
    return (f"{sentence[:1].upper()}{sentence[1:]}",)


def foresee_doubts(questions: Iterable[Question]) -> None:
    """Compute what beliefs make likely, before anything is paid."""
    for expected in _compared(questions).values():
        expected.likely(MISS)


def _compared(questions: Iterable[Question]) -> dict[tuple[int, int], Expected]:
    """Return what is expected of each kind of answer that can be compared: numbers with additive noise."""
    expected: dict[tuple[int, int], Expected | None] = {}
    for question in questions:
        if question.labels and isinstance(question.calibration.randomiser, Noise):
            key = _kind(question)
            if key not in expected:
                expected[key] = _expected(question)
    return {key: of_beliefs for key, of_beliefs in expected.items() if of_beliefs is not None}


def _kind(question: Question) -> tuple[int, int]:
    return id(question.calibration), id(question.observed)


def _of_answer(
    answer: NoisyAnswer, expected: Expected, noise: Noise, values: int, priors: Sequence[Prior] | None
) -> Iterator[Doubt]:
    published, question = np.array(list(map(_float, answer.values))), answer.question
    try:
        half_width = noise.half_width(LEVEL, values)
        beyond = _improbable(answer, published, expected, noise, values, priors)
    except Unsupported:
        return
    is_below = published < expected.low
    only_adds = all(map(_only_adds, question.of_observed.problem.answers))
    for cell in np.flatnonzero(beyond > 0).tolist():
        place = repr(answer.labels[cell]) if len(answer.labels) > 1 else "all"
        if question.unit is not None and values > len(answer.labels):
            place = f"{question.unit!r}" if len(answer.labels) == 1 else f"{question.unit!r}, {place}"
        means = (number(rounded(float(ends[cell]))) for ends in (expected.low, expected.high))
        value = Fraction(answer.values[cell])
        shown = number(rounded(_float(value))) if value.denominator != 1 else f"{value.numerator:,}"
        words = f"the model expected {' to '.join(dict.fromkeys(means))}; published {shown} ± {plus_minus(half_width)}"
        may_miss = question.may_miss and (bool(is_below[cell]) or not only_adds)
        yield may_miss, -float(beyond[cell]), f"in {place} {words}"


def _improbable(
    answer: NoisyAnswer, published: FloatArray, expected: Expected, noise: Noise, values: int,
    priors: Sequence[Prior] | None,
) -> FloatArray:  # fmt: skip
    """Return how far each value is beyond what beliefs explain, at most 0 where one does; Unsupported if unknown."""
    if priors is not None:
        with suppress(Unsupported):
            chances = np.array(chances_of(priors, noise, answer.values))
            beyond: FloatArray = np.maximum(published - expected.high, expected.low - published)
            return beyond * (chances * values < MISS)  # all values of a table at once
    slack = float(noise.half_width(1 - MISS / 2, values))
    is_far = (published + slack < expected.low) | (published - slack > expected.high)
    if not is_far.any():
        return np.zeros_like(published)
    low, high = expected.likely(MISS / 2 * len(answer.labels) / values)
    return np.asarray(np.maximum(published - slack - high, low - published - slack))


@dataclass(frozen=True, eq=False)
class Expected:
    """What the beliefs of a question expect of each cell: the least and largest mean, in answer units."""

    question: Question
    low: FloatArray
    high: FloatArray

    def likely(self, miss: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of what some belief makes likely, of all cells at once."""
        lows, highs = list[FloatArray](), list[FloatArray]()
        problem = self.question.of_observed.problem
        for belief, answer in zip(problem.framework.beliefs, problem.answers, strict=True):
            low, high = likely_range(belief, answer, miss)
            lows.append(low)
            highs.append(high)
        return np.min(lows, axis=0), np.max(highs, axis=0)


def _expected(question: Question) -> Expected | None:
    """Return what is expected, None where a belief has no mean."""
    problem = question.of_observed.problem
    if not problem.framework.beliefs:
        return None
    try:
        pairs = zip(problem.framework.beliefs, problem.answers, strict=True)
        means = [expected_range(belief, answer) for belief, answer in pairs]
    except (Unsupported, InputError):  # a class of laws without a mean, or a mean that cannot be found
        return None
    low, high = np.min([low for low, _ in means], axis=0), np.max([high for _, high in means], axis=0)
    return Expected(question, low, high) if np.isfinite([low, high]).all() else None


def _only_adds(answer: object) -> bool:
    """Return whether no entry takes anything from a cell."""
    if not isinstance(answer, Additive):
        return True
    weights = answer.total_kinds[0][0]
    return bool((weights >= 0).all()) and all(bool((table >= 0).all()) for table in answer.tables)


def _float(value: Fraction) -> float:
    """Return a published number as a float, infinite where it is beyond one."""
    exact = Fraction(value)
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
