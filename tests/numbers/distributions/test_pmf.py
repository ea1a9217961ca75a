"""Finite laws: exactness, the rules of their input, and the operations against sums written out."""

import pickle
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.strategies import exact_laws, float_laws

from takifugu.core.errors import InputError
from takifugu.numbers.distributions.pmf import Pmf

HALF = Fraction(1, 2)


def table(law: Pmf) -> dict[Any, Any]:
    return dict(law.items())


@pytest.mark.parametrize(("values", "probabilities", "words"), [
    ([0, 1], [1], "2 values but 1 probabilities"),
    ([], [], "at least one atom"),
    ([0, float("nan")], [0.5, 0.5], "finite"),
    ([0, float("inf")], [0.5, 0.5], "finite"),
    ([0, 1], [0.5, float("nan")], "finite"),
    ([0, 0], [0.5, 0.5], "repeat 0"),
    ([1.5, Fraction(3, 2)], [0.5, 0.5], "repeat 1.5"),
    ([0, 1], [-0.5, 1.5], "negative"),
    ([0, 1], [Fraction(-1, 2), Fraction(3, 2)], "negative"),
    ([0, 1], [0.5, 0.4], "sum to 0.9"),
    ([0, 1], [HALF, Fraction(1, 3)], "sum to 5/6"),
    ([0, 1], [1, 1], "sum to 2"),
    ([True, 2], [HALF, HALF], "True"),
    (["a", 2], [HALF, HALF], "'a'"),
    ([[0, 1]], [1], "integers"),
    (np.zeros((2, 2)), [1, 1], "shape"),
])  # fmt: skip
def test_bad_input_names_the_value_and_the_rule(values: Any, probabilities: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Pmf(values, probabilities)


@pytest.mark.parametrize("counts", [[1.0, 2.0], [-1, 2], [0, 0], [HALF, HALF]])
def test_bad_counts(counts: Any) -> None:
    with pytest.raises(InputError):
        Pmf.from_counts([0, 1], counts)


def test_exact_laws_hold_integer_masses_of_any_size() -> None:
    tiny = Fraction(1, 10**400)
    law = Pmf([3, 1, 2], [tiny, 1 - tiny, 0])
    assert (law.exact, law.total, law.masses.tolist()) == (True, 10**400, [10**400 - 1, 1])
    assert table(law) == {1: 1 - tiny, 3: tiny}
    assert law.values.dtype == np.int64
    assert law.probabilities.tolist() == [1.0, 0.0]


def test_large_counts_do_not_overflow() -> None:
    law = Pmf.from_counts([0, 1, 2], np.array([2**60, 2**60, 2**60]))
    assert law.total == 3 * 2**60
    assert table(law)[0] == Fraction(1, 3)
    far = Pmf([2**61, -(2**61), 2**70], [Fraction(1, 3)] * 3)
    assert far.support_range == (-(2**61), 2**70)
    assert far.shift(2**61).support_range == (0, 2**70 + 2**61)
    assert Pmf([2**61], [1]).convolve(Pmf([2**61], [1])).support_range == (2**62, 2**62)
    with pytest.raises(InputError, match="sum to"):
        Pmf([0, 1, 2, 3, 4, 5, 6, 7, 8], [2**61] * 8 + [1])


def test_float_laws_are_renormalised_once() -> None:
    law = Pmf([0, 1, 2], [0.2, 0.3, 0.5 + 4e-10])
    assert abs(law.probabilities.sum() - 1) < 1e-15
    again = Pmf(law.values, law.probabilities)
    assert again == law
    assert not law.exact
    assert law.total is None


def test_numpy_and_python_numbers_mean_the_same() -> None:
    assert Pmf(np.array([1, 2]), np.array([0.25, 0.75])) == Pmf([1, 2], [0.25, 0.75])
    assert Pmf([np.int32(1), 2], [np.int8(0), np.int64(1)]).exact
    assert Pmf(np.array([1, 2], dtype=np.uint8), [0.5, 0.5]).values.dtype == np.int64
    assert Pmf.from_counts([0, 1], [2, 4]) == Pmf([0, 1], [Fraction(1, 3), Fraction(2, 3)])
    assert Pmf.from_counts([0, 1], [2, 4]).total == 6


def test_laws_are_immutable_and_travel() -> None:
    law = Pmf([0, Fraction(1, 2)], [HALF, HALF])
    with pytest.raises(AttributeError):
        law.total = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        law.masses[0] = 1
    given_values = np.array([0.0, 1.0])
    copied = Pmf(given_values, [0.5, 0.5])
    given_values[0] = 9.0
    assert copied.values[0] == 0.0
    assert pickle.loads(pickle.dumps(law)) == law
    assert "1/2: 1/2" in repr(law)
    assert hash(law) == hash(Pmf([0, Fraction(1, 2)], [HALF, HALF]))
    assert law != 3


@given(exact_laws(), exact_laws())
def test_convolution_is_the_sum_over_pairs(p: Pmf, q: Pmf) -> None:
    sums: dict[Any, Fraction] = defaultdict(Fraction)
    for x, a in p.items():
        for y, b in q.items():
            sums[x + y] += Fraction(a) * Fraction(b)
    assert table(p.convolve(q)) == dict(sorted(sums.items()))
    assert p.convolve(q).mean() == p.mean() + q.mean()


@given(float_laws(), float_laws())
def test_float_convolution_keeps_relative_accuracy(p: Pmf, q: Pmf) -> None:
    sums: dict[float, Fraction] = defaultdict(Fraction)
    for x, a in p.items():
        for y, b in q.items():
            sums[float(x) + float(y)] += Fraction(a) * Fraction(b)
    masses = table(p.convolve(q))
    assert list(masses) == sorted(sums)
    assert all(abs(Fraction(masses[x]) / sums[x] - 1) < 1e-14 for x in sums)


def test_dense_convolution_keeps_the_tails() -> None:
    law = Pmf([0, 1], [1 - 1e-20, 1e-20])
    for _ in range(3):
        law = law.convolve(law)
    assert table(law)[8] == pytest.approx(1e-160, rel=1e-14)
    wide = Pmf([0, 10**9], [HALF, HALF]).convolve(Pmf([0, 10**9], [HALF, HALF]))
    assert table(wide) == {0: Fraction(1, 4), 10**9: HALF, 2 * 10**9: Fraction(1, 4)}
    many = Pmf([0, 1], [Fraction(1, 3), Fraction(2, 3)])
    for _ in range(6):
        many = many.convolve(many)
    assert (many.total, many.masses[0]) == (3**64, 1)


@given(exact_laws(), exact_laws(), st.integers(0, 5), st.integers(1, 5))
def test_mixture_is_the_weighted_sum(p: Pmf, q: Pmf, left: int, right: int) -> None:
    weight = Fraction(left, left + right)
    mixed = Pmf.mix([weight, 1 - weight], [p, q])
    first, second = table(p), table(q)
    expected = {x: weight * first.get(x, 0) + (1 - weight) * second.get(x, 0) for x in {*first, *second}}
    assert mixed.exact
    assert table(mixed) == {x: m for x, m in sorted(expected.items()) if m}
    floats = Pmf.mix([float(weight), float(1 - weight)], [p, q])
    assert np.allclose(floats.probabilities, mixed.probabilities, rtol=1e-14)


def test_mixture_of_unlike_laws() -> None:
    mixed = Pmf.mix([0.5, 0.5], [Pmf([0], [1]), Pmf([0.5], [1.0])])
    assert table(mixed) == {0.0: 0.5, 0.5: 0.5}
    whole = Pmf.mix([0.5, 0.5], [Pmf([0, 1], [0.5, 0.5]), Pmf([3], [1])])
    assert whole.values.dtype == np.int64  # stay what they are where all are of one kind
    with pytest.raises(InputError, match="2 values but 1"):
        Pmf.mix([1], [mixed, mixed])


@given(exact_laws(), st.integers(-9, 9), st.fractions(-3, 3, max_denominator=5))
def test_shift_and_scale_move_the_atoms(law: Pmf, change: int, factor: Fraction) -> None:
    assert table(law.shift(change)) == {x + change: m for x, m in law.items()}
    moved: dict[Any, Fraction] = defaultdict(Fraction)
    for x, m in law.items():
        moved[factor * x] += Fraction(m)
    assert table(law.scale(factor)) == dict(sorted(moved.items()))
    assert table(law.shift(0.5)) == {float(x) + 0.5: m for x, m in law.items()}


@given(exact_laws(), st.sampled_from([1, 2, Fraction(1, 2), Fraction(2, 3)]))
def test_rounding_goes_to_the_nearest_multiple_and_ties_to_the_even_one(law: Pmf, grid: Any) -> None:
    rounded: dict[Any, Fraction] = defaultdict(Fraction)
    for x, m in law.items():
        rounded[round(Fraction(x) / grid) * grid] += Fraction(m)
    assert table(law.round_to(grid)) == dict(sorted(rounded.items()))


def test_rounding_of_floats_is_decided_exactly() -> None:
    assert Pmf([0.5, 2.5, 0.1], [0.25, 0.25, 0.5]).round_to(1).values.tolist() == [0, 2]
    assert Pmf([0.15], [1.0]).round_to(Fraction(1, 10)).values.tolist() == [Fraction(1, 10)]
    for grid in (0, -1, 0.5, True):
        with pytest.raises(InputError, match="grid"):
            Pmf([0], [1]).round_to(grid)  # type: ignore[arg-type]


@settings(max_examples=30)
@given(float_laws())
def test_means_are_sums(law: Pmf) -> None:
    assert law.mean() == pytest.approx(float(sum(Fraction(x) * Fraction(m) for x, m in law.items())), abs=1e-12)
