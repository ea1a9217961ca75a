"""How much each output weighs beside the others, for every mechanism: rows in proportion to these are its channel.

`local.choosing` looks for a strength. All are functions of the distances d (inputs x outputs) and of one number that
makes the mechanism noisier as it falls.
"""

from __future__ import annotations

import math

import numpy as np

from takifugu.numbers.atoms import Floats

#: Logarithms of weights below this are raised to it: exact masses keep 2**-90 for any positive weight.
FARTHEST = -600.0


def decaying(distances: Floats, rate: float) -> Floats:
    """Return e^(-rate d): planar Laplace noise, and with half of the rate the exponential mechanism.

    >>> decaying(np.array([[0.0, 1.0]]), math.log(2)).tolist()
    [[1.0, 0.5]]
    """
    return np.exp(np.maximum(-rate * distances, FARTHEST))


def same_or_other(count: int, epsilon: float) -> Floats:
    """Return 1 for the value itself and e^-epsilon for any other: randomised response."""
    return decaying(1.0 - np.eye(count), epsilon)


def normal(distances: Floats, rate: float) -> Floats:
    """Return e^(-(rate d)^2 / 2): planar normal noise of deviation 1/rate."""
    return np.exp(np.maximum(-((rate * distances) ** 2) / 2, FARTHEST))


def restricted(distances: Floats, rate: float, radius: float) -> Floats:
    """Return e^(-rate d) within `radius`, and 0 beyond (Kawamoto19 §6.4)."""
    return np.where(distances <= radius, decaying(distances, rate), 0.0)


def flipped_bits(epsilon: float) -> float:
    """Return f of RAPPOR's permanent noise with local privacy epsilon = 2 log((1 - f/2) / (f/2)).

    >>> round(flipped_bits(2 * math.log(3)), 12)
    0.5
    """
    return 2 / (1 + math.exp(min(epsilon, -FARTHEST) / 2))
