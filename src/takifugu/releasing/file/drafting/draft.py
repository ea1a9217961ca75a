"""First drafts of release files: keys that are in force, each with half a line why, and nothing of the data in them.

What only their author can know is a question (`questions`), or missing; whoever reads the file is told so, key by key.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from takifugu.core.errors import InputError, SpecError
from takifugu.core.lists import take
from takifugu.core.plain import toml_of
from takifugu.core.registry import loaded
from takifugu.data import Written
from takifugu.data.files.formats import suffixes
from takifugu.data.relation.words import identifier
from takifugu.data.values.texts import NUMBER
from takifugu.releasing.file.guessing.across import Across
from takifugu.releasing.file.guessing.columns import FirstLook
from takifugu.releasing.file.guessing.roles import Roles
from takifugu.releasing.file.keys import ROWS
from takifugu.releasing.file.kind import output_by_default
from takifugu.releasing.file.kinds import KINDS
from takifugu.releasing.file.neighbours import Neighbour, neighbours
from takifugu.releasing.file.relation_keys import RelationKeys

_WIDTH, _COMMENT_AT = 100, 31
#: The confidence of the class of chains that a public file supports.
_CONFIDENCE = 0.99
_WHY = {
    "unit": "whose row it is", "recording": "guessed: an unbroken run of rows; a new one starts after a gap",
    "order": "what sorts the rows", "end": "when it ends",
    "value": "what is published of a row",
}  # fmt: skip
#: The role of the time of day that belongs to the date of a role.
_CLOCKS = {"order": "clock", "end": "end_clock"}
_SECTIONS = {"source": "[source]", "belief": "[belief]", "hide": "[hide]", "table": "[[table]]"}


@dataclass(frozen=True)
class Entry:
    """A key of a section, its value, and why; without a key the section alone, whose keys only a person can write."""

    section: str
    key: str
    value: object
    why: str = ""


@dataclass(frozen=True)
class Start:
    """What a first draft starts from: the file that is drafted, and a table of data with the roles of its columns.

    `said` are the answers; of wide rows `across` are the columns that are steps.
    """

    data: Path
    output: Path
    look: FirstLook
    kind: str
    roles: Roles
    said: Mapping[str, str]
    across: Across | None = None

    @property
    def is_normal(self) -> bool:
        return self.kind in ("normal", "density")

    @cached_property
    def first_about(self) -> Neighbour | None:
        """Return the folder's first release file about these data, if any.

        A new file takes its ledger, source and budget: one ledger knows all spending on the data, under one name.
        """
        return next(neighbours(self.output.parent, self.data), None)

    @property
    def ledger(self) -> tuple[str, Path | None]:
        """Return the draft's ledger, and the owner if another file's."""
        other = self.first_about
        if other is None:
            return f"{self.output.stem}-ledger.db", None
        owner = None if other.path.name == self.output.name else other.path
        return other.ledger, owner

    @property
    def ends(self) -> list[str]:
        """Return the columns of pairs of people, if the file lists those.

        The belief reads them.
        """
        return [self.roles[role].name for role in ("one", "other") if role in self.roles]

    @property
    def coordinates(self) -> list[str]:
        """Return the columns of both coordinates, if there are any."""
        return [self.roles[role].name for role in ("x", "y") if role in self.roles]

    def named(self, *roles: str) -> Iterator[Entry]:
        """Yield the keys of [source] for columns by role, for dates with their clock."""
        for role in roles:
            if role in self.roles:
                columns = [self.roles[key].name for key in (role, _CLOCKS.get(role, "")) if key in self.roles]
                yield Entry("source", role, columns if columns[1:] else columns[0], _WHY[role])

    def source(self) -> Iterator[Entry]:
        """Yield the first keys of [source], up to the file's format."""
        other, rows = self.first_about, self.said.get("rows", "answers")
        stems = (self.data.name.split(".")[0], self.data.parent.name)  # a pattern may have no letters
        name = next((slug for stem in stems if (slug := re.sub(r"\W+", "-", stem).strip("-"))), "data")
        words = "the name of these data in the ledger, for ever"
        if other is not None and other.source is not None:
            name = other.source
            if other.path.name != self.output.name:
                words = f"as in {plain(other.path.name)}: the same people have one name and one budget, for ever"
        yield Entry("source", "name", name, words)
        if self.ends:
            yield Entry("source", "rows", "answers", "one row per person; who met whom is no part of it")
            return
        yield Entry("source", "file", relative(self.data, self.output))
        rows = "answers" if rows == "contacts" else rows
        yield Entry("source", "rows", rows, f"a row says {ROWS[rows]}")
        model = KINDS.find(self.kind).facts.sections.model_fields["source"].annotation
        is_relation = isinstance(model, type) and issubclass(model, RelationKeys)
        for entry in written_as("source", self.look.written):
            if is_relation and entry.key in ("sheet", "table"):
                yield Entry("source", "sql", f"from {identifier(str(entry.value))}", entry.why)
            elif not is_relation or entry.key == "encoding":  # the rest is SQL, which opening the file asks for
                yield entry

    def budget(self) -> Entry:
        """Return the source's budget, as in other files about these data."""
        other = self.first_about
        budget: object = {"epsilon": 1.0, "delta": 1e-6} if self.is_normal else 1.0
        if other is not None and other.budget is not None:
            budget = other.budget
        return Entry("source", "budget", budget, "the most epsilon that these people may ever spend")

    def meetings(self) -> Iterator[Entry]:
        """Yield the keys of [belief] that read who met whom."""
        if self.ends and self.said.get("public") == "yes":
            yield Entry("belief", "file", relative(self.data, self.output), "who met whom, which everybody may know")
        if self.ends:
            yield Entry("belief", "columns", self.ends, "the two that name a pair")
            yield from written_as("belief", self.look.written)

    def belief(self) -> Iterator[Entry]:
        """Yield the kind of belief, and what was said of it."""
        said, is_users = self.said, self.kind == "users"
        kind = "markov-chain" if self.kind.startswith("markov-chain") else self.kind
        yield Entry("belief", "kind", kind, f"what may be believed; its other keys: `takifugu keys {kind}`")
        source = said.get("source", "assumed")
        if names_a_file(source):
            fit = {"file": source, "confidence": _CONFIDENCE}
            yield Entry("belief", "fit", fit, "every chain that this public file supports")
        elif source != "assumed":
            yield Entry("belief", "source", source, "where its numbers come from; the certificate says so")
        states, shares = names(said.get("states", "")), pairs(said.get("next", ""))
        if "size" in said:
            yield Entry("belief", "size", whole(said["size"]), "how many people there are, which becomes public")
        if "states" in said:
            yield Entry("belief", "values" if is_users else "states", states, "all that can occur, from a code book")
        if "stay" in said:
            durations = pairs(said["stay"])
            yield Entry("belief", "mean_duration", durations, "how long each state lasts at a time, on average")
        if "next" in said and not is_users:
            yield Entry("belief", "next_state", shares, "how often each comes when another ends")
        elif "next" in said:
            if {*shares} != {*states}:
                fix = "write for example yes 0.1, no 0.9"
                raise SpecError([InputError("does not name each of them once", fix=fix).at("belief", "next")])
            yield Entry("belief", "probabilities", take(shares, states), "how likely each of them is")
        if "unit" in self.roles and said.get("independent") == "yes":
            yield Entry("belief", "units_independent", True, "one person says nothing about the others")


