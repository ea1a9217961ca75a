"""The law of a one-sided sparse vector: its cells are drawn together, because it stops after so many values.

An answer is a tuple of counts, an output a tuple of "safe", noisy values (in steps of the grid) and None, "not
answered". Written from the steps of the algorithm, and nothing that calibration uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol, TypeGuard

from mpmath import mp, mpf

from takifugu.analysis.randomisers.base import Randomiser

SAFE = "safe"
#: What is said of a cell: that it is safe, a value in grid units, or nothing.
Mark = str | int | None
Counts = tuple[Fraction, ...]


class Sparse(Randomiser, Protocol):
    """A sparse vector: exponential noise of `units` steps, a threshold for all cells or for each, and a limit."""

    @property
    def units(self) -> Fraction: ...

    @property
    def thresholds(self) -> tuple[int, ...]: ...

    @property
    def limit(self) -> int | None: ...


def is_sparse(randomiser: Randomiser) -> TypeGuard[Sparse]:
    """Whether the cells of a randomiser are those of a sparse vector."""
    return bool(randomiser.kind == "sparse")


def sparse_mass(noise: Sparse) -> Callable[[tuple[Mark, ...], Counts], mpf]:
    """Return P(output | answer) of all cells, with `mp.dps` at DIGITS."""

    def reaches(steps: Fraction) -> mpf:
        """P(K >= steps)."""
        distance = Fraction(steps) / noise.units
        if distance > 0:
            return mp.exp(-mp.mpf(distance.numerator) / distance.denominator)
        return mp.mpf(1)

    def mass(outputs: tuple[Mark, ...], answer: Counts) -> mpf:
        probability, values = mp.mpf(1), 0
        for place, (output, count) in enumerate(zip(outputs, answer, strict=True)):
            ended, above = noise.limit is not None and values >= noise.limit, _threshold(noise, place) + 1
            if ended or output is None:
                probability *= mp.mpf(ended and output is None)
            elif isinstance(output, str):  # safe
                probability *= 1 - reaches(above - count)
            else:
                is_possible = output >= above and output >= count
                chance = 0
                if is_possible:
                    chance = reaches(output - count) - reaches(output + 1 - count)
                probability *= chance
                values += 1
        return probability

    return mass


def sparse_outputs(noise: Sparse, answers: Sequence[Counts], more: int = 1) -> list[tuple[Mark, ...]]:
    """Return the outputs with values up to `more` steps above everything.

    No log-ratio grows above all counts and thresholds: a value above every count has the same ratio of masses as the
    next one.
    """
    sequences: list[tuple[Mark, ...]] = [()]
    for place, counts in enumerate(zip(*answers, strict=True)):
        above = _threshold(noise, place) + 1
        possible = [SAFE, *range(above, max(above, math.ceil(max(counts))) + more + 1)]
        longer: list[tuple[Mark, ...]] = []
        for past in sequences:
            values = sum(output not in (SAFE, None) for output in past)
            if noise.limit is not None and values >= noise.limit:
                longer.append((*past, None))
            else:
                longer += [(*past, output) for output in possible]
        sequences = longer
    return sequences


def _threshold(noise: Sparse, place: int) -> int:
    return int(noise.thresholds[place if len(noise.thresholds) > 1 else 0])
