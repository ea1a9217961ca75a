"""Series of normal releases about one Gaussian process: no total is below the exact delta of all that is published.

Signed weights, overlapping windows, means and several queries at once; values that are rounded or clipped; a second
query that the first output chooses.
"""

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from tests.support import process_oracles as oracle
from tests.support.rounds import rounds

import takifugu as tf


def question(r: random.Random, size: int, parts: int = 2) -> tuple[Any, list[Any]]:
    """Return a query about so many values, and the weights of its cells."""
    kind = r.choice(["sum", "mean", "signed", "several"][: 2 + parts])
    if kind == "several":
        queries, weights = zip(*(question(r, size, 1) for _ in range(parts)), strict=True)
        return tf.JointQuery(queries), [row for rows in weights for row in rows]
    first = r.randrange(size)
    window = range(first, r.randrange(first, size) + 1)
    row = np.isin(np.arange(size), window).astype(float)
    if kind == "signed":
        signed = [r.choice([-3, -2, -1, 1, 2, 3]) for _ in range(size)]
        return tf.Linear(signed), [np.array(signed, dtype=float)]
    if kind == "mean":
        return tf.Mean(entries=window), [row / len(window)]
    return tf.Sum(entries=window), [row]


def process(r: random.Random, size: int) -> tuple[Any, Any]:
    """Return a belief and its covariance: an autoregressive series, or any whole numbers, singular ones among them."""
    if r.random() < 0.5:
        correlation, deviation = Fraction(r.randrange(-9, 10), 10), Fraction(r.randrange(1, 5), 2)
        belief = tf.AutoregressiveNormal(correlation, deviation, size)
        return belief, oracle.autoregressive(float(correlation), size, float(deviation))
    factor = np.array([[r.randrange(-3, 4) for _ in range(size)] for _ in range(size)])
    covariance = factor @ factor.T + r.choice([0, 1]) * np.eye(size, dtype=int)
    covariance[0, 0] += 1  # something varies
    names = [f"v{number}" for number in range(size)]
    return tf.MultivariateNormal([0] * size, covariance.tolist(), names, 1), covariance.astype(float)


def made(framework: Any, query: Any, epsilon: Any, delta: Any) -> Any:
    return tf.calibrate(framework, query, epsilon, delta, mechanism="process-gaussian", allow_zero_noise=True)


def charged_and_true(seed: int) -> tuple[float, float]:
    """Return the delta of some releases together, and the true one at their epsilon, by all that they publish."""
    r = random.Random(seed)
    size = r.randrange(2, 7)
    belief, covariance = process(r, size)
    difference = Fraction(r.randrange(1, 9), 4)
    framework = tf.Pufferfish(tf.every_entry(max_difference=difference), belief)
    releases, weights, variances = list[Any](), list[Any](), list[float]()
    for _ in range(r.randrange(1, 5)):
        query, rows = question(r, size)
        one = made(framework, query, r.choice(["0.1", "0.5", 1, 3]), r.choice(["0.1", "0.01", "0.000001"]))
        if one.scale:
            releases.append(one)
            weights += rows
            variances += [float(one.scale) ** 2] * len(rows)
    if not releases:
        return 1.0, 0.0
    together = tf.compose(releases)
    varying, spread = np.diag(covariance) > 0, np.array(variances)
    table, covariance = np.array(weights)[:, varying], covariance[np.ix_(varying, varying)]
    own, none = (oracle.moves(covariance, table, spread, float(difference), own).max() for own in (True, False))
    return float(together.delta), oracle.profile(max(own, none), float(together.epsilon))


@pytest.mark.parametrize("seeds", rounds(8, 40, 600))
def test_no_series_of_releases_costs_less_than_it_loses(seeds: range) -> None:
    totals = [charged_and_true(seed) for seed in seeds]
    assert all(true <= charged * (1 + 1e-9) for charged, true in totals)
    assert any(true >= charged * (1 - 1e-6) for charged, true in totals)


def adaptive(seed: int) -> tuple[float, float]:
    """Return the largest charge of two releases of two values as they are read, and the true delta.

    After each first output that second release is taken which gains most.
    """
    r = random.Random(seed)
    correlation, difference = r.choice([-0.9, -0.5, 0.3, 0.8]), Fraction(r.randrange(1, 7), 4)
    step, ends = r.choice([(Fraction(1), None), (None, (-1, 1)), (Fraction(1, 2), (0, 1))])
    belief = tf.AutoregressiveNormal(str(correlation), 1, 2, 0, ends, step, "refuse" if ends is None else "clip")
    framework = tf.Pufferfish(tf.every_entry(max_difference=difference), belief)

    def release() -> tuple[Any, Any]:
        row = [r.choice([-2, -1, 1, 3]), r.choice([-2, -1, 0, 1, 3])]
        return made(framework, tf.Linear(row), r.choice(["0.5", 1, 2]), r.choice(["0.1", "0.02"])), np.array(row)

    def read(values: Any) -> Any:
        values = values if step is None else oracle.rounded(float(step))(values)
        return values if ends is None else oracle.clipped(*ends)(values)

    first, *others = (release() for _ in range(4))
    totals = [tf.compose([first[0], other]) for other, _ in others]
    epsilon = max(float(total.epsilon) for total in totals)
    noise, worst = np.linspace(-6, 6, 601), 0.0
    outputs = [np.linspace(-12, 12, 121) * (1 + float(one.scale)) for one, _ in (first, *others)]
    for value in (0.0, float(step or 1) / 2 - 1e-6, 1.0, 1 - float(difference)):
        laws = []
        for hidden in (value, value + float(difference)):
            second = read(correlation * hidden + math.sqrt(1 - correlation**2) * noise)
            pairs = np.stack([np.full(len(noise), read(np.array([hidden]))[0]), second], axis=1)
            seen = [
                norm.pdf(at[:, None], pairs @ row, float(one.scale))
                for at, (one, row) in zip(outputs, (first, *others), strict=True)
            ]
            laws.append([seen[0] * (norm.pdf(noise) / norm.pdf(noise).sum()) @ later.T for later in seen[1:]])
        for mine, theirs in (laws, laws[::-1]):
            gains = [
                np.trapezoid(np.maximum(p - math.exp(epsilon) * q, 0), at, axis=1)
                for p, q, at in zip(mine, theirs, outputs[1:], strict=True)
            ]
            worst = max(worst, float(np.trapezoid(np.max(gains, axis=0), outputs[0])))
    return max(float(total.delta) for total in totals), worst


@pytest.mark.parametrize("seeds", rounds(1, 6, 60))
def test_a_second_release_that_the_first_output_chooses_costs_no_less_than_it_loses(seeds: range) -> None:
    for seed in seeds:
        charged, true = adaptive(seed)
        assert true <= charged * (1 + 1e-3), seed
