"""Which cells of the files the columns of a relation come from, and where the names of columns are looked up.

A cell is a column of a file (in one row). For each column of a relation there are the cells that its values come from,
and into which rows one cell may go; and for the relation the cells that decide which rows it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace

from takifugu.core.nearest import spelt_alike
from takifugu.data.sql.tree import Node, text_of
from takifugu.data.sql.words import folded

#: A column of the files of one scan, by its name in small letters.
Cell = tuple[int, str]
#: The rows that one record becomes, by the parts of UNION and the columns of UNPIVOT that they come from.
Places = frozenset[tuple[object, ...]]
#: The rows that a cell may go into.
Cells = Mapping[Cell, Places]
ONE, MANY = Places({()}), Places({("*",), ("**",)})
NOTHING: Cells = {}
#: What the number of a line comes from: no column, and how many lines are above it.
LINES = -1
LINE: Cells = {(LINES, "number of a line"): MANY}


def together(*some: Cells) -> Cells:
    """Return the cells of values that are combined."""
    every = {cell for cells in some for cell in cells}
    return {cell: Places().union(*(cells.get(cell, Places()) for cells in some)) for cell in every}


def spread(cells: Cells) -> Cells:
    """Return cells that may go into any row."""
    return dict.fromkeys(cells, MANY)


def part(cells: Cells, name: object) -> Cells:
    """Return the cells of one of several rows that a record becomes."""
    return {cell: Places((name, *place) for place in places) for cell, places in cells.items()}


@dataclass(frozen=True)
class Rows:
    """A relation: its columns with their cells, and the cells that decide which rows there are."""

    columns: tuple[tuple[str, Cells], ...]
    filters: Cells = field(default_factory=dict)
    #: Whether equal rows are one.
    is_distinct: bool = False
    #: The cells that decide in which order rows come.
    order: Cells = field(default_factory=dict)

    @staticmethod
    def of(scan: int, names: Iterable[str]) -> Rows:
        """Return the rows of files as they are."""
        return Rows(tuple((name, {(scan, folded(name)): ONE}) for name in names))

    def inner(self) -> Rows:
        """Return the rows as a table of another SELECT: which rows DISTINCT leaves depends on all columns."""
        if not self.is_distinct:
            return self
        return replace(self, filters=together(self.filters, *(spread(cells) for _, cells in self.columns)))

    def named(self, names: list[str]) -> Rows:
        """Return the rows with other names of the first columns."""
        both = [*names, *(name for name, _ in self.columns[len(names) :])]
        return replace(self, columns=tuple((new, cells) for new, (_, cells) in zip(both, self.columns, strict=False)))


@dataclass(frozen=True)
class Check:
    """A statement that gives a row where a rule about the rows is broken, and the rule."""

    sql: str
    what: str
    rule: str
    fix: str


@dataclass(frozen=True)
class Scope:
    """The tables that names of columns are looked up in; `aliases` are earlier columns of the same SELECT."""

    tables: tuple[tuple[str, Rows], ...]
    node: Node
    aliases: Mapping[str, Cells] = field(default_factory=dict)
    windows: bool = False
    extra: Cells = field(default_factory=dict)
    moved: Cells = field(default_factory=dict)
    hidden_names: Set[str] = frozenset()
    select: Node = field(default_factory=dict)

    @property
    def filters(self) -> Cells:
        """Return the cells that decide which rows there are."""
        return together(self.extra, *(rows.filters for _, rows in self.tables))

    @property
    def order(self) -> Cells:
        """Return the cells that decide in which order rows come."""
        return together(self.moved, *(rows.order for _, rows in self.tables))

    def nearest(self, name: str) -> str:
        """Return which column of the only table was perhaps meant."""
        (_, rows), *others = self.tables or (("", Rows(())),)
        return "" if others else spelt_alike(name, (column for column, _ in rows.columns))

    def columns(self, table: str) -> list[tuple[str, Cells]]:
        """Return the columns of one table, or of all ("")."""
        columns, used = list[tuple[str, Cells]](), set[str]()
        for alias, rows in self.tables:
            if table and folded(alias) != folded(table):
                continue
            for name, cells in rows.columns:
                if table or folded(name) not in self.hidden_names or folded(name) not in used:
                    columns.append((name, cells))
                used.add(folded(name))
        return columns

    def of(self, names: list[str]) -> Cells | None:
        """Return the cells of every column that a name may mean, None for no column."""
        lower = [folded(name) for name in names]
        hits = list[Cells]()
        for alias, rows in self.tables:
            for name, cells in rows.columns:
                if folded(name) == lower[0] or [folded(alias), folded(name)] == lower[:2]:
                    hits.append(cells)
        if lower[0] in self.aliases:
            hits.append(self.aliases[lower[0]])
        return together(*hits) if hits else None

    def is_in_order(self, scans: Set[str]) -> bool:
        """Return whether rows are all lines of one text file, in their order."""
        table = self.select.get("from_table") or {}
        return table.get("table_name") in scans and not self.select.get("where_clause")

    def has(self, columns: list[Node]) -> bool:
        """Return whether all of some columns are here."""
        return all(self.of(column["column_names"]) is not None for column in columns)

    def check_of_order(self, function: str, keys: list[Node]) -> Check:
        """Return the check that no two rows are alike in what a window puts in order."""
        named = [{**key, "alias": f"k{number}"} for number, key in enumerate(keys)]
        select = {**self.select, "select_list": named, "qualify": None, "modifiers": []}
        names = ", ".join(f"k{number}" for number in range(len(keys)))
        return Check(
            f"select 1 from ({text_of(select)}) group by {names} having count(*) > 1 limit 1",
            f"calls {function}() over rows that its ORDER BY does not tell apart",
            "which of two equal rows comes first is not said", "add a column to ORDER BY in OVER (...)",
        )  # fmt: skip


def below(one: Rows, other: Rows) -> Rows:
    """Return the rows of both."""
    columns = zip(one.columns, other.columns, strict=True)
    return Rows(
        tuple((name, together(part(cells, 0), part(more, 1))) for (name, cells), (_, more) in columns),
        together(part(one.filters, 0), part(other.filters, 1)), one.is_distinct or other.is_distinct,
        together(one.order, other.order),
    )  # fmt: skip


def distinct(rows: Rows) -> Rows:
    """Return the rows without equal ones, which come in an order that follows from all columns."""
    return replace(rows, is_distinct=True, order=together(rows.order, *(cells for _, cells in rows.columns)))
