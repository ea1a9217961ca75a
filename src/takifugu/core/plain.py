"""Plain data: what is written to JSON or TOML and read back from it, the rows of tables, and how a value shows itself.

The plain form of a frozen dataclass follows from its fields: its kind, then each field under its name. A fraction is
text, a tuple or an array a list, a part with a form of its own is written in it. A field that is written in another
way says so in its metadata (`Form`); a class whose form is not that of its fields has its own `to_dict`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, lru_cache, partial
from inspect import Parameter, signature
from reprlib import Repr
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from takifugu.core.cache import cached
from takifugu.core.errors import InputError

#: An object of JSON, as it is written: `to_dict` returns it.
Json = dict[str, Any]
#: An object of JSON or TOML, as it is read: `from_dict` takes it.
Plain = Mapping[str, Any]
#: A row of a table, by the names of its columns.
Row = Mapping[str, Any]

#: No meaningful number is written longer, or with a larger exponent: 10**99999999 would fill the memory.
LONGEST_NUMBER, LARGEST_EXPONENT = 10_000, 1_000
_EXPONENT = re.compile(r"[eE][-+]?([\d_]+)")
_FORM = "form"
#: What JSON has as it is, but for subclasses.
_OF_JSON = frozenset((str, int, float, bool, type(None)))

#: The most letters of a value, and of one of its fields: three lines, and one.
_MOST, _OF_FIELD = 240, 70
_SHORT = Repr()
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxset = _SHORT.maxfrozenset = 4
_SHORT.maxdict, _SHORT.maxstring, _SHORT.maxlong, _SHORT.maxother, _SHORT.maxlevel = 3, 40, 40, _OF_FIELD, 3


def _as_it_is(value: object) -> object:
    return value


def short_repr(value: Any) -> str:
    """Return the name of a dataclass and its fields, without those that have their defaults, each shortened."""
    parts, room = list[str](), _MOST - len(type(value).__name__) - 8
    for field in fields(value):
        if not field.repr or not hasattr(value, field.name):
            continue
        said = getattr(value, field.name)
        if field.default is not MISSING and type(said) is type(field.default) and said == field.default:
            continue
        text = " ".join(_SHORT.repr(said).split())
        if len(text) > _OF_FIELD:
            text = f"{text[: _OF_FIELD - 4]} ..."
        parts.append(f"{field.name}={text}")
        if sum(map(len, parts)) + 2 * len(parts) > room:
            parts[-1] = "..."
            break
    return f"{type(value).__name__}({', '.join(parts)})"


def indented(value: object, margin: str = "\n") -> str:
    """Return plain data as JSON, each part on a line: the text of `json.dumps(value, indent=2)`, made faster."""
    # json.dumps(value, indent=2, ensure_ascii=False) takes a step of Python for each number
    inner = f"{margin}  "
    if isinstance(value, dict) and value:
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {indented(part, inner)}" for key, part in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{margin}}}"
    if isinstance(value, list | tuple) and value:
        write = str if {*map(type, value)} == {int} else partial(indented, margin=inner)
        return f"[{inner}{f',{inner}'.join(map(write, value))}{margin}]"
    return json.dumps(value, ensure_ascii=False)


def form(
    write: Callable[[Any], object] | None = None,
    read: Callable[[Any], object] | None = None,
    *,
    key: str = "",
    is_left_out: bool = False,
    is_private: bool = False,
) -> Mapping[str, Any]:
    """Return the metadata of a field with a form of its own, which stands under `key`, a parameter of the class."""
    # a default is not written if it `is_left_out`, a private field never; None, where the type allows it, is as it is
    return {_FORM: (write or to_plain, read or _as_it_is, key, is_left_out, is_private)}


@runtime_checkable
class Writing(Protocol):
    """A value with a plain form."""

    def to_dict(self) -> Json: ...


@runtime_checkable
class ArrayOfAny(Protocol):
    """An array of any library."""

    def tolist(self) -> object: ...


class ByValue:
    """A value that equals another of its class with the same plain form.

    >>> from takifugu import MarkovChain
    >>> one, same = (MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10) for _ in range(2))
    >>> one == same, len({one, same}), one == one.with_length(9)
    (True, 1, False)
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):
            cls.__repr__ = short_repr  # type: ignore[method-assign]  # which a dataclass leaves as it is

    def to_dict(self) -> Json:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ByValue) or type(self) is not type(other):
            return NotImplemented
        return _digest(self) == _digest(other)

    def __hash__(self) -> int:
        return hash(_digest(self))


def _digest(value: ByValue) -> bytes:
    """Return the digest of a value's plain form, kept with it."""

    def digest() -> bytes:
        return hashlib.sha256(json.dumps(value.to_dict(), sort_keys=True, default=str).encode()).digest()

    return cached(value, ByValue, digest)


