"""What a person's device sends for one value: an output of a channel, alone or among dummies.

A sender knows its law, how it draws, how it is written down, and what it gives away and costs for some populations; of
counted ones epsilon and delta hold over their whole class.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from takifugu.core.cache import cached, memoised
from takifugu.core.errors import DataError, Unsupported
from takifugu.core.plain import Json, to_plain
from takifugu.mechanisms.local.classes import among_spread
from takifugu.mechanisms.local.measuring import (
    distribution_delta,
    distribution_loss,
    largest_log_ratios,
    local_loss,
    tuple_loss,
    worst_tuple_loss,
)
from takifugu.mechanisms.local.over_classes import delta_over, loss_over
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.tupling import Tupling
from takifugu.numbers.atoms import Floats
from takifugu.numbers.distributions.channel import REPAIR_TOTAL, Channel
from takifugu.numbers.noise import Entropy, SystemEntropy, choose, uniform_below
from takifugu.numbers.noise.alias import AliasTables

Codes = npt.NDArray[np.int64]
#: Most outputs that are listed, for the audit.
MOST_OUTPUTS = 100_000


@dataclass(frozen=True, eq=False)
class SentRows:
    """The values sent for `count` rows: for each its row, and its place in `outputs`."""

    outputs: tuple[Hashable, ...]
    count: int
    row: Codes
    place: Codes

    def __iter__(self) -> Iterator[tuple[int, Hashable]]:
        return ((row, self.outputs[place]) for row, place in zip(self.row.tolist(), self.place.tolist(), strict=True))


@dataclass(frozen=True)
class Sender:
    """A channel's output among `dummies` uniform ones in uniform order (Kawamoto19 Algorithm 1, errata N6)."""

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
        """Return all outputs for one row; Unsupported for too many."""
        if not self.dummies:
            return self.channel.outputs
        count = len(self.channel.outputs) ** (self.dummies + 1)
        if count > MOST_OUTPUTS:
            raise Unsupported(f"there are {count:.3g} tuples, and at most {MOST_OUTPUTS:,} are listed")
        return list(itertools.product(self.channel.outputs, repeat=self.dummies + 1))

    def mass(self, place: int, output: Hashable) -> Fraction:
        """Return P(output | value of this number), its place being uniform."""
        row, total = self.channel.masses[place], self.channel.total
        dummies_mass = Fraction(1, len(self.channel.outputs)) ** self.dummies
        outputs = output if self.dummies and isinstance(output, Iterable) else (output,)
        places = cached(self, Sender, lambda: {y: number for number, y in enumerate(self.channel.outputs)})
        return Fraction(sum(row[places[y]] for y in outputs), total) * dummies_mass / (self.dummies + 1)

    def shares(self, place: int) -> list[float]:
        """Return the share of each value in the output for a value."""
        masses, total = self.channel.masses[place], self.channel.total
        return [(mass / total + self.dummies / len(masses)) / (self.dummies + 1) for mass in masses]

    def unseen(self) -> Fraction:
        """Return how often the value is misread, as the output's most probable one, that is misread most."""
        # Of n >= 2 uniform values the commonest is there 5n/6 times at most on average: 1 + 1/k <= 3/2 among any two.
        if self.dummies:
            return Fraction(1, 6)
        # The exact values can be read off where every one can.
        masses = np.array(self.channel.masses, dtype=object)
        most, read = masses.argmax(axis=0), [0] * len(masses)
        for output, value in enumerate(most.tolist()):
            read[value] += masses[value][output]
        return 1 - Fraction(min(read), self.channel.total)

    def pointwise(self) -> Floats:
        """Return the largest log-ratio of every two values, both orders, rounded up, shape (values, values)."""
        return largest_log_ratios(self.channel)

    def send(self, codes: Codes, entropy: Entropy) -> SentRows:
        outputs, width, count = self.channel.outputs, self.dummies + 1, len(codes)
        if not self.dummies:
            drawn = np.asarray(randomised(self.channel, codes, entropy), dtype=np.int64)
            return SentRows(outputs, count, np.arange(count), drawn)
        drawn = uniform_below(len(outputs), count * width, entropy).astype(np.int64).reshape(count, width)
        true, place = randomised(self.channel, codes, entropy), uniform_below(width, count, entropy)
        drawn[np.arange(count), place.astype(np.int64)] = true
        return SentRows(outputs, count, np.repeat(np.arange(count), width), drawn.ravel())

    def of_rows(self, sent: SentRows) -> tuple[Hashable, ...]:
        """Return the value or tuple of values of each row."""
        sent_values = map(itemgetter(1), sent)
        if not self.dummies:
            return tuple(sent_values)
        return tuple(zip(*[sent_values] * (self.dummies + 1), strict=True))  # one iterator, read in turns

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
            "inputs": to_plain(self.channel.inputs), "outputs": to_plain(self.channel.outputs),
            "total": str(self.channel.total), "masses": [list(map(str, row)) for row in self.channel.masses],
        }  # fmt: skip
        return {**channel, "dummies": self.dummies} if self.dummies else channel

    def epsilon(self, populations: Populations) -> float:
        """Return the least epsilon with delta 0: the channel's, without dummies."""
        if populations.regions is not None:
            return loss_over(self.channel, populations.regions)
        return populations.largest(partial(distribution_loss, self.channel))

    def delta(self, populations: Populations, epsilon: Fraction) -> float:
        if populations.regions is not None:
            bound = delta_over(self.channel, populations.regions, epsilon, self.dummies)
            if not self.dummies or populations.regions.largest_mass is None:
                return bound
            return min(bound, among_spread(self.channel, populations.regions, epsilon, self.dummies))
        if not self.dummies:
            return populations.largest(partial(distribution_delta, self.channel, epsilon=epsilon))
        lifted = []
        for law in populations.laws.values():
            masses = self.channel.lift(law)
            lifted.append([Fraction(masses.get(y, 0)) for y in self.channel.outputs])
        tupling = Tupling(self.dummies)
        return max(tupling.delta(p, q, epsilon) for p, q in itertools.permutations(lifted, 2))

    def local_epsilon(self) -> float:
        return local_loss(self.channel)

    def expected_loss(self, populations: Populations) -> float:
        return tuple_loss(self.channel, populations.prior, populations.distances, self.dummies)

    def worst_loss(self, populations: Populations) -> float:
        return worst_tuple_loss(self.channel, populations.distances)


def randomised(channel: Channel, indices: npt.NDArray[np.integer], entropy: Entropy | None = None) -> Codes:
    """Draw an output's number for each input, exactly and independently."""
    # There is no certificate: nothing is charged, and drawing the same rows again is a new release.
    rows = np.asarray(indices, dtype=np.int64)
    if rows.size and (rows.min() < 0 or rows.max() >= len(channel.inputs)):
        raise DataError("a value of the column is not among the channel's inputs", fix="declare it, or clamp it first")
    source = entropy or SystemEntropy()
    if REPAIR_TOTAL % channel.total == 0:
        return tables(channel).draw(rows, source)
    drawn = np.empty(len(rows), dtype=np.int64)
    for code, masses in enumerate(channel.masses):  # of any total: all rows of one input together
        places = np.flatnonzero(rows == code)
        if places.size:
            drawn[places] = choose(masses, places.size, source)
    return drawn


@memoised
def tables(channel: Channel) -> AliasTables:
    """Return the alias tables of a channel, its masses multiples of 2**-90."""
    factor = REPAIR_TOTAL // channel.total
    return AliasTables.of((np.array(channel.masses, dtype=object) * factor).tolist())
