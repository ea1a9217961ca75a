"""What a channel gives away: about a value (local, metric) and about the population that it was drawn from.

A channel A randomises one value. Lifted to a population lambda it is A#(lambda)[y] = sum_x lambda(x) A(x)[y]
(Kawamoto19 §2). All losses are exact up to floating point, and rounded up.

* local: the largest log A(x)[y] / A(x')[y] over all pairs of inputs (Definition 1);
* metric: the largest such log-ratio per unit of distance (Definition 4);
* distribution: the largest log A#(p)[y] / A#(q)[y], both ways (Definition 8), and the delta at a given epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from takifugu.numbers.distributions.channel import Channel, largest_log_ratio
from takifugu.numbers.distributions.divergence import divergence
from takifugu.numbers.distributions.exact_ratio import log_share
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.numbers.transport.bottleneck import Metric, checked_distances
from takifugu.numbers.transport.couplings import Population

Floats = npt.NDArray[np.float64]

#: What two logs of masses and their difference may be off by, per unit of their size.
_ROUNDED = 2.0**-48


def local_loss(channel: Channel) -> float:
    """Return the least epsilon of local differential privacy; infinite where an output rules an input out."""
    return channel.measure()


def largest_log_ratios(channel: Channel) -> Floats:
    """Return the largest log-ratio of the outputs' masses for each two inputs, both ways, rounded up; shape (n, n)."""
    ratios = _log_ratios(channel)
    return np.maximum(ratios, ratios.T)


def metric_loss(channel: Channel, metric: Metric) -> float:
    """Return the least epsilon with A(x)[y] <= e^(epsilon d(x, x')) A(x')[y] for all inputs and outputs, rounded up.

    Raises InputError when `metric` is not one on the inputs (`transport.bottleneck.checked_distances`).

    >>> flip = Channel.of([0, 2], [0, 2], [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    >>> round(metric_loss(flip, lambda x, y: abs(x - y)), 9) == round(math.log(3) / 2, 9)
    True
    """
    inputs = list(channel.inputs)
    distances, ratios = checked_distances(inputs, inputs, metric).astype(float), _log_ratios(channel)
    apart = distances > 0
    if ratios[~apart].any():
        return math.inf  # two inputs at distance 0 that are told apart
    return float((ratios[apart] / distances[apart]).max(initial=0.0)) * (1 + 2.0**-52)


def _log_ratios(channel: Channel) -> Floats:
    """Return max over y of log A(x)[y] / A(x')[y] for inputs x, x', rounded up; shape (n, n), 0 for equal rows."""
    logs = log_masses(channel)
    ratios = np.empty((len(logs), len(logs)))
    for row, log in enumerate(logs):
        with np.errstate(invalid="ignore"):
            ratios[row] = np.where(np.isneginf(log), -np.inf, log - logs).max(axis=1)
    differ = np.array([[one != other for other in channel.masses] for one in channel.masses])
    sizes = 1 - np.where(np.isfinite(logs), logs, 0.0).min()
    return np.where(differ, np.maximum(ratios, 0.0) + (ratios + sizes) * _ROUNDED, 0.0)


def log_masses(channel: Channel) -> Floats:
    """Return the log of every probability, shape (inputs, outputs); -inf for 0."""
    return np.array([[log_share(m, channel.total) if m else -math.inf for m in row] for row in channel.masses])


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


def success(channel: Channel | None, p: Population, q: Population) -> float:
    """Return how often the best guess of the population is right, both being as likely: (1 + TV) / 2.

    Without a channel, of whoever sees the value itself.
    """
    one, other = (p, q) if channel is None else (channel.lift(p), channel.lift(q))
    return (1 + excess(one, other, Fraction(0))) / 2


def expected_loss(channel: Channel, prior: Population, loss: Callable[[Hashable, Hashable], float]) -> float:
    """Return the mean loss(x, y) when the value follows `prior` (Kawamoto19 Definition 11 with no dummies)."""
    total = 0.0
    for x, mass in prior.items():
        if mass:
            total += float(mass) * math.fsum(float(p) * loss(x, y) for y, p in channel.row(x).items())
    return total
