"""The keys of [source] by which its rows are read as a relation, the same for every kind of file, and its opening.

How its rows become entries is a text, one fact a line, which its ledger keeps with what these are called.
"""

from __future__ import annotations

import json
import operator
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from weakref import ref

from pydantic import Field, StrictBool, StrictStr

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.core.lasting import open_things
from takifugu.core.sections import SELECT, keys_of
from takifugu.data.cluster.counting import opened_cluster
from takifugu.data.cluster.spark import is_frame_of_spark
from takifugu.data.relation.keys import KEYS, OF_ROWS
from takifugu.data.relation.opening import files_of_select, files_read, paths_of_select
from takifugu.data.relation.relation import files_named
from takifugu.data.relation.source import Table, opened_table
from takifugu.data.values.bins import Known
from takifugu.data.values.encodings import check_encoding
from takifugu.releasing.file.keys import (
    Described,
    Epsilon,
    Name,
    Section,
    State,
    Text,
    Words,
    checked,
    meaning,
    refused,
)
from takifugu.releasing.file.keys import Path as FilePath
from takifugu.releasing.file.sections import BudgetSpec

#: Given in place of data: nothing private is opened, and what only the data show is not looked at.
UNOPENED = object()


def key(name: str, *examples: object, **limits: Any) -> Any:
    """Return what a key of [source] means, from the one table of them; `examples` are those of a kind."""
    of_table = KEYS[name]
    by_default = () if of_table.example is None else (of_table.example,)
    return meaning(of_table.meaning, *(examples or by_default), **limits)


class RelationKeys(Section):
    """The keys of [source] that every kind of file has; a kind adds those that it reads."""

    name: Annotated[Name, key("name")]
    budget: Annotated[Epsilon | BudgetSpec | None, key("budget")] = None
    entries: Annotated[Text | None, key("entries")] = None
    single_release: Annotated[StrictBool, key("single_release")] = False
    same_people: Annotated[
        StrictBool, key("same_people"),
        refused(operator.not_, "is false", 'leave it out, and write a ledger of their own: ledger = "NAME-ledger.db"',
                "all sources of one ledger are about the same people"),
    ] = False
    engine: Annotated[Literal["spark"] | None, key("engine")] = None
    file: Annotated[FilePath | None, key("file")] = None
    sql: Annotated[Text | None, key("sql")] = None
    where: Annotated[Text | None, key("where")] = None
    encoding: Annotated[StrictStr | None, key("encoding"), checked(check_encoding)] = None
    unit: Annotated[Text | None, key("unit")] = None
    called: Annotated[Words | None, key("called")] = None
    nulls: Annotated[Literal["refuse", "unobserved"], key("nulls")] = "refuse"
    roster: Annotated[
        Text | Annotated[tuple[Text, ...], Field(min_length=1)] | None, key("roster")
    ] = None

    @property
    def has_times(self) -> bool:
        """Return whether `order` holds times, which say which entries are read."""
        return False

    @property
    def names_rows(self) -> bool:
        """Return whether a table's query tells which rows it is about, by their name."""
        return False

    def read(self) -> dict[str, Any]:
        """Return the keys that rows are read by, under their names in files."""
        names = {name for name, field in type(self).model_fields.items() if (field.alias or name) in OF_ROWS}
        said = self.model_dump(by_alias=True, include=names, exclude_none=True)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()}


def is_there(source: RelationKeys, folder: Path, data: object) -> bool:
    """Return whether there are data to open."""
    if data is UNOPENED:
        return False
    if data is not None or source.engine is not None:  # a cluster is not asked whether its tables are there
        return True
    try:
        if source.file is not None:
            files_named(source.file, folder, "file")
        if source.sql is not None:
            files_of_select(source.sql, folder)
    except DataError:
        return False
    except TakifuguError:  # a SELECT that is none: opening it says so
        return True
    return source.file is not None or source.sql is not None


def is_one_of(path: Path, private: Iterable[Path]) -> bool:
    """Return whether a path or link leads to one of these files."""
    for other in private:
        try:
            is_same = os.path.samefile(path, other)
        except OSError:  # one of them is not there
            is_same = path.resolve() == other.resolve()
        if is_same:
            return True
    return False


def reads_one_of(given: str, folder: Path, private: Iterable[Path]) -> bool:
    """Return whether a name, a pattern or a SELECT reads one of these files."""
    files = tuple(private)
    return any(is_one_of(path, files) for path in files_read(given, folder))


