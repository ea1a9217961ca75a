"""What a person's device sends for one value: an output of a channel, alone or among dummies, or a bit for each value.

Each way knows its law, how it draws, how it is written down, and what it gives away and costs for some populations.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from takifugu.core.cache import cached
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.plain import Json, Plain
from takifugu.core.text.tables import number
from takifugu.mechanisms.local.columns import randomised
from takifugu.mechanisms.local.measuring import (
    distribution_delta,
    distribution_loss,
    largest_log_ratios,
    local_loss,
)
from takifugu.mechanisms.local.over_classes import bits_delta_over, bits_loss_over, delta_over, loss_over
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.quality import tuple_loss, worst_tuple_loss
from takifugu.mechanisms.local.rappor import Rappor
from takifugu.mechanisms.local.tupling import Tupling
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.rationals import as_fraction, to_text
from takifugu.numbers.transport.couplings import Population

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy

Floats = npt.NDArray[np.float64]
#: Most outputs that are listed, for the audit.
MOST_OUTPUTS = 100_000


@dataclass(frozen=True, eq=False)
class SentRows:
    """What was sent for `count` rows: `row` and `place` have an element for each value that was sent.

    `place` is the number of the value in `outputs`. Of a row of which no bit is 1 nothing was sent.
    """

    outputs: tuple[Hashable, ...]
    count: int
    row: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]

    def __iter__(self) -> Iterator[tuple[int, Hashable]]:
        return ((row, self.outputs[place]) for row, place in zip(self.row.tolist(), self.place.tolist(), strict=True))


class Sender(Protocol):
    """A way to send a value of some populations; of counted ones epsilon and delta hold over their whole class."""

    @property
    def kind(self) -> str: ...

    @property
    def values(self) -> tuple[Hashable, ...]: ...

    @property
    def outputs(self) -> Sequence[Hashable]:
        """Return everything that may be sent for one row; Unsupported for more than are listed."""
        ...

    @property
    def only_channel(self) -> Channel | None:
        """Return the channel that draws all that is sent of a row; None where more is sent."""
        ...

    def mass(self, place: int, output: Hashable) -> Fraction:
        """Return P(output | value of this number)."""
        ...

    def shares(self, place: int) -> list[float]:
        """Return how often each value is among what is sent for the value of this number."""
        ...

    def pointwise(self) -> Floats:
        """Return the largest log-ratio of what is sent for each two values, both ways, rounded up; shape (n, n)."""
        ...

    def send(self, codes: npt.NDArray[np.int64], entropy: Entropy) -> SentRows: ...

    def of_rows(self, sent: SentRows) -> tuple[Hashable, ...]:
        """Return what was sent for each row."""
        ...

    def what(self) -> str: ...

    def to_dict(self) -> Json: ...

    def epsilon(self, populations: Populations) -> float:
        """Return the least epsilon of distribution privacy with delta 0; infinite where there is none."""
        ...

    def delta(self, populations: Populations, epsilon: Fraction) -> float:
        """Return the least delta at epsilon, over every two populations, both ways."""
        ...

    def local_epsilon(self) -> float:
        """Return the epsilon of local differential privacy; infinite where there is none."""
        ...

    def expected_loss(self, populations: Populations) -> float: ...

    def worst_loss(self, populations: Populations) -> float: ...


@dataclass(frozen=True)
class Values:
    """A channel's output, among `dummies` uniform ones in uniform order (Kawamoto19 Algorithm 1, errata N6)."""

    channel: Channel
    dummies: int = 0

    @property
    def kind(self) -> str:
        return "sent-tuple" if self.dummies else "sent-value"

    @property
    def values(self) -> tuple[Hashable, ...]:
        return self.channel.inputs

    @property
    def outputs(self) -> Sequence[Hashable]:
        if not self.dummies:
            return self.channel.outputs
        count = len(self.channel.outputs) ** (self.dummies + 1)
        if count > MOST_OUTPUTS:
            raise Unsupported(f"there are {count:.3g} tuples, and at most {MOST_OUTPUTS:,} are listed")
        return list(itertools.product(self.channel.outputs, repeat=self.dummies + 1))

    @property
    def only_channel(self) -> Channel | None:
        return None if self.dummies else self.channel

    def mass(self, place: int, output: Hashable) -> Fraction:
        """Return the mean over the place of the channel's output; each dummy is each output with one probability."""
        row, total = self.channel.masses[place], self.channel.total
        one = Fraction(1, len(self.channel.outputs)) ** self.dummies
        outputs = output if self.dummies and isinstance(output, Iterable) else (output,)
        return Fraction(sum(row[self._places[y]] for y in outputs), total) * one / (self.dummies + 1)

    def shares(self, place: int) -> list[float]:
        row = [mass / self.channel.total for mass in self.channel.masses[place]]
        return [(share + self.dummies / len(row)) / (self.dummies + 1) for share in row]

    def pointwise(self) -> Floats:
        return largest_log_ratios(self.channel)

    def send(self, codes: npt.NDArray[np.int64], entropy: Entropy) -> SentRows:
        from takifugu.numbers.noise import uniform_below

        outputs, width, count = self.channel.outputs, self.dummies + 1, len(codes)
        if not self.dummies:
            drawn = np.asarray(randomised(self.channel, codes, entropy), dtype=np.int64)
            return SentRows(outputs, count, np.arange(count), drawn)
        drawn = uniform_below(len(outputs), count * width, entropy).astype(np.int64).reshape(count, width)
        true, place = randomised(self.channel, codes, entropy), uniform_below(width, count, entropy)
        drawn[np.arange(count), place.astype(np.int64)] = true
        return SentRows(outputs, count, np.repeat(np.arange(count), width), drawn.ravel())

    def of_rows(self, sent: SentRows) -> tuple[Hashable, ...]:
        each, width = [value for _, value in sent], self.dummies + 1
        if not self.dummies:
            return tuple(each)
        return tuple(tuple(each[start : start + width]) for start in range(0, len(each), width))

    def what(self) -> str:
        count, drawn = len(self.channel.outputs), "with the probabilities tabulated in the JSON certificate"
        if not self.dummies:
            return f"one of {count} values for each row, {drawn}"
        return (
            f"{self.dummies + 1} values for each row in random order: one {drawn}, "
            f"and {self.dummies} of {count} values at random"
        )

    def to_dict(self) -> Json:
        channel = {
            "inputs": _written(self.channel.inputs), "outputs": _written(self.channel.outputs),
            "total": str(self.channel.total), "masses": [[str(mass) for mass in row] for row in self.channel.masses],
        }  # fmt: skip
        return {**channel, "dummies": self.dummies} if self.dummies else channel

    def epsilon(self, populations: Populations) -> float:
        """Return the pure epsilon: that of the channel alone, because all dummies may be the least likely output."""
        if populations.regions is not None:
            return loss_over(self.channel, populations.regions)
        laws = populations.laws
        return max(distribution_loss(self.channel, laws[a], laws[b]) for a, b in populations.pairs)

    def delta(self, populations: Populations, epsilon: Fraction) -> float:
        if populations.regions is not None:
            return delta_over(self.channel, populations.regions, epsilon, self.dummies)
        laws, pairs = populations.laws, populations.pairs
        if not self.dummies:
            return max(distribution_delta(self.channel, laws[a], laws[b], epsilon) for a, b in pairs)
        tupling, lifted = Tupling(self.dummies), {name: self._lifted(law) for name, law in laws.items()}
        return max(tupling.delta(lifted[a], lifted[b], epsilon) for a, b in _both_ways(pairs))

    def local_epsilon(self) -> float:
        return local_loss(self.channel)

    def expected_loss(self, populations: Populations) -> float:
        return tuple_loss(self.channel, populations.prior, populations.distances, self.dummies)

    def worst_loss(self, populations: Populations) -> float:
        return worst_tuple_loss(self.channel, populations.distances)

    @property
    def _places(self) -> dict[Hashable, int]:
        return cached(self, Values, lambda: {y: n for n, y in enumerate(self.channel.outputs)})

    def _lifted(self, law: Population) -> list[Fraction]:
        lifted = self.channel.lift(law)
        return [Fraction(lifted.get(y, 0)) for y in self.channel.outputs]


