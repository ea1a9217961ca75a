"""Metrics that are declared by a name and a parameter: how far apart two answers are, where that is not |x - y|.

d(x, y) = rho(|x - y|) is a metric where rho is 0 at 0 only, never falls and is subadditive, as every concave rho is
that starts at 0. A convex rho that is subadditive is c |z| (errata X13), so convex ones are refused by their names. A
circle and a table are metrics of another form. Whatever is declared, `Declared.on` checks it on the answers at hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from takifugu.core.errors import InputError
from takifugu.core.registry import Registry
from takifugu.numbers.rationals import Number, as_fraction, to_text
from takifugu.numbers.transport.bottleneck import Metric, checked_distances

Rows = tuple[tuple[Fraction, ...], ...]
Parameter = Fraction | Rows

_CONVEX = "a convex d with d(0) = 0 and the triangle inequality is c |z| (errata X13)"
#: Convex functions that a reader of Ding22 may ask for, and how they are written.
CONVEX = {"square": "z^2", "huber": "z^2 near 0 and |z| far out"}


@dataclass(frozen=True)
class NamedMetric:
    """A metric by its name: what its parameter is, and the distance of answers under it."""

    parameter: str
    #: Of the parameter, a number above 0 or a table, and the possible answers in increasing order.
    distance: Callable[[Any, Sequence[Fraction]], Metric]
    #: Whether no distance falls as |x - y| grows.
    rises: bool = True
    #: Whether the parameter is a table.
    of_rows: bool = False
    #: Raises InputError for a parameter that makes no metric.
    check: Callable[[Any], object] | None = None


@dataclass(frozen=True)
class Declared:
    """The metric of a name and a parameter."""

    name: str
    parameter: Parameter

    @property
    def rises(self) -> bool:
        """Return whether no distance falls as |x - y| grows."""
        return METRICS.find(self.name).rises

    def on(self, answers: Sequence[Fraction]) -> Metric:
        """Return the distance of these answers, which increase; InputError where it is no metric on them."""
        distance = METRICS.find(self.name).distance(self.parameter, answers)
        table = checked_distances([*answers], [*answers], distance)
        if (table <= 0).sum() > len(answers):
            raise InputError(
                f"two different answers are 0 apart under the metric {self.describe()}", rule="that is no metric",
                fix="declare a metric that tells all answers apart",
            ).at("metric")  # fmt: skip
        return distance

    def describe(self) -> str:
        """Return the name and the parameter in words."""
        if isinstance(self.parameter, tuple):
            return f"{self.name} of {len(self.parameter)} rows"
        return f"{self.name} {to_text(self.parameter)}"


def declared(name: str, parameter: Number | Sequence[Sequence[Number]]) -> Declared:
    """Return the metric of a name and a parameter; InputError where they make none."""
    if name in CONVEX:
        raise InputError(
            f"the metric is {name!r}, that is {CONVEX[name]}, which is convex and no metric", rule=_CONVEX,
            fix='leave the metric out for |z|, or write a concave one such as "power" with an exponent up to 1',
        ).at("name")  # fmt: skip
    try:
        kind = METRICS.find(name)
    except InputError as error:
        error.where = ("name",)
        raise
    if kind.of_rows != (isinstance(parameter, Sequence) and not isinstance(parameter, str)):
        raise InputError(f"the parameter of the metric {name!r} is {kind.parameter}", fix="write it").at("parameter")
    exact: Parameter
    if isinstance(parameter, Sequence) and not isinstance(parameter, str):
        rows = []
        for row in parameter:
            rows.append(tuple(as_fraction(far, "a distance", "parameter") for far in row))
        exact = tuple(rows)
    else:
        exact = as_fraction(parameter, "the parameter of the metric", "parameter")
        if exact <= 0:
            raise InputError(
                f"the parameter of the metric {name!r} is {to_text(exact)}", rule="it must be above 0"
            ).at("parameter")
    if kind.check is not None:
        kind.check(exact)
    return Declared(name, exact)


def _of_gap(rho: Callable[[Fraction, Fraction], float | Fraction]) -> Callable[[Fraction, Sequence[Fraction]], Metric]:
    """Return the distances rho(|x - y|, parameter)."""

    def distance(parameter: Fraction, answers: Sequence[Fraction]) -> Metric:
        return lambda x, y: float(rho(abs(x - y), parameter))  # type: ignore[operator]

    return distance


def _check_exponent(exponent: Fraction) -> None:
    if exponent > 1:
        raise InputError(
            f"the metric is |z|^{to_text(exponent)}, which is convex and no metric: from 0 to 2 it is farther than "
            "from 0 to 1 and from 1 to 2",
            rule=_CONVEX, fix="write an exponent up to 1",
        ).at("parameter")  # fmt: skip


def _check_rows(rows: Rows) -> None:
    if set(map(len, rows)) != {len(rows)}:
        raise InputError(
            "the table of the metric is not square", rule="it has a row and a column for each possible answer"
        ).at("parameter")
    places = list(map(Fraction, range(len(rows))))
    try:
        Declared("table", rows).on(places)
    except InputError as error:
        error.where = ("parameter",)
        raise


def _of_table(rows: Rows, answers: Sequence[Fraction]) -> Metric:
    if len(answers) != len(rows):
        raise InputError(
            f"the table of the metric has {len(rows)} rows, and there are {len(answers)} possible answers",
            rule="it has a row and a column for each, in increasing order", fix="write one for each possible answer",
        ).at("metric")  # fmt: skip
    place: dict[Hashable, int] = {answer: place for place, answer in enumerate(answers)}
    return lambda x, y: float(rows[place[x]][place[y]])


#: The metrics by name; `METRICS.register` adds one from elsewhere.
METRICS: Registry[NamedMetric] = Registry("the metric", {})
METRICS.register("power", NamedMetric("an exponent up to 1: |z|^exponent", _of_gap(math.pow), check=_check_exponent))
METRICS.register("capped", NamedMetric("the largest distance: min(|z|, it)", _of_gap(min)))
METRICS.register(
    "logarithm", NamedMetric("a step: log(1 + |z|/step)", _of_gap(lambda gap, step: math.log1p(float(gap / step))))
)
METRICS.register(
    "circle",
    NamedMetric("the length of the circle", _of_gap(lambda gap, length: min(gap % length, -gap % length)), rises=False),
)
METRICS.register(
    "table",
    NamedMetric("a row of distances per possible answer", _of_table, rises=False, of_rows=True, check=_check_rows),
)
