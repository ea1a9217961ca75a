"""A source opened: its files, SELECT or frame as one relation, whose columns are the roles that the keys declare."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

from takifugu.core.errors import DataError, InputError, TakifuguError, about, gathered, raise_gathered
from takifugu.core.escaping import is_plain
from takifugu.core.nearest import did_you_mean, first_of
from takifugu.core.plain import toml_of
from takifugu.core.sections import SELECT
from takifugu.data.relation.faults import wrong_key
from takifugu.data.relation.judge import Cells, Judge, Rows, Scope, together
from takifugu.data.relation.keys import Column, Source
from takifugu.data.relation.readers import Reader, with_parameters, without_readers
from takifugu.data.relation.relation import (
    MEMORY,
    Relation,
    Stamps,
    connected,
    files_named,
    lock,
    run,
    stamps_of,
    types_of,
    view,
)  # fmt: skip
from takifugu.data.relation.rules import check_dependence
from takifugu.data.relation.sheets import SQLITE, arrow_table, tables_of_sqlite
from takifugu.data.relation.text_file import ENDINGS, SIGNS, Form, first_record, split_at, transcoded, unique_names
from takifugu.data.relation.tree import Node, columns_in, expression, parsed, replaced, text_of
from takifugu.data.relation.words import identifier, literal
from takifugu.data.relation.workbooks import EXCEL, tables_of_excel

_DAY = 86_400 * 10**6
#: The relation before roles, that of the roles, and that of a frame.
WRITTEN, SOURCE, FRAME = "takifugu written", "takifugu source", "data"
#: What DuckDB calls the type of moments.
_MOMENT = ("timestamptz", "timestamp with time zone")
PARQUET, JSON, DUCKDB = (".parquet", ".pq"), (".jsonl", ".ndjson"), (".duckdb", ".db")
#: The endings of all files that are read.
FILES = (*ENDINGS, *PARQUET, *JSON, *DUCKDB, *EXCEL, *SQLITE)


@dataclass(frozen=True)
class Role:
    """A role as SQL over the columns of the file, its cells, its text in the reading, and DuckDB's type of it."""

    name: str
    sql: str
    cells: Cells = field(repr=False)
    text: str
    type: str = ""


@dataclass(frozen=True, eq=False)
class Opened:
    """An opened source: `relation` has a column for each role, by the role's name; values are value0, value1, ..."""

    source: Source
    relation: Relation
    roles: Mapping[str, Role]
    kind: str
    split: str = ""
    sql: str = ""
    filters: Cells = field(default_factory=dict, repr=False)

    def type(self, role: str) -> str:
        """Return DuckDB's type of a role, "" without one."""
        return self.roles[role].type if role in self.roles else ""

    @property
    def public(self) -> tuple[str, ...]:
        """Return the roles of public columns beside the values."""
        return tuple(name for name in self.roles if name.startswith("by"))

    def words(self) -> dict[str, str]:
        """Return how messages call the roles."""
        source = self.source
        names = {name: getattr(source, name) or "-" for name in ("where", "unit", "recording", "order", "end")}
        words = {name: str(text) if name == "where" else _quoted(str(text)) for name, text in names.items()}
        bucket = ""
        if source.order is not None and source.step is not None:
            bucket = self._bucket(words["order"])
        values = {f"value{number}": _quoted(text) for number, text in enumerate(source.values)}
        groups = {name: self.roles[name].text for name in self.public}
        return words | values | groups | {"value": ", ".join(values.values()), "bucket": bucket}

    def _bucket(self, order: str) -> str:
        """Return the step in which a time lies; texts are times or whole numbers then."""
        source, kind = self.source, "bigint"
        if source.is_time:
            kind = "timestamp" if source.zone is None else "timestamptz"
        when = f"cast({order} AS {kind})" if self.type("order") == "VARCHAR" else order
        rest = (source.origin or 0) % source.width
        if not source.is_time:
            step = f"{source.width} * {source.width}"
            return f"({when} - {rest}) // {step} + {rest}" if rest else f"{when} // {step}"
        start = ""
        if rest or _DAY % source.width:  # steps are counted from 1970 on, buckets from a Monday
            start = f", {kind} '{datetime(1970, 1, 1) + timedelta(microseconds=rest)}'"
        return f"time_bucket(INTERVAL '{source.width // 10**6} s', {when}{start})"


