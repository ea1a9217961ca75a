"""Randomising a column: every value by itself, through one channel, exactly and fast."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from takifugu.core.cache import cached
from takifugu.core.errors import DataError
from takifugu.numbers.distributions.channel import REPAIR_TOTAL, Channel
from takifugu.numbers.noise import Entropy, SystemEntropy, choose
from takifugu.numbers.noise.alias import AliasTables

Indices = npt.NDArray[np.int64]


def randomised(
    channel: Channel, indices: npt.NDArray[np.integer], entropy: Entropy | None = None
) -> npt.NDArray[np.int64]:
    """Return the index of an output for the index of each input, drawn independently with exactly the channel's law.

    It has no certificate: nothing is charged, and drawing the same rows again is a new release. Raises DataError for an
    index that is none of the channel's inputs; nothing is drawn then.

    >>> keep = Channel.of(["a", "b"], ["x", "y"], [[1, 0], [0, 1]])
    >>> randomised(keep, np.array([1, 0, 1])).tolist()
    [1, 0, 1]
    """
    rows = np.asarray(indices, dtype=np.int64)
    if rows.size and (rows.min() < 0 or rows.max() >= len(channel.inputs)):
        raise DataError("a value of the column is not among the channel's inputs", fix="declare it, or clamp it first")
    source = entropy or SystemEntropy()
    if REPAIR_TOTAL % channel.total:
        return _by_input(channel, rows, source)
    return tables(channel).draw(rows, source)


def tables(channel: Channel) -> AliasTables:
    """Return the alias tables of a channel whose masses are multiples of 2**-90, made once."""
    factor = REPAIR_TOTAL // channel.total
    return cached(channel, tables, lambda: AliasTables.of([[mass * factor for mass in row] for row in channel.masses]))


def _by_input(channel: Channel, rows: Indices, entropy: Entropy) -> Indices:
    """Draw for all entries of one input together, exactly for masses over any total."""
    drawn = np.empty(len(rows), dtype=np.int64)
    for number, masses in enumerate(channel.masses):
        places = np.flatnonzero(rows == number)
        if places.size:
            drawn[places] = choose(masses, places.size, entropy)
    return drawn
