"""How often the better guess at a step is right, on average over all tables: one sum of a chain of two states.

With prior p of the second state the better guess is right with probability sum over outputs y of
max(p P(y | 1), (1 - p) P(y | 0)) = (1 + sum over y of |d(y)|)/2, d(y) = p P(y | 1) - (1 - p) P(y | 0). Noise of mass
(1 - q)/(1 + q) q^|d| is a geometric filter to either side of the sums, and beyond their ends d falls by q a step.
Nothing of the calibration is used.
"""

from __future__ import annotations

import math

import numpy as np

from takifugu.analysis.randomisers import Randomiser
from takifugu.audit.partial_sums import Axis, Chained, Sums
from takifugu.core.errors import Unsupported
from takifugu.model.queries import Additive

#: Most steps of the chain, and most sums.
LONGEST, MOST_SUMS = 2000, 4000


def right_guesses(chain: Chained, answer: Additive, step: int, noise: Randomiser, prior: float) -> float:
    """Return how often the better guess at the value of a step is right, with Laplace noise of this scale."""
    # `prior` is how probable the second state was before.
    if chain.states != 2 or chain.count_of_starts != 1 or answer.cells != 1 or chain.length > LONGEST:
        raise Unsupported("right guesses are counted of one sum of a short chain of two states")
    axis = Axis.of(answer, 0, noise)
    if axis.unit != 1 or axis.base.denominator != 1 or axis.width > MOST_SUMS:
        raise Unsupported("right guesses are counted of sums in whole steps of the noise's grid")
    (joint,) = next(Sums(chain, (axis,)).joint({step: np.array([[0], [1]])}))
    zero, one = joint / joint.sum(axis=1, keepdims=True)
    return _better((prior * one - (1 - prior) * zero).tolist(), math.exp(-float(noise.grid / noise.scale)))


def _better(difference: list[float], q: float) -> float:
    """Return (1 + sum of |d|)/2 of a signed law after noise of ratio q a step."""
    above = [0.0]  # what lies above each place, as seen from it
    for mass in reversed(difference):
        above.append(mass + q * above[-1])
    total, below = 0.0, 0.0
    for mass, right in zip(difference, above[-2::-1], strict=True):
        below = below * q + mass
        total += abs(below + q * right)
    total += (abs(below) + abs(above[-1])) * q / (1 - q)  # outputs beyond both ends
    return 0.5 + 0.5 * total * (1 - q) / (1 + q)
