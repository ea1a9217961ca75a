"""Views of a belief and lazy families of ordered pairs of values: what a secret compares, and what it must know."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, permutations
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from takifugu.core.assumptions import Assumption
from takifugu.core.columns import value_of
from takifugu.core.entries import Entries, Nameless, Undivided
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, set_fields
from takifugu.core.registry import Question
from takifugu.numbers.rationals import is_whole

#: The letter of a user who is not there (beliefs.users); the belief says what that means: "unknown" or "removed".
ABSENT = "absent"


class Believed(Entries, Protocol):
    """What a secret must know about a belief."""

    def possible(self, entry: int) -> tuple[bool, ...]: ...


@runtime_checkable
class WithAbsence(Protocol):
    """A belief about users who may be absent, in the mode that it says: "unknown", "removed" or "" for never."""

    @property
    def absence(self) -> str: ...


@runtime_checkable
class InOrder(Believed, Protocol):
    """A belief about steps that follow each other, in one sequence or in pieces."""

    @property
    def in_pieces(self) -> bool: ...

    def components(self) -> Sequence[range]: ...

    def component(self, number: int) -> Any: ...


class Described(Believed, Protocol):
    """What a view passes on of the belief that it is of."""

    @property
    def source(self) -> str: ...

    def assumptions(self) -> tuple[Assumption, ...]: ...

    def to_dict(self) -> Json: ...

    def describe(self) -> str: ...


@dataclass(frozen=True, eq=False)
class View(Nameless, Undivided):
    """A belief as a secret about columns reads it: one entry, whose values are the hypotheses.

    A kind of view says its `values`, the `pairs` of their indices that are compared (None: all), and their words. One
    whose normal releases add up by their squares, pair by pair, `stacks`, and bounds the `moves` of an answer.
    """

    whole: Described
    stacks: ClassVar[bool] = False

    size = 1
    entry_word = "row"

    @property
    def source(self) -> str:
        return self.whole.source

    if TYPE_CHECKING:  # fields or properties, as a view has them: a property here would be a field's default

        @property
        def values(self) -> Sequence[Hashable]:
            """Return the hypotheses, in order."""

        @property
        def pairs(self) -> tuple[tuple[int, int], ...] | None:
            """Return the compared pairs of hypotheses, None for all."""

    def describe_hypothesis(self, value: int) -> str:
        """Word the hypothesis of a value, by its index."""
        return str(self.values[value])

    def moves(self, answer: Any, number: int) -> Sequence[Fraction]:
        """Bound each cell's change between the hypotheses of a pair, in answer units."""
        raise NotImplementedError

    def alphabet(self, entry: int) -> Any:
        return self.values

    def possible(self, entry: int) -> tuple[bool, ...]:
        return (True,) * len(self.values)

    def position(self, name: Hashable) -> int:
        raise InputError(f"a hypothesis has no entry {name!r}", fix="name a column in the secret")

    def assumptions(self) -> tuple[Assumption, ...]:
        return self.whole.assumptions()

    def to_dict(self) -> Json:
        return self.whole.to_dict()

    def describe(self) -> str:
        return self.whole.describe()


#: (belief, secret about columns) -> View, or None where the belief is read as it is, by type of belief.
VIEWS: Question[Callable[[Any, Any], View | None] | None] = Question("the view of a secret", None)


def view_of(belief: Believed, secret: object) -> View | None:
    """Return a belief's view for a secret about columns, None if the belief is read as it is."""
    answer = VIEWS.of(belief)
    return None if answer is None else answer(belief, secret)


@dataclass(frozen=True)
class Family:
    """Ordered pairs of values of some entries: `entries` are compared over `pairs` of value indices, or over all."""

    #: With a run above 1 these are all of a sequence. A generator lists them once only, and so it does pairs.
    entries: range | tuple[int, ...]
    #: A pair given in one order is compared in both. Whoever enumerates skips values of probability zero.
    pairs: tuple[tuple[int, int], ...] | None = None
    #: Every value is compared with absence; without, and without pairs, values with each other only.
    presence: bool = False
    #: So many entries in a row are compared together, any values with any others; a shorter sequence is one run.
    run: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.entries, range) or self.entries.step != 1:
            set_fields(self, entries=tuple(dict.fromkeys(map(_place, self.entries))))
        if self.pairs is not None:
            listed_pairs = tuple(self.pairs)
            places = {number: _place(number) for number in set(chain.from_iterable(listed_pairs))}
            pairs = [(places[a], places[b]) for a, b in listed_pairs]
            both_orders = dict.fromkeys([*pairs, *((b, a) for a, b in pairs)])
            set_fields(self, pairs=tuple(both_orders))

    def check_within(self, belief: Believed) -> None:
        """Raise InputError for an entry that a belief does not have."""
        last = max(self.entries[-1:] if isinstance(self.entries, range) else self.entries, default=-1)
        if last >= belief.size:
            raise InputError(f"the secret is about entry {last}, and the belief has {belief.size}, counted from 0")

    def value_pairs(self, belief: Believed, entry: int) -> tuple[tuple[int, int], ...]:
        """Return the ordered pairs of value indices to hide at `entry`."""
        possible, absent = tuple(belief.possible(entry)), absent_index(belief, entry)
        return _value_pairs(possible, absent, self.pairs, self.presence)

    def values_at(self, belief: Believed, entry: int) -> tuple[bool, ...]:
        """Return which values an entry of a run can take."""
        return tuple(belief.possible(entry))

    def has_pairs(self, belief: Believed, entry: int) -> bool:
        """Return whether there is anything to hide at `entry`, without listing it."""
        if self.presence or self.pairs is not None:
            return bool(self.value_pairs(belief, entry))
        absent = absent_index(belief, entry)
        return sum(can and v != absent for v, can in enumerate(belief.possible(entry))) > 1

    def has_any_pairs(self, belief: Believed) -> bool:
        """Return whether there is anything to hide at any of the entries."""
        return any(self.has_pairs(belief, entry) for entry in self.entries)


def _place(number: object) -> int:
    place = value_of(number)
    if not is_whole(place):
        raise InputError(f"a secret compares {number!r}", rule="entries and values are numbers, counted from 0")
    return place


@lru_cache(maxsize=64)
def _value_pairs(
    possible: tuple[bool, ...], absent: int | None, pairs: tuple[tuple[int, int], ...] | None, presence: bool
) -> tuple[tuple[int, int], ...]:
    """Return the pairs of `Family.value_pairs`, cached by what is possible."""
    values = [v for v, can in enumerate(possible) if can and v != absent]
    if presence:
        if absent is None or not possible[absent]:
            return ()
        of_presence: list[tuple[int, int]] = []
        for a in values:
            of_presence += [(a, absent), (absent, a)]
        return tuple(of_presence)
    if pairs is None:
        return tuple(permutations(values, 2))
    last = max(compared_values(pairs), default=-1)
    if last >= len(possible):
        raise InputError(f"the secret compares value {last} of {len(possible)}, counted from 0")
    return tuple((a, b) for a, b in pairs if possible[a] and possible[b])


def compared_values(pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Return the value indices in any pair, in order."""
    return sorted(set(chain.from_iterable(pairs)))


def absent_index(belief: Entries, entry: int) -> int | None:
    """Return the index of ABSENT in an entry's alphabet, None without absence."""
    alphabet = belief.alphabet(entry)
    is_last = alphabet[-1:] == (ABSENT,)
    if is_last and isinstance(belief, WithAbsence):
        return len(alphabet) - 1
    return None
