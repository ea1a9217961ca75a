"""The keys of [source] that say what rows mean, each with its sentence; and what follows from them alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from itertools import chain
from typing import Any

from takifugu.core.errors import TakifuguError, gathered, raise_gathered, within
from takifugu.core.nearest import unknown
from takifugu.core.plain import toml_of
from takifugu.core.rules import check_printable
from takifugu.core.sections import Key
from takifugu.data.sql.faults import wrong_key
from takifugu.data.times.calendar import Calendar
from takifugu.data.times.steps import parse_step
from takifugu.data.times.zones import MICROSECOND, Zone
from takifugu.data.values.bins import Bins, Classes, Known

#: What a file holds: the state of each step, when it changes, how long it lasts, when it is seen, one row a unit, or
#: where somebody was.
KINDS = ("samples", "changes", "stays", "events", "answers", "visits")
#: Those whose rows are runs of steps, and all whose rows are steps.
RUNS = ("changes", "stays", "events")
STEPS = ("samples", *RUNS)
#: Those whose rows reach beyond the step of their time.
LASTING = ("changes", "stays")
_CALENDAR, _DATES = 'order = "time", step = "1h", from = "2026-01-05"', 'from = "2026-01-05", until = "2026-02-02"'
#: The keys that kinds of rows need, with the rule and what to write.
_NEEDED = (
    (STEPS, "order", "rows have a time", 'order = "time"'),
    (STEPS, "step", "steps have a length", 'step = "15min", or step = 1'),
    (("stays",), "end", "a stay has an end", 'end = "left"'),
    (RUNS, "from", "the first step is public", 'write from = "2026-01-05"'),
    (RUNS, "until", "the time of the export is public", 'write until = "2026-02-02"'),
    (("visits",), "unit", "a visit is somebody's", 'unit = "person"'),
)
#: The keys that kinds of rows have no use for, and why.
_UNUSED = (
    (("answers",), ("order", "end", "step", "from", "until", "timezone", "recording", "default_state"),
     "answers have no time"),
    (("visits",), ("end",), "a visit is in one step"), (("visits",), ("recording",), "a visit stands alone"),
    (("visits",), ("bins",), "places have names"), (("visits",), ("default_state",), "a visit is somewhere"),
    (("visits",), ("roster",), "it is not published who was nowhere"),
    (("samples", "changes", "events"), ("end",), "stays alone have ends"), (RUNS, ("recording",), "a person has one"),
    (("samples",), ("default_state",), "a sample tells its state"),
)  # fmt: skip

#: Those that are a column or an expression, or several.
ROLES = ("where", "unit", "recording", "order", "end", "value", "group")
#: The keys of [source], for all kinds. Those with `read` are part of the reading, and so are `sql` and the file's kind.
KEYS: Mapping[str, Key] = {
    "name": Key("who these people are to the ledger", "activity-study"),
    "budget": Key("the most epsilon that they spend"),
    "entries": Key("the name of what is measured", "2026-03"),
    "single_release": Key("nothing else is ever published about these people"),
    "same_people": Key("these people are those of the other sources of the ledger", True),
    "engine": Key("the cluster that counts the rows where they are"),
    "file": Key("the file with the rows, from the release file on", "data.csv"),
    "sql": Key("the rows, as a SELECT over files that it names", "from read_csv('data.csv', skip = 2)"),
    "rows": Key("what a row says", read=str),
    "where": Key("which rows count", "kind <> 'total'", read=str),
    "encoding": Key("how a text file that is not UTF-8 is written", "cp1252", read=str),
    "unit": Key("whose a row is", "person", read=str),
    "called": Key("the noun of those whom rows are about, such as household or receipt", "household"),
    "recording": Key("the unbroken recording that a row belongs to", read=str),
    "order": Key("when; of stays, when they start", "time", read=str),
    "end": Key("when a stay ends", "left", read=str),
    "value": Key("what is published", read=str),
    "bins": Key("the state of a number, by its edges", read=str),
    "nulls": Key("what a missing value is", read=str),
    "step": Key("how long a step is", "15min", read=str),
    "from": Key("when the source starts", "2026-01-05"),
    "until": Key("when the source ends", "2027-01-04"),
    "timezone": Key("whose clocks show days and hours, of moments", "Europe/Berlin"),
    "gaps": Key("whether steps without a row are public", read=str),
    "default_state": Key("the state where no row says one", read=str),
    "roster": Key("everybody who is covered", "people.csv"),
    "group": Key("users: the group that each one belongs to", "ward", read=str),
    "rows_per_person": Key("populations: the most rows that a person may have", 1),
}


@dataclass(frozen=True)
class Source:
    """The keys of [source] that rows are read by, with the belief's states; InputError for those that do not fit."""

    states: tuple[str, ...] = ()
    file: str | None = None
    sql: str | None = None
    rows: str = "samples"
    where: str | None = None
    encoding: str | None = None
    unit: str | None = None
    recording: str | None = None
    order: str | None = None
    end: str | None = None
    value: str | tuple[str, ...] | None = None
    bins: Mapping[str, Any] | None = field(default=None, hash=False)
    nulls: str = "refuse"
    step: int | str | None = None
    start: object = None
    until: object = None
    timezone: str | None = None
    gaps: str = "public"
    default_state: str | None = None
    roster: Any = field(default=None, hash=False)
    #: Declared where each row is published by itself.
    rows_per_person: int | None = None
    #: No keys: the belief's rule about each value, where rows are not steps, and whether it may be missing.
    known: tuple[Known, ...] = ()
    may_miss: tuple[bool, ...] = ()
    #: No key: nothing is hidden.
    is_public: bool = False
    #: No key: a row's step is the one after the row before it, whatever lies between them.
    is_by_rank: bool = False

    @staticmethod
    def of(
        keys: Mapping[str, Any], states: Sequence[object] = (), known: Sequence[Known] = (),
        may_miss: Sequence[bool] = (),
    ) -> Source:  # fmt: skip
        """Return the source of a section's keys, as plain values; InputError for an unknown one."""
        for name in keys:
            if name not in KEYS:
                raise unknown(f"[source] has no key {name!r}", name, list(KEYS)).at(name)
        read = {name: value for name, value in keys.items() if name in _FIELDS and value is not None}
        if "from" in keys:
            read["start"] = keys["from"]
        if isinstance(read.get("value"), list):
            read["value"] = tuple(read["value"])
        names, bins = tuple(str(state) for state in states), read.get("bins") or {}
        of_columns = [edges for edges in bins.values() if isinstance(edges, Mapping)]
        check_printable((*names, *bins, *chain(*of_columns)), "the states have", "value")
        if not names and not of_columns and not known:
            names = tuple(bins)
        rules = tuple(rule if isinstance(rule, Bins | Classes) else tuple(map(str, rule)) for rule in known)
        return Source(states=names, known=rules, may_miss=tuple(may_miss), **read)

    def __post_init__(self) -> None:
        faults = [*self._odd_words()]
        for is_broken, *rule in self._rules() if not faults else ():
            if is_broken:
                faults.append(wrong_key(*rule))
        if self.default_state is not None and self.default_state not in self.states:
            what = f"default_state is {self.default_state!r}"
            faults.append(unknown(what, self.default_state, self.states).at("default_state"))
        for part in ("bins_of_values", "width"):
            with gathered(faults):
                getattr(self, part)
        if not any(fault.where == ("step",) for fault in faults):  # without which no date has a meaning
            for part in ("zone", "calendar"):
                with gathered(faults):
                    getattr(self, part)
        raise_gathered(faults)

    def _odd_words(self) -> Iterator[TakifuguError]:
        """Yield the faults of single keys."""
        for name, choices in (("rows", KINDS), ("nulls", ("refuse", "unobserved")), ("gaps", ("hidden", "public"))):
            if getattr(self, name) not in choices:
                yield unknown(f"{name} is {getattr(self, name)!r}", getattr(self, name), choices).at(name)
        roles = [(name, getattr(self, name)) for name in ("unit", "recording", "order", "end", "where")]
        for role, text in (*roles, *(("value", value) for value in self.values)):
            if text is not None and (not isinstance(text, str) or not text.strip()):
                yield wrong_key(role, "is empty", "a role is a column or an expression")

    def _rules(self) -> Iterator[tuple[bool, str, str, str, str]]:
        """Yield what does not fit together: whether it is so, the key, what is wrong, the rule, and the fix."""
        kind, is_step, has_unit = f'rows = "{self.rows}"', self.rows in STEPS, self.unit is not None
        for kinds, key, rule, fix in _NEEDED:
            yield self.rows in kinds and self._said(key) is None, key, f"{kind} without {key}", rule, fix
        for kinds, keys, rule in _UNUSED:
            for key in keys if self.rows in kinds else ():
                is_said = self._said(key) is not None
                yield is_said, key, f"{key} is declared beside {kind}", rule, f"leave {key} out"
        no_roster = self.rows in RUNS and has_unit and self.roster is None
        names = 'write roster = ["Ana", "Ben"], or "people.csv", a public file with their names'
        yield no_roster, "roster", f"{kind} without a roster", "somebody without a row counts, too", names
        is_odd = self.roster is not None and (not has_unit or self.recording is not None)
        yield is_odd, "roster", "roster without people, or beside recordings", "it names people", "leave roster out"
        is_odd = is_step and self.gaps == "hidden" and self.start is None
        yield is_odd, "gaps", 'gaps are "hidden" and no calendar is declared', "lengths are then declared", _DATES
        no_start = is_step and self.start is None and self.until is not None
        yield no_start, "from", "until without from", "a calendar has a start", _DATES
        if self.rows == "visits":
            yield from self._rules_of_visits(kind)

    def _rules_of_visits(self, kind: str) -> Iterator[tuple[bool, str, str, str, str]]:
        """Yield the same of visits: somebody was somewhere, in a calendar if one is declared."""
        what = f"value is {len(self.values)} columns"
        yield len(self.values) > 2, "value", what, "a place is a name or two coordinates", "name two"
        fix = 'where = "place IS NOT NULL", if such rows are no visits'
        yield self.nulls != "refuse", "nulls", f"nulls are declared beside {kind}", "a visit is somewhere", fix
        yield self.gaps == "hidden", "gaps", f"gaps are declared beside {kind}", "visits have none", "leave gaps out"
        said = [key for key in ("order", "step", "from", "until") if self._said(key) is not None]
        for key in ("order", "step", "from"):
            is_needed = bool(said) and key not in said
            yield is_needed, key, f"{said and said[0]} without {key}", "a calendar has a start and steps", _CALENDAR
        is_odd = self.timezone is not None and not said
        yield is_odd, "timezone", "timezone without order", "times alone have a zone", "leave timezone out"

    def _said(self, key: str) -> object:
        """Return the value of a key, None without one."""
        return self.start if key == "from" else getattr(self, key)

    @property
    def values(self) -> tuple[str, ...]:
        """Return the texts of `value`."""
        if self.value is None:
            return ()
        return (self.value,) if isinstance(self.value, str) else tuple(self.value)

    @property
    def is_covered(self) -> bool:
        """Return whether units, lengths and gaps follow from what is declared; of a public file nothing is hidden."""
        if self.is_public:
            return True
        if self.rows == "answers":
            return self.roster is not None
        if (self.unit is not None and self.roster is None) or self.recording is not None:
            return False
        return self.calendar is not None and self.size is not None and self.gaps == "hidden"

    @property
    def is_time(self) -> bool:
        return isinstance(self.step, str)

    @cached_property
    def width(self) -> int:
        """Return the length of a step in ticks: microseconds, or whole numbers."""
        length = 1 if self.step is None else parse_step(self.step)
        return length if isinstance(length, int) else length // MICROSECOND

    @cached_property
    def zone(self) -> Zone | None:
        """Return the zone of clocks, if declared."""
        if self.timezone is None:
            return None
        if not self.is_time:
            raise wrong_key("timezone", "timezone is declared, and step is a number", "only times have clocks",
                            "leave timezone out")  # fmt: skip
        return Zone(self.timezone)

    @cached_property
    def calendar(self) -> Calendar | None:
        """Return the declared calendar, if any."""
        if self.start is None or isinstance(self.start, Calendar):  # one that counts as another source's
            return self.start
        return Calendar.read(self.start, self.until, parse_step(self.step), self.zone)

    @cached_property
    def origin(self) -> int | None:
        """Return the calendar's start in ticks."""
        return None if self.calendar is None else self.calendar.start

    @cached_property
    def size(self) -> int | None:
        """Return the number of steps of the calendar, if it ends."""
        return None if self.calendar is None else self.calendar.size

    @cached_property
    def rules(self) -> tuple[Known, ...]:
        """Return how each value is counted: as the belief says, else by declared bins, else by the states."""
        return self.known or tuple(bins or self.states for bins in self.bins_of_values)

    @cached_property
    def bins_of_values(self) -> tuple[Bins | None, ...]:
        """Return the declared bins of each value: one table of them, or one by column."""
        if self.bins is None:
            return (None,) * len(self.values)
        by_column = {name: edges for name, edges in self.bins.items() if isinstance(edges, Mapping)}
        of_each = f"bins = {toml_of({name: {'low': [0, 10], 'high': [10, 20]} for name in self.values})}"
        for name in by_column:
            if name not in self.values:
                raise unknown(f"bins are declared of {name!r}, which is no value", name, self.values).at("bins")
        if by_column and len(by_column) < len(self.bins):
            raise wrong_key("bins", "bins are those of columns, and of one", "each column has its own", of_each)
        if not by_column:
            if len(self.values) > 1:
                raise wrong_key(
                    "bins", "bins are those of one column, and value has several", "each has its own", of_each
                )
            return (self._bins(self.bins),)
        return tuple(self._bins(by_column[name]) if name in by_column else None for name in self.values)

    def _bins(self, edges: Mapping[str, Any]) -> Bins:
        with within("bins"):
            bins = Bins(edges)
        for state in bins.states:
            if self.states and state not in self.states:
                raise unknown(f"numbers are put into {state!r}, which is no state", str(state), self.states).at("bins")
        return bins

    def text_of_date(self, key: str) -> str | None:
        """Return `from` or `until` as a text of SQL would have it."""
        value = self.start if key == "from" else self.until
        if isinstance(value, datetime | date):
            return value.isoformat()
        return None if value is None else str(value)


class Column(str):
    """The text of a role that is the name of a column, and never an expression."""


def key_of(role: str) -> str:
    """Return the key of [source] that declares a role."""
    return "value" if role.startswith("value") else "group" if role.startswith("by") else role


_FIELDS = frozenset(Source.__dataclass_fields__) & KEYS.keys()
#: The keys that a source is made of (`Source.of`).
OF_ROWS = _FIELDS | {"from"}
