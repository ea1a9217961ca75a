"""Exact draws of one candidate of several by permute-and-flip (McKenna and Sheldon 2020, Algorithm 1).

Candidate j falls short of the best one by d_j >= 0, and its coin shows heads with probability exp(-rate d_j). One of
the heads is drawn uniformly: that is the first head in a random order of the candidates, where McKenna and Sheldon
stop. The best candidate always shows heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from takifugu.core.errors import InputError
from takifugu.numbers.noise.entropy import Entropy
from takifugu.numbers.noise.integers import bernoulli_exp, positive, uniform_below


def permute_and_flip(deficits: Sequence[Fraction | int], rate: Fraction, entropy: Entropy) -> int:
    """Choose a uniform candidate of those with heads.

    The coin of each has probability exp(-rate * deficit). Raises InputError unless deficits are rationals from 0 with a
    0 among them, and the rate is above 0.

    >>> from takifugu.numbers.noise import SystemEntropy
    >>> permute_and_flip([10**6, 0, 10**6], Fraction(1), SystemEntropy())
    1
    """
    exact = positive("the rate", rate)
    if not deficits or min(deficits) != 0:
        raise InputError("no candidate is the best one", rule="the least deficit is 0").at("deficits")
    members: dict[Fraction, list[int]] = {}
    for candidate, deficit in enumerate(deficits):
        members.setdefault(Fraction(deficit), []).append(candidate)
    heads: list[int] = []
    for deficit, places in members.items():
        coins = bernoulli_exp(*(deficit * exact).as_integer_ratio(), len(places), entropy)
        heads += [candidate for candidate, coin in zip(places, coins.tolist(), strict=True) if coin]
    return heads[int(uniform_below(len(heads), 1, entropy)[0])]
