"""Laws of cells that are drawn together: a one-sided sparse vector, and choices by permute-and-flip.

An answer is a tuple of counts, an output a tuple of "safe", noisy values (in steps of the grid) and None, "not
answered". Written from the steps of the algorithms, and nothing that calibration uses: of a choice each candidate shows
heads by itself, and every head is as likely to be taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol, TypeGuard, TypeVar

from mpmath import mp, mpf

from takifugu.analysis.randomisers.base import Randomiser
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.model.queries.choices.candidates import AtRank, MostFrequent, Outcome
from takifugu.numbers.rationals import as_mpf

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
            return mp.exp(-as_mpf(distance))
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
    """Return the outputs with values up to `more` steps above all counts and thresholds."""
    # No log-ratio grows above them: a value above every count has the same ratio of masses as the next one.
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


def is_choice(randomiser: Randomiser) -> TypeGuard[PermuteAndFlip]:
    """Whether a randomiser chooses among declared values."""
    return bool(randomiser.kind == "permute-and-flip")


Cell = TypeVar("Cell")


def choice_mass(noise: PermuteAndFlip) -> Callable[[tuple[Outcome, ...], tuple[Fraction, ...]], mpf]:
    """Return P(all choices | counts), with `mp.dps` at DIGITS."""
    goal = noise.goal
    quality = _count if isinstance(goal, MostFrequent) else _rank(goal)
    by_count = quality is _count
    loss_of_one = 2 / Fraction(noise.units)
    draws = noise.goal.draws

    def mass(choices: tuple[Outcome, ...], answer: tuple[Fraction, ...]) -> mpf:
        groups = range(noise.groups)
        return mp.fprod(of_group(_part(choices, groups, g), _part(answer, groups, g)) for g in groups)

    def of_group(choices: tuple[Outcome, ...], answer: tuple[Fraction, ...]) -> mpf:
        counts = list(map(int, answer[: len(noise.outcomes)]))
        left, probability = list(range(len(counts))), mp.mpf(1)
        for number, outcome in enumerate(choices):
            place = noise.outcomes.index(outcome)
            if place not in left:
                return mp.mpf(0)
            if by_count:
                rate = loss_of_one / (min(draws, len(counts) - 1) + 1)
            else:
                rate = loss_of_one / draws * Fraction(len(counts) - 1, 2 * len(counts) - 3)
            qualities = {candidate: quality(counts, candidate, number) for candidate in left}
            best = max(qualities.values())
            heads = {}
            for candidate, of_candidate in qualities.items():
                heads[candidate] = mp.exp(as_mpf(-rate * (best - of_candidate)))
            of_chosen = heads.pop(place)
            probability *= of_chosen * _share(list(heads.values()))
            if by_count:
                left.remove(place)
        return probability

    return mass


def _part(all_groups: tuple[Cell, ...], groups: range, group: int) -> tuple[Cell, ...]:
    """Return the part of one group; groups stand one behind the other."""
    size = len(all_groups) // len(groups)
    return all_groups[group * size : (group + 1) * size]


def _count(counts: list[int], place: int, number: int) -> Fraction:
    return Fraction(counts[place])


def _rank(goal: AtRank) -> Callable[[list[int], int, int], Fraction]:
    """Return a quantile candidate's quality: minus the entries to change."""

    def quality(counts: list[int], place: int, number: int) -> Fraction:
        share, size = Fraction(goal.shares[number]), sum(counts)
        below, above = sum(counts[:place]), sum(counts[place + 1 :])
        return -max(Fraction(0), below - share * size, above - (1 - share) * size)

    return quality


def _share(chances: list[mpf]) -> mpf:
    """Return E[1/(1 + heads among the others)] from their law."""
    law = [mp.mpf(1)]
    for chance in chances:
        longer = [mp.mpf(0)] * (len(law) + 1)
        for number, mass in enumerate(law):
            longer[number] += mass * (1 - chance)
            longer[number + 1] += mass * chance
        law = longer
    return mp.fsum(mass / (1 + number) for number, mass in enumerate(law))
