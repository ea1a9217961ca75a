"""How sure one can become: against enumerated laws, at the laws that reach the bounds, and at the edges."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.accounting.suspicion import explain, factor_words, odds, one_sided, percent, posterior, sentence, warning
from takifugu.core.errors import InputError

priors = st.floats(0.001, 0.999)
epsilons = st.floats(0.01, 8)


def laws(seed: int, size: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Return two laws on `size` outputs that never rule an output out."""
    generator = np.random.default_rng(seed)
    p, q = generator.dirichlet(np.full(size, 0.7), 2) + 1e-4
    return p / p.sum(), q / q.sum()


def hockey_stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    both = (np.maximum(p - math.exp(epsilon) * q, 0).sum(), np.maximum(q - math.exp(epsilon) * p, 0).sum())
    return float(max(both))


def right(prior: float, p: np.ndarray, q: np.ndarray) -> float:
    """Return how often the best guess is right, by trying every way to guess."""
    ways = product((0, 1), repeat=len(p))
    return max(sum(prior * p[i] if a else (1 - prior) * q[i] for i, a in enumerate(way)) for way in ways)


@given(st.integers(0, 10**6), priors)
def test_no_pair_of_laws_goes_beyond(seed: int, prior: float) -> None:
    p, q = laws(seed)
    epsilon = float(np.abs(np.log(p / q)).max())
    seen = explain(prior, epsilon)
    after = prior * p / (prior * p + (1 - prior) * q)
    assert seen.low - 1e-12 <= after.min() <= after.max() <= seen.high + 1e-12
    assert right(prior, p, q) <= seen.right + 1e-12


@given(st.integers(0, 10**6), priors, st.floats(0.01, 2))
def test_no_pair_of_laws_goes_beyond_with_delta(seed: int, prior: float, epsilon: float) -> None:
    p, q = laws(seed)
    delta = hockey_stick(p, q, epsilon)
    if not 1e-9 < delta < 0.99:
        return
    seen = explain(prior, epsilon, delta)
    assert right(prior, p, q) <= seen.right + 1e-9
    after = prior * p / (prior * p + (1 - prior) * q)
    for beyond in seen.beyond:
        far = after > beyond.high + 1e-12
        assert p[far].sum() <= beyond.probability + 1e-9
        assert q[far].sum() <= beyond.probability + 1e-9
    outside = (after > seen.high + 1e-12) | (after < seen.low - 1e-12)  # as every sentence says
    assert max(p[outside].sum(), q[outside].sum()) <= 3 * delta + 1e-9
    for words in (sentence(seen), factor_words(seen)):
        exception = Fraction(words.rpartition("at most ")[2])
        assert min(1.0, 3 * delta) <= exception <= 3.4 * delta


@given(st.integers(0, 10**6), priors, st.sampled_from([0.0, 0.05]))
def test_where_the_opposite_is_not_hidden_it_may_become_certain(seed: int, prior: float, failure: float) -> None:
    p, q = laws(seed)
    p[0] = failure / 2  # what comes out so tells that it is not so
    p /= p.sum()
    q[1], p[2] = failure / 2, p[2] + 0.1  # and with delta the other way round
    p, q = p / p.sum(), q / q.sum()
    possible = (q > 0) & (p > 0) & (np.arange(len(p)) != 1)
    epsilon = max(0.01, float(np.log(p[possible] / q[possible]).max()))
    delta = float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
    seen = one_sided(explain(prior, epsilon, min(delta, 0.99)))
    assert right(prior, p, q) <= seen.right + 1e-12
    assert seen.low == 0.0
    if not failure:
        after = prior * p[possible] / (prior * p[possible] + (1 - prior) * q[possible])
        assert after.max() <= seen.high + 1e-12


def test_the_largest_share_of_right_guesses_is_reached() -> None:
    epsilon, prior = 1.0, 0.5
    p, q = np.array([1.0, 0.0]), np.array([math.exp(-epsilon), 1 - math.exp(-epsilon)])
    assert right(prior, p, q) == pytest.approx(one_sided(explain(prior, epsilon)).right)
    assert right(prior, p, q) > explain(prior, epsilon).right  # the mutant: both ways


