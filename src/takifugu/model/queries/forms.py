"""What every query offers, and how its parts are written to and read from plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.entries import Entries
from takifugu.core.errors import InputError, unknown
from takifugu.core.plain import Json, Plain, form
from takifugu.model.queries.additive import Additive, Chosen, State
from takifugu.numbers.rationals import Number, as_fraction, is_whole, to_text


class Query(Protocol):
    """A statistic: resolved against a belief's entries it becomes an integer answer on a grid."""

    def resolve(self, entries: Entries) -> Additive: ...

    def to_dict(self) -> Json: ...

    def describe(self) -> str: ...


class Registered(Query, Protocol):
    """A query of a kind that is registered: what it writes down is read back."""

    @staticmethod
    def from_dict(data: Plain) -> Query: ...


@runtime_checkable
class OnGrid(Protocol):
    """A query that may declare the grid of its answers."""

    @property
    def grid(self) -> Fraction | None: ...


@runtime_checkable
class OfEntries(Protocol):
    """A query that may name the entries that it reads; None: all."""

    @property
    def entries(self) -> Chosen | None: ...


@runtime_checkable
class OfColumns(Protocol):
    """A query that names the columns that it reads."""

    @property
    def columns(self) -> tuple[str, ...]: ...


@runtime_checkable
class Limited(Protocol):
    """A query that only some definitions allow (None: all do), with the rule that forbids it elsewhere, and a fix."""

    @property
    def definitions(self) -> tuple[str, ...] | None: ...

    @property
    def elsewhere(self) -> tuple[str, str]: ...


@runtime_checkable
class Answer(Protocol):
    """What a query is resolved to: cells of whole steps of a grid."""

    @property
    def grid(self) -> Fraction: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def size(self) -> int: ...

    def entry_changes(self) -> IntArray: ...


@runtime_checkable
class ReadsAlike(Protocol):
    """A query to which every entry adds by its value alone."""

    @property
    def reads_alike(self) -> bool: ...


@runtime_checkable
class AddsUp(Protocol):
    """A query about columns whose answers to single rows add up."""

    @property
    def adds_up(self) -> bool: ...


@runtime_checkable
class Choosing(Protocol):
    """A query that chooses values."""

    @property
    def is_choice(self) -> bool: ...


@runtime_checkable
class Averaging(Protocol):
    """A query that divides the sum of some entries by their number."""

    def undivided(self) -> Query: ...


@runtime_checkable
class Weighing(Protocol):
    """A query with a weight for each entry by its number."""

    @property
    def weights(self) -> tuple[Fraction, ...]: ...

    def over(self, entries: Iterable[int]) -> Query:
        """Return the query about some entries alone."""
        ...

    def unweighted(self) -> Query:
        """Return the query with a weight of 1 for each entry."""
        ...


@runtime_checkable
class ByCells(Protocol):
    """A query with an answer for each cell of entries."""

    @property
    def query(self) -> Query: ...

    @property
    def cells(self) -> tuple[tuple[str, Chosen], ...]: ...

    @property
    def by(self) -> str: ...

    @property
    def every(self) -> int | None: ...

    @property
    def entries(self) -> Chosen | None: ...

    @property
    def blocks(self) -> int: ...

    def held(self, entries: Entries) -> list[IntArray]: ...

    def unnamed(self) -> Query: ...


@runtime_checkable
class QueryReader(Protocol):
    """A belief or domain over records, which reads queries itself, column by column."""

    def resolve(self, query: Query) -> Additive: ...


def of_each_cell(query: Query) -> Query:
    """Return the query of each cell; any other query as it is."""
    return query.query if isinstance(query, ByCells) else query


def is_choice(query: Query) -> bool:
    """Return whether a value is chosen, as by a median or mode."""
    return isinstance(of_each_cell(query), Choosing)


def reads_alike(query: Query) -> bool:
    """Return whether counts of the entries' states decide the answer."""
    return isinstance(query, ReadsAlike) and query.reads_alike


def adds_up_over_rows(query: Query) -> bool:
    """Return whether answers to single rows add up."""
    return reads_alike(query) or (isinstance(query, AddsUp) and query.adds_up)


def plain(state: object) -> object:
    """Return a NumPy scalar as Python's value, others as they are."""
    return state.item() if isinstance(state, np.generic) else state


def named_state(state: object) -> State:
    """Return a state in a query as a plain value.

    Raises InputError for a value such as a list, which cannot name one.
    """
    value = plain(state)
    try:
        hash(value)
    except TypeError:
        raise InputError(
            f"the query names the state {value!r} of type {type(value).__name__}",
            fix="write text, a number, true or false",
        ).at("states") from None
    return value


