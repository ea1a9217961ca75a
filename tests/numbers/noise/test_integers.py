"""The integer samplers: exact laws by enumeration of every branch, goodness of fit with power, OpenDP as an oracle."""

from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil, exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.every_run import law_of_draws
from tests.support.goodness_of_fit import chi_squared_p, coin_p, discrete_laplace_cdf, misfit, two_sample_p
from tests.support.scripted_entropy import ScriptedEntropy, seeded

from takifugu.core.errors import InputError
from takifugu.numbers.noise import SystemEntropy, bernoulli_exp, choose, discrete_laplace, integers, uniform_below

REJECT = 1e-6
LOW, HIGH = 0, 3 * 2**62
"""Words whose uniform below any bound from 2 to 20 is 0, and at least 1 (and is not drawn again)."""
ZERO = Fraction(0)
FAST_SCALES = [
    Fraction(33, 10),
    Fraction(330_000),
    Fraction(ceil(2**34 * 3.3), 2**34),
    Fraction(1, 3),
    Fraction(1, 10**30),
    Fraction(2**45 - 1, 2**20),
]
WIDE_SCALES = [Fraction(2**62 + 1, 3), Fraction(2**64), Fraction(10**40, 3), Fraction(10 * 2**70 + 1, 3 * 2**70)]


def laplace_misfit(samples: np.ndarray, scale: Fraction) -> float:
    return misfit(samples, discrete_laplace_cdf(scale), ZERO, scale)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("scale", FAST_SCALES)
def test_discrete_laplace_has_its_law_and_the_test_has_power(scale: Fraction) -> None:
    samples = discrete_laplace(scale, 150_000, seeded())
    assert samples.dtype == np.int64
    assert laplace_misfit(samples, scale) > REJECT
    if scale > Fraction(1, 10):
        assert laplace_misfit(samples, scale * Fraction(105, 100)) < REJECT
        assert laplace_misfit(samples, scale * Fraction(95, 100)) < REJECT
    else:
        assert not samples.any()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("scale", WIDE_SCALES)
def test_beyond_64_bits_the_law_is_the_same(scale: Fraction) -> None:
    samples = discrete_laplace(scale, 25_000, seeded())
    assert laplace_misfit(samples, scale) > REJECT
    assert laplace_misfit(samples, scale * Fraction(115, 100)) < REJECT
    assert all(isinstance(int(x), int) for x in samples)
    if scale > 2**64:
        assert samples.dtype == object
        assert {type(x) for x in samples} == {int}
        assert max(abs(x) for x in samples) > 2**64


def test_the_python_path_and_the_word_path_have_one_law(monkeypatch: pytest.MonkeyPatch) -> None:
    words = discrete_laplace(Fraction(33, 10), 60_000, seeded(2))
    monkeypatch.setattr(integers, "_WORD", 1)
    monkeypatch.setattr(integers, "_SIGNED", 1)
    monkeypatch.delattr(integers, "words")
    pythons = discrete_laplace(Fraction(33, 10), 20_000, seeded(3))
    assert laplace_misfit(pythons, Fraction(33, 10)) > REJECT
    assert two_sample_p(words, pythons) > REJECT


def test_system_entropy() -> None:
    samples = discrete_laplace(Fraction(33, 10), 200_000, SystemEntropy())
    assert laplace_misfit(samples, Fraction(33, 10)) > 1e-9
    assert laplace_misfit(samples, Fraction(33, 10) * Fraction(105, 100)) < 1e-9


@pytest.mark.slow
def test_opendp_draws_from_the_same_law() -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = np.array(dp.m.make_laplace(*space, scale=3.3)([0] * 300_000))
    assert two_sample_p(discrete_laplace(Fraction(33, 10), 300_000, seeded()), theirs) > 1e-9
    assert two_sample_p(discrete_laplace(Fraction(33, 10) * Fraction(105, 100), 300_000, seeded()), theirs) < 1e-9


