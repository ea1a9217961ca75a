"""The sparse vector under a policy: "safe" costs nothing (Takagi21 Algorithm 1, SALap, on the integers).

Question i has a count f_i and a public threshold t_i, which may depend on everything published before. Its answer is
"safe" where z_i = f_i + K_i <= t_i, K_i geometric, P(K >= k) = e^(-epsilon k); else it is z_i, and after `limit` (c)
such values every further question is "not answered", which is not "safe".

**Claim.** If along an allowed move no f_i rises, none falls by more than 1, and all questions together fall by m at
most, then P(answers | X) <= e^(epsilon min(c, m)) P(answers | X') for every vector of answers. *Proof.* Given the
answers before, a question's threshold is fixed and its noise is fresh, so that P(answers) is a product over the
questions that were asked. Let f_i, f'_i be the counts of X and X', f'_i <= f_i. "Safe" has probability 1 - e^(-epsilon
(t_i + 1 - f_i)), or 0, which does not fall when f_i does: its factor is at most 1. "Not answered" has probability 1 on
both sides. A value z >= f_i has (1 - e^-epsilon) e^(-epsilon (z - f_i)): its factor is e^(epsilon (f_i - f'_i)), at
most e^epsilon, and over all values at most e^(epsilon m). There are c values at most. ∎

There is no noise on the threshold, and no value lies below its count: "safe" is never false (z <= t is z < t + 1, X3).
What the ordinary sparse vector technique pays for, that one move may raise one count and lower another, cannot happen
here; a query for which it could is refused.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import BoolArray
from takifugu.core.errors import DataError, InputError
from takifugu.core.plain import set_fields
from takifugu.core.rules import check_type
from takifugu.model.policies.sensitivity import Monotone, Sensitivity
from takifugu.numbers.rationals import Number, as_epsilon, as_fraction, is_whole

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy
    from takifugu.numbers.noise.integers import Integers

#: An answer: SAFE, a noisy value, or None where the question was not answered.
SAFE = "safe"
Mark = str | int | None


class Marks(IntEnum):
    """What `Answers.marks` holds for each place."""

    SAFE = 0
    VALUE = 1
    NOT_ANSWERED = 2


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to many questions at once: an int8 array of `Marks`, and noisy values (-1 where there is none)."""

    marks: npt.NDArray[np.int8]
    values: Integers

    @property
    def safe(self) -> BoolArray:
        """Return the places answered "safe"."""
        return np.asarray(self.marks == Marks.SAFE)

    @property
    def used(self) -> int:
        """Return how many noisy values were published."""
        return int(np.count_nonzero(self.marks == Marks.VALUE))

    def listed(self) -> tuple[Mark, ...]:
        """Return the answers one by one: SAFE, a noisy value, or None."""
        answers: list[Mark] = [None] * len(self.marks)
        for place, (mark, value) in enumerate(zip(self.marks.tolist(), self.values.tolist(), strict=True)):
            if mark == Marks.SAFE:
                answers[place] = SAFE
            elif mark == Marks.VALUE:
                answers[place] = value
        return tuple(answers)


