"""What the data can be, without saying how likely: entries, their names and values. A belief is one, and more."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from takifugu.core.columns import value_of
from takifugu.core.entries import Entries, columns_of, entry_word, listed, order, relisted
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain, set_fields
from takifugu.core.registry import Registry
from takifugu.core.rules import check_as_many, check_known, members_of
from takifugu.model.beliefs.states import State
from takifugu.model.secrets.families import ABSENT, WithAbsence
from takifugu.numbers.rationals import as_whole

Believing = TypeVar("Believing", bound=Entries)


@runtime_checkable
class Data(Entries, Protocol):
    """What the data can be, as a framework and its queries must know it: `Domain`, or another form of records."""

    def describe(self) -> str: ...

    def to_dict(self) -> Json: ...


@dataclass(frozen=True)
class Domain:
    """Entries (people, columns, cells) with the values that each can take, in order; `names` where they have any."""

    #: The values of each entry, or those of all `size` entries once.
    alphabets: tuple[tuple[Hashable, ...], ...]
    names: tuple[Hashable, ...] | None = None
    size: int = 0

    def __post_init__(self) -> None:
        alphabets = list[tuple[Hashable, ...]]()
        for values in members_of(self.alphabets, "the values", "alphabets", "[('a', 'b')]"):
            alphabets.append(tuple(members_of(values, "the values of an entry", "alphabets", "('a', 'b')")))
        size = as_whole(value_of(self.size), "the number of entries", "size") or len(alphabets)
        different = tuple(dict.fromkeys(alphabets))
        for values in different:
            if not values or len(set(values)) != len(values):
                rule = "there is one at least, each once"
                raise InputError(f"the values of an entry are {list(values)}", rule=rule).at("alphabets")
        if self.names is not None:
            set_fields(self, names=tuple(members_of(self.names, "the names", "names", "['Ana', 'Ben']")))
        if not different or (self.names is not None and len({*self.names}) != size):
            raise InputError("a domain has one name for each entry, or none, and one entry at least").at("names")
        if len(alphabets) > 1:
            check_as_many(alphabets, "alphabets", range(size), "entries", "alphabets")
        if len(different) > 1:
            different = tuple(alphabets)
        set_fields(self, alphabets=different, size=size)

    @staticmethod
    def of(count: int, values: Iterable[Hashable]) -> Domain:
        """Return the domain of so many entries with the same values."""
        size = as_whole(value_of(count), "the number of entries", "count", least=1)
        return Domain((tuple(members_of(values, "the values", "values", "['well', 'ill']")),), None, size)

    @property
    def one_alphabet(self) -> bool:
        return len(self.alphabets) == 1

    def alphabet(self, entry: int) -> tuple[Hashable, ...]:
        return self.alphabets[0 if self.one_alphabet else entry]

    def position(self, name: Hashable) -> int:
        """Return the number of the entry with this name, or raise InputError."""
        names = self.names or ()
        check_known([name], names, "the domain has no entry")
        return names.index(name)

    def describe(self) -> str:
        return f"{self.size} entries with values from ({', '.join(map(_word, self.alphabets[0]))})"

    def to_dict(self) -> Json:
        names = None if self.names is None else list(self.names)
        return {"alphabets": list(map(list, self.alphabets)), "size": self.size, "names": names}

    @staticmethod
    def from_dict(data: Plain) -> Domain:
        return Domain(tuple(map(tuple, data["alphabets"])), data["names"], data["size"])


def _word(value: Hashable) -> str:
    """Word a value, a set in sorted order."""
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(str, value)))}}}"
    return str(value)


#: How each kind of domain is read back; a `Domain` writes no kind.
KINDS: Registry[Callable[[Plain], Data]] = Registry("the domain's kind", {"visits": "model.policies.places:read"})


def from_dict(data: Plain) -> Data:
    """Read a domain back from its `to_dict` form."""
    if "kind" in data:
        return KINDS.find(data["kind"])(data)
    return Domain.from_dict(data)


def agreed(beliefs: Sequence[Believing]) -> tuple[Believing, ...]:
    """Return beliefs (and a domain) about the same entries, as the first one with names lists them."""
    # else an answer would mean something else under each, and data could be impossible under one alone
    first, agreeing = beliefs[0], list[Believing]()
    reference = next((b for b in beliefs if listed(b) is not None), first)
    for belief in beliefs:
        if belief.size != first.size:
            raise InputError(
                f"the beliefs have {first.size} and {belief.size} entries",
                rule="all beliefs of a framework are about the same data, so give each as many entries",
            )
        if (first_columns := columns_of(first)) != (other_columns := columns_of(belief)):
            raise InputError(
                f"the beliefs have the columns {list(first_columns)} and {list(other_columns)}",
                rule="all beliefs of a framework are about the same records", fix="list the same columns, in one order",
            ).at("beliefs")  # fmt: skip
        if columns_of(first) and (first_count := _records(first)) != (other_count := _records(belief)):
            raise InputError(
                f"the beliefs are about {first_count} and {other_count} records",
                rule="all beliefs of a framework are about the same records", fix="give each as many records",
            ).at("beliefs")  # fmt: skip
        if listed(belief) is not None:
            belief = relisted(belief, listed(reference) or ())
        agreeing.append(belief)
        if len(agreeing) > 1:
            _check_values(agreeing[0], agreeing[-1])
    return tuple(agreeing)


@runtime_checkable
class CountsRecords(Protocol):
    """A belief that says how many records there are."""

    @property
    def records(self) -> int: ...


def _records(belief: Entries) -> int:
    return belief.records if isinstance(belief, CountsRecords) else belief.size


def _check_values(first: Entries, other: Entries) -> None:
    """Refuse beliefs with different values of an entry: data with one that a belief lacks would be refused."""
    if first.one_alphabet and other.one_alphabet:
        numbers: Iterable[int] = (0,)
    else:
        numbers = range(first.size)
    first_order, other_order = order(first) or range(first.size), order(other) or range(other.size)
    for number in numbers:
        first_values, other_values = _values(first, first_order[number]), _values(other, other_order[number])
        if first_values is not other_values and first_values != other_values:
            names = listed(first) or listed(other)
            title = f"{entry_word(first)} {number}" if names is None else repr(names[number])
            odd = sorted(map(str, first_values ^ other_values))
            raise InputError(
                f"the beliefs differ in the values that {title} can take ({', '.join(odd[:5])})",
                fix="name the same values in each, with probability 0 where one never occurs",
            ).at("beliefs")


def _values(belief: Entries, entry: int) -> frozenset[State]:
    """Return the known values of data at an entry."""
    values = frozenset(belief.alphabet(entry))
    if isinstance(belief, WithAbsence) and belief.absence == "unknown":
        return values - {ABSENT}
    return values
