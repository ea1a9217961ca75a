"""What beliefs have in common whose entries are one component, and what secrets read of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.plain import Json
from takifugu.model.beliefs import Belief


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


@dataclass(frozen=True, eq=False)
class OneHypothesis(Nameless, Undivided):
    """A belief as a secret reads it: one entry, whose values are the hypotheses.

    Each kind of view is a type of its own, with `pairs` of hypotheses that are compared and their words
    (`describe_hypothesis`).
    """

    whole: Belief

    size = 1
    entry_word = "row"

    @property
    def source(self) -> str:
        return self.whole.source

    @property
    def values(self) -> Sequence[Hashable]:
        """Return the hypotheses, in order."""
        raise NotImplementedError

    def alphabet(self, entry: int) -> Any:
        return self.values

    def possible(self, entry: int) -> tuple[bool, ...]:
        return (True,) * len(self.values)

    def position(self, name: Hashable) -> int:
        raise InputError(f"a hypothesis has no entry {name!r}", fix="name a column in the secret")

    def assumptions(self) -> tuple[str, ...]:
        return self.whole.assumptions()

    def to_dict(self) -> Json:
        return self.whole.to_dict()

    def describe(self) -> str:
        return self.whole.describe()
