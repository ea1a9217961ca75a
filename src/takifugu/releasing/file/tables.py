"""The sections [[table]] that every kind of file has: a table, what it promises, and its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Protocol, TypeVar, runtime_checkable

from pydantic import StrictBool, StrictStr

from takifugu.numbers.transport.metrics import METRICS
from takifugu.releasing.file.expectations import ExpectSpec
from takifugu.releasing.file.keys import Delta, Described, Epsilon, Number, Section, Text, Words, meaning, refused

AnyTable = TypeVar("AnyTable", bound="Table")


class MetricSpec(Section):
    """How far apart two answers are, for a mechanism that chooses by distance."""

    name: Annotated[Text, meaning(f"the metric's name: {', '.join(METRICS.names)}", "power")]
    parameter: Annotated[
        Number | tuple[tuple[Number, ...], ...],
        meaning("its number, or a table's rows of distances, one per possible answer", "1/2"),
    ]


class Table(Described):
    """The keys that every [[table]] has; its query adds its own.

    `expect`, `title` and `measured_in` are for readers of the report and the certificate.
    """

    expect: Annotated[ExpectSpec | None, meaning("what is expected of this table, in place of [expect]")] = None
    title: Annotated[Words | None, meaning("what the table is called in words", "Activity on the ward")] = None
    measured_in: Annotated[Words | None, meaning("what one of its values is", "hours")] = None
    name: Annotated[
        StrictStr,
        meaning("the table's name, also of its files", "time-use", pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"),
        refused(
            lambda name: re.fullmatch("con|prn|aux|nul|(com|lpt)[0-9]", name.lower()),
            "is a device on Windows, so no file can have this name there", "write another name",
        ),
    ]
    query: Annotated[Text, meaning("what is computed", "histogram")]
    epsilon: Annotated[Epsilon, meaning("the promise, and what each person spends", 1.0)]
    delta: Annotated[Delta, meaning("the excess probability that is allowed; 0 is a pure promise")] = 0
    mechanism: Annotated[Text, meaning('a mechanism\'s name, or "auto"')] = "auto"
    begins_series: Annotated[
        StrictBool, meaning("with normal noise: later tables like it count as multiples of this one")
    ] = False
    metric: Annotated[
        MetricSpec | None,
        meaning(
            'the distance by which "kantorovich-exponential" chooses; default: |x - y|',
            {"name": "power", "parameter": "1/2"},
        ),
    ] = None
    allow_zero_noise: Annotated[
        StrictBool, meaning("accept that only the belief's own randomness, and no noise, hides the secret")
    ] = False

    @property
    def scope(self) -> str:
        """Return "unit" for an answer each, "pooled" for one, or "both"."""
        return "unit"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of its answers' tables."""
        if self.scope == "both":
            return self.name, f"{self.name}-units", f"{self.name}-pooled"
        return (self.name,)

    @property
    def period(self) -> str | None:
        """Return the table's window of a calendar, if any."""
        return None

    @property
    def shares_epsilon(self) -> bool:
        """Return whether the table shares the file's joint epsilon."""
        return False


class SharedTable(Table):
    """A [[table]] that may share an epsilon with others."""

    epsilon: Annotated[
        Epsilon | None, meaning("the promise, and what each person spends; left out: shares joint_epsilon", 1.0)
    ] = None  # type: ignore[assignment]  # who asks for it asks `shares_epsilon` first

    @property
    def shares_epsilon(self) -> bool:
        return self.epsilon is None


@runtime_checkable
class Adjustable(Protocol):
    """A [[table]] beside whose noisy values consistent ones may be published."""

    @property
    def adjust(self) -> bool | None: ...


def numbered(tables: Iterable[AnyTable | None]) -> Iterator[tuple[int, AnyTable]]:
    """Yield the valid tables of a file, each with its number."""
    for number, table in enumerate(tables):
        if table is not None:
            yield number, table
