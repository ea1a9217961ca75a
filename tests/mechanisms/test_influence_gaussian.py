"""Influence noise, pure and with a delta: against all recordings and all cells of discretised outputs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.influence.curves import profile_loss
from takifugu.influence.profiles.normal import NormalRelease, log_share, normal_profile
from takifugu.mechanisms.influence_gaussian import longest_change
from takifugu.numbers.after_noise.gaussian import gaussian_analytic_sigma

STAY = [[0.9, 0.1], [0.4, 0.6]]


def framework_of(matrix, length, initial="stationary"):
    return tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, length, initial))


def recordings(matrix, start, length):
    """Every recording and its probability."""
    for states in itertools.product(range(len(start)), repeat=length):
        mass = start[states[0]] * math.prod(matrix[a][b] for a, b in itertools.pairwise(states))
        yield states, mass


def masses_of(values, sigma, bins, is_normal=True):
    """P(bin | answer) for each answer, row by row: normal or Laplace noise, cut into bins."""
    z = (bins[None, :] - np.asarray(values, dtype=float)[:, None]) / sigma
    below = ndtr(z) if is_normal else np.where(z < 0, np.exp(z) / 2, 1 - np.exp(-np.abs(z)) / 2)
    edges = np.concatenate([np.zeros((len(z), 1)), below, np.ones((len(z), 1))], axis=1)
    return np.diff(edges, axis=1)


def exact_delta(matrix, start, length, releases, epsilon):
    """The largest delta of any two values of any step, by all recordings and all cells of binned outputs.

    `releases` are (weights by step and state, scale, whether it is normal).
    """
    listed = list(recordings(matrix, start, length))
    answers = [[sum(weights[t][s] for t, s in enumerate(states)) for weights, *_ in releases] for states, _ in listed]
    different, row_of = np.unique(answers, axis=0, return_inverse=True)
    outputs, number = np.ones((len(different), 1)), {1: 900, 2: 150}.get(len(releases), 90)
    for values, (_, scale, is_normal) in zip(different.T, releases, strict=True):
        bins = np.linspace(values.min() - 8 * scale, values.max() + 8 * scale, number)
        masses = masses_of(values, scale, bins, is_normal)
        outputs = (outputs[:, :, None] * masses[:, None, :]).reshape(len(different), -1)
    worst = 0.0
    law = np.array([mass for _, mass in listed])
    for step in range(length):
        held = np.array([states[step] for states, _ in listed])
        given = []
        for value in range(len(start)):
            chosen = np.bincount(row_of.ravel(), law * (held == value))
            if chosen.sum() > 0:
                given.append(chosen / chosen.sum() @ outputs)
        for one, other in itertools.permutations(given, 2):
            worst = max(worst, float(np.maximum(one - math.exp(epsilon) * other, 0).sum()))
    return worst


def part_of(framework, query):
    return Problem(framework, query, Fraction(1), Fraction(1, 100)).parts[0]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("seed", range(8))
def test_the_true_delta_is_at_most_the_one_asked_for(seed):
    rng = np.random.default_rng(seed)
    states, length = (2, 6) if seed % 2 else (3, 4)
    matrix = rng.dirichlet(np.full(states, 0.7), size=states)
    start = rng.dirichlet(np.ones(states))
    epsilon = [Fraction(1, 2), Fraction(1), Fraction(2)][seed % 3]
    delta = [Fraction(1, 20), Fraction(1, 10**4)][seed % 2]
    weights = [[0, 1] if states == 2 else [0, 1, 3]] * length
    query = tf.Count(1) if states == 2 else tf.Sum(codes={0: 0, 1: 1, 2: 3})
    framework = framework_of(matrix, length, start)
    noise = tf.calibrate(framework, query, epsilon, delta, mechanism="influence-gaussian").randomiser
    sigma = float(noise.scale)
    assert exact_delta(np.array(matrix), start, length, [(weights, sigma, True)], float(epsilon)) <= float(delta)


def test_two_releases_together():
    start = [0.8, 0.2]
    framework = framework_of(STAY, 4)
    count, last = tf.Count(1), tf.Count(1, entries=(2, 3))
    part, other = part_of(framework, count), part_of(framework, last)
    epsilon, delta = Fraction(1), Fraction(1, 100)
    sigma, scale = Fraction(5), Fraction(6)
    share = log_share(epsilon, delta)
    profile = normal_profile([NormalRelease(part.answer, sigma), NormalRelease(other.answer, scale)], share)
    loss, _ = profile_loss(part, profile)
    promised = math.expm1(loss) * math.exp(share)
    weights, tail = [[0, 1]] * 4, [[0, 0], [0, 0], [0, 1], [0, 1]]
    releases = [(weights, float(sigma), True), (tail, float(scale), True)]
    true = exact_delta(np.array(STAY), start, 4, releases, loss)
    assert promised / 20 < true <= promised
    alone = profile_loss(part, normal_profile([NormalRelease(part.answer, sigma)], share))[0]
    assert loss > alone


@pytest.mark.parametrize("releases", [2, 10, 100])
def test_many_releases_cost_the_root_of_their_number(releases):
    part = part_of(framework_of(STAY, 5), tf.Count(1))
    share = log_share(Fraction(1), Fraction(1, 1000))
    each = Fraction(6) * Fraction(math.isqrt(releases * 10**12), 10**6)
    together, _ = profile_loss(part, normal_profile([NormalRelease(part.answer, each)] * releases, share))
    alone, _ = profile_loss(part, normal_profile([NormalRelease(part.answer, Fraction(6))], share))
    assert together == pytest.approx(alone, rel=1e-5)
    mean = float(each) / math.sqrt(releases)  # what the mean of all outputs is noised with: it tells all they tell
    true = exact_delta(np.array(STAY), [0.8, 0.2], 5, [([[0, 1]] * 5, mean, True)], together)
    assert true <= math.expm1(together) * math.exp(share)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("query", [tf.Count(1), tf.Histogram(), tf.Count(1, entries=(3,))])
def test_never_more_than_noise_for_the_whole_recording(query):
    for matrix in (STAY, [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]):
        framework = framework_of(matrix, 6, [0.5, 0.5])
        least = tf.calibrate(framework, query, 1, 1e-5, mechanism="influence-gaussian", allow_zero_noise=True).scale
        whole = longest_change(part_of(framework, query).answer)
        assert least <= gaussian_analytic_sigma(whole, 1, 1e-5) * (1 + 1e-9)


def test_auto_takes_it_where_it_is_the_least_error():
    """A step from 0 to 8 changes eight counts by 1: by 8 in L1, by the root of 8 in L2."""
    framework = framework_of(np.full((9, 9), 1 / 9), 2)
    counts = tf.JointQuery([tf.Count(list(range(least, 9))) for least in range(1, 9)])
    table = {one.name: one for one in tf.compare(framework, counts, 1, 0.01)}
    chosen = tf.calibrate(framework, counts, 1, 0.01, single_release=True)
    assert chosen.mechanism == "influence-gaussian"
    assert table["influence-gaussian"].expected_error < table["influence"].expected_error
