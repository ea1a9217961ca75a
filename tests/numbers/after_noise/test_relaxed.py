"""The scale of the monotone plan, next to its two conditions with many digits."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.pair_cases import monotone_by_hand, relaxed_by_hand
from tests.support.strategies import exact_laws

from takifugu.numbers.after_noise.relaxed import RelaxedPair
from takifugu.numbers.distributions.pmf import Pmf

NEAR = Fraction(1, 10**9)


@settings(max_examples=25, deadline=None)
@given(exact_laws(fractional=False), exact_laws(fractional=False), st.sampled_from([0.125, 1.0, 3.0, 12.5]))
def test_the_conditions_hold_at_the_scale_and_not_below_it(p: Pmf, q: Pmf, epsilon: float) -> None:
    pair, budget = RelaxedPair.of(p, q), Fraction(epsilon)
    laws = [list(zip(of.values.tolist(), of.masses.tolist(), strict=True)) for of in (p, q)]
    plan = monotone_by_hand(*({x: Fraction(m, sum(m for _, m in law)) for x, m in law} for law in laws))
    scale = pair.smallest(budget)
    assert (scale == 0) == all(x == y for x, y in plan)
    assert not pair.holds(Fraction(0), budget)
    if scale:
        assert relaxed_by_hand(plan, epsilon * (1 + 1e-15), scale)
        assert not relaxed_by_hand(plan, epsilon, scale * (1 - 1e-9))
        assert pair.holds(Fraction(scale) * (1 + NEAR), budget)
        assert not pair.holds(Fraction(scale) * (1 - NEAR), budget)
        for tried in (scale / 2, scale, 3 * scale):
            assert relaxed_by_hand(plan, pair.loss(tried), tried)
            assert not relaxed_by_hand(plan, pair.loss(tried) - 1e-10, tried)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(7)])
def test_a_shift_needs_its_length_over_epsilon_and_what_is_alike_nothing(epsilon: Fraction) -> None:
    law, shifted = (Pmf.from_counts([start, start + 1, start + 5], [2, 1, 1]) for start in (0, 3))
    assert RelaxedPair.of(law, law).smallest(epsilon) == 0.0
    assert RelaxedPair.of(law, shifted).smallest(epsilon) == pytest.approx(float(3 / epsilon), rel=1e-9)
    half = Pmf.from_counts([Fraction(1, 2), Fraction(3, 2), Fraction(11, 2)], [2, 1, 1])
    assert RelaxedPair.of(half, law).smallest(epsilon) == pytest.approx(float(Fraction(1, 2) / epsilon), rel=1e-9)