def open_source(
    source: Source, root: str | Path, folder: str, frame: object = None, public: Sequence[str] = (),
    memory: str = MEMORY, threads: int = 2,
) -> Opened:  # fmt: skip
    """Open a source in a private folder, with paths from `root` on; nothing but its first lines is read.

    `beside` are public columns or expressions that answers are counted by.

    Raises InputError for keys, SQL and expressions against the rules, DataError for files that cannot be read.
    """
    if source.file is None and source.sql is None and frame is None:
        raise wrong_key("file", "neither file nor sql is declared", "", 'file = "x.csv"')
    if frame is not None and source.file is not None:
        raise wrong_key("file", "a file is declared, and a frame given", "rows come from one of them", "leave one out")
    if source.value is None:
        raise wrong_key("value", "value is not declared", "it is what is published", 'value = "state"')
    connection = connected(folder, memory, threads)
    texts = {t: f"${key}" for key in ("from", "until") if (t := source.text_of_date(key)) is not None}
    wanted = [*_role_keys(source), *((f"by{number}", text) for number, text in enumerate(public))]
    where = (source.file, source.sql, source.encoding)
    opening = Opening(wanted, Path(root), folder, connection, *where, texts=texts)
    try:
        opening.take(frame)
        return opening.opened(source)
    except RecursionError:
        connection.close()
        raise wrong_key("sql", "sql is nested too deeply", "it is short enough to be reviewed", "WITH") from None
    except BaseException:
        connection.close()
        raise


def open_table(
    given: object, wanted: Sequence[str], root: str | Path, folder: str, key: str, encoding: str | None = None
) -> Relation:
    """Open a table beside the data, such as a roster: a file's name, a SELECT or a frame, with some columns.

    Raises the errors of `open_source`, at the key that declares it.
    """
    text = given if isinstance(given, str) else None
    is_file = text is None or not is_select(text, root)
    connection = connected(folder)
    file, select = (text, None) if is_file else (None, text)
    roles = [(key, name) for name in wanted]
    opening = Opening(roles, Path(root), folder, connection, file, select, encoding, statement=key)
    try:
        with about(key):
            opening.take(None if text is not None else given)
            return opening.relation()
    except BaseException:
        connection.close()
        raise


def files_read(given: str, root: str | Path) -> tuple[Path, ...]:
    """Return the files that a file's name or a SELECT reads, as far as that can be told before it is opened."""
    if not is_select(given, root):
        return (Path(root) / given,)
    try:
        return files_of_select(given, root)
    except TakifuguError:
        return ()  # opening it says what is wrong


def files_of_select(text: str, root: str | Path) -> tuple[Path, ...]:
    """Return the files that a SELECT reads; DataError for one that is not there, InputError for no SELECT."""
    named = [files_named(path, Path(root), "sql") for path in paths_of_select(text)]
    return tuple(Path(file) for files in named for file in files)


def paths_of_select(text: str) -> tuple[str, ...]:
    """Return the paths and patterns that a SELECT names; InputError for no SELECT."""
    readers = list[Reader]()
    without_readers(parsed(text, "sql"), lambda reader: readers.append(reader) or "read")  # type: ignore[func-returns-value]
    return tuple(path for reader in readers for path in reader.paths)


def is_select(text: str, root: str | Path) -> bool:
    """Return whether a text is a SELECT, and no file's name."""
    return SELECT.match(text) is not None and not (Path(root) / text).is_file()


