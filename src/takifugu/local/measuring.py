"""What a channel gives away: about a value (local, metric) and about the population that it was drawn from.

A channel A randomises one value. Lifted to a population lambda it is A#(lambda)[y] = sum_x lambda(x) A(x)[y]
(Kawamoto19 §2). All losses are exact up to floating point, and rounded up.

* local: the largest log A(x)[y] / A(x')[y] over all pairs of inputs;
* metric: the largest such log-ratio per unit of distance (Kawamoto19 Definition 4 with delta = 0);
* distribution: the largest log A#(p)[y] / A#(q)[y], both ways (Kawamoto19 Definition 8), and its delta;
* extended: that loss per unit of a metric between populations (Kawamoto19 Definition 9).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.errors import InputError
from takifugu.laws.atoms import Atom
from takifugu.laws.bottleneck import Metric, bottleneck, checked_distances, max_flow
from takifugu.laws.channel import Channel, largest_log_ratio
from takifugu.laws.rationals import Number, as_fraction

Population = Mapping[Hashable, Atom]
Floats = npt.NDArray[np.float64]

#: What two logs of masses and their difference may be off by, per unit of their size.
_ROUNDED = 2.0**-48


def local_loss(channel: Channel) -> float:
    """Return the least epsilon of local differential privacy; infinite where an output rules an input out."""
    return channel.measure()


def metric_loss(channel: Channel, metric: Metric) -> float:
    """Return the least epsilon with A(x)[y] <= e^(epsilon d(x, x')) A(x')[y] for all inputs and outputs, rounded up.

    Raises InputError when `metric` is not one on the inputs (`laws.bottleneck.checked_distances`).

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
    """Return sum over y of (p(y) - e^epsilon q(y))_+, rounded up."""
    factor = math.exp(epsilon) * (1 - 2.0**-50) if epsilon < 700 else math.inf
    parts = []
    for y, mass in p.items():
        taken = float(q.get(y, 0))
        parts.append(max(float(mass) * (1 + 2.0**-52) - (factor * taken * (1 - 2.0**-51) if taken else 0.0), 0.0))
    return math.fsum(parts) * (1 + 2.0**-50)


def class_loss(channel: Channel, populations: Sequence[Population]) -> float:
    """Return the least epsilon of distribution privacy of every two of several populations."""
    pairs = ((p, q) for number, p in enumerate(populations) for q in populations[:number])
    return max((distribution_loss(channel, p, q) for p, q in pairs), default=0.0)


@dataclass(frozen=True)
class Distances:
    """How far two populations are apart: the least largest move, the least mean move, and the diameter of both.

    Only W-infinity enters a bound: (.9, .1 at distance 10) against a point has mean move 1 and loss 7.7.
    """

    w_infinity: float
    w_1: float
    diameter: float


def distances(p: Population, q: Population, metric: Metric) -> Distances:
    """Return the distances of two populations under a metric on their values."""
    left, right = _support(p), _support(q)
    table = checked_distances(left, right, metric).astype(float)
    plan = bottleneck(left, [p[x] for x in left], right, [q[y] for y in right], metric)
    return Distances(float(plan.distance), _mean_move(p, q, left, right, table), float(table.max()))


def bound_by_moves(loss_per_distance: float, p: Population, q: Population, metric: Metric) -> float:
    """Return epsilon W-infinity: what metric privacy promises about a pair of populations (Kawamoto19 Theorem 2).

    Move p into q along a plan with no move above W: each part of it is hidden up to epsilon W, hence so is the whole,
    with the same delta and without the printed factor |Phi| (errata E9b).
    """
    found = distances(p, q, metric).w_infinity
    return 0.0 if not found else loss_per_distance * found


def is_lifted(p: Population, q: Population, related: Callable[[Any, Any], bool]) -> bool:
    """Decide whether (p, q) is in the lifting of a relation: some coupling has its support in it (Definition 7).

    A maximum flow in integer masses, so exact for exact masses; floats count as the binary fractions that they are.

    >>> half = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    >>> is_lifted(half, {1: Fraction(1, 2), 2: Fraction(1, 2)}, lambda x, y: y == x + 1)
    True
    """
    left, right = _support(p), _support(q)
    one, other = _exact(p, left), _exact(q, right)
    total = math.lcm(*(mass.denominator for mass in (*one, *other)))
    supply, demand = ([int(mass * total) for mass in masses] for masses in (one, other))
    allowed = np.array([[bool(related(x, y)) for y in right] for x in left])
    return sum(map(sum, max_flow(supply, demand, allowed))) == total


def is_lifted_relation(pairs: Iterable[tuple[Population, Population]], related: Callable[[Any, Any], bool]) -> bool:
    """Decide whether every pair is in the lifting of a relation: then, and only then, two channels that keep epsilon_0

    and epsilon_1 for the relation keep their sum on one input (errata E9a).
    """
    return all(is_lifted(p, q, related) for p, q in pairs)


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


def _support(p: Population) -> list[Any]:
    return [x for x, mass in p.items() if mass > 0]


def _exact(p: Population, points: Sequence[Any]) -> list[Fraction]:
    masses = [Fraction(p[x]) for x in points]
    return [mass / sum(masses) for mass in masses]


def _mean_move(p: Population, q: Population, left: list[Any], right: list[Any], table: Floats) -> float:
    """Return W-1 by a linear program: it is reported, and enters no bound."""
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron

    rows, columns = len(left), len(right)
    sums = kron(eye_array(rows), np.ones((1, columns)), format="csr")
    totals = kron(np.ones((1, rows)), eye_array(columns), format="csr")
    from scipy.sparse import vstack

    masses = np.array([float(m) for m in (*_exact(p, left), *_exact(q, right))])
    found = linprog(table.ravel(), A_eq=vstack([sums, totals]), b_eq=masses, bounds=(0, None), method="highs")
    return float(found.fun)
