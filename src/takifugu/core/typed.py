"""Values that are read back by the types of their fields, and refuse what `to_dict` did not write.

Nobody writes a reader: a field's annotation says what stands in a file. A fraction is a text, a tuple a list, a float
beyond all numbers a text ("inf"), another value what its own `from_dict` reads. A field in another form says so in its
metadata (`plain.form`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, Field, fields
from enum import Enum
from fractions import Fraction
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from takifugu.core.errors import InputError, TakifuguError, within
from takifugu.core.nearest import did_you_mean, unknown
from takifugu.core.plain import Json, Plain, PlainForm, Writing, has_own_form, read_fraction, written_fields

Record = TypeVar("Record")
Read = Callable[[Any], Any]

#: What a plain type is called, with an example of it.
_EXAMPLES: Mapping[type, tuple[str, str]] = {
    str: ("a text", '"a text"'), int: ("a whole number", "1"), bool: ("true or false", "true"),
    float: ("a number", "0.5"), Fraction: ("a fraction, which is a text", '"1/3"'), NoneType: ("nothing", "null"),
    tuple: ("a list", "[]"), dict: ("an object", "{}"),
}  # fmt: skip
#: The floats that JSON has no numbers for.
_BEYOND = {str(value): value for value in (math.inf, -math.inf, math.nan)}


class Typed(PlainForm):
    """A frozen dataclass whose plain form is read by the types of its fields.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Slice(Typed):
    ...     of: str
    ...     sizes: tuple[Fraction, ...]
    >>> Slice.from_dict(Slice("bread", (Fraction(1, 3),)).to_dict())
    Slice(of='bread', sizes=(Fraction(1, 3),))
    >>> Slice.from_dict({"of": "bread", "sizes": ["1/3", 0.5]})
    Traceback (most recent call last):
    takifugu.core.errors.InputError: this is 0.5: it must be a fraction, which is a text; write for example "1/3"
    """

    def to_dict(self) -> Json:
        """Return plain data for `from_dict`, which JSON has as it is."""
        kind: type = type(self)
        own = {key for key, _, is_own, _ in _read_fields(kind).values() if is_own}
        return {key: part if key in own else _in_json(part) for key, part in super().to_dict().items()}

    @classmethod
    def from_dict(cls, data: Plain) -> Self:
        """Return the value from its plain data.

        Args:
            data: What `to_dict` returned.

        Returns:
            The value.

        Raises:
            InputError: With its place, for a key that is missing or that `to_dict` does not write, and for a value of
                another type than is due.
        """
        return read_as(cls, data)


def read_as(kind: type[Record], data: object) -> Record:
    """Return a dataclass from the plain data of its fields; InputError, with its place, for other data."""
    if not isinstance(data, Mapping):
        raise _wrong(data, dict)
    of_kind: type = kind
    read_fields = _read_fields(of_kind)
    missing = [key for key, is_needed, _, _ in read_fields.values() if is_needed and key not in data]
    if missing:
        raise InputError(f"the plain form {kind.__name__!r} lacks {missing}", rule="it was not written by to_dict")
    values, at = {}, ""
    try:
        for name, (at, _, _, read) in read_fields.items():
            if at in data:
                values[name] = read(data[at])
    except Exception:  # once, and not around each of the fields: many events of a ledger are read
        with within(at), as_written():
            raise
    with as_written():
        value = kind(**values)
    keys = {key for key, *_ in read_fields.values()} if len(data) > len(values) else data.keys()
    further = [key for key in data if key not in keys]
    known = value.to_dict() if further and isinstance(value, Writing) else {}
    for key in further:
        if key not in known:
            fix = f"leave it out{did_you_mean(key, known)}"
            raise InputError(f"the plain form {kind.__name__!r} has no {key!r}", fix=fix).at(str(key))
    return value


@contextmanager
def as_written() -> Iterator[None]:
    """Raise InputError for data that a reader of its own stumbles over: it reads what was written, and no more."""
    try:
        yield
    except TakifuguError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        rule, fix = "it was not written by to_dict", "write the value again by its to_dict"
        raise InputError(f"this cannot be read back ({error})", rule=rule, fix=fix) from None


@cache
def _read_fields(kind: type) -> Mapping[str, tuple[str, bool, bool, Read]]:
    """Return, by name, the key of each field, whether it is needed, has a form of its own, and its reader."""
    by_name: dict[str, Field[Any]] = {field.name: field for field in fields(kind)}
    hints, read_fields = get_type_hints(kind), {}
    for name, key, _, read, _ in written_fields(kind):
        field = by_name[name]
        is_needed, is_own = field.default is MISSING and field.default_factory is MISSING, has_own_form(field)
        read_fields[name] = (key, is_needed, is_own, read if is_own else _reader(hints[name]))
    return read_fields


def _reader(hint: Any) -> Read:
    """Return what reads a type."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return partial(_any_of, tuple(map(_reader, parts)))
    if kind is tuple and parts[1:] == (...,):
        return partial(_each, _reader(parts[0]))
    if kind in (Mapping, dict):
        return partial(_mapping, _reader(parts[1]))
    if hint is Any:
        return lambda data: data
    if kind is tuple:
        return partial(_row, tuple(map(_reader, parts)))
    if hint is Fraction:
        return _fraction
    if hint is float:
        return _float
    if hint in _EXAMPLES:
        return partial(_same, hint)
    if issubclass(hint, Enum):
        return partial(_member, hint)
    if issubclass(hint, Writing):  # which has a form of its own
        return partial(_value, hint.from_dict)
    return partial(read_as, hint)