def release(name: str, query: str, words: str) -> Iterator[Entry]:
    """Yield the table to publish; `words` describe it."""
    yield Entry("table", "name", name, "one such section for each table")
    yield Entry("table", "query", query, words)
    yield Entry("table", "epsilon", 1.0, "`takifugu explain` says what that means")


def not_drafted(start: Start) -> Iterator[Entry]:
    """Raise InputError for a belief without a draft of its own."""
    raise InputError(
        f"no release file is drafted for a belief of kind {start.kind!r}",
        fix="start from an example of the documentation, and from `takifugu keys` and this kind",
    )


def written_as(section: str, dialect: Written) -> Iterator[Entry]:
    """Yield the keys of an unusual file format."""
    header: object = None if dialect.header else False
    why_header = "guessed: no line of names, so columns are column_1 ..."
    if dialect.lines is not None:
        header, why_header = [*dialect.lines], "guessed: its lines"
        if dialect.lines[0] == dialect.lines[1]:
            header, why_header = dialect.lines[0], "guessed: the line of the names"
    decimal = None if dialect.numerals.decimal == "." else dialect.numerals.decimal
    said = {
        "sheet": (dialect.sheet, "guessed: the largest of several sheets"),
        "table": (dialect.table, "guessed: the largest of several tables"),
        "file_names": (dialect.file_names, "the column that the name of each file becomes"),
        "encoding": (dialect.encoding, "guessed: how its characters are written"),
        "header": (header, why_header),
        "decimal": (decimal, "guessed: its decimal sign"),
        "thousands": (dialect.numerals.thousands or None, "guessed: the sign between thousands"),
    }
    for key, (value, why) in said.items():
        if value is not None and (section == "source" or key == "encoding"):  # a file of a belief stands for itself
            yield Entry(section, key, value, why)


