"""A joint table: every combination of values with its probability, kept exact when it is given exact."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import compress
from typing import Annotated, ClassVar, Literal

import numpy as np

from takifugu.core.arrays import IntArray, read_only
from takifugu.core.assumptions import Assumption, world
from takifugu.core.columns import value_of
from takifugu.core.entries import Undivided
from takifugu.core.errors import InputError, about
from takifugu.core.plain import ByValue, Json, Plain, set_fields
from takifugu.core.rules import are_different, check_known, list_of, members_of, no_law
from takifugu.core.sections import Key, Text, written
from takifugu.model.beliefs.estimate import checked_source, point_estimate
from takifugu.model.beliefs.sections import Columns, Counts, Fit, Probabilities, Public, Rows, TableFit, mass
from takifugu.model.beliefs.states import State, checked_alphabet, different, in_order
from takifugu.model.beliefs.stochastic import floats_of, normalised
from takifugu.numbers.rationals import common_denominator, exact_or_float, to_text


@dataclass(frozen=True, eq=False)
class JointTable(Undivided, ByValue):
    """Model named entries by their joint distribution, row by row.

    Ints and Fractions stay exact. Rows of probability zero keep their values in the alphabets.

    Args:
        rows: Tuples of values, one value for each entry.
        probabilities: One for each row; they sum to 1.
        names: Names of the entries; None for 0, 1, ...
        source: Where the probabilities come from, in words; certificates print it.

    Raises:
        InputError: For repeated rows, rows of different lengths, repeated names, and probabilities that do not sum to
            1.

    Examples:
        >>> bits = JointTable([(0, 0), (1, 1)], [0.5, 0.5], names=["x1", "x2"])
        >>> bits.alphabet(0)
        (0, 1)
    """

    rows: tuple[tuple[State, ...], ...]
    masses: tuple[int, ...] | tuple[float, ...]
    total: int | None
    column_names: tuple[Hashable, ...]
    source: str = "assumed"
    _alphabets: tuple[tuple[State, ...], ...] = field(default=(), repr=False)

    answers: ClassVar = {
        "the distribution of the answer": "analysis.answer_laws.listed:TableLaw",
        "the mean of an answer": "analysis.expectations.rows:OfTable",
        "the list of joint states": "audit.states:TableStates",
        "the distribution of a cell": "analysis.cell_laws.characteristic:of_table",
        "the moments of a count": "analysis.expectations.moments_of_rows:of_table",
        "data drawn from a belief": "analysis.questions.made_up_data:of_table",
        "what a profile costs its secrets": "influence.networks.tables:TABLE",
    }

    def __init__(
        self,
        rows: Iterable[Sequence[State]],
        probabilities: Iterable[int | float | Fraction],
        names: Iterable[Hashable] | None = None,
        source: str = "assumed",
    ) -> None:
        table = tuple(map(_row, members_of(rows, "the rows", "rows", "[('a', 0), ('b', 1)]")))
        all_masses = members_of(probabilities, "the probabilities", "probabilities", "[0.5, 0.5]")
        if not table or len(table) != len(all_masses):
            raise InputError(
                f"the table has {len(table)} rows and {len(all_masses)} probabilities", fix="give one mass per row"
            ).at("probabilities")
        masses, total = _masses(all_masses)
        width = len(table[0])
        if width == 0 or any(len(row) != width for row in table):
            raise InputError(
                "the table's rows have different lengths", rule="every row needs one value per column"
            ).at("rows")
        alphabets = tuple(_alphabet(list(column), i) for i, column in enumerate(zip(*table, strict=True)))
        table = tuple(tuple(map(value_of, row)) for row in table)
        if len(set(table)) != len(table):
            raise InputError("the table repeats a row", fix="add up its probabilities first").at("rows")
        columns: tuple[Hashable, ...] = tuple(f"x{i + 1}" for i in range(width))
        if names is not None:
            columns = tuple(list_of(names, "the columns", "names", "['age', 'sex']"))
        if len(columns) != width or not are_different(columns):
            raise InputError(
                f"the table has {width} columns and the names {list(columns)}", fix="give one different name each"
            ).at("names")
        set_fields(
            self, rows=table, _alphabets=alphabets, masses=masses, total=total, column_names=columns, source=source,
        )  # fmt: skip

    @staticmethod
    def from_counts(
        rows: Iterable[Sequence[State]],
        counts: Iterable[int],
        names: Iterable[Hashable] | None = None,
        *,
        source: str,
        private: bool = False,
    ) -> JointTable:
        """Return the distribution of counted rows, count / total exactly.

        Args:
            rows: Tuples of values, one value for each entry.
            counts: How often each row was counted, whole numbers.
            names: Names of the entries; None for 0, 1, ...
            source: Where the counts come from, in words.
            private: Whether they are the data to protect; `calibrate` then refuses the belief by default.

        Returns:
            The belief.

        Raises:
            InputError: For counts that are negative, all zero or not whole, and for an empty source.

        Examples:
            >>> JointTable.from_counts([("ill",), ("well",)], [1, 3], source="a public survey").total
            4
        """
        raw_counts = members_of(counts, "the counts", "counts", "[1, 3]")
        try:
            numbers = list(map(int, raw_counts))
        except (TypeError, ValueError, OverflowError):
            numbers = []
        if not numbers or min(numbers) < 0 or sum(numbers) == 0 or numbers != raw_counts:
            raise InputError("counts must be whole numbers, not negative, and not all zero").at("counts")
        shares = [Fraction(c, sum(numbers)) for c in numbers]
        return JointTable(rows, shares, names, checked_source(source, private))

    @property
    def size(self) -> int:
        return len(self.column_names)

    @property
    def names(self) -> tuple[Hashable, ...]:
        return self.column_names

    @cached_property
    def one_alphabet(self) -> bool:
        return len(set(self._alphabets)) == 1

    def alphabet(self, entry: int) -> tuple[State, ...]:
        return self._alphabets[entry]

    def position(self, name: Hashable) -> int:
        check_known([name], self.column_names, "the belief has no column")
        return self.column_names.index(name)

    def possible(self, entry: int) -> tuple[bool, ...]:
        alive = set(compress(self.indices[:, entry].tolist(), self.masses))
        return tuple(place in alive for place in range(len(self._alphabets[entry])))

    @cached_property
    def indices(self) -> IntArray:
        """Return the rows as value indices, shape (rows, entries)."""
        indices = np.empty((len(self.rows), self.size), dtype=np.int64)
        for column, (values, alphabet) in enumerate(zip(zip(*self.rows, strict=True), self._alphabets, strict=True)):
            place_of = {value: place for place, value in enumerate(alphabet)}
            indices[:, column] = [place_of[value] for value in values]
        return read_only(indices)

    def assumptions(self) -> tuple[Assumption, ...]:
        return (world("The record follows the stated joint table."),)

    def to_dict(self) -> Json:
        if self.total is None:
            probabilities: list[int | float | str] = list(self.masses)
        else:
            probabilities = [to_text(Fraction(int(m), self.total)) for m in self.masses]
        return {
            "kind": "joint-table", "rows": list(map(list, self.rows)), "probabilities": probabilities,
            "names": list(self.column_names), "source": self.source,
        }  # fmt: skip

    @staticmethod
    def from_dict(data: Plain) -> JointTable:
        probabilities = list(map(exact_or_float, data["probabilities"]))
        return JointTable(data["rows"], probabilities, data.get("names"), data.get("source", "assumed"))

    def describe(self) -> str:
        columns = "1 column" if self.size == 1 else f"{self.size} columns"
        return f"a joint table of {columns} and {len(self.rows)} rows ({self.source})"


def _alphabet(column: list[Hashable], number: int) -> tuple[State, ...]:
    title = f"column {number + 1} of the table"
    return checked_alphabet(in_order(different(column, title, "rows")), title, "rows")


def _row(row: Sequence[State]) -> tuple[State, ...]:
    if isinstance(row, Sequence) and not isinstance(row, str):
        return tuple(row)
    return (row,)


def _masses(probabilities: list[int | float | Fraction]) -> tuple[tuple[int, ...] | tuple[float, ...], int | None]:
    if all(isinstance(p, int | Fraction) and not isinstance(p, bool) for p in probabilities):
        exact = [Fraction(p) for p in probabilities]
        if min(exact, default=0) < 0 or sum(exact) != 1:
            raise no_law("the table", sum(exact)).at("probabilities")
        total = common_denominator(exact)
        return tuple(int(p * total) for p in exact), total
    otherwise = "the probabilities are no list of numbers"
    floats = floats_of(probabilities, otherwise, "give one for each row", "probabilities")
    if floats.ndim != 1 or not np.isfinite(floats).all() or (floats < 0).any() or abs(float(floats.sum()) - 1) > 1e-9:
        raise no_law("the table", floats.sum()).at("probabilities")
    return tuple(map(float, normalised(floats[None, :])[0])), None


@dataclass(frozen=True, kw_only=True)
class TableSection:
    """The joint distribution of a record's columns: counted in a public file, or declared row by row."""

    kind: Annotated[Literal["joint-table"], Key("a joint table of the columns of a record")]
    source: Annotated[Text, Key("where the belief comes from", "a public census of last year")]
    fit: Fit = None
    columns: Columns = None
    rows: Rows = None
    counts: Counts = None
    probabilities: Probabilities = None

    def faults(self) -> Iterator[InputError]:
        return declaration_faults(self.fit, written(self, DECLARED))

    def belief(self, public: Public) -> JointTable:
        with about(*([] if self.fit is None else ["fit"])):
            if self.fit is not None:
                return counted_table(self.fit, self.source, public)[0]
            return declared_table(self.columns, self.rows, self.counts, self.probabilities, self.source)

