"""What every query offers, and how its parts are written to and read from plain data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Protocol, runtime_checkable

from takifugu.core.entries import Entries
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.plain import Plain, PlainForm, form
from takifugu.model.queries.answer import Additive, Chosen
from takifugu.model.queries.selections import codes_from, codes_to, runs, unruns
from takifugu.numbers.rationals import Number, as_positive


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
    def definitions(self) -> tuple[str, ...] | None:
        """Return the definitions allowing the query; None for all."""
        return None

    @property
    def elsewhere(self) -> tuple[str, str]:
        """Return the rule against the query under other definitions, and a fix."""
        return "", ""

    @property
    def is_choice(self) -> bool:
        """Return whether a value is chosen, as by a median or mode."""
        return False

    @property
    def blocks(self) -> int:
        """Return the number of blocks of cells with a public total."""
        return 1

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


class Answer(Protocol):
    """What a query is resolved to: cells of whole steps of a grid."""

    @property
    def grid(self) -> Fraction: ...

    @property
    def labels(self) -> tuple[str, ...]: ...


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


#: How a field of codes is written.
CODES = form(codes_to, codes_from)
#: How a field of chosen entries is written.
RUNS = form(runs, unruns)
