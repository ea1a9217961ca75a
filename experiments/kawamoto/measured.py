"""What a channel gives away, in the ways of Kawamoto19 that no mechanism asks for: relations, deltas, distances.

* of a value: the loss or the delta over a relation (Definition 1), and the delta of metric privacy (Definition 4);
* of a population: the loss or the delta over several populations, or per unit of a distance (Definition 9).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.mechanisms.local.measuring import distribution_delta, distribution_loss
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.numbers.transport.bottleneck import Metric, Population, Related, checked_distances

Floats = npt.NDArray[np.float64]
Apart = Callable[[Population, Population], Any]


def relation_loss(channel: Channel, related: Related) -> float:
    """Return the least epsilon of differential privacy for the ordered pairs of inputs in a relation (Definition 1).

    >>> flip = Channel.of([0, 1], [0, 1], [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    >>> relation_loss(flip, lambda x, y: x == y)
    0.0
    """
    return channel.measure((x, z) for x in channel.inputs for z in channel.inputs if related(x, z))


def local_delta(channel: Channel, epsilon: Number, related: Related | None = None) -> float:
    """Return the least delta at epsilon for the ordered pairs of inputs in a relation (default: all), rounded up."""
    inputs, budget = channel.inputs, as_fraction(epsilon, "epsilon", "epsilon")
    reach = np.full((len(inputs), len(inputs)), float(budget))
    counted = np.array([[related is None or bool(related(x, z)) for z in inputs] for x in inputs])
    return float(np.where(counted, _divergences(channel, reach), 0.0).max())


def metric_delta(channel: Channel, metric: Metric, epsilon: Number) -> float:
    """Return the least delta with A(x)[R] <= e^(epsilon d(x, x')) A(x')[R] + delta for all inputs, rounded up.

    Kawamoto19 Definition 4.

    >>> flip = Channel.of([0, 2], [0, 2], [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    >>> round(metric_delta(flip, lambda x, y: abs(x - y), 0), 12)
    0.5
    """
    inputs, budget = list(channel.inputs), as_fraction(epsilon, "epsilon", "epsilon")
    reach = checked_distances(inputs, inputs, metric).astype(float) * float(budget)
    return float(_divergences(channel, reach).max())


def _divergences(channel: Channel, epsilons: Floats) -> Floats:
    """Return sum over y of (A(x)[y] - e^epsilon A(x')[y])_+, rounded up, for an epsilon per ordered pair of inputs."""
    table = np.array([[mass / channel.total for mass in row] for row in channel.masses])
    capped = np.minimum(epsilons, 700.0)  # a smaller factor: a larger delta
    factors = np.exp(capped) * (1 - (2 + capped) * 2.0**-50)
    divergences = np.empty_like(factors)
    for row, law in enumerate(table):
        parts = np.maximum(law * (1 + 2.0**-50) - factors[row][:, None] * table, 0.0)
        divergences[row] = parts.sum(axis=1) * (1 + (len(law) + 2) * 2.0**-52)
    np.fill_diagonal(divergences, 0.0)
    return np.minimum(divergences, 1.0)  # rounding up does not make a delta of more


def class_loss(channel: Channel, populations: Sequence[Population]) -> float:
    """Return the least epsilon of distribution privacy of every two of several populations."""
    pairs = ((p, q) for number, p in enumerate(populations) for q in populations[:number])
    return max((distribution_loss(channel, p, q) for p, q in pairs), default=0.0)


def class_delta(channel: Channel, populations: Sequence[Population], epsilon: Number) -> float:
    """Return the least delta at epsilon of distribution privacy of every two of several populations, rounded up."""
    pairs = ((p, q) for number, p in enumerate(populations) for q in populations[:number])
    return max((distribution_delta(channel, p, q, epsilon) for p, q in pairs), default=0.0)


def extended_loss(channel: Channel, populations: Sequence[Population], apart: Apart) -> float:
    """Return the least epsilon with loss at most epsilon `apart`(p, q) for every two populations, rounded up.

    `apart` is a distance between populations (Kawamoto19 Definition 9), for example `bottleneck.w_infinity` with a
    metric. Any may be measured; only W-infinity also enters a bound. Infinite where two at distance 0 are told apart.

    >>> flip = Channel.of([0, 2], [0, 2], [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    >>> round(extended_loss(flip, [{0: 1}, {2: 1}], lambda p, q: 2.0), 12) == round(math.log(3) / 2, 12)
    True
    """
    worst = 0.0
    for number, p in enumerate(populations):
        for q in populations[:number]:
            loss, distance = distribution_loss(channel, p, q), float(apart(p, q))
            if loss:
                worst = max(worst, math.nextafter(loss / distance, math.inf) if distance else math.inf)
    return worst


def extended_delta(channel: Channel, populations: Sequence[Population], apart: Apart, epsilon: Number) -> float:
    """Return the least delta with (epsilon `apart`(p, q), delta) for every two populations, rounded up."""
    budget = as_fraction(epsilon, "epsilon", "epsilon")
    pairs = ((p, q) for number, p in enumerate(populations) for q in populations[:number])
    return max((distribution_delta(channel, p, q, budget * Fraction(apart(p, q))) for p, q in pairs), default=0.0)


def bayes_factor(channel: Channel, p: Population, q: Population, output: Hashable) -> float:
    """Return how much one output shifts the odds of p against q: A#(p)[y] / A#(q)[y] (Kawamoto19 §3.3)."""
    one, other = channel.lift(p).get(output, 0), channel.lift(q).get(output, 0)
    if not one and not other:
        raise InputError(f"the output {output!r} is impossible under both populations").at("output")
    return math.inf if not other else float(one / other)