#: The keys of a section that declares a table by its rows.
DECLARED = ("columns", "rows", "counts", "probabilities")


def declaration_faults(fit: TableFit | None, declared: Sequence[str]) -> Iterator[InputError]:
    """Yield the faults of a section, fitted or with keys of `DECLARED`."""
    if fit is not None:
        for key in declared:
            yield InputError("is given beside fit", fix="write only one of them").at(key)
    elif "columns" not in declared or "rows" not in declared or len(declared) != 3:
        fix = "write columns, rows and either counts or probabilities, or a [belief.fit]"
        yield InputError("is incomplete", fix=fix).at("rows")


def declared_table(
    columns: Columns, rows: Rows, counts: Counts, probabilities: Probabilities, source: str
) -> JointTable:
    """Return the table of a section with its rows."""
    if counts is not None:
        return JointTable.from_counts(rows or (), counts, columns, source=source)
    return JointTable(rows or (), list(map(mass, probabilities or ())), columns, source)


def counted_table(
    fit: TableFit, origin: str, public: Public, classes: Mapping[str, Hashable] | None = None
) -> tuple[JointTable, list[int]]:
    """Return the exact empirical distribution of columns of a records file, and how often each row occurred."""
    counts = public.open(fit).counts(fit.columns, classes or {})
    source = point_estimate(checked_source(f"{origin}; counted in {fit.file}", fit.private))
    numbers = list(counts.values())
    return JointTable.from_counts(list(counts), numbers, fit.columns, source=source), numbers
