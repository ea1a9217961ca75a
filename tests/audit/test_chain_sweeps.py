"""The exact audit of long chains against listed joint states, an oracle of its own, closed bounds, and sabotage."""

import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import laplace_loss, largest_over_pairs
from tests.support.chain_strategies import chains, contributions, joint_laws, linear, weights

import takifugu as tf
from takifugu.accounting.composition import compose
from takifugu.analysis.randomisers import DiscreteLaplace, Exact, RoundedLaplace, RoundedNormal
from takifugu.audit import Audit, exact_delta, exact_loss, joint_loss
from takifugu.core.errors import InputError, Unsupported
from takifugu.model.frameworks import Framework

STICKY = [[0.9, 0.1], [0.4, 0.6]]
THREE = [[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.25, 0.7]]
LISTED = "takifugu.audit.chain_sweeps.LISTED"


def discrete(scale: Any, cells: int = 1) -> DiscreteLaplace:
    return DiscreteLaplace(Fraction(scale), Fraction(1), cells)


def hide(belief: Any) -> Framework:
    return tf.Pufferfish(tf.every_entry(), belief)


def both(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], Audit]) -> tuple[Audit, Audit]:
    """Return what the list of joint states says, and the sweep."""
    with monkeypatch.context() as patch:
        patch.setattr(LISTED, 0)
        swept = ask()
    return ask(), swept


def has_secret(belief: Any) -> bool:
    return any(sum(belief.possible(i)) > 1 for i in range(belief.size))


@settings(max_examples=40)
@given(st.data(), chains(length=(1, 5), starts=("stationary", "given")), st.sampled_from(["1/3", "2", "7"]))
def test_one_law_is_that_of_an_oracle(data: st.DataObject, chain: tf.MarkovChain, scale: str) -> None:
    assume(has_secret(chain))
    chosen = data.draw(weights(chain.length))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LISTED, 0)
        audit = exact_loss(hide(chain), tf.Linear(chosen, grid=1), discrete(scale))
    table = contributions(linear(chain, chosen))
    expected = largest_over_pairs(joint_laws(chain)[0], table, lambda p, q: laplace_loss(p, q, Fraction(scale)))
    assert audit.lower <= expected <= audit.upper
    assert abs(audit.loss - expected) <= 1e-13 * (1 + audit.loss)


NOISES = st.sampled_from(
    [
        discrete(2), discrete("2/3"), RoundedLaplace(Fraction(3), Fraction(1)),
        RoundedLaplace(Fraction(2), Fraction(3, 2)), RoundedLaplace(Fraction(2), Fraction(1, 2)),
    ]
)  # fmt: skip


@settings(max_examples=40)
@given(st.data(), chains(length=(1, 5)), NOISES, NOISES)
def test_two_windows_of_any_start_are_those_of_the_list(
    data: st.DataObject, chain: tf.MarkovChain, first: Any, second: Any
) -> None:
    assume(has_secret(chain))
    releases = []
    for noise in (first, second)[: data.draw(st.integers(1, 2))]:
        window = range(*sorted(data.draw(st.tuples(st.integers(0, chain.length), st.integers(0, chain.length)))))
        state = data.draw(st.sampled_from(chain.states))
        releases.append((tf.Count(state, entries=window) if window else tf.Count(state), noise))
    with pytest.MonkeyPatch.context() as patch:
        listed, swept = both(patch, lambda: joint_loss(hide(chain), releases))
    assert abs(listed.loss - swept.loss) <= 1e-12 * (1 + listed.loss)
    assert swept.lower <= listed.loss <= swept.upper


@pytest.mark.mutants
@settings(max_examples=20)
@given(chains(length=(1, 5)), st.sampled_from([discrete(2), RoundedNormal(Fraction(2), Fraction(1))]))
def test_deltas_are_those_of_the_list(chain: tf.MarkovChain, noise: Any) -> None:
    assume(has_secret(chain))
    with pytest.MonkeyPatch.context() as patch:
        listed, swept = both(patch, lambda: exact_delta(hide(chain), "1/2", tf.Count(1), noise))
    assert swept.loss == pytest.approx(listed.loss, abs=1e-12)
    assert swept.upper == pytest.approx(listed.upper, abs=1e-11)


@pytest.mark.mutants
@pytest.mark.parametrize("start", ["stationary", [0.2, 0.3, 0.5]])
def test_pieces_and_cells_are_those_of_the_list(monkeypatch: pytest.MonkeyPatch, start: Any) -> None:
    pieces = tf.IndependentPieces(tf.MarkovChain(THREE, 3, start), [3, 1, 2])
    periodic = tf.PeriodicChain([THREE, THREE[::-1]], 5, start=1, initial=start)
    for belief, query, noise in (
        (pieces, tf.Count(1), discrete(2)),
        (periodic, tf.Count(2), discrete(2)),
        (periodic, tf.Histogram(), discrete(3, 3)),
    ):
        listed, swept = both(monkeypatch, lambda b=belief, q=query, n=noise: exact_loss(hide(b), q, n))
        assert swept.loss == pytest.approx(listed.loss, rel=1e-12)
        assert swept.comparison == listed.comparison


