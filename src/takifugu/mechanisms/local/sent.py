"""What is sent for each row, as a randomiser of one person's rows.

An answer has the number of a value for each row, every row is randomised by itself, and of `rows` rows what is sent
loses at most `rows` times what one loses. A column of many people's rows is drawn at once (`draw_column`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu.analysis.randomisers import Base, Direction, Kind, Loss, Output
from takifugu.core.cache import cached
from takifugu.core.errors import DataError, InputError
from takifugu.core.escaping import at_most, number
from takifugu.core.plain import Json, Plain
from takifugu.mechanisms.local.senders import Sender, SentRows
from takifugu.numbers.atoms import Floats
from takifugu.numbers.distributions.channel import Channel

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


#: A value (a text, a number, or the two coordinates of a place), or several of them.
SENT = Output("value", json.dumps, lambda text: _frozen(json.loads(text)), is_column=True)


@dataclass(frozen=True)
class Sending(Base):
    """A sender for `rows` rows of a person."""

    rows: int
    expected: float  # loss of one row under the prior, in `measure`
    worst: float  # likewise
    measure: str
    sender: Sender

    output = SENT

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.sender.kind

    @property
    def grid(self) -> Fraction:
        return Fraction(1)

    @property
    def cells(self) -> int:
        return self.rows

    @property
    def outputs(self) -> Sequence[Hashable]:
        """Return all outputs for one row; Unsupported for too many."""
        return self.sender.outputs

    def mass(self, answer: int | Fraction, output: Hashable) -> Fraction:
        """Return P(output | value of this number), of one row."""
        return self.sender.mass(int(answer), output)

    def local_loss(self) -> float:
        """Return the epsilon of local differential privacy of one row."""
        return self.sender.local_epsilon()

    def loss(self, change: Fraction, direction: Direction = Direction.EITHER) -> Loss:
        """Return the loss of all rows of a person, for any change."""
        most = self.local_loss() if change else 0.0
        return most if math.isinf(most) else self.rows * Fraction(most)

    def unseen(self, change: Fraction) -> Fraction:
        """Return how often a row's own value cannot be read off what is sent."""
        return Fraction(1) if not change else self.sender.unseen()

    def log_density(self, answer: Sequence[int | Fraction], output: Sequence[Hashable]) -> float:
        """Return log P(output | answer) over all rows; -inf for 0."""
        masses = [self.mass(x, y) for x, y in zip(answer, output, strict=True)]
        if not all(masses):
            return -math.inf
        return math.fsum(math.log(m.numerator) - math.log(m.denominator) for m in masses)

    def expected_error(self) -> float:
        """Return the mean loss of one row under the prior."""
        return self.expected

    def draw(self, answer: Sequence[int | Fraction], entropy: Entropy) -> tuple[Hashable, ...]:
        """Draw the output of each row of one person."""
        codes = np.array(list(map(int, answer)), dtype=np.int64)
        return self.sender.of_rows(self.draw_column(codes, entropy))

    def draw_column(self, answers: object, entropy: Entropy) -> SentRows:
        """Randomise the rows of many people, each by itself."""
        codes = np.asarray(answers, dtype=np.int64)
        if codes.size and (codes.min() < 0 or codes.max() >= len(self.sender.values)):
            raise DataError("a value of the column is not among the declared ones", fix="declare it, or clamp it first")
        return self.sender.send(codes, entropy)

    def words(self) -> str:
        """Describe the output, its loss, and the epsilon of the value itself."""
        unit = f" {self.measure}" if self.measure else ""
        itself = self.local_loss()
        loss = "without a bound" if math.isinf(itself) else f"up to epsilon {at_most(itself)} per row"
        return (
            f"{self.sender.what()}; expected loss {number(self.expected)}{unit} per row, at worst {at_most(self.worst)}"
            f"{unit}; about the value itself, from someone who knows the population, it tells {loss}"
        )

    def to_dict(self) -> Json:
        """Return plain data for `read`."""
        common = {"rows": self.rows, "expected": self.expected, "worst": self.worst, "measure": self.measure}
        return {"kind": self.kind, "grid": "1", "cells": self.rows, **common, **self.sender.to_dict()}


def read_sender(data: Plain) -> Sender:
    """Read a sender from its plain data and its kind."""
    inputs, outputs = tuple(map(_frozen, data["inputs"])), tuple(map(_frozen, data["outputs"]))
    masses, total = tuple(tuple(map(int, row)) for row in data["masses"]), int(data["total"])
    fits = len(masses) == len(inputs) and all(len(row) == len(outputs) for row in masses)
    if not fits or any(sum(row) != total or min(row) < 0 for row in masses):
        raise InputError("the rows of the channel are no distributions with one total", rule="it was edited by hand")
    dummies = int(data["dummies"]) if data["kind"] == "sent-tuple" else 0
    return Sender(Channel(inputs, outputs, masses, total), dummies)


def read(data: Plain) -> Sending:
    """Return the randomiser from its plain data; InputError for others."""
    try:
        common = (int(data["rows"]), float(data["expected"]), float(data["worst"]), str(data["measure"]))
        return Sending(*common, read_sender(data))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("what is sent cannot be read back", rule="it was not written by to_dict") from None


def joint_losses(randomisers: Sequence[Sending]) -> Floats:
    """Return the summed losses of several channels between each two values."""
    senders = [noise.sender for noise in randomisers]
    total: Floats = np.sum([cached(sender, "pointwise", sender.pointwise) for sender in senders], axis=0)
    return total * (1 + 2.0**-50)


def _kind(name: str, sentence: str) -> Kind:
    return Kind(read, name, sentence, has_scale=False, words=lambda noise: noise.words())  # type: ignore[attr-defined]


VALUE = _kind("a value for each row", "each row's value replaced by one of finitely many, drawn by a table, by itself")
TUPLE = _kind("a value among dummies", "each row's value, drawn by a table, among values that are drawn at random")
