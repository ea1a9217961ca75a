"""Laws whose masses are known up to a relative error: each promise is for all laws that may be the true ones."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from takifugu.mechanisms import gaussian_exact, kantorovich_relaxed, normal_by_rule, wasserstein_delta
from takifugu.mechanisms.common.largest_need import Comparison, comparisons_of
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.transport.on_the_line import level_tolerance, w_infinity

ONE = Fraction(1)
#: What is enough however the masses were rounded, and what no move exceeds.
STRICT, FARTHEST = Fraction(77), 99


def compared(p: Pmf, q: Pmf, error: float) -> Comparison:
    family = SimpleNamespace(
        hulls={0: (p,), 1: (q,)}, compared=[(0, 0, 1, 0)], relative_error=error,
        moves=lambda _: (1, FARTHEST), wasserstein=lambda *_: (FARTHEST, STRICT),
    )  # fmt: skip
    located: Any = SimpleNamespace(family=family)
    return Comparison(p, q, error, located, 0)


def far(mass: Fraction) -> tuple[Pmf, Pmf]:
    """Return two laws of which this mass lies 10 away from anything of the other."""
    return Pmf([0, 10], [1 - mass, mass]), Pmf([0], [1])


@pytest.mark.parametrize("error", [2.0**-40, 0.001, 0.05, 0.3])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), ONE, Fraction(5)])
def test_laws_that_keep_the_smaller_budget_are_those_of_true_laws_that_keep_the_larger(
    error: float, epsilon: Fraction
) -> None:
    """A <= e^budget B + share has (1 + r) A <= e^epsilon (1 - r) B + delta: the largest and the least true masses."""
    delta, r = Fraction(1, 100), Fraction(error)
    one = compared(*far(ONE / 2), error)
    budget, share = one.budget(epsilon), one.share(delta)
    assert float(budget) + math.log1p(error) - math.log1p(-error) <= float(epsilon) + 1e-15
    assert (1 + r) * share <= delta
    assert epsilon - budget <= 3 * r
    assert share >= delta * (1 - r)


def test_float_laws_have_an_error_and_exact_ones_none() -> None:
    exact, floats = Pmf([0, 1], [ONE / 3, 2 * ONE / 3]), Pmf([0, 1], [0.25, 0.75])
    assert exact.exact
    assert not floats.exact
    cases = [(exact, exact, 0.0), (exact, floats, 0.0), (floats, exact, 0.0), (floats, floats, 0.25),
             (exact, exact, 0.25)]  # fmt: skip
    errors = []
    for p, q, error in cases:
        (comparison,) = comparisons_of(compared(p, q, error).located)
        assert (comparison.p, comparison.q) == (p, q)
        errors.append(comparison.error)
    rounded = level_tolerance(exact, floats)
    assert errors == [0, rounded, rounded, 0.5 + rounded, 0.5 + rounded]
    assert rounded >= 4 * np.finfo(float).eps


@pytest.mark.parametrize("error", [0.0, 0.01])
def test_mass_that_stays_where_it_is_leaves_room_for_the_error(error: float) -> None:
    delta = Fraction(1, 10)
    most = delta - 2 * Fraction(error)

    def need(mass: Fraction, at: Fraction = Fraction(0)) -> Fraction:
        return wasserstein_delta._needed(compared(*far(mass), error), at, Fraction(2), delta)

    assert need(most * (1 - Fraction(1, 10**9))) == 0
    assert need(most * (1 + Fraction(1, 10**9))) == 5 == need(most * 2)
    assert need(most * 2, Fraction(5)) == 5
    assert need(most * 2, Fraction(7)) == 7
    assert need(most * 2, Fraction(4)) == 5


def test_no_mass_may_stay_where_the_error_is_half_of_delta() -> None:
    delta = Fraction(1, 10)
    for error in (0.05, 0.06):
        needed = wasserstein_delta._needed(compared(*far(Fraction(1, 100)), error), Fraction(0), ONE, delta)
        assert needed == STRICT


def test_a_relaxed_plan_keeps_the_smaller_budget_or_falls_to_the_strict_one() -> None:
    p, q = Pmf([0, 1], [ONE / 4, 3 * ONE / 4]), Pmf([0, 1], [3 * ONE / 4, ONE / 4])
    scales = [kantorovich_relaxed._needed(compared(p, q, error), Fraction(0), ONE) for error in (0.0, 0.01, 0.1)]
    assert scales == sorted(set(scales)), "more noise, the less is known of the laws"
    smaller = compared(p, q, 0.1).budget(ONE)
    assert scales[2] == kantorovich_relaxed._needed(compared(p, q, 0.0), Fraction(0), smaller)
    assert kantorovich_relaxed._needed(compared(p, q, 0.5), Fraction(0), ONE) == STRICT
    assert kantorovich_relaxed._needed(compared(p, q, 0.1), STRICT, ONE) == STRICT


def test_normal_noise_keeps_the_smaller_budget_and_share_or_falls_to_the_farthest_move() -> None:
    p, q = Pmf([0, 1], [ONE / 4, 3 * ONE / 4]), Pmf([0, 1], [3 * ONE / 4, ONE / 4])
    delta = Fraction(1, 100)

    def need(error: float, epsilon: Fraction = ONE, share: Fraction = delta) -> Fraction:
        return gaussian_exact._needed(compared(p, q, error), Fraction(0), epsilon, share)

    one = compared(p, q, 0.1)
    assert need(0.0) < need(0.01) < need(0.1) == need(0.0, one.budget(ONE), one.share(delta))
    assert need(0.5) > FARTHEST, "the move of all mass at the whole budget"
    assert not gaussian_exact._keeps(compared(p, q, 0.5), Fraction(10**9), 1.0, delta)
    assert gaussian_exact._keeps(one, need(0.1) * (1 + Fraction(1, 10**6)), 1.0, delta)
    assert not gaussian_exact._keeps(one, need(0.0), 1.0, delta)


def test_rules_of_normal_noise_spare_what_the_error_may_hide() -> None:
    delta = Fraction(1, 10)
    assert normal_by_rule._move(compared(*far(Fraction(1, 1000)), 0.0), delta) == (10, 0)
    error, most = 1 / 512, Fraction(4, 512)
    least = most - Fraction(2, 512)
    near, spared = normal_by_rule._move(compared(*far(least * Fraction(9, 10)), error), delta)
    assert (near, spared) == (0, most)
    beyond, _ = normal_by_rule._move(compared(*far(least * Fraction(11, 10)), error), delta)
    assert beyond == 10 == w_infinity(*far(ONE / 2))
    assert normal_by_rule._move(compared(*far(ONE / 2), float(delta) / 4), delta) == (FARTHEST, 0)
    tiny = compared(*far(ONE / 2), 2.0**-60)
    assert normal_by_rule._move(tiny, delta) == (10, delta * normal_by_rule.SPARE)
    assert normal_by_rule._move(compared(*far(ONE / 2), 1 / 64), Fraction(1, 4)) == (10, Fraction(1, 16))
    assert normal_by_rule._move(compared(*far(ONE / 2), 1 / 64 + 1e-6), Fraction(1, 4)) == (FARTHEST, 0)
