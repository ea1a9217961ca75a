"""The first text of a release file: keys that are in force, each with half a line why, and no value of the data."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from takifugu.core.errors import InputError, SpecError
from takifugu.core.lists import take
from takifugu.core.plain import toml_of
from takifugu.model.queries.sections import EACH_ROW, IN_ORDER, POLICY, RECORDS, WHOLE_COLUMNS
from takifugu.releasing.draft.answers import Draft, Entry, draft_of, names_a_file, relative, source_entries, whole
from takifugu.releasing.draft.evidence import Evidence, evidence
from takifugu.releasing.draft.questions import TIMED, Answers
from takifugu.releasing.file.kind import output_by_default
from takifugu.releasing.file.kinds import KINDS
from takifugu.releasing.file.neighbours import Neighbour, neighbours

_WIDTH, _COMMENT_AT = 100, 31
#: The confidence of the class of chains that a public file supports.
_CONFIDENCE = 0.99
_SECTIONS = {"source": "[source]", "belief": "[belief]", "hide": "[hide]", "table": "[[table]]"}
_NUMBERS = ("normal", "density")


def draft(given: object, kind: str | None = None, output: str | Path = "release.toml", **answers: str | None) -> str:
    """Draft the text of a release file about a table.

    Args:
        given: The path of a file, or a frame of pandas, Polars or PyArrow.
        kind: What is secret, as the release file's kind of belief.
        output: Where the text is to lie; paths in it are relative to that.
        answers: The answers, named like the keys that they set: rows, unit, order, step, value, timezone and others.

    Returns:
        The text, in TOML. What only its author can know is missing in it.

    Raises:
        InputError: For questions that are for the owner alone, with the choices, and for an answer that is none.
        DataError: For a file that cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "steps.csv"
        >>> _ = file.write_text("who,minute,state\\nAna,0,still\\nAna,1,walking\\n")
        >>> text = draft(file, rows="samples", unit="who", order="minute", step="1", value="state")
        >>> print(text.partition("[source]")[2].partition("[belief]")[0].strip().splitlines()[3])
        unit = "who"                   # whose row it is
    """
    codec, said = answers.pop("encoding", None), {key: word for key, word in answers.items() if word is not None}
    with evidence(given, codec) as found:
        return drafted(found, said, kind, Path(output))


def drafted(found: Evidence, answers: Answers, kind: str | None = None, output: Path = Path("release.toml")) -> str:
    """Return the text that answers draft; InputError for questions that are for the owner alone."""
    return text_of(draft_of(found, answers, kind, output))


def text_of(start: Draft) -> str:
    """Return the text of a draft."""
    entries = LINES.get(KINDS.find(start.kind).facts.rows, _none)
    other, owner = first_about(start), ""
    ledger = f"{start.output.stem}-ledger.db" if other is None else other.ledger
    if other is not None and other.path.name != start.output.name:
        owner = f", that of {plain(other.path.name)}, too"
    lines = [
        _line("ledger", ledger, f"what was spent on these data{owner}; keep it as safe as they are"),
        _line("require_ledger", True, "if it is missing nothing is published; it was made with this file"),
        _line("output", output_by_default(start.output), "the folder of what is published"),
    ]
    of_section = dict[str, list[Entry]]()
    source = (*_named(start, other), *source_entries(start), _budget(start, other))
    for entry in (*source, *_belief(start), *entries(start)):
        of_section.setdefault(entry.section, []).append(entry)
    for section, header in _SECTIONS.items():
        brought = KINDS.find(start.kind).drafted
        if section == "belief" and brought is not None:
            lines += ["", *brought([]).splitlines()]
        elif section in of_section:
            keyed = [_line(entry.key, entry.value, entry.why) for entry in of_section[section] if entry.key]
            lines += ["", header, *keyed]
    return "\n".join(lines) + "\n"


def first_about(start: Draft) -> Neighbour | None:
    """Return the folder's first release file about these data: one ledger knows all spending on them."""
    return next(neighbours(start.output.parent, Path(start.evidence.file)), None) if start.evidence.file else None


def _named(start: Draft, other: Neighbour | None) -> Iterator[Entry]:
    """Yield the name of the source, that of other files about these data."""
    data = Path(start.evidence.file)
    stems = (data.name.split(".")[0], data.parent.name)
    name = next((slug for stem in stems if (slug := re.sub(r"\W+", "-", stem).strip("-"))), "data")
    words = "the name of these data in the ledger, for ever"
    if other is not None and other.source is not None:
        name = other.source
        if other.path.name != start.output.name:
            words = f"as in {plain(other.path.name)}: the same people have one name and one budget, for ever"
    yield Entry("source", "name", name, words)


def _budget(start: Draft, other: Neighbour | None) -> Entry:
    budget: object = {"epsilon": 1.0, "delta": 1e-6} if start.kind in _NUMBERS else 1.0
    if other is not None and other.budget is not None:
        budget = other.budget
    return Entry("source", "budget", budget, "the most epsilon that these people may ever spend")


