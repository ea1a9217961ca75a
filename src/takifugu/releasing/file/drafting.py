"""How first drafts of release files are written: lines with comments beside them, and paths as seen from the file.

A hint is a line behind `# ` that is valid as it stands once the `# ` is removed. Its comment says what else it takes:
"with step and from: ..." names hints that it needs, "instead of matrix: ..." lines that it replaces; where it is long,
the line above says so.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import get_type_hints

from takifugu.core.errors import InputError
from takifugu.core.sections import Key, metadata_of
from takifugu.core.text.toml import toml_of
from takifugu.data.kinds import NUMBERS, TIMES
from takifugu.model.queries import name_of
from takifugu.releasing.file.guessing.columns import Column
from takifugu.releasing.file.guessing.seen import MOST_STATES
from takifugu.releasing.file.neighbours import first_about, ledger_for, output_by_default

WIDTH = 100
COMMENT_AT = 31
EPSILON = f"{'epsilon = 1.0':<{COMMENT_AT - 1}} # `takifugu explain` says what that means"
#: Of a wide table no more columns are shown.
MOST_COLUMNS = 20


@dataclass(frozen=True)
class Start:
    """What a first draft starts from: a table of data and its columns, the file that is drafted, and its [belief].

    `section` has the keys of [belief], `drafted` its text where that is written, `roles` are the keys of [source], and
    `said` its rows, its step and what it publishes, as far as they are decided.
    """

    data: Path
    output: Path
    columns: Sequence[Column]
    kind: str
    roles: Sequence[str]
    section: type | None
    drafted: Callable[[Sequence[Column]], str] | None
    said: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def believed(self) -> Sequence[str]:
        """Return the lines of [belief]: as they are written, or each key with its words."""
        if self.drafted is not None:
            return [*self.drafted(self.columns).splitlines(), ""]
        return [] if self.section is None else [*section_lines(self.section)]

    def source(self, rows: str, words: str) -> Iterator[str]:
        """Yield how [source] begins, down to how the file is written; `words` say what its `rows` are."""
        yield "[source]"
        yield name_line(self.data, self.output)
        yield f"file = {toml_of(relative(self.data, self.output))}"
        several = [c for c in self.columns if c.repeats]
        yield line(f'rows = "{rows}"', "" if several else words)
        for column in several:
            yield from comment(
                f"Not yet such a table: some have several rows, by {plain(toml_of(column.name))}, and all rows of one "
                "must be hidden together. Make them one row each first, or, where something orders the rows, start "
                "again with --kind sequences."
            )
        yield from written_lines(self.columns)

    def budget(self, words: str, budget: float | Mapping[str, float] = 1.0) -> str:
        """Return the line with the budget of the source: that of the other release file that reads these data."""
        other = first_about(self.output, self.data)
        return line(f"budget = {toml_of(budget if other is None or other.budget is None else other.budget)}", words)


def not_drafted(start: Start) -> Iterator[str]:
    """Raise InputError: nobody wrote a draft of a release file with this belief."""
    raise InputError(
        f"no release file is drafted for a belief of kind {start.kind!r}",
        fix="start from an example of the documentation, and from `takifugu schema --kind` of this kind",
    )


def head(data: Path, output: Path) -> Iterator[str]:
    yield from comment(
        f"A release file, started by `takifugu init` from the columns of {plain(data.name)}. Read all of it: it says "
        "what is hidden from whom. Lines with FILL IN are for you; `takifugu calibrate` says what is still missing. "
        "Nothing is published before `takifugu release`."
    )
    yield ""
    ledger, whose = ledger_for(output, data)
    shared = "" if whose is None else f", that of {plain(whose.name)}, too"
    yield line(f"ledger = {toml_of(ledger)}", f"what has been spent on these data{shared}; keep it as safe as the data")
    yield line("require_ledger = true", "if it is missing nothing is published; it was made with this file")
    yield line(f"output = {toml_of(output_by_default(output))}", "the folder of the published tables and certificates")
    yield ""


def name_line(data: Path, output: Path) -> str:
    """Return the line that names the source: data that another file reads, too, are one source of one ledger."""
    other = first_about(output, data)
    if other is None or other.source is None:
        return line(f"name = {toml_of(slug(data))}", "the name of these data in the ledger, for ever")
    words = "the name of these data in the ledger, for ever"
    if other.path.name != output.name:
        words = f"as in {plain(other.path.name)}: the same people have one name and one budget, for ever"
    return line(f"name = {toml_of(other.source)}", words)


def written_lines(columns: Sequence[Column]) -> Iterator[str]:
    """Yield how the file is written, where that must be declared."""
    if not columns:
        return
    written = columns[0].written
    if written.sheet is not None:
        yield line(f"sheet = {toml_of(written.sheet)}", "guessed: the largest of several sheets")
    if written.table is not None:
        yield line(f"table = {toml_of(written.table)}", "guessed: the largest of several tables")
    if written.file_names is not None:
        yield line(f"file_names = {toml_of(written.file_names)}", "the column that the name of each file becomes")
    if written.encoding is not None:
        yield line(f"encoding = {toml_of(written.encoding)}", "guessed: how its characters are written")
    if not written.header:
        yield line("header = false", "guessed: its first line holds data, so columns are column_1, column_2 ...")
    if written.numerals.decimal != ".":
        yield line(f"decimal = {toml_of(written.numerals.decimal)}", "guessed: the decimal sign of its numbers")
    if written.numerals.thousands:
        yield line(f"thousands = {toml_of(written.numerals.thousands)}", "guessed: the sign between thousands")


def release_lines(name: str, query: str, words: str) -> Iterator[str]:
    """Yield how [[release]] begins; `words` say what else its query may be."""
    yield line("[[release]]", "one such section for each table that is published")
    yield f'name = "{name}"'
    yield line(f'query = "{query}"', words)


def section_lines(section: type) -> Iterator[str]:
    """Yield [belief] of a belief that declares its keys: those that it needs to be filled in, the others as hints."""
    yield line("[belief]", "what somebody who wants to know a secret may believe about the data")
    yield f'kind = "{name_of(section, "kind")}"'
    hints = get_type_hints(section, include_extras=True)
    for one in fields(section):
        words = next((word for word in metadata_of(hints[one.name]) if isinstance(word, Key)), None)
        if words is None or words.example is None:
            continue
        if one.default is MISSING and one.default_factory is MISSING:
            yield from comment(f"FILL IN {words.meaning}.")
            yield f"# {one.name} = {toml_of(words.example)}"
        else:
            yield line(f"# {one.name} = {toml_of(words.example)}", words.meaning)
    yield ""


def to_name(columns: Sequence[Column], roles: Sequence[str]) -> dict[str, Column]:
    """Return columns that no role has been guessed for as examples of these roles, as far as there are any."""
    return dict(zip(roles, (column for column in columns if column.role is None), strict=False))


def groups_of(columns: Sequence[Column]) -> list[Column]:
    """Return the columns in which a few values recur, such as those of groups: no people, times, or amounts."""
    some = [column for column in columns if column.kind not in (NUMBERS, TIMES) and column.role != "unit"]
    return [column for column in some if column.recurs and len(column.labels) <= MOST_STATES]


def listed(columns: Sequence[Column]) -> str:
    """Return the names of columns, of many the first ones and how many more there are."""
    names = plain(", ".join(toml_of(column.name) for column in columns[:MOST_COLUMNS]))
    return names if len(columns) <= MOST_COLUMNS else f"{names} and {len(columns) - MOST_COLUMNS} more"


def comment(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def line(text: str, remark: str) -> str:
    with_comment = f"{text:<{COMMENT_AT - 1}} # {remark}"
    if not remark or len(with_comment) > WIDTH + 10:
        return "\n".join([*(comment(f"{remark[0].upper()}{remark[1:]}:") if remark else []), text])
    return with_comment


def plain(text: str) -> str:
    """Return a text that stays inside its comment."""
    return re.sub(r"[\x00-\x1f\x7f]", "?", text)


def slug(data: Path) -> str:
    stems = (data.name.split(".")[0], data.parent.name)  # a pattern may have no letters
    return next((name for stem in stems if (name := re.sub(r"\W+", "-", stem).strip("-"))), "data")


def relative(data: Path, output: Path) -> str:
    """Return the data's path as seen from the release file."""
    try:
        return Path(os.path.relpath(data, output.parent)).as_posix()
    except ValueError:  # another drive
        return str(data.resolve())
