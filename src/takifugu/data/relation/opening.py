"""The rows of a source before roles: those of its files, its SELECT or its frame, with typed columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from os.path import isfile
from pathlib import Path
from typing import Any

from takifugu.core.errors import TakifuguError, about
from takifugu.core.escaping import is_plain, option
from takifugu.core.plain import toml_of
from takifugu.core.sections import SELECT
from takifugu.data.files.readers import Reader, scan, without_paths, without_readers
from takifugu.data.files.sheets import SQLITE, arrow_table, tables_of_sqlite
from takifugu.data.files.text_file import ENDINGS, refuse_columns, transcoded
from takifugu.data.files.workbooks import EXCEL, tables_of_excel
from takifugu.data.relation.first_line import split_of
from takifugu.data.relation.relation import (
    Relation,
    Stamps,
    connected,
    files_named,
    lock,
    run,
    stamps_of,
    types_of,
    view,
)
from takifugu.data.sql.clocks import checks_of_texts
from takifugu.data.sql.faults import wrong_data, wrong_key
from takifugu.data.sql.judge import Judge
from takifugu.data.sql.scopes import Cells, Check, Rows
from takifugu.data.sql.tree import Node, columns_in, expression, parsed, text_of
from takifugu.data.sql.words import folded, identifier, literal

#: The relation before roles, and that of a frame beside sql.
WRITTEN, FRAME = "takifugu written", "data"
PARQUET, JSON, DUCKDB = (".parquet", ".pq"), (".jsonl", ".ndjson"), (".duckdb", ".db")
#: What a file is, by its ending: all that are read.
KINDS = {
    **dict.fromkeys(ENDINGS, "text"), **dict.fromkeys(PARQUET, "parquet"), **dict.fromkeys(JSON, "json lines"),
    **dict.fromkeys(DUCKDB, "duckdb"), **dict.fromkeys(EXCEL, "sheet"), **dict.fromkeys(SQLITE, "sqlite"),
}  # fmt: skip
FILES = (*KINDS,)
#: A longer text in a column of Parquet that is read is a mistake, or an attack.
LONGEST_TEXT = 100_000
#: Those that hold several tables.
_WITH_TABLES = {"duckdb", "sheet", "sqlite"}


def open_table(
    given: object, wanted: Sequence[str], root: str | Path, folder: str, key: str, encoding: str | None = None
) -> Relation:
    """Open a table beside the data, such as a roster: a file's name, a SELECT or a frame, with some columns."""
    text = given if isinstance(given, str) else None
    is_file = text is None or not is_select(text, root)
    file, select = (text, None) if is_file else (None, text)
    roles = [(key, name) for name in wanted]
    with Opening(roles, Path(root), folder, file, select, encoding, statement=key) as opening, about(key):
        return opening.take(None if text is not None else given)


def files_read(given: str, root: str | Path) -> tuple[Path, ...]:
    """Return the files that a file's name, a pattern or a SELECT reads, as far as can be told before it is opened."""
    try:
        if is_select(given, root):
            return files_of_select(given, root)
        return tuple(map(Path, files_named(given, Path(root), "file")))
    except TakifuguError:  # opening it says what is wrong
        return () if is_select(given, root) else (Path(root) / given,)


def files_of_select(text: str, root: str | Path) -> tuple[Path, ...]:
    """Return the files that a SELECT reads; DataError for one that is not there, InputError for no SELECT."""
    named = [files_named(path, Path(root), "sql") for path in paths_of_select(text)]
    return tuple(map(Path, chain.from_iterable(named)))


def paths_of_select(text: str) -> tuple[str, ...]:
    """Return the paths and patterns that a SELECT names; InputError for no SELECT."""
    _, readers = without_readers(parsed(text, "sql"))
    return tuple(path for reader in readers for path in reader.paths)


def is_select(text: str, root: str | Path) -> bool:
    """Return whether a text is a SELECT, and no file's name."""
    return SELECT.match(text) is not None and not isfile(Path(root) / text)  # a long one is no path, which Path refuses


