"""Predicates over records: what a policy is a set of.

A record is one declared value, or a frozenset of them (the places where a person was). A predicate asks for none of
some values (p = not c), for one of them at least (p = c), or is a function with a name and a version. `or` and `and` of
predicates are refused: such a formula neither makes counts monotone nor composes (errata E6).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn, Self

from takifugu.core.columns import value_of
from takifugu.core.errors import InputError
from takifugu.core.functions import as_named
from takifugu.core.plain import Plain, PlainForm, form, set_fields
from takifugu.core.registry import Registry
from takifugu.core.rules import check_any, members_of, unwritable
from takifugu.numbers.rationals import as_whole

Value = Hashable
Record = Value | frozenset[Value]
#: How the named values of a predicate are written.
_VALUES = form(list, key="values")


def held(record: Record) -> frozenset[Value]:
    """Return the values of a record: itself, or a set's elements."""
    return record if isinstance(record, frozenset) else frozenset((record,))


class Predicate(PlainForm):
    """One predicate over records: called with a record it says whether it holds."""

    def __call__(self, record: Record) -> bool:
        raise NotImplementedError

    @property
    def values(self) -> tuple[Value, ...]:
        """Return the declared values in its name."""
        return ()

    def describe(self) -> str:
        """Describe both sides under a policy, hidden and not."""
        raise NotImplementedError

    def _refuse(self, formula: str) -> NoReturn:
        raise InputError(
            f"a policy is no formula: {formula} of predicates is refused",
            rule="along the moves that it would allow one count can rise while another one falls, and promises do not "
            "add up (Takagi21 Section VI-A3 and Theorem VIII.6 as printed)",
            fix="give all predicates: Policy.of(p, q) allows the moves that each of them allows",
        ).at("policy")

    def __or__(self, other: object) -> NoReturn:
        self._refuse("OR")

    def __and__(self, other: object) -> NoReturn:
        self._refuse("AND")

    def __bool__(self) -> NoReturn:
        self._refuse("and, or, not")


@dataclass(frozen=True)
class Naming(Predicate):
    """A predicate about the values that it names."""

    named: tuple[Value, ...] = field(metadata=_VALUES)

    @property
    def values(self) -> tuple[Value, ...]:
        return self.named

    @classmethod
    def from_dict(cls, data: Plain) -> Self:
        return cls(listed(data["values"]))


@dataclass(frozen=True)
class NoneOf(Naming, kind="none-of"):
    """p = not c: the record has none of these values; what is hidden is that it has one."""

    def __call__(self, record: Record) -> bool:
        return held(record).isdisjoint(self.named)

    def __invert__(self) -> AnyOf:
        return AnyOf(self.named)

    def describe(self) -> str:
        return f"that a record has {_one_of(self.named)} (not that it has not)"


@dataclass(frozen=True)
class AnyOf(Naming, kind="any-of"):
    """p = c: the record has one of these values at least; what is hidden is that it has none."""

    def __call__(self, record: Record) -> bool:
        return not held(record).isdisjoint(self.named)

    def __invert__(self) -> NoneOf:
        return NoneOf(self.named)

    def describe(self) -> str:
        return f"that a record does not have {_one_of(self.named)} (not that it has)"


@dataclass(frozen=True)
class Checked(Predicate, kind="checked"):
    """A predicate that is a function of a record; its name and version are what a ledger writes down."""

    name: str
    version: int
    function: Callable[[Record], object] = field(compare=False, repr=False, metadata=form(is_private=True))

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not callable(self.function):
            raise InputError(
                "a predicate that is a function needs a name, a version and the function",
                fix="write for example checked('is-even', 1, lambda record: record % 2 == 0)",
            ).at("policy")
        as_whole(self.version, "the version", "policy")
        set_fields(self, function=as_named(self.function, "the predicate", self.name, self.version, "policy"))
        _DEFINED[self.name, self.version] = self

    def __call__(self, record: Record) -> bool:
        try:
            verdict = self.function(record)
        except Exception as error:  # whatever it is: it is a fault of the function, told without what it holds
            raise InputError(
                f"the predicate {self.name!r} raises {type(error).__name__} for one of the declared records",
                rule="a policy says of every record whether its predicates hold", fix="make it total",
            ).at("policy") from None  # fmt: skip
        if verdict is not True and verdict is not False and type(verdict).__name__ not in ("bool_", "bool"):
            raise InputError(
                f"the predicate {self.name!r} returns a {type(verdict).__name__}", rule="it says true or false"
            ).at("policy")
        return bool(verdict)

    @staticmethod
    def from_dict(data: Plain) -> Checked:
        key = (data["name"], data["version"])
        if key not in _DEFINED:
            raise InputError(
                f"nobody has defined the predicate {data['name']!r} of version {data['version']}",
                rule="a file has its name only",
                fix="define it, as checked(name, version, function), before you read it",
            ).at("policy")
        return _DEFINED[key]

    def describe(self) -> str:
        return f"that {self.name!r} (version {self.version}) is false of a record (not that it is true)"


