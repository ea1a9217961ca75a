"""The Kantorovich-exponential mechanism for answers with a declared metric (Ding22 Theorem 1), numbers or not.

The answers are any points, such as places or diagnoses, and the metric is a matrix that says how far apart they are. A
bottleneck plan moves one law into the other with the least longest move in this metric; the rate is the largest that
`largest_rate` verifies with the normalisers, which depend on the answer (errata X13). The masses that are drawn are
exact, and their loss is measured: nothing rests on the search for the rate.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from takifugu.core.errors import InputError
from takifugu.mechanisms.common.channel_program import exact_channel
from takifugu.mechanisms.common.finite_outputs import BLENDS
from takifugu.mechanisms.kantorovich_exponential import INSIDE, exponential_rows, largest_rate
from takifugu.numbers.atoms import Atom
from takifugu.numbers.distributions.channel import Channel, largest_log_ratio
from takifugu.numbers.noise import Entropy, SystemEntropy, choose
from takifugu.numbers.rationals import Number, as_epsilon, as_fraction
from takifugu.numbers.transport.bottleneck import bottleneck


@dataclass(frozen=True)
class MetricChoice:
    """One of the points, drawn by its distance from the answer; `loss` is what the exact masses lose, at most epsilon.

    `farthest` is the longest move of the plan. The rate is infinite, and the answer published, where nothing moves.
    """

    channel: Channel
    rate: float
    farthest: Atom
    loss: float

    def draw(self, answer: Hashable, entropy: Entropy | None = None) -> Hashable:
        """Return a point for an answer, drawn from the operating system's randomness.

        Raises InputError for an answer that is none of the points, without repeating it.
        """
        if answer not in self.channel.inputs:
            raise InputError("the answer is none of the points", fix="declare every answer that can occur")
        masses = self.channel.masses[self.channel.inputs.index(answer)]
        return self.channel.outputs[int(choose(masses, 1, entropy or SystemEntropy())[0])]


def metric_choice(
    points: Sequence[Hashable],
    p: Sequence[Number],
    q: Sequence[Number],
    distances: Sequence[Sequence[Number]],
    epsilon: Number,
) -> MetricChoice:
    """Return the choice that hides whether an answer has law p or q.

    `p` and `q` are the probabilities of the points, `distances` one row per point. Raises InputError for points that
    repeat, laws that are none, and a matrix that is no metric: of another shape, negative, not 0 from a point to
    itself, not symmetric, or with a detour that is shorter.

    >>> wards = ["heart", "lung", "skin"]
    >>> choice = metric_choice(wards, [0.5, 0.5, 0], [0, 0.5, 0.5], [[0, 1, 3], [1, 0, 2], [3, 2, 0]], 1)
    >>> choice.farthest, choice.loss <= 1
    (2, True)
    """
    budget = as_epsilon(epsilon)
    place = {point: number for number, point in enumerate(points)}
    table = _table(points, distances)

    def metric(x: Hashable, y: Hashable) -> Atom:
        return table[place[x]][place[y]]

    plan = bottleneck(points, _law(p, "p"), points, _law(q, "q"), metric)
    moves = [(x, y) for x, y, _ in plan.moves]
    rate = largest_rate(moves, points, metric, budget) * INSIDE
    if math.isinf(rate):
        unmoved = Channel.of(points, points, [[int(x == y) for y in points] for x in points])
        return MetricChoice(unmoved, rate, plan.distance, 0.0)
    laws = [_weights(points, law) for law in (p, q)]

    def loss(channel: Channel) -> float:
        first, second = (channel.lift(law) for law in laws)
        return max(largest_log_ratio(first, second), largest_log_ratio(second, first))

    rows = exponential_rows(points, points, metric, rate)
    channel = exact_channel(points, points, rows, BLENDS, lambda made: loss(made) <= budget)
    assert channel is not None  # the last blend gives every answer one law
    return MetricChoice(channel, rate, plan.distance, loss(channel))


def _table(points: Sequence[Hashable], distances: Sequence[Sequence[Number]]) -> list[list[Fraction]]:
    lengths = {len(distances), *map(len, distances)}
    if lengths != {len(points)}:
        raise InputError(
            f"the metric is a matrix with sides of {sorted(lengths)} for {len(points)} points",
            fix="give one row and one column per point, in their order",
        ).at("distances")
    table = [[Fraction(0)] * len(points) for _ in points]
    for i, j in product(range(len(points)), repeat=2):
        table[i][j] = as_fraction(distances[i][j], "a distance", "distances", i, j)
    return table


def _law(law: Sequence[Number], name: str) -> list[Fraction]:
    return [as_fraction(mass, "a probability", name) for mass in law]


def _weights(points: Sequence[Hashable], law: Sequence[Number]) -> dict[Hashable, Atom]:
    masses = _law(law, "p")
    total = sum(masses, Fraction(0))
    return {point: mass / total for point, mass in zip(points, masses, strict=True) if mass}
