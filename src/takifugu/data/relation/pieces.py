"""Counted rows as the pieces of people's sequences, in the order of their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError
from takifugu.core.names import natural
from takifugu.data.relation.transitions import States
from takifugu.data.values.counts import LONGEST_PIECE, Counts
from takifugu.data.values.spellings import meant


def pieces_of(
    counts: Counts, unit: str | None, recording: str | None, states: States | None = None,
    rows_of: Callable[[str], Mapping[str, int]] = lambda role: {},
) -> Counts:  # fmt: skip
    """Return counted rows in the order of people's names, each in its one spelling (None without people)."""
    # `unit` and `recording` are the roles, None without; with `states` entries have values; `rows_of` is for messages
    if (counts.lengths > LONGEST_PIECE).any():
        raise DataError(
            f"a person has more than {LONGEST_PIECE:,} steps",
            rule="a longer sequence is a mistake in the order or step", fix="look at order, and at step",
        ).at("step")  # fmt: skip
    units, recordings = (list(map(str, names.tolist())) for names in counts.names)
    spelt: list[str | None] = [None] * len(counts)
    keys = list[list[str]]()
    if unit is not None:
        meaning = _meant(units, unit, "unit", rows_of)
        units = list(map(meaning.__getitem__, units))
        spelt = [*units]
        keys.append(list(map(natural, units)))
    if recording is not None:
        _meant(recordings, recording, "recording", rows_of)
        keys.append(list(map(natural, recordings)))
    places = [*range(len(counts))]
    for column in reversed(keys):  # each sort keeps the order of the one before
        places.sort(key=column.__getitem__)
    order = np.array(places, dtype=np.int64)
    values = None if states is None else _values(counts, states)
    named = replace(counts, names=(np.array(spelt, object), counts.names[1]), values=values)
    return named.taken(order[counts.lengths[order] > 0])  # of a roster, some may have no row where no calendar is


def _meant(
    names: list[str], column: str, role: str, rows_of: Callable[[str], Mapping[str, int]]
) -> dict[str, str]:
    """Return the one spelling of each name; rows are looked for where one is refused."""
    different = dict.fromkeys(names)
    try:
        return meant([(name, None) for name in different], column, role)
    except DataError:
        rows = {name: row - 1 for name, row in rows_of(role).items()}
        if different.keys() <= rows.keys():
            meant([(name, rows[name]) for name in sorted(different, key=rows.__getitem__)], column, role)
        raise


def _values(counts: Counts, states: States) -> list[IntArray]:
    """Return the number of each entry's state, by piece."""
    values = [np.full(length, -1, dtype=np.int64) for length in counts.lengths.tolist()]
    for piece in range(len(values) if states.default >= 0 else 0):
        for steps in counts.observed(piece):
            values[piece][steps.start : steps.stop] = states.default
    rows = zip(states.piece.tolist(), states.first.tolist(), states.last.tolist(), states.code.tolist(), strict=True)
    for piece, first, last, code in rows:
        values[piece][first:last] = code
    return values
