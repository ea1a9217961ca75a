"""The rows of a release file of records: private, read once, every value known to the belief."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from takifugu.beliefs.contacts import CliqueInfection
from takifugu.beliefs.users import IndependentUsers
from takifugu.errors import DataError
from takifugu.frames import UNKNOWN, UNOBSERVED, Table, meant, tally
from takifugu.frames.layout import natural
from takifugu.secrets import ABSENT
from takifugu.spec.records.build import spelled
from takifugu.spec.records.checks import RecordFile
from takifugu.spec.records.rows import Texts, texts
from takifugu.spec.records.sections import UsersSpec


@dataclass(frozen=True, eq=False)
class Record:
    """One unit's data: its row by column, all users' values, or each person's state by name; private, never shown.

    `written` is the unit's name as the data spell it.
    """

    name: str | None
    data: Any = field(repr=False)
    written: str | None = field(default=None, repr=False)


def records_of(file: RecordFile) -> tuple[Record, ...]:
    """Return the records of the source, by unit; without a unit column there is one.

    Raises DataError, which names the rule by its key, for data that breaks one. No message repeats a value of the data.
    """
    table, belief = file.table, file.belief
    if isinstance(belief, IndependentUsers):
        return (Record(None, _users(file, table, belief)),)
    if isinstance(belief, CliqueInfection):
        return (Record(None, _people(file, table, belief)),)
    unit, names = file.spec.source.unit, [str(name) for name in belief.names]
    rows = texts(table, [*([] if unit is None else [unit]), *names])
    if not rows:
        raise DataError("source.file: the data has no rows", rule="nothing can be released")
    known = {name: spelled(belief.alphabet(i)) for i, name in enumerate(names)}
    if unit is None:
        if len(rows) != 1:
            raise DataError(
                "source.unit: the data has several rows", fix='write unit = "<the column that names the unit>"'
            )
        return (Record(None, _record(rows[0], known)),)
    whose = [row[0] for row in rows]
    if None in whose:
        raise DataError(f"source.unit: column {unit!r} has missing values", rule="every row must name its unit")
    called = _called("source.unit", unit, "unit", whose)
    if len(called) != len(whose):
        raise DataError(f"source.unit: column {unit!r} names a unit twice", rule="every unit has one row")
    found = [Record(called[str(row[0])], _record(row[1:], known), row[0]) for row in rows]
    return tuple(sorted(found, key=lambda record: natural(record.name)))


def _called(key: str, column: str, what: str, written: Sequence[str | None]) -> dict[str, str]:
    """Return the canonical name of everybody who is named in a column."""
    try:
        return meant([(str(name), row) for row, name in enumerate(written)], column, what)
    except DataError as error:
        raise DataError(f"{key}", rule=f"{error}") from None


def _record(row: Texts, known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {name: _value(text, name, values) for text, (name, values) in zip(row, known.items(), strict=True)}


def _value(text: str | None, column: str, values: Mapping[str, Any]) -> Any:
    if text is None:
        raise DataError(f"source.file: column {column!r} has missing values", fix="fill them, or drop these rows")
    if text not in values:
        listed = list(values) if len(values) <= 20 else [*list(values)[:20], "..."]
        raise DataError(
            f"source.file: column {column!r} has a value that the belief does not know", fix=f"its values are {listed}"
        )
    return values[text]


def _users(file: RecordFile, table: Table, belief: IndependentUsers) -> list[Any]:
    """Return one value per user, in the order of the belief's groups; users of a group are alike, so they are counted.

    Raises DataError for rows that are not one for each user of the belief.
    """
    spec, source = file.spec.belief, file.spec.source
    assert isinstance(spec, UsersSpec)
    assert source.value is not None
    groups = [(None, belief.size)] if spec.groups is None else [(group.name, group.size) for group in spec.groups]
    firsts = [sum(size for _, size in groups[:number]) for number in range(len(groups))]
    letters = [_letters(belief, first) for first in firsts]
    words = {word: code for code, word in enumerate(dict.fromkeys(w for mine in letters for w in mine))}
    known = {source.value: words}
    if source.group is not None and spec.groups is not None:
        known[source.group] = {str(name): code for code, (name, _) in enumerate(groups)}
    found = {(code, *group): rows for (code, *group), rows in tally(table, known).items()}
    if sum(found.values()) != belief.size:
        raise DataError("source.file: the data must have one row for each user of the belief", fix="check belief.size")
    if any(code < 0 for _, *group in found for code in group):
        raise DataError("source.group", rule=f"column {source.group!r} has a name that is not a group of the belief")
    values: list[Any] = []
    for number, (_, size) in enumerate(groups):
        mine = {code: rows for (code, *group), rows in found.items() if group in ([], [number])}
        if sum(mine.values()) != size:
            raise DataError(
                "source.group: a group has other than the declared number of rows", fix="check each group's size"
            )
        for code, rows in sorted(mine.items()):  # a value that no group has is the empty text, which is none
            text = None if code == UNOBSERVED else "" if code == UNKNOWN else list(words)[code]
            values += [_value(text, source.value, letters[number])] * rows
    return values


def _people(file: RecordFile, table: Table, belief: CliqueInfection) -> dict[str, Any]:
    """Return each person's state, by name."""
    source, states = file.spec.source, spelled(belief.states)
    assert source.person is not None
    assert source.value is not None
    rows = texts(table, [source.person, source.value])
    if any(name is None for name, _ in rows):
        raise DataError(
            f"source.person: column {source.person!r} has missing values", rule="every row must name its person"
        )
    called = _called("source.person", source.person, "person", [name for name, _ in rows])
    found: dict[str, Any] = {}
    for written, text in rows:
        name = called[str(written)]
        if name in found:
            raise DataError(
                f"source.person: column {source.person!r} names somebody twice", rule="every person has one row"
            )
        found[name] = _value(text, source.value, states)
    if set(found) - set(belief.names):
        raise DataError(
            "source.person: the data has somebody whom the belief does not know", fix="name them in belief.people"
        )
    if len(found) < belief.size:
        raise DataError("source.person: somebody of the belief is not in the data", rule="every person has one row")
    return found


def _letters(belief: IndependentUsers, user: int) -> dict[str, Any]:
    """Return what a user's row may hold: a value, or "absent" where that removes the user."""
    letters = belief.letters[int(belief.letters_of[user])]
    return spelled([*letters.values, *([ABSENT] if letters.absence == "removed" else [])])