@dataclass(frozen=True)
class Bits:
    """One bit per value (`local.rappor`): a receiver sees the set of values whose bits are 1."""

    rappor: Rappor

    @property
    def kind(self) -> str:
        return "sent-bits"

    @property
    def values(self) -> tuple[Hashable, ...]:
        return self.rappor.values

    @property
    def outputs(self) -> Sequence[Hashable]:
        count = 2.0 ** len(self.values)
        if count > MOST_OUTPUTS:
            raise Unsupported(f"there are {count:.3g} sets of bits, and at most {MOST_OUTPUTS:,} are listed")
        every = range(len(self.values) + 1)
        return [chosen for size in every for chosen in itertools.combinations(self.values, size)]

    @property
    def only_channel(self) -> Channel | None:
        return None

    def mass(self, place: int, output: Hashable) -> Fraction:
        assert isinstance(output, Collection)
        chance_of_all = Fraction(1)
        for number_of_bit, value in enumerate(self.values):
            chance = self.rappor.present if number_of_bit == place else self.rappor.other
            chance_of_all *= chance if value in output else 1 - chance
        return chance_of_all

    def shares(self, place: int) -> list[float]:
        return [float(self.rappor.present if y == place else self.rappor.other) for y in range(len(self.values))]

    def pointwise(self) -> Floats:
        return (1.0 - np.eye(len(self.values))) * self.rappor.epsilon

    def send(self, codes: npt.NDArray[np.int64], entropy: Entropy) -> SentRows:
        rows, places = np.nonzero(self.rappor.randomise(codes, entropy))
        return SentRows(self.values, len(codes), rows.astype(np.int64), places.astype(np.int64))

    def of_rows(self, sent: SentRows) -> tuple[Hashable, ...]:
        values_of: list[list[Hashable]] = [[] for _ in range(sent.count)]
        for row, value in sent:
            values_of[row].append(value)
        return tuple(map(tuple, values_of))

    def what(self) -> str:
        true, other = (number(float(chance)) for chance in (self.rappor.present, self.rappor.other))
        return (
            f"for each row the values whose bit is 1, which it is with probability {true} for the row's own value and "
            f"{other} for each other one"
        )

    def to_dict(self) -> Json:
        bits = {"own": to_text(self.rappor.present), "other": to_text(self.rappor.other)}
        return {"inputs": _written(self.values), **bits}

    def epsilon(self, populations: Populations) -> float:
        if populations.regions is not None:
            return bits_loss_over(self.rappor, populations.regions)
        laws = populations.laws
        return max(self.rappor.distribution_loss(laws[a], laws[b]) for a, b in populations.pairs)

    def delta(self, populations: Populations, epsilon: Fraction) -> float:
        if populations.regions is not None:
            return bits_delta_over(self.rappor, populations.regions, epsilon)
        laws = populations.laws
        return max(self.rappor.delta(laws[a], laws[b], epsilon).high for a, b in _both_ways(populations.pairs))

    def local_epsilon(self) -> float:
        return self.rappor.epsilon

    def expected_loss(self, populations: Populations) -> float:
        """Return the mean distance to the closest set bit; none set costs the diameter."""
        return self.rappor.expected_loss(populations.prior, populations.distances)

    def worst_loss(self, populations: Populations) -> float:
        return float(populations.distances.max())


