"""What the data can be, without saying how likely: entries, their names and values. A belief is one, and more."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from takifugu.core.entries import Entries
from takifugu.core.errors import InputError, did_you_mean
from takifugu.core.plain import Json, Plain
from takifugu.core.registry import Registry


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
            raise InputError(f"the domain has no entry {name!r}{did_you_mean(name, names)}")
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
