"""What a channel gives away: about a value (local, metric) and about the population that it was drawn from.

A channel A randomises one value. Lifted to a population lambda it is A#(lambda)[y] = sum_x lambda(x) A(x)[y]
(Kawamoto19 §2). All losses are exact up to floating point, and rounded up.

* local: the largest log A(x)[y] / A(x')[y] over all pairs of inputs (Definition 1);
* metric: the largest such log-ratio per unit of distance (Definition 4);
* distribution: the largest log A#(p)[y] / A#(q)[y], both ways (Definition 8), and the delta at a given epsilon.

What randomising a value costs whoever uses it: mean and worst distance to the closest value that was sent.

Of a tuple the closest element counts (Kawamoto19 Definition 11). With s drawn from the inner channel and k uniform
dummies r, all independent, P(every element is at least t away from x) = P(d(x, s) >= t) P(d(x, r) >= t)^k, and the mean
of a number that takes the levels 0 <= t_1 < t_2 < ... is the sum of (t_i - t_{i-1}) times that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.numbers.distributions.channel import Channel, largest_log_ratio
from takifugu.numbers.distributions.divergence import divergence
from takifugu.numbers.distributions.exact_ratio import log_share
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.numbers.transport.bottleneck import Metric, Population, checked_distances, least_largest

Floats = npt.NDArray[np.float64]

#: What two logs of masses and their difference may be off by, per unit of their size.
_ROUNDED = 2.0**-48


def local_loss(channel: Channel) -> float:
    """Return the least epsilon of local differential privacy; it may be infinite."""
    return channel.measure()


def largest_log_ratios(channel: Channel) -> Floats:
    """Return the largest log-ratio for each two inputs, both ways, rounded up."""
    ratios = _log_ratios(channel)
    return np.maximum(ratios, ratios.T)


def metric_loss(channel: Channel, metric: Metric) -> float:
    """Return the least epsilon with A(x)[y] <= e^(epsilon d(x, x')) A(x')[y] for all inputs, rounded up."""
    inputs = list(channel.inputs)
    return loss_per_distance(_log_ratios(channel), checked_distances(inputs, inputs, metric).astype(float))


def loss_per_distance(losses: Floats, distances: Floats) -> float:
    """Return the largest loss per unit of distance, rounded up."""
    is_apart = distances > 0
    if losses[~is_apart].any():
        return math.inf  # two are told apart at distance 0
    # A distance, the quotient and this product are each rounded by 2^-53.
    return float((losses[is_apart] / distances[is_apart]).max(initial=0.0)) * (1 + 2.0**-50)


def _log_ratios(channel: Channel) -> Floats:
    """Return max over y of log A(x)[y] / A(x')[y], rounded up."""
    logs = log_masses(channel)
    ratios = np.empty((len(logs), len(logs)))
    for row, log in enumerate(logs):
        with np.errstate(invalid="ignore"):
            ratios[row] = np.where(np.isneginf(log), -np.inf, log - logs).max(axis=1)
    kinds = {value: place for place, value in enumerate(channel.masses)}
    kind_of_rows = np.array(list(map(kinds.__getitem__, channel.masses)))
    differ = kind_of_rows[:, None] != kind_of_rows
    sizes = 1 - np.where(np.isfinite(logs), logs, 0.0).min()
    return np.where(differ, np.maximum(ratios, 0.0) + (ratios + sizes) * _ROUNDED, 0.0)


def log_masses(channel: Channel) -> Floats:
    """Return the log of every probability, shape (inputs, outputs); -inf for 0."""
    logs = np.full((len(channel.inputs), len(channel.outputs)), -math.inf)
    for row, masses in enumerate(channel.masses):
        for column, mass in enumerate(masses):
            if mass:
                logs[row, column] = log_share(mass, channel.total)
    return logs


def distribution_loss(channel: Channel, p: Population, q: Population) -> float:
    """Return the least epsilon of two populations, both ways (Kawamoto19 Definition 8)."""
    sent_of_p, sent_of_q = channel.lift(p), channel.lift(q)
    return max(largest_log_ratio(sent_of_p, sent_of_q), largest_log_ratio(sent_of_q, sent_of_p))


def distribution_delta(channel: Channel, p: Population, q: Population, epsilon: Number) -> float:
    """Return the least delta of two populations at epsilon, both ways."""
    budget = as_fraction(epsilon, "epsilon", "epsilon")
    sent_of_p, sent_of_q = channel.lift(p), channel.lift(q)
    return max(excess(sent_of_p, sent_of_q, budget), excess(sent_of_q, sent_of_p, budget))


def excess(p: Population, q: Population, epsilon: Fraction) -> float:
    """Return sum over y of (p(y) - e^epsilon q(y))_+, exactly rounded up."""
    excess = divergence(((Fraction(mass), Fraction(q.get(y, 0))) for y, mass in p.items()), epsilon).high
    return min(excess, 1.0)  # float masses may sum to more


def success(channel: Channel | None, p: Population, q: Population) -> float:
    """Return the chance (1 + TV)/2 to guess between equally likely populations."""
    # Without a channel the chance is that of whoever sees the value itself.
    sent_of_p, sent_of_q = (p, q) if channel is None else (channel.lift(p), channel.lift(q))
    return (1 + excess(sent_of_p, sent_of_q, Fraction(0))) / 2


def expected_loss(channel: Channel, prior: Population, loss: Callable[[Hashable, Hashable], float]) -> float:
    """Return the mean loss(x, y) under `prior` (Kawamoto19 Definition 11, no dummies)."""
    total = 0.0
    for x, mass in prior.items():
        if mass:
            total += float(mass) * math.fsum(float(p) * loss(x, y) for y, p in channel.row(x).items())
    return total


def lifted_loss(laws: Sequence[Sequence[Fraction]], losses: Floats) -> float:
    """Return the least t with a coupling of losses <= t for every two populations; it may be infinite."""
    # `laws` are exact masses over the same values, `losses` has shape (values, values).
    places: list[Population] = [dict(enumerate(law)) for law in laws]
    largest = 0.0
    for left, right in combinations(places, 2):
        largest = max(largest, least_largest(left, right, lambda x, y: losses[x, y])[0])
    return largest


def tuple_loss(channel: Channel, prior: Population, distances: Floats, dummies: int) -> float:
    """Return the mean distance to the closest value of a tuple, with so many uniform dummies."""
    _check(channel, distances)
    uniform = np.full(len(channel.outputs), 1 / len(channel.outputs))
    total = 0.0
    for row, (x, masses) in enumerate(zip(channel.inputs, channel.masses, strict=True)):
        weight = float(prior.get(x, 0))
        if weight:
            value_law = np.array([mass / channel.total for mass in masses])
            levels, place = np.unique(distances[row], return_inverse=True)
            counts = [np.bincount(place, weights=w, minlength=len(levels)) for w in (value_law, uniform)]
            at_least = [np.cumsum(count[::-1])[::-1] for count in counts]
            survival = np.clip(at_least[0], 0, 1) * np.clip(at_least[1], 0, 1) ** dummies
            total += weight * float(np.diff(levels, prepend=0.0) @ survival)
    return total


def worst_tuple_loss(channel: Channel, distances: Floats) -> float:
    """Return the largest distance from a value to the closest one sent."""
    _check(channel, distances)
    # The value sent may be as far as its row allows; uniform dummies may equal it, and change nothing.
    return float(np.where(np.array(channel.masses, dtype=object) > 0, distances, 0.0).max(axis=1).max())


def _check(channel: Channel, distances: Floats) -> None:
    shape = (len(channel.inputs), len(channel.outputs))
    if distances.shape != shape or not np.isfinite(distances).all() or (distances < 0).any():
        raise InputError(
            f"the distances have shape {distances.shape}", rule=f"they are {shape} finite numbers, not negative"
        ).at("distances")
