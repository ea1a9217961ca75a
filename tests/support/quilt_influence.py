"""The influence of the quilts of one chain, made ready for every quilt: for tests that compare it with joint laws."""

import math
from itertools import permutations
from typing import Any

import numpy as np

from takifugu.influence.quilts.chain.influence import ChainInfluence
from takifugu.numbers.outward_rounding import NEVER


def ready(chain: Any) -> ChainInfluence:
    """Return the influence of a chain with all its quilts tabulated."""
    influence = ChainInfluence(chain, list(permutations(range(len(chain.states)), 2)))
    influence.prepare(chain.length)
    influence.extend(max(1, chain.length - 1))
    return influence


def influences(influence: ChainInfluence, entry: int, left: int | None, right: int | None) -> tuple[float, float]:
    """Return e of a quilt as it is searched, and as the quilt is tried on many entries."""
    alive = influence.alive(entry)
    total = np.zeros(alive.sum())
    if left is not None:
        total = total + influence.left(entry, left)[-1][alive]
    if right is not None:
        total = total + influence.right(right, entry)[-1][alive]
    tried = float(influence.largest(np.array([entry]), left, right)[0])
    return finite(total.max(initial=0.0)), finite(max(tried, 0.0))


def finite(value: float) -> float:
    """Return a number, or infinity for the one that stands for it."""
    return float(value) if value < NEVER / 2 else math.inf


def nodes(entry: int, left: int | None, right: int | None) -> list[int]:
    """Return the places of a quilt's nodes around an entry."""
    return ([] if left is None else [entry - left]) + ([] if right is None else [entry + right])
