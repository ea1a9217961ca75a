"""Choosing one of declared values, or several, by permute-and-flip: a randomiser of counts that publishes no count."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, permutations, product
from typing import TYPE_CHECKING

import numpy as np

from takifugu.analysis.randomisers.additive import check_scale
from takifugu.analysis.randomisers.base import (
    LABEL,
    Answer,
    Base,
    Column,
    Direction,
    Kind,
    Loss,
    Output,
    Randomiser,
    level_of_cell,
)
from takifugu.core.errors import InputError
from takifugu.core.escaping import at_most
from takifugu.core.plain import Json, Plain
from takifugu.model.queries.choices.candidates import GRID, AtRank, Goal, MostFrequent, Outcome, goal_from
from takifugu.numbers.atoms import Array
from takifugu.numbers.permute_and_flip import chances, missed, worst_mean
from takifugu.numbers.rationals import as_fraction, is_whole, to_text

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy

#: A number that was chosen from a list: no noise was added to it, so no interval lies around it.
CHOSEN = Output("chosen number", to_text, Fraction)


@dataclass(frozen=True)
class PermuteAndFlip(Base, kind="permute-and-flip"):
    """A choice among `outcomes` for a `goal`, given their counts and that of all else; one entry loses 2/units."""

    # McKenna and Sheldon 2020, Algorithm 1; `model.queries.choices.candidates` has the proof: an entry moves two counts
    # of its group, in steps of the grid 1/2, so the answer by 1.
    units: Fraction
    outcomes: tuple[Outcome, ...]
    goal: Goal
    #: Each has such counts, and a choice of its own.
    groups: int = 1

    grid = GRID
    error_words = "by how many rows the best choice is missed, on average, where the data make that largest"

    def __post_init__(self) -> None:
        check_scale(self.units)
        most = len(self.outcomes) if isinstance(self.goal, MostFrequent) else math.inf
        if len(set(self.outcomes)) < max(2, len(self.outcomes)) or not 1 <= self.goal.draws <= most:
            raise InputError(
                f"{self.goal.draws} of {len(self.outcomes)} values are to be chosen",
                rule="there are two different values or more, and at least as many as are chosen",
            ).at("outcomes")
        if not is_whole(self.groups, 1):
            raise InputError(f"there are {self.groups!r} groups", rule="it must be a whole number from 1").at("groups")

    @property
    def output(self) -> Output:  # type: ignore[override]
        return LABEL if isinstance(self.outcomes[0], str) else CHOSEN

    @property
    def cells(self) -> int:
        return self.groups * (len(self.outcomes) + 1)

    @property
    def draws(self) -> int:
        """Return how many values are published."""
        return self.groups * self.goal.draws

    @property
    def rate(self) -> Fraction:
        """Return t of the chance e^(-t d) of heads at shortfall d."""
        return 2 / (self.units * self.goal.price(len(self.outcomes)))

    @property
    def scale(self) -> Fraction:
        """Return 1 over the loss of one changed entry."""
        return self.units * GRID

    laplace_scale = scale

    def loss(self, change: Fraction, direction: Direction = Direction.EITHER) -> Loss:
        """Bound the largest log-ratio by the changed entries over the scale."""
        return change / self.scale

    def of_scale(self, scale: Fraction) -> PermuteAndFlip:
        """Return the same choice with another scale: mechanisms ask of a choice how far counts move, and of no law."""
        return replace(self, units=scale / GRID)

    def draw(self, answer: Answer, entropy: Entropy) -> tuple[Outcome, ...]:
        """Return the chosen values by group, from counts of all candidates."""
        from takifugu.numbers.noise import permute_and_flip

        outcomes: list[Outcome] = []
        for counts in self._counts(answer):
            drawn = list[int]()
            for _ in range(self.goal.draws):
                deficits = self.goal.deficits(counts, drawn)
                places = list(deficits)
                drawn.append(places[permute_and_flip(list(deficits.values()), self.rate, entropy)])
            outcomes += [self.outcomes[place] for place in drawn]
        return tuple(outcomes)

    def draw_column(self, answers: Column, entropy: Entropy) -> Array:
        """Raise InputError: a choice reads all counts together."""
        raise InputError("a choice among values is no column of answers that are drawn one by one", fix="call draw()")

    def log_density(self, answer: Answer, output: Sequence[Outcome]) -> float:
        """Return log P(all chosen values given counts), -inf for the impossible."""
        counts, draws = self._counts(answer), self.goal.draws
        if len(output) != self.draws:
            return -math.inf
        return math.fsum(self._log_chance(c, output[n * draws : (n + 1) * draws]) for n, c in enumerate(counts))

    def _log_chance(self, counts: Sequence[int], output: Sequence[Outcome]) -> float:
        drawn, total = list[int](), 0.0
        for outcome in output:
            deficits = self.goal.deficits(counts, drawn)
            places = list(deficits)
            place = self.outcomes.index(outcome) if outcome in self.outcomes else -1
            if place not in deficits:
                return -math.inf
            heads = np.exp([-float(deficit * self.rate) for deficit in deficits.values()])
            chance = chances(heads)[places.index(place)]
            total += math.log(chance) if chance else -math.inf
            drawn.append(place)
        return total

    def possible(self) -> Iterator[tuple[Outcome, ...]]:
        """Yield every output."""
        if isinstance(self.goal, AtRank):
            return product(self.outcomes, repeat=self.draws)
        groups = product(permutations(self.outcomes, self.goal.draws), repeat=self.groups)
        return (tuple(chain.from_iterable(outcomes)) for outcomes in groups)

    def expected_error(self) -> float:
        """Return all choices' expected shortfall in entries, for the worst data."""
        return self.draws * worst_mean(len(self.outcomes)) / float(self.rate)

    def shortfall(self, level: float, values: int | None = None) -> Fraction:
        """Return the least w with P(no choice falls short by over w entries) >= level, whatever the data."""
        allowed = float(1 - level_of_cell(level, values or self.draws))
        steps, unit = len(self.outcomes), float(self.rate * self.goal.step)
        most = math.ceil((math.log(steps / allowed) + 1) / unit) + 1
        return bisect_left(range(most), True, key=lambda w: missed((w + 1) * unit, steps) <= allowed) * self.goal.step

    def words(self, values: int | None = None) -> str:
        """Say how far published values may be from the best."""
        within, is_single = at_most(self.shortfall(0.95, values)), self.draws == 1
        in_cell = " in its cell" if self.groups > 1 else ""
        if isinstance(self.goal, MostFrequent):
            if is_single:
                subject = "the state published occurs"
            else:
                subject = "each state published occurs"
            left = " that is left" if self.goal.draws > 1 else ""
            far = f"{subject} at most {within} times less than the best one{left}{in_cell}"
        else:
            subject = "what is published is" if is_single else "each value that is published is"
            far = f"{subject} off by at most {within} rows in rank{in_cell}"
        return f"with probability 95 %, whatever the data, {far}"

    def is_blind(self, entries: int) -> bool:
        """Return whether a candidate of so many entries is mostly missed."""
        return missed(float(entries * self.rate), len(self.outcomes)) > 0.5

    def to_dict(self) -> Json:
        outcomes = list(map(self.output.write, self.outcomes))
        settings = {"publishes": self.output.name, "outcomes": outcomes, "goal": self.goal.to_dict()}
        noise = {"kind": self.kind, "units": to_text(self.units), "grid": to_text(GRID), "cells": self.cells}
        return {**noise, **settings, "groups": self.groups}

    def _counts(self, answer: Answer) -> list[list[int]]:
        """Return the counts of the candidates in each group."""
        if len(answer) != self.cells or any(int(x) != x or x < 0 for x in answer):
            raise InputError("the answer is no count of each candidate and of all else", rule="a choice needs these")
        counts, size = list(map(int, answer)), len(self.outcomes)
        return [counts[first : first + size] for first in range(0, self.cells, size + 1)]


def read(data: Plain) -> PermuteAndFlip:
    """Read a choice back from its `to_dict` form."""
    output = CHOSEN if data["publishes"] == CHOSEN.name else LABEL
    outcomes = tuple(map(output.read, data["outcomes"]))
    return PermuteAndFlip(as_fraction(data["units"], "units"), outcomes, goal_from(data["goal"]), data["groups"])


def words(noise: Randomiser) -> str:
    """Say how far published values may be from the best."""
    assert isinstance(noise, PermuteAndFlip)
    return f"one of the declared values, more probable the better it fits; {noise.words()}"


PERMUTE_AND_FLIP = Kind(
    read, "a choice among declared values",
    "one of the declared values, more probable the better it fits, chosen exactly by the operating system's randomness",
    words=words, is_choice=True,
)  # fmt: skip
