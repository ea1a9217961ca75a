"""What a channel gives away: about a value (local, metric) and about the population that it was drawn from.

A channel A randomises one value. Lifted to a population lambda it is A#(lambda)[y] = sum_x lambda(x) A(x)[y]
(Kawamoto19 §2). All losses are exact up to floating point, and rounded up.

* local: the largest log A(x)[y] / A(x')[y] over all pairs of inputs, or those of a relation (Definition 1);
* metric: the largest such log-ratio per unit of distance (Definition 4);
* distribution: the largest log A#(p)[y] / A#(q)[y], both ways (Definition 8);
* extended: that loss per unit of a distance between populations (Definition 9);

and of each the delta at a given epsilon, the hockey-stick divergence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.numbers.distributions.channel import Channel, largest_log_ratio
from takifugu.numbers.distributions.divergence import divergence
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.numbers.transport.bottleneck import Metric, checked_distances
from takifugu.numbers.transport.couplings import Population, Related

Floats = npt.NDArray[np.float64]
Apart = Callable[[Population, Population], Any]

#: What two logs of masses and their difference may be off by, per unit of their size.
_ROUNDED = 2.0**-48


def local_loss(channel: Channel) -> float:
    """Return the least epsilon of local differential privacy; infinite where an output rules an input out."""
    return channel.measure()


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


def metric_loss(channel: Channel, metric: Metric) -> float:
    """Return the least epsilon with A(x)[y] <= e^(epsilon d(x, x')) A(x')[y] for all inputs and outputs, rounded up.

    Raises InputError when `metric` is not one on the inputs (`transport.bottleneck.checked_distances`).

    >>> flip = Channel.of([0, 2], [0, 2], [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    >>> round(metric_loss(flip, lambda x, y: abs(x - y)), 9) == round(math.log(3) / 2, 9)
    True
    """
    inputs = list(channel.inputs)
    distances = checked_distances(inputs, inputs, metric).astype(float)
    logs, worst = log_masses(channel), 0.0
    for row, log in enumerate(logs):
        with np.errstate(invalid="ignore"):
            gaps = np.where(np.isneginf(log), -np.inf, log - logs).max(axis=1)
        gaps[row] = 0.0
        apart = distances[row] > 0
        if (gaps[~apart] > _ROUNDED).any():
            return math.inf  # two inputs at distance 0 that are told apart
        worst = max(worst, float((gaps[apart] / distances[row][apart]).max(initial=0.0)))
    return worst if math.isinf(worst) else worst + (1 + worst) * _ROUNDED


def log_masses(channel: Channel) -> Floats:
    """Return the log of every probability, shape (inputs, outputs); -inf for 0."""
    total = math.log(channel.total)
    return np.array([[math.log(m) - total if m else -math.inf for m in row] for row in channel.masses])


def distribution_loss(channel: Channel, p: Population, q: Population) -> float:
    """Return the least epsilon of distribution privacy of a pair of populations, both ways (Kawamoto19 Definition 8).

    >>> keep = Channel.of([0, 1], [0, 1], [[1, 0], [0, 1]])
    >>> distribution_loss(keep, {0: Fraction(1, 2), 1: Fraction(1, 2)}, {0: Fraction(1, 4), 1: Fraction(3, 4)})
    0.6931471805599454
    """
    one, other = channel.lift(p), channel.lift(q)
    return max(largest_log_ratio(one, other), largest_log_ratio(other, one))


def distribution_delta(channel: Channel, p: Population, q: Population, epsilon: Number) -> float:
    """Return the least delta at epsilon of distribution privacy of a pair, both ways, rounded up."""
    budget = as_fraction(epsilon, "epsilon", "epsilon")
    one, other = channel.lift(p), channel.lift(q)
    return max(excess(one, other, budget), excess(other, one, budget))


def excess(p: Population, q: Population, epsilon: Fraction) -> float:
    """Return sum over y of (p(y) - e^epsilon q(y))_+, rounded up; float masses count as the fractions that they are."""
    excess = divergence(((Fraction(mass), Fraction(q.get(y, 0))) for y, mass in p.items()), epsilon).high
    return min(excess, 1.0)  # float masses may sum to more


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

    `apart` is a distance between populations (Kawamoto19 Definition 9), for example `couplings.w_infinity` with a
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


def success(channel: Channel | None, p: Population, q: Population) -> float:
    """Return how often the best guess of the population is right, both being as likely: (1 + TV) / 2.

    Without a channel, of whoever sees the value itself.
    """
    one, other = (p, q) if channel is None else (channel.lift(p), channel.lift(q))
    return (1 + excess(one, other, Fraction(0))) / 2
