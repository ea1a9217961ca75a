"""The influence of the quilts of one chain: for tests that compare it with joint laws."""

import math
from typing import Any

import numpy as np

from takifugu.influence.quilts.mqm_exact import ChainInfluence
from takifugu.numbers.outward_rounding import NEVER


def influences(influence: ChainInfluence, entry: int, left: int | None, right: int | None) -> tuple[float, float]:
    """Return e of a quilt as it is searched, and as the quilt is tried on many entries."""
    alive = influence.alive(np.array([entry]))[0]
    total = np.zeros(alive.sum())
    if left is not None:
        total = total + influence.before(entry, left)[-1][alive]
    if right is not None:
        total = total + influence.after(entry, right)[-1][alive]
    tried = float(influence.largest(np.array([entry]), left, right)[0])
    return finite(total.max(initial=0.0)), finite(max(tried, 0.0))


def finite(value: float) -> float:
    """Return a number, or infinity for the one that stands for it."""
    return float(value) if value < NEVER / 2 else math.inf


def nodes(entry: int, left: int | None, right: int | None) -> list[int]:
    """Return the places of a quilt's nodes around an entry."""
    return ([] if left is None else [entry - left]) + ([] if right is None else [entry + right])


def placed_quilts(chain: Any, entry: int) -> list[tuple[int | None, int | None]]:
    """Return the distances of the nodes of all quilts of an entry."""
    lefts, rights = [None, *range(1, entry + 1)], [None, *range(1, chain.length - entry)]
    return [(a, b) for a in lefts for b in rights]