_DEFINED: dict[tuple[str, int], Checked] = {}


def none_of(*values: Value) -> NoneOf:
    """Return the predicate "the record has none of these values".

    It hides that the record has one of them.

    Args:
        values: The values.

    Returns:
        The predicate.

    Raises:
        InputError: For no value.

    Examples:
        >>> none_of("ill").describe()
        "that a record has 'ill' (not that it has not)"
    """
    return NoneOf(listed(values))


def any_of(*values: Value) -> AnyOf:
    """Return the predicate "the record has one of these values".

    It hides that the record has none of them.

    Args:
        values: The values.

    Returns:
        The predicate.

    Raises:
        InputError: For no value.

    Examples:
        >>> any_of("home").describe()
        "that a record does not have 'home' (not that it has)"
    """
    return AnyOf(listed(values))


def checked(name: str, version: int, function: Callable[[Any], object]) -> Checked:
    """Return the predicate of a function.

    Args:
        name: Its name in ledgers.
        version: Its version; another function needs another one.
        function: Takes a record's value; returns whether the predicate is true.

    Returns:
        The predicate.

    Examples:
        >>> checked("adult", 1, lambda age: age >= 18).describe()
        "that 'adult' (version 1) is false of a record (not that it is true)"
    """
    return Checked(name, version, function)


def listed(values: Iterable[Value]) -> tuple[Value, ...]:
    """Return values once each, one or more that a record can have."""
    plain_values = []
    for value in members_of(values, "the values", "policy", "['ill']"):
        plain = value_of(value)
        if not isinstance(plain, str | int | float):
            raise unwritable("a predicate names", plain).at("policy")
        plain_values.append(plain)
    check_any(plain_values, "a predicate names no value, so it would hold always", "policy")
    return tuple(dict.fromkeys(plain_values))


@dataclass(frozen=True)
class EachOf(PlainForm, kind="each-of"):
    """The predicates "the record does not have v", one for each of the named values v, or for every value there is."""

    named: tuple[Value, ...] | None = field(default=None, metadata=_VALUES)

    def allows(self, before: Record, after: Record) -> bool:
        new = held(after) - held(before)
        if self.named is None:
            return not new
        return new.isdisjoint(self.named)

    @property
    def values(self) -> tuple[Value, ...]:
        return self.named or ()

    @staticmethod
    def from_dict(data: Plain) -> EachOf:
        return EachOf(None if data["values"] is None else listed(data["values"]))

    def predicates(self, values: Iterable[Value]) -> tuple[NoneOf, ...]:
        """Return the predicates one by one, by default of all `values`."""
        members = values if self.named is None else self.named
        return tuple(NoneOf((value,)) for value in members)

    def describe(self) -> str:
        """Describe both sides of a record, hidden and not."""
        if self.named is None:
            return "that a person was at the places where they were (not that they were at no other)"
        return f"that a person was at {_one_of(self.named, 'places')} (not that they were not)"


def from_dict(data: Plain) -> Predicate | EachOf:
    """Read a predicate back; this process must have defined a function."""
    return KINDS.find(data.get("kind")).from_dict(data)


#: Every kind of predicate.
KINDS: Registry[type[Predicate | EachOf]] = Registry(
    "the predicate's kind",
    {
        "none-of": "model.policies.predicates:NoneOf", "any-of": "model.policies.predicates:AnyOf",
        "checked": "model.policies.predicates:Checked", "each-of": "model.policies.predicates:EachOf",
    },
)  # fmt: skip


def _one_of(values: tuple[Value, ...], word: str = "values") -> str:
    listing = " or ".join(map(repr, values[:4]))
    if len(values) <= 4:
        return listing
    return f"{listing} or another one of {len(values)} {word}"
