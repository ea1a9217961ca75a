"""The first draft of a release file: what the columns seem to be, and what only its author can know.

Nothing that depends on the data goes into the draft as a setting: no bounds, no lengths, no states. The labels in the
state column are listed in a comment, because a person needs them as a reminder; the comment says what they are.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from takifugu.frames.kinds import TIMES
from takifugu.spec.columns import LOOKED_AT, Column
from takifugu.spec.problems import toml_of

#: The draft's ledger, beside it.
LEDGER = "ledger.db"
_WIDTH = 100
_COMMENT_AT = 31
_LONGEST_LABEL = 60

_NO_ORDER = (
    "No column seems to order the rows, so they count as steps in time in the order of the file. If each row is a "
    "separate record (a person, a case), this is the wrong kind of belief: see the page about records in the docs."
)
_WHAT = {
    "unit": "the unit of a row",
    "piece": "an unbroken run of rows of one unit; a new one starts after a gap",
    "order": "must rise within a piece",
    "value": "the state",
}


def draft(data: Path, output: Path, columns: Sequence[Column]) -> str:
    """Return the text of a release file about the table at `data`, to be written to `output`.

    It is valid as soon as the lines that say FILL IN are filled in.
    """
    return "\n".join([*_head(data, output), *_source(data, output, columns), *_belief(columns), *_rest(columns)]) + "\n"


def _head(data: Path, output: Path) -> Iterator[str]:
    yield from _comment(
        f"A release file, started by `takifugu init` from the columns of {_plain(data.name)}. Read all of it: it says "
        "what is hidden from whom. Lines with FILL IN are for you; `takifugu calibrate` says what is still missing. "
        "Nothing is published before `takifugu release`."
    )
    yield ""
    yield _line(f"ledger = {toml_of(LEDGER)}", "what has been spent on these data; keep it as safe as the data")
    yield _line("require_ledger = true", "if it is missing nothing is published; it was made with this file")
    yield _line('output = "published"', "the folder of the published tables and certificates")
    yield ""


def _source(data: Path, output: Path, columns: Sequence[Column]) -> Iterator[str]:
    found = {c.role: c for c in columns if c.role is not None}
    yield "[source]"
    yield _line(f"name = {toml_of(_slug(data))}", "the name of these data in the ledger, for ever")
    yield _line(f"file = {toml_of(_relative(data, output))}", "")
    for role in ("unit", "piece", "order", "value"):
        if role in found:
            yield _line(f"{role} = {toml_of(found[role].name)}", f"guessed: {_WHAT[role]}")
        elif role == "value":
            yield from _comment(
                "FILL IN the column with the states, one of "
                f"{_plain(', '.join(toml_of(c.name) for c in columns))}. It has few different values: numbers must be "
                "put into classes first."
            )
            yield '# value = "..."'
        else:
            yield _line(f'# {role} = "..."', _WHAT[role])
            if role == "order":
                yield from _comment(_NO_ORDER)
    step = '"1min"' if "order" in found and found["order"].kind == TIMES else "1"
    yield _line(f"# step = {step}", "the step between rows, if rows may be missing")
    yield _line("budget = 1.0", "the most epsilon that a unit may ever spend")
    yield ""


def _belief(columns: Sequence[Column]) -> Iterator[str]:
    roles = {c.role for c in columns}
    yield _line("[belief]", "what somebody who wants to know a secret may believe about the data")
    yield 'kind = "markov-chain"'
    yield ""
    yield from _comment(
        "FILL IN the states as they are known without the data (a code book, a questionnaire): all that can occur, "
        "whether or not they do."
    )
    yield from _labels(columns)
    yield '# states = ["...", "..."]'
    yield ""
    yield from _comment(
        "FILL IN the probability that each state (a row) is followed by each state (a column), in the order of the "
        "states; a row sums to 1. From literature or judgement, or fitted to a public file of the same kind; not from "
        "these data."
    )
    yield "# matrix = [[0.9, 0.1], [0.4, 0.6]]"
    yield '# fit = { file = "public.csv" }'
    yield ""
    yield _line('source = "assumed"', "FILL IN where the belief comes from; the certificate prints it")
    if "piece" in roles:
        yield ""
        yield from _comment("FILL IN: does one piece of a unit say nothing about its others? Only then write this.")
        yield "# pieces_independent = true"
    if "unit" in roles:
        yield ""
        yield from _comment(
            "FILL IN: does one unit say nothing about the others (no families, no shared rooms)? Only then write this."
        )
        yield "# units_independent = true"
    yield ""
    yield _line("# max_length = 1000", "the most steps of a piece that count, known without the data")
    yield _line('# longer = "cut"', "cut a longer piece, instead of refusing it")
    yield ""
    yield _line("# [belief.map]", "raw values that count as one of the states")
    yield '# "raw value" = "state"'
    yield ""


def _labels(columns: Sequence[Column]) -> Iterator[str]:
    values = next((c for c in columns if c.role == "value"), None)
    if values is None or any(len(label) > _LONGEST_LABEL for label in values.labels):
        return
    yield from _comment(
        f"A reminder from the first {LOOKED_AT:,} rows of the data. Declare the states from public knowledge, and "
        "delete this reminder before others see this file: which of them occur depends on the data."
    )
    row = "#  "
    for label in sorted(values.labels):
        text = f" {_plain(toml_of(label))}"
        if len(row) + len(text) > _WIDTH:
            yield row
            row = "#  "
        row += text
    yield row


def _rest(columns: Sequence[Column]) -> Iterator[str]:
    has_units = any(c.role == "unit" for c in columns)
    yield "[hide]"
    yield _line('kind = "every-entry"', "the state in every single row")
    yield ""
    yield _line("[[release]]", "one such section for each table that is published")
    yield 'name = "time-in-states"'
    yield _line('query = "histogram"', 'how many rows are in each state; or "count" with states = [...]')
    yield _line("epsilon = 1.0", "`takifugu explain` says what that means")
    if has_units:
        yield _line('per = "pooled"', 'one table for all units; "unit" makes one for each of them')


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _line(text: str, comment: str) -> str:
    return f"{text:<{_COMMENT_AT - 1}} # {comment}" if comment else text


def _plain(text: str) -> str:
    """Return a text that stays inside its comment."""
    return re.sub(r"[\x00-\x1f\x7f]", "?", text)


def _slug(data: Path) -> str:
    stem = data.name.split(".")[0]
    return re.sub(r"\W+", "-", stem).strip("-") or "data"


def _relative(data: Path, output: Path) -> str:
    """Return the data's path as seen from the release file."""
    try:
        return Path(os.path.relpath(data, output.parent)).as_posix()
    except ValueError:  # another drive
        return str(data.resolve())
