"""A belief that knows of the population's parameters only the intervals in which they lie: a class of laws.

Each parameter is a number, and each column takes two states; the probability of its first state is an affine function
of the parameters. Nobody says how likely the numbers are: what is promised holds for each of them (Zhang22 Section 5
and Example 3, where phi_1 = 0.6 - 0.2 phi_2).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from takifugu.core.assumptions import Assumption, world
from takifugu.core.entries import Undivided
from takifugu.core.errors import InputError
from takifugu.core.lists import value_of
from takifugu.core.plain import Json, Plain, set_fields, to_plain
from takifugu.core.rules import check_known, check_type, check_written_apart
from takifugu.model.beliefs.states import State, checked_alphabet, first_few
from takifugu.model.queries import Query
from takifugu.model.queries.columns import ColumnAnswer, Columnwise, over_columns
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import View
from takifugu.model.secrets.properties import DatasetProperty, DistributionParameter
from takifugu.numbers.rationals import Number, as_fraction, as_interval, as_whole, to_text
from takifugu.numbers.transport.draws import Interval


@dataclass(frozen=True)
class Affine:
    """The number constant + sum of slope * parameter.

    >>> Affine("0.6", x2="-0.2").between({"x2": (Fraction(1, 5), Fraction(4, 5))})
    (Fraction(11, 25), Fraction(14, 25))
    """

    constant: Fraction
    slopes: tuple[tuple[str, Fraction], ...]

    def __init__(self, constant: Number = 0, slopes: Mapping[str, Number] | None = None, /, **named: Number) -> None:
        if slopes is not None:
            check_type(slopes, Mapping, "a slope for each parameter", "write {'x2': '-0.2'}", "columns")
        all_slopes = {**(slopes or {}), **named}
        set_fields(self, constant=as_fraction(constant, "a probability", "columns"))
        read = ((name, as_fraction(slope, f"the slope of {name!r}", "columns")) for name, slope in all_slopes.items())
        set_fields(self, slopes=tuple((name, slope) for name, slope in read if slope))

    def between(self, box: Mapping[str, Interval]) -> Interval:
        """Return its least and its largest value over a box of parameters."""
        low = high = Fraction(0)
        for name, slope in self.slopes:
            least, most = sorted((slope * box[name][0], slope * box[name][1]))
            low, high = low + least, high + most
        return self.constant + low, self.constant + high

    def reads(self, name: Hashable) -> bool:
        return name in dict(self.slopes)

    def to_dict(self) -> dict[str, str]:
        return {"": to_text(self.constant), **{name: to_text(slope) for name, slope in self.slopes}}


@dataclass(frozen=True)
class BoxColumn:
    """A column of two states; `chance` is the probability of the first. `entry` is a parameter that it depends on."""

    name: str
    states: tuple[State, ...]
    chance: Affine
    entry: int


@dataclass(frozen=True, eq=False)
class ParameterBox(Columnwise, Undivided):
    """`records` records whose columns follow unknown parameters, each in its interval (Zhang22 Section 5).

    `intervals` gives (low, high) for each parameter, `columns` {column: {state: Affine(...), other state: None}}: the
    probability of a state, a number or an Affine of the parameters, and the state that takes the rest. Given the
    parameters all values are independent. Raises InputError for an interval without an inside, an unknown parameter,
    columns without exactly two states, and probabilities that leave [0, 1] in the box.

    >>> box = ParameterBox({"x2": ("0.2", "0.8")}, {"x1": {1: Affine("0.6", x2="-0.2"), 0: None}}, records=4)
    >>> box.describe()
    "4 records with the columns 'x1', whose parameters lie between 0.2 and 0.8 ('x2') (assumed)"
    """

    intervals: tuple[tuple[str, Interval], ...]
    described: tuple[BoxColumn, ...]
    records: int
    source: str = "assumed"
    listed: tuple[Hashable, ...] = field(default=(), repr=False)

    def __init__(
        self,
        intervals: Mapping[str, tuple[Number, Number]],
        columns: Mapping[str, Mapping[Any, Affine | Number | None]],
        records: int,
        source: str = "assumed",
    ) -> None:
        for key, values in (("intervals", intervals), ("columns", columns)):
            if not isinstance(values, Mapping) or not values:
                fix = "write {parameter: (low, high)} and {column: {state: ...}}"
                raise InputError("the box lacks intervals or columns", fix=fix).at(key)
            check_written_apart(values, f"a box has {key} of", key)
        count = as_whole(value_of(records), "the number of records", "records", least=1)
        box = {str(name): _interval(name, ends) for name, ends in intervals.items()}
        set_fields(
            self, intervals=tuple(box.items()),
            described=tuple(_column(name, law, box) for name, law in columns.items()), records=count, source=source,
            listed=tuple(box),
        )  # fmt: skip

    @property
    def size(self) -> int:
        return len(self.intervals)

    @property
    def names(self) -> tuple[Hashable, ...]:
        return tuple(dict(self.intervals))

    @property
    def one_alphabet(self) -> bool:
        return len(set(dict(self.intervals).values())) == 1

    def alphabet(self, entry: int) -> tuple[State, ...]:
        """Return a parameter interval's ends, in place of all its numbers."""
        return tuple(map(to_text, self.intervals[entry][1]))

    def possible(self, entry: int) -> tuple[bool, ...]:
        return (True, True)

    def position(self, name: Hashable) -> int:
        check_known([name], self.names, "the belief has no parameter")
        return self.names.index(name)

    def resolve(self, query: Query) -> ColumnAnswer:
        """Return the sum of a query over whole columns.

        Raises InputError for one that does not add up over records.
        """
        return over_columns(query, self.record, self.records, self.entry_of, self.size)

    def assumptions(self) -> tuple[Assumption, ...]:
        return (
            world("Each parameter of the population is a number in the stated interval. The guarantee holds for each."),
            world(
                f"Given the parameters, the {self.records} records are independent of each other, and so are the "
                "columns of a record."
            ),
        )

    def to_dict(self) -> Json:
        return {
            "kind": "parameter-box", "records": self.records, "source": self.source,
            "intervals": to_plain(self.intervals),
            "columns": [[c.name, list(c.states), c.chance.to_dict()] for c in self.described],
        }  # fmt: skip

    @staticmethod
    def from_dict(data: Plain) -> ParameterBox:
        columns = {}
        for name, (first, other), description in data["columns"]:
            slopes = {key: Fraction(value) for key, value in description.items() if key}
            columns[name] = {first: Affine(Fraction(description[""]), slopes), other: None}
        intervals = {name: (Fraction(low), Fraction(high)) for name, (low, high) in data["intervals"]}
        return ParameterBox(intervals, columns, data["records"], data.get("source", "assumed"))

    def describe(self) -> str:
        columns = first_few(self.columns)
        box = ", ".join(f"between {to_text(low)} and {to_text(high)} ({n!r})" for n, (low, high) in self.intervals[:6])
        return f"{self.records} records with the columns {columns}, whose parameters lie {box} ({self.source})"