@dataclass(frozen=True)
class SparseAnswers:
    """Answer threshold questions with a cost for noisy values only (SALap).

    Without a limit every question is answered, and the sensitivity must be known.

    Args:
        epsilon: The privacy loss of each noisy value.
        limit: The most noisy values to publish (c); None for no limit.
        sensitivity: The total fall of all counts in one move (m); None if unknown.

    Raises:
        InputError: Without limit and sensitivity, for a limit below 1, and for numbers that are not above 0.

    Examples:
        >>> SparseAnswers(Fraction(1, 2), limit=3).epsilon_total, SparseAnswers(1, sensitivity=2).epsilon_total
        (Fraction(3, 2), Fraction(2, 1))
    """

    epsilon: Fraction
    limit: int | None = None
    sensitivity: Fraction | None = None

    def __init__(self, epsilon: Number, limit: int | None = None, sensitivity: Number | None = None) -> None:
        if limit is None and sensitivity is None:
            raise InputError(
                "neither the number of noisy values nor the sensitivity has a bound",
                rule="the cost is epsilon for each noisy value that one person can change",
                fix="give a limit, or the largest number of places of one person",
            ).at("limit")
        if limit is not None and not is_whole(limit, 1):
            raise InputError(f"the limit is {limit!r}", rule="it is a whole number above 0").at("limit")
        total = None
        if sensitivity is not None:
            total = as_fraction(sensitivity, "the sensitivity", "sensitivity")
        if total is not None and total <= 0:
            raise InputError(f"the sensitivity is {total}", rule="it must be above 0").at("sensitivity")
        set_fields(self, epsilon=as_epsilon(epsilon), limit=limit, sensitivity=total)

    @staticmethod
    def of(sensitivity: Sensitivity, epsilon: Number, limit: int | None = None) -> SparseAnswers:
        """Return the mechanism for a query's moves.

        Args:
            sensitivity: The bound on the moves.
            epsilon: The privacy loss of each noisy value.
            limit: The most noisy values to publish; None for no limit.

        Returns:
            The mechanism.

        Raises:
            InputError: Where a cell can rise, or fall by more than 1.

        Examples:
            >>> from takifugu.model.policies.sensitivity import Change
            >>> fall = Change(Monotone.DECREASING, Fraction(1))
            >>> SparseAnswers.of(Sensitivity((fall, fall, fall), Fraction(2)), 1, limit=5).epsilon_total
            Fraction(2, 1)
        """
        fix = "write sensitivity(policy, domain, query)"
        check_type(sensitivity, Sensitivity, "the sensitivity of a query", fix, "sensitivity")
        for change in set(sensitivity.changes):
            if change.direction not in (Monotone.DECREASING, Monotone.CONSTANT) or change.amount > 1:
                raise InputError(
                    "a cell of the query can rise, or fall by more than 1, along an allowed move",
                    rule="'safe' is free only where every count falls, by 1 at most",
                    fix="count people once per place, and hide every one of these conditions",
                ).at("query")
        return SparseAnswers(epsilon, limit, sensitivity.total or None)

    @property
    def epsilon_total(self) -> Fraction:
        """Return the cost of all questions, epsilon * min(c, m)."""
        ends = [Fraction(end) for end in (self.limit, self.sensitivity) if end is not None]
        return self.epsilon * min(ends)

    @cached_property
    def units(self) -> Fraction:
        """Return the scale of the noise, 1/epsilon."""
        return 1 / self.epsilon

    def answer(self, counts: object, thresholds: object, entropy: Entropy | None = None) -> Answers:
        """Answer exactly, in order, whether each count is at most its threshold.

        Args:
            counts: Whole numbers from 0, shape (n,).
            thresholds: One whole number from 0, or n of them.
            entropy: The source of randomness; None for the system's.

        Returns:
            The answers, in order.

        Raises:
            InputError: For no counts, and for thresholds that are negative, not whole or not n.
            DataError: For counts that are negative or not whole.
        """
        from takifugu.numbers.noise import SystemEntropy

        return self.answer_sums(checked_counts(counts), thresholds, entropy or SystemEntropy())

    def answer_sums(self, sums: Integers, thresholds: object, entropy: Entropy) -> Answers:
        """Answer the same about whole numbers of any sign.

        Args:
            sums: Whole numbers, shape (n,).
            thresholds: One whole number, or n of them.
            entropy: The source of randomness.

        Returns:
            The answers, in order.
        """
        from takifugu.numbers.noise import geometric, total

        levels = checked_thresholds(thresholds, sums.shape)
        noisy = total(sums, geometric(self.units, sums.size, entropy))
        over = np.asarray(noisy > levels, dtype=np.bool_)
        marks = over.astype(np.int8)
        if self.limit is not None:
            marks[np.cumsum(over) - over >= self.limit] = Marks.NOT_ANSWERED
        return Answers(marks, np.where(marks == Marks.VALUE, noisy, -1))

    def answer_one(self, count: int, threshold: int, used: int, entropy: Entropy | None = None) -> Mark:
        """Answer the next question, if a noisy value is left.

        Args:
            count: The true count.
            threshold: The threshold.
            used: Noisy values that were published so far.
            entropy: The source of randomness; None for the system's.

        Returns:
            "safe", a noisy value, or "not answered".

        Raises:
            InputError: As `answer`, and for `used` below 0.
            DataError: As `answer`.
        """
        if not is_whole(used):
            raise InputError(f"the number of noisy values is {used!r}", rule="it is a whole number, 0 or more")
        if self.limit is not None and used >= self.limit:
            checked_thresholds(threshold, (1,))
            checked_counts([count])
            return None
        return self.answer([count], threshold, entropy).listed()[0]

    def session(self, entropy: Entropy | None = None, used: int = 0, questions: Sequence[Hashable] = ()) -> Asking:
        """Begin or resume a session of questions that earlier answers choose.

        Args:
            entropy: The source of randomness; None for the system's.
            used: Noisy values that were published so far.
            questions: The questions asked so far.

        Returns:
            The session.
        """
        return Asking(self, entropy, used, set(questions))

    @property
    def rests_on_sensitivity(self) -> bool:
        """Whether the cost is epsilon * m, forbidding repeated questions."""
        return self.sensitivity is not None and (self.limit is None or self.sensitivity < self.limit)

    def log_probability(self, counts: Sequence[int], answers: Sequence[Mark], thresholds: Sequence[int]) -> float:
        """Return log P(answers | counts); -inf if impossible.

        Args:
            counts: The true counts, in order.
            answers: The answers, in order.
            thresholds: One threshold for each count.

        Returns:
            The natural logarithm.
        """
        log_mass, used, step = 0.0, 0, float(self.epsilon)
        for count, mark, threshold in zip(counts, answers, thresholds, strict=True):
            if self.limit is not None and used >= self.limit:
                if mark is not None:
                    return -math.inf
                continue
            room = threshold + 1 - count
            if mark == SAFE and room > 0:
                log_mass += math.log(-math.expm1(-step * room))
            elif isinstance(mark, int) and mark >= count and mark - count >= room:
                log_mass += math.log(-math.expm1(-step)) - step * (mark - count)
                used += 1
            else:
                return -math.inf
        return log_mass


