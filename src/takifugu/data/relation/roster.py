"""Everybody who is covered, and from when to when: names, or a table with the unit's column, `from` and `until`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import about
from takifugu.core.escaping import is_printable
from takifugu.data.relation.keys import Source
from takifugu.data.relation.opening import WRITTEN, open_table
from takifugu.data.relation.roles import Opened
from takifugu.data.relation.statements import COVERS, FAR
from takifugu.data.sql.faults import wrong_data
from takifugu.data.sql.words import identifier
from takifugu.data.times.moments import moment
from takifugu.data.values.counts import Names


@dataclass(frozen=True, eq=False)
class Roster:
    """The units in the order of their names, the steps `first` up to before `last` of each, and attributes."""

    names: Names = field(repr=False)
    #: The same in ticks: a row from `high` on is outside, and of samples one before `low`, too.
    low: IntArray = field(repr=False)
    high: IntArray = field(repr=False)
    first: IntArray = field(repr=False)
    last: IntArray = field(repr=False)
    attributes: Mapping[str, Names] = field(default_factory=dict, repr=False)

    def only(self, chosen: Any) -> Roster:
        """Return the roster of some units."""
        some = {name: column[chosen] for name, column in self.attributes.items()}
        ends = self.low[chosen], self.high[chosen], self.first[chosen], self.last[chosen]
        return Roster(self.names[chosen], *ends, some)


def read_roster(source: Source, root: str | Path, folder: str) -> Roster | None:
    """Return the declared roster, None without one; one unit without a name where no unit is declared."""
    ends, attributes = (None, None), dict[str, Names]()
    given = source.roster
    if source.unit is None:
        names = np.array([""], dtype=object)
    elif given is None:
        return None
    elif isinstance(given, Sequence) and not isinstance(given, str):
        names = np.array([str(name) for name in given], dtype=object)
    else:
        names, ends, attributes = _of_table(given, source, root, folder)
    if not len(names):
        raise wrong_data("roster", "the roster names nobody", "", "name everybody who is covered")
    if source.unit is not None and any(not name or name != name.strip() for name in names.tolist()):
        raise wrong_data("roster", "the roster has a name that is empty or has blanks around it", "", "trim() in sql")
    for texts_of_units in (names, np.array([*attributes], dtype=object), *attributes.values()):
        if not all(text is None or is_printable(text) for text in texts_of_units.tolist()):
            what = "the roster has a name or an attribute with a control character"
            raise wrong_data("roster", what, "a name is printed and published", "write it without")
    order = np.argsort(names.astype("U"), kind="stable")
    names = names[order]
    if (names[1:] == names[:-1]).any():
        raise wrong_data("roster", "the roster names one twice", "a person has one line", "SELECT DISTINCT")
    low, high = _ticks(ends, source, len(names))
    columns = {name: column[order] for name, column in attributes.items()}
    return Roster(names, *_covered(source, low[order], high[order]), columns)


def name_covers(opened: Opened, roster: Roster) -> None:
    """Make the roster known to the statements, as a table of units with their ends."""
    connection = opened.relation.connection
    columns = {"unit": roster.names, "number": np.arange(len(roster.names)), "low": roster.low, "high": roster.high}
    connection.register("takifugu given covers", columns)
    select = 'select unit::varchar as unit, number, low, high from "takifugu given covers"'
    connection.execute(f"create or replace temp table {COVERS} as {select}")
    connection.unregister("takifugu given covers")


def _of_table(
    given: object, source: Source, root: str | Path, folder: str
) -> tuple[Names, tuple[Any, Any], dict[str, Any]]:
    relation = open_table(given, [str(source.unit)], root, folder, "roster")
    with closing(relation), about("roster"):
        if source.unit not in relation.types:
            what = f"the roster has no column {str(source.unit)[:80]!r}"
            raise wrong_data("roster", what, "it calls them as the data do", "AS renames it in a SELECT")
        listed = ", ".join(f"{identifier(name)}::varchar as {identifier(name)}" for name in relation.types)
        table = relation.columns(f"select {listed} from {identifier(WRITTEN)}", "roster")
        relation.check_unchanged()
    columns = {name: texts(column) for name, column in table.items()}
    names = columns.pop(str(source.unit))
    return names, (columns.pop("from", None), columns.pop("until", None)), columns


def texts(column: Any) -> Names:
    """Return a column of texts, None for nothing."""
    filled: Names = np.array(np.ma.getdata(column), dtype=object)
    filled[np.ma.getmaskarray(column)] = None
    return filled


def _ticks(ends: tuple[Any, Any], source: Source, count: int) -> tuple[Any, Any]:
    """Return from and until of each unit as ticks; without them those of the calendar, of which one may have no end."""
    usual = (-FAR, FAR)
    if source.calendar is not None:
        usual = (source.calendar.start, FAR if source.size is None else source.calendar.moment_of(source.size))
    filled = list[Any]()
    for column, key, default in zip(ends, ("from", "until"), usual, strict=True):
        if column is None:
            column = np.full(count, None, dtype=object)
        elif source.calendar is None:
            what = f"the roster has a column {key!r} and no calendar is declared"
            raise wrong_data("roster", what, "", "declare from and until")
        meant = {text: _tick(text, source) if text else default for text in {*column.tolist()}}
        filled.append(np.array([meant[text] for text in column.tolist()], dtype=np.int64))
    return filled[0], filled[1]


def _tick(text: str, source: Source) -> int:
    if source.is_time:
        return moment(text, True, "roster", source.zone)
    if not re.fullmatch(r"-?[0-9]{1,15}", text):
        raise wrong_data("roster", "from or until of the roster is no whole number", "steps are numbers")
    return int(text)


def _covered(source: Source, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return each unit's ends in ticks, inside the calendar, and its first step and the one behind its last."""
    if source.calendar is None:
        return low, high, low, high
    origin, width = source.calendar.start, source.width
    end = FAR if source.size is None else origin + source.size * width
    first = -((origin - np.clip(low, origin, end)) // width)
    last = np.maximum(-((origin - np.clip(high, origin, end)) // width), first)
    return origin + first * width, np.minimum(high, end), first, last