class PlainForm(ByValue):
    """A frozen dataclass with a plain form of its arguments.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Share(PlainForm, kind="share"):
    ...     of: str
    ...     size: Fraction
    >>> Share("bread", Fraction(1, 3)).to_dict()
    {'kind': 'share', 'of': 'bread', 'size': '1/3'}
    >>> Share.from_dict({"of": "bread"})
    Traceback (most recent call last):
    takifugu.core.errors.InputError: the plain form 'Share' lacks ['size']: it was not written by to_dict
    """

    kind: ClassVar[str] = ""

    def __init_subclass__(cls, kind: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if kind:
            cls.kind = kind

    def to_dict(self) -> Json:
        """Return plain data for `from_dict`."""
        kind: type = type(self)
        data: Json = {"kind": self.kind} if self.kind else {}
        for name, key, write, _, default in written_fields(kind):
            value = getattr(self, name)
            if default is MISSING or value != default:
                data[key] = write(value)
        return data

    @classmethod
    def from_dict(cls, data: Plain) -> Self:
        """Return the value from its plain data. Raises InputError for a key that is missing."""
        return cls(**arguments(cls, data))


def arguments(kind: type, data: Plain) -> dict[str, Any]:
    """Return the arguments of a class from its plain form."""
    missing = [key for key in _required_keys(kind) if key not in data]
    if missing:
        message = f"the plain form {data.get('kind') or kind.__name__!r} lacks {missing}"
        raise InputError(message, rule="it was not written by to_dict")
    values = {}
    for _, key, _, read, _ in written_fields(kind):
        if key in data:
            values[key] = read(data[key])
    return values


def to_plain(value: Any) -> Any:
    """Return a value for JSON, with fractions as text, arrays as lists, dataclasses by their fields."""
    if type(value) in _OF_JSON:
        return value
    if isinstance(value, Fraction):
        return to_text(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):  # a belief about many people lists as many lengths
        return list(value) if {*map(type, value)} <= {int} else list(map(to_plain, value))
    if isinstance(value, PlainForm | Writing):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): to_plain(part) for key, part in value.items()}
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, ArrayOfAny):
        return value.tolist()
    return value


def to_text(value: int | Fraction) -> str:
    """Write a rational exactly, as a decimal within 17 digits or p/q."""
    if value.denominator == 1:
        return str(value.numerator)
    try:
        short = repr(float(value))
    except OverflowError:
        return str(value)
    if "e" not in short and "n" not in short and Fraction(short) == value:
        return short
    return str(value)


@lru_cache(maxsize=1024)
def read_fraction(text: str) -> Fraction:
    """Read a written number exactly; ValueError, ZeroDivisionError or OverflowError for another text."""
    # No other place turns a text into a Fraction; a long ledger holds the same few again and again.
    exponent = _EXPONENT.search(text[:LONGEST_NUMBER])
    if len(text) > LONGEST_NUMBER or (exponent and (len(exponent[1]) > 9 or int(exponent[1]) > LARGEST_EXPONENT)):
        raise ValueError("too long or too large")
    number = Fraction(text)
    float(number)  # raises OverflowError where no float is as large
    return number


def writes_all(kind: type) -> bool:
    """Return whether equal plain forms of a class mean equal values."""
    if not issubclass(kind, PlainForm) or kind.to_dict is not PlainForm.to_dict:
        return False
    return len(written_fields(kind)) == len(fields(kind))  # type: ignore[arg-type]


def made_of(whole: Any, kind: type) -> Iterator[Any]:
    """Yield a value and what it is made of: values of a kind that it has, however deep they lie in its attributes."""
    yield whole
    names = {field.name: None for field in fields(whole)} if is_dataclass(whole) else {}
    with suppress(TypeError):  # what has slots has no other attributes
        names |= dict.fromkeys(vars(whole).keys() - {"_cached"})
    for name in sorted(names):
        for part in _held(getattr(whole, name), kind):
            yield from made_of(part, kind)


def _held(value: object, kind: type) -> Iterator[Any]:
    """Yield the values of a kind in a value, a tuple of values, or what else holds some."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, Mapping):
        yield from _held((*value, *value.values()), kind)
    elif isinstance(value, tuple | list | set | frozenset):
        for part in value:
            if type(part) not in _OF_JSON:  # rows of a table are many numbers and texts
                yield from _held(part, kind)


def set_fields(value: object, **values: object) -> None:
    """Set fields of a frozen dataclass while it is made."""
    for name, field in values.items():
        object.__setattr__(value, name, field)


#: How values of the data are written: one by one, each as it is.
VALUES = form(list)
#: How a value of the data is written.
AS_IT_IS = form(_as_it_is)
#: A field that is not written where it has its default.
LEFT_OUT = form(is_left_out=True)


@cache
def written_fields(kind: type) -> tuple[tuple[str, str, Callable[[Any], Any], Callable[[Any], Any], Any], ...]:
    """Return name, key, writer, reader and default (MISSING where it is written) of each written field."""
    all_fields = []
    for field in fields(kind):
        write, read, key, is_left_out, is_private = field.metadata.get(_FORM, (to_plain, _as_it_is, "", False, False))
        if is_private:
            continue
        if "None" in str(field.type):
            write, read = _or_none(write), _or_none(read)
        all_fields.append((field.name, key or field.name, write, read, field.default if is_left_out else MISSING))
    return tuple(all_fields)


def has_own_form(field: Field[Any]) -> bool:
    """Return whether a field says how it is read (`form`)."""
    return bool(field.metadata.get(_FORM, (None, _as_it_is))[1] is not _as_it_is)


def _or_none(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else convert(value)


@cache
def _required_keys(kind: type) -> tuple[str, ...]:
    """Return the keys of a class without a default."""
    parameters = signature(kind).parameters
    optional = {name for name, parameter in parameters.items() if parameter.default is not Parameter.empty}
    return tuple(key for _, key, *_ in written_fields(kind) if key not in optional)


def toml_of(value: object) -> str:
    """Write a plain value as TOML reads it back."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {toml_of(v)}' for k, v in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_of, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return {True: "true", False: "false"}[value]
    return repr(value)


def either(choices: Iterable[object]) -> str:
    """List choices as they may be pasted."""
    return " or ".join(map(toml_of, choices))


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else toml_of(name)
