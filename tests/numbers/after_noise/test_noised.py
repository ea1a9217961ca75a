"""Laws after Laplace noise: golden scales, dense grids in mpmath, safe rounding, and what a tolerance may not do."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.golden import golden, transport_laws
from tests.support.laws_oracles import laplace_loss_everywhere, laplace_loss_on, smallest_laplace_scale
from tests.support.strategies import epsilons, exact_laws, float_laws

from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.core.errors import InputError
from takifugu.numbers.after_noise.noised import (
    exact_laplace_scale,
    laplace_log_ratio,
    laplace_log_ratio_bounds,
    wasserstein_scale,
)
from takifugu.numbers.distributions.exact_ratio import log_masses, masses_need_noise, noised_log_ratios, ratio_exceeds
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.transport.on_the_line import w_infinity, w_infinity_candidates

scales = st.sampled_from([0.01, 0.3, 1.0, 2.5, 40.0, 1e4])
CASES = [(name, epsilon) for name in transport_laws() for epsilon in golden()["laplace_scale"][name]]


def law(masses: dict[int, Fraction]) -> Pmf:
    return Pmf(list(masses), list(masses.values()))


def table(law: Pmf) -> dict[Any, Any]:
    return dict(law.items())


def as_floats(law: Pmf) -> Pmf:
    return Pmf(law.values, law.probabilities)


def loss(p: Pmf, q: Pmf, scale: Any, digits: int = 50) -> mpmath.mpf:
    return laplace_loss_on({*table(p), *table(q)}, table(p), table(q), scale, digits)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "epsilon"), CASES)
def test_golden_scales(name: str, epsilon: str) -> None:
    expected = golden()["laplace_scale"][name][epsilon]
    p, q = map(law, transport_laws()[name])
    for left, right in ((p, q), (q, p), (as_floats(p), as_floats(q))):
        assert exact_laplace_scale(left, right, epsilon) == pytest.approx(float(expected["exact"]), rel=1e-9)
        distance, scale = wasserstein_scale(left, right, epsilon)
        assert distance == w_infinity(p, q) == wasserstein_scale(left, right, epsilon)[0]
        assert float(scale) == pytest.approx(float(expected["strict"]), rel=1e-9)
        assert scale >= Fraction(distance) / Fraction(epsilon)


@settings(max_examples=60)
@given(st.one_of(st.tuples(exact_laws(), exact_laws()), st.tuples(float_laws(), float_laws())), scales)
def test_the_largest_log_ratio_is_at_an_atom_and_is_enclosed(pair: tuple[Pmf, Pmf], scale: float) -> None:
    p, q = pair
    everywhere = laplace_loss_everywhere(table(p), table(q), scale, steps=40)
    low, high = laplace_log_ratio_bounds(p, q, scale)
    assert low <= everywhere <= high
    assert high - low <= 1e-11 * (1 + high)
    assert low <= laplace_log_ratio(p, q, scale) <= high
    assert laplace_log_ratio(q, p, scale) == pytest.approx(laplace_log_ratio(p, q, scale), abs=1e-12, rel=1e-12)


@pytest.mark.mutants
@pytest.mark.parametrize("gap", ["unit", "ragged", "wide"])
@pytest.mark.parametrize(("size", "lowest"), [(41, -3), (60, -12), (500, -12), (500, -320)])
def test_blocks_agree_with_many_digits(size: int, lowest: int, gap: str) -> None:
    random = np.random.default_rng(size)
    steps = {"unit": np.ones(size), "ragged": random.random(size) + 1e-3, "wide": 10 ** random.uniform(-3, 4, size)}
    values = np.cumsum(steps[gap])
    left, right = (10.0 ** random.uniform(lowest, 0, size) for _ in range(2))
    p, q = Pmf(values, left / left.sum()), Pmf(values[::-1] + steps[gap], right / right.sum())
    for scale in (0.05, 3.0, 1000.0):
        low, high = laplace_log_ratio_bounds(p, q, scale)
        truth = loss(p, q, scale, 30) if size < 100 else max(noised_log_ratios(p, q, scale))
        assert low <= truth <= high
        assert high - low <= (5e-12 if lowest > -300 else 2e-11) * (1 + high)


@given(exact_laws(), exact_laws(), scales)
def test_many_digits_agree_with_the_oracle(p: Pmf, q: Pmf, scale: float) -> None:
    assert abs(max(noised_log_ratios(p, q, scale)) - loss(p, q, scale)) < mpmath.mpf("1e-40") * (1 + scale**-1)


@pytest.mark.mutants
def test_gaps_and_masses_far_beyond_float_exponents() -> None:
    p, q = Pmf([0, 10**7], [0.5, 0.5]), Pmf([3, 10**7], [1e-300, 1 - 1e-300])
    assert laplace_log_ratio(p, q, 1.0) == pytest.approx(float(loss(p, q, 1.0)), rel=1e-12)
    tiny = Fraction(1, 10**900)
    first, second = Pmf([0, 1], [tiny, 1 - tiny]), Pmf([0, 1], [3 * tiny, 1 - 3 * tiny])
    assert exact_laplace_scale(first, second, 1) == pytest.approx(
        float(smallest_laplace_scale(table(first), table(second), 1, digits=2000)), rel=1e-9
    )
    denormal = Pmf([0, 1], [5e-324, 1.0]), Pmf([0, 1], [5e-322, 1.0])
    for scale in (0.001, 0.0013, 0.01):
        low, high = laplace_log_ratio_bounds(*denormal, scale)
        assert low <= loss(*denormal, scale, 700) <= high


@settings(max_examples=80)
@given(exact_laws(), exact_laws(), epsilons)
def test_the_exact_scale_is_safe_and_least(p: Pmf, q: Pmf, epsilon: Any) -> None:
    scale = exact_laplace_scale(p, q, epsilon)
    assert scale == exact_laplace_scale(q, p, epsilon)
    assert Fraction(scale) <= Fraction(w_infinity(p, q)) / Fraction(epsilon) * (1 + Fraction(1, 2**50))
    if scale == 0:
        assert laplace_log_ratio(p, q, 0) <= epsilon
        return
    budget = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
    tie = Fraction(scale) == Fraction(w_infinity(p, q)) / Fraction(epsilon)
    assert loss(p, q, scale) <= budget * (1 + (mpmath.mpf("1e-40") if tie else 0))
    assert loss(p, q, scale * (1 - 1e-10)) > budget


@settings(max_examples=25)
@given(float_laws(), float_laws(), epsilons)
def test_the_exact_scale_of_float_laws(p: Pmf, q: Pmf, epsilon: Any) -> None:
    scale = exact_laplace_scale(p, q, epsilon)
    assert scale == pytest.approx(float(smallest_laplace_scale(table(p), table(q), epsilon)), rel=1e-10)
    if scale:
        assert loss(p, q, scale) * Fraction(epsilon).denominator <= Fraction(epsilon).numerator


@given(exact_laws(fractional=False), exact_laws(fractional=False), epsilons, st.integers(1, 9))
def test_scales_scale_and_noise_that_is_there_helps(p: Pmf, q: Pmf, epsilon: Any, factor: int) -> None:
    scale = exact_laplace_scale(p, q, epsilon)
    assert exact_laplace_scale(p.scale(-factor), q.scale(-factor), epsilon) == pytest.approx(factor * scale, rel=1e-10)
    other = Pmf.from_counts([0, 1, 4], [1, 2, 1])
    assert exact_laplace_scale(p.convolve(other), q.convolve(other), epsilon) <= scale * (1 + 1e-10)


@given(exact_laws(), exact_laws(), st.tuples(scales, scales))
def test_more_noise_never_hurts(p: Pmf, q: Pmf, pair: tuple[float, float]) -> None:
    small, large = sorted(pair)
    assert laplace_log_ratio_bounds(p, q, large)[0] <= laplace_log_ratio_bounds(p, q, small)[1]


@pytest.mark.parametrize("size", [10**3, 10**14, 2**62, 10**30, 10**900], ids=int.bit_length)
def test_logs_of_masses_of_any_length(size: int) -> None:
    masses = [size // 3, size // 7, 1, size, size - size // 1000]
    law = Pmf.from_counts(range(5), masses)
    near_one = Pmf.from_counts([0, 1], [1, size])
    with mpmath.workdps(950):
        for one in (law, near_one):
            exact = [mpmath.log(mpmath.mpf(int(m)) / one.total) for m in one.masses.tolist()]
            for computed, true in zip(log_masses(one), exact, strict=True):
                assert abs(computed - true) <= mpmath.mpf(2) ** -50 * abs(true) + mpmath.mpf(10) ** -300


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("size", [2**62, 10**600], ids=int.bit_length)
def test_zero_noise_is_decided_exactly_for_long_masses(seed: int, size: int) -> None:
    """The logarithms of 10**600 are off by 1e-13, which is more than what decides here."""
    one, other = (size // 3 * (seed + 7) // 20, size // 5 * (seed + 5) // 16)
    p, q = Pmf.from_counts([0, 1], [one, size - one]), Pmf.from_counts([0, 1], [other, size // 2 - other])
    ratios = [mass / table(q)[x] for x, mass in table(p).items()]
    with mpmath.workdps(60):
        loss = max(abs(mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)) for ratio in ratios)
        least, most = (Fraction(mpmath.nstr(loss * (1 + sign * mpmath.mpf(10) ** -16), 50)) for sign in (-1, 1))
    assert masses_need_noise(p, q, least)
    assert not masses_need_noise(p, q, most)
    family = ListedFamily(0, ((0, 1),), {0: (p,), 1: (q,)})
    assert least < Fraction(family.losses(Fraction(0))[0]) < least * (1 + Fraction(1, 10**12))


def test_zero_noise_is_decided_exactly() -> None:
    p, q = Pmf([0, 1], [Fraction(1, 4), Fraction(3, 4)]), Pmf([0, 1], [Fraction(1, 2), Fraction(1, 2)])
    assert exact_laplace_scale(p, q, 1) == 0.0
    assert exact_laplace_scale(p, q, Fraction(69, 100)) > 0
    assert laplace_log_ratio(p, q, 0) == pytest.approx(math.log(2))
    assert laplace_log_ratio(p, Pmf([0], [1]), 0) == math.inf
    assert laplace_log_ratio(Pmf([0], [1]), p, 0) == math.inf
    assert laplace_log_ratio(p, Pmf([0, Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4)]), 0) == math.inf
    assert laplace_log_ratio(p, q, 0) == laplace_log_ratio(q, p, 0)
    with mpmath.workdps(80):
        log_two = Fraction(mpmath.nstr(mpmath.log(2), 70))
    assert not masses_need_noise(p, q, log_two + Fraction(1, 10**58))
    assert masses_need_noise(p, q, log_two - Fraction(1, 10**58))
    tight = exact_laplace_scale(p, q, log_two - Fraction(1, 10**58))
    assert 0 < tight < 0.01
    assert ratio_exceeds(Fraction(2), log_two - Fraction(1, 10**58))


def test_equal_and_single_laws() -> None:
    coin = Pmf([0, 1], [0.5, 0.5])
    assert exact_laplace_scale(coin, coin, 0.1) == 0.0
    assert wasserstein_scale(coin, coin, 0.1) == (0, 0)
    assert laplace_log_ratio(coin, coin, 2) == 0.0
    assert exact_laplace_scale(Pmf([0], [1]), Pmf([2], [1]), 0.5) == 4.0
    assert exact_laplace_scale(Pmf([0], [1.0]), Pmf([2], [1.0]), 0.5) == pytest.approx(4.0, rel=1e-10)


# docs/decisions.md#numbers: ignoring 1e-13 of mass at distance 50 is not pure epsilon.
def test_a_tolerance_may_only_propose() -> None:
    p, q = Pmf([0, 1, 50], [0.5, 0.5 - 1e-13, 1e-13]), Pmf([0, 1], [0.5, 0.5])
    assert wasserstein_scale(p, q, 1)[0] == 49
    assert wasserstein_scale(q, p, 1)[1] >= 49
    assert loss(p, q, 1.0) > 10
    middle = Pmf([0, 50, 100], [0.5 - 1e-13, 1e-13, 0.5]), Pmf([0, 100], [0.5, 0.5])
    assert w_infinity_candidates(*middle)[0] == 0
    assert wasserstein_scale(*middle, 1)[0] >= 50
    assert loss(*middle, 0.02) > 10


@settings(max_examples=60)
@given(exact_laws(), exact_laws(), epsilons)
def test_float_masses_get_the_exact_distance_or_a_larger_one(p: Pmf, q: Pmf, epsilon: Any) -> None:
    left, right = as_floats(p), as_floats(q)
    distance, scale = wasserstein_scale(left, right, epsilon)
    if p != q:
        assert distance >= min(w_infinity(p, q), distance)
    if scale:
        assert loss(left, right, scale) * Fraction(epsilon).denominator <= Fraction(epsilon).numerator * (1 + 1e-15)
    else:
        assert laplace_log_ratio(p, q, 0) <= float(epsilon) + 1e-12
    assert distance <= w_infinity(p, q) or distance in w_infinity_candidates(left, right)


def test_shifted_float_laws_do_not_lose_to_rounding() -> None:
    random = np.random.default_rng(3)
    masses = random.random(200)
    wiggle = masses * (1 + 1e-14 * random.standard_normal(200))
    p, q = Pmf(range(200), masses / masses.sum()), Pmf(range(1, 201), wiggle / wiggle.sum())
    for epsilon in (0.01, 1, 5):
        assert wasserstein_scale(p, q, epsilon)[0] == 1


RATIOS = (laplace_log_ratio, laplace_log_ratio_bounds)
SCALES = (exact_laplace_scale, wasserstein_scale)


@pytest.mark.parametrize(("call", "number", "words"), [
    *((call, scale, "scale") for call in RATIOS for scale in (-1.0, math.inf, math.nan)),
    *((call, epsilon, "epsilon") for call in SCALES for epsilon in (0, -1, math.inf, math.nan, "one")),
])  # fmt: skip
def test_bad_scales_and_epsilons(call: Any, number: Any, words: str) -> None:
    coin = Pmf([0, 1], [0.5, 0.5])
    with pytest.raises(InputError, match=words):
        call(coin, coin, number)


def test_budgets_beyond_float64() -> None:
    exact = Pmf.from_counts([0, 1, 5], [1, 2, 3]), Pmf.from_counts([0, 2, 5], [2, 2, 2])
    for p, q in (exact, (as_floats(exact[0]), as_floats(exact[1]))):
        for epsilon in (Fraction(1, 10**300), Fraction(1, 10**11), Fraction(10**9), Fraction(10**300)):
            scale = exact_laplace_scale(p, q, epsilon)
            assert 0 < scale < math.inf
            assert wasserstein_scale(p, q, epsilon)[1] >= Fraction(w_infinity(*exact)) / epsilon
        assert exact_laplace_scale(p, q, Fraction(10**9)) == exact_laplace_scale(p, q, Fraction(10**6))
        for epsilon, words in ((Fraction(1, 10**400), "1e308"), (Fraction(10**400), "a finite number")):
            with pytest.raises(InputError, match=words):
                exact_laplace_scale(p, q, epsilon)
