"""The release file: a TOML text as typed values, every fault at once, and its JSON Schema."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from takifugu.errors import SpecError
from takifugu.files import read_file
from takifugu.spec.problems import MOST_PROBLEMS, problems_of
from takifugu.spec.records.checks import RecordFile, checked_records, record_schema
from takifugu.spec.records.sections import RECORD_KINDS
from takifugu.spec.sections import (
    ChainClassSpec,
    ChainSpec,
    EntrySpec,
    EveryEntrySpec,
    ItemSpec,
    ReleaseSpec,
    SourceSpec,
)

if TYPE_CHECKING:
    from takifugu.beliefs.pieces import Chain
    from takifugu.frames import Table

#: The largest whole number up to which a float holds every whole number.
_LARGEST = 2**53
#: A sensible release file is no larger, holds no longer text, and nests no deeper.
LARGEST, LONGEST_TEXT, DEEPEST = 10_000_000, 10_000, 32
#: A key of more dots: each part is scanned once, because it starts where a word starts.
_DEEP = re.compile(rf"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{DEEPEST}}}""")


@dataclass(frozen=True, eq=False)
class ReleaseFile:
    """A release file that was read and checked; its paths are relative to `folder`.

    `chain` is its belief about one step, `table` its source, opened and not read.
    """

    path: Path
    spec: ReleaseSpec
    chain: Chain = field(repr=False)
    table: Table = field(repr=False)

    @property
    def folder(self) -> Path:
        return self.path.parent

    def inside(self, name: str) -> Path:
        """Return a path of the file as seen from here."""
        return self.folder / name


def load(path: str | Path, data: Any = None, only_release: bool = False) -> ReleaseFile | RecordFile:
    """Read a release file; `data`, a frame or another file of the same columns, stands for the source's file if given.

    With `only_release` it is read as if it had that key. Raises SpecError, whose `problems` hold every fault at once.
    """
    where = Path(path)
    try:
        raw = tomllib.loads(_flat(read_file(where, LARGEST).decode("utf-8-sig")))
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise SpecError([f"{where}: cannot be read ({reason}); give the path of a TOML release file"]) from None
    except UnicodeDecodeError:
        raise SpecError([f"{where}: is not UTF-8 text; save it as UTF-8"]) from None
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, a number of thousands of digits, deep brackets
        raise SpecError([f"{where}: is not TOML: {error}; write `key = value` lines under [sections]"]) from None
    if only_release and isinstance(raw.get("source"), dict):
        raw["source"]["only_release"] = True
    return checked(raw, where, data)


def checked(raw: dict[str, Any], path: Path, data: Any = None) -> ReleaseFile | RecordFile:
    """Check the parsed text of a release file that lies at `path`.

    Raises SpecError, whose `problems` hold every fault at once.
    """
    from takifugu.spec.sequences.checks import meaning_of

    found, faulty = list(islice(_giants(raw), MOST_PROBLEMS)), frozenset[str]()
    if found:
        raise SpecError(found)
    belief = raw.get("belief")
    if isinstance(belief, dict) and belief.get("kind") in RECORD_KINDS:
        return checked_records(raw, path, data)
    try:
        spec = ReleaseSpec.model_validate(raw)
    except ValidationError as error:
        found = [_with_records(line) for line in problems_of(error.errors(), _schema(), raw)]
        spec, faulty = _what_is_valid(raw)
    meaning = meaning_of(spec, faulty, path.parent, data)
    found += meaning.problems
    if found or meaning.chain is None or meaning.table is None:
        raise SpecError(found)
    return ReleaseFile(path, spec, meaning.chain, meaning.table)


def _flat(text: str) -> str:
    """Return the text of a TOML file; ValueError for keys of very many dots, for which the parser takes too long."""
    if _DEEP.search(text):
        raise ValueError(f"a key has more than {DEEPEST} dots")
    return text


def _giants(value: Any, path: str = "", depth: int = 0) -> Iterator[str]:
    """Name the whole numbers that no float holds: TOML has them, and comparisons with floats fail.

    Likewise texts that are too long to mean anything, and lists and tables that nest too deep.
    """
    if depth > DEEPEST:
        yield f"{path[:40]}...: nests more than {DEEPEST} times; write keys as the documentation names them"
    elif isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            yield f"{path}: is longer than {LONGEST_TEXT:,} characters; write a shorter text"
    elif isinstance(value, dict):
        for key, inside in value.items():
            short = key if len(key) <= 60 else f"{key[:57]}..."
            yield from _giants(inside, f"{path}.{short}" if path else short, depth + 1)
    elif isinstance(value, list):
        for position, inside in enumerate(value):
            yield from _giants(inside, f"{path}[{position}]", depth + 1)
    elif isinstance(value, int) and abs(value) > _LARGEST:
        yield f"{path}: is too large a number; write one of at most {_LARGEST}"


def _with_records(line: str) -> str:
    """Name the kinds of belief about records beside those about sequences."""
    records = " or ".join(f'"{kind}"' for kind in RECORD_KINDS)
    return f"{line}; for records {records}" if line.startswith("belief: has ") else line


def _what_is_valid(raw: dict[str, Any]) -> tuple[ReleaseSpec, frozenset[str]]:
    """Return what is valid by itself, so that its meaning is checked too, and the keys that examples stand in for.

    Sections that say nothing are None.
    """
    belief, hide, items = raw.get("belief"), raw.get("hide", {}), raw.get("release")
    of_class = isinstance(belief, dict) and belief.get("kind") == "markov-chain-class"
    of_entry = isinstance(hide, dict) and hide.get("kind") == "one-entry"
    faulty: set[str] = set()
    spec = ReleaseSpec.model_construct(
        source=_section(SourceSpec, raw.get("source"), "source", faulty),
        belief=_section(ChainClassSpec if of_class else ChainSpec, belief, "belief", faulty),
        hide=_section(EntrySpec if of_entry else EveryEntrySpec, hide),
        release=tuple(_section(ItemSpec, item) for item in items) if isinstance(items, list) else (),
    )
    return spec, frozenset(faulty)


def _section(model: type[BaseModel], raw: Any, name: str = "", faulty: set[str] | None = None) -> Any:
    """Return a section, with examples in place of faulty keys where these are known; None if it is hopeless."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        keys = {str(e["loc"][0]) for e in error.errors() if e["loc"]}
    if faulty is None or not isinstance(raw, dict) or "kind" in keys:
        return None
    examples = {k: (f.examples or [None])[0] for k, f in model.model_fields.items() if k in keys and f.is_required()}
    faulty.update(f"{name}.{key}" for key in keys)
    try:
        return model.model_validate({**{k: v for k, v in raw.items() if k not in keys}, **examples})
    except ValidationError:
        return None


def json_schema(records: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of a release file (of records, if so), for editors and for `takifugu schema`."""
    return deepcopy(record_schema() if records else _schema())


@cache
def _schema() -> dict[str, Any]:
    return ReleaseSpec.model_json_schema()
