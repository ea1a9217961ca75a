"""Randomisers that choose one of finitely many outputs, with exact integer masses for every answer.

An answer (in units of the grid) is read at the nearest of the listed `inputs`, the lower of two: the inputs are all the
answers that the compared hypotheses allow, so for them nothing changes, and every other answer is published as safely
as those. Errors are the largest over the inputs, so that they hold whatever the answer is, as those of added noise do;
`mean_error` is an average over `prior`, a distribution of the inputs: what the answer is under the stated belief.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu.analysis.randomisers.base import Base, Column, Direction, Ends, Kind, Loss, are_whole, level_of_cell
from takifugu.core.cache import memoised
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain
from takifugu.numbers.atoms import Array
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.rationals import as_fraction, as_fractions, common_denominator, to_text

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy


#: By how much sums of shares may be off, and places of inputs, relatively.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Choice(Base):
    """A channel from answers to outputs, both in units of the grid; one row of integer masses for each input."""

    channel: Channel
    grid: Fraction
    #: The probability of every input under the belief.
    prior: tuple[float, ...]

    is_table = True

    def __post_init__(self) -> None:
        inputs, outputs = self.channel.inputs, self.channel.outputs
        if self.grid <= 0:
            raise InputError(f"the grid is {self.grid}", rule="it must be above 0").at("grid")
        if list(inputs) != sorted(set(_numbers(inputs))) or list(outputs) != sorted(set(_numbers(outputs))):
            raise InputError(
                "the inputs or outputs of a choice are not in increasing order", fix="sort them"
            ).at("inputs")
        if not are_whole(_numbers(outputs)):
            raise InputError(
                "an output of a choice is not a multiple of the grid", fix="round the outputs to it"
            ).at("outputs")
        if len(self.prior) != len(inputs) or min(self.prior) < 0 or abs(math.fsum(self.prior) - 1) > 1e-9:
            raise InputError(
                f"the prior must be one probability for each of {len(inputs)} inputs, with sum 1"
            ).at("prior")

    @property
    def cells(self) -> int:
        return 1

    @property
    def outputs(self) -> list[int]:
        """Return all outputs, in units of the grid."""
        return list(map(int, self._outputs))

    def draw(self, answer: Sequence[int | Fraction], entropy: Entropy) -> tuple[Fraction, ...]:
        """Return one of the outputs, in answer units."""
        from takifugu.numbers.noise import choose

        index = int(choose(self._masses(answer), 1, entropy)[0])
        return (self._outputs[index] * self.grid,)

    def mass(self, answer: int | Fraction, output: int | Fraction) -> Fraction:
        """Return P(output | answer), both in units of the grid."""
        if output not in self.channel.outputs:
            return Fraction(0)
        return Fraction(self._masses([answer])[self.channel.outputs.index(output)], self.channel.total)

    def log_density(self, answer: Sequence[int | Fraction], output: Sequence[Fraction]) -> float:
        """Return log P(output given answer), in answer and grid units; -inf for no output."""
        mass = self.mass(answer[0], Fraction(output[0]) / self.grid)
        if mass:
            return math.log(mass.numerator) - math.log(mass.denominator)
        return -math.inf

    def expected_error(self) -> float:
        """Return the largest expected absolute error of any input, in answer units."""
        return float(max(self._means(1)) * self.grid)

    def variance(self) -> float:
        """Return the largest expected squared error, in squared answer units."""
        return float(max(self._means(2)) * self.grid**2)

    def mean_error(self) -> float:
        """Return the expected absolute error in answer units, averaged over the prior."""
        weighed = sum(Fraction(weight) * mean for weight, mean in zip(self.prior, self._means(1), strict=True))
        return float(weighed * self.grid)

    def half_width(self, level: float, cells: int | None = None) -> Fraction:
        """Return the least w with P(abs(output - answer) <= w) >= level for every input, of so many cells."""
        level_of_each, widest = level_of_cell(level, cells or 1), 0
        for answer, masses in zip(self._inputs, self.channel.masses, strict=True):
            steps = sorted((math.ceil(abs(y - answer)), m) for y, m in zip(self._outputs, masses, strict=True) if m)
            reached = 0
            for width, mass in steps:
                reached += mass
                if reached >= level_of_each * self.channel.total:
                    widest = max(widest, width)
                    break
        return widest * self.grid

    def intervals(self, values: Sequence[Fraction], level: float, cells: int | None = None) -> list[Ends]:
        """Return the range of inputs not rejected by each published value (Feldman and Cousins 1998)."""
        # an input keeps y where outputs of a larger P(y'|x)/max P(y'|.) have less than `level` in all: it rejects
        # outputs of less than 1 - level, so the answer is in the interval with probability `level` at least
        mass = level_of_cell(level, cells or 1) * self.channel.total
        return [self._interval(value, mass) for value in values]

    def _interval(self, value: Fraction, each: Fraction) -> Ends:
        columns = dict(zip(self._outputs, zip(*self.channel.masses, strict=True), strict=True))
        masses_of_value = columns.get(value / self.grid, (0,) * len(self._inputs))
        most, highest = max(masses_of_value), list(map(max, columns.values()))
        # every published value belongs to its own range
        inputs = [value]
        for answer, mass_of_value, masses in zip(self._inputs, masses_of_value, self.channel.masses, strict=True):
            above = 0
            for mass, largest in zip(masses, highest, strict=True):
                if mass * most > mass_of_value * largest:
                    above += mass
            if above < each:
                inputs.append(answer * self.grid)
        return min(inputs), max(inputs)

    def loss(self, change: Fraction, direction: Direction = Direction.EITHER) -> Loss:
        """Return the largest log-ratio of an output's masses, for any change."""
        most = self.channel.measure() if change else 0.0
        return most if math.isinf(most) else Fraction(most)

    def unseen(self, change: Fraction) -> Fraction:
        """Return 1 less the largest total variation distance of two inputs `change` apart, or as near as any."""
        # that is how far the choice tells one from the other: for added noise P(|noise| < change/2)
        inputs = np.array(self._inputs, dtype=float) * float(self.grid)
        if len(inputs) < 2:
            return Fraction(1)
        farthest = max(float(change), float(np.diff(inputs).min())) * (1 + ROUNDING)
        shares = np.array([[mass / self.channel.total for mass in row] for row in self.channel.masses])
        most = 0.0
        for place in range(len(inputs)):
            near = slice(place + 1, int(np.searchsorted(inputs, inputs[place] + farthest, side="right")))
            distances = np.abs(shares[near] - shares[place]).sum(axis=1) / 2
            most = max(most, float(distances.max(initial=0.0)))
        return max(Fraction(0), 1 - Fraction(most) - Fraction(ROUNDING))

    def draw_column(self, answers: Column, entropy: Entropy) -> Array:
        """Randomise an array of answers, in steps of the grid."""
        from takifugu.numbers.noise import choose

        column, outputs = np.asarray(answers), np.array(self.outputs)
        values, place = np.unique(column, return_inverse=True)
        drawn = np.empty(len(column), dtype=outputs.dtype)
        for number, value in enumerate(values.tolist()):
            rows = np.flatnonzero(place == number)
            drawn[rows] = outputs[choose(self._masses([value]), len(rows), entropy)]
        return drawn

    def to_dict(self) -> Json:
        return {
            "kind": self.kind, "grid": to_text(self.grid), "cells": 1,
            "inputs": list(map(to_text, self._inputs)), "outputs": list(map(to_text, self._outputs)),
            "masses": [list(map(str, row)) for row in self.channel.masses], "prior": list(self.prior),
        }  # fmt: skip

    def _masses(self, answer: Sequence[int | Fraction]) -> tuple[int, ...]:
        if len(answer) != 1:
            raise InputError(f"the answer has {len(answer)} cells", rule="a choice publishes one number")
        place = bisect_left(self._inputs, answer[0])
        near = [k for k in (place - 1, place) if 0 <= k < len(self._inputs)]
        return self.channel.masses[min(near, key=lambda k: abs(self._inputs[k] - answer[0]))]

    @memoised
    def _means(self, power: int) -> list[Fraction]:
        """Return each input's mean of abs(output - answer)^power, in grid units."""
        unit = common_denominator((*self._inputs, *self._outputs))
        outputs = [int(y * unit) for y in self._outputs]
        denominator: int = unit**power * self.channel.total
        means = []
        for answer, masses in zip(self._inputs, self.channel.masses, strict=True):
            x = int(answer * unit)
            moment = sum(m * abs(y - x) ** power for y, m in zip(outputs, masses, strict=True))
            means.append(Fraction(moment, denominator))
        return means

    @cached_property
    def _inputs(self) -> list[Fraction]:
        return _numbers(self.channel.inputs)

    @cached_property
    def _outputs(self) -> list[Fraction]:
        return _numbers(self.channel.outputs)


