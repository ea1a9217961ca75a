"""What the columns mean: who, which piece, in which order, which state, and what happens to what is missing."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from takifugu.core.errors import DataError, InputError, within
from takifugu.core.lists import places_of, present
from takifugu.core.nearest import unknown
from takifugu.core.sections import values_of
from takifugu.data.times.calendar import Calendar
from takifugu.data.times.cells import Slots
from takifugu.data.times.clock import Clock, parts_of
from takifugu.data.times.time_format import EPOCHS, TimeFormat
from takifugu.data.times.zones import Zone
from takifugu.data.values.bins import Bins
from takifugu.data.values.texts import BLANKS, OUTSIDE
from takifugu.numbers.rationals import as_fraction

State = Hashable

#: A step fits a 64-bit integer and has at most nine digits behind its point, so that ticks stay exact integers.
WIDEST, FINEST = 2**62, 10**9
#: From here on a float stands for several whole numbers.
_FIRST_INEXACT = 2**53

STEP_UNITS = {"s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86400}
_RULES = {
    "nulls": ("refuse", "unobserved"), "null_keys": ("refuse", "drop", "keep"),
    "duplicates": ("refuse", "first", "last"), "ambiguous": ("refuse", "first", "last", "drop"),
}  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Which column holds the states, and which ones say whose they are, in which piece, and in which order.

    `step` is the declared distance of two entries of a piece along `order` (see parse_step): steps without a row are
    unobserved entries. `nulls` says what a missing state is: an error ("refuse") or an "unobserved" entry. `null_keys`
    says what a row without a unit or piece is: an error ("refuse"), nothing ("drop"), or a row of one more unit or
    piece that has no name ("keep"). `duplicates` says which of several rows in one step of a piece counts, in the order
    of the rows. `order_format` and `timezone` say how times are written (see TimeFormat, EPOCHS, Zone), and `round_to`
    what an inexact clock is rounded to, the step or a part of it. `ambiguous` says what times are that clocks in a zone
    show twice: those of the first or the last pass, left out ("drop"), or what the order of the rows says ("refuse": an
    error where it says nothing, unless neither pass lies in the window). With a `calendar`
    places count its steps, and only those in `window` are read; of "hidden" `gaps` nothing is told. `by` counts entries
    by cells of the window (see Slots). Where `order` holds dates alone, `time_of_day` is the column beside it. Raises
    InputError for another rule, for a format or a zone that there is not, and for a step or a rule about the order
    without one.

    >>> Layout("posture", unit="person", order="minute", step="1min").columns
    ('person', 'minute', 'posture')
    """

    value: str
    unit: str | None = None
    piece: str | None = None
    order: str | None = None
    step: int | float | str | None = None
    nulls: str = "refuse"
    null_keys: str = "refuse"
    order_format: str | None = None
    timezone: str | None = None
    round_to: int | float | str | None = None
    duplicates: str = "refuse"
    ambiguous: str = "refuse"
    calendar: Calendar | None = None
    window: range | None = None
    gaps: str = "public"
    by: tuple[str, ...] = ()
    time_of_day: str | None = None

    def __post_init__(self) -> None:
        for name, rule in values_of(self, _RULES).items():
            if rule not in _RULES[name]:
                raise unknown(f"{name} is {rule!r}", rule, _RULES[name]).at(name)
        if self.step is not None:
            parse_step(self.step)
            if self.order is None:
                raise InputError(
                    "a step is declared and no order column", rule="steps are counted along an order column"
                ).at("order")
        along = values_of(self, ("order_format", "timezone", "round_to", "duplicates", "time_of_day"))
        for name, rule in along.items():
            if self.order is None and rule not in (None, "refuse"):
                raise InputError(f"{name} is declared and no order column", fix="name the order column").at(name)
        if self.ambiguous != "refuse" and self.timezone is None:
            raise InputError(
                f"ambiguous is {self.ambiguous!r} and no time zone is declared",
                rule="only clocks of a zone show a time twice",
                fix='declare it, such as timezone = "Europe/Berlin"',
            ).at("ambiguous")
        if self.ambiguous == "drop" and self.step is None:  # a chain would take the rows around them for neighbours
            raise InputError(
                "ambiguous is 'drop' and no step is declared",
                rule="rows that are left out are unobserved steps, and without a step nobody knows how many",
                fix='declare the step, such as step = "1h", or write ambiguous = "first" or "last"',
            ).at("ambiguous")
        _ = self.clock

    @cached_property
    def clock(self) -> Clock:
        """Return the format and the rounding of the order column."""
        epoch = EPOCHS.get(self.order_format or "", 0)
        form, zone, parts = None, None, 0
        if self.order_format is not None and not epoch:
            form = TimeFormat(self.order_format)
        if self.timezone is not None:
            zone = Zone(self.timezone)
        if form is not None and form.is_utc and zone is not None and any(stretch.offset for stretch in zone.stretches):
            raise InputError(
                f"the format of times is {self.order_format!r}, and timezone is {self.timezone!r}",
                rule="times are in UTC, or by clocks in a zone",
                fix="write an offset in the data, +00:00 for UTC, and leave order_format out; or leave timezone out",
            ).at("timezone")
        if self.round_to is not None:
            with within("round_to"):
                length = parse_step(self.round_to, "what the clock is rounded to")
            if self.step is None:
                raise InputError(
                    "a clock is rounded and no step is declared", fix='declare the step, such as step = "1min"'
                ).at("round_to")
            parts = parts_of(parse_step(self.step), length)
        return Clock(form, zone, parts, epoch)

    @cached_property
    def moments(self) -> tuple[int, int] | None:
        """Return the window's ends in microseconds since 1970, if any."""
        if self.calendar is None or self.window is None or not self.calendar.is_time:
            return None
        return int(self.calendar.moment_of(self.window.start)), int(self.calendar.moment_of(self.window.stop))

    @cached_property
    def slots(self) -> Slots | None:
        """Return the cells of the window's steps along `by`, if any."""
        if not self.by or self.calendar is None or self.window is None:
            return None
        return Slots(self.calendar, self.window, self.by)

    @property
    def columns(self) -> tuple[str, ...]:
        role_columns = (self.unit, self.piece, self.order, self.time_of_day, self.value)
        return tuple(dict.fromkeys(present(role_columns)))


