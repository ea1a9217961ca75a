"""The release file: a TOML text as typed values, every fault at once, and its JSON Schema."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice
from pathlib import Path

from takifugu.core import plugins
from takifugu.core.errors import InputError, SpecError, TakifuguError
from takifugu.core.escaping import command, is_printable, on_one_line, visible
from takifugu.core.files import read_file
from takifugu.core.plain import Json
from takifugu.core.rules import as_path
from takifugu.core.sections import section_in
from takifugu.data.relation.keys import ROLES
from takifugu.data.relation.opening import FILES
from takifugu.releasing.file.calendars import Windowed, of_first_window, of_window
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.kinds import KINDS, SEQUENCES, model_of_file
from takifugu.releasing.file.meaning import meaning_of, named_sources
from takifugu.releasing.file.problems import MOST_PROBLEMS, Where, fault
from takifugu.releasing.file.public import fitted_to_data
from takifugu.releasing.file.relation_keys import UNOPENED
from takifugu.releasing.file.schema import schema_of
from takifugu.releasing.file.sharing import sharing_problems
from takifugu.releasing.file.validating import Reading

#: The largest whole number up to which a float holds every whole number.
_LARGEST = 2**53
#: A sensible release file is no larger, holds no longer text, and nests no deeper.
LARGEST, LONGEST_TEXT, DEEPEST = 10_000_000, 10_000, 32
#: How the names of tables end that no format reads.
_NO_SOURCES = (".xls", ".xlsb", ".ods", ".feather", ".arrow")
#: Each table is calibrated, and its cost computed beside all others.
MOST_TABLES = 1000
_PRINTED = "remove it: what the file names is printed and published"
_ESCAPED = "in double quotes \\t is a tab and \\n a line end: put the text in single quotes, or write / in paths"
_MADE_OF_DATA = "is made of the private data, which are not opened here"
#: The keys of [source] that are SQL.
_SQL = frozenset({"sql", *ROLES})
#: A text in double quotes with a backslash, as in paths on Windows.
_BACKSLASH = re.compile(r'^[^"\n]*"[^"\n\\]*\\', re.MULTILINE)
#: A key of more dots: each part is scanned once, because it starts where a word starts.
_DEEP = re.compile(rf"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{DEEPEST}}}""")


def load(
    path: str | Path, data: object = None, single_release: bool = False, window: str | None = None, first: bool = False
) -> ReleaseFile:
    """Read a release file, with `data` (a frame or another file) in place of its source's file; SpecError."""
    # `window` is that of regular tables (InputError without any); `first` takes one of a calendar without an end
    file = as_path(path, "path")
    raw = parsed(file)
    if single_release:
        section_in(raw, "source")["single_release"] = True
    return checked(raw, file, data, window, first)


def parsed(where: Path) -> Json:
    """Return the unchecked keys of a file; SpecError for invalid TOML."""
    text = ""
    try:
        text = read_file(where, LARGEST).decode("utf-8-sig")
        if _DEEP.search(text):  # the parser descends into each
            raise ValueError(f"a key has more than {DEEPEST} dots")
        return tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        problem = _unreadable(where, text, error)
    raise SpecError([problem])


def _unreadable(path: Path, text: str, error: Exception) -> TakifuguError:
    """Return the error of a file without valid TOML, and remedies."""
    table = ""
    if path.name.lower().removesuffix(".gz").endswith((*FILES, *_NO_SOURCES)):
        table = f"{command('init', path)} starts a release file about it"
    if isinstance(error, OSError):
        reason, fix = (error.strerror or "it cannot be read").lower(), "give the path of a TOML release file"
        if table and path.is_file():
            fix = table
        return fault((f"{path}",), f"cannot be read ({reason})", fix)
    if isinstance(error, UnicodeDecodeError):
        return fault((f"{path}",), "is not UTF-8 text", table or "give the path of a TOML release file, saved as UTF-8")
    if table:  # the parser's own words are about a text that was never meant to be TOML
        return fault((f"{path}",), "is a table of data and no release file", table)
    # TOMLDecodeError, a number of thousands of digits, deep brackets
    fix = "write `key = value` lines under [sections]"
    if _BACKSLASH.search(text):
        fix = "in double quotes a \\ is an escape: write / in paths, or put them in single quotes"
    return InputError(f"is not TOML: {error}", fix=fix).at(f"{path}")