def _belief(start: Draft) -> Iterator[Entry]:
    """Yield the kind of belief, and what was said of it."""
    said, is_users = start.answers, start.kind == "users"
    yield Entry("belief", "kind", start.kind, f"what may be believed; its other keys: `takifugu keys {start.kind}`")
    source = said.get("source", "assumed")
    if names_a_file(source):
        fit = {"file": source, "confidence": _CONFIDENCE}
        yield Entry("belief", "fit", fit, "every chain that this public file supports")
    elif source != "assumed":
        yield Entry("belief", "source", source, "where its numbers come from; the certificate says so")
    states, shares = names(said.get("states", "")), pairs(said.get("next_state", ""))
    if "size" in said:
        yield Entry("belief", "size", whole(said["size"]), "how many people there are, which becomes public")
    if states:
        yield Entry("belief", "values" if is_users else "states", states, "all that can occur, from a code book")
    if "mean_duration" in said:
        lasts = pairs(said["mean_duration"])
        yield Entry("belief", "mean_duration", lasts, "how long each state lasts at a time, on average")
    if "next_state" in said and not is_users:
        yield Entry("belief", "next_state", shares, "how often each comes when another ends")
    elif "next_state" in said:
        if {*shares} != {*states}:
            fix = "write for example yes 0.1, no 0.9"
            raise SpecError([InputError("does not name each of them once", fix=fix).at("belief", "next_state")])
        yield Entry("belief", "probabilities", take(shares, states), "how likely each of them is")
    if start.has_people and said.get("units_independent") == "yes":
        yield Entry("belief", "units_independent", True, "one person says nothing about the others")
    if said["rows"] == "contacts" and said.get("public") == "yes":
        file = relative(Path(start.evidence.file), start.output)
        yield Entry("belief", "file", file, "who met whom, which everybody may know")


def _table(name: str, query: str, words: str) -> Iterator[Entry]:
    yield Entry("table", "name", name, "one such section for each table")
    yield Entry("table", "query", query, words)
    yield Entry("table", "epsilon", 1.0, "`takifugu explain` says what that means")


def _sequences(start: Draft) -> Iterator[Entry]:
    if start.answers["rows"] not in TIMED:
        yield from _none(start)
    yield Entry("hide", "kind", "every-entry", "the state in every single step")
    yield from _table("time-in-states", "histogram", "how many steps are in each state")


def _records(start: Draft) -> Iterator[Entry]:
    yield Entry("hide", "kind", "every-entry", "every value of every single person")
    if start.kind == "users":
        yield from _table("published-numbers", "histogram", "how many people have each value")
    else:
        yield from _table("published-number", "count", 'how many rows have some states; or "histogram"')


def _columns(start: Draft) -> Iterator[Entry]:
    is_of_numbers = start.kind in _NUMBERS
    yield Entry("hide", "", None)
    query, words = ("mean", 'the mean of a column; or "sum"') if is_of_numbers else ("count", "rows with some values")
    yield from _table("published-number", query, words)
    if is_of_numbers:
        yield Entry("table", "delta", 1e-6, "normal noise needs a delta above 0")


def _each_row(start: Draft) -> Iterator[Entry]:
    yield from _table("randomised", "each-value", "each row's value, randomised by itself")


def _visits(start: Draft) -> Iterator[Entry]:
    yield Entry("hide", "visits", "all", "that a person was where they were; not that they were not elsewhere")
    yield from _table("safe-places", "safe", 'places where so few were that they may be named; or "visitors"')


def _none(start: Draft) -> Iterator[Entry]:
    raise InputError(
        f"no release file of such rows is drafted for a belief of kind {start.kind!r}",
        fix="start from an example of the documentation, and from `takifugu keys` and this kind",
    ).at("kind")


#: What is secret and what is published first, by what a row is in a kind's data.
LINES: Mapping[str, Callable[[Draft], Iterator[Entry]]] = {
    IN_ORDER: _sequences, RECORDS: _records, WHOLE_COLUMNS: _columns, EACH_ROW: _each_row, POLICY: _visits,
}  # fmt: skip


def _line(key: str, value: object, why: str) -> str:
    text = f"{key} = {toml_of(value)}"
    if isinstance(value, str) and "\n" in value and "\\" not in value and '"""' not in value:
        text = f'{key} = """\n{value}"""'
    with_why = f"{text:<{_COMMENT_AT - 1}} # {why}"
    if not why:
        return text
    if len(with_why) <= _WIDTH + 10 and "\n" not in text:
        return with_why
    above = textwrap.wrap(why, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
    return "\n".join([*above, text])


def plain(text: str) -> str:
    """Return a text safe inside a comment."""
    return re.sub(r"[\x00-\x1f\x7f]", "?", text)


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
        match = re.fullmatch(r"(.*?)\s*[\s=:]\s*(\d*[.]?\d+)\s*([a-z]*)", part)
        if match is None:
            values[part] = ""
        else:
            values[match[1]] = f"{match[2]} {match[3]}" if match[3] else float(match[2])
    return values
