"""What is counted over all rows of a table, and nothing guessed from the first ones; no value of a row leaves it."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.core.files import private_folder
from takifugu.data.relation.judge import Judge, Rows, Scope
from takifugu.data.relation.opening import DUCKDB, JSON, PARQUET, WRITTEN, Opening
from takifugu.data.relation.relation import Relation, connected, run, types_of, view
from takifugu.data.relation.sheets import EXCEL, SQLITE, tables_of_excel, tables_of_sqlite
from takifugu.data.relation.text_file import ENDINGS
from takifugu.data.relation.tree import expression, text_of
from takifugu.data.relation.words import identifier, literal
from takifugu.releasing.draft.layout import Layout, layout_of

#: So many columns are counted at once, and so many at all.
_AT_ONCE, MOST_COUNTED = 50, 300
#: Columns that are called as steps are at least so many.
_FEWEST_STEPS = 5
#: What the names of columns that are steps look like.
_STEP_NAMES = (
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?", r"\d{1,2}[./]\d{1,2}[./]\d{2,4}", r"\d{4}[-/]\d\d",
    r"[A-Za-z]{3,9}[ -]\d{4}", r"\d{1,2}:\d\d(:\d\d)?", r"\d{4}", r"[A-Za-z_ ]*\d{1,3}",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Evidence:
    """A table whose rows are counted; `rows` names them in its DuckDB, and `types` has their columns.

    `steps` are the columns that are called as steps. `tables` are those of a file that has several, of which none is
    chosen yet.
    """

    file: str
    relation: Relation = field(repr=False)
    types: Mapping[str, str]
    layout: Layout | None = None
    sql: str | None = None
    rows: str = identifier(WRITTEN)
    where: str = ""
    tables: tuple[str, ...] = ()
    unpivoted: tuple[str, ...] = ()
    keeps: object = field(default=None, repr=False)
    answers: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict, repr=False)
    made: dict[str, Evidence] = field(default_factory=dict, repr=False)
    known: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __enter__(self) -> Evidence:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the table, and those that were made of it."""
        for other in (self, *self.made.values()):
            other.relation.close()

    # -- counts

    def ask(self, select: str, where: str = "", rows: str = "") -> list[tuple[Any, ...]]:
        """Return the answer of a statement about the rows that count, answers once."""
        statement = f"select {select} from {rows or self.counting}{where and ' where ' + where}"
        if statement not in self.answers:
            self.answers[statement] = self.relation.rows(statement)
        return self.answers[statement]

    def count(self, *values: str) -> tuple[Any, ...]:
        """Return aggregates over all rows that count; errors quote no row."""
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
            some = columns[start : start + _AT_ONCE]
            numbers += self.count(*(f"count(distinct {identifier(name)})" for name in some))
        return dict(zip(columns, numbers, strict=True))

    def type_of(self, sql: str, key: str) -> str:
        """Return the type of an expression; InputError, with the key, for what is none."""
        return types_of(self.relation.connection, f"select {sql} as x from {self.rows}", key)["x"]

    def judged(self, text: str, key: str) -> str:
        """Return a column or an expression as SQL; InputError, with the key, for another text."""
        if text in self.types:
            return identifier(text)
        if self.layout is not None and [name.lower() for name in self.layout.line].count(text.lower()) > 1:
            others = [f"column {n}" for n, name in enumerate(self.layout.line, 1) if name.lower() == text.lower()]
            what, fix = f"the first line names {text[:80]!r} twice", f'--{key} "{others[0]}", or "{others[1]}"'
            raise InputError(what, rule="a column has one name", fix=fix).at(key)
        tree = expression(text, key)
        Judge(key).value(tree, Scope((("", Rows.of(0, self.types)),), tree))
        return f"({text_of(tree)})"

    # -- other rows

    def filtered(self, where: str) -> Evidence:
        """Return the evidence of the rows that count."""
        return replace(self, where=self.judged(where, "where"))

    @property
    def steps(self) -> tuple[str, ...]:
        """Return the columns that are called as steps, if any."""
        for form in _STEP_NAMES:
            names = [name for name in self.types if re.fullmatch(form, name)]
            stems = {re.sub(r"\d", "", name) for name in names} if form == _STEP_NAMES[-1] else {""}
            if len(names) >= _FEWEST_STEPS and len(stems) == 1 and len({self.types[name] for name in names}) == 1:
                return tuple(names)
        return ()

    def by_steps(self) -> Evidence:
        """Return the evidence of one row for each step and old row: its name and its value are the last two columns."""
        time, value = (_free(name, self.types) for name in ("time", "value"))
        names = [name for name in self.types if name not in self.steps]
        others = f" exclude ({', '.join(map(identifier, names))})" if names else ""
        sql = f"unpivot include nulls ({identifier(value)} for {identifier(time)} in (columns(*{others})))"
        types = view(self.relation.connection, "takifugu steps", f"from {self.rows} {sql}", "file")
        rows = identifier("takifugu steps")
        return replace(self, rows=rows, types=types, sql=sql, unpivoted=(time, value), made={})

    def select(self, path: str) -> str:
        """Return the SELECT of the rows before roles, with the file at a path."""
        source = "FROM data"
        if self.layout is not None:
            source = self.layout.select(path)
        elif path.lower().endswith(PARQUET):
            source = f"FROM read_parquet({literal(path)})"
        elif path.lower().endswith(JSON):
            columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.relation.types)
            source = f"FROM read_json({literal(path)}, columns = {{{columns}}})"
        elif self.tables:
            source = f"FROM {identifier(self.tables[0])}"
        return f"{source} {self.sql}" if self.sql else source