@dataclass(frozen=True, eq=False)
class BoxView(View):
    """One parameter of a box and the numbers that are compared: any two of an interval, for which its ends stand."""

    whole: ParameterBox
    entry: int
    ends: Interval

    pairs = ((0, 1), (1, 0))

    @property
    def values(self) -> Interval:
        return self.ends

    def describe_hypothesis(self, value: int) -> str:
        return f"the parameter of {self.whole.names[self.entry]!r} is {to_text(self.ends[value])}"


def view_of(box: ParameterBox, secret: Secret) -> BoxView | None:
    """Return the view of a parameter's secret, None for every parameter.

    Raises InputError for a property of the records at hand, for single values (`Parameters` lists them), and for
    numbers outside the parameter's interval.
    """
    parameter = secret if isinstance(secret, DistributionParameter) else None
    if isinstance(secret, DatasetProperty) or (parameter and parameter.values is not None):
        raise InputError(
            f"the secret is {secret.describe()}, and this belief knows intervals of parameters",
            fix="hide distribution_parameter(name), or distribution_parameter(name, interval=(low, high))",
        ).at("secrets")
    if parameter is None:
        return None
    if parameter.map is not None:
        raise InputError(
            f"the secret names the map {parameter.map!r}",
            rule="the belief says how columns follow their parameters",
            fix="leave it out",
        ).at("map")
    if parameter.max_difference is not None:
        raise InputError(
            "the secret compares near numbers only, and this belief bounds all numbers of an interval together",
            fix="leave max_difference out, or give a smaller interval",
        ).at("max_difference")
    entry = box.position(parameter.column)
    low, high = box.intervals[entry][1]
    ends = parameter.interval or (low, high)
    if not low <= ends[0] < ends[1] <= high:
        raise InputError(
            f"the secret compares numbers from {to_text(ends[0])} to {to_text(ends[1])}",
            rule=f"under this belief {parameter.column!r} lies from {to_text(low)} to {to_text(high)}",
        ).at("interval")
    return BoxView(box, entry, ends)


def _interval(name: object, ends: object) -> Interval:
    low, high = as_interval(ends, f"the interval of {name!r}", "intervals", str(name))
    return low, high


def _column(name: str, description: object, box: Mapping[str, Interval]) -> BoxColumn:
    place = ("columns", str(name))
    forms = description if isinstance(description, Mapping) else {}
    if len(forms) != 2 or list(forms.values()).count(None) != 1:
        raise InputError(
            f"the column {name!r} is {description!r}",
            rule="a column of a box has two states, one of them with the rest",
            fix="write {state: Affine(...), other state: None}",
        ).at(*place)  # fmt: skip
    (first, form), (other, _) = sorted(forms.items(), key=lambda item: item[1] is None)
    chance = form if isinstance(form, Affine) else Affine(form)
    check_known(dict(chance.slopes), box, f"the column {name!r} depends on an unknown parameter", *place)
    low, high = chance.between(box)
    if low < 0 or high > 1:
        raise InputError(
            f"the probability of {first!r} in the column {name!r} goes from {to_text(low)} to {to_text(high)}",
            rule="it must stay in [0, 1] while the parameters are in their intervals",
        ).at(*place)
    read = [number for number, parameter in enumerate(box) if chance.reads(parameter)]
    states = checked_alphabet((first, other), f"the column {name!r}")
    return BoxColumn(str(name), states, chance, read[0] if read else 0)
