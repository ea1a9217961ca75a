"""What the keys of a release file are written in: values with their checks, and words for messages and the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
)

from takifugu.core.errors import InputError
from takifugu.core.escaping import visible
from takifugu.core.names import normalised
from takifugu.core.plain import Json, either
from takifugu.core.sections import checked_path
from takifugu.data.relation.keys import KEYS
from takifugu.numbers.rationals import as_delta, as_epsilon


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def plain(file: Section, exclude: Mapping[str, Any] | None = None) -> Json:
    """Return a release file as plain data, each section as its own type writes it, without the keys of `exclude`."""
    # by key of the file: the keys of its section, or of each table ("__all__"), or True for all of it
    without: Mapping[str, Any] = exclude or {}
    data: Json = {}
    for name, value in file:
        if without.get(name) is True:
            continue
        if isinstance(value, Section):
            data[name] = value.model_dump(mode="json", exclude=without.get(name))
        elif isinstance(value, tuple) and any(isinstance(part, Section) for part in value):
            keys = without.get(name, {}).get("__all__")
            data[name] = [part.model_dump(mode="json", exclude=keys) for part in value]
        else:
            data |= file.model_dump(mode="json", include={name})
    return data


def texts_within(value: object) -> Iterator[str]:
    """Yield every text and key in plain data."""
    if isinstance(value, str):
        yield value
    parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from texts_within(part)


class Described(Section):
    """A section whose keys a dataclass declares, or some of them."""

    declared: ClassVar[type]

    @property
    def meant(self) -> Any:
        """Return the section as its author declared it."""
        return _plain(self)


def _plain(value: object) -> object:
    """Return validated values as their author declared them."""
    if isinstance(value, Described):
        keys = [key.name for key in fields(value.declared) if hasattr(value, key.name)]
        return value.declared(**{key: _plain(getattr(value, key)) for key in keys})
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value


def checked(check: Callable[[Any], object]) -> AfterValidator:
    """Return a validator of written values, refused where the check raises."""

    def as_written(value: object) -> object:
        if value is not None:
            check(value)
        return value

    return AfterValidator(as_written)


def refused(is_wrong: Callable[[Any], object], what: str, fix: str, rule: str = "") -> AfterValidator:
    """Return a validator that refuses values; `what` may have a place for one."""

    def check(value: object) -> None:
        if is_wrong(value):
            raise InputError(what.format(value), rule=rule, fix=fix)

    return checked(check)


def meaning(words: str, *examples: object, **limits: Any) -> Any:
    """Return what a key means, with examples of its value and limits."""
    described: dict[str, Any] = {"description": words, **limits}
    if examples:
        described["examples"] = [*examples]
    return Field(**described)


def names_of(columns: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the names of a key that holds one, several or none."""
    if isinstance(columns, str):
        return (columns,)
    return tuple(columns or ())


Number = StrictInt | StrictFloat | StrictStr
Epsilon = Annotated[Number, checked(as_epsilon)]
Delta = Annotated[Number, checked(partial(as_delta, name="delta"))]
State = StrictStr | StrictInt
Text = Annotated[StrictStr, Field(min_length=1)]
#: A name in the ledger, as it is written: the ledger itself treats all spellings of it as one.
Name = Annotated[Text, refused(lambda name: not normalised(name), "is a blank name", "write letters or digits")]
Path = Annotated[Text, checked(checked_path)]
Positive = Annotated[StrictInt, Field(ge=1)]
#: Public words for readers, which change no number.
Words = Annotated[StrictStr, Field(min_length=1, max_length=200), refused(
    lambda words: visible(words) != words or "\n" in words or not words.strip(),
    "is blank, or holds control characters", "write words on one line",
)]  # fmt: skip
Edges = tuple[Number, Number]

#: A time or a place along the order column, as a calendar and its windows are written.
Moment = StrictStr | StrictInt | StrictFloat | datetime | date
UnitsIndependent = Annotated[StrictBool | None, meaning("declare that people are independent")]


#: Words of rows that are steps in time, or last over some.
StepWord = Literal["samples", "changes", "stays", "events"]
STEPS: tuple[str, ...] = get_args(StepWord)
#: What a row is, by the word of it.
ROWS = {
    "samples": "the state in its own step", "changes": "a state that lasts until the next row",
    "stays": "a state from a start to an end", "events": "what happened in its step",
    "wide": "states of several steps, each in a column of its own",
    "answers": "what one person or case answered, or what is so of it",
    "visits": "that somebody was somewhere", "contacts": "that two people met",
}  # fmt: skip


def _meanings(*words: str) -> str:
    *phrases, last = [f'{ROWS[word]} ("{word}")' for word in words]
    if phrases:
        last = f"{', '.join(phrases)} or {last}"
    return f"{KEYS['rows'].meaning}: {last}"


def rows_among(*words: str) -> BeforeValidator:
    """Return a validator of the words for rows."""

    def checked(value: object) -> object:
        if isinstance(value, str) and value in ROWS and value not in words:
            raise InputError(
                f"is {value!r}, {ROWS[value]}", rule=f"under this belief a row is {ROWS[words[0]]}",
                fix=f"write rows = {either(words)}, or another belief.kind",
            )  # fmt: skip
        return value

    return BeforeValidator(checked)


#: Rows of sequences; of surveys and records; and under a policy.
Steps = Annotated[StepWord, rows_among(*STEPS), meaning(_meanings(*STEPS))]
Answers = Annotated[Literal["answers"], rows_among("answers"), meaning(_meanings("answers"))]
OfPolicy = Annotated[
    Literal["visits", "answers"] | None, rows_among("visits", "answers"), meaning(_meanings("visits", "answers"))
]