def evidence(given: object, encoding: str | None = None, sql: str | None = None) -> Evidence:
    """Open a file or a frame, to count its rows.

    Args:
        given: The path of a file, or a frame of pandas, Polars or PyArrow.
        encoding: The codec of a text file, if its bytes fit several.
        sql: The table of a file that has several, as `FROM name`.

    Raises:
        DataError: For a file that is empty, damaged, no table or of no kind that is read.
    """
    folder = private_folder()
    file, frame = (str(given), None) if isinstance(given, str | Path) else ("", given)
    if file and not Path(file).is_file():
        what = "is a folder" if Path(file).is_dir() else "is not there"
        raise DataError(f"{file[-60:]!r} {what}", fix="write the path of one file").at("file")
    ending = Path(file.lower().removesuffix(".gz")).suffix
    layout, select, name = None, sql, Path(file).name
    tables: tuple[str, ...] = ()
    if ending in ENDINGS:
        layout = layout_of(file, encoding)
    elif ending in (*EXCEL, *SQLITE, *DUCKDB):
        tables = _tables(file, ending, folder)
        select = sql or (f"FROM {identifier(tables[0])}" if len(tables) == 1 else None)
        if not tables:
            raise DataError(f"{name} has no table", fix="save its rows in one").at("file")
        if select is None:
            return Evidence(file, Relation(connected(folder.name), {}), {}, tables=tables, keeps=folder)
        tables = tuple(table for table in tables if f"FROM {identifier(table)}" == select)
        if not tables:
            raise InputError(f"sql is {select[:80]!r}", rule="it names one table of the file").at("sql")
    elif ending not in (*PARQUET, *JSON) and frame is None:
        raise DataError(f"{name[-60:]!r} is of no kind that is read", fix="save it as CSV or Parquet").at("file")
    try:
        relation = _opened(file, frame, layout, select if tables else None, folder)
    except TakifuguError:
        if layout is None or layout.pads:
            raise
        layout = replace(layout, pads=True)
        relation = _opened(file, frame, layout, None, folder)
    opened = Evidence(file, relation, relation.types, layout, tables=tables, keeps=folder)
    if not opened.size:
        raise DataError(f"{name or 'the frame'} has no row", fix="export it again, with its rows").at("file")
    return opened


def _opened(
    file: str, frame: object, layout: Layout | None, select: str | None, folder: tempfile.TemporaryDirectory[str]
) -> Relation:
    """Open the rows before roles, every one of which can be read."""
    connection, root, name = connected(folder.name), Path(file).parent, Path(file).name or None
    select = select if layout is None else layout.select(str(name))
    opening = Opening((), root, folder.name, connection, None if layout else name, select)
    try:
        opening.take(frame)
        relation = opening.relation()
        counts = ", ".join(f"count({identifier(column)})" for column in [*relation.types][:MOST_COUNTED])
        run(connection, f"select {counts} from {identifier(WRITTEN)}", "file", str(name))
    except BaseException:
        connection.close()
        raise
    return relation


def _tables(file: str, ending: str, folder: tempfile.TemporaryDirectory[str]) -> tuple[str, ...]:
    """Return the names of a file's tables."""
    if ending in EXCEL:
        return tuple(tables_of_excel(file))
    if ending in SQLITE:
        return tuple(tables_of_sqlite(file))
    with open(file, "rb") as start:
        if start.read(15) == b"SQLite format 3":
            what = f"{Path(file).name} holds SQLite, and is named as DuckDB's files are"
            fix = f"mv {shlex.quote(file)} {shlex.quote(file.rpartition('.')[0] + '.sqlite')}"
            raise DataError(what, fix=fix).at("file")
    connection = connected(folder.name)
    try:
        run(connection, f"attach {literal(file)} as other (read_only)", "file", Path(file).name)
        names = "select table_name from duckdb_tables() where database_name = 'other' and not internal order by all"
        return tuple(name for (name,) in run(connection, names, "file").fetchall())
    finally:
        connection.close()


def _free(name: str, taken: Iterable[str]) -> str:
    """Return a name that no column has."""
    names = {other.lower() for other in taken}
    while name in names:
        name += "_"
    return name


def is_fitting(roles: Sequence[tuple[str, str]], file: Path, encoding: str | None) -> bool:
    """Return whether a text file alone gives all roles, as its first line is split."""
    with private_folder() as folder:
        connection = connected(folder)
        try:
            Opening(roles, file.parent, folder, connection, file.name, None, encoding).take(None)
        except TakifuguError:
            return False
        finally:
            connection.close()
    return True