@dataclass
class Opening:
    """The opening of one file, SELECT or frame; `wanted` are the roles, whose columns tell how a text file is split.

    `statement` is the key that may hold a SELECT; `is_asked` says that it is answered as an option.
    """

    wanted: Sequence[tuple[str, str]]
    root: Path
    folder: str
    connection: Any
    file: str | None = None
    select: str | None = None
    encoding: str | None = None
    files: tuple[str, ...] = ()
    stamps: Stamps = ()
    copies: list[str] = field(default_factory=list)
    kind: str = ""
    split: str = ""
    sql: str = ""
    tables: dict[str, Rows] = field(default_factory=dict)
    rows: Rows = field(default_factory=lambda: Rows(()))
    keeps: list[Any] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    is_question: bool = False
    statement: str = "sql"

    def take(self, frame: object) -> None:
        """Name the rows of the SELECT, the frame or the file."""
        if self.select is not None:
            self.take_sql(self.select, frame)
        elif frame is not None:
            self.kind = "frame"
            self._register(arrow_table(frame), WRITTEN)
            self._lock()
        else:
            self.take_file()

    # -- files and frames

    def _register(self, table: Any, name: str) -> None:
        self.keeps.append(table)
        self.connection.register(name, table)
        self.rows = self.tables[name.lower()] = Rows.of(len(self.tables), table.column_names)

    def _note(self, files: Sequence[str]) -> None:
        """Note the files to be read, and how they are before they are."""
        self.files = (*self.files, *files)
        self.stamps = stamps_of(self.files)

    @property
    def _name(self) -> str:
        return self.files[0].rsplit("/", 1)[-1] if self.files else ""

    def _lock(self) -> None:
        lock(self.connection, [*self.files, *self.copies])

    def take_file(self) -> None:
        """Name the rows of the declared file."""
        path = str(self.file)
        self._note(files_named(path, self.root, "file"))
        ending = _kind(path, self.files)
        if ending in (*EXCEL, *SQLITE, *DUCKDB):
            names = self._tables_of_file(ending)
            if len(names) != 1:
                said = [f"FROM {identifier(name)}" for name in names[:6]]
                lines = [f"--sql {shlex.quote(sql)}" if self.is_question else f"sql = {toml_of(sql)}" for sql in said]
                fix = ", or ".join(lines)
                if self.statement != "sql":
                    fix = "write it to a file of its own"
                raise wrong_key("sql", f"the file has {len(names)} tables", "a source is one of them", fix)
            view(self.connection, WRITTEN, f"select * from {identifier(names[0])}", "file")
            self.rows, self.tables = self.tables[names[0].lower()], {WRITTEN: self.tables[names[0].lower()]}
            return
        if self.encoding is not None and ending not in ENDINGS:
            raise wrong_key("encoding", f"encoding of a {ending} file", "text files have one", "leave it out")
        if ending not in (*ENDINGS, *PARQUET, *JSON):
            known = "these are " + " ".join(FILES)
            raise wrong_key("file", f"{path[-60:]!r} is of no kind that is read", known, "save it as CSV")
        select = self._text_select(path) if ending in ENDINGS else ""
        self._lock()
        if ending in PARQUET:
            select = Reader("read_parquet", (), {}).scan(self.files)
        elif ending in JSON:
            select = self._json_select()
        self.kind = "text" if ending in ENDINGS else "parquet" if ending in PARQUET else "json lines"
        self.rows = self.tables[WRITTEN] = Rows.of(0, view(self.connection, WRITTEN, select, "file", self._name))

    def _text_select(self, path: str) -> str:
        """Return the SELECT of text files, split where their first line names the columns of all roles."""
        files, texts = self._decoded(self.files, self.encoding), [text for _, text in self.wanted]
        candidates = split_at(files[0], lambda names: all(_names_in(text, names) is not None for text in texts))
        if candidates is None:
            self._refuse_names(path, max((first_record(files[0], Form(sign)) for sign in SIGNS), key=len))
        self.split, names = candidates
        if any(first_record(other, Form(self.split)) != names for other in files[1:]):
            raise DataError("the first lines of the files differ", fix="UNION ALL of read_csv() in sql").at("file")
        used = {name.lower() for text in texts for name in _names_in(text, names) or ()}
        return Form(self.split).select(files, unique_names(names, lambda name: name.lower() in used, path))

    def _refuse_names(self, path: str, names: Sequence[str]) -> NoReturn:
        """Raise the error about a first line that does not name what the keys do; the line may be a row."""
        faults = list[TakifuguError]()
        for role, text in self.wanted:
            if _names_in(text, names) is None:
                with gathered(faults):
                    raise self._no_name(path, "file" if isinstance(text, Column) else key_of(role), text, names)
        raise_gathered(faults)
        raise DataError(
            f"the first line of {path[-60:]} is split in several ways at which all columns are found",
            fix=f"{self.statement} = \"from read_csv('...', delim = ';')\", with your sign",
        ).at("file")  # fmt: skip

    def _no_name(self, path: str, key: str, text: str, names: Sequence[str]) -> DataError:
        """Return the error about a role whose column is none of some names; of a text that is no expression, too."""
        lacking = text
        if not isinstance(text, Column) and not did_you_mean(text, names):
            columns = columns_in(expression(text, key))
            lacking = next(name for name in columns if name.lower() not in {name.lower() for name in names})
        return DataError(
            f"the first line of {path[-60:]} has no {lacking[:80]!r}{did_you_mean(lacking, names)}",
            rule="a text file names its columns in its first line, split at one of , ; tab |",
            fix=f"{self.statement} = \"from read_csv({literal(path[-60:])}, skip = 3, delim = ' ')\", with your "
            "numbers and signs",
        ).at(key)  # fmt: skip

    def _decoded(self, files: Sequence[str], encoding: str | None) -> tuple[str, ...]:
        """Return text files in UTF-8: these, or copies in the private folder."""
        if encoding is None or encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
            return tuple(files)
        copies = [transcoded(path, encoding, self.folder, len(self.copies) + n) for n, path in enumerate(files)]
        self.copies += copies
        return tuple(copies)

    def _json_select(self) -> str:
        paths = ", ".join(map(literal, self.files))
        keys = f"select unnest(json_keys(json)) as k from read_json_objects([{paths}], format = 'newline_delimited')"
        candidates = run(self.connection, f"select distinct k from ({keys}) order by k", "file", self._name)
        names = [name for (name,) in candidates.fetchall()]
        if len({name.lower() for name in names}) < len(names):
            raise DataError("two names differ in capitals alone", fix="read_json(..., columns = ...) in sql").at("file")
        return Reader("read_json", (), {"columns": dict.fromkeys(names, "VARCHAR")}).scan(self.files)

    def _tables_of_file(self, ending: str) -> list[str]:
        """Make the sheets or tables of the file known by their names."""
        file = self.files[0]
        if ending in DUCKDB:
            self.kind = "duckdb"
            run(self.connection, f"attach {literal(file)} as takifugu_file (read_only)", "file", self._name)
            self._lock()
            statement = "select schema_name, table_name from duckdb_tables() where database_name = 'takifugu_file'"
            names = list[str]()
            for schema, name in self.connection.execute(f"{statement} and not internal order by all").fetchall():
                place = f"takifugu_file.{identifier(schema)}.{identifier(name)}"
                types = view(self.connection, name, f"select * from {place}", "file")
                self.tables[name.lower()] = Rows.of(len(self.tables), types)
                names.append(name)
            return names
        self.kind = "sheet" if ending in EXCEL else "sqlite"
        candidates = (tables_of_excel if ending in EXCEL else tables_of_sqlite)(file)
        self._lock()
        for name in candidates:
            if len(candidates) == 1 if self.select is None else name.lower() in self.select.lower():
                self._register(candidates[name](), name)
        return list(candidates)

    # -- sql

    def take_sql(self, text: str, frame: object) -> None:
        """Judge the SELECT, and name its rows."""
        if self.encoding is not None:
            raise wrong_key("encoding", "encoding is declared beside sql", "read_csv() has its own",
                            "read_csv('x.csv', encoding = 'cp1252')")  # fmt: skip
        tree = parsed(text, "sql")
        self.sql = text_of(with_parameters(tree, self.texts))
        readers = dict[str, Reader]()

        def scan_of(reader: Reader) -> str:
            name = next((name for name, known in readers.items() if known == reader), f"takifugu scan {len(readers)}")
            readers[name] = reader
            return name

        tree = parsed(text_of(without_readers(tree, scan_of)), "sql")  # what is judged is what is run
        files = dict[str, list[str]]()
        for name, reader in readers.items():
            files[name] = [file for path in reader.paths for file in files_named(path, self.root, "sql")]
        every = [file for some in files.values() for file in some]
        self._note(every)
        if len(set(every)) < len(every):
            raise wrong_key("sql", "sql reads one file in two ways", "a column has one name", "read it once, in WITH")
        selects = dict[str, str]()
        for name, reader in readers.items():
            selects[name] = reader.scan(self._decoded(files[name], reader.options.get("encoding")))
        self.kind = "sql"
        if self.file is not None:
            self.files, others = (), self.files
            self._note((*files_named(self.file, self.root, "file"), *others))
            ending = _kind(self.file, self.files)
            if ending not in (*EXCEL, *SQLITE, *DUCKDB):
                raise wrong_key("file", "file and sql are declared", "sql reads the sheets or tables of a file by name",
                                "leave file out, and read it by read_csv() or read_parquet() in sql")  # fmt: skip
            self._tables_of_file(ending)
        else:
            if frame is not None:
                self._register(arrow_table(frame), FRAME)
            self._lock()
        for name, select in selects.items():
            short = files[name][0].rsplit("/", 1)[-1]
            self.tables[name] = Rows.of(len(self.tables), view(self.connection, name, select, "sql", short))
        texts = {n for n, reader in readers.items() if "csv" in reader.function and len(files[n]) == 1}
        self._judge(tree, texts)

    def _judge(self, tree: Node, in_order: set[str]) -> None:
        steps = (tree.get("cte_map") or {}).get("map") or []
        judge = Judge("sql", self.tables, self._matches, is_expression=False, in_order=in_order)
        for step in steps:
            name, made = str(step["key"]), step["value"]
            judge.only(made, "materialized", "query_node", "aliases")
            if name.lower() in self.tables or name.lower().startswith("takifugu") or made.get("aliases"):
                judge.refuse(f"has a step {name[:40]!r} in WITH with other names", "a table has one name", "rename it")
            rows = judge.select(made["query_node"])
            self.tables[name.lower()] = self._viewed(name, made["query_node"], rows)
        tree = {**tree, "cte_map": {"map": []}}
        self.rows = self._viewed(WRITTEN, tree, judge.select(tree))
        for check in {check.sql: check for check in judge.checks}.values():
            if run(self.connection, check.sql, "sql").fetchall():
                raise DataError(f"sql {check.what}", rule=check.rule, fix=check.fix).at("sql")

    def _viewed(self, name: str, tree: Node, rows: Rows) -> Rows:
        """Name the rows of a judged SELECT, with the names that DuckDB gives its columns."""
        types = view(self.connection, name, text_of(tree), "sql")
        if len(types) != len(rows.columns):
            raise wrong_key("sql", "sql has columns that cannot be told apart", "each column has a name", "AS names it")
        return rows.named(list(types))

    def _matches(self, name: str, pattern: str) -> bool:
        statement = f"select regexp_matches({literal(name)}, {literal(pattern)})"
        return bool(run(self.connection, statement, "sql").fetchone()[0])

    # -- roles

    def relation(self) -> Relation:
        """Return the relation before roles."""
        key = "file" if self.select is None else "sql"
        types = types_of(self.connection, identifier(WRITTEN), key)
        if not all(map(is_plain, types)):
            what = "the table has control characters in the names of its columns"
            raise DataError(what, rule="names are printed", fix="rename them").at(key)
        return Relation(self.connection, types, self.files, self.stamps, key, keeps=self.keeps)

    def opened(self, source: Source) -> Opened:
        """Return the opened source, its roles judged."""
        relation = self.relation()
        roles, faults = dict[str, Role](), list[TakifuguError]()
        for name, text in self.wanted:
            with gathered(faults):
                roles[name] = self._role(name, text, relation.types)
        raise_gathered(faults)
        values = together(*(role.cells for name, role in roles.items() if name.startswith("value")))
        cells = {name: role.cells for name, role in roles.items() if not name.startswith("value")}
        check_dependence(
            cells | {"value": values}, self.rows.filters, self.rows.is_distinct, source.is_covered,
            source.rows != "answers" or (source.unit is not None and source.rows_per_person == 1),
            source.rows == "visits",
        )  # fmt: skip
        condition = f"coalesce({roles['where'].sql}, true)" if "where" in roles else "true"
        listed = ", ".join(f"{role.sql} as {identifier(name)}" for name, role in roles.items())
        number = identifier("takifugu row")  # a file may have a column called row
        numbered = f"select *, row_number() over () as {number} from {identifier(WRITTEN)}"
        with_number = f'select {listed}, {number} as "row" from ({numbered}) where {condition}'
        view(self.connection, SOURCE, f"select {listed} from {identifier(WRITTEN)} where {condition}", "value")
        view(self.connection, f"{SOURCE} rows", with_number, "value")
        for name, text in self.wanted:
            if text not in relation.types:
                relation.alone[key_of(name)] = f"select count({roles[name].sql}) from {identifier(WRITTEN)}"
        return Opened(source, relation, roles, self.kind, self.split, self.sql, self.rows.filters)

    def _role(self, name: str, text: str, types: Mapping[str, str]) -> Role:
        key = key_of(name)
        if text in types:
            sql, cells, display = identifier(text), dict(self.rows.columns)[text], identifier(text)
        elif isinstance(text, Column):
            what = f"the data has no column {text[:80]!r}{did_you_mean(text, [*types])}"
            raise DataError(what, fix=f"its columns are {first_of(types)}; AS renames one in sql").at("file")
        else:
            try:
                tree = expression(text, key)
            except InputError:
                near = did_you_mean(text, types)
                if not near:
                    raise
                raise wrong_key(key, f"{key} is no column{near}", "it is its exact name", "write it so") from None
            scope = Scope((("", self.rows),), tree)
            cells = Judge(key).value(tree, scope)
            replaced(tree, lambda node: self._refuse_clocks_of_nobody(node, key))
            sql = f"({text_of(tree)})"
            display = text_of(with_parameters(tree, self.texts))
        kind = types.get(text) or types_of(self.connection, f"select {sql} as x from {identifier(WRITTEN)}", key)["x"]
        if key == "where" and kind != "BOOLEAN":
            fix = "where = \"Typ <> 'Summe'\""
            raise wrong_key("where", f"where holds {kind}", "it is true or false for each row", fix)
        return Role(name, sql, cells, display, kind)


    def _refuse_clocks_of_nobody(self, node: Node, key: str) -> None:
        """Refuse a cast of a moment to what clocks show, which would be those of the connection."""
        if node.get("class") != "CAST" or str(node["type_expr"]["type_name"]).lower() in _MOMENT:
            return
        child = text_of(node["child"])
        kind = types_of(self.connection, f"select {child} as x from {identifier(WRITTEN)}", key)["x"]
        if kind.lower() in _MOMENT:
            raise wrong_key(
                key, f"{key} casts a moment to {node['type_expr']['type_name']}",
                "days and hours are those of clocks somewhere", f"{child} AT TIME ZONE 'Europe/Berlin', with your zone",
            )  # fmt: skip


