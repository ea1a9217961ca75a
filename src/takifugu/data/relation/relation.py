"""A relation with typed columns, in a DuckDB that reads the named files alone and says nothing of their rows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import DataError
from takifugu.core.escaping import on_one_line
from takifugu.data.files.readers import open_part
from takifugu.data.sql.faults import translated, wrong_data
from takifugu.data.sql.words import identifier, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: What a connection takes at most; more goes to the private folder.
MEMORY = "1GB"
Stamps = tuple[tuple[str, int, int, int, int], ...]
Columns = Mapping[str, Any]


@dataclass(eq=False)
class Relation:
    """The rows of a source in their order; `types` has DuckDB's type of each column."""

    connection: DuckDBPyConnection = field(repr=False)
    types: Mapping[str, str]
    files: tuple[str, ...] = ()
    stamps: Stamps = ()
    key: str = "file"
    #: By the key of a role, a statement that computes nothing but it.
    alone: dict[str, str] = field(default_factory=dict, repr=False)
    readings: int = 0
    has_integers: bool = False

    @property
    def name(self) -> str:
        """Return the file's name in messages."""
        return os.path.basename(self.files[0]) if self.files else "the data"

    def columns(self, statement: str, key: str = "") -> Columns:
        """Return the answer of a statement as NumPy columns; errors never quote rows."""
        answer: Columns = self._answer(statement, key).fetchnumpy()
        return answer

    def rows(self, statement: str, key: str = "") -> list[tuple[Any, ...]]:
        """Return the answer of a statement as few rows; errors never quote them."""
        answer: list[tuple[Any, ...]] = self._answer(statement, key).fetchall()
        return answer

    def _answer(self, statement: str, key: str) -> Any:
        """Run a statement; an error of one role's expression is that of its key."""
        self.check_unchanged()  # DuckDB would wait for a pipe in a file's place
        try:
            return run(self.connection, statement, key or self.key, self.name)
        except DataError as error:
            fault = error
        if fault.where == (self.key,):
            for role, of_role in self.alone.items():
                run(self.connection, of_role, role, self.name)
        raise fault

    def check_unchanged(self) -> None:
        """Raise DataError if a file changed since it was opened."""
        if stamps_of(self.files) != self.stamps:
            what = f"{self.name} changed while it was read"
            raise wrong_data("file", what, "all tables are of the same rows", "run it again")

    def close(self) -> None:
        self.connection.close()


def run(connection: DuckDBPyConnection, statement: str, key: str, name: str = "") -> Any:
    """Run one statement; DuckDB's errors become ours, without a word of the data."""
    import duckdb

    error: Exception
    try:
        return connection.execute(statement)
    except (duckdb.Error, UnicodeDecodeError) as answer:
        error = wrong_data("file", f"{name} is not UTF-8 text", "", 'encoding = "cp1252"')
        if isinstance(answer, duckdb.Error):
            error = translated(answer, key, name)
    try:
        raise error
    finally:
        del error  # else it would keep this frame, and its callers' tables, open until the next collection of garbage


def connected(folder: str, threads: int = 2) -> DuckDBPyConnection:
    """Return a connection to a new DuckDB whose clocks show UTC; what needs more memory goes to a private folder."""
    import duckdb

    connection = duckdb.connect(":memory:", config={
        "memory_limit": MEMORY, "threads": str(threads), "temp_directory": folder,
        "autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
        "allow_community_extensions": "false", "preserve_insertion_order": "true",
    })  # fmt: skip
    connection.execute("set timezone = 'UTC'")
    connection.execute("set enable_progress_bar = false")  # which goes to the standard output, of pipes, too
    # a cast that the CSV reader does itself fails where it is try_cast(), and is told as a line of other columns
    connection.execute("set disabled_optimizers = 'type_pushdown'")
    return connection


def lock(connection: DuckDBPyConnection, files: Iterable[str]) -> None:
    """Let a connection read some files and nothing else from now on; its settings stay as they are."""
    paths = ", ".join(literal(path) for path in files)
    connection.execute(f"set allowed_paths = [{paths}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def stamps_of(files: Iterable[str]) -> Stamps:
    """Return what changes with a file: its place on the disk, size and times, of which programs set the first back."""
    answer = list[tuple[str, int, int, int, int]]()
    for path in files:
        try:
            status = os.stat(path)
        except OSError:
            continue
        answer.append((path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return tuple(answer)


def files_named(path: str, root: Path, key: str) -> dict[str, str]:
    """Return the files that a path or pattern names, from a folder on, and what each is called in it."""
    import glob

    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path):
        what, rule = f"{path[:120]!r} is an address", "rows are read from files of this machine"
        raise wrong_data(key, what, rule, "download it, and write the file's path")
    place = os.path.join(os.path.realpath(root), path)
    if os.path.isfile(place):  # a name may hold *
        return _in_utf_8({os.path.realpath(place): os.path.basename(place)}, key)
    closed = len(place.split(os.sep)) - len(open_part(path).split("/"))
    if "**" in path:
        what, rule = f"{path[:120]!r} has **", "all folders of a machine have no end"
        raise wrong_data(key, what, rule, "write each level, such as 'logs/*/*.csv'")
    pattern = os.path.join(glob.escape(os.path.realpath(root)), path)
    names = sorted(glob.glob(pattern)) if any(sign in path for sign in "*?[") else []
    files = dict[str, str]()
    for name in names:
        if os.path.isfile(name):
            # its path from where a pattern begins, else its name alone: it stays where folders are moved
            files.setdefault(os.path.realpath(name), "/".join(name.split(os.sep)[closed:]))
    if not files and os.path.isdir(place):
        fix = f"write the path of a file in it, or of all of them, such as {os.path.join(path, '*.csv')!r}"
        raise wrong_data(key, f"{path[:120]!r} is a folder", "rows are read from files", fix)
    if not files:
        raise wrong_data(key, f"there is no file {path[:120]!r}", "", "write its path from the release file on")
    return _in_utf_8(files, key)


def _in_utf_8(files: dict[str, str], key: str) -> dict[str, str]:
    """Return files whose paths DuckDB can read; DataError for a folder or a file with another name."""
    for file in files:
        try:
            file.encode()
        except UnicodeEncodeError:
            what, rule = f"the path '{on_one_line(file)}' is no text in UTF-8", "files are read by such names"
            raise wrong_data(key, what, rule, "rename the folder or the file whose name shows a \\") from None
    return files


def view(connection: DuckDBPyConnection, name: str, select: str, key: str, file: str = "") -> dict[str, str]:
    """Name a SELECT, and return its columns with their types."""
    run(connection, f"create temp view {identifier(name)} as {select}", key, file)
    return types_of(connection, identifier(name), key, file)


def types_of(connection: DuckDBPyConnection, select: str, key: str, file: str = "") -> dict[str, str]:
    """Return the columns of a SELECT or a table with the names of their types; nothing is read."""
    rows = run(connection, f"describe {select}", key, file).fetchall()
    return {str(column): kind_of(kind) for column, kind, *_ in rows}


def kind_of(kind: object) -> str:
    """Return the name of a type; what an ENUM may hold could be values of rows."""
    return str(kind).partition("(")[0] if str(kind).startswith(("ENUM", "STRUCT", "UNION", "MAP")) else str(kind)