def private_files(source: RelationKeys, folder: Path, data: object) -> tuple[Path, ...]:
    """Return the files that hold the private rows, as far as they are there."""
    paths = list[Path]()
    if isinstance(data, str | Path):
        paths.append(Path(data))
    if source.file is not None and source.engine is None:
        try:
            paths += map(Path, files_named(source.file, folder, "file"))
        except TakifuguError:  # opening it says so
            paths.append(folder / source.file)
    elif source.file is not None and (folder / source.file).exists():
        paths.append(folder / source.file)
    if source.sql is not None and SELECT.match(source.sql):
        paths += files_read(source.sql, folder)
    return tuple(paths)


def open_relation(
    source: RelationKeys, keys: Mapping[str, Any], states: Sequence[State], folder: Path, data: object,
    public: Sequence[str] = (), known: Sequence[Known] = (), may_miss: Sequence[bool] = (),
) -> Table:
    """Return the opened relation of a source, whose rows are not read; `data` replaces its file."""
    # those of `Source`; answers are counted by the columns `public`. InputError and DataError have the key
    keys = dict(keys)
    if isinstance(data, str | Path):
        keys["file"], data = str(Path(data).absolute()), None
    elif data is not None:
        keys.pop("file", None)
    elif source.file is None and source.sql is None:
        raise InputError(
            "is missing", fix='write file = "data.csv" (relative to this file), or sql, or give a frame: '
            "tf.release_file(..., data=frame)",
        ).at("file")  # fmt: skip
    if source.engine is not None or is_frame_of_spark(data):
        if data is not None and not is_frame_of_spark(data):
            what = "names a cluster, and a file or a frame of another library is given"
            raise InputError(what, fix="leave it out").at("engine")
        return opened_cluster(keys, states, folder, data)
    things, key = open_things(), ("table", repr((keys, [*states], folder, public, known, may_miss)))
    if data is not None or things is None:
        return opened_table(keys, states, folder, data, public, known, may_miss)
    table: Table | None = things[key]() if key in things else None
    if table is None:  # one opening a command, closed with its last use
        table = opened_table(keys, states, folder, None, public, known, may_miss)
        things[key] = ref(table)
    return table


#: A day, a week, a month or a quarter in the name of a file, and a time behind it. A year alone may be any number.
_DATE = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d(?:(?P<sign>[-_.]?)(?:0[1-9]|1[0-2])(?P=sign)(?:0[1-9]|[12]\d|3[01])|[-_.](?:0[1-9]|1[0-2])"
    r"|[-_.]?(?:W[0-5]\d|Q[1-4]))|(?:0[1-9]|[12]\d|3[01])(?P<between>[-_.])(?:0[1-9]|1[0-2])(?P=between)(?:19|20)\d\d)"
    r"(?:T[-_.:\d]+Z?)?(?!\d)"
)

#: What the entries of a frame are called whose times say which they are, and the rows of batches without a name.
TIMES, ROWS = "times", "rows"


def read_with(reading: str, belief: Described) -> str:
    """Return the reading of a relation with what the belief's keys decide."""
    lines, section = [reading], belief.meant
    for name, key in keys_of(belief.declared).items():
        value = getattr(section, name)
        if key.read is not None and value:
            lines.append(f"belief.{name}: {json.dumps(key.read(value), sort_keys=True, ensure_ascii=False)}")
    return "\n".join(lines)


def entries_of(source: RelationKeys, given: object) -> str | None:
    """Return the name of a source's entries, declared or that of its file; None where nobody named them."""
    if source.names_rows:
        # of rows that are sent one by one each counts, whatever its batch is called
        return ROWS
    if source.entries is not None:
        return source.entries
    if given is not None and not isinstance(given, str | Path):
        return TIMES if source.has_times else None
    name = ", ".join(dict.fromkeys(_files(source, given))) or None
    if name is not None and source.has_times:
        # times say which entries are read, so that dates in the name are no part of it
        name = _DATE.sub("*", name)
    return name


def _files(source: Any, given: object) -> Iterator[str]:
    """Yield the names of the files of a source, as they are written, without their folders."""
    if given is not None:
        yield Path(str(given)).name
    elif source.file is not None:
        yield source.file.rpartition("/")[2]
    elif source.sql is not None and SELECT.match(source.sql):
        for path in paths_of_select(source.sql):
            yield path.rpartition("/")[2]