def test_some_secrets_of_a_long_chain() -> None:
    chain = tf.MarkovChain(STICKY, 60, initial=[1.0, 0.0])
    one = exact_loss(tf.Pufferfish(tf.entry(30, 0, 1), chain), tf.Count(1), discrete(2))
    assert one.comparison.startswith("step 30")
    assert one.loss <= exact_loss(hide(chain), tf.Count(1), discrete(2)).loss
    member = tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 2)
    of_class = hide(tf.ReversibleChains(0.2, 0.2, 50))
    audit = exact_loss(of_class, tf.Count(1), discrete(2), chains=[member])
    assert audit.left_open
    assert audit.loss == exact_loss(hide(member.with_length(50)), tf.Count(1), discrete(2)).loss


@pytest.mark.mutants
@pytest.mark.parametrize(("matrix", "start"), [(THREE, "stationary"), (STICKY, "any")])
def test_a_thousand_steps_keep_their_promise_and_a_smaller_scale_does_not(matrix: Any, start: Any) -> None:
    framework = hide(tf.MarkovChain(matrix, 1000, start))
    calibration = tf.calibrate(framework, tf.Count(1), 1, mechanism="influence")
    audit = exact_loss(calibration)
    assert 0.955 < audit.loss <= audit.upper <= 1 + 1e-9
    less = DiscreteLaplace(calibration.randomiser.units * Fraction(95, 100), Fraction(1))
    assert exact_loss(framework, tf.Count(1), less).lower > 1


@pytest.mark.mutants
@pytest.mark.parametrize("start", ["stationary", "any"])
def test_two_windows_of_sixty_steps_are_charged_nearly_what_they_lose(start: Any) -> None:
    framework = hide(tf.MarkovChain(STICKY, 90, start))
    windows = [tf.Count(1, entries=range(60)), tf.Count(1, entries=range(30, 90))]
    released = [tf.calibrate(framework, window, 1, mechanism="influence") for window in windows]
    releases = [(window, calibration.randomiser) for window, calibration in zip(windows, released, strict=True)]
    audit, charged = joint_loss(framework, releases), float(compose(released).epsilon)
    assert 0.99 * charged <= audit.loss <= charged * (1 + 1e-9)
    assert len(audit.output) == 2


@pytest.mark.mutants
def test_a_delta_of_four_hundred_steps() -> None:
    framework = hide(tf.MarkovChain(STICKY, 400))
    query = tf.Count(1, entries=range(200, 204))
    calibration = tf.calibrate(framework, query, 1, delta=1e-3, mechanism="gaussian-exact", single_release=True)
    audit = exact_delta(calibration)
    assert 0.95e-3 < audit.loss <= audit.upper <= 1e-3
    less = RoundedNormal(calibration.randomiser.scale * Fraction(95, 100), Fraction(1))
    assert exact_delta(framework, 1, query, less).lower > 1e-3


@pytest.mark.parametrize("length", [10**6, 10**9, 10**12])
def test_an_audit_of_too_many_steps_is_refused_at_once(length: int) -> None:
    framework = hide(tf.MarkovChain(STICKY, length))
    began = time.process_time()
    tracemalloc.start()
    with pytest.raises(Unsupported, match=r"would take .* operations, and takes at most"):
        exact_loss(framework, tf.Count(1), discrete(3))
    with pytest.raises(Unsupported, match="would have to list about 10"):
        exact_loss(framework, tf.Count(1), Exact(Fraction(1)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20
    assert time.process_time() - began < 2


def test_what_would_underflow_is_refused() -> None:
    framework = hide(tf.MarkovChain(STICKY, 100))
    with pytest.raises(Unsupported, match=r"masses of e\^-1020"):
        exact_loss(framework, tf.Count(1), discrete("1/10"))
    rare = hide(tf.MarkovChain([[1 - 1e-200, 1e-200, 0], [0, 0, 1], [1.0, 0, 0]], 50, initial=[1, 0, 0]))
    with pytest.raises(Unsupported, match="masses of e"):
        exact_loss(rare, tf.Count(1), discrete("1/4"))
    # What is short enough is listed instead.
    short = hide(tf.MarkovChain(STICKY, 13))
    assert exact_loss(short, tf.Count(1), discrete("1/100")).loss == pytest.approx(100, rel=0.1)


def test_a_secret_of_probability_zero_is_refused() -> None:
    never = tf.MarkovChain([[1.0, 0.0], [0.5, 0.5]], 50, [1.0, 0.0])
    with pytest.raises(InputError, match="every secret has probability zero"):
        tf.Pufferfish(tf.entry(3, 0, 1), never)
    once = tf.Pufferfish([tf.entry(3, 0, 1), tf.entry(0, 0, 1)], tf.MarkovChain(STICKY, 50, [1.0, 0.0]))
    assert exact_loss(once, tf.Count(1), discrete(2)).comparison.startswith("step 3")


def test_the_masses_of_a_long_chain_sum_to_one() -> None:
    from takifugu.audit.partial_sums import Axis, Chained, Sums

    chain = tf.MarkovChain(THREE, 200)
    axis = Axis.of(tf.Count(1).resolve(chain), 0, discrete(2))
    sums = Sums(Chained(chain, (200,)), (axis,))
    for joint in sums.joint({first: np.arange(3)[:, None] for first in range(0, 200, 37)}):
        assert joint.sum() == pytest.approx(1, rel=1e-13)
        assert np.allclose(joint.sum(axis=(0, 2)), chain.stationary, rtol=1e-12)