@dataclass(frozen=True)
class Recode:
    """Raw values to the belief's states: by `mapping` first, else by the state's own name; or numbers, by `bins`.

    Raw values and names are compared as texts (see text_of). Raises InputError for two states of one name, for a
    mapping or a bin to a state that is not listed, for a mapping beside bins, and for a state or a raw value without a
    text, which would be a missing one.

    >>> Recode(("still", "walking"), {"sitting": "still"}).codes
    {'still': 0, 'walking': 1, 'sitting': 0}
    """

    states: tuple[State, ...]
    mapping: Mapping[str, State] = field(default_factory=dict, hash=False)
    bins: Bins | None = None

    def __post_init__(self) -> None:
        if len(set(map(text_of, self.states))) != len(self.states):
            raise InputError(f"the states are {list(map(str, self.states))}", rule="each needs a name of its own").at(
                "states"
            )
        self.check(frozenset())
        for raw, state in self.mapping.items():
            if state not in self.states:
                what = f"{raw!r} is mapped to {state!r}, which is no state"
                raise unknown(what, state, self.states).at("map", str(raw))
        if self.bins is None:
            return
        if self.mapping:
            raise InputError("raw values are mapped beside bins of numbers", fix="declare only one of them").at("map")
        for state in self.bins.states:
            if state not in self.states:
                what = f"numbers are put into {state!r}, which is no state"
                raise unknown(what, state, self.states).at("bins", str(state))

    def check(self, missing: Collection[str]) -> None:
        """Raise InputError for a state or mapped value read as missing."""
        for text in missing_states(self.states, self.mapping, missing):
            raise InputError(
                f"the state {text!r} is also a text that counts as missing, so its secret would become the public "
                "pattern of gaps",
                fix="name the state otherwise, or take the text out of missing",
            ).at("missing")

    @cached_property
    def codes(self) -> dict[str, int]:
        """Return the state's number of each known text."""
        place = places_of(self.states)
        if self.bins is not None:  # raw values are the numbers of bins then
            return {**{str(number): place[s] for number, s in enumerate(self.bins.states)}, str(OUTSIDE): OUTSIDE}
        codes = {str(text_of(state)): number for state, number in place.items()}
        return {**codes, **{str(text_of(raw)): place[state] for raw, state in self.mapping.items()}}


