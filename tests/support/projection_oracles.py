"""Least squares with signs and sums by trying every set of values that are not 0; imports nothing from takifugu."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, product


def objective(
    x: Sequence[Fraction], v: Sequence[Fraction], s: Sequence[Fraction], total: Fraction, total_variance: Fraction
) -> Fraction:
    """Return sum (x_i - v_i)^2/s_i + (sum x - t)^2/s_t; without s_t the sum must be t."""
    gap = sum(x) - total
    assert total_variance or gap == 0
    moved = sum(((a - b) ** 2 / c for a, b, c in zip(x, v, s, strict=True)), Fraction(0))
    return moved + (gap**2 / total_variance if total_variance else Fraction(0))


def nearest(
    v: Sequence[Fraction], s: Sequence[Fraction], total: Fraction, total_variance: Fraction
) -> tuple[Fraction, ...]:
    """Return the minimiser over x >= 0: the best feasible one of the stationary points of all supports (s > 0)."""
    best: tuple[Fraction, tuple[Fraction, ...]] | None = None
    for support in chain.from_iterable(combinations(range(len(v)), k) for k in range(len(v) + 1)):
        weight = sum((s[i] for i in support), Fraction(0)) + total_variance
        gap = sum((v[i] for i in support), Fraction(0)) - total
        if weight == 0 and gap != 0:
            continue
        shift = gap / weight if weight else Fraction(0)
        x = tuple(v[i] - s[i] * shift if i in support else Fraction(0) for i in range(len(v)))
        if min(x) < 0 or (total_variance == 0 and sum(x) != total):
            continue
        value = objective(x, v, s, total, total_variance)
        if best is None or value < best[0]:
            best = value, x
    assert best is not None
    return best[1]


def whole_numbers(count: int, total: int, lowest: int, highest: int) -> Iterator[tuple[int, ...]]:
    """Yield every list of whole numbers between two ends that has a sum."""
    for start in product(range(lowest, highest + 1), repeat=count - 1):
        last = total - sum(start)
        if lowest <= last <= highest:
            yield (*start, last)


def distance(x: Sequence[Fraction | int], v: Sequence[Fraction | int]) -> Fraction:
    return sum((Fraction(a - b) ** 2 for a, b in zip(x, v, strict=True)), Fraction(0))
