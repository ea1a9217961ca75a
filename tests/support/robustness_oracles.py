"""How far two joint tables are apart, by definition: exact masses, every row; imports nothing from takifugu."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

Law = Mapping[Any, Fraction]
Row = tuple[Any, ...]


def given(table: Mapping[Row, Fraction], column: int, value: Any) -> dict[Row, Fraction]:
    """Return the law of the rows given that one column has a value."""
    held = {row: mass for row, mass in table.items() if row[column] == value}
    total = sum(held.values())
    return {row: mass / total for row, mass in held.items()}


def ratio(p: Law, q: Law) -> Fraction | None:
    """Return the largest ratio of two laws, either way round: e to the symmetric max-divergence; None if infinite."""
    largest = Fraction(1)
    for outcome in {*p, *q}:
        a, b = p.get(outcome, Fraction(0)), q.get(outcome, Fraction(0))
        if (a == 0) != (b == 0):
            return None
        if a:
            largest = max(largest, a / b, b / a)
    return largest


def conditional_distance(
    stated: Sequence[Mapping[Row, Fraction]], other: Mapping[Row, Fraction], secrets: Sequence[tuple[int, Any]]
) -> float:
    """Return the least over stated tables of the largest, over secrets, of D of the laws given the secret."""
    return min(max(_log(ratio(given(t, *s), given(other, *s))) for s in secrets) for t in stated)


def whole_distance(stated: Sequence[Mapping[Row, Fraction]], other: Mapping[Row, Fraction]) -> float:
    return min(_log(ratio(t, other)) for t in stated)


def hockey_stick(p: Law, q: Law, epsilon: float) -> float:
    """Return the exact delta at epsilon: the sum of the positive parts of p - e^epsilon q."""
    return sum(max(0.0, float(p[x]) - math.exp(epsilon) * float(q.get(x, 0))) for x in p)


def _log(largest: Fraction | None) -> float:
    return math.inf if largest is None else math.log(largest)
