"""One-sided noise: exact laws by enumeration of every branch, goodness of fit with power, never on the wrong side."""

from fractions import Fraction
from math import ceil, exp, floor
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.every_run import law_of_draws
from tests.support.goodness_of_fit import misfit
from tests.support.scripted_entropy import seeded

from takifugu.core.errors import DataError, InputError
from takifugu.numbers.noise import SystemEntropy, geometric, integers, one_sided, rounded_up_exponential

REJECT = 1e-6
F = Fraction
STRETCHED = F(105, 100)


def geometric_misfit(samples: Any, scale: Fraction) -> float:
    """Whether P(K <= k) = 1 - exp(-(k + 1) / scale) on k >= 0."""
    return misfit(samples, lambda k: 0.0 if k < 0 else -float(mpmath.expm1(-float((k + 1) / scale))), F(0), scale)


def raised_misfit(samples: Any, center: Any, scale: Fraction, grid: Fraction) -> float:
    """Whether P(ceil((c + E) / g) <= k) = P(E <= k g - c) = 1 - exp(-(k g - c) / scale) where that is not negative."""
    center = F(center)

    def cdf(k: int) -> float:
        return -float(mpmath.expm1(-max(0.0, float((k * grid - center) / scale))))

    return misfit(samples, cdf, center / grid, scale / grid)


SCALES = [F(1), F(33, 10), F(1, 3), F(330_000), F(2**45 - 1, 2**20), F(ceil(2**34 * 3.3), 2**34)]


@pytest.mark.sampled(15)
@pytest.mark.parametrize("scale", SCALES)
def test_geometric_noise_has_its_law_and_the_test_has_power(scale: Fraction) -> None:
    samples = geometric(scale, 150_000, seeded())
    assert samples.dtype == np.int64
    assert samples.min() >= 0
    assert geometric_misfit(samples, scale) > REJECT
    assert geometric_misfit(samples, scale * STRETCHED) < REJECT
    assert geometric_misfit(samples, scale / STRETCHED) < REJECT
    assert geometric_misfit(samples, scale * 2) < REJECT


@pytest.mark.parametrize("scale", [F(2**62 + 1, 3), F(2**64), F(10**40, 3)])
def test_beyond_64_bits_the_law_is_the_same(scale: Fraction) -> None:
    samples = geometric(scale, 20_000, seeded())
    assert geometric_misfit(samples, scale) > REJECT
    assert geometric_misfit(samples, scale * F(115, 100)) < REJECT
    assert scale < 2**64 or max(samples) > 2**64


def test_a_tiny_scale_draws_nothing_but_0() -> None:
    assert not geometric(F(1, 10**30), 1000, seeded()).any()


@pytest.mark.mutants
def test_system_entropy() -> None:
    assert geometric_misfit(geometric(F(33, 10), 150_000, SystemEntropy()), F(33, 10)) > 1e-9
    assert raised_misfit(rounded_up_exponential(F(1, 3), 2, 1, 60_000, SystemEntropy()), F(1, 3), F(2), F(1)) > 1e-9