def several(states: Iterable[object]) -> tuple[State, ...]:
    """Return states as a tuple without repeats, a set in sorted order."""
    in_order = sorted(states, key=str) if isinstance(states, set | frozenset) else states
    return tuple(dict.fromkeys(named_state(s) for s in in_order))


def state_or_states(states: object) -> tuple[State, ...]:
    """Return one state, or several, as a tuple without repeats."""
    return several(states if isinstance(states, list | tuple | set | frozenset) else [states])


def entry_tuple(entries: Iterable[int | str] | None) -> Chosen | None:
    """Return chosen entries, numbers before names, each in order and once.

    Raises InputError for none, and for anything but whole numbers from 0 and names.
    """
    if entries is None:
        return None
    try:
        chosen_entries = [entries] if isinstance(entries, str) else list(map(plain, entries))
    except TypeError as error:
        raise InputError(
            f"entries is {entries!r}", rule="it must be a list of entry numbers, such as [0, 3]"
        ).at("entries") from error
    for i in chosen_entries:
        if not isinstance(i, str) and not is_whole(i):
            raise InputError(
                f"entries holds {i!r}", rule="entries are whole numbers, counted from 0, or names"
            ).at("entries")
    if not chosen_entries:
        raise InputError(
            "the query reads no entry", rule="its list of entries is empty", fix="name at least one"
        ).at("entries")
    numbers = sorted({i for i in chosen_entries if isinstance(i, int)})
    return (*numbers, *sorted({i for i in chosen_entries if isinstance(i, str)}))


def grid_or_none(grid: Number | None) -> Fraction | None:
    """Read a declared grid: a rational above 0, or none."""
    if grid is None:
        return None
    step = as_fraction(grid, "the grid", "grid")
    if step <= 0:
        raise InputError(f"the grid is {grid!r}", rule="it must be above 0", fix="write for example '0.001'").at("grid")
    return step


def unknown_column(name: object, names: Iterable[str]) -> InputError:
    """Return the error for a column that no record has."""
    return unknown(f"the records have no column {name!r}", name, names)


def runs(entries: Chosen | None) -> list[list[int] | str] | None:
    """Write sorted entries as short runs [first, last], and names.

    >>> runs((0, 1, 2, 7, "hiv")), unruns([[0, 2], [7, 7], "hiv"])
    ([[0, 2], [7, 7], 'hiv'], (0, 1, 2, 7, 'hiv'))
    """
    if entries is None:
        return None
    ranges: list[list[int]] = []
    for entry in entries:
        if isinstance(entry, str):
            continue
        if ranges and ranges[-1][1] == entry - 1:
            ranges[-1][1] = entry
        else:
            ranges.append([entry, entry])
    return [*ranges, *(entry for entry in entries if isinstance(entry, str))]


def unruns(ranges: Sequence[Sequence[int] | str] | None) -> Chosen | None:
    if ranges is None:
        return None
    entries: list[int | str] = []
    for run in ranges:
        entries += [run] if isinstance(run, str) else range(run[0], run[1] + 1)
    return tuple(entries)


def copied_codes(codes: Mapping[State, Number] | None) -> dict[State, Number] | None:
    """Return a copy of the codes, safe from changes.

    Raises InputError for no mapping.
    """
    if codes is not None and not isinstance(codes, Mapping):
        raise InputError(
            f"codes is {codes!r}", rule="it gives a number for each state", fix="write for example {'still': 0}"
        ).at("codes")
    return None if codes is None else dict(codes)


def codes_to(codes: Mapping[State, Number] | None) -> list[list[State]] | None:
    if codes is None:
        return None
    return [[plain(s), to_text(as_fraction(c, f"the code of {s!r}", "codes"))] for s, c in codes.items()]


def codes_from(pairs: Iterable[tuple[State, str]] | None) -> dict[State, Number] | None:
    return None if pairs is None else {s: Fraction(c) for s, c in pairs}

#: How a field of codes is written.
CODES = form(codes_to, codes_from)
#: How a field of chosen entries is written.
RUNS = form(runs, unruns)


def where(entries: Chosen | None) -> str:
    """Return the entries of a query in words."""
    if entries is None:
        return ""
    if len(entries) > 1:
        return f", in {len(entries)} chosen places"
    if isinstance(entries[0], str):
        return f", of {entries[0]!r} alone"
    return f", in place {entries[0]} alone"
