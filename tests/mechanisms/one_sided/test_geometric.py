"""One-sided noise: exact laws by enumeration on all policy neighbours, and nothing the other way."""

import math
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import asymmetric as oracle
from tests.support.golden import golden

from takagi import bounds
from takifugu.analysis.randomisers import Direction
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric
from takifugu.core.errors import InputError
from takifugu.mechanisms.one_sided.answers import sanitiser
from takifugu.mechanisms.one_sided.questions import at_most
from takifugu.mechanisms.one_sided.tails import count_noise, geometric_law

HALF = F(1, 2)
UP, DOWN, EITHER = Direction.UP, Direction.DOWN, Direction.EITHER


@given(st.integers(1, 9), st.data())
@settings(max_examples=60, deadline=None)
def test_the_law_is_exact(maximum: int, data: Any) -> None:
    count = data.draw(st.integers(0, maximum))
    true = oracle.noisy(count, HALF, maximum)
    law = dict(geometric_law(count, maximum, math.log(2)).items())
    assert law == pytest.approx({z: float(mass) for z, mass in true.items()}, rel=1e-12)
    mirrored = dict(geometric_law(maximum - count, maximum, math.log(2), direction=UP).items())
    assert mirrored == pytest.approx({maximum - z: mass for z, mass in law.items()}, rel=1e-12)


MIXED = (DOWN, UP, EITHER)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("change", [(-1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (-1, 1, 1), (-1, 1, -1)])
def test_cells_that_fall_rise_or_do_either(change: tuple[int, ...]) -> None:
    """Definition VIII.1, each of its cases: total L1 change 3, scale 3/epsilon, and the loss is what changed of it."""
    noise = OneSidedGeometric(F(3), F(1), 3, MIXED)
    left = (2, 2, 2)
    right = tuple(x + d for x, d in zip(left, change, strict=True))
    ratios = []
    for y in product(range(-3, 8), repeat=3):
        one, other = (noise.log_density(answer, [F(z) for z in y]) for answer in (left, right))
        if one > -math.inf:
            ratios.append(one - other)
    assert max(ratios) == pytest.approx(sum(map(abs, change)) / 3)


@pytest.mark.parametrize("maximum", [0, -1, 1.5, True, "9"])
def test_the_end_of_a_count_is_a_whole_number_above_0(maximum: Any) -> None:
    with pytest.raises(InputError) as refusal:
        geometric_law(0, maximum, 1)
    assert refusal.value.where == ("maximum",)
    assert len(geometric_law(0, 1, 1)) == 2


@pytest.mark.parametrize("law", [
    (3, 2, 1), (-1, 2, 1), (1, 0, 1), (1, 2, 0), (1.5, 2, 1), (1, 2, 1, 0), (1, 2, 1, 1, EITHER), (True, 2, 1),
])  # fmt: skip
def test_bad_input(law: Any) -> None:
    with pytest.raises(InputError):
        geometric_law(*law)


# The reference values of tests/golden.json: beta under both sanitisers.

WHOLE, REAL = golden()["asymmetric"]["AGeo"], golden()["asymmetric"]["ALap"]


@pytest.mark.parametrize("epsilon", WHOLE)
def test_beta_of_both_laws(epsilon):
    reference = WHOLE[epsilon]
    whole, real = (sanitiser(at_most(reference["t"]), count_noise(epsilon, whole=w)) for w in (True, False))
    for m, beta in reference["beta_by_true_count"].items():
        law = geometric_law(int(m), reference["n"], float(epsilon)).items()
        assert math.fsum(p for z, p in law if z <= reference["t"]) == pytest.approx(float(beta), rel=1e-11)
        assert whole.beta(int(m)) == pytest.approx(float(beta), rel=1e-11)
        assert real.beta(int(m)) == pytest.approx(float(REAL[epsilon]["beta_sanitizer_z_lt_t_plus_1"][m]), rel=1e-11)
        printed = float(REAL[epsilon]["beta_sanitizer_z_le_t"][m])
        assert bounds.printed_beta(reference["t"], int(m), epsilon) == pytest.approx(printed, rel=1e-11, abs=1e-15)
        claimed = float(REAL[epsilon]["claimed_by_cor_V6"][m])
        assert bounds.enough_epsilon(claimed, reference["t"] + 1 - int(m)) == pytest.approx(float(epsilon), rel=1e-8)
    assert whole.alpha == real.alpha == 0