@dataclass(eq=False)
class Asking:
    """Questions one after the other; `used` is how many noisy values were published so far, `questions` the places."""

    mechanism: SparseAnswers
    entropy: Entropy | None
    used: int
    questions: set[Hashable]

    def ask(self, count: int, threshold: int, place: Hashable = None) -> Mark:
        """Return SAFE (the count is at most the threshold), a noisy value, or None after the last one."""
        # Where the cost rests on m each question names its place, once: twice the same is a change by 2.
        if self.mechanism.rests_on_sensitivity and (place is None or place in self.questions):
            if place is None:
                message = "a question names no place"
            else:
                message = "a place is asked about twice"
            raise InputError(
                message, rule="the cost rests on how many places one person can change, each counted once",
                fix="give a limit for noisy values, which covers every question",
            ).at("place")
        answer = self.mechanism.answer_one(count, threshold, self.used, self.entropy)
        self.questions.add(place)
        self.used += isinstance(answer, int)
        return answer


def checked_counts(counts: object) -> Integers:
    """Return counts as an array of whole numbers from 0 on; InputError for none, DataError for others."""
    integers = np.asarray(counts)
    if integers.ndim == 1 and integers.size == 0:
        raise InputError("there is no place", rule="there is at least one question").at("counts")
    if integers.ndim != 1 or not _whole(integers):
        raise DataError(
            "a count is no whole number from 0 on", fix="count each person once per place (value not shown)"
        )
    return integers


def checked_thresholds(thresholds: object, shape: tuple[int, ...]) -> Integers:
    """Return one threshold, or one for each count, as integers."""
    integers = np.asarray(thresholds)
    if not _whole(integers):
        raise InputError(
            "a threshold is no whole number from 0 on",
            rule="'safe' means a count of at most the threshold",
            fix="round it down: at most 2.5 people are at most 2, and fewer than 3 are at most 2",
        ).at("thresholds")
    if integers.shape not in ((), shape):
        raise InputError(
            f"there are thresholds of shape {integers.shape} for {shape[0]} counts", fix="give one, or one for each"
        ).at("thresholds")
    return integers


def _whole(values: Integers) -> bool:
    if values.dtype == object and not all(type(value) is int for value in values.ravel().tolist()):
        return False
    return values.dtype.kind in "iuO" and (not values.size or bool(values.min() >= 0))
