"""Hypotheses about the data, and ordered comparisons of two of them: what every promise is about.

Mechanisms, witnesses, audit and certificates speak of comparisons through this module. A hypothesis of another kind (a
statistic of a column, a parameter, a whole data set) is any frozen value with `describe()`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Protocol

from takifugu.core.entries import Entries, called

State = Hashable


class Hypothesis(Protocol):
    """One possibility that an adversary may weigh against another."""

    def describe(self) -> str: ...


@dataclass(frozen=True)
class EntryIs:
    """The hypothesis that entry number `entry` (counted from 0) has `value`.

    `name` is what people call the entry ("" where its number is all), `note` what else is assumed of it.

    >>> EntryIs(3, "ill").describe(), EntryIs(3, "ill", "'flu'", " (started in 0)").describe()
    ("row 3 = 'ill'", "'flu' = 'ill' (started in 0)")
    """

    entry: int
    value: State
    name: str = field(default="", compare=False)
    note: str = field(default="", compare=False)

    def describe(self) -> str:
        return f"{self.name or f'row {self.entry}'} = {self.value!r}{self.note}"


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
    """One ordered comparison a -> b under one belief (None: under any): symbolic, it holds no laws.

    `weight` multiplies epsilon. `one_way` says that b -> a is not promised, so that `left` may be as likely as it will
    where `right` is not: the output must not make `left` likelier, relative to `right`.

    >>> Comparison(None, EntryIs(1, "ill"), EntryIs(1, "well")).label
    "row 1 = 'ill' against row 1 = 'well'"
    """

    belief: Entries | None
    left: Hypothesis
    right: Hypothesis
    weight: float = 1.0
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
    """Return the hypothesis of a value of an entry, by its index.

    `name` overrides the entry's name.
    """
    return EntryIs(start + entry, belief.alphabet(entry)[value], name or called(belief, entry, start), note)


def compared(belief: Entries, entry: int, pair: tuple[int, int], start: int = 0, name: str = "") -> Comparison:
    """Return the comparison of two values of an entry, by their indices.

    `start` numbers the first entry.
    """
    left, right = pair
    return Comparison(belief, entry_is(belief, entry, left, start, name), entry_is(belief, entry, right, start, name))