def read_sender(data: Plain) -> Sender:
    """Read back what `to_dict` and its kind say; InputError, KeyError, TypeError or ValueError where it is not that."""
    if data["kind"] == "sent-bits":
        true, other = (as_fraction(data[key], "a chance") for key in ("own", "other"))
        return Bits(Rappor(_read_values(data["inputs"]), true, other))
    inputs, outputs = _read_values(data["inputs"]), _read_values(data["outputs"])
    masses, total = tuple(tuple(int(mass) for mass in row) for row in data["masses"]), int(data["total"])
    sizes = len(masses) != len(inputs) or any(len(row) != len(outputs) for row in masses)
    if sizes or any(sum(row) != total or min(row) < 0 for row in masses):
        raise InputError("the rows of the channel are no distributions with one total", rule="it was edited by hand")
    dummies = int(data["dummies"]) if data["kind"] == "sent-tuple" else 0
    return Values(Channel(inputs, outputs, masses, total), dummies)


def _both_ways(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [*pairs, *((b, a) for a, b in pairs)]


def _written(values: Sequence[Hashable]) -> list[Hashable | list[Hashable]]:
    return [list(value) if isinstance(value, tuple) else value for value in values]


def _read_values(values: Sequence[Hashable]) -> tuple[Hashable, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)
