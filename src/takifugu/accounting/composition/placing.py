"""Releases about windows of one recording whose places are declared, as stretches of steps that cost the same.

Every window is a run: where it starts, and what its steps move. What all of them cost is piled up at the steps where
something changes, never in an array of windows by steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from takifugu.accounting.composition.stretches import Stretches
from takifugu.model.queries import IntArray
from takifugu.numbers.rationals import float_above

#: The cost of a whole recording stays below 2 to this power, in units.
COST_BITS = 58


class Run(NamedTuple):
    """What equal releases move at the steps from each of `starts` on, in units of `rate` of cost."""

    starts: IntArray
    changes: IntArray
    rate: Fraction


def piled(runs: Sequence[Run], start: int | None = None) -> Stretches:
    """Return what each step costs, from `start` or the first one that any run reads to the last one.

    It is exact where all runs have one rate. Otherwise each rate is rounded up to a multiple of 2^-58 of the whole
    cost; a further run makes no step cheaper.

    >>> week = np.ones(7, dtype=np.int64)
    >>> found = piled([Run(np.array([0, 5]), week, Fraction(1, 2))])
    >>> found.lengths.tolist(), found.values.tolist(), found.unit
    ([5, 2, 5], [1, 2, 1], Fraction(1, 2))
    """
    rates = {run.rate for run in runs}
    shapes = {id(run.changes): _edges(run.changes) for run in runs}
    unit = next(iter(rates))
    if len(rates) > 1:
        whole = sum(len(run.starts) * float(run.changes.sum()) * float_above(run.rate) for run in runs) * (1 + 1e-9)
        unit = Fraction(2) ** (math.frexp(whole)[1] - COST_BITS)
    times = {rate: math.ceil(rate / unit) for rate in rates}
    first = min(int(run.starts[0]) for run in runs) if start is None else start
    places = np.concatenate([(run.starts[:, None] - first + shapes[id(run.changes)][0]).ravel() for run in runs])
    changes = np.concatenate([np.tile(shapes[id(run.changes)][1] * times[run.rate], len(run.starts)) for run in runs])
    steps, where = np.unique(np.append(places, 0), return_inverse=True)
    values = np.zeros(len(steps), dtype=np.int64)
    np.add.at(values, where, np.append(changes, 0))
    values = np.cumsum(values)[:-1]
    lengths = np.diff(steps)
    new = np.flatnonzero(np.diff(values, prepend=values[0] - 1))
    return Stretches(np.add.reduceat(lengths, new), values[new], unit)


def _edges(changes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the places where the changes change, from 0 to behind the last, and by how much."""
    steps = np.diff(changes, prepend=0, append=0)
    places = np.flatnonzero(steps)
    ends = np.array([0, len(changes)], dtype=np.int64)
    return np.concatenate([ends, places]), np.concatenate([np.zeros(2, dtype=np.int64), steps[places]])
