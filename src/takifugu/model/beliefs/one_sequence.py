"""What chains and classes of chains have in common: one sequence of entries, and the values that each can take."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeGuard, runtime_checkable

import numpy as np

from takifugu.core.arrays import BoolArray, IntArray, unwritable
from takifugu.core.assumptions import Assumption, public
from takifugu.core.columns import value_of
from takifugu.core.entries import Nameless, Undivided
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, set_fields
from takifugu.core.rules import check_as_many
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.states import State, checked_alphabet
from takifugu.numbers.rationals import as_whole

LENGTH_IS_PUBLIC = public("The length of the sequence is public.")


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

    @property
    def followers(self) -> BoolArray | None:
        """Return which value can follow which at each step of a period, shape (period, k, k); None for all."""
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
    def assumptions(self) -> tuple[Assumption, ...]: ...

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
    """Return the length as an int, a whole number above 0."""
    number: object = value_of(length)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    steps = as_whole(number, "the chain's length", "length", least=1)
    if steps >= 2**53:  # arrays that repeat one number have no more places
        raise InputError(f"the chain's length is {steps}", rule="it must be below 2^53").at("length")
    return steps


def checked_states(states: Iterable[State] | None, count: int, title: str) -> tuple[State, ...]:
    """Return `count` different names of states, by default 0, 1, ..."""
    names = tuple(range(count)) if states is None else checked_alphabet(states, title)
    check_as_many(names, "states", range(count), f"rows of {title}", "states")
    return names


@dataclass(frozen=True, eq=False)
class Supports:
    """The values that X_t can take: `patterns[t]` up to the first repetition, then patterns[first:] forever."""

    patterns: tuple[BoolArray, ...]
    first: int

    def __post_init__(self) -> None:
        set_fields(self, patterns=tuple(map(unwritable, self.patterns)))

    def at(self, time: int) -> BoolArray:
        """Return the possible values of X_time."""
        return self.patterns[self.number(time)]

    def number(self, time: int) -> int:
        """Return the place in `patterns` of the support of X_time."""
        repeats = time >= len(self.patterns)
        if repeats:
            return self.first + (time - self.first) % (len(self.patterns) - self.first)
        return time

    def by_phase(self, period: int, first: int = 0) -> BoolArray:
        """Return the possible values at each phase, time modulo the period, of the times from `first` on."""
        rows = np.zeros((period, len(self.patterns[0])), dtype=bool)
        for time in range(first, len(self.patterns)):
            rows[time % period] |= self.patterns[time]
        return rows

    def numbers(self, times: IntArray) -> IntArray:
        """Return the place in `patterns` of the support at each time."""
        cycle = len(self.patterns) - self.first
        return np.where(times < len(self.patterns), times, self.first + (times - self.first) % cycle)

    def pairs(self, times: IntArray, first: IntArray, second: IntArray) -> BoolArray:
        """Return the pairs of possible values at each time, shape (times, pairs)."""
        supports = np.array(self.patterns)
        return np.logical_and(supports[:, first], supports[:, second])[self.numbers(times)]


def supports_from(start: BoolArray, steps: Sequence[BoolArray] | BoolArray) -> Supports:
    """Return the supports of X_0, X_1, ... from the first and the possible transitions of a period's steps."""
    first_time: dict[tuple[bytes, int], int] = {}
    supports: list[BoolArray] = []
    now, period = start, len(steps)
    while (key := (now.tobytes(), len(supports) % period)) not in first_time:
        first_time[key] = len(supports)
        supports.append(now)
        now = np.asarray((now[:, None] & steps[(len(supports) - 1) % period]).any(axis=0))
    return Supports(tuple(supports), first_time[key])
