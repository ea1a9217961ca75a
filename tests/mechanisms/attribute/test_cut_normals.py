"""Normal columns given that all numbers lie in their ranges, by integration: what keeps its promise then, and what not.

docs/theory/attributes.md, Theorem (cut).
"""

import math
import random
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, truncnorm
from tests.support.rounds import rounds

import takifugu as tf

#: How exactly sums over a grid stand for integrals.
CLOSE = 1e-6


def cut(at: Any, mean: float, deviation: float, reach: float) -> Any:
    """Return the masses of a normal number cut to +-reach, at the places of a grid, 0 in its middle."""
    masses = norm.pdf(at, mean, deviation) * (abs(at) <= reach)
    return masses / masses.sum()


def with_noise(masses: Any, at: Any, scale: float) -> Any:
    return np.convolve(masses, norm.pdf(at, 0, scale) * (at[1] - at[0]), "same") if scale else masses


def delta(one: Any, other: Any, epsilon: float) -> float:
    return float(max(np.maximum(p - math.exp(epsilon) * q, 0).sum() for p, q in ((one, other), (other, one))))


def normal_noise(secret: Any, belief: Any, query: Any, epsilon: Any, delta: Any) -> float:
    about = tf.Pufferfish(secret, belief)
    made = tf.calibrate(about, query, epsilon, delta, mechanism="attribute-gaussian-exact", allow_zero_noise=True)
    return float(made.scale)


def loss_of_one_record(seed: int) -> float:
    """Return how much of epsilon Laplace noise loses on y, cut, between two values of x in the same record."""
    r = random.Random(seed)
    slope, left, reach = r.choice([-2, -0.5, 0.5, 1]), r.choice([0.0025, 0.04, 1]), r.choice([0.3, 1, 3])
    covariance = [[1, str(slope)], [str(slope), str(slope**2 + left)]]
    belief = tf.MultivariateNormal([0, 0], covariance, ["x", "y"], 2, {"y": (str(-reach), str(reach))})
    most, epsilon = r.uniform(0.1, 1) * min(1, reach / abs(slope)), r.choice([0.5, 2])
    about = tf.Pufferfish(tf.every_entry("x", max_difference=f"{most:.6f}"), belief)
    made = tf.calibrate(about, tf.Sum("y"), str(epsilon), mechanism="wasserstein", allow_zero_noise=True)
    at, laws = np.linspace(-reach, reach, 2001), list[Any]()
    first = r.uniform(-1, 1) * reach / abs(slope)
    for value in (first, first + float(f"{most:.6f}")):
        law = cut(at, slope * value, math.sqrt(left), reach)
        laws.append(np.exp(-abs(at[::20, None] - at[None]) / float(made.scale)) @ law)
    return float(abs(np.log(laws[0] / laws[1])).max()) / epsilon


@pytest.mark.parametrize("seeds", rounds(3, 40, 300))
def test_noise_without_credit_hides_one_record_among_cut_ones(seeds: range) -> None:
    lost = list(map(loss_of_one_record, seeds))
    assert max(lost) <= 1 + CLOSE
    assert max(lost) > 0.5


def delta_of_mean(seed: int) -> tuple[float, float]:
    """Return the delta of a promise about the mean of x in the population, and the one under the cut."""
    r = random.Random(seed)
    records, reach = r.choice([2, 3]), r.choice([1, 2, 3])
    most, epsilon, promised = r.choice([0.5, 1]), r.choice([0.3, 1]), r.choice([0.1, 0.01])
    belief = tf.MultivariateNormal([0], [[1]], ["x"], records, {"x": (-reach, reach)})
    secret = tf.distribution_parameter("x", values=[0, str(most)])
    scale = normal_noise(secret, belief, tf.Sum("x"), str(epsilon), str(promised))
    end = records * reach + 6 * max(scale, 0.1)
    at, laws = np.linspace(-end, end, 1201), list[Any]()
    for mean in (0, most):
        one = total = cut(at, mean, 1, reach)
        for _ in range(records - 1):
            total = np.convolve(total, one, "same")
        laws.append(with_noise(total, at, scale))
    return promised, delta(*laws, epsilon)


@pytest.mark.parametrize("seeds", rounds(2, 30, 200))
def test_normal_noise_hides_the_mean_of_cut_records_in_the_population(seeds: range) -> None:
    deltas = list(map(delta_of_mean, seeds))
    assert all(true <= promised * (1 + 1e-3) for promised, true in deltas)  # so near is the grid
    assert max(true / promised for promised, true in deltas) > 0.1


@pytest.mark.parametrize(("reach", "most", "least"), [("0.1", "0.1", 0.49), ("1", "1", 1.4e-5), ("2", "1", 1.3e-5)])
def test_cut_records_hide_less_of_each_other_than_normal_ones(reach: str, most: str, least: float) -> None:
    """It is what the theory says of credit: an assumption, where numbers are refused and not clipped."""
    belief = tf.MultivariateNormal([0], [[1]], ["x"], 2, {"x": (f"-{reach}", reach)})
    scale = normal_noise(tf.every_entry("x", max_difference=most), belief, tf.Sum("x"), 1, "0.00001")
    end = 3 * float(reach) + 8 * scale
    at = np.linspace(-end, end, 2401)
    other = with_noise(cut(at, 0, 1, float(reach)), at, scale)
    assert delta(other, np.roll(other, round(float(most) / (at[1] - at[0]))), 1) > least


@pytest.mark.parametrize("shift", [0.1, 1, 4])
def test_quantiles_of_a_cut_normal_move_no_farther_than_its_mean(shift: float) -> None:
    levels = np.linspace(0.001, 0.999, 99)
    for reach in (0.3, 1, 3):
        for mean in (-2.0, 0.0, 1.0):
            low, high = (truncnorm.ppf(levels, -reach - m, reach - m, m) for m in (mean, mean + shift))
            assert (high >= low - CLOSE).all()
            assert (high <= low + shift + CLOSE).all()