def _wrong(data: object, kind: type) -> InputError:
    due, example = _EXAMPLES[kind]
    text = repr(data)
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    return InputError(f"this is {shown}", rule=f"it must be {due}", fix=f"write for example {example}")


def _same(kind: type, data: object) -> object:
    if type(data) is not kind:
        raise _wrong(data, kind)
    return data


def _fraction(data: object) -> Fraction:
    if isinstance(data, str):
        with suppress(ArithmeticError, ValueError):
            return read_fraction(data)
    raise _wrong(data, Fraction)


def _float(data: object) -> float:
    if isinstance(data, str) and data in _BEYOND:
        return _BEYOND[data]
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise _wrong(data, float)
    return float(data)


def _member(kind: type[Enum], data: object) -> Enum:
    members = {str(member.value): member for member in kind}
    if data not in [*members]:
        raise unknown(f"this is {data!r}", data, members)
    return members[str(data)]


def _each(read: Read, data: Any) -> tuple[Any, ...]:
    return _row((read,) * len(data) if isinstance(data, list | tuple) else (), data)


def _row(reads: tuple[Read, ...], data: Any) -> tuple[Any, ...]:
    if not isinstance(data, list | tuple):
        raise _wrong(data, tuple)
    if len(data) != len(reads):
        raise InputError(f"this list has {len(data)} values", rule=f"it must have {len(reads)}")
    row = list[Any]()
    try:
        for read, part in zip(reads, data, strict=True):
            row.append(read(part))
    except TakifuguError:
        with within(len(row)):
            raise
    return tuple(row)


def _mapping(read: Read, data: Any) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise _wrong(data, dict)
    return {key: read(part) for key, part in data.items()}


def _any_of(reads: tuple[Read, ...], data: Any) -> Any:
    """Return what the first type that data fit reads; the error is that of the first type."""
    first: InputError | None = None
    for read in reads:
        try:
            return read(data)
        except InputError as error:
            first = first or error
    raise first or InputError("no type fits")


def _value(read: Read, data: Any) -> Any:
    with as_written():
        return read(data)


def _in_json(part: Any) -> Any:
    """Return a plain part, its floats beyond all numbers as texts."""
    if isinstance(part, list):
        return list(map(_in_json, part))
    return str(part) if isinstance(part, float) and not math.isfinite(part) else part
