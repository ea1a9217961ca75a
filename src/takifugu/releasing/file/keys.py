"""What the keys of a release file are written in: values with their checks, and words for messages and the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from takifugu.core.errors import InputError
from takifugu.core.escaping import visible
from takifugu.core.names import normalised
from takifugu.core.sections import checked_path
from takifugu.data import Zone, check_order_format
from takifugu.numbers.rationals import as_delta, as_epsilon


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def checked(check: Callable[[Any], object]) -> AfterValidator:
    """Return a validator of written values, refused where the check raises."""

    def as_written(value: object) -> object:
        if value is not None:
            check(value)
        return value

    return AfterValidator(as_written)


def meaning(words: str, *examples: object, **limits: Any) -> Any:
    """Return what a key means, with examples of its value and limits."""
    described: dict[str, Any] = {"description": words, **limits}
    if examples:
        described["examples"] = [*examples]
    return Field(**described)


def names_of(columns: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the names of a key that holds one, several or none.

    >>> names_of(None), names_of("ward"), names_of(["hour", "ward"])
    ((), ('ward',), ('hour', 'ward'))
    """
    if columns is None:
        return ()
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _check_name(name: str) -> None:
    if not normalised(name):
        raise InputError("is a blank name", fix="write letters or digits")


def _check_words(words: str) -> None:
    if visible(words) != words or "\n" in words or not words.strip():
        raise InputError("is blank, or holds control characters", fix="write words on one line")


Number = StrictInt | StrictFloat | StrictStr
Epsilon = Annotated[Number, checked(as_epsilon)]
Delta = Annotated[Number, checked(partial(as_delta, name="delta"))]
State = StrictStr | StrictInt
Text = Annotated[StrictStr, Field(min_length=1)]
#: A name in the ledger, as it is written: the ledger itself treats all spellings of it as one.
Name = Annotated[Text, checked(_check_name)]
Path = Annotated[Text, checked(checked_path)]
Positive = Annotated[StrictInt, Field(ge=1)]
#: Public words for readers, which change no number.
Words = Annotated[StrictStr, Field(min_length=1, max_length=200), checked(_check_words)]
Edges = tuple[Number, Number]

#: A time or a place along the order column, as a calendar and its windows are written.
Moment = StrictStr | StrictInt | StrictFloat | datetime | date
CalendarEnd = Annotated[
    Moment | None, meaning("where the calendar ends; it may be left out, and moved later", "2027-01-04")
]
WindowStart = Annotated[Moment | None, meaning("where the window starts", "2026-02-09", alias="from")]
WindowEnd = Annotated[Moment | None, meaning("where the window ends; this step is not read", "2026-02-16")]
#: How times are written, and by which clocks.
OrderFormat = Annotated[
    Text | None,
    meaning(
        'how the times of order are written, if not as ISO 8601; "epoch" are seconds since 1970, and '
        '"epoch_ms" thousandths of one',
        "%d/%m/%Y %H:%M",
    ),
    checked(check_order_format),
]
Timezone = Annotated[
    Text | None, meaning("the zone of times that tell none; steps are counted in UTC", "Europe/Berlin"), checked(Zone)
]
#: Keys that several kinds of file have.
SourceFile = Annotated[
    Path | None, meaning("the data's file, relative to this one: CSV, Parquet, Excel ...; a frame in Python needs none")
]
UnitsIndependent = Annotated[StrictBool | None, meaning("declare that people are independent")]
