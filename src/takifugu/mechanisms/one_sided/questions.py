"""Questions about a count: is it at most, or at least, a threshold (Takagi21 Definition II.5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import overload

from takifugu.core.arrays import BoolArray
from takifugu.core.errors import InputError
from takifugu.numbers.atoms import Array
from takifugu.numbers.rationals import Number, as_fraction


@dataclass(frozen=True)
class Question:
    """Ask whether a count is at most, or at least, a threshold (Takagi21 Definition II.5).

    Args:
        threshold: A whole number of people.
        at_most: Whether the question is "at most"; else "at least".

    Examples:
        >>> bool(Question(3).holds(2))
        True
    """

    threshold: int
    at_most: bool = True

    @overload
    def holds(self, count: int) -> bool: ...
    @overload
    def holds(self, count: Array) -> BoolArray: ...
    def holds(self, count: int | Array) -> bool | BoolArray:
        """Return whether the answer is yes.

        Args:
            count: A count, or an array of counts.

        Returns:
            One truth value for each.
        """
        return count <= self.threshold if self.at_most else count >= self.threshold

    @property
    def worst(self) -> int:
        """Return the false count nearest to a true one."""
        return self.threshold + 1 if self.at_most else self.threshold - 1

    def distance(self, count: int) -> int:
        """Return the least number of records to change until the answer is no.

        Args:
            count: The count.

        Returns:
            The number; 0 if it is no already.
        """
        return self.worst - count if self.at_most else count - self.worst

    def __str__(self) -> str:
        if self.at_most:
            return f"at most {self.threshold}"
        return f"at least {self.threshold}"


def at_most(threshold: Number) -> Question:
    """Return the question whether a count is at most floor(t).

    Args:
        threshold: The threshold t, 0 or more.

    Returns:
        The question.

    Raises:
        InputError: Unless t is a finite number of at least 0.

    Examples:
        >>> at_most(3.7)
        Question(threshold=3, at_most=True)
    """
    return Question(math.floor(_threshold(threshold)))


def fewer_than(threshold: Number) -> Question:
    """Return the question whether a count is below t.

    Args:
        threshold: The threshold t, above 0.

    Returns:
        The question.

    Raises:
        InputError: Unless t is a finite number above 0.

    Examples:
        >>> fewer_than(3), fewer_than(2.5)
        (Question(threshold=2, at_most=True), Question(threshold=2, at_most=True))
    """
    limit = _threshold(threshold)
    if limit == 0:
        raise InputError("no count is fewer than 0", fix="write at least 1").at("threshold")
    return Question(math.ceil(limit) - 1)


def at_least(threshold: Number) -> Question:
    """Return the question whether a count is at least ceil(t).

    Args:
        threshold: The threshold t, above 0.

    Returns:
        The question.

    Raises:
        InputError: Unless t is a finite number above 0: every count is at least 0.

    Examples:
        >>> at_least(3.2)
        Question(threshold=4, at_most=False)
    """
    limit = _threshold(threshold)
    if limit == 0:
        raise InputError("every count is at least 0", fix="write at least 1").at("threshold")
    return Question(math.ceil(limit), at_most=False)


def _threshold(value: Number) -> Fraction:
    threshold = as_fraction(value, "the threshold", "threshold")
    if threshold < 0:
        raise InputError(
            f"the threshold is {value!r}", rule="a count is never negative", fix="write for example 5"
        ).at("threshold")
    return threshold
