"""Hypotheses about the data, and ordered comparisons of two of them: what every promise is about.

Mechanisms, witnesses, audit and certificates speak of comparisons through this module. A hypothesis of another kind (a
statistic of a column, a parameter, a whole data set) is any frozen value with `describe()`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from takifugu.core.entries import Entries, called, entry_word

State = Hashable


class Hypothesis(Protocol):
    """One possibility that an adversary may weigh against another."""

    def describe(self) -> str: ...


@dataclass(frozen=True)
class EntryIs:
    """The hypothesis that entry number `entry` (counted from 0) has `value`."""

    entry: int
    value: State
    #: The entry as people call it, "" where its number is all.
    name: str = field(default="", compare=False)
    #: What else is assumed of it.
    note: str = field(default="", compare=False)

    def describe(self) -> str:
        return f"{self.name or f'row {self.entry}'} = {self.value!r}{self.note}"


@dataclass(frozen=True)
class RunIs:
    """The hypothesis that the entries from number `entry` on (counted from 0) have `values`, in this order."""

    entry: int
    values: tuple[State, ...]
    word: str = field(default="row", compare=False)

    def describe(self) -> str:
        parts = []
        for value, group in groupby(self.values):
            times = len(list(group))
            parts.append(f"{times} x {value!r}" if times > 1 else repr(value))
        last = self.entry + len(self.values) - 1
        return f"{self.word}s {self.entry} to {last} = {', '.join(parts)}"


@dataclass(frozen=True)
class LawIs:
    """The hypothesis that the answer is drawn from the distribution called `name`."""

    name: str

    def describe(self) -> str:
        return f"the answer follows distribution {self.name!r}"


@dataclass(frozen=True)
class PropertyIs:
    """The hypothesis that a property of whole columns, or a parameter of one, is what `words` say."""

    words: str

    def describe(self) -> str:
        return self.words


@dataclass(frozen=True)
class Comparison:
    """One ordered comparison a -> b under one belief (None: under any): symbolic, it holds no laws."""

    belief: Entries | None
    left: Hypothesis
    right: Hypothesis
    #: It multiplies epsilon.
    weight: float = 1.0
    #: b -> a is not promised: the output must not make `left` likelier, relative to `right`.
    one_way: bool = False

    @property
    def label(self) -> str:
        if isinstance(self.left, LawIs) and isinstance(self.right, LawIs):
            return f"the {self.left.name} distribution against the {self.right.name} one"
        return against(self.left.describe(), self.right.describe())


def against(left: str, right: str) -> str:
    """Return the words of a comparison from those of its sides."""
    return f"{left} against {right}"


def entry_is(belief: Entries, entry: int, value: int, start: int = 0, name: str = "", note: str = "") -> EntryIs:
    """Return the hypothesis of a value of an entry, by its index; `name` overrides the entry's."""
    return EntryIs(start + entry, belief.alphabet(entry)[value], name or called(belief, entry, start), note)


def compared(belief: Entries, entry: int, pair: tuple[int, int], start: int = 0, name: str = "") -> Comparison:
    """Return the comparison of two values of an entry, by their indices; `start` numbers the first entry."""
    left, right = pair
    return Comparison(belief, entry_is(belief, entry, left, start, name), entry_is(belief, entry, right, start, name))


def compared_runs(
    belief: Entries, entry: int, paths: tuple[tuple[int, ...], tuple[int, ...]], start: int = 0
) -> Comparison:
    """Return the comparison of two paths of value indices from an entry on; `start` numbers the first entry."""
    left, right = (run_is(belief, entry, path, start) for path in paths)
    return Comparison(belief, left, right)


def run_is(belief: Entries, entry: int, path: tuple[int, ...], start: int = 0) -> EntryIs | RunIs:
    """Return the hypothesis of a path of values from an entry on, by their indices."""
    if len(path) == 1:
        return entry_is(belief, entry, path[0], start)
    letters = belief.alphabet(entry)
    return RunIs(start + entry, tuple(letters[value] for value in path), entry_word(belief))