@dataclass
class Opening:
    """The opening of one file, SELECT or frame."""

    #: The roles with their texts, whose columns tell how a text file is split.
    wanted: Sequence[tuple[str, str]]
    root: Path
    folder: str
    file: str | None = None
    select: str | None = None
    encoding: str | None = None
    #: Whether the SELECT is answered as an option, and the key that may hold it.
    is_question: bool = False
    statement: str = "sql"
    threads: int = 2
    kind: str = ""
    split: str = ""
    sql: str = ""
    rows: Rows = field(default_factory=lambda: Rows(()))
    #: The columns that the SELECT computes, with their cells.
    computed: list[tuple[str, Node, Cells]] = field(default_factory=list)
    _of_parquet: dict[int, tuple[str, dict[str, str], Sequence[str]]] = field(default_factory=dict)
    _tables: dict[str, Rows] = field(default_factory=dict)
    _files: tuple[str, ...] = ()
    _stamps: Stamps = ()
    _copies: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.connection = connected(self.folder, self.threads)

    def __enter__(self) -> Opening:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:  # else the relation has it
            self.connection.close()

    def take(self, frame: object) -> Relation:
        """Name the rows of the SELECT, the frame or the file, and return them before roles."""
        if self.select is not None:
            self._take_sql(self.select, frame)
        elif frame is not None:
            self.kind = "frame"
            self._register(arrow_table(frame), WRITTEN)
            self._lock()
        else:
            self._take_file(str(self.file))

        key = "file" if self.select is None else "sql"
        types = types_of(self.connection, identifier(WRITTEN), key)
        if not all(map(is_plain, types)):
            what = "the table has control characters in the names of its columns"
            raise wrong_data(key, what, "names are printed", "rename them")
        return Relation(self.connection, types, self._files, self._stamps, key)

    # -- files and frames

    def _register(self, table: Any, name: str) -> None:
        from duckdb import Error

        refuse_columns(len(table.column_names), "the table")
        try:
            self.connection.register(name, table)
        except Error:
            place = next((n for n in range(table.num_columns) if not self._is_known(table.select([n]))), 0)
            what = f"column {place + 1} of the frame has a type that DuckDB does not know, such as float16"
            fix = f"frame.astype({{frame.columns[{place}]: 'float64'}}) in pandas, or leave it out"
            raise wrong_data("frame", what, "", fix) from None
        self.rows = self._tables[folded(name)] = Rows.of(len(self._tables), table.column_names)

    def _is_known(self, table: Any) -> bool:
        """Return whether DuckDB knows the types of a table's columns."""
        from duckdb import Error

        try:
            self.connection.register("takifugu column", table)
        except Error:
            return False
        return True

    def _watch(self, files: Sequence[str]) -> None:
        """Note the files to be read, and how they are before they are."""
        self._files, self._stamps = tuple(files), stamps_of(files)

    def _lock(self) -> None:
        lock(self.connection, [*self._files, *self._copies])

    def _take_file(self, path: str) -> None:
        """Name the rows of the declared file."""
        self._watch(tuple(files_named(path, self.root, "file")))
        self.kind = _kind(path, self._files[0])
        if not self.kind:
            known = "these are " + " ".join(FILES)
            raise wrong_key("file", f"{path[-60:]!r} is of no kind that is read", known, "save it as CSV")
        if self.kind in _WITH_TABLES:
            names = self._name_tables()
            if len(names) != 1:
                said = [f"FROM {identifier(name)}" for name in names[:6]]
                lines = [option("sql", sql) if self.is_question else f"sql = {toml_of(sql)}" for sql in said]
                fix = ", or ".join(lines) if self.statement == "sql" else "write it to a file of its own"
                what = f"the file has {len(names)} tables"
                error = wrong_key("sql", what, "a source is one of them", fix)
                error.offers = tuple((sql, "") for sql in said)
                raise error
            view(self.connection, WRITTEN, f"select * from {identifier(names[0])}", "file")
            self.rows = self._tables[folded(names[0])]
            return
        if self.encoding is not None and self.kind != "text":
            what = f"encoding of a {_ending(path)} file"
            raise wrong_key("encoding", what, "text files have one", "leave it out")
        select = self._text_select(path) if self.kind == "text" else ""
        self._lock()
        if self.kind == "parquet":
            self._refuse_columns_of_parquet(self._files[0])
            select = Reader("read_parquet", (), {}).scan(self._files)
        elif self.kind == "json lines":
            select = self._json_select()
        self._name(WRITTEN, select, "file", self._files, self.kind == "parquet")
        self.rows = self._tables[WRITTEN]

    def _text_select(self, path: str) -> str:
        """Return the SELECT of text files."""
        files = self._decoded(self._files, self.encoding)
        form, names = split_of(files, self.wanted, path, self.statement)
        self.split = form.delim
        return form.select(files, names)

    def _decoded(self, files: Sequence[str], encoding: str | None) -> tuple[str, ...]:
        """Return text files in UTF-8: these, or copies in the private folder."""
        if encoding is None or encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
            return tuple(files)
        copies = [transcoded(path, encoding, self.folder, len(self._copies) + n) for n, path in enumerate(files)]
        self._copies += copies
        return tuple(copies)

    def _json_select(self) -> str:
        paths = ", ".join(map(literal, self._files))
        keys = f"select unnest(json_keys(json)) as k from read_json_objects([{paths}], format = 'newline_delimited')"
        candidates = run(self.connection, f"select distinct k from ({keys}) order by k", "file")
        names = [name for (name,) in candidates.fetchall()]
        for _, text in self.wanted if not names else ():  # without a line the columns are those that keys name
            with suppress(TakifuguError):
                names += [name for name in columns_in(expression(text, "value")) if name not in names]
        refuse_columns(len(names), Path(self._files[0]).name)
        if len({folded(name) for name in names}) < len(names):
            raise wrong_data("file", "two names differ in capitals alone", "", "read_json(..., columns = ...) in sql")
        return Reader("read_json", (), {"columns": dict.fromkeys(names, "VARCHAR")}).scan(self._files)

    def _name_tables(self) -> list[str]:
        """Make the sheets or tables of the file known by their names."""
        file = self._files[0]
        if self.kind == "duckdb":
            run(self.connection, f"attach {literal(file)} as takifugu_file (read_only)", "file", Path(file).name)
            self._lock()
            statement = "select schema_name, table_name from duckdb_tables() where database_name = 'takifugu_file'"
            names = list[str]()
            for schema, name in self.connection.execute(f"{statement} and not internal order by all").fetchall():
                place = f"takifugu_file.{identifier(schema)}.{identifier(name)}"
                self._name(name, f"select * from {place}", "file")
                names.append(name)
            return names
        candidates = (tables_of_excel if self.kind == "sheet" else tables_of_sqlite)(file)
        self._lock()
        for name in candidates:
            if len(candidates) == 1 if self.select is None else name.lower() in self.select.lower():
                self._register(candidates[name](), name)
        return list(candidates)

    def _name(self, name: str, select: str, key: str, files: Sequence[str] = (), is_parquet: bool = False) -> None:
        """Name the rows of a SELECT as they are."""
        file = Path(files[0]).name if files else ""
        number, types = len(self._tables), view(self.connection, name, select, key, file)
        self._tables[folded(name)] = Rows.of(number, types)
        if is_parquet:
            self._of_parquet[number] = name, types, files

    def _refuse_columns_of_parquet(self, file: str) -> None:
        schema, name = f"from parquet_schema({literal(file)}) where num_children is null", Path(file).name
        refuse_columns(run(self.connection, f"select count(*) {schema}", "file", name).fetchone()[0], name)

    def refuse_long_texts(self, cells: Cells) -> None:
        """Refuse a text of 1 MB, a million times: Parquet writes it once, and DuckDB copies it for each row."""
        for number, (name, types, files) in self._of_parquet.items():
            paths = ", ".join(map(literal, files))
            sizes = f"from parquet_metadata([{paths}]) where type like '%BYTE_ARRAY' and total_uncompressed_size"
            if not run(self.connection, f"select 1 {sizes} > {LONGEST_TEXT} limit 1", "file").fetchall():
                continue  # no column of texts takes as much in any part of the file
            for column, kind in types.items():
                if kind != "VARCHAR" or (number, folded(column)) not in cells:
                    continue
                # its length is computed once, too, so that this takes no time
                long = f"from {identifier(name)} where strlen({identifier(column)}) > {LONGEST_TEXT} limit 1"
                if run(self.connection, f"select 1 {long}", "file").fetchall():
                    what = f"the column {column[:80]!r} has a text of more than {LONGEST_TEXT:,} bytes"
                    raise wrong_data("file", what, "names, times and states are short", "export it without")

    # -- sql

    def _take_sql(self, text: str, frame: object) -> None:
        """Judge the SELECT, and name its rows."""
        if self.encoding is not None:
            raise wrong_key("encoding", "encoding is declared beside sql", "read_csv() has its own",
                            "read_csv('x.csv', encoding = 'cp1252')")  # fmt: skip
        tree = parsed(text, "sql")
        self.sql = text_of(without_paths(tree))
        tree, readers = without_readers(tree)
        called = [[pair for path in reader.paths for pair in files_named(path, self.root, "sql").items()]
                  for reader in readers]  # fmt: skip
        every = [file for pairs in called for file, _ in pairs]
        declared = () if self.file is None else tuple(files_named(self.file, self.root, "file"))
        self._watch((*declared, *every))
        if len(set(every)) < len(every):
            raise wrong_key("sql", "sql reads one file in two ways", "a column has one name", "read it once, in WITH")
        scans = list[tuple[Reader, Sequence[str], str, str]]()
        for reader, pairs in zip(readers, called, strict=True):
            read, names = zip(*pairs, strict=True)
            decoded = self._decoded(read, reader.options.get("encoding"))
            scans.append((reader, read, reader.scan(decoded, names), reader.as_texts().scan(decoded, names)))
        self.kind = "sql"
        if self.file is not None:
            self.kind = _kind(self.file, declared[0])
            if self.kind not in _WITH_TABLES:
                raise wrong_key("file", "file and sql are declared", "sql reads the sheets or tables of a file by name",
                                "leave file out, and read it by read_csv() or read_parquet() in sql")  # fmt: skip
            self._name_tables()
        else:
            if frame is not None:
                self._register(arrow_table(frame), FRAME)
            self._lock()
        in_order = set[str]()
        for number, (reader, files, select, texts) in enumerate(scans):
            for column, kind in (reader.options.get("columns") or {}).items():  # as where a cast is written
                self.keep("sql", checks_of_texts(kind.upper(), identifier(column), texts))
            if "parquet" in reader.function:
                self._refuse_columns_of_parquet(files[0])
            self._name(scan(number), select, "sql", files, "parquet" in reader.function)
            if "csv" in reader.function and len(files) == 1:
                in_order.add(scan(number))
        self._judge(tree, in_order)

    def _judge(self, tree: Node, in_order: set[str]) -> None:
        judge = Judge("sql", self._tables, self._matches, self.kinds_of, is_expression=False, in_order=in_order)
        for step in (tree.get("cte_map") or {}).get("map") or []:
            name, made = str(step["key"]), step["value"]
            judge.only(made, "materialized", "query_node", "aliases")
            if folded(name) in self._tables or folded(name).startswith("takifugu") or made.get("aliases"):
                judge.refuse(f"has a step {name[:40]!r} in WITH with other names", "a table has one name", "rename it")
            rows = judge.select(made["query_node"])
            self._tables[folded(name)] = self._viewed(name, made["query_node"], rows)
        tree = {**tree, "cte_map": {"map": []}}
        self.rows = self._viewed(WRITTEN, tree, judge.select(tree))
        self.computed = judge.computed
        self.keep("sql", judge.checks)

    def keep(self, key: str, checks: Iterable[Check]) -> None:
        """Refuse rows that break a rule about what a key computes."""
        for check in {check.sql: check for check in checks}.values():
            if run(self.connection, check.sql, key).fetchall():
                raise wrong_data(key, f"{key} {check.what}", check.rule, check.fix)

    def _viewed(self, name: str, tree: Node, rows: Rows) -> Rows:
        """Name the rows of a judged SELECT, with the names that DuckDB gives its columns."""
        types = view(self.connection, name, text_of(tree), "sql")
        if len(types) != len(rows.columns):
            raise wrong_key("sql", "sql has columns that cannot be told apart", "each column has a name", "AS names it")
        return rows.named(list(types))

    def kinds_of(self, select: Node, key: str = "sql") -> list[str]:
        """Return the types of the columns of a SELECT; nothing is read."""
        return [str(kind) for _, kind, *_ in run(self.connection, f"describe {text_of(select)}", key).fetchall()]

    def _matches(self, name: str, pattern: str) -> bool:
        statement = f"select regexp_matches({literal(name)}, {literal(pattern)})"
        return bool(run(self.connection, statement, "sql").fetchone()[0])


def _kind(path: str, file: str) -> str:
    """Return what a file is by its ending, "" for none that is read; a database tells it by its first bytes."""
    kind = KINDS.get(_ending(path), "")
    if kind in ("duckdb", "sqlite"):
        with open(file, "rb") as start:
            return "sqlite" if start.read(16) == b"SQLite format 3\0" else "duckdb"
    return kind


def _ending(path: str) -> str:
    return Path(path.lower().removesuffix(".gz")).suffix
