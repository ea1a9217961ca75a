"""Channels that randomise one value: randomised response, the exponential mechanism, and noise on a planar grid.

Each is a finite channel with exact masses, and what it gives away is measured (`local.measuring`), not quoted:
rounding, the border of the grid and a cut radius are all in the measured number. Planar noise here is *renormalised*:
the ideal mechanism on its places with rows divided by their sums. That can cost up to twice epsilon near the border,
because sums of rows differ by up to e^(epsilon d); noise that is *remapped* into the box does not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.mechanisms.local import weights
from takifugu.mechanisms.local.choosing import Mechanism
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.senders import Sender
from takifugu.numbers.distributions.channel import Channel, from_weights
from takifugu.numbers.rationals import Number, as_epsilon, as_fraction
from takifugu.numbers.transport.bottleneck import Metric

Floats = npt.NDArray[np.float64]
Place = tuple[float, float]


def randomised_response(values: Sequence[Hashable], epsilon: Number) -> Channel:
    """Return k-ary randomised response: the value itself with e^epsilon times the probability of any other.

    Local differential privacy epsilon, exactly up to 2**-90 per mass (Kairouz, Oh and Viswanath 2014).

    >>> from takifugu.mechanisms.local.measuring import local_loss
    >>> round(local_loss(randomised_response(["no", "yes", "maybe"], 1)), 12)
    1.0
    """
    listed, budget = _distinct(values), float(as_epsilon(epsilon))
    return from_weights(listed, listed, weights.same_or_other(len(listed), budget))


def exponential(
    values: Sequence[Hashable], outputs: Sequence[Hashable], metric: Metric, epsilon: Number
) -> Channel:
    """Return the exponential mechanism: each output with probability proportional to e^(-epsilon d(x, y)/2).

    It has metric privacy epsilon (numerators and sums of rows move by half of epsilon d each), and local privacy
    epsilon times the largest distance between two values at most.
    """
    listed, rate = _distinct(values), float(as_epsilon(epsilon)) / 2
    return from_weights(listed, list(outputs), weights.decaying(_table(listed, outputs, metric), rate))


def planar_laplace(places: Sequence[Place], epsilon: Number, scale: float = 1.0) -> Channel:
    """Return planar Laplace noise on a grid of places: probability proportional to e^(-epsilon d(x, y)).

    d is Euclidean distance divided by `scale`. Metric privacy epsilon on the unbounded plane (Andrés et al. 2013); with
    rows divided by their sums at most twice that: measure it.
    """
    rate = float(as_epsilon(epsilon)) / scale
    return from_weights(_distinct(places), list(places), weights.decaying(euclidean(places, places), rate))


def planar_normal(places: Sequence[Place], sigma: Number) -> Channel:
    """Return planar normal noise on a grid of places: probability proportional to e^(-d(x, y)^2 / 2 sigma^2).

    No pure metric privacy grows linearly with distance here: it is an (epsilon, delta) mechanism. Raises InputError
    unless sigma is above 0.
    """
    width = float(as_fraction(sigma, "sigma", "sigma"))
    if width <= 0:
        raise InputError(f"sigma is {sigma!r}", rule="it must be above 0").at("sigma")
    return from_weights(_distinct(places), list(places), normal(euclidean(places, places), 1 / width))


def restricted_laplace(places: Sequence[Place], epsilon: Number, radius: Number, scale: float = 1.0) -> Channel:
    """Return Laplace noise that never moves a place by more than `radius` (Kawamoto19 §6.4).

    The worst loss of quality is `radius`. Alone it has no finite local privacy: it is meant for use inside tupling.
    """
    rate, reach = float(as_epsilon(epsilon)) / scale, float(as_fraction(radius, "the radius", "radius"))
    if reach < 0:
        raise InputError(f"the radius is {radius!r}", rule="it must not be negative").at("radius")
    return from_weights(
        _distinct(places), list(places), weights.restricted(euclidean(places, places), rate, reach)
    )


def euclidean(one: Sequence[Place], other: Sequence[Place]) -> Floats:
    """Return Euclidean distances, shape (len(one), len(other)); InputError for coordinates that are not finite."""
    left, right = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    if left.ndim != 2 or left.shape[1:] != (2,) or right.shape[1:] != (2,):
        raise InputError("a place is two numbers", fix="write for example (0.0, 1.5)").at("places")
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise InputError("a place has a coordinate that is not finite").at("places")
    distances: Floats = np.hypot(left[:, None, 0] - right[None, :, 0], left[:, None, 1] - right[None, :, 1])
    return distances


def worst_loss(channel: Channel, loss: Callable[[Any, Any], float]) -> float:
    """Return the largest loss(x, y) of any value and any output that it may give."""
    return max(loss(x, y) for x in channel.inputs for y in channel.row(x))


def remapped_laplace(places: Sequence[Place], epsilon: Number) -> Channel:
    """Return planar Laplace noise of density proportional to e^(-epsilon d), rounded to cells and remapped.

    Metric privacy epsilon per unit of Euclidean distance, for the middles of cells. Raises InputError unless the
    places are the middles of equal cells that fill a box.

    >>> import math
    >>> from takifugu.mechanisms.local.measuring import metric_loss
    >>> grid = [(float(i), float(j)) for i in range(3) for j in range(3)]
    >>> metric_loss(remapped_laplace(grid, 1), math.dist) <= 1 + 1e-9
    True
    """
    rate = float(as_epsilon(epsilon))
    return from_weights(list(places), list(places), weights.laplace_masses(_needed(places), rate))


def remapped_normal(places: Sequence[Place], sigma: Number) -> Channel:
    """Return planar normal noise of deviation sigma along each axis, rounded to cells and remapped into the box.

    Raises InputError unless sigma is above 0 and the places are the middles of equal cells that fill a box.
    """
    width = float(as_fraction(sigma, "sigma", "sigma"))
    if width <= 0:
        raise InputError(f"sigma is {sigma!r}", rule="it must be above 0").at("sigma")
    return from_weights(list(places), list(places), normal_masses(_needed(places), 1 / width))


def normal(distances: Floats, rate: float) -> Floats:
    """Return e^(-(rate d)^2 / 2): planar normal noise of deviation 1/rate."""
    return np.exp(np.maximum(-((rate * distances) ** 2) / 2, weights.FARTHEST))


def normal_masses(cells: weights.Cells, rate: float) -> Floats:
    """Return the masses of remapped planar normal noise of deviation 1/rate."""
    return weights.mixed_masses(cells, np.array([1 / rate]), np.array([1.0]))


def planar_normals(populations: Populations) -> dict[str, Mechanism]:
    """Return planar normal noise by name, renormalised and remapped; its strength is 1/sigma."""
    values, distances, cells = populations.values, populations.distances, weights.cells_of(populations.places)

    def of(rows: Callable[[float], Floats]) -> Mechanism:
        return Mechanism(lambda strength: Sender(from_weights(values, values, rows(strength))), rows)

    by_name = {"planar-normal": of(lambda strength: normal(distances, strength))}
    if cells is not None:
        by_name["planar-normal-remapped"] = of(lambda strength: normal_masses(cells, strength))
    return by_name


def _needed(places: Sequence[Hashable]) -> weights.Cells:
    cells = weights.cells_of(places)
    if cells is None or len(places) < 2:
        raise InputError(
            "the places do not fill a box", rule="noise is remapped between the middles of equal cells of a box",
            fix="declare all cells of the box, or take noise that is renormalised",
        ).at("places")  # fmt: skip
    return cells


def _table(values: Sequence[Any], outputs: Sequence[Any], metric: Metric) -> Floats:
    table = np.array([[float(metric(x, y)) for y in outputs] for x in values])
    if not np.isfinite(table).all() or (table < 0).any():
        raise InputError("the metric is negative, or not finite", fix="give a distance").at("metric")
    return table


def _distinct(values: Sequence[Hashable]) -> list[Any]:
    listed = list(values)
    if len(listed) < 2 or len(set(listed)) < len(listed):
        raise InputError(
            f"there are {len(listed)} values, {len(set(listed))} of them different", rule="give two or more, each once"
        ).at("values")
    return listed
