"""What is sent for each row: one value, a tuple of them, or bits; as randomisers of one person's rows.

An answer has the number of a value for each row, every row is randomised by itself, and of `rows` rows what is sent
loses at most `rows` times what one loses. A column of many people's rows is drawn at once (`draw_column`).
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu.analysis.randomisers import Base, Direction, Kind, Loss, Output
from takifugu.core.cache import cached
from takifugu.core.errors import DataError, InputError, Unsupported
from takifugu.core.text.tables import number
from takifugu.mechanisms.local.columns import randomised
from takifugu.mechanisms.local.measuring import log_masses
from takifugu.mechanisms.local.rappor import Rappor
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.rationals import as_fraction, to_text

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy

Floats = npt.NDArray[np.float64]
#: Most outputs that are listed, for the audit.
MOST_OUTPUTS = 100_000
#: What logs of masses and their differences may be off by, per unit of their size.
_ROUNDED = 2.0**-48


def _frozen(value: object) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


#: A value (a text, a number, or the two coordinates of a place), or several of them.
SENT = Output("value", json.dumps, lambda text: _frozen(json.loads(text)), is_column=True)


@dataclass(frozen=True, eq=False)
class SentRows:
    """What was sent for `count` rows: `row` and `place` have an element for each value that was sent.

    `place` is the number of the value in `outputs`. Of a row of which no bit is 1 nothing was sent.
    """

    outputs: tuple[Any, ...]
    count: int
    row: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return ((row, self.outputs[place]) for row, place in zip(self.row.tolist(), self.place.tolist(), strict=True))


@dataclass(frozen=True)
class Sending(Base):
    """What the three have in common; `expected` and `worst` are losses of one row under the prior, in `measure`."""

    rows: int
    expected: float
    worst: float
    measure: str

    output = SENT

    @property
    def values(self) -> tuple[Any, ...]:
        raise NotImplementedError

    @property
    def grid(self) -> Fraction:
        return Fraction(1)

    @property
    def cells(self) -> int:
        return self.rows

    @property
    def outputs(self) -> Sequence[Any]:
        """Return everything that may be sent for one row; Unsupported for more than are listed."""
        raise NotImplementedError

    def mass(self, answer: int | Fraction, output: object) -> Fraction:
        """Return P(output | value of this number), of one row."""
        raise NotImplementedError

    def pointwise(self) -> Floats:
        """Return the largest log-ratio of what is sent for each two values, both ways, rounded up; shape (n, n)."""
        raise NotImplementedError

    @property
    def only_channel(self) -> Channel | None:
        """Return the channel that draws all that is sent of a row; None where more is sent."""
        return None

    def shares(self, place: int) -> list[float]:
        """Return how often each value is among what is sent for the value of this number."""
        raise NotImplementedError

    def send(self, codes: npt.NDArray[np.int64], entropy: Entropy) -> SentRows:
        raise NotImplementedError

    def local_loss(self) -> float:
        """Return the epsilon of local differential privacy of one row; it may be infinite."""
        loss: float = cached(self, Sending.local_loss, lambda: float(self.pointwise().max()))
        return loss

    def loss(self, change: Fraction, direction: Direction = Direction.EITHER) -> Loss:
        """Return what is lost when all rows of a person change, whatever the change; infinite or exact."""
        most = self.local_loss() if change else 0.0
        return most if math.isinf(most) else self.rows * Fraction(most)

    def log_density(self, answer: Sequence[int | Fraction], output: Sequence[Any]) -> float:
        """Return log P(output | answer) over all rows; -inf for what is never sent."""
        masses = [self.mass(x, y) for x, y in zip(answer, output, strict=True)]
        if not all(masses):
            return -math.inf
        return math.fsum(math.log(m.numerator) - math.log(m.denominator) for m in masses)

    def expected_error(self) -> float:
        """Return the mean loss of one row under the prior."""
        return self.expected

    def draw(self, answer: Sequence[int | Fraction], entropy: Entropy) -> tuple[Any, ...]:
        """Return what is sent for each row of one person."""
        return self._of_rows(self.draw_column(np.array([int(code) for code in answer], dtype=np.int64), entropy))

    def draw_column(self, answers: object, entropy: Entropy) -> SentRows:
        """Randomise the rows of many people, each by itself; DataError for what is the number of no value.

        Nothing is drawn then.
        """
        codes = np.asarray(answers, dtype=np.int64)
        if codes.size and (codes.min() < 0 or codes.max() >= len(self.values)):
            raise DataError("a value of the column is not among the declared ones", fix="declare it, or clamp it first")
        return self.send(codes, entropy)

    def words(self) -> str:
        """Say what is sent, what it costs, and how far the value itself is told."""
        unit = f" {self.measure}" if self.measure else ""
        itself = self.local_loss()
        loss = "without a bound" if math.isinf(itself) else f"up to epsilon {number(itself)} per row"
        return (
            f"{self.what()}; expected loss {number(self.expected)}{unit} per row, at worst {number(self.worst)}{unit}; "
            f"about the value itself, from someone who knows the population, it tells {loss}"
        )

    def what(self) -> str:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        raise NotImplementedError

    def _of_rows(self, sent: SentRows) -> tuple[Any, ...]:
        raise NotImplementedError

    def _plain(self) -> dict[str, Any]:
        common = {"rows": self.rows, "expected": self.expected, "worst": self.worst, "measure": self.measure}
        return {"kind": self.kind, "grid": "1", "cells": self.rows, **common}


@dataclass(frozen=True)
class SentValue(Sending):
    """One output of a channel for each row."""

    channel: Channel

    @property
    def kind(self) -> str:
        return "sent-value"

    @property
    def values(self) -> tuple[Any, ...]:
        return self.channel.inputs

    @property
    def outputs(self) -> Sequence[Any]:
        return self.channel.outputs

    def mass(self, answer: int | Fraction, output: object) -> Fraction:
        return Fraction(self.channel.masses[int(answer)][self._places[output]], self.channel.total)

    @property
    def only_channel(self) -> Channel | None:
        return self.channel

    def shares(self, place: int) -> list[float]:
        return [mass / self.channel.total for mass in self.channel.masses[place]]

    def pointwise(self) -> Floats:
        return _pointwise(self.channel)

    def send(self, codes: npt.NDArray[np.int64], entropy: Entropy) -> SentRows:
        drawn = np.asarray(randomised(self.channel, codes, entropy), dtype=np.int64)
        return SentRows(self.channel.outputs, len(codes), np.arange(len(codes)), drawn)

    def what(self) -> str:
        count = len(self.channel.outputs)
        return f"one of {count} values for each row, with the probabilities tabulated in the JSON certificate"

    def to_dict(self) -> dict[str, Any]:
        return {**self._plain(), **_channel_to(self.channel)}

    @property
    def _places(self) -> dict[Any, int]:
        places: dict[Any, int] = cached(self, SentValue, lambda: {y: n for n, y in enumerate(self.channel.outputs)})
        return places

    def _of_rows(self, sent: SentRows) -> tuple[Any, ...]:
        return tuple(value for _, value in sent)


@dataclass(frozen=True)
class SentTuple(SentValue):
    """A channel's output among `dummies` uniform ones, in uniform order (Kawamoto19 Algorithm 1, errata N6)."""

    dummies: int

    @property
    def kind(self) -> str:
        return "sent-tuple"

    @property
    def outputs(self) -> Sequence[Any]:
        count = len(self.channel.outputs) ** (self.dummies + 1)
        if count > MOST_OUTPUTS:
            raise Unsupported(f"there are {count:.3g} tuples, and at most {MOST_OUTPUTS:,} are listed")
        return list(itertools.product(self.channel.outputs, repeat=self.dummies + 1))

    @property
    def only_channel(self) -> Channel | None:
        return None if self.dummies else self.channel

    def shares(self, place: int) -> list[float]:
        row = super().shares(place)
        return [(share + self.dummies / len(row)) / (self.dummies + 1) for share in row]

    def mass(self, answer: int | Fraction, output: Any) -> Fraction:
        """Return the mean over the place of the channel's output; each dummy is each output with one probability."""
        one = Fraction(1, len(self.channel.outputs)) ** self.dummies
        total = sum((SentValue.mass(self, answer, y) for y in output), Fraction(0))
        return total * one / (self.dummies + 1)

    def send(self, codes: npt.NDArray[np.int64], entropy: Entropy) -> SentRows:
        from takifugu.numbers.noise import uniform_below

        width, count = self.dummies + 1, len(codes)
        drawn = uniform_below(len(self.channel.outputs), count * width, entropy).astype(np.int64).reshape(count, width)
        randomised_values, place = randomised(self.channel, codes, entropy), uniform_below(width, count, entropy)
        drawn[np.arange(count), place.astype(np.int64)] = randomised_values
        return SentRows(self.channel.outputs, count, np.repeat(np.arange(count), width), drawn.ravel())

    def what(self) -> str:
        return (
            f"{self.dummies + 1} values for each row in random order: one with the probabilities tabulated in the JSON "
            f"certificate, and {self.dummies} of {len(self.channel.outputs)} values at random"
        )

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "dummies": self.dummies}

    def _of_rows(self, sent: SentRows) -> tuple[Any, ...]:
        each = [value for _, value in sent]
        width = self.dummies + 1
        return tuple(tuple(each[start : start + width]) for start in range(0, len(each), width))