@pytest.mark.mutants
@pytest.mark.parametrize(("t", "s"), [(1, 1), (2, 1), (3, 2), (2, 3)])
def test_every_branch_of_geometric_noise_enumerated(t: int, s: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw_once() -> int:
        drawn = integers.geometric_round(t, s, 1, seeded())
        return int(drawn[0]) if drawn.size else -1

    law = law_of_draws(monkeypatch, draw_once, F(1, 10**5))
    lost, _rejected = law.pop(None), law.pop(-1, 0)
    accepted = sum(law.values())
    assert lost < F(5, 100)
    for k in range(7):
        mass = (1 - exp(-s / t)) * exp(-k * s / t)
        assert law[k] / (accepted + lost) <= mass <= (law[k] + lost) / accepted
    assert not law[0] / (accepted + lost) <= 1 - exp(-s / t / 2) <= (law[0] + lost) / accepted


@pytest.mark.mutants
@pytest.mark.parametrize("least", [F(1, 10**5), pytest.param(F(1, 10**6), marks=pytest.mark.mutants)])
@pytest.mark.parametrize("center", [F(2, 3), F(0), F(-1, 3), F(-5, 2)])
def test_every_branch_of_rounding_up_enumerated(
    center: Fraction, least: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With scale 1 no try is rejected, so one is enough."""
    monkeypatch.setattr(one_sided, "accepted", lambda round_of, size: round_of(size))
    law = law_of_draws(monkeypatch, lambda: int(rounded_up_exponential(center, 1, 1, 1, seeded())[0]), least)
    lost = law.pop(None)
    assert lost < F(2, 100)
    assert all(k >= center for k in law)
    for k in range(ceil(center), ceil(center) + 5):
        mass = exp(-max(0, k - 1 - center)) - exp(-(k - center))
        assert law[k] <= mass + 1e-12
        assert mass <= law[k] + lost + 1e-12


CASES = [(F(27, 5), F(1), F(1)), (0.1, F(33, 10), F(1, 7)), (F(-29, 4), F(3, 10), F(1)), (10**25 + 1, F(5, 2), F(1, 3)),
         (F(1, 2), F(1, 2), F(1)), (0, F(10**6), F(1, 1000)), (7, F(2), F(1))]  # fmt: skip


@pytest.mark.mutants
@pytest.mark.parametrize(("center", "scale", "grid"), CASES)
def test_rounding_up_has_its_law_and_the_test_has_power(center: Any, scale: Fraction, grid: Fraction) -> None:
    samples = rounded_up_exponential(center, scale, grid, 100_000, seeded())
    assert min(int(k) for k in samples) * grid >= F(center)
    assert raised_misfit(samples, center, scale, grid) > REJECT
    for wrong in (scale * STRETCHED, scale / STRETCHED, scale * 2):
        assert raised_misfit(samples, center, wrong, grid) < REJECT


@given(
    st.lists(st.fractions(-50, 50, max_denominator=30), min_size=1, max_size=20),
    st.fractions(F(1, 20), 20),
    st.fractions(F(1, 20), 5),
)
@settings(max_examples=60, deadline=None)
def test_nothing_lies_below_its_centre_and_one_centre_per_draw(
    centers: list[Fraction], scale: Fraction, grid: Fraction
) -> None:
    drawn = rounded_up_exponential(centers, scale, grid, len(centers), seeded())
    assert all(int(k) * grid >= c for k, c in zip(drawn, centers, strict=True))
    still = rounded_up_exponential(centers, F(1, 10**40), grid, len(centers), seeded(2))
    assert [int(k) for k in still] == [floor(c / grid) + 1 if c % grid == 0 else ceil(c / grid) for c in centers]


@pytest.mark.mutants
def test_mixed_centres_have_their_laws() -> None:
    centers = [F(0), F(1, 3), F(99, 100)] * 10_000
    drawn = rounded_up_exponential(centers, F(2), 1, len(centers), seeded())
    for place in range(3):
        assert raised_misfit(drawn[place::3], centers[place], F(2), F(1)) > REJECT
    assert raised_misfit(drawn[0::3], centers[2], F(2), F(1)) < REJECT


def test_arrays_of_integers_and_numbers_beyond_64_bits() -> None:
    drawn = rounded_up_exponential(np.array([3, -4, 2**40]), F(1), 1, 3, seeded())
    assert (drawn > np.array([3, -4, 2**40])).all()
    far = rounded_up_exponential([2**63 - 1, -(2**70)], F(1), 1, 2, seeded())
    assert all(int(y) > x for x, y in zip([2**63 - 1, -(2**70)], far, strict=True))


@pytest.mark.parametrize("wrong", [0, -1, 0.5, "1", float("nan")])
def test_a_scale_is_a_positive_rational(wrong: Any) -> None:
    for draw in (lambda: geometric(wrong, 1, seeded()), lambda: rounded_up_exponential(0, wrong, 1, 1, seeded())):
        with pytest.raises(InputError, match="the scale"):
            draw()


def test_bad_centres_and_sizes() -> None:
    with pytest.raises(DataError, match="not a finite number") as refusal:
        rounded_up_exponential(float("nan"), 1, 1, 1, seeded())
    assert "nan" not in str(refusal.value)
    with pytest.raises(InputError, match="2 centres for 3 draws"):
        rounded_up_exponential([1, 2], 1, 1, 3, seeded())
    for size in (-1, 0.5):
        with pytest.raises(InputError, match="size"):
            geometric(1, size, seeded())  # type: ignore[arg-type]
    assert geometric(1, 0, seeded()).size == rounded_up_exponential(1, 1, 1, 0, seeded()).size == 0
