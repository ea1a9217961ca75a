"""What is decided exactly of two laws without noise: which atoms exceed e^epsilon, and what mass they have."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support.strategies import exact_laws

from takifugu.numbers.distributions.exact_ratio import exact_excess, masses_need_noise, ratio_exceeds
from takifugu.numbers.distributions.pmf import Pmf

F = Fraction
#: Short expansions of e from both sides: what a float of the logarithm does not tell apart from it.
NEXT_TO_E = [F(1457, 536), F(2721, 1001), F(23225, 8544), F(848456353, 312129649), F(2124008553358849, 781379079653017)]


def exceeds(one: Fraction, other: Fraction, epsilon: Fraction) -> bool:
    with mp.workdps(60):
        gap = mp.mpf(one.numerator) / one.denominator - mp.exp(mp.mpf(epsilon.numerator) / epsilon.denominator) * (
            mp.mpf(other.numerator) / other.denominator
        )
        return bool(gap > 0)


EXACT = exact_laws(largest=3, fractional=False)
FLOATS = exact_laws(largest=3, fractional=False).map(lambda law: Pmf(law.values, law.probabilities))


@settings(max_examples=25)
@given(st.tuples(EXACT, EXACT) | st.tuples(FLOATS, FLOATS), st.fractions("1/8", 3, max_denominator=8))
def test_the_masses_of_what_exceeds_are_those_of_the_definition(laws: tuple[Pmf, Pmf], epsilon: Fraction) -> None:
    for one, other in (laws, laws[::-1]):
        first, second = ({x: F(m) for x, m in law.items()} for law in (one, other))
        over = [x for x, mass in first.items() if exceeds(mass, second.get(x, F(0)), epsilon)]
        masses = tuple(sum((of.get(x, F(0)) for x in over), F(0)) for of in (first, second))
        assert exact_excess(one, other, epsilon) == masses
        need = set(first) != set(second) or any(
            exceeds(*pair, epsilon) for x in first for pair in ((first[x], second[x]), (second[x], first[x]))
        )
        assert masses_need_noise(one, other, epsilon) == need


@pytest.mark.parametrize("ratio", NEXT_TO_E)
@pytest.mark.parametrize("power", [1, 2])
def test_a_ratio_next_to_a_power_of_e_is_decided(ratio: Fraction, power: int) -> None:
    over = exceeds(ratio, F(1), F(1))
    assert over == (ratio > F(math.e)) or abs(ratio - F(math.e)) < F(1, 10**15)
    assert ratio_exceeds(ratio**power, F(power)) is over
    assert ratio_exceeds(1 / ratio**power, -F(power)) is not over
    rest = 1 - F(1, 100) * ratio**power
    p, q = Pmf([0, 1], [1 - rest, rest]), Pmf([0, 1], [F(1, 100), F(99, 100)])
    assert exact_excess(p, q, F(power)) == ((1 - rest, F(1, 100)) if over else (0, 0))
    assert masses_need_noise(p, q, F(power)) is over
    assert masses_need_noise(q, p, F(power)) is over