@dataclass(frozen=True)
class SentBits(Sending):
    """The values whose bits are 1, one bit per value (`local.rappor`)."""

    rappor: Rappor

    @property
    def kind(self) -> str:
        return "sent-bits"

    @property
    def values(self) -> tuple[Any, ...]:
        return self.rappor.values

    @property
    def outputs(self) -> Sequence[Any]:
        count = 2.0 ** len(self.values)
        if count > MOST_OUTPUTS:
            raise Unsupported(f"there are {count:.3g} sets of bits, and at most {MOST_OUTPUTS:,} are listed")
        every = range(len(self.values) + 1)
        return [chosen for size in every for chosen in itertools.combinations(self.values, size)]

    def shares(self, place: int) -> list[float]:
        return [float(self.rappor.present if y == place else self.rappor.other) for y in range(len(self.values))]

    def mass(self, answer: int | Fraction, output: Any) -> Fraction:
        chance_of_all = Fraction(1)
        for place, value in enumerate(self.values):
            chance = self.rappor.present if place == int(answer) else self.rappor.other
            chance_of_all *= chance if value in output else 1 - chance
        return chance_of_all

    def pointwise(self) -> Floats:
        apart = 1.0 - np.eye(len(self.values))
        return apart * self.rappor.epsilon

    def send(self, codes: npt.NDArray[np.int64], entropy: Entropy) -> SentRows:
        rows, places = np.nonzero(self.rappor.randomise(codes, entropy))
        return SentRows(self.values, len(codes), rows.astype(np.int64), places.astype(np.int64))

    def what(self) -> str:
        true_bit, other = (number(float(chance)) for chance in (self.rappor.present, self.rappor.other))
        return (
            f"for each row the values whose bit is 1, which it is with probability {true_bit} for the row's own value "
            "and "
            f"{other} for each other one"
        )

    def to_dict(self) -> dict[str, Any]:
        bits = {"own": to_text(self.rappor.present), "other": to_text(self.rappor.other)}
        return {**self._plain(), "inputs": _written(self.values), **bits}

    def _of_rows(self, sent: SentRows) -> tuple[Any, ...]:
        values_of: list[list[Any]] = [[] for _ in range(sent.count)]
        for row, value in sent:
            values_of[row].append(value)
        return tuple(map(tuple, values_of))


