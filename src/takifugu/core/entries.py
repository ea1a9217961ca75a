"""Which entry is meant: the names and numbers that people write become a belief's own positions here, nowhere else.

An entry with a name (a variable, a column, a person) is that name, in whatever order a belief keeps it. A *number*
counts the entries in the order in which they were **listed** by whoever wrote the belief; in a framework of several
beliefs, by whoever wrote the first one that has names. Steps of a sequence have no names: there a number is a position.

A belief says `names` (in its own order, the one of its tables and runs) and, where that differs, `listed`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from copy import copy
from itertools import chain
from typing import Protocol, Self, TypeVar, overload, runtime_checkable

from takifugu.core.cache import forget, memoised
from takifugu.core.errors import InputError, within
from takifugu.core.plain import set_fields

Value = TypeVar("Value")


class Entries(Protocol):
    """The entries of data: their number, names if any, and values."""

    @property
    def size(self) -> int: ...

    @property
    def names(self) -> tuple[Hashable, ...] | None: ...

    @property
    def one_alphabet(self) -> bool: ...

    def alphabet(self, entry: int) -> tuple[Hashable, ...]: ...

    def position(self, name: Hashable) -> int: ...


class Nameless:
    """Entries that are counted and not named, all with one alphabet."""

    #: What people call an entry.
    entry_word = "step"

    @property
    def names(self) -> None:
        return None

    @property
    def one_alphabet(self) -> bool:
        return True


class Undivided:
    """Entries that may all depend on each other."""

    def components(self: Entries) -> tuple[range, ...]:
        return (range(self.size),)

    def component(self, number: int) -> Self:
        return self


class Components(Sequence[range]):
    """Entries behind one another, each run made when it is asked for: a million users are one range of ends."""

    def __init__(self, ends: Sequence[int]) -> None:
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, number: int) -> range: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[range]: ...
    def __getitem__(self, number: int | slice) -> range | Sequence[range]:
        if isinstance(number, slice):
            return [self[place] for place in range(len(self))[number]]
        place = range(len(self))[number]
        return range(self._ends[place - 1] if place else 0, self._ends[place])

    def __iter__(self) -> Iterator[range]:
        return map(range, chain((0,), self._ends), self._ends)


Belief = TypeVar("Belief", bound=Entries)


@runtime_checkable
class Listed(Protocol):
    """A belief over entries in another order than its own."""

    @property
    def listed(self) -> tuple[Hashable, ...] | None: ...


@runtime_checkable
class Worded(Protocol):
    """A belief with people's word for an entry without a name."""

    @property
    def entry_word(self) -> str: ...


@runtime_checkable
class Columned(Protocol):
    """A belief over records, or a query that names the columns that it reads."""

    @property
    def columns(self) -> Sequence[str]: ...


def columns_of(belief: object) -> tuple[str, ...]:
    """Return the columns of a belief over records, none of others."""
    return tuple(belief.columns) if isinstance(belief, Columned) else ()


def listed(belief: Entries) -> tuple[Hashable, ...] | None:
    """Return the names in the order of their numbers, or None."""
    if isinstance(belief, Listed) and belief.listed:
        return belief.listed
    return belief.names


def order(belief: Entries) -> tuple[int, ...] | None:
    """Return each listed entry's own position, or None for equal orders."""
    names = listed(belief)
    if names is None or belief.names is None or names == belief.names:
        return None
    place_of = {name: place for place, name in enumerate(belief.names)}
    return tuple(place_of[name] for name in names)


def positions(
    belief: Entries,
    names_or_numbers: Iterable[Hashable],
    what: str = "the query reads entry",
    kind: str = "entries",
    key: str = "entries",
) -> tuple[int, ...]:
    """Return the belief's own positions of entries, by name or number; InputError for one that it lacks."""
    # `what` and `kind` are the words of the message for entries, `key` is the parameter that named them
    order_of, places = order(belief), []
    for entry in names_or_numbers:
        if isinstance(entry, int) and not isinstance(entry, bool):
            if not 0 <= entry < belief.size:
                raise InputError(
                    f"{what} {entry}, and the belief has {kind} 0 to {belief.size - 1}", fix="name one of those"
                ).at(key)
            places.append(entry if order_of is None else order_of[entry])
        else:
            with within(key):
                places.append(belief.position(entry))
    return tuple(places)


def position(
    belief: Entries, entry: Hashable, what: str = "the secret is about entry", kind: str = "entries", key: str = "entry"
) -> int:
    """Return the belief's own position of one entry, by name or number. Raises InputError as `positions` does."""
    return positions(belief, (entry,), what, kind, key)[0]


def arranged(belief: Entries, values: Sequence[Value]) -> list[Value]:
    """Return values in the belief's own order from the listed order."""
    order_of = order(belief)
    if order_of is None:
        return list(values)
    ordered = list(values)
    for place, value in zip(order_of, values, strict=True):
        ordered[place] = value
    return ordered


def relisted(belief: Belief, names: Sequence[Hashable]) -> Belief:
    """Return the same belief with its entries in another order; InputError for other names than its own."""
    new_order, old_order = tuple(names), listed(belief)
    if new_order == old_order:
        return belief
    if old_order is None or len(new_order) != len(old_order) or set(new_order) != set(old_order):
        odd = sorted(set(map(str, new_order)) ^ set(map(str, old_order or ())))
        raise InputError(
            f"two beliefs name different entries ({', '.join(odd[:5])})", fix="name the same ones in each"
        ).at("beliefs")
    copied = copy(belief)
    forget(copied)  # answers, for example, that were resolved in the other order
    set_fields(copied, listed=new_order)
    return copied


def called(belief: Entries, place: int, start: int = 0) -> str:
    """Return an entry's name, or its number counted from `start`, in words."""
    names = belief.names
    if names is None:
        return f"{entry_word(belief)} {start + place}"
    return repr(names[place])


@memoised
def entry_word(belief: object) -> str:
    """Return "step" for an entry of a sequence, "row" for any other."""
    return belief.entry_word if isinstance(belief, Worded) else "row"