def checked(raw: Json, path: Path, data: object = None, window: str | None = None, first: bool = False) -> ReleaseFile:
    """Check the parsed text of a release file at `path`, like `load`."""
    faults = list(islice(_giants(raw), MOST_PROBLEMS))
    if isinstance(items := raw.get("table"), list) and len(items) > MOST_TABLES:
        faults += [fault(("table",), f"there are {len(items):,} tables", f"write at most {MOST_TABLES:,} in a file")]
    if faults:
        raise SpecError(faults)
    _load_plugins(raw)
    kind_name = section_in(raw, "belief").get("kind", SEQUENCES)
    kind = KINDS.get(kind_name) or KINDS.find(SEQUENCES)
    reading = Reading(kind, raw)
    spec, faults, faulty = reading.spec, reading.faults, frozenset(reading.faulty)
    if kind_name not in KINDS:  # what another kind lacks says nothing
        raise SpecError([problem for problem in faults if problem.where == ("belief",)])
    if window is not None and not faults:
        spec = spec.model_copy(update={"table": of_window(spec.table, window)})
    endless = ""
    if first or data is UNOPENED:
        tables = of_first_window(spec.source, spec.table)
        for one, written in zip(tables, spec.table, strict=True):
            if isinstance(one, Windowed) and one is not written:
                endless = one.every or ""
        spec = spec.model_copy(update={"table": tables})
    if data is UNOPENED and fitted_to_data(spec):
        fix = f"{command('cost', path)} checks such a file where its data are"
        raise SpecError([*faults, fault(("belief",), _MADE_OF_DATA, fix)])
    belief, framework, table, problems = meaning_of(kind, spec, faulty, path.parent, data)
    has_units = spec.source is not None and kind.facts.owner_column(spec.source) is not None
    shared = list(named_sources(spec))
    if not any(error.where[:1] == ("joint_epsilon",) for error in faults):
        shared += sharing_problems(spec.table, raw.get("joint_epsilon"), framework, has_units)
    if faults or shared or problems or belief is None:
        # a fault at a faulty key was told of that key
        other_faults = [problem for problem in problems if ".".join(map(str, problem.where)) not in faulty]
        raise SpecError([*faults, *other_faults, *shared])
    spec = spec.model_copy(update={"table": tuple(filter(None, spec.table))})
    spec = spec.model_copy(update={"table": kind.facts.tables(spec)})
    return ReleaseFile(path, spec, kind, belief, framework, data, table, window=window, endless=endless)


def _load_plugins(raw: Json) -> None:
    """Load the packages that a file names, before anything of it is read."""
    packages = raw.get("plugins")
    if isinstance(packages, list) and all(isinstance(package, str) for package in packages):
        try:
            plugins.load(packages)
        except InputError as error:  # what such a package would have brought says nothing
            raise SpecError([error]) from None


def _may_hold_tabs(value: str, path: Where) -> bool:
    """Return whether a text holds nothing else to escape than tabs, which may separate columns in SQL."""
    plain = value.replace("\t", "")
    is_sql = path[:1] == ("source",) and len(path) > 1 and path[1] in _SQL
    return visible(plain) == plain and (is_sql or not plain)


def json_schema(kind: str = SEQUENCES) -> Json:
    """Return the JSON Schema of a kind of file; InputError if unknown."""
    return deepcopy(schema_of(model_of_file(KINDS.find(kind))))


def _giants(value: object, path: Where = (), depth: int = 0) -> Iterator[TakifuguError]:
    """Yield the faults of huge numbers, long texts and deep nesting."""
    if depth > DEEPEST:
        start = f"{InputError().at(*path).place[:40]}..."
        yield fault((start,), f"nests more than {DEEPEST} times", "write keys as the documentation names them")
    elif isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            yield fault(path, f"is longer than {LONGEST_TEXT:,} characters", "write a shorter text")
        elif visible(value) != value and not _may_hold_tabs(value, path):
            fix = _ESCAPED if re.search("[\t\n\r\x08\x0c]", value) else _PRINTED
            yield fault(path, f"'{on_one_line(value)}' holds a control character", fix)
    elif isinstance(value, dict):
        for key, member in value.items():
            short = on_one_line(key) if len(key) <= 60 else f"{on_one_line(key)[:57]}..."
            if not is_printable(key):
                yield fault((*path, short), "holds a control character", _PRINTED)
            yield from _giants(member, (*path, short), depth + 1)
    elif isinstance(value, list):
        for position, member in enumerate(value):
            yield from _giants(member, (*path, position), depth + 1)
    # TOML has whole numbers beyond all floats, and comparisons with floats fail
    elif isinstance(value, int) and abs(value) > _LARGEST:
        yield fault(path, "is too large a number", f"write one of at most {_LARGEST}")
