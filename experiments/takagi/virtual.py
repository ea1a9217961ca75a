"""What no mechanism can beat: the largest probability of a true yes, beside the paper's virtual competitor.

A mechanism says yes with probability x_0 <= alpha where a question is false, and x_k where k records must change until
it is. One changed record moves x to at most

* min(1, e^eps x + delta, 1 - e^-eps (1 - delta - x)) under (eps, delta)-differential privacy, the third because "not
  yes" is an answer, too;
* min(1, 1 - e^-eps (1 - delta - x)) where only changes towards "false" are hidden from their result (a policy).

Iterated k times, both are reached, by a mechanism that answers this one question (proof: docs/theory/asymmetric.md).
Takagi21 Section VI compares with the first without its third term; it flatters the competitor: .815 against .742 at
alpha = .3, eps = 1, k = 1. Results are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.numbers.noise import Entropy, uniform_below
from takifugu.numbers.rationals import Number, as_delta, as_epsilon, as_fraction

#: Relative margin for the roundings of one step.
_UP = 1 + 2.0**-48
_COIN = 2**53


def virtual_beta(alpha: Number, epsilon: Number, delta: Number, steps: int) -> float:
    """Return the paper's competitor min(1, alpha e^(k eps) + delta sum_{i<=k} e^((i-1) eps)) (Takagi21 (8), (9)).

    Raises InputError for alpha or delta outside [0, 1), epsilon not above 0, or k below 0.

    >>> round(virtual_beta(0.3, 1, 0, 1), 3), round(ceiling(0.3, 1, 0, 1), 3)
    (0.815, 0.742)
    """
    return _iterate(_more_yes, alpha, epsilon, delta, steps)


def ceiling(alpha: Number, epsilon: Number, delta: Number, steps: int) -> float:
    """Return the largest beta of an (epsilon, delta)-differentially private mechanism k records away from "false".

    Raises InputError as `virtual_beta`.

    >>> ceiling(0, 1, 0, 7)
    0.0
    """
    return _iterate(_least, alpha, epsilon, delta, steps)


def one_way_ceiling(alpha: Number, epsilon: Number, delta: Number, steps: int) -> float:
    """Return the largest beta under a policy; with delta = 0 that is 1 - (1 - alpha) e^(-k eps) (Takagi21 IV.7).

    Geometric noise with "z < t + 1" reaches it at alpha = 0. Raises InputError as `virtual_beta`.

    >>> round(one_way_ceiling(0, 1, 0, 1), 6)
    0.632121
    """
    return _iterate(_less_no, alpha, epsilon, delta, steps)


def coins(betas: npt.ArrayLike, entropy: Entropy) -> npt.NDArray[np.bool_]:
    """Draw a yes with its probability at every place: the competitor as a picture. It reads true counts: no release.

    Probabilities are rounded down to multiples of 2^-53. Raises InputError for one outside [0, 1].
    """
    chances = np.asarray(betas, dtype=np.float64)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise InputError("some beta is not a probability", rule="it must be between 0 and 1").at("betas")
    drawn = uniform_below(_COIN, chances.size, entropy).reshape(chances.shape)
    return np.asarray(drawn < np.floor(chances * _COIN).astype(np.int64), dtype=bool)


def _more_yes(x: float, rate: float, delta: float) -> float:
    """Return e^eps x + delta."""
    return (x * math.exp(min(rate, 700.0)) if x else 0.0) + delta


def _less_no(x: float, rate: float, delta: float) -> float:
    """Return 1 - e^-eps (1 - delta - x), as a sum of positive terms."""
    return -math.expm1(-rate) + math.exp(-rate) * (delta + x)


def _least(x: float, rate: float, delta: float) -> float:
    return min(_more_yes(x, rate, delta), _less_no(x, rate, delta))


def _iterate(
    step: Callable[[float, float, float], float], alpha: Number, epsilon: Number, delta: Number, steps: int
) -> float:
    reached = as_fraction(alpha, "alpha", "alpha")
    if not 0 <= reached < 1:
        raise InputError(f"alpha is {alpha!r}", rule="it must be at least 0 and below 1").at("alpha")
    if steps < 0:
        raise InputError(f"the number of steps is {steps}", rule="it must be at least 0").at("steps")
    x, rate, lost = float(reached), float(as_epsilon(epsilon)), float(as_delta(delta))
    for _ in range(steps):
        moved = min(1.0, step(x, rate, lost) * _UP)
        if moved in (0.0, 1.0):
            return moved
        x = moved
    return x
