"""Numbers put into classes: by ends that are declared, not found in the data, the same on every engine."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from takifugu.core.errors import InputError
from takifugu.data.values.codes import UNOBSERVED
from takifugu.numbers.rationals import Number, as_fraction, to_text


@dataclass(frozen=True)
class Classes:
    """Numbers below the first end, from each end to below the next, and from the last end on: one class more than ends.

    Ends and numbers are compared as float64. `missing` is the class of null, NaN and infinities; without one they are
    UNOBSERVED. Raises InputError unless the ends rise.

    >>> ages = Classes([18, 65])
    >>> [ages.code(age) for age in (17.9, 18, 65, None)], ages.words
    ([0, 1, 2, -1], ('below 18', 'from 18 to below 65', 'at least 65'))
    """

    ends: tuple[Fraction, ...]
    missing: int = UNOBSERVED

    def __init__(self, ends: Iterable[Number], missing: int = UNOBSERVED) -> None:
        object.__setattr__(self, "ends", tuple(as_fraction(end, "an end of a class", "ends") for end in ends))
        object.__setattr__(self, "missing", missing)
        floats = list(map(float, self.ends))
        if not floats or floats != sorted(set(floats)):
            raise InputError(
                f"the ends of the classes are {list(map(to_text, self.ends))}",
                rule="they must rise, and differ as floats", fix="write for example [20, 40]",
            ).at("ends")  # fmt: skip

    @property
    def words(self) -> tuple[str, ...]:
        """Return default words for each class."""
        ends = list(map(to_text, self.ends))
        return (f"below {ends[0]}", *(f"from {a} to below {b}" for a, b in pairwise(ends)), f"at least {ends[-1]}")

    def code(self, value: float | None) -> int:
        """Return the class's number for a raw value."""
        if value is None or not abs(value) < float("inf"):
            return self.missing
        return bisect_right(self.ends, value, key=float)
