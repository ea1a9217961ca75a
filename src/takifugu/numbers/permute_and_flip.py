"""The law of permute-and-flip, and how far its choice falls short of the best candidate at worst.

With coins of heads probabilities p_1 ... p_K, of which the largest is 1, candidate i is chosen with probability
p_i E[1/(1 + number of other heads)] = p_i * integral over x in (0, 1) of prod over j != i of (1 - x p_j): a polynomial
of degree K - 1, which Gauss and Legendre's rule with K/2 places integrates exactly, from positive terms only.

A choice that falls short by s or more is likeliest where all candidates but the best one do so by s exactly: its
probability rises with each p_j of those that do, and falls with all others. There the best candidate is chosen with
probability (1 - (1 - p)^K)/(Kp), p = exp(-rate s). The expected shortfall is largest for candidates of this form, too
(McKenna and Sheldon 2020, Proposition 4).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from takifugu.core.arrays import FloatArray


def chances(heads: FloatArray) -> FloatArray:
    """Return each candidate's probability to be chosen, from those of heads."""
    places, weights = _rule((len(heads) + 1) // 2)
    logs = np.log1p(-np.outer(heads, places))
    of_others = np.exp(logs.sum(axis=0) - logs)
    chances: FloatArray = heads * (of_others @ weights)
    return chances


@cache
def _rule(count: int) -> tuple[FloatArray, FloatArray]:
    """Return places and weights in (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def missed(exponent: float, candidates: int) -> float:
    """Return the largest probability to fall short by s, `exponent` being rate s."""
    if candidates == 1:
        return 0.0
    heads = math.exp(-exponent)
    if heads == 0:
        return 0.0
    if candidates * heads < 1e-5:  # 1 - (1 - (1 - p)^K)/(Kp) = (K - 1)p/2 - ...
        return (candidates - 1) * heads / 2
    if heads < 1:
        return 1 + math.expm1(candidates * math.log1p(-heads)) / (candidates * heads)
    return 1 - 1 / candidates


@cache
def worst_mean(candidates: int) -> float:
    """Return the largest expected shortfall, in units of 1/rate, at most 1e-11 of it too large."""
    last = math.log(candidates) + 10  # from there on the product falls, and is small
    low, high = 0.0, last
    for _ in range(2):
        exponents = np.linspace(low, high, 20_001)
        means = np.array([x * missed(x, candidates) for x in exponents.tolist()])
        step = (high - low) / 20_000
        # The derivatives of P(missed by x) lie in (-1, 0) and (-2, 1): its product with x bends by 2 + 2x at most.
        between = (1 + last) * step**2 / 4
        near = exponents[means >= means.max() - between]
        low, high = max(near[0] - step, 0.0), near[-1] + step
    return float(means.max() + between) * (1 + 1e-13)
