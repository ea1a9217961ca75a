"""A source opened: its files, SELECT or frame as one relation, whose columns are the roles that the keys declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from takifugu.core.errors import DataError, TakifuguError, about
from takifugu.core.nearest import did_you_mean
from takifugu.data.relation.faults import wrong_key
from takifugu.data.relation.frames import arrow_table
from takifugu.data.relation.judge import Cells, Judge, Rows, Scope, together
from takifugu.data.relation.keys import Source
from takifugu.data.relation.readers import Reader, with_parameters, without_readers
from takifugu.data.relation.relation import (
    MEMORY,
    Relation,
    connected,
    found_files,
    kind_of,
    lock,
    run,
    stamps_of,
    view,
)
from takifugu.data.relation.rules import check_dependence
from takifugu.data.relation.sheets import EXCEL, SQLITE, tables_of_excel, tables_of_sqlite
from takifugu.data.relation.text_file import ENDINGS, Form, first_record, split_at, transcoded, unique_names
from takifugu.data.relation.tree import Node, columns_in, expression, parsed, text_of
from takifugu.data.relation.words import identifier, literal

#: The relation before roles, that of the roles, and that of a frame.
WRITTEN, SOURCE, FRAME = "takifugu written", "takifugu source", "data"
PARQUET, JSON, DUCKDB = (".parquet", ".pq"), (".jsonl", ".ndjson"), (".duckdb", ".db")


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
    scans: Mapping[str, int] = field(default_factory=dict, repr=False)

    def type(self, role: str) -> str:
        """Return DuckDB's type of a role, "" without one."""
        return self.roles[role].type if role in self.roles else ""

    @property
    def beside(self) -> tuple[str, ...]:
        """Return the roles of public columns beside the values."""
        return tuple(name for name in self.roles if name.startswith("by"))

    def words(self) -> dict[str, str]:
        """Return how messages call the roles."""
        source = self.source
        names = {name: getattr(source, name) or "-" for name in ("where", "unit", "recording", "order", "end")}
        words = {name: str(text) if name == "where" else _quoted(str(text)) for name, text in names.items()}
        interval = str(source.step).replace("min", " min").replace("s", " s").replace("h", " h").replace("d", " d")
        bucket = f"time_bucket(INTERVAL '{interval}', {words['order']})"
        if not source.is_time:
            bucket = f"{words['order']} // {source.width} * {source.width}"
        return words | {"value": ", ".join(map(_quoted, source.values)), "bucket": bucket}


def open_source(
    source: Source, root: str | Path, folder: str, frame: object = None, beside: Sequence[str] = (),
    memory: str = MEMORY, threads: int = 2,
) -> Opened:  # fmt: skip
    """Open a source in a private folder, with paths from `root` on; nothing but its first lines is read.

    `beside` are public columns or expressions that answers are counted by.

    Raises InputError for keys, SQL and expressions against the rules, DataError for files that cannot be read.
    """
    if (source.file is None and source.sql is None) and frame is None:
        raise wrong_key("file", "neither file nor sql is declared", "", 'file = "x.csv"')
    if frame is not None and source.file is not None:
        raise wrong_key("file", "a file is declared, and a frame given", "rows come from one of them", "leave one out")
    if source.value is None:
        raise wrong_key("value", "value is not declared", "it is what is published", 'value = "state"')
    connection = connected(folder, memory, threads)
    texts = {t: f"${key}" for key in ("from", "until") if (t := source.text_of_date(key)) is not None}
    wanted = [*_role_keys(source), *((f"by{number}", text) for number, text in enumerate(beside))]
    opening = Opening(
        wanted, Path(root), folder, connection, source.file, source.sql, source.encoding, texts=texts
    )
    try:
        opening.take(frame)
        return opening.opened(source)
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
    is_select = text is not None and text.lstrip()[:7].lower().startswith(("select", "from", "with"))
    is_select = is_select and not (Path(root) / str(text)).is_file()
    connection = connected(folder)
    opening = Opening(
        [(key, name) for name in wanted], Path(root), folder, connection, None if is_select else text,
        text if is_select else None, encoding,
    )  # fmt: skip
    try:
        with about(key):
            opening.take(None if text is not None else given)
            return opening.relation()
    except BaseException:
        connection.close()
        raise


