"""The first text of a release file: keys that are in force, each with half a line why, and no value of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from takifugu.model.queries.sections import EACH_ROW, IN_ORDER, POLICY, RECORDS, WHOLE_COLUMNS
from takifugu.releasing.draft.answers import Draft, Entry, draft_of, filled, source_entries
from takifugu.releasing.draft.evidence import Evidence, evidence
from takifugu.releasing.draft.questions import Answers
from takifugu.releasing.file.kind import output_by_default
from takifugu.releasing.file.kinds import KINDS
from takifugu.releasing.file.neighbours import Neighbour, neighbours

#: What is secret (a key of [hide], if any), and the table that is published first, by what a row is in a kind's data.
_FIRST = {
    IN_ORDER: (("kind", "every-entry", "the state in every single step"),
               ("time-in-states", "histogram", "how many steps are in each state")),
    RECORDS: (("kind", "every-entry", "every value of every single person"),
              ("published-number", "count", 'how many rows have some states; or "histogram"')),
    WHOLE_COLUMNS: (("", "", ""), ("published-number", "count", "rows with some values")),
    EACH_ROW: (None, ("randomised", "each-value", "each row's value, randomised by itself")),
    POLICY: (("visits", "all", "that a person was where they were; not that they were not elsewhere"),
             ("safe-places", "safe", 'places where so few were that they may be named; or "visitors"')),
}  # fmt: skip
_MEAN = ("published-number", "mean", 'the mean of a column; or "sum"')
_FIRST_OF_KIND = {
    "users": ("published-numbers", "histogram", "how many people have each value"), "normal": _MEAN, "density": _MEAN,
}  # fmt: skip


def draft(given: object, kind: str | None = None, output: str | Path = "release.toml", **answers: str | None) -> str:
    """Draft the text of a release file about a table.

    Args:
        given: The path of a file, or a frame of pandas, Polars or PyArrow.
        kind: What is secret, as the release file's kind of belief.
        output: Where the text is to lie; paths in it are relative to that.
        answers: The answers, named like the keys that they set: rows, unit, order, step, value, timezone and others;
            of other keys as TOML, such as `mean_duration = '{ still = "2 h" }'`.

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
    codec, sql = answers.pop("encoding", None), answers.pop("sql", None)
    said = {key: word for key, word in answers.items() if word is not None}
    with evidence(given, codec, sql) as opened:
        return drafted(opened, said, kind, Path(output))


def drafted(opened: Evidence, answers: Answers, kind: str | None = None, output: Path = Path("release.toml")) -> str:
    """Return the text that answers draft; InputError for questions that are for the owner alone."""
    return text_of(draft_of(opened, answers, kind, output))


def text_of(start: Draft) -> str:
    """Return the text of a draft, with the ledger, name and budget of other files of its folder about these data."""
    other, stem = first_about(start), start.output.stem
    ledger, shared = (f"{stem}-ledger.db", "") if other is None else (other.ledger, _as_in(start, other))
    sections = {
        "": [Entry("ledger", ledger, f"what was spent on these data{shared}; keep it as safe as they are"),
             Entry("require_ledger", True, "if it is missing nothing is published; it was made with this file"),
             Entry("output", output_by_default(start.output), "the folder of what is published")],
        "[source]": [_name(start, other), *source_entries(start), _budget(start, other)],
        "[belief]": [Entry("kind", start.kind, f"what may be believed; other keys: `takifugu keys {start.kind}`"),
                     *filled(start.answers, "belief")],
        **{header: [*entries] for header, entries in _last(start)},
    }  # fmt: skip
    texts = list[str]()
    for header, entries in sections.items():
        lines = [entry.line for entry in entries if entry.key]
        texts.append("\n".join([header, *lines] if header else lines))
    return "\n\n".join(texts) + "\n"


def _last(start: Draft) -> Iterator[tuple[str, list[Entry]]]:
    """Yield what is hidden and the first table."""
    hidden, table = _FIRST[KINDS.find(start.kind).facts.rows]
    if hidden is not None:
        yield "[hide]", [Entry(*hidden)]
    name, query, words = _FIRST_OF_KIND.get(start.kind, table)
    entries = [Entry("name", name, "one such section for each table"), Entry("query", query, words),
               Entry("epsilon", 1.0, "`takifugu explain` says what that means")]  # fmt: skip
    if query == "mean":
        entries.append(Entry("delta", 1e-6, "normal noise needs a delta above 0"))
    yield "[[table]]", entries


def first_about(start: Draft) -> Neighbour | None:
    """Return the folder's first release file about these data: one ledger knows all spending on them."""
    return next(neighbours(start.output.parent, Path(start.evidence.file)), None) if start.evidence.file else None


def _as_in(start: Draft, other: Neighbour) -> str:
    """Return which other file has this, too, if it is another one."""
    name = re.sub(r"[\x00-\x1f\x7f]", "?", other.path.name)
    return "" if other.path.name == start.output.name else f", as in {name}"


def _name(start: Draft, other: Neighbour | None) -> Entry:
    if other is not None and other.source is not None:
        return Entry("name", other.source, f"the name of these data in the ledger{_as_in(start, other)}, for ever")
    data = Path(start.evidence.file)
    stems = (re.sub(r"\W+", "-", stem).strip("-") for stem in (data.name.split(".")[0], data.parent.name, "data"))
    return Entry("name", next(filter(None, stems)), "the name of these data in the ledger, for ever")


def _budget(start: Draft, other: Neighbour | None) -> Entry:
    budget: object = {"epsilon": 1.0, "delta": 1e-6} if start.kind in ("normal", "density") else 1.0
    if other is not None and other.budget is not None:
        budget = other.budget
    return Entry("budget", budget, "the most epsilon that these people may ever spend")
