"""What every query offers, and how the states, codes and entries that it names are given, written and read back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Protocol, runtime_checkable

from takifugu.core.arrays import Fixed
from takifugu.core.columns import value_of
from takifugu.core.entries import Entries
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.plain import Plain, PlainForm, form
from takifugu.core.rules import check_any, unwritable
from takifugu.model.queries.answer import Additive, Chosen, State
from takifugu.numbers.rationals import Number, as_fraction, as_positive, is_whole, to_text

#: More entries are counted, not named.
MOST_NAMED = 3


class Query(PlainForm):
    """Define a statistic: resolved against a belief's entries it is an integer answer on a grid.

    Derive a query of your own from this class (docs/extending.md), as a frozen dataclass with a `kind`, `resolve` and
    `describe`. All else has a default, which fits most queries.

    Examples:
        >>> from takifugu.model.queries import Count
        >>> Count("walking").to_dict()["kind"]
        'count'
    """

    #: Whether every entry adds by its value alone, so that counts of the entries' states decide the answer.
    reads_alike: bool = False
    #: Whether answers to single rows add up.
    adds_up: bool = False
    #: Whether the sum of some entries is divided by their number.
    is_mean: bool = False
    #: Whether each cell counts something, and none is ever below 0.
    is_count: bool = False
    #: Whether the size of the answer says nothing of how well it is known, as of a mean.
    is_sizeless: bool = False
    #: Whether it may be told by cells (`GroupBy`), with others (`JointQuery`), beside a threshold (`AtMost`).
    is_by_cells: bool = False
    is_with_others: bool = False
    is_with_threshold: bool = False
    #: Whether a value is chosen, as by a median or mode.
    is_choice: bool = False
    #: The definitions that allow the query, None for all; the rule against it under others, and a fix.
    definitions: tuple[str, ...] | None = None
    elsewhere: tuple[str, str] = ("", "")
    #: How many blocks of cells have a public total.
    blocks: int = 1
    #: The declared grid of the answers, and the entries that are read; None for all.
    grid: Number | None = None
    entries: Chosen | None = None
    #: A weight for each entry by its number, None for one that reads any number of entries.
    weights: tuple[Fraction, ...] | None = None

    @abstractmethod
    def resolve(self, entries: Entries) -> Additive:
        """Return the answer about some entries.

        Args:
            entries: Their number, names and values.

        Returns:
            The answer, without data.
        """

    def over_records(self, entries: Entries) -> Additive:
        """Return the answer about independent records, for a query that does not add up over their columns.

        Args:
            entries: The records, which `resolve` other queries.

        Returns:
            The answer, with one weight a record.

        Raises:
            Unsupported: Unless a query defines it.
        """
        raise Unsupported(
            f"a {type(self).__name__} does not say what it adds per record",
            fix="define over_records(entries), which returns an Additive over the records",
        ).at("query")

    @abstractmethod
    def describe(self) -> str:
        """Describe the statistic in words."""

    @property
    def of_each_cell(self) -> Query:
        """Return the query of each cell of a table by cells; any other query as it is."""
        return self

    @property
    def numbers_entries(self) -> bool:
        """Return whether entries are named by number, for one reading only."""
        return self.weights is not None or self.entries is not None

    def undivided(self) -> Query:
        """Return the sum that a mean divides; any other query as it is."""
        return self

    def unweighted(self) -> Query:
        """Return the query with a weight of 1 for each entry."""
        return self

    def lasting(self, duration: Fraction) -> Query:
        """Return the time of what a query counts; any query that counts no entries as it is.

        Args:
            duration: The time of one entry.

        Returns:
            The query.
        """
        return self

    def over(self, entries: Iterable[int]) -> Query:
        """Return the query about some entries alone.

        Args:
            entries: Their numbers.

        Returns:
            The query.

        Raises:
            InputError: For a query without a field for its entries.
        """
        if not is_dataclass(self) or "entries" not in {field.name for field in fields(self)}:
            raise InputError(
                f"a {type(self).__name__} does not say what it is of the entries that were observed",
                fix="give it a field entries, the numbers of those that it reads",
            )
        return replace(self, entries=tuple(entries))

    @staticmethod
    def meaning(data: Plain, noise: Plain) -> Sequence[str]:
        """Explain an answer in words, where the query's name does not.

        Args:
            data: The query's `to_dict` form.
            noise: The noise's.

        Returns:
            Sentences for the certificate.
        """
        return ()

    @staticmethod
    def two_way(data: Plain, labels: Iterable[str]) -> tuple[tuple[str, str], ...] | None:
        """Return the row and the column of each label, where cells may stand in a table of both.

        Args:
            data: The query's `to_dict` form.
            labels: The labels.

        Returns:
            Two texts for each label; None where cells form a list.
        """
        return None


@runtime_checkable
class QueryReader(Protocol):
    """A belief or domain over records, which reads queries itself, column by column."""

    def resolve(self, query: Query) -> Additive: ...


def own_grid(query: Query) -> Fraction | None:
    """Return the grid that a query declares for its answers, if any."""
    return grid_or_none(query.grid)


def grid_or_none(grid: Number | None) -> Fraction | None:
    """Read a declared grid: a rational above 0, or none."""
    if grid is None:
        return None
    return as_positive(grid, "the grid", "grid")


def named_state(state: object) -> State:
    """Return a state in a query as a plain value that can name one."""
    value = value_of(state)
    try:
        hash(value)
    except TypeError:
        raise unwritable("the query names the state", value).at("states") from None
    return value


def several(states: Iterable[object]) -> tuple[State, ...]:
    """Return states as a tuple without repeats, a set in sorted order."""
    in_order = sorted(states, key=str) if isinstance(states, set | frozenset) else states
    return tuple(dict.fromkeys(map(named_state, in_order)))


def state_or_states(states: object) -> tuple[State, ...]:
    """Return one state, or several, as a tuple without repeats."""
    return several(states if isinstance(states, list | tuple | set | frozenset) else [states])


def entry_tuple(entries: Iterable[int | str] | None) -> Chosen | None:
    """Return chosen entries, numbers before names, each in order and once."""
    if entries is None:
        return None
    try:
        chosen_entries = [entries] if isinstance(entries, str) else list(map(value_of, entries))
    except TypeError as error:
        raise InputError(
            f"entries is {entries!r}", rule="it must be a list of entry numbers, such as [0, 3]"
        ).at("entries") from error
    for i in chosen_entries:
        if not isinstance(i, str) and not is_whole(i):
            raise InputError(
                f"entries holds {i!r}", rule="entries are whole numbers, counted from 0, or names"
            ).at("entries")
    check_any(chosen_entries, "the query reads no entry", "entries")
    return tuple(sorted(set(chosen_entries), key=lambda entry: (isinstance(entry, str), entry)))


def runs(entries: Chosen) -> list[list[int] | str]:
    """Write sorted entries as short runs [first, last], and names."""
    ranges: list[list[int]] = []
    for entry in entries:
        if isinstance(entry, str):
            continue
        if ranges and ranges[-1][1] == entry - 1:
            ranges[-1][1] = entry
        else:
            ranges.append([entry, entry])
    return [*ranges, *(entry for entry in entries if isinstance(entry, str))]


def unruns(ranges: Sequence[Sequence[int] | str]) -> Chosen:
    entries: list[int | str] = []
    for run in ranges:
        entries += [run] if isinstance(run, str) else range(run[0], run[1] + 1)
    return tuple(entries)


def copied_codes(codes: Mapping[State, Number] | None) -> Fixed[State, Number] | None:
    """Return a copy of the codes, which nobody changes."""
    if codes is not None and not isinstance(codes, Mapping):
        raise InputError(
            f"codes is {codes!r}", rule="it gives a number for each state", fix="write for example {'still': 0}"
        ).at("codes")
    return None if codes is None else Fixed(codes)


def codes_to(codes: Mapping[State, Number]) -> list[list[State]]:
    return [[value_of(s), to_text(as_fraction(c, f"the code of {s!r}", "codes"))] for s, c in codes.items()]


def codes_from(pairs: Iterable[tuple[State, str]]) -> dict[State, Number]:
    return {s: Fraction(c) for s, c in pairs}


def where(entries: Chosen | None) -> str:
    """Return the entries of a query in words."""
    if entries is None:
        return ""
    if len(entries) <= MOST_NAMED and all(isinstance(entry, str) for entry in entries):
        return f", of {' and '.join(map(repr, entries))}" + (" alone" if len(entries) == 1 else "")
    if len(entries) > 1:
        return f", in {len(entries):,} of the rows"
    return f", in place {entries[0]} alone"


#: How a field of codes is written.
CODES = form(codes_to, codes_from)
#: How a field of chosen entries is written.
RUNS = form(runs, unruns)
