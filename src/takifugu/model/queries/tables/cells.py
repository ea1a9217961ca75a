"""The cells of a table by cells as people write them, and the tables of an answer that lies in several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import InputError, within
from takifugu.core.rules import check_any, pairs_of, too_large
from takifugu.model.queries.answer import Additive, Chosen
from takifugu.model.queries.forms import entry_tuple
from takifugu.numbers.rationals import as_whole

#: The entries of each label.
Cells = Mapping[str, Iterable[int | str]] | Iterable[tuple[str, Iterable[int | str]]]
#: A table of more numbers (kinds of entries x values x cells of the answer) is refused: 400 MB.
MOST_NUMBERS = 50_000_000


def checked_cells(cells: Cells) -> tuple[tuple[str, Chosen], ...]:
    """Return the cells as labels and entries.

    Raises InputError for what cannot be told apart or holds nothing.
    """
    chosen_of = dict[str, Chosen]()
    for label, entries in pairs_of(cells, "the cells", "cells", "[('night', range(6))]"):
        if not isinstance(label, str) or not label:
            raise InputError(f"a cell is called {label!r}", rule="its label is a text", fix="name it").at("cells")
        if label in chosen_of:
            raise InputError(f"two cells are called {label!r}", fix="rename one, or join them").at("cells")
        with within("cells", label):
            chosen_of[label] = entry_tuple(_some(entries, label)) or ()
    check_any(chosen_of, "the table has no cell", "cells", fix="name one, with its entries")
    return tuple(chosen_of.items())


def checked_period(every: int | None, cells: tuple[tuple[str, Chosen], ...]) -> int | None:
    """Return after how many entries the cells repeat.

    Raises InputError where they hold an entry beyond those.
    """
    if every is None:
        return None
    as_whole(every, "the period of the cells", "every", least=1)
    for label, entries in cells:
        odd = next((entry for entry in entries if isinstance(entry, str) or entry >= every), None)
        if odd is not None:
            rule = f"cells that repeat every {every} entries hold numbers from 0 to {every - 1}"
            raise InputError(f"the cell {label!r} holds {odd!r}", rule=rule, fix="number them so").at("cells", label)
    return every


def _some(entries: object, label: str) -> list[int | str]:
    """Return a cell's entries as a list, or raise InputError without any."""
    iterable = [entries] if isinstance(entries, str) else entries
    if not isinstance(iterable, Iterable):
        message = f"the entries of the cell {label!r} are {entries!r}"
        raise InputError(message, fix="give a list of entry numbers or names, such as [0, 24]").at("entries")
    listing = list(iterable)
    check_any(listing, f"the cell {label!r} has no entry", fix="leave it out, or name its entries")
    return listing


def tables_of_kinds(
    base: Additive, places_of_cells: list[IntArray], parts: list[int]
) -> tuple[tuple[IntArray, ...], IntArray]:
    """Return a table for each kind of entry, and every entry's kind.

    A kind is its table in `base` and the cells that hold it.
    """
    if base.table_of is None:
        kind_of = np.zeros(base.size, dtype=np.int64)
    else:
        kind_of = base.table_of.copy()
    joined = list[tuple[int, int]]()  # kinds after the first: another kind, with one more cell
    for cell, places in enumerate(places_of_cells):
        before, place_in_kinds = _numbered(kind_of[places])
        kind_of[places] = len(base.tables) + len(joined) + place_in_kinds
        joined += product(before.tolist(), [cell])
        _check_size(len(joined))
    used, table_of = _numbered(kind_of)
    kinds_of_entries = [_cells_of(kind, len(base.tables), joined) for kind in used.tolist()]
    _check_size(sum(len(base.tables[number]) for number, _ in kinds_of_entries) * base.cells * len(places_of_cells))
    tables = tuple(_table(base, number, cells, parts) for number, cells in kinds_of_entries)
    return tables, table_of


def _numbered(kinds: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different kinds, small numbers, and where each entry's one is among them."""
    is_used = np.bincount(kinds) > 0
    return np.flatnonzero(is_used), (np.cumsum(is_used) - 1)[kinds]


def _check_size(numbers: int) -> None:
    if numbers > MOST_NUMBERS:
        fix = "take fewer cells, or cells of which fewer overlap"
        raise too_large("the table by cells", numbers, MOST_NUMBERS, "numbers", fix).of(InputError).at("cells")


def _cells_of(kind: int, first: int, joined: list[tuple[int, int]]) -> tuple[int, list[int]]:
    """Return the query's table number and the cells of a kind."""
    cells = list[int]()
    while kind >= first:
        kind, cell = joined[kind - first]
        cells.append(cell)
    return kind, cells


def _table(base: Additive, number: int, cells: list[int], parts: list[int]) -> IntArray:
    """Return the addend of each value of an entry in these cells."""
    base_table = base.tables[number]
    table = np.zeros((len(base_table), base.cells * len(parts)), dtype=np.int64)
    for cell in cells:
        table[:, cell * base.cells : (cell + 1) * base.cells] = base_table * parts[cell]
    return table
