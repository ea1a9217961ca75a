"""The ledger's totals again, unit by unit and line by line, from the texts of its events. Imports no takifugu.

Slow on purpose: no classes of units, no sums of like charges, nothing that depends on what was done before. What the
lines of one table cost together (`joint`), and one line when all its data change (`beside`), the caller says.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Pair = tuple[Fraction, Fraction]
NOBODY, EACH = "", "*"
OF_ROWS = ("distribution", "extended-distribution")


@dataclass(frozen=True, eq=False)
class Line:
    """One line: its charge and framework as texts, whose it is, and where it stands."""

    number: int
    source: str
    reading: str
    entries: str
    group: str
    charge: dict[str, Any]
    framework: dict[str, Any]
    at: int | None
    units: str
    count: int
    members: frozenset[int]
    starts: str


@dataclass(frozen=True)
class Given:
    """A line as it is given to `joint`: `is_outside`, as a promise about everything, so many `times`."""

    line: Line
    entries: str
    is_outside: bool = False
    times: int = 1
    continues: bool = False


class Reference:
    """The lines and declarations of a ledger."""

    def __init__(self, rows: Iterable[tuple[str, str]], content: Callable[[str], bytes]) -> None:
        self.lines: list[Line] = []
        self.same: list[set[tuple[str, str, str]]] = []
        self.releases: set[str] = set()
        self.noted: dict[str, Pair] = {}
        for text, _ in rows:
            event = json.loads(text)
            if event["kind"] == "same":
                tables = {(event["source"], content(reading).decode(), entries) for reading, entries in event["tables"]}
                merged = [group for group in self.same if group & tables]
                self.same = [group for group in self.same if not group & tables] + [tables.union(*merged)]
            if event["kind"] != "paid":
                continue
            self.releases |= {*event["ids"].values()}
            for name, (epsilon, delta) in event["spent"].items():
                self.noted[name] = (Fraction(epsilon), Fraction(delta))
            for line in event["lines"]:
                members = frozenset() if line["units"] in (NOBODY, EACH) else members_of(line["units"], content)
                self.lines.append(Line(
                    len(self.lines), event["source"], content(event["reading"]).decode(), event["entries"],
                    event["group"], json.loads(content(line["charge"])), json.loads(content(line["framework"])),
                    line["at"], line["units"], line["count"], members, line["starts"],
                ))  # fmt: skip

    def group_of(self, source: str, reading: str, entries: str) -> frozenset[tuple[str, str, str]]:
        table = (source, reading, entries)
        return next((frozenset(group) for group in self.same if table in group), frozenset([table]))

    def readings_of(self, source: str, reading: str) -> frozenset[str]:
        """Return the readings of a source that some declaration ties to this one, over any number of others."""
        tied = {reading}
        while True:
            more = {r for group in self.same for s, r, _ in group if s == source and {x[1] for x in group} & tied}
            if more <= tied:
                return frozenset(tied)
            tied |= more

    def table_of(self, line: Line) -> object:
        if line.charge["definition"] in OF_ROWS:
            return (line.source, self.readings_of(line.source, line.reading), "rows")
        return (self.group_of(line.source, line.reading, line.entries), line.at is None)

    def loose(self) -> set[str]:
        """Return the sources whose people were named in several ways that no declaration ties."""
        loose = set()
        for source in {line.source for line in self.lines}:
            readings = {line.reading for line in self.lines if line.source == source}
            namings = {reading: self.namings_of(source, reading) for reading in readings}
            named = any(line.units != NOBODY for line in self.lines if line.source == source)
            if named and len({*namings.values()}) > 1:
                loose.add(source)
        return loose

    def namings_of(self, source: str, reading: str) -> frozenset[str]:
        """Return the ways of naming people that are one with that of a reading."""
        known = {r for s, r in self._readings() if s == source} | {reading}
        tied = {naming(reading)}
        while True:
            here = {r for r in known if naming(r) in tied}
            more = {naming(r) for one in here for r in self.readings_of(source, one)} | tied
            if more == tied:
                return frozenset(tied)
            tied = more

    def _readings(self) -> set[tuple[str, str]]:
        return {(line.source, line.reading) for line in self.lines} | {t[:2] for group in self.same for t in group}

    def past(self, unit: int | None) -> list[Line]:
        """Return the lines of a unit in their order (None: who goes by no name, and may be anybody)."""
        loose = self.loose()
        lines = []
        for line in self.lines:
            is_theirs = unit is None or line.units in (NOBODY, EACH) or unit in line.members or line.source in loose
            if is_theirs:
                lines.append(line)

        def rank(line: Line) -> tuple[int, int]:
            if line.units != EACH:
                return 1, line.number
            return (0 if Fraction(line.charge["delta"]) else 2), line.number

        return sorted(lines, key=rank)

    def totals(
        self, unit: int | None, joint: Callable[[dict[str, Any], Sequence[Given], bool], Pair],
        whole_loss: Callable[[Line], Pair],
    ) -> dict[str, Pair]:  # fmt: skip
        """Return what a unit has spent, by source."""
        past = self.past(unit)
        theirs = [line for line in past if (line.units == NOBODY) == (unit is None)]
        has_delta = any(Fraction(line.charge["delta"]) for line in past)
        is_alone = len(past) == 1 and (len(self.releases) == 1 or past[0].charge["scope"] == "unit")
        totals: dict[str, Pair] = {}

        def times(line: Line) -> int:
            is_several = unit is None or line.source in self.loose()
            return line.count if is_several and line.units != NOBODY else 1

        for table in {self.table_of(line) for line in theirs}:
            here = [line for line in theirs if self.table_of(line) == table]
            given, rest = [], [(Fraction(0), Fraction(0))]
            for line in past:
                if line in here:
                    continues = bool(here[0].charge.get("begins_series")) and line.group != here[0].group
                    given.append(Given(line, self._entries(line), continues=continues))
                elif has_delta and Fraction(line.charge["delta"]):
                    given.append(Given(line, "", is_outside=True, times=times(line)))
                else:
                    epsilon, delta = whole_loss(line)
                    rest.append((times(line) * epsilon, times(line) * delta))
            starts = {line.starts for line in here}
            if len(starts) > 1:
                amounts = [(times(line) * whole_loss(line)[0], times(line) * whole_loss(line)[1]) for line in past]
                worst = (sum(a for a, _ in amounts), sum(b for _, b in amounts))
            else:
                frameworks = {line.charge["framework"]: line.framework for line in here}
                costs = [joint(framework, given, is_alone) for framework in frameworks.values()]
                worst = (
                    max(c[0] for c in costs) + sum(r[0] for r in rest),
                    max(c[1] for c in costs) + sum(r[1] for r in rest),
                )
            for source in {line.source for line in here}:
                before = totals.get(source, (Fraction(0), Fraction(0)))
                totals[source] = max(before[0], worst[0]), min(Fraction(1), max(before[1], worst[1]))
        return totals

    def _entries(self, line: Line) -> str:
        return repr(sorted(self.group_of(line.source, line.reading, line.entries)))


def naming(reading: str) -> str:
    return "\n".join(line for line in reading.split("\n") if line.startswith(("unit: ", "recording: ", "sql: ")))


def members_of(name: str, content: Callable[[str], bytes]) -> frozenset[int]:
    """Return the tags of a set."""
    body = content(name)
    if body[0] == 0:
        return frozenset(_tags(body[1:]))
    count = int.from_bytes(body[33:41], "big")
    tags = _tags(body[41:])
    return (members_of(body[1:33].hex(), content) - {*tags[count:]}) | {*tags[:count]}


def _tags(body: bytes) -> list[int]:
    return [int.from_bytes(body[place : place + 8], "big") for place in range(0, len(body), 8)]
