"""Numbers that add up and are not negative: against every support, against all whole numbers, and their properties."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support import projection_oracles as oracle

from takifugu.core.errors import InputError
from takifugu.numbers.projection import nearest, whole

values = st.fractions(-20, 20, max_denominator=6)
variances = st.fractions(Fraction(1, 5), 9, max_denominator=5)


@st.composite
def problems(draw: Any, most: int = 5) -> tuple[list[Fraction], list[Fraction], Fraction, Fraction]:
    count = draw(st.integers(1, most))
    v = draw(st.lists(values, min_size=count, max_size=count))
    s = draw(st.lists(variances, min_size=count, max_size=count))
    total_variance = draw(st.just(Fraction(0)) | variances)
    return v, s, draw(values) if total_variance else abs(draw(values)), total_variance


@given(problems())
@settings(max_examples=150)
def test_it_is_the_minimum_over_all_supports(problem: Any) -> None:
    v, s, total, total_variance = problem
    near = nearest(v, s, total, total_variance, nonnegative=True)
    assert min(near) >= 0
    assert total_variance > 0 or sum(near) == total
    assert near == oracle.nearest(v, s, total, total_variance)


@given(problems(), st.lists(values, min_size=5, max_size=5))
def test_without_signs_nothing_near_is_better(problem: Any, steps: list[Fraction]) -> None:
    v, s, total, total_variance = problem
    near = nearest(v, s, total, total_variance, nonnegative=False)
    best = oracle.objective(near, v, s, total, total_variance)
    move = steps[: len(v)]
    if not total_variance:
        move[-1] = -sum(move[:-1], Fraction(0))
    other = [x + m / 100 for x, m in zip(near, move, strict=True)]
    assert oracle.objective(other, v, s, total, total_variance) >= best


@given(problems(), st.lists(st.fractions(0, 20, max_denominator=6), min_size=5, max_size=5))
def test_it_never_moves_away_from_a_truth_that_fits(problem: Any, truth: list[Fraction]) -> None:
    """A projection on a convex set is nearer to every point of the set than what is projected."""
    v, s, total, total_variance = problem
    true = truth[: len(v)]
    total = total if total_variance else sum(true, Fraction(0))
    near = nearest(v, s, total, total_variance, nonnegative=True)

    def away(x: Any, t: Fraction) -> Fraction:
        moved = sum(((a - b) ** 2 / c for a, b, c in zip(x, true, s, strict=True)), Fraction(0))
        return moved + ((t - sum(true)) ** 2 / total_variance if total_variance else 0)

    assert away(near, sum(near, Fraction(0))) <= away(v, total)


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=4), st.integers(0, 9))
@settings(max_examples=80)
def test_whole_numbers_are_the_nearest_of_all(noisy: list[int], total: int) -> None:
    v = [Fraction(x) for x in noisy]
    real = nearest(v, [Fraction(1)] * len(v), Fraction(total), Fraction(0), nonnegative=True)
    rounded = whole(real, total, v)
    assert sum(rounded) == total
    assert min(rounded) >= 0
    every = list(oracle.whole_numbers(len(v), total, 0, total))
    assert oracle.distance(rounded, v) == min(oracle.distance(x, v) for x in every)
    assert oracle.distance(rounded, real) == min(oracle.distance(x, real) for x in every)
    for i, a in enumerate(v):  # larger noisy values stay at least as large
        assert all(rounded[i] >= rounded[j] for j, b in enumerate(v) if a > b)


@given(st.lists(st.fractions(0, 20, max_denominator=7), min_size=1, max_size=8), st.booleans())
def test_whole_numbers_of_a_sum_that_is_rounded_too(x: list[Fraction], up: bool) -> None:
    total = -int(-sum(x) // 1) if up else int(sum(x) // 1)
    rounded = whole(x, total, x)
    assert sum(rounded) == total
    assert all(abs(f - a) < 1 and f >= 0 for f, a in zip(rounded, x, strict=True))


@given(problems())
def test_numbers_without_noise_are_kept(problem: Any) -> None:
    v, s, total, total_variance = problem
    assume(total_variance > 0 or len(v) > 1)
    fixed = [Fraction(0), *s[1:]]
    v[0] = min(abs(v[0]), total) if total_variance == 0 else abs(v[0])
    assert nearest(v, fixed, total, total_variance, nonnegative=True)[0] == v[0]


def test_what_cannot_be_is_refused() -> None:
    one = [Fraction(1)]
    with pytest.raises(InputError, match="less than 0"):
        nearest(one, one, Fraction(-1), Fraction(0), nonnegative=True)
    for signs in (True, False):
        with pytest.raises(InputError, match="do not agree"):
            nearest([Fraction(2)], [Fraction(0)], Fraction(1), Fraction(0), nonnegative=signs)
    assert nearest([Fraction(2)], [Fraction(0)], Fraction(2), Fraction(0), nonnegative=True) == (2,)