def _pointwise(channel: Channel) -> Floats:
    logs = log_masses(channel)
    ratios = np.empty((len(logs), len(logs)))
    for row, log in enumerate(logs):
        with np.errstate(invalid="ignore"):
            ratios[row] = np.where(np.isneginf(log), -np.inf, log - logs).max(axis=1)
    ratios = np.maximum(np.maximum(ratios, ratios.T), 0.0)
    return np.where(ratios > 0, ratios + (1 + ratios) * _ROUNDED, 0.0)


def read(data: Mapping[str, Any]) -> Sending:
    """Read back what `to_dict` wrote; InputError where it is not that."""
    try:
        common = (int(data["rows"]), float(data["expected"]), float(data["worst"]), str(data["measure"]))
        if data["kind"] == "sent-bits":
            true_bit, other = (as_fraction(data[key], "a chance") for key in ("own", "other"))
            return SentBits(*common, Rappor(_read_values(data["inputs"]), true_bit, other))
        channel = _channel_from(data)
        if data["kind"] == "sent-tuple":
            return SentTuple(*common, channel, int(data["dummies"]))
        return SentValue(*common, channel)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("what is sent cannot be read back", rule="it was not written by to_dict") from None


def _written(values: Sequence[Any]) -> list[Any]:
    return [list(value) if isinstance(value, tuple) else value for value in values]


def _read_values(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)


def _channel_to(channel: Channel) -> dict[str, Any]:
    return {
        "inputs": _written(channel.inputs), "outputs": _written(channel.outputs), "total": str(channel.total),
        "masses": [[str(mass) for mass in row] for row in channel.masses],
    }  # fmt: skip


def _channel_from(data: Mapping[str, Any]) -> Channel:
    inputs, outputs = _read_values(data["inputs"]), _read_values(data["outputs"])
    masses, total = tuple(tuple(int(mass) for mass in row) for row in data["masses"]), int(data["total"])
    sizes = len(masses) != len(inputs) or any(len(row) != len(outputs) for row in masses)
    if sizes or any(sum(row) != total or min(row) < 0 for row in masses):
        raise InputError("the rows of the channel are no distributions with one total", rule="it was edited by hand")
    return Channel(inputs, outputs, masses, total)


def _kind(name: str, sentence: str) -> Kind:
    return Kind(read, name, sentence, has_scale=False, words=lambda noise: noise.words())  # type: ignore[attr-defined]


VALUE = _kind("a value for each row", "each row's value replaced by one of finitely many, drawn by a table, by itself")
TUPLE = _kind("a value among dummies", "each row's value, drawn by a table, among values that are drawn at random")
BITS = _kind("bits for each row", "one bit for each value and row, each drawn by itself")
