"""What independent components add smooths the law of the answer: the same law, however its belief is written."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.audit import true_loss
from takifugu.mechanisms.common.shares import ALONE, is_smoothed, stands_alone
from takifugu.mechanisms.laplace_exact import MECHANISM as EXACT
from takifugu.mechanisms.wasserstein import MECHANISM as WASSERSTEIN
from takifugu.model.beliefs.contacts import CliqueInfection

ROW = [0.7, 0.3]
BIASED = [[0.9, 0.1], [0.3, 0.7]]


def one_law(count: int) -> dict[str, Any]:
    """Independent bits of one law, five times."""
    return {
        "chain": tf.MarkovChain([ROW, ROW], count),
        "pieces": tf.IndependentPieces(tf.MarkovChain([ROW, ROW], 1), [1] * count),
        "network": tf.BayesianNetwork([(f"x{i}", [0, 1], [], ROW) for i in range(count)]),
        "cliques": CliqueInfection([[f"x{i}"] for i in range(count)], {1: ROW}),
        "users": tf.IndependentUsers([{0: 0.7, 1: 0.3}] * count),
    }


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mechanism", ["laplace-exact", "wasserstein", "gaussian-exact", "kantorovich-relaxed"])
@pytest.mark.parametrize("count", [2, 12])
def test_one_law_needs_one_noise_however_it_is_written(mechanism: str, count: int) -> None:
    delta = 1e-3 if mechanism == "gaussian-exact" else 0
    scales = [
        tf.calibrate(
            tf.Pufferfish(tf.every_entry(), belief), tf.Count(1), 0.5, delta, mechanism, allow_zero_noise=True
        ).scale
        for belief in one_law(count).values()
    ]  # fmt: skip
    assert scales == pytest.approx([scales[0]] * len(scales), rel=1e-8)


def test_a_hundred_pieces_of_one_step_are_one_chain_of_a_hundred() -> None:
    """Before: sigma 2.57 for the pieces and 0.0 for the chain, which are one law."""
    beliefs = one_law(100)
    made = [
        tf.calibrate(
            tf.Pufferfish(tf.every_entry(), beliefs[name]), tf.Count(1), 1, 1e-5, "gaussian-exact",
            allow_zero_noise=True,
        ).scale
        for name in ("chain", "pieces", "cliques")
    ]  # fmt: skip
    assert made == pytest.approx([made[0]] * 3, abs=1e-9)


@pytest.mark.parametrize("lengths", [(1, 2), (2, 2, 1), (3, 1)])
@pytest.mark.parametrize("mechanism", ["laplace-exact", "wasserstein", "kantorovich-relaxed"])
def test_the_noise_is_enough_and_no_more_than_before(mechanism: str, lengths: tuple[int, ...]) -> None:
    belief = tf.IndependentPieces(tf.MarkovChain(BIASED, max(lengths)), lengths)
    framework = tf.Pufferfish(tf.every_entry(), belief)
    for query in (tf.Count(1), tf.Linear([Fraction(i + 1, 2) for i in range(sum(lengths))])):
        made = tf.calibrate(framework, query, 0.7, mechanism=mechanism, allow_zero_noise=True)
        audit = true_loss(made)
        assert audit.loss <= 0.7 * (1 + 1e-9)
        if mechanism == "laplace-exact" and made.scale:
            assert audit.loss > 0.69  # smallest for the whole answer: no room is left
        alone = max(
            tf.calibrate(
                tf.Pufferfish(tf.every_entry(), tf.MarkovChain(BIASED, run.stop - run.start)),
                tf.Linear(query.weights[run.start : run.stop]) if isinstance(query, tf.Linear) else query,
                0.7, mechanism=mechanism, allow_zero_noise=True,
            ).scale
            for run in belief.components()
        )  # fmt: skip
        assert made.scale <= alone * (1 + 1e-9)


def test_half_the_smoothed_noise_is_too_little() -> None:
    belief = tf.IndependentPieces(tf.MarkovChain(BIASED, 3), [3, 2])
    framework = tf.Pufferfish(tf.every_entry(), belief)
    noise = tf.calibrate(framework, tf.Count(1), 0.5, mechanism="laplace-exact", allow_zero_noise=True).randomiser
    half = type(noise)(noise.scale / 2, noise.grid, 1)  # type: ignore[call-arg]
    assert true_loss(framework, tf.Count(1), half).loss > 0.55


def test_two_beliefs_are_smoothed_each_by_its_own_components() -> None:
    pieces = tf.IndependentPieces(tf.MarkovChain(BIASED, 2), [2, 2])
    network = tf.IndependentPieces(tf.MarkovChain([[0.4, 0.6], [0.2, 0.8]], 2), [2, 2])
    framework = tf.Pufferfish(tf.every_entry(), [pieces, network])
    made = tf.calibrate(framework, tf.Count(1), 0.5, mechanism="laplace-exact", allow_zero_noise=True)
    assert true_loss(made).loss <= 0.5 * (1 + 1e-9)


def test_where_it_is_not_affordable_the_witness_says_so() -> None:
    long = Problem(
        tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(tf.MarkovChain(BIASED, 150), [150, 150])), tf.Count(1),
        Fraction(1),
    )  # fmt: skip
    whole = Problem(tf.Pufferfish(tf.every_entry(), tf.MarkovChain(BIASED, 9)), tf.Count(1), Fraction(1))
    any_start = Problem(
        tf.Pufferfish(
            tf.every_entry(), tf.IndependentPieces(tf.MarkovChain(BIASED, 3, initial="any"), [3, 3])
        ), tf.Count(1), Fraction(1),
    )  # fmt: skip
    for problem, alone in ((long, True), (any_start, True), (whole, False)):
        bound: Any = EXACT.bound(problem)
        assert bound.witness.detail.endswith(ALONE) == alone
        assert not is_smoothed(problem)
        assert stands_alone(problem) == alone
    assert np.isfinite(float(WASSERSTEIN.bound(any_start).randomiser.scale))  # type: ignore[union-attr]