def draft_of(start: Start) -> str:
    """Return the text of a first release file; InputError without one."""
    brought = KINDS.find(start.kind)
    entries: Callable[[Start], Iterable[Entry]] = loaded(brought.facts.draft)
    ledger, whose = start.ledger
    shared = "" if whose is None else f", that of {plain(whose.name)}, too"
    lines = [
        _line("ledger", ledger, f"what was spent on these data{shared}; keep it as safe as they are"),
        _line("require_ledger", True, "if it is missing nothing is published; it was made with this file"),
        _line("output", output_by_default(start.output), "the folder of what is published"),
    ]
    of_section = dict[str, list[Entry]]()
    for entry in (*start.source(), *start.belief(), *entries(start), start.budget()):
        of_section.setdefault(entry.section, []).append(entry)
    for section, header in _SECTIONS.items():
        if section == "belief" and brought.drafted is not None:
            lines += ["", *brought.drafted([*start.look.columns.values()]).splitlines()]
        elif section in of_section:
            keyed_entries = [entry for entry in of_section[section] if entry.key]
            lines += ["", header, *(_line(entry.key, entry.value, entry.why) for entry in keyed_entries)]
    return "\n".join(lines) + "\n"


def _line(key: str, value: object, why: str) -> str:
    text = f"{key} = {toml_of(value)}"
    with_why = f"{text:<{_COMMENT_AT - 1}} # {why}"
    if not why:
        return text
    if len(with_why) <= _WIDTH + 10:
        return with_why
    above = textwrap.wrap(why, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
    return "\n".join([*above, text])


def plain(text: str) -> str:
    """Return a text safe inside a comment."""
    return re.sub(r"[\x00-\x1f\x7f]", "?", text)


def relative(data: Path, output: Path) -> str:
    """Return the data's path relative to the release file."""
    try:
        return Path(os.path.relpath(data, output.parent)).as_posix()
    except ValueError:  # another drive
        return str(data.resolve())


def names(word: str) -> list[str]:
    """Return the names in a list with commas.

    >>> names("still, walking")
    ['still', 'walking']
    """
    return [name.strip() for name in word.split(",") if name.strip()]


def pairs(word: str) -> dict[str, float | str]:
    """Return names with their values, "" for a name alone.

    >>> pairs("still 100 min, on foot = 6.5, ready .4, away")
    {'still': '100 min', 'on foot': 6.5, 'ready': 0.4, 'away': ''}
    """
    values = dict[str, float | str]()
    for part in names(word):
        match = re.fullmatch(r"(.*?)\s*[\s=:]\s*([0-9.]+\s*[a-z]*)", part)
        name, value = (part, "") if match is None else match.groups()
        values[name] = float(value) if value and re.fullmatch(NUMBER, f"0{value}") else value
    return values


def whole(word: str) -> str | int:
    """Return a whole number, or else the text.

    >>> whole("2026-01-05"), whole("25")
    ('2026-01-05', 25)
    """
    return int(word) if re.fullmatch("-?[0-9]{1,9}", word) else word


def names_a_file(word: str) -> bool:
    """Return whether an answer is the path of a table.

    >>> names_a_file("public.csv"), names_a_file("Smith et al. 2019, table 3")
    (True, False)
    """
    return word.lower().removesuffix(".gz").endswith(suffixes())