@dataclass
class Opening:
    """The opening of one file, SELECT or frame; `wanted` are the roles, whose columns tell how a text file is split."""

    wanted: Sequence[tuple[str, str]]
    root: Path
    folder: str
    connection: Any
    file: str | None = None
    select: str | None = None
    encoding: str | None = None
    files: tuple[str, ...] = ()
    copies: list[str] = field(default_factory=list)
    kind: str = ""
    split: str = ""
    sql: str = ""
    tables: dict[str, Rows] = field(default_factory=dict)
    rows: Rows = field(default_factory=lambda: Rows(()))
    keeps: list[Any] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    scans: dict[str, int] = field(default_factory=dict)

    def take(self, frame: object) -> None:
        """Name the rows of the SELECT, the frame or the file."""
        if self.select is not None:
            self.take_sql(self.select, frame)
        elif frame is not None:
            self.take_frame(frame, WRITTEN)
            self.lock()
        else:
            self.take_file()

    # -- files and frames

    def take_frame(self, frame: object, name: str) -> None:
        table = arrow_table(frame)
        self.keeps.append(table)
        self.kind = self.kind or "frame"
        self._register(table, name)

    def _register(self, table: Any, name: str) -> None:
        self.connection.register(name, table)
        self.rows = Rows.of(len(self.tables), table.column_names)
        self.tables[name.lower()] = self.rows

    def lock(self) -> None:
        lock(self.connection, [*self.files, *self.copies])

    def take_file(self) -> None:
        """Name the rows of the declared file."""
        path = str(self.file)
        self.files = found_files(path, self.root, "file")
        ending = _ending(path)
        if ending in (*EXCEL, *SQLITE, *DUCKDB):
            names = self._tables_of_file(ending)
            if len(names) != 1:
                fix = f'sql = "from {_quoted(names[0]) if names else "name"}"'
                raise wrong_key("sql", f"the file has {len(names)} tables", "a source is one of them", fix)
            view(self.connection, WRITTEN, f"select * from {identifier(names[0])}", "file")
            self.rows, self.tables = self.tables[names[0].lower()], {WRITTEN: self.tables[names[0].lower()]}
            return
        if self.encoding is not None and ending not in ENDINGS:
            raise wrong_key(
                "encoding", f"encoding is declared of a {ending} file", "text files have one", "leave it out"
            )
        if ending in PARQUET:
            self.kind, select = "parquet", Reader("read_parquet", (), {}).scan(self.files)
        elif ending in JSON:
            self.kind, select = "json lines", ""
        elif ending in ENDINGS:
            self.kind, select = "text", self._text_select(path)
        else:
            raise wrong_key("file", f"{path[-60:]!r} is of no kind that is read",
                            "these are " + " ".join((*ENDINGS, *PARQUET, *JSON, *DUCKDB, *EXCEL, *SQLITE)),
                            "save it as CSV, or give a frame in Python")  # fmt: skip
        self.lock()
        if not select:
            select = self._json_select()
        types = view(self.connection, WRITTEN, select, "file", self.files[0].rsplit("/", 1)[-1])
        self.rows = Rows.of(0, types)
        self.tables[WRITTEN] = self.rows

    def _text_select(self, path: str) -> str:
        files = self._decoded(self.files, self.encoding)
        form = Form()
        try:
            sign, names = split_at(files[0], form, lambda names: all(self._fits(t, names) for t in self._role_texts()))
        except DataError as error:
            if error.what:
                raise
            raise self._no_names(path, files[0], form) from None
        form = replace(form, delim=sign)
        for other in files[1:]:
            if first_record(other, form) != names:
                raise DataError("the first lines of the files differ", fix="UNION ALL of several read_csv() in sql").at(
                    "file"
                )
        self.split = sign
        used = {name.lower() for text in self._role_texts() for name in self._names_in(text, names)}
        return form.select(files, unique_names(names, lambda name: name.lower() in used, path.rsplit("/", 1)[-1]))

    def _no_names(self, path: str, file: str, form: Form) -> TakifuguError:
        """Return the error about a first line that does not name what the keys do."""
        lines = [first_record(file, replace(form, delim=sign)) for sign in ",;\t|"]
        names = max(lines, key=len)
        lacking = next((text for text in self._role_texts() if not self._fits(text, names)), "")
        role = next((name for name, text in self.wanted if text == lacking), "file")
        expression(lacking, role)  # what is no expression is told so
        return DataError(
            f"the first line of {path.rsplit('/', 1)[-1][:80]} has no {lacking[:80]!r}{did_you_mean(lacking, names)}",
            rule="a text file names its columns in its first line, split at one of , ; tab |",
            fix="sql = \"from read_csv('...', skip = 3, delim = ' ')\", with your numbers and signs",
        ).at(role)  # fmt: skip

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
        found = run(
            self.connection, f"select distinct k from ({keys}) order by k", "file", self.files[0].rsplit("/", 1)[-1]
        )
        names = [name for (name,) in found.fetchall()]
        if len({name.lower() for name in names}) < len(names):
            raise DataError(
                "two names differ in capital letters alone", fix="columns = {...} of read_json() in sql"
            ).at("file")
        return Reader("read_json", (), {"columns": dict.fromkeys(names, "VARCHAR")}).scan(self.files)

    def _tables_of_file(self, ending: str) -> list[str]:
        """Make the sheets or tables of the file known by their names."""
        file = self.files[0]
        if ending in DUCKDB:
            self.kind = "duckdb"
            run(
                self.connection, f"attach {literal(file)} as takifugu_file (read_only)", "file", file.rsplit("/", 1)[-1]
            )
            self.lock()
            statement = ("select schema_name, table_name from duckdb_tables() "
                         "where database_name = 'takifugu_file' and not internal order by all")  # fmt: skip
            names = list[str]()
            for schema, name in self.connection.execute(statement).fetchall():
                place = f"takifugu_file.{identifier(schema)}.{identifier(name)}"
                types = view(self.connection, name, f"select * from {place}", "file")
                self.tables[name.lower()] = Rows.of(len(self.tables), types)
                names.append(name)
            return names
        self.kind = "sheet" if ending in EXCEL else "sqlite"
        found = (tables_of_excel if ending in EXCEL else tables_of_sqlite)(file)
        self.lock()
        if self.select is None and len(found) != 1:
            return list(found)
        for name in found if self.select is None else self._named_in_sql(found):
            table = found[name]()
            self.keeps.append(table)
            self._register(table, name)
        return list(found)

    def _named_in_sql(self, found: Mapping[str, object]) -> list[str]:
        text = str(self.select).lower()
        return [name for name in found if name.lower() in text]

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
        files = {name: self._files_of(reader) for name, reader in readers.items()}
        self.files = tuple(dict.fromkeys(path for some in files.values() for path in some))
        if len(self.files) < sum(map(len, files.values())):
            raise wrong_key("sql", "sql reads one file in two ways", "a column has one name", "read it once, in WITH")
        selects = {name: self._scan(reader, files[name]) for name, reader in readers.items()}
        self.kind = "sql"
        if self.file is not None:
            own = found_files(self.file, self.root, "file")
            self.files = (*own, *self.files)
            ending = _ending(self.file)
            if ending not in (*EXCEL, *SQLITE, *DUCKDB):
                raise wrong_key("file", "file and sql are declared", "sql reads the sheets or tables of a file by name",
                                "leave file out, and read it by read_csv() or read_parquet() in sql")  # fmt: skip
            self._tables_of_file(ending)
        else:
            if frame is not None:
                self.take_frame(frame, FRAME)
            self.lock()
        for name, select in selects.items():
            types = view(self.connection, name, select, "sql", files[name][0].rsplit("/", 1)[-1])
            self.scans[files[name][0].rsplit("/", 1)[-1]] = len(self.tables)
            self.tables[name] = Rows.of(len(self.tables), types)
        self._judge(tree)

    def _files_of(self, reader: Reader) -> tuple[str, ...]:
        return tuple(file for path in reader.paths for file in found_files(path, self.root, "sql"))

    def _scan(self, reader: Reader, files: tuple[str, ...]) -> str:
        if "csv" in reader.function:
            files = self._decoded(files, reader.options.get("encoding"))
        return reader.scan(files)

    def _judge(self, tree: Node) -> None:
        steps = (tree.get("cte_map") or {}).get("map") or []
        judge = Judge("sql", self.tables, self._matches, is_expression=False)
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

    def _role_texts(self) -> list[str]:
        return [text for _, text in self.wanted]

    def _fits(self, text: str, names: Sequence[str]) -> bool:
        """Return whether a text is a column, or an expression over columns."""
        try:
            self._names_in(text, names)
        except (_Lacking, TakifuguError):
            return False
        return True

    def _names_in(self, text: str, names: Sequence[str]) -> list[str]:
        if text in names:
            return [text]
        lower = {name.lower() for name in names}
        used = columns_in(expression(text, "value"))
        if not all(name.lower() in lower for name in used):
            raise _Lacking
        return used

    def relation(self) -> Relation:
        """Return the relation before roles."""
        described = run(self.connection, f"describe {identifier(WRITTEN)}", "file").fetchall()
        types = {str(name): kind_of(kind) for name, kind, *_ in described}
        key = "file" if self.select is None else "sql"
        return Relation(self.connection, types, self.files, stamps_of(self.files), key, keeps=self.keeps)

    def opened(self, source: Source) -> Opened:
        """Return the opened source, its roles judged."""
        relation = self.relation()
        roles = {name: self._role(name, text, relation.types) for name, text in self.wanted}
        values = together(*(role.cells for name, role in roles.items() if name.startswith("value")))
        cells = {name: role.cells for name, role in roles.items() if not name.startswith("value")}
        check_dependence(
            cells | {"value": values}, self.rows.filters, self.rows.is_distinct, source.is_covered,
            source.unit is not None or source.rows != "answers",
        )  # fmt: skip
        kept = f"coalesce({roles['where'].sql}, true)" if "where" in roles else "true"
        listed = ", ".join(f"{role.sql} as {identifier(name)}" for name, role in roles.items())
        numbered = f'select *, row_number() over () as "row" from {identifier(WRITTEN)}'
        view(self.connection, SOURCE, f"select {listed} from {identifier(WRITTEN)} where {kept}", "value")
        view(self.connection, f"{SOURCE} rows", f'select {listed}, "row" from ({numbered}) where {kept}', "value")
        return Opened(source, relation, roles, self.kind, self.split, self.sql, self.rows.filters, self.scans)

    def _role(self, name: str, text: str, types: Mapping[str, str]) -> Role:
        key = "value" if name.startswith("value") else "by" if name.startswith("by") else name
        if text in types:
            sql, cells, shown = identifier(text), dict(self.rows.columns)[text], identifier(text)
        else:
            tree = expression(text, key)
            scope = Scope((("", self.rows),), tree)
            cells = Judge(key).value(tree, scope)
            sql = f"({text_of(tree)})"
            shown = text_of(with_parameters(tree, self.texts))
        statement = f"describe select {sql} as x from {identifier(WRITTEN)}"
        kind = kind_of(run(self.connection, statement, key).fetchall()[0][1])
        if key == "where" and kind != "BOOLEAN":
            raise wrong_key(
                "where", f"where holds {kind}", "it is true or false for each row", "where = \"Typ <> 'Summe'\""
            )
        return Role(name, sql, cells, shown, kind)


class _Lacking(Exception):
    """A text names a column that is not there."""


def _role_keys(source: Source) -> list[tuple[str, str]]:
    """Return the roles that are declared, with their texts."""
    roles = [(name, getattr(source, name)) for name in ("unit", "recording", "order", "end", "where")]
    roles += [(f"value{number}", text) for number, text in enumerate(source.values)]
    return [(name, text) for name, text in roles if text is not None]


def _ending(path: str) -> str:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _quoted(name: str) -> str:
    """Return a column's name as SQL has it; an expression as it is."""
    return name if not name or any(sign in name for sign in "('\"") else identifier(name)
