"""Takagi21 V.4 and VIII.2 as audited statements: policy, sensitivity and the law of the noise, over all moves.

The relation, the counts and the data sets are enumerated here; `sensitivity` says the scale and the directions, the
randomisers the laws.
"""

import math
from fractions import Fraction as F

import pytest
from tests.support import policies

import takifugu as tf
from takagi.bounds import noise_loss
from takifugu.analysis.randomisers.base import Direction
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric
from takifugu.mechanisms.one_sided import Monotone, Policy, any_of, none_of, sensitivity
from takifugu.model.beliefs.domain import Domain

VALUES = ["ill", "well", "away"]
DOMAIN = Domain.of(2, VALUES)
WAYS = {Monotone.DECREASING: Direction.DOWN, Monotone.INCREASING: Direction.UP, Monotone.NONE: Direction.EITHER}
SIGNS = {Direction.DOWN: 1, Direction.UP: -1, Direction.EITHER: 0}

CASES = {
    "hide who is ill": (Policy.of(none_of("ill")), [lambda x: x != "ill"]),
    "hide who is not": (Policy.of(any_of("ill")), [lambda x: x == "ill"]),
    "hide ill and well": (Policy.of(none_of("ill"), none_of("well")), [lambda x: x != "ill", lambda x: x != "well"]),
    "hide ill or well": (Policy.of(none_of("ill", "well")), [lambda x: x == "away"]),
    "ordinary": (Policy.of(), [lambda x: True]),
}


def histogram(data):
    return [sum(x == value for x in data) for value in VALUES]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("epsilon", [F(1), F(1, 3)])
@pytest.mark.parametrize("name", CASES)
def test_geometric_noise_keeps_epsilon_along_every_move_and_no_less(name, epsilon):
    policy, predicates = CASES[name]
    data, related = policies.datasets(VALUES, 2), policies.policy(*predicates)
    sensitive = sensitivity(policy, DOMAIN, tf.Histogram())
    ways = tuple(WAYS.get(change.direction, Direction.EITHER) for change in sensitive.changes)
    noise = OneSidedGeometric(sensitive.total / epsilon, F(1), 3, ways)
    window = [range(-8, 9)] * 3
    worst, against = 0.0, 0.0
    for one, other in policies.moves(data, policies.anything):
        before, after = histogram(one), histogram(other)
        change = [b - a for a, b in zip(before, after, strict=True)]
        if related(*next((x, y) for x, y in zip(one, other, strict=True) if x != y)):
            cells = [
                max(
                    (
                        noise.log_mass_of(F(a), z, way) - noise.log_mass_of(F(b), z, way)
                        for z in outputs
                        if noise.log_mass_of(F(a), z, way) > -math.inf
                    ),
                    default=0.0,
                )
                for a, b, way, outputs in zip(before, after, ways, window, strict=True)
            ]
            loss = noise_loss(change, [SIGNS[way] for way in ways], noise.scale)
            assert sum(cells) == pytest.approx(loss)
            worst = max(worst, loss)
        else:
            against = max(against, noise_loss(change, [SIGNS[way] for way in ways], noise.scale))
    assert worst == pytest.approx(float(epsilon))
    assert (against == math.inf) == any(way is not Direction.EITHER for way in ways)
