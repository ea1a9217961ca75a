"""A lattice on which as much of a finite law lies as possible, and the law split onto it.

Atoms on the lattice are not split. A sum of them is then exact, and above all it is exactly 0 where it is 0: sums that
cancel have a large probability where values are few, and no finer lattice would tell them from sums near 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import BoolArray, IntArray

Floats = npt.NDArray[np.float64]

#: An atom counts as on the lattice up to this share of it, and this share of the largest; what it is moved is charged.
_OF_ITSELF, _OF_LARGEST = 2.0**-44, 2.0**-50
#: So many of the heaviest atoms are tried.
_TRIED = 64


@dataclass(frozen=True, eq=False)
class Split:
    """A law split onto a lattice, with every atom's mean.

    `places` are in steps, `whole` says which masses are of whole atoms, and `moved` is the mean distance by which atoms
    next to the lattice were moved onto it.
    """

    places: IntArray
    masses: Floats
    whole: BoolArray
    moved: float


def step_of(values: Floats, weights: Floats, least: float) -> float:
    """Return a step from `least` dividing the heaviest values.

    >>> round(step_of(np.array([-0.3, 0.1, 0.7]), np.array([1.0, 1.0, 1.0]), 0.04), 12)
    0.05
    """
    largest, common = float(np.abs(values).max()), 0.0
    for place in np.argsort(-weights, kind="stable")[:_TRIED].tolist():
        value = abs(float(values[place]))
        if value > _OF_LARGEST * largest:  # 0 is on every lattice
            divisor, smaller = common, value
            while smaller > _OF_ITSELF * largest:  # Euclid's greatest common divisor, about
                divisor, smaller = smaller, abs(divisor - round(divisor / smaller) * smaller)
            if divisor >= least and (times := round(value / divisor)):
                common = value / times
    if common < least:
        return least
    return common / math.floor(common / least)


def split(values: Floats, masses: Floats, step: float) -> Split:
    """Return a law split between neighbouring points of the lattice.

    >>> found = split(np.array([0.0, 1.25]), np.array([0.5, 0.5]), 0.5)
    >>> found.places.tolist(), found.masses.tolist(), found.whole.tolist()
    ([0, 2, 3], [0.5, 0.25, 0.25], [True, False, False])
    """
    nearest = np.rint(values / step)
    off = np.abs(values - nearest * step)
    on = off <= _OF_ITSELF * np.abs(values) + _OF_LARGEST * np.abs(values).max()
    below = np.floor(values[~on] / step)
    share = values[~on] / step - below
    places = np.concatenate([nearest[on], below, below + 1]).astype(np.int64)
    weights = np.concatenate([masses[on], masses[~on] * (1 - share), masses[~on] * share])
    is_whole = np.concatenate([np.ones(int(on.sum()), dtype=bool), np.zeros(2 * len(below), dtype=bool)])
    return Split(places, weights, is_whole, float(off[on] @ masses[on]))
