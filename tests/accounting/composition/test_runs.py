"""Several releases where runs of steps are secret: against listing, beside single steps, and at declared places."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.support import influence_oracle as oracle
from tests.support.run_oracles import noise_loss

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.audit.exact import joint_loss

STAY = [[0.9, 0.1], [0.4, 0.6]]


def rows_of(rng, states):
    rows = rng.dirichlet(np.full(states, rng.choice([0.3, 1, 3])), size=states)
    if rng.random() < 0.4:
        rows = np.where(rng.random((states, states)) < 0.3, 0.0, rows) + 0.1 * np.roll(np.eye(states), 1, axis=1)
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(30))
def test_windows_at_declared_places_lose_no_more_than_is_charged(seed):
    rng = np.random.default_rng(seed)
    states, span, start = int(rng.integers(2, 4)), int(rng.integers(4, 7)), ["stationary", "any"][seed % 2]
    matrix = rows_of(rng, states)
    made, sums, scales, starts = [], [], [], []
    places = np.indices((states,) * span)
    for _ in range(int(rng.integers(1, 4))):
        length = int(rng.integers(1, span + 1))
        at = int(rng.integers(0, span - length + 1))
        secret = tf.every_entry() if rng.random() < 0.3 else tf.every_run(int(rng.integers(2, 5)))
        framework = tf.Pufferfish(secret, tf.MarkovChain(matrix, length, start))
        noisy = tf.with_scale(framework, tf.Count(1), Fraction(int(rng.integers(1, 6)), 2))
        made.append((framework, replace(charge_of(noisy, at=at), reading="x"), secret))
        sums.append((places[at : at + length] == 1).sum(axis=0))
        scales.append(float(noisy.scale))
        starts.append(at)
    laws = [oracle.chain_law(tf.MarkovChain(matrix, 1).stationary, [matrix] * (span - 1))] if start != "any" else []
    if start == "any":
        laws = list(starting_anew(rng, matrix, span, min(starts), set(starts)))
    charges = [charge for _, charge, _ in made]
    for framework, _, secret in made:
        run = 1 if secret == tf.every_entry() else secret.length
        charged = float(joint(framework, charges).epsilon)
        for law in laws:
            assert noise_loss(law, sums, scales, run) <= charged + 1e-9


def starting_anew(rng, matrix, span, first, starts):
    """Laws of a recording of any start, also of one that starts anew where a later window does."""
    states = len(matrix)
    for start in (None, *sorted(starts - {first})):
        steps = [np.array(matrix)] * (span - 1)
        if start:
            steps[start - 1] = np.repeat(rng.dirichlet(np.full(states, 0.3))[None], states, axis=0)
        yield oracle.chain_law(rng.dirichlet(np.full(states, 0.3)), steps)


@pytest.mark.mutants
def test_the_joint_loss_of_two_counts_is_exact():
    framework = tf.Pufferfish(tf.every_run(3), tf.MarkovChain(STAY, 60))
    one = tf.calibrate(framework, tf.Count(1), "1/2")
    two = tf.calibrate(framework, tf.Count(1, entries=range(30)), "1/2")
    together = tf.compose([one, two])
    truth = joint_loss(framework, [(one.query, one.randomiser), (two.query, two.randomiser)])
    assert float(together.epsilon) == pytest.approx(truth.loss, rel=1e-9)


@pytest.mark.mutants
def test_every_secret_among_the_releases_is_charged_for_all_of_them():
    chain = tf.MarkovChain(STAY, 24)
    step, run = (tf.Pufferfish(secret, chain) for secret in (tf.every_entry(), tf.every_run(5)))
    of_step, of_run = (tf.calibrate(framework, tf.Count(1), 1) for framework in (step, run))
    both = tf.compose([of_step, of_run])
    releases = [(one.query, one.randomiser) for one in (of_step, of_run)]
    assert joint_loss(run, releases).lower <= both.epsilon
    assert both.epsilon == max(joint(f, [*map(charge_of, (of_step, of_run))]).epsilon for f in (step, run))
    assert both.epsilon > 1 + Fraction(joint_loss(step, [releases[0]]).lower)  # noise for steps hides runs badly


@pytest.mark.mutants
def test_a_series_of_normal_noise_hides_runs():
    framework = tf.Pufferfish(tf.every_run(3), tf.MarkovChain(STAY, 40))
    one = tf.calibrate(framework, tf.Count(1), 1, "1e-6", mechanism="influence-gaussian")
    single = tf.calibrate(
        tf.Pufferfish(tf.every_entry(), framework.beliefs[0]), tf.Count(1), 1, "1e-6", mechanism="influence-gaussian"
    )
    assert one.scale > single.scale
    series = tf.compose([one, one], begins_series=True)
    assert 1 < series.epsilon < 2
