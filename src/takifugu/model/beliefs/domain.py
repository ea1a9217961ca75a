"""What the data can be, without saying how likely: entries, their names and values. A belief is one, and more."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar, runtime_checkable

from takifugu.core.entries import Entries, columns_of, entry_word, listed, order, relisted
from takifugu.core.errors import InputError
from takifugu.core.nearest import unknown
from takifugu.core.plain import Json, Plain
from takifugu.core.registry import Registry
from takifugu.model.beliefs.states import State

Believing = TypeVar("Believing", bound=Entries)


class Data(Entries, Protocol):
    """What the data can be, as a framework and its queries must know it: `Domain`, or another form of records."""

    def describe(self) -> str: ...

    def to_dict(self) -> Json: ...


@dataclass(frozen=True)
class Domain:
    """Entries (people, columns, cells) with the values that each can take, in order; `names` where they have any.

    Raises InputError where an entry has no value, or a value twice, or names are not one per entry.

    >>> table = Domain.of(3, ["well", "ill"])
    >>> table.size, table.alphabet(2), table.describe()
    (3, ('well', 'ill'), '3 entries with values from (well, ill)')
    """

    alphabets: tuple[tuple[Hashable, ...], ...]
    names: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        for values in set(self.alphabets):
            if not values or len(set(values)) != len(values):
                raise InputError(f"the values of an entry are {list(values)}", rule="there is one at least, each once")
        if not self.alphabets or (self.names is not None and len({*self.names}) != len(self.alphabets)):
            raise InputError("a domain has one name for each entry, or none, and one entry at least")

    @staticmethod
    def of(count: int, values: Iterable[Hashable]) -> Domain:
        """Return the domain of so many entries with the same values."""
        return Domain((tuple(values),) * count)

    @property
    def size(self) -> int:
        return len(self.alphabets)

    @cached_property
    def one_alphabet(self) -> bool:
        return len(set(self.alphabets)) == 1

    def alphabet(self, entry: int) -> tuple[Hashable, ...]:
        return self.alphabets[entry]

    def position(self, name: Hashable) -> int:
        """Return the number of the entry with this name, or raise InputError."""
        names = self.names or ()
        if name not in names:
            raise unknown(f"the domain has no entry {name!r}", name, names)
        return names.index(name)

    def describe(self) -> str:
        return f"{self.size} entries with values from ({', '.join(map(_word, self.alphabets[0]))})"

    def to_dict(self) -> Json:
        different = self.alphabets[:1] if self.one_alphabet else self.alphabets
        names = None if self.names is None else list(self.names)
        return {"alphabets": list(map(list, different)), "size": self.size, "names": names}

    @staticmethod
    def from_dict(data: Plain) -> Domain:
        alphabets = tuple(map(tuple, data["alphabets"]))
        every = alphabets * data["size"] if len(alphabets) == 1 else alphabets
        return Domain(every, None if data["names"] is None else tuple(data["names"]))


def _word(value: Hashable) -> str:
    """Word a value, a set in sorted order."""
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(str, value)))}}}"
    return str(value)


#: How each kind of domain is read back; a `Domain` writes no kind.
KINDS: Registry[Callable[[Plain], Data]] = Registry(
    "the domain's kind", {"visits": "model.policies.places:read"}
)


def from_dict(data: Plain) -> Data:
    """Read a domain back from its `to_dict` form.

    Raises InputError for an unknown kind.
    """
    if "kind" in data:
        return KINDS.find(data["kind"])(data)
    return Domain.from_dict(data)


@runtime_checkable
class Observed(Protocol):
    """A belief of whose values at an entry not all can be in data."""

    def observable(self, entry: int) -> tuple[State, ...]: ...


def agreed(beliefs: Sequence[Believing]) -> tuple[Believing, ...]:
    """Return beliefs (and a domain) about the same entries.

    Entries are listed in the order of the first belief with names. Raises InputError where beliefs differ in the number
    of entries, in their names, or in the values of an entry: an answer would mean something else under each of them,
    and data could be impossible under one alone.
    """
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
        if listed(belief) is not None:
            belief = relisted(belief, listed(reference) or ())
        agreeing.append(belief)
        if len(agreeing) > 1:
            _check_values(agreeing[0], agreeing[-1])
    return tuple(agreeing)


def _check_values(first: Entries, other: Entries) -> None:
    """Refuse beliefs with different values of an entry.

    Data with a value that one lacks would be refused.
    """
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
    """Return the observable values of an entry, by default all."""
    if isinstance(belief, Observed):
        return frozenset(belief.observable(entry))
    return frozenset(belief.alphabet(entry))