@dataclass(frozen=True)
class Lengths:
    """How long pieces may be: shorter ones are left out; longer ones are refused, or cut to their first entries.

    Lengths are public, so that leaving out and cutting by them tells nothing. Raises InputError for lengths that no
    piece can have.

    >>> Lengths(2, 10, "cut")
    Lengths(shortest=2, longest=10, longer='cut')
    """

    shortest: int = 1
    longest: int | None = None
    longer: str = "refuse"

    def __post_init__(self) -> None:
        if self.longer not in ("refuse", "cut"):
            raise InputError(f"longer is {self.longer!r}", fix="write 'refuse' or 'cut'").at("longer")
        if self.longer == "cut" and self.longest is None:
            raise InputError(
                "longer recordings are to be cut, and no longest length is given", fix="write the number of steps"
            ).at("max_length")
        if self.shortest < 1 or (self.longest is not None and self.longest < self.shortest):
            raise InputError(
                f"recordings of {self.shortest} to {self.longest} steps",
                rule="the shortest must be at least 1, and no longer than the longest",
            ).at("max_length")


def parse_step(step: int | float | str | None, what: str = "the step") -> Fraction | timedelta:
    """Read a number above 0 or a time like "1min"; else InputError.

    >>> parse_step("90s"), parse_step(5), parse_step("1")
    (datetime.timedelta(seconds=90), Fraction(5, 1), Fraction(1, 1))
    """
    if isinstance(step, str):
        match = re.fullmatch(r"\s*([0-9]{1,9})\s*([a-z]*)\s*", step)
        if match and int(match[1]) > 0 and match[2] in ("", *STEP_UNITS):
            if not match[2]:
                return Fraction(match[1])
            return timedelta(seconds=int(match[1]) * STEP_UNITS[match[2]])
    elif isinstance(step, int | float) and not isinstance(step, bool) and 0 < step < WIDEST:
        length = as_fraction(step, what, "step")
        if length.denominator <= FINEST:
            return length
    raise InputError(
        f"{what} is {repr(step)[:60]}", fix='write a number above 0, or a time such as "30s", "1min", "1h" or "1d"'
    ).at("step")


def text_of(value: object) -> str | None:
    """Return a raw value as the same text from every engine.

    1, 1.0 and "1" are alike; null and NaN are None.

    >>> text_of(1.0), text_of("1"), text_of(float("nan"))
    ('1', '1', None)
    """
    if type(value) is str:  # as nearly all names are
        return value.strip(BLANKS) or None
    pandas = sys.modules.get("pandas")
    if value is None or (pandas is not None and value is pandas.NA) or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = value.isoformat().removesuffix("T00:00:00") if isinstance(value, date) else str(value)
    return text.strip(BLANKS) or None


def unit_name(value: object, column: str | None) -> str | None:
    """Return the text of a unit's raw name; DataError for ambiguous ones.

    A file of texts spells some values in several ways, as 1.5 and 1.50: several names, each with a whole budget. From
    2^53 on a number with a point may be another whole one.
    """
    kind = rule = ""
    if isinstance(value, float | Decimal) and value == value:
        if value % 1 != 0:
            kind, rule = "numbers with a fraction", "1.5 is spelt in more than one way"
        elif not -_FIRST_INEXACT < value < _FIRST_INEXACT:
            kind, rule = "numbers of 16 digits and more with a point", "the last digits may be others than written"
    elif isinstance(value, datetime) and "T" in (text_of(value) or ""):
        kind, rule = "times", "a time is spelt in more than one way"
    elif not isinstance(value, str) and str(value) in ("True", "False"):  # NumPy has a type of its own
        kind, rule = "true and false", "True is spelt in more than one way"
    if kind:
        fix = "give names as texts or as whole numbers"
        raise DataError(f"column {column!r} has {kind} as names", rule=rule, fix=fix).at("unit")
    return text_of(value)


def missing_states(states: Iterable[Hashable], raw: Iterable[Hashable], missing: Iterable[str]) -> list[str]:
    """Return the states and raw values among the missing ones.

    >>> missing_states(["ill", "", "NA"], ["?", "bad"], ["NA", "?"])
    ['', 'NA', '?']
    """
    words = {None, *map(text_of, missing)}
    return [str(value) for value in (*states, *raw) if text_of(value) in words]


#: Runs of digits, and of other characters; and what sorts behind every text.
