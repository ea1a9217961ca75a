"""Ideal continuous noise rounded once: the law, the quantile to the last unit, and that no float decides alone."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.goodness_of_fit import Cdf, misfit, rounded_laplace_cdf, rounded_normal_cdf
from tests.support.scripted_entropy import ScriptedEntropy, seeded

from takifugu.core.errors import DataError, InputError
from takifugu.numbers.noise import SystemEntropy, rounded, rounded_laplace, rounded_normal
from takifugu.numbers.noise_quantiles import laplace_survival, normal_survival

REJECT = 1e-6
HALF = Fraction(1, 2)
Draw = Callable[..., Any]
KINDS = [(rounded_laplace, rounded_laplace_cdf), (rounded_normal, rounded_normal_cdf)]
CASES = [
    (Fraction(1, 3), Fraction(1), Fraction(1)),
    (0.1, Fraction(33, 10), Fraction(1, 7)),
    (-7.25, Fraction(3, 10), Fraction(1)),
    (HALF, Fraction(1, 2), Fraction(1)),
    (10**25 + 1, Fraction(5, 2), Fraction(1, 3)),
    (0, Fraction(10**6), Fraction(1, 1000)),
]


def rounded_misfit(
    samples: Any, law: Callable[..., Cdf], center: Any, scale: Fraction, grid: Fraction, stretch: Fraction = Fraction(1)
) -> float:
    center = Fraction(center)
    return misfit(samples, law(center, scale * stretch, grid), center / grid, scale / grid)


@pytest.mark.sampled(17)
@pytest.mark.parametrize(("draw", "law"), KINDS)
@pytest.mark.parametrize(("center", "scale", "grid"), CASES)
def test_the_law_and_the_power(
    draw: Draw, law: Callable[..., Cdf], center: Any, scale: Fraction, grid: Fraction
) -> None:
    samples = draw(center, scale, grid, 150_000, seeded())
    assert rounded_misfit(samples, law, center, scale, grid) > REJECT
    assert rounded_misfit(samples, law, center, scale, grid, Fraction(105, 100)) < REJECT
    assert rounded_misfit(samples, law, center, scale, grid, Fraction(95, 100)) < REJECT


@pytest.mark.parametrize(("draw", "law"), KINDS)
def test_system_entropy(draw: Draw, law: Callable[..., Cdf]) -> None:
    samples = draw(Fraction(1, 3), Fraction(2), HALF, 100_000, SystemEntropy())
    assert rounded_misfit(samples, law, Fraction(1, 3), Fraction(2), HALF) > 1e-9
    assert rounded_misfit(samples, law, Fraction(1, 3), Fraction(2), HALF, Fraction(105, 100)) < 1e-9


@pytest.mark.parametrize(("draw", "law"), KINDS)
def test_noise_much_smaller_than_the_grid(draw: Draw, law: Callable[..., Cdf]) -> None:
    near_a_boundary = draw(Fraction(49, 100), Fraction(1, 100), 1, 20_000, seeded())
    assert set(near_a_boundary.tolist()) == {0, 1}
    assert rounded_misfit(near_a_boundary, law, Fraction(49, 100), Fraction(1, 100), Fraction(1)) > REJECT
    assert set(draw(Fraction(-1, 3), Fraction(1, 10**9), 1, 2_000, seeded()).tolist()) == {0}
    assert set(draw(HALF, Fraction(1, 10**400), 1, 200, seeded()).tolist()) == {0, 1}


def quantile(draw: Draw, v: Fraction) -> Fraction:
    """The point that |Z| of scale 1 exceeds with probability v, to 400 bits."""
    with mpmath.workprec(400):
        exact = mpmath.mpf(v.numerator) / v.denominator
        z = -mpmath.log(exact) if draw is rounded_laplace else mpmath.sqrt(2) * mpmath.erfinv(1 - exact)
        numerator, denominator = z.as_integer_ratio()
    return Fraction(int(numerator), int(denominator))


@pytest.mark.sampled(11)
@pytest.mark.parametrize("draw", [rounded_laplace, rounded_normal])
@pytest.mark.parametrize("forced", [False, True])
def test_every_draw_is_the_rounded_quantile_of_its_bits(
    draw: Draw, forced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if forced:
        monkeypatch.setattr(rounded, "_MARGIN", 1.0)
    center, scale, grid = Fraction(-22, 7), Fraction(10, 3), Fraction(1, 2**20)
    extremes = [2**63 - 1, 2**64 - 1, 2**50, 2**63 + 2**50]
    script = [*np.frombuffer(seeded(8).bytes(8 * 150), dtype="<u8").tolist(), *extremes]
    entropy = ScriptedEntropy(script)
    drawn = draw(center, scale, grid, len(script), entropy)
    assert entropy.unread == 0
    for word, value in zip(script, drawn, strict=True):
        sign, prefix = (-1 if word >> 63 else 1), word % 2**63
        for v in (Fraction(prefix, 2**63), Fraction(prefix + 1, 2**63)):
            assert round((center + sign * scale * quantile(draw, v)) / grid) == value


@given(
    st.sampled_from([rounded_laplace, rounded_normal]),
    st.one_of(st.fractions(), st.floats(allow_nan=False, allow_infinity=False)),
    st.fractions(Fraction(1, 10**6), 10**12).filter(bool),
    st.fractions(Fraction(1, 10**6), 10**6).filter(bool),
    st.integers(0, 10**6),
)
@settings(max_examples=60, deadline=None)
def test_floats_and_integers_decide_alike(draw: Draw, center: Any, scale: Fraction, grid: Fraction, seed: int) -> None:
    fast_entropy, slow_entropy = seeded(seed), seeded(seed)
    fast = draw(center, scale, grid, 12, fast_entropy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounded, "_MARGIN", 1.0)
        slow = draw(center, scale, grid, 12, slow_entropy)
    assert fast.tolist() == slow.tolist()
    assert fast_entropy.bytes(8) == slow_entropy.bytes(8)


@pytest.mark.parametrize(("ratio", "undecided"), [(1, 0), (2**30, 16), (2**60, 4000)])
def test_floats_decide_only_what_the_margin_allows(ratio: int, undecided: int, monkeypatch: Any) -> None:
    slow = []

    def settled(prefix: int, *_: object) -> int:
        slow.append(prefix)
        return 0

    monkeypatch.setattr(rounded, "_settled", settled)
    rounded_laplace(0, ratio, 1, 4000, seeded())
    assert undecided / 4 <= len(slow) <= min(4 * undecided, 4000)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize(
    ("ratio", "magnitude", "prefix"),
    [(1, 0.25, 2**62), (2**20, 0.5, 2**62), (2**20, 20.0, 2**40), (2**10, 30.0, 2**20), (1, 40.0, 2**5)],
)
def test_the_margin_is_four_times_the_proven_error(ratio: int, magnitude: float, prefix: int, negative: bool) -> None:
    """2^-42 (1 + r (1 + z)) in the docstring, and 2 r / U for 1.26 r / U: closer to a boundary nothing is decided."""
    margin = 4 * Fraction(1, 2**42) * (1 + ratio * (1 + Fraction(magnitude))) + Fraction(2 * ratio, prefix)
    noise = -ratio * Fraction(magnitude) if negative else ratio * Fraction(magnitude)
    for distance, expected in ((Fraction(9, 10) * margin, False), (Fraction(11, 10) * margin, True)):
        for side in (1, -1):
            offset = round(noise) + side * (Fraction(1, 2) - distance) - noise
            nearest, decided = rounded._nearest(
                np.array([float(offset)]),
                Fraction(ratio),
                np.array([negative]),
                np.array([prefix], dtype=np.uint64),
                np.array([magnitude]),
            )
            assert nearest.tolist() == [round(noise)]
            assert decided.tolist() == [expected]


@pytest.mark.mutants
def test_a_ratio_beyond_floats() -> None:
    drawn = rounded_laplace(0, 2**1100, 1, 3, seeded())
    assert all(2**1090 < abs(int(value)) < 2**1110 for value in drawn)


@pytest.mark.parametrize(("draw", "survival"), [(rounded_laplace, laplace_survival), (rounded_normal, normal_survival)])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_undecided_draw_asks_for_more_bits(draw: Draw, survival: Any, sign: int) -> None:
    edge, _ = survival(HALF, 63 + 64 + 64 + 10)  # scale = grid = 1, centre 0: the boundary between 0 and 1
    words = [edge >> (64 + 64 + 10), edge >> 74 & (2**64 - 1), edge >> 10 & (2**64 - 1)]
    first = words[0] + (2**63 if sign < 0 else 0)
    beyond, within = 0, 2**64 - 1  # a smaller v is a larger |Z|
    for script, expected in (
        ([first, beyond], sign),
        ([first, within], 0),
        ([first, words[1], beyond], sign),
        ([first, words[1], within], 0),
        ([first, words[1], words[2] - 1], sign),
        ([first, words[1], words[2] + 1], 0),
        ([first - 1], sign),
        ([first + 1], 0),
    ):
        entropy = ScriptedEntropy(script)
        assert draw(0, 1, 1, 1, entropy).tolist() == [expected]
        assert entropy.unread == 0


@pytest.mark.parametrize("draw", [rounded_laplace, rounded_normal])
def test_deep_tails_are_reached_by_more_bits(draw: Draw) -> None:
    script = [0, 0, 0, 12345 << 40]
    expected = round(10**6 * quantile(draw, Fraction(12345 << 40, 2**255)))
    assert int(draw(0, 10**6, 1, 1, ScriptedEntropy(script))[0]) == expected
    assert int(draw(0, 10**6, 1, 1, ScriptedEntropy([2**63, *script[1:]]))[0]) == -expected


@pytest.mark.mutants
def test_the_assumption_about_floats_holds_with_room_to_spare() -> None:
    """numpy.log and scipy.special.ndtri within 2^-48 (1 + z); the proof needs 2^-43."""
    spread = np.concatenate(
        [
            2.0 ** -np.linspace(0, 64, 700),
            1 - 2.0 ** -np.linspace(1, 53, 100),
            np.exp(-2.0) * 2 * (1 + np.linspace(-1e-3, 1e-3, 50)),  # where ndtri changes its rational approximation
            np.exp(-32.0) * 2 * (1 + np.linspace(-1e-3, 1e-3, 50)),
        ]
    )
    for draw, magnitude in ((rounded_laplace, rounded._laplace_magnitude), (rounded_normal, rounded._normal_magnitude)):
        for v, z in zip(spread.tolist(), magnitude(spread).tolist(), strict=True):
            truth = quantile(draw, Fraction(v))
            assert abs(Fraction(z) - truth) <= (1 + truth) / 2**48


def test_one_centre_per_draw() -> None:
    centers: list[Any] = [Fraction(1, 3), 5, 0.1, np.float64(-7.25), np.int64(2), np.float32(0.5), 10**30]
    drawn = rounded_normal(centers, Fraction(1, 10**6), Fraction(1, 100), 7, seeded())
    assert drawn.dtype == object
    assert [int(x) for x in drawn][:5] == [33, 500, 10, -725, 200]
    assert drawn[6] == 10**32
    array: Any = np.array([1.0, 2.0])
    assert rounded_laplace(array, Fraction(1, 10**6), 1, 2, seeded()).tolist() == [1, 2]
    assert rounded_laplace([], 1, 1, 0, ScriptedEntropy([])).dtype == np.int64


def test_a_float_is_the_binary_rational_that_it_is() -> None:
    for center in (0.1, -7.3, 2.0**-1074, 1.7e308):
        drawn = rounded_laplace(center, Fraction(1, 2**1200), Fraction(1, 2**1100), 1, seeded())
        assert Fraction(int(drawn[0]), 2**1100) == Fraction(center)


@pytest.mark.parametrize("draw", [rounded_laplace, rounded_normal])
@pytest.mark.parametrize("center", [float("nan"), float("inf"), "987654", None, [1, None]])
def test_a_wrong_centre_is_refused_and_not_repeated(draw: Draw, center: Any) -> None:
    with pytest.raises((DataError, InputError)) as caught:
        draw(center, 1, 1, 2, seeded())
    assert "987654" not in str(caught.value)


@pytest.mark.parametrize("draw", [rounded_laplace, rounded_normal])
def test_parameters_are_positive_rationals(draw: Draw) -> None:
    for scale, grid in ((0, 1), (1, 0), (-1, 1), (1, -1), (0.5, 1), (1, float("nan"))):
        with pytest.raises(InputError):
            draw(0, scale, grid, 1, seeded())
    with pytest.raises(InputError, match="centres"):
        draw([1, 2, 3], 1, 1, 2, seeded())
    with pytest.raises(InputError, match="size"):
        draw(1, 1, 1, -1, seeded())