@dataclass(frozen=True)
class ExponentialChoice(Choice, kind="exponential-choice"):
    """P(output y | answer x) proportional to e^{-rate |y - x|} over the outputs, in units of the grid."""

    # McSherry and Talwar 2007; Ding22 section 3.3, on a finite set of outputs. Masses are rounded by `channel.repair`.
    rate: Fraction

    @property
    def scale(self) -> Fraction:
        """Return 1/rate in answer units, Laplace's scale on the whole line."""
        return self.grid / self.rate

    def to_dict(self) -> Json:
        return {**super().to_dict(), "rate": to_text(self.rate)}


@dataclass(frozen=True)
class ChannelChoice(Choice, kind="channel"):
    """A channel with exact masses, such as the one of least expected error."""


def from_dict(data: Plain) -> Choice:
    """Read a choice back from its `to_dict` form."""
    masses = tuple(tuple(map(int, row)) for row in data["masses"])
    inputs = as_fractions(data["inputs"], "an input")
    channel = Channel(inputs, as_fractions(data["outputs"], "an output"), masses, sum(masses[0]))
    grid, prior = as_fraction(data["grid"], "the grid"), tuple(map(float, data["prior"]))
    if any(sum(row) != channel.total or min(row) < 0 for row in masses) or len(masses) != len(inputs):
        raise InputError(
            "the rows of the choice are not distributions with one total", rule="it was not written by to_dict"
        )
    if data["kind"] == "channel":
        return ChannelChoice(channel, grid, prior)
    return ExponentialChoice(channel, grid, prior, as_fraction(data["rate"], "the rate"))


EXPONENTIAL = Kind(
    from_dict, "one of finitely many outputs, by distance",
    "one of finitely many values, more probable the nearer it is to the answer, drawn exactly from the operating "
    "system's randomness",
)  # fmt: skip
CHANNEL = Kind(
    from_dict, "one of finitely many outputs, by a table",
    "one of finitely many values, with the probabilities tabulated in the JSON certificate, drawn exactly from the "
    "operating system's randomness",
    has_scale=False,
)  # fmt: skip


def _numbers(labels: Sequence[Any]) -> list[Fraction]:
    return list(map(Fraction, labels))
