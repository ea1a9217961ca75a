"""Arithmetic beyond the range of float64, against Fractions and mpmath."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.wide_numbers import close, fractions, random_wide, wide

from takifugu.numbers.extended import laplace_smoothing as module
from takifugu.numbers.extended.convolution import ORDERS, convolve_many
from takifugu.numbers.extended.floats import UNIT, Blocks, Wide, as_law, shifted, stack
from takifugu.numbers.extended.laplace_smoothing import decayed, roundings

numbers = st.tuples(st.integers(0, 9), st.integers(-3000, 3000)).map(lambda t: Fraction(t[0]) * Fraction(2) ** t[1])
near = st.tuples(st.integers(0, 9), st.integers(-40, 40)).map(lambda t: Fraction(t[0]) * Fraction(2) ** t[1])
arrays = st.one_of(st.lists(numbers, min_size=1, max_size=9), st.lists(near, min_size=1, max_size=90))


@given(st.data(), st.integers(1, 3), st.integers(1, 4))
def test_rows_by_columns_is_a_matrix_product(data: st.DataObject, inner: int, width: int) -> None:
    some = st.sampled_from([numbers, near]).flatmap(lambda kind: st.lists(kind, min_size=inner, max_size=inner))
    weights = [data.draw(some) for _ in range(2)]
    rows = [data.draw(st.lists(numbers, min_size=width, max_size=width)) for _ in range(inner)]
    expected = [sum(w[k] * rows[k][j] for k in range(inner)) for w in weights for j in range(width)]
    product = stack([wide(w) for w in weights]) @ stack([wide(r) for r in rows])
    assert close(product, expected, inner + 2)


@given(arrays, st.integers(1, 3))
def test_moves_and_sums(a: list[Fraction], places: int) -> None:
    row = stack([wide(a)])
    pad = [Fraction(0)] * places
    assert fractions(module._delayed(row, places)) == (pad + a)[: len(a)]
    assert fractions(shifted(row, np.array([places]))) == pad + a
    assert close(row + row, [2 * x for x in a], 1)


@given(arrays.filter(any), st.integers(-5, 5), st.integers(1, 4))
def test_laws_keep_every_mass(a: list[Fraction], start: int, step: int) -> None:
    law = as_law(wide(a), start, step)
    held = [(start + step * i, x / sum(a)) for i, x in enumerate(a) if x]
    assert law.values.tolist() == [v for v, _ in held]
    masses = [Fraction(m) for _, m in law.items()]
    assert all(abs(m - x) <= 2 * (len(a) + 3) * Fraction(UNIT) * x for m, (_, x) in zip(masses, held, strict=True))


def exact(rows: Wide, kernels: Wide, kernel: int) -> list[Fraction]:
    """Return the sum of convolutions for one kernel, by the definition."""
    count, size = rows.mantissas.shape
    places = kernels.mantissas.shape[1]
    result = [Fraction(0)] * (size + places - 1)
    for r in range(count):
        row, weights = fractions(rows[r]), fractions(kernels[r, :, kernel])
        for i, weight in enumerate(weights):
            for t, number in enumerate(row):
                result[t + i] += weight * number
    return result


@pytest.mark.mutants
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 30), st.integers(1, 7), st.integers(1, 4),
       st.integers(0, ORDERS // 2))  # fmt: skip
def test_products_are_right_however_far_rows_and_kernels_are_apart(
    seed: int, count: int, size: int, places: int, columns: int, orders: int
) -> None:
    rows = random_wide(seed, (count, size), orders)
    kernels = random_wide(seed + 1, (count, places, columns), orders)
    rows = Wide.of(rows.mantissas, rows.exponents - 5000)
    kernels = Wide.of(kernels.mantissas, kernels.exponents + 70_000)
    convolved = convolve_many(rows, kernels)
    assert convolved is not None
    for column in range(columns):
        assert close(convolved[column], exact(rows, kernels, column), count * places + 4)


def test_many_slabs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takifugu.numbers.extended.convolution._HELD", 20)
    rows, kernels = random_wide(1, (2, 40), 100), random_wide(2, (2, 3, 2), 100)
    convolved = convolve_many(rows, kernels)
    assert convolved is not None
    assert close(convolved[1], exact(rows, kernels, 1), 10)


def test_rows_that_fall_without_end_are_fine_while_a_window_is_narrow() -> None:
    row = Wide.of(np.full((1, 400), 0.75), -40 * np.arange(400)[None, :])
    kernel = Wide.of(np.full((1, 5, 1), 0.5), -90 * np.arange(5)[None, :, None])
    convolved = convolve_many(row, kernel)
    assert convolved is not None
    assert close(convolved[0], exact(row, kernel, 0), 12)


@pytest.mark.parametrize("beyond", [0, 1])
def test_what_float64_would_lose_is_refused(beyond: int) -> None:
    """The product 1 * 2**-ORDERS is the only term of its sum; one order more and nothing is promised."""
    rows = Wide.of(np.array([[1.0, 1.0]]), np.array([[-ORDERS + 1 - beyond, 0]]))
    kernels = Wide.of(np.array([[[1.0], [1.0]]]), np.array([[[0], [-1]]]))
    convolved = convolve_many(rows, kernels)
    assert (convolved is None) == (beyond > 0)
    if convolved is not None:
        assert close(convolved[0], exact(rows, kernels, 0), 4)


def test_zeros_stay_zeros() -> None:
    rows = stack([Wide.of(np.zeros(6)), Wide.of(np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))])
    kernels = Wide.of(np.array([[[1.0, 0.0], [1.0, 0.0]], [[0.5, 0.0], [0.0, 0.0]]]))
    convolved = convolve_many(rows, kernels)
    assert convolved is not None
    assert convolved[0].floats(0).tolist() == [0, 0, 0.5, 0, 0, 0, 0]
    assert not convolved[1].mantissas.any()


def number(mantissa: float, exponent: int) -> mpmath.mpf:
    return mpmath.ldexp(mpmath.mpf(mantissa), int(exponent))


def agree(weights: Wide, decay: Fraction, computed: Blocks) -> None:
    """Every number, padding too, is within the stated roundings of the sum by definition."""
    rows, size = weights.mantissas.shape
    _, chunks, places = computed.floats.shape
    with mpmath.workdps(60):
        power = [mpmath.exp(-mpmath.mpf(i * decay.numerator) / decay.denominator) for i in range(chunks * places)]
        for row in range(rows):
            held = [(x, number(weights.mantissas[row, x], weights.exponents[row, x])) for x in range(size)
                    if weights.mantissas[row, x]]  # fmt: skip
            for y in range(chunks * places):
                expected = mpmath.fsum(w * power[abs(y - x)] for x, w in held)
                exponent = computed.tops[row, y // places]
                got = number(computed.floats[row, y // places, y % places], exponent)
                assert abs(got - expected) <= 2 * roundings(size) * UNIT * expected


@settings(max_examples=30)
@given(st.fractions(Fraction(1, 10**9), 10), st.integers(1, module.CHUNK))
def test_powers_inside_a_chunk_are_rounded_once(decay: Fraction, places: int) -> None:
    with mpmath.workdps(80):
        powers = [float(mpmath.exp(-mpmath.mpf(i * decay.numerator) / decay.denominator)) for i in range(places)]
    assert module._kernel(decay, places)[1].tolist() == powers


@settings(max_examples=30)
@given(st.fractions(0, 2**50))
def test_an_exponential_far_below_float64_is_rounded_once(exponent: Fraction) -> None:
    with mpmath.workdps(80):
        mantissa, order = mpmath.frexp(mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator))
    found, rounded = module._exponential(exponent), Wide.of(float(mantissa), order)
    assert (found.mantissas, found.exponents) == (rounded.mantissas, rounded.exponents)


decays = st.sampled_from(["1/100000", "1/300", "1/3", "1", "17/2", "40", "1000"]).map(Fraction)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 2), st.integers(1, 60), decays, st.sampled_from([0, 30, 3000]))
def test_sums_are_right_at_any_decay(seed: int, rows: int, size: int, decay: Fraction, orders: int) -> None:
    weights = random_wide(seed, (rows, size), orders)
    if not weights.mantissas.any(axis=1).all():
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", 7)
        agree(weights, decay, decayed(weights, decay))


@pytest.mark.mutants
@pytest.mark.parametrize("decay", [Fraction(1, 3), Fraction(1, 50), Fraction(12)])
def test_chunks_of_the_usual_size(decay: Fraction) -> None:
    places = np.arange(200)
    steep = Wide.of(np.full((2, 200), 0.6), -((places - 100) ** 2)[None, :] * np.array([[1], [2]]))
    agree(steep, decay, decayed(steep, decay))


def test_one_atom_far_away_reaches_everything() -> None:
    weights = Wide.zeros(1, 300)
    weights[0, 299] = Wide.of(0.5, -9000)
    for decay in (Fraction(1, 7), Fraction(30)):
        agree(weights, decay, decayed(weights, decay))


def test_rows_as_wide_numbers_are_the_chunks_without_what_is_to_spare() -> None:
    weights = random_wide(5, (2, 130), 50)
    chunks = decayed(weights, Fraction(1, 2))
    numbers = chunks.wide()
    assert numbers.shape == (2, 130)
    for row, place in ((0, 0), (1, 63), (0, 64), (1, 129)):
        chunk, at = divmod(place, chunks.floats.shape[2])
        number_there = chunks.floats[row, chunk, at] * 2.0 ** float(chunks.tops[row, chunk])
        assert numbers[row, place].floats() == number_there
