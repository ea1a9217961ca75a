"""What is counted over all rows of a table, and nothing guessed from the first ones; no value of a row leaves it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from takifugu.core.errors import DataError, InputError
from takifugu.core.files import private_folder
from takifugu.core.nearest import likeliest, nearest, unknown
from takifugu.data.files.text_file import ENDINGS
from takifugu.data.relation.opening import JSON, PARQUET, WRITTEN, Opening
from takifugu.data.relation.relation import Relation, run, types_of, view
from takifugu.data.sql.judge import judged
from takifugu.data.sql.scopes import Rows
from takifugu.data.sql.tree import column_nodes, expression, text_of
from takifugu.data.sql.words import folded, identifier, literal
from takifugu.releasing.draft.layout import Layout, layout_of

#: Of more columns none is counted: they are named by who knows them. So many are counted at once.
MOST_COUNTED, _AT_ONCE = 200, 50
#: Columns that are called as steps are at least so many.
_FEWEST_STEPS = 5


@dataclass(frozen=True, eq=False)
class Evidence:
    """A table whose rows are counted: `rows` names them in its DuckDB, with columns of some `types`."""

    file: str
    relation: Relation = field(repr=False)
    types: Mapping[str, str]
    layout: Layout | None = None
    #: Their SELECT, of a file that has tables.
    sql: str | None = None
    is_one_of_several: bool = False
    rows: str = identifier(WRITTEN)
    where: str = ""
    #: What makes a row of each step, and the columns of its name and value.
    across: str = ""
    unpivoted: tuple[str, ...] = ()
    keeps: object = field(default=None, repr=False)
    answers: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict, repr=False)

    def __enter__(self) -> Evidence:
        return self

    def __exit__(self, *_: object) -> None:
        self.relation.close()

    def ask(self, select: str, where: str = "", rows: str = "") -> list[tuple[Any, ...]]:
        """Return the answer of a statement about the rows that count, which is computed once; errors quote no row."""
        statement = f"select {select} from {rows or self.counting}{where and ' where ' + where}"
        if statement not in self.answers:
            self.answers[statement] = self.relation.rows(statement)
        return self.answers[statement]

    def count(self, *values: str) -> tuple[Any, ...]:
        """Return aggregates over all rows that count."""
        return self.ask(", ".join(values))[0]

    @property
    def counting(self) -> str:
        """Return the rows that count, as SQL after FROM."""
        return f"(from {self.rows}{self.where and ' where ' + self.where})"

    @property
    def size(self) -> int:
        """Return the number of rows."""
        return int(self.count("count(*)")[0])

    def different(self, columns: Sequence[str]) -> dict[str, int]:
        """Return the number of different values of columns."""
        numbers = list[int]()
        for start in range(0, len(columns), _AT_ONCE):
            numbers += self.count(*(f"count(distinct {identifier(c)})" for c in columns[start : start + _AT_ONCE]))
        return dict(zip(columns, numbers, strict=True))

    def type_of(self, sql: str, key: str) -> str:
        """Return the type of an expression; InputError, with the key, for what is none."""
        return types_of(self.relation.connection, f"select {sql} as x from {self.rows}", key)["x"]

    def judged(self, text: str, key: str) -> str:
        """Return a column or an expression as SQL; InputError, with the key, for another text."""
        if text in self.types:
            return identifier(text)
        line = [name.lower() for name in self.layout.line] if self.layout else []
        if line.count(text.lower()) > 1:
            others = [f"column {n}" for n, name in enumerate(line, 1) if name == text.lower()]
            error = InputError(f"the first line names {text[:80]!r} twice", rule="a column has one name").at(key)
            raise error.offering((other, "") for other in others)
        tree = expression(text, key)
        known = {folded(name) for name in self.types}
        for name in (node["column_names"][-1] for node in column_nodes(tree)):
            if folded(name) not in known and likeliest(name, self.types):  # a draft shows its columns to the owner
                raise unknown(f"{key} names {name[:80]!r}, which is no column", name, self.types).at(key)
        judged(tree, key, Rows.of(0, self.types))
        if key != "where" and not column_nodes(tree):  # a number that is on no menu, too
            error = InputError(f"{key} is {text[:40]!r}, which names no column", rule="it says something of each row")
            error.fix = f"write {nearest(text, self.types)}"
            raise error.at(key)
        sql = f"({text_of(tree)})"
        self.relation.alone[key] = f"select count({sql}) from {self.rows}"  # an error of it is that of its key
        return sql

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """Return the columns that are called as steps, if any: they differ in numbers and words alone."""
        alike = dict[tuple[str, str], list[str]]()
        for name, kind in self.types.items():
            if re.search(r"\d", name):
                alike.setdefault((re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", name)), kind), []).append(name)
        most = max(alike.values(), key=len, default=[])
        return tuple(most) if len(most) >= _FEWEST_STEPS else ()

    @cached_property
    def by_steps(self) -> Evidence:
        """Return the evidence of one row for each step and old row: its name and its value are the last two columns."""
        new = [*self.types]
        for name in ("time", "value"):
            while name in map(str.lower, new):
                name += "_"
            new.append(name)
        time, value = map(identifier, new[-2:])
        names = ", ".join(identifier(name) for name in self.types if name not in self.steps)
        sql = f"unpivot include nulls ({value} for {time} in (columns(*{names and f' exclude ({names})'})))"
        types = view(self.relation.connection, "takifugu steps", f"from {self.rows} {sql}", "file")
        return replace(self, rows=identifier("takifugu steps"), types=types, across=sql, unpivoted=(new[-2], new[-1]))

    def select(self, path: str) -> str:
        """Return the SELECT of the rows before roles, with the file at a path."""
        source = self.sql or "FROM data"
        if self.layout is not None:
            source = self.layout.select(path)
        elif path.lower().endswith(PARQUET):
            source = f"FROM read_parquet({literal(path)})"
        elif path.lower().endswith(JSON):
            columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.relation.types)
            source = f"FROM read_json({literal(path)}, columns = {{{columns}}})"
        return f"{source} {self.across}".rstrip()


def evidence(given: object, encoding: str | None = None, sql: str | None = None) -> Evidence:
    """Open a file, by its codec and table, or a frame, to count its rows; InputError with choices, DataError."""
    file, frame = (str(given), None) if isinstance(given, str | Path) else ("", given)
    path, folder = Path(file), private_folder()
    if file:
        refuse_no_file(file)
    ending, layout = Path(file.lower().removesuffix(".gz")).suffix, None
    if ending in ENDINGS:
        layout = layout_of(file, encoding)
    select = layout.select(path.name) if layout else sql
    read = None if layout or not file else path.name
    with Opening((), path.parent, folder.name, read, select, is_question=True) as opening:
        relation = opening.take(frame)
        counts = ", ".join(f"count({identifier(column)})" for column in [*relation.types][:MOST_COUNTED])
        # can every row be read
        run(opening.connection, f"select {counts} from {identifier(WRITTEN)}", "file", path.name)
        is_one_of_several = sql is not None
        if file and sql is None and not layout and ending not in (*PARQUET, *JSON):  # the only table of the file
            views = relation.rows("select view_name from duckdb_views() where not internal")
            sql = next(f"FROM {identifier(name)}" for (name,) in views if name != WRITTEN)
        opened = Evidence(file, relation, relation.types, layout, sql, is_one_of_several, keeps=folder)
        if not opened.size:
            raise DataError(f"{path.name or 'the frame'} has no row", fix="export it again, with its rows").at("file")
        return opened


def refuse_no_file(file: str) -> None:
    """Raise DataError for a path of no file."""
    path = Path(file)
    if not path.is_file():
        what = "is a URL" if "://" in file else "is not there"
        if path.exists():
            what = "is a folder" if path.is_dir() else "is a device or a pipe"
        raise DataError(f"{file[-60:]!r} {what}", fix="write the path of one file").at("file")