@given(priors, epsilons)
def test_randomised_response_reaches_the_bounds_and_more_epsilon_says_more(prior: float, epsilon: float) -> None:
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    p, q = np.array([truth, 1 - truth]), np.array([1 - truth, truth])
    near, far = explain(prior, epsilon), explain(prior, epsilon + 0.5)
    after = prior * p / (prior * p + (1 - prior) * q)
    assert after.max() == pytest.approx(near.high, rel=1e-9)
    assert after.min() == pytest.approx(near.low, rel=1e-9)
    assert right(prior, p, q) == pytest.approx(near.right, rel=1e-9)
    assert far.low < near.low < prior < near.high < far.high
    assert near.right_before <= near.right <= far.right


@given(priors, st.floats(0.01, 3), st.floats(1e-6, 0.4))
def test_leaking_with_probability_delta_reaches_the_bounds(prior: float, epsilon: float, delta: float) -> None:
    """Tell the truth with probability delta, else answer by randomised response: four outputs."""
    truth = math.exp(epsilon) / (1 + math.exp(epsilon)) * (1 - delta)
    lie = 1 - delta - truth
    p, q = np.array([delta, truth, lie, 0.0]), np.array([0.0, lie, truth, delta])
    assert hockey_stick(p, q, epsilon) == pytest.approx(delta, rel=1e-6)
    seen = explain(prior, epsilon, delta)
    assert right(prior, p, q) == pytest.approx(seen.right, rel=1e-6)
    assert p[0] == pytest.approx(seen.beyond[-1].probability)


@given(st.floats(1e-12, 1 - 1e-12))
def test_odds_and_per_cents_are_rounded_to_the_safe_side(probability: float) -> None:
    ends = []
    for up in (False, True):
        of, _, against = odds(probability, up).replace(",", "").partition(" to ")
        ends.append(Fraction(of) / Fraction(against))
    exact = Fraction(str(probability))
    assert ends[0] <= exact / (1 - exact) <= ends[1]
    low, high = (float(percent(probability, up).removesuffix(" %")) / 100 for up in (False, True))
    assert 0 <= low <= probability + 1e-14
    assert probability - 1e-14 <= high <= 1


def test_words_of_a_factor_and_of_an_epsilon_that_hides_little() -> None:
    assert factor_words(explain("10%", 1)) == "odds change by a factor of at most e^1 < 2.72, up or down"
    assert "become certain that it is not so" in factor_words(one_sided(explain("10%", 1)))
    assert warning(9) == ""
    assert warning(10).startswith("an epsilon of 10 hides next to nothing")


@pytest.mark.parametrize(("prior", "epsilon", "delta", "words"), [
    *((prior, 1, 0, "prior") for prior in (0, 1, -0.1, "110%", float("nan"), "half", True, "0%")),
    *((0.1, *promise, None) for promise in ((0, 0), (-1, 0), (float("inf"), 0), (1, 1), (1, -0.1))),
])  # fmt: skip
def test_a_prior_or_a_promise_that_means_nothing(prior: Any, epsilon: float, delta: float, words: str | None) -> None:
    with pytest.raises(InputError, match=words):
        explain(prior, epsilon, delta)


def test_far_ends_neither_overflow_nor_lie() -> None:
    assert (explain(0.5, 10_000).low, explain(0.5, 10_000).high) == (0, 1)
    assert explain(0.5, 1e-9).high == pytest.approx(0.5)
    assert posterior(1e-300, 5) < 1e-297
    assert (odds(0.0, up=False), odds(1.0, up=True)) == ("impossible", "certain")


def test_odds_and_per_cents_are_short() -> None:
    assert [odds(p, up=True) for p in (0.1, 0.75, 0.3)] == ["1 to 9", "3 to 1", "1 to 2.33"]
    assert odds(0.3, up=False) == "1 to 2.34"
    assert [percent(p, up=True) for p in (0.99991, 0.1, 1.0)] == ["99.991 %", "10 %", "100 %"]
    assert percent(1e-6, up=False) == "0.0001 %"
    assert percent(1e-300, up=True) == "0.000000000000001 %"  # it was 0 %, which is no upper bound
    assert percent(1e-300, up=False) == percent(0.0, up=True) == "0 %"


@pytest.mark.parametrize("prior", ["0", "1", "100 %", "1e-400", "0.99999999999999999999", "1e-399 %"])
def test_a_certain_prior_is_no_suspicion_and_neither_is_one_that_floats_call_so(prior: str) -> None:
    """One of 1e-400 was called impossible, before and after."""
    with pytest.raises(InputError, match="lies above 0 and below 1"):
        explain(prior, 1)
