"""What chains and classes of chains have in common: one sequence of entries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, Self, TypeGuard, runtime_checkable

from takifugu.core.arrays import IntArray
from takifugu.core.entries import Nameless, Undivided
from takifugu.core.errors import InputError
from takifugu.core.lists import value_of
from takifugu.core.plain import Json
from takifugu.core.rules import check_as_many
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.states import State, checked_alphabet
from takifugu.numbers.rationals import as_whole

if TYPE_CHECKING:
    from takifugu.model.beliefs.supports import Supports


class OneSequence(Nameless, Undivided):
    """`length` dependent entries, each with one of `states`; all may occur anywhere unless `possible` says no."""

    length: int
    states: tuple[State, ...]
    source: str
    #: A recording may be in independent pieces (`chains.pieces`); this one is not.
    in_pieces = False
    #: After how many steps the law of a step is the same again (`chains.periodic_chain`).
    period = 1

    @property
    def chain(self) -> Self:
        """Return the law of one sequence of the recording: itself."""
        return self

    @property
    def has_given_start(self) -> bool:
        """Return whether the law fixes the recording's first step."""
        return False

    @property
    def starts_anyhow(self) -> bool:
        """Return whether the first step may have any distribution."""
        return True

    @property
    def supports(self) -> Supports | None:
        """Return each entry's possible values at any length; None for all."""
        return None

    @abstractmethod
    def with_length(self, length: int) -> Self:
        """Return the same law with another number of steps."""

    def phase(self, before: int) -> int:
        """Return the phase of the step `before` steps before the first."""
        return 0

    def from_step(self, step: int, length: int) -> Self | None:
        """Return the law of a run from a step, None if unknown.

        A negative step lies before the first of the recording.
        """
        return None if step and self.has_given_start else self.with_length(length)

    def laws_of(self, steps: IntArray) -> frozenset[int] | None:
        """Return the numbers of the laws of these steps.

        Returns None where each step may have its own. Where two sets of entries have the same numbers, the belief does
        not tell them apart.
        """
        return frozenset((0,))

    @property
    def size(self) -> int:
        return self.length

    def alphabet(self, entry: int) -> tuple[State, ...]:
        return self.states

    def position(self, name: Hashable) -> int:
        raise InputError(f"a chain has no column {name!r}", rule="its entries are counted from 0, not named")

    def possible(self, entry: int) -> tuple[bool, ...]:
        return (True,) * len(self.states)

    @abstractmethod
    def assumptions(self) -> tuple[str, ...]: ...

    @abstractmethod
    def to_dict(self) -> Json: ...

    @abstractmethod
    def describe(self) -> str: ...

    def describe_piece(self) -> str:
        """Describe one piece, without its length where possible."""
        return self.describe()


class OneChain(OneSequence):
    """A Markov chain or a class of chains: `_described` says what it is, with its length or without.

    A chain is a dataclass, made of its fields.
    """

    def with_length(self, length: int) -> Self:
        """Return the same law with another number of steps."""
        return replace(self, length=length)  # type: ignore[type-var]

    def describe(self) -> str:
        return self._described(f"{self.length} steps, ")

    def describe_piece(self) -> str:
        return self._described("")

    @abstractmethod
    def _described(self, length: str) -> str: ...


class AnySequence(OneSequence):
    """One sequence of which no more is known than its law: a run from a later step on may follow another one.

    A belief from outside the package derives from it, has `length`, `states` and `source`, and defines `with_length`.
    """

    @property
    def has_given_start(self) -> bool:
        return True

    def laws_of(self, steps: IntArray) -> None:
        return None


@runtime_checkable
class Recording(Belief, Protocol):
    """A belief about the steps of one recording: `chain` is the law of one sequence, which may have another length."""

    @property
    def chain(self) -> OneSequence: ...

    @property
    def in_pieces(self) -> bool: ...

    @property
    def has_given_start(self) -> bool: ...


def is_recording(belief: object) -> TypeGuard[Recording]:
    """Return whether a belief is about recorded sequences of steps."""
    return isinstance(belief, Recording)


def checked_length(length: int) -> int:
    """Return the length as an int.

    Raises InputError unless it is a whole number above 0.
    """
    number: object = value_of(length)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    return as_whole(number, "the chain's length", "length", least=1)


def checked_states(states: Iterable[State] | None, count: int, title: str) -> tuple[State, ...]:
    """Return `count` different names of states, by default 0, 1, ...

    Raises InputError for other names.
    """
    names = tuple(range(count)) if states is None else checked_alphabet(states, title)
    check_as_many(names, "states", range(count), f"rows of {title}", "states")
    return names