@pytest.mark.mutants
@pytest.mark.parametrize(("t", "s"), [(1, 1), (2, 1), (3, 2), (2, 3)])
def test_every_branch_enumerated_gives_the_law(t: int, s: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw_once() -> tuple[int, ...]:
        return tuple(int(x) for x in integers._laplace_round(t, s, 1, seeded()))

    law = law_of_draws(monkeypatch, draw_once, Fraction(1, 10**5))
    lost, _rejected = law.pop(None), law.pop(())
    accepted = sum(law.values())
    assert lost < Fraction(5, 100)
    for k in range(-6, 7):
        mass = (1 - exp(-s / t)) / (1 + exp(-s / t)) * exp(-abs(k) * s / t)
        assert law[(k,)] / (accepted + lost) <= mass <= (law[(k,)] + lost) / accepted
        assert law[(k,)] == law[(-k,)]
    double = (1 - exp(-s / t / 2)) / (1 + exp(-s / t / 2))
    assert not law[(0,)] / (accepted + lost) <= double <= (law[(0,)] + lost) / accepted


@pytest.mark.parametrize("bound", [2, 3, 7, 100, 127, 128, 129, 255, 256])
def test_each_value_owns_the_same_number_of_words(bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    supply = [np.arange(256, dtype=np.uint64)]
    monkeypatch.setattr(integers, "_WORD", 256)
    monkeypatch.setattr(integers, "words", lambda n, _: supply.pop() if n == 256 else np.zeros(n, dtype=np.uint64))
    counts = np.bincount(integers._below(bound, 256, seeded()).astype(int))
    redrawn = 256 - 256 // bound * bound
    assert counts.size == bound
    assert counts[0] == 256 // bound + redrawn
    assert set(counts[1:]) == {256 // bound}


SHARE = 2**64 // 10


@pytest.mark.parametrize(("bound", "script", "drawn"), [
    (10, [0, SHARE - 1, SHARE, 10 * SHARE - 1, 5 * SHARE], [0, 0, 1, 9, 5]),
    (10, [0, SHARE - 1, SHARE, 10 * SHARE - 1, 10 * SHARE, 2**64 - 1, 3 * SHARE], [0, 0, 1, 9, 3]),
    (10, [10 * SHARE, 10 * SHARE - 1], [9]),
    (2**65, [(2**65 - 1).to_bytes(9, "little")], [2**65 - 1]),
    (2**65 + 1, [(2**65 + 1).to_bytes(9, "little"), (2**65).to_bytes(9, "little")], [2**65]),
])  # fmt: skip
def test_words_that_no_value_owns_are_drawn_again(bound: int, script: list[Any], drawn: list[int]) -> None:
    entropy = ScriptedEntropy(script)
    assert uniform_below(bound, len(drawn), entropy).tolist() == drawn
    assert entropy.unread == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("numerator", "denominator"), [(0, 3), (1, 3), (2, 3), (4, 3), (1, 10)])
def test_bernoulli_exp_beyond_words(numerator: int, denominator: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integers, "_WORD", 1)
    coins = bernoulli_exp(numerator, denominator, 20_000, seeded())
    probability = exp(-numerator / denominator)
    if numerator == 0:
        assert coins.all()
    else:
        assert coin_p(int(coins.sum()), coins.size, probability) > REJECT
        assert coin_p(int(coins.sum()), coins.size, probability * 0.9) < REJECT


@given(st.integers(1, 2**70), st.integers(0, 20), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_uniform_integers_stay_below_the_bound(bound: int, size: int, seed: int) -> None:
    draws = uniform_below(bound, size, seeded(seed))
    assert draws.shape == (size,)
    assert all(0 <= int(draw) < bound for draw in draws)
    assert draws.dtype == (np.int64 if bound <= 2**63 else object)


@pytest.mark.parametrize("bound", [2, 3, 1000, 2**63 + 2**62, 2**64, 3 * 2**64])
def test_uniform_integers_are_uniform(bound: int) -> None:
    cells = min(bound, 30)
    draws = uniform_below(bound, 60_000, seeded())
    counts = np.bincount([int(draw) * cells // bound for draw in draws], minlength=cells)
    ends = [-(-bound * i // cells) for i in range(cells + 1)]
    assert chi_squared_p(counts, np.array([float(Fraction(b - a, bound)) for a, b in pairwise(ends)])) > REJECT


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [(1, 2), (5, 2), (999, 1000), (10**30, 3 * 10**30), (2**64 - 1, 2**64), (2**64 + 1, 2**64), (1, 2**63)],
)
def test_bernoulli_exp(numerator: int, denominator: int) -> None:
    coins = bernoulli_exp(numerator, denominator, 60_000, seeded())
    probability = exp(-numerator / denominator)
    if probability > 1 - 1e-9:
        assert coins.all()
    else:
        assert coin_p(int(coins.sum()), coins.size, probability) > REJECT
        assert coin_p(int(coins.sum()), coins.size, probability * 0.95) < REJECT or probability < 0.1


def test_bernoulli_exp_at_its_ends() -> None:
    assert bernoulli_exp(0, 7, 100, ScriptedEntropy([0] * 100)).all()
    assert not bernoulli_exp(10**6, 1, 100, seeded()).any()
    assert bernoulli_exp(1, 2, 0, ScriptedEntropy([])).size == 0


def test_the_run_of_successes_decides_by_its_parity() -> None:
    for run in range(6):
        script = ScriptedEntropy([LOW] * run + [HIGH])
        assert bernoulli_exp(1, 2, 1, script)[0] == (run % 2 == 0)
        assert script.unread == 0


def test_minus_zero_is_drawn_again() -> None:
    minus, plus = b"\x80", b"\x00"
    true, false = [LOW, HIGH], [HIGH]  # exp(-1): the run 1, 2 is True, the run 1 is False
    zero = [LOW, HIGH, *false]  # U = 0 of {0, 1}, kept with certainty; V = 0
    seven = [HIGH, HIGH, *true, *true, *true, *false]  # U = 1, kept by an empty run; V = 3
    assert integers._laplace_round(2, 1, 1, ScriptedEntropy([*zero, plus])).tolist() == [0]
    assert integers._laplace_round(2, 1, 1, ScriptedEntropy([*zero, minus])).tolist() == []
    assert integers._laplace_round(2, 1, 1, ScriptedEntropy([*seven, plus])).tolist() == [7]
    assert integers._laplace_round(2, 1, 1, ScriptedEntropy([*seven, minus])).tolist() == [-7]
    assert integers._laplace_round(2, 3, 1, ScriptedEntropy([*seven, minus])).tolist() == [-2]
    assert integers._laplace_round(2, 1, 1, ScriptedEntropy([HIGH, LOW, HIGH])).tolist() == []  # U = 1, run 1: not kept


@pytest.mark.parametrize("t", [2**61 + 1, (2**63 + 1) // 3, 2**62 - 1, 2**62, 2**62 + 1, 2**63 - 1, 2**63])
@pytest.mark.parametrize("v", [0, 1, 2, 3])
def test_the_largest_value_of_a_round_never_wraps_around(t: int, v: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """U = t - 1, kept, and V = v: the magnitude t - 1 + t v may have 65 bits."""
    monkeypatch.setattr(integers, "_below", lambda bound, size, _: np.full(size, bound - 1, dtype=np.uint64))
    monkeypatch.setattr(integers, "_exp_minus", lambda numerators, *_: np.ones(numerators.size, dtype=bool))
    monkeypatch.setattr(integers, "_geometric", lambda size, _: np.full(size, v, dtype=np.uint64))
    for sign, coin in ((1, b"\x00"), (-1, b"\x80")):
        drawn = integers._laplace_round(t, 1, 1, ScriptedEntropy([coin]))
        assert [int(x) for x in drawn] == [sign * (t - 1 + t * v)]


def test_choose_follows_the_masses_exactly() -> None:
    masses = [3, 0, 1, 2, 0]
    picked = choose(masses, 60_000, seeded())
    counts = np.bincount(picked, minlength=5)
    assert counts[1] == counts[4] == 0
    assert chi_squared_p(counts[[0, 2, 3]], np.array([3, 1, 2]) / 6) > REJECT
    assert chi_squared_p(counts[[0, 2, 3]], np.array([2.85, 1.1, 2.05]) / 6) < REJECT


@pytest.mark.parametrize("unit", [1, 2**61, 2**62, 2**64, 10**30])
def test_choose_sends_each_uniform_to_its_cell(unit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    masses = [unit, 0, 2 * unit, unit]
    ends = [0, unit - 1, unit, 3 * unit - 1, 3 * unit, 4 * unit - 1]
    dtype = np.int64 if 4 * unit <= 2**63 else object
    monkeypatch.setattr(integers, "uniform_below", lambda bound, size, entropy: np.array(ends, dtype=dtype))
    assert choose(masses, 6, seeded()).tolist() == [0, 0, 2, 2, 3, 3]


@pytest.mark.parametrize("masses", [[], [0, 0], [1, -987654], [0.5, 0.5], ["987654"], [True, None]])
def test_wrong_masses_are_refused_without_repeating_them(masses: Any) -> None:
    with pytest.raises(InputError) as caught:
        choose(masses, 1, seeded())
    assert "987654" not in str(caught.value)
    assert "0.5" not in str(caught.value)


@pytest.mark.parametrize("scale", [0, Fraction(-1, 2), 3.3, float("nan"), "3", None])
def test_a_scale_is_a_positive_rational(scale: Any) -> None:
    with pytest.raises(InputError, match="the scale"):
        discrete_laplace(scale, 1, seeded())


@pytest.mark.parametrize(("ask", "what"), [
    *((partial(ask, size), "size") for size in (-1, 1.0, None) for ask in (
        partial(discrete_laplace, 1), partial(uniform_below, 2), partial(bernoulli_exp, 1, 2),
    )),
    (partial(uniform_below, 0, 1), "bound"), (partial(bernoulli_exp, 1, 0, 1), "denominator"),
    (partial(bernoulli_exp, -1, 2, 1), "numerator"),
])  # fmt: skip
def test_sizes_bounds_and_denominators_are_whole_numbers(ask: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        ask(seeded())


def test_masses_at_the_edge_of_what_is_allowed() -> None:
    assert choose([0, 1, 0], 2, ScriptedEntropy([])).tolist() == [1, 1]
    assert choose(np.array([0, 5, 0]), 2, seeded()).tolist() == [1, 1]
    with pytest.raises(InputError, match="the masses sum to 0"):
        choose([0, 0], 1, seeded())
    with pytest.raises(InputError, match="a mass must be"):
        choose([3, -1], 1, seeded())


def test_what_fits_63_bits_is_int64() -> None:
    assert uniform_below(2**63, 3, seeded()).dtype == np.int64
    assert uniform_below(2**63 + 1, 3, seeded()).dtype == object


def test_numpy_integers_are_read_as_integers() -> None:
    scale: Any = np.int64(2**62)
    assert discrete_laplace(scale, 3, seeded()).size == 3
    assert discrete_laplace(5, 0, ScriptedEntropy([])).tolist() == []


EDGES = [0, 1, 2**31, 2**62 - 1, 2**62, 2**62 + 1, 2**63 - 1]


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_are_those_of_pythons_integers_up_to_the_ends_of_64_bits(sign: int) -> None:
    """A noisy number that wraps around would tell that the true one is large."""
    for a in (*EDGES, *(-edge for edge in EDGES), -(2**63)):
        for b in EDGES:
            one, other = np.array([0, a], dtype=np.int64), np.array([1, sign * b], dtype=np.int64)
            for left, right in ((one, other), (other, one), (one.astype(object), other)):
                assert integers.total(left, right).tolist() == [1, a + sign * b]
    wide = np.array([2**63], dtype=np.uint64)
    assert integers.total(wide, wide).tolist() == [2**64]
    assert integers.total(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)).size == 0