def _names_in(text: str, names: Sequence[str]) -> list[str] | None:
    """Return the columns that a role's text names, itself or those of its expression; None if one is not there."""
    if text in names:
        return [text]
    if isinstance(text, Column):
        return None
    try:
        used = columns_in(expression(text, "value"))
    except TakifuguError:
        return None
    return used if {name.lower() for name in used} <= {name.lower() for name in names} else None


def key_of(role: str) -> str:
    """Return the key of [source] that declares a role."""
    return "value" if role.startswith("value") else "group" if role.startswith("by") else role


def _role_keys(source: Source) -> list[tuple[str, str]]:
    """Return the roles that are declared, with their texts."""
    roles = [(name, getattr(source, name)) for name in ("unit", "recording", "order", "end", "where")]
    roles += [(f"value{number}", text) for number, text in enumerate(source.values)]
    return [(name, text) for name, text in roles if text is not None]


def _kind(path: str, files: Sequence[str]) -> str:
    """Return the ending that says what a file is; of a database its first bytes say it."""
    ending = _ending(path)
    if ending not in (*DUCKDB, *SQLITE) or not files:
        return ending
    with open(files[0], "rb") as file:
        return SQLITE[0] if file.read(16) == b"SQLite format 3\0" else DUCKDB[0]


def _ending(path: str) -> str:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _quoted(name: str) -> str:
    """Return a column's name as SQL has it; an expression as it is."""
    return name if not name or any(sign in name for sign in "('\"") else identifier(name)
