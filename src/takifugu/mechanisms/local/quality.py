"""What randomising a value costs whoever uses it: mean and worst distance to the closest value that was sent.

Of a tuple the closest element counts (Kawamoto19 Definition 11). With s drawn from the inner channel and k dummies from
nu, all independent, P(every element is at least t away from x) = P(d(x, s) >= t) P(d(x, r) >= t)^k, and the mean of a
number that takes the levels 0 <= t_1 < t_2 < ... is the sum of (t_i - t_{i-1}) times that.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.transport.couplings import Population

Floats = npt.NDArray[np.float64]


def tuple_loss(
    channel: Channel, prior: Population, distances: Floats, dummies: int, law: Floats | None = None
) -> float:
    """Return the mean distance to the closest value of a tuple.

    `distances` has shape (inputs, outputs); `law` are the dummies' masses over the outputs (None: uniform).

    >>> from fractions import Fraction
    >>> keep = Channel.of([0, 1], [0, 1], [[0, 1], [1, 0]])
    >>> float(tuple_loss(keep, {0: 1}, np.array([[0.0, 1.0], [1.0, 0.0]]), dummies=2))
    0.25
    """
    nu = np.full(len(channel.outputs), 1 / len(channel.outputs)) if law is None else np.asarray(law, dtype=float)
    _check(channel, distances, nu)
    total = 0.0
    for row, (x, masses) in enumerate(zip(channel.inputs, channel.masses, strict=True)):
        weight = float(prior.get(x, 0))
        if weight:
            value_law = np.array([mass / channel.total for mass in masses])
            total += weight * _closest(distances[row], value_law, nu, dummies)
    return total


def worst_tuple_loss(channel: Channel, distances: Floats, dummies: int = 0, law: Floats | None = None) -> float:
    """Return the largest distance from a value to the closest one sent.

    The value sent may be as far as its row allows, and all dummies as far as theirs does, whichever is nearer: uniform
    dummies (`law` None) may equal the value sent, and change nothing.

    >>> keep = Channel.of([0, 1], [0, 1], [[0, 1], [1, 0]])
    >>> apart = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> worst_tuple_loss(keep, apart, 3), worst_tuple_loss(keep, apart, 3, np.array([1.0, 0.0]))
    (1.0, 1.0)
    """
    nu = None if law is None else np.asarray(law, dtype=float)
    _check(channel, distances, nu)
    is_possible = np.array(channel.masses, dtype=object) > 0
    farthest = np.where(is_possible, distances, 0.0).max(axis=1)
    if nu is not None and dummies:
        farthest = np.minimum(farthest, np.where(nu > 0, distances, 0.0).max(axis=1))
    return float(farthest.max())


def _closest(distance: Floats, law: Floats, nu: Floats, dummies: int) -> float:
    levels, place = np.unique(distance, return_inverse=True)
    at_least = [np.cumsum(np.bincount(place, weights=w, minlength=len(levels))[::-1])[::-1] for w in (law, nu)]
    survival = np.clip(at_least[0], 0, 1) * np.clip(at_least[1], 0, 1) ** dummies
    return float(np.diff(levels, prepend=0.0) @ survival)


def _check(channel: Channel, distances: Floats, law: Floats | None) -> None:
    shape = (len(channel.inputs), len(channel.outputs))
    if distances.shape != shape or not np.isfinite(distances).all() or (distances < 0).any():
        raise InputError(
            f"the distances have shape {distances.shape}", rule=f"they are {shape} finite numbers, not negative"
        ).at("distances")
    if law is not None and (law.shape != shape[1:] or (law < 0).any() or abs(float(law.sum()) - 1) > 1e-9):
        raise InputError("the dummies' law is no distribution of the outputs").at("law")
