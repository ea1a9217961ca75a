"""The smallest belief: the answer follows one of two given distributions."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from takifugu.core.assumptions import Assumption, world
from takifugu.core.entries import Nameless, Undivided
from takifugu.core.errors import InputError
from takifugu.core.plain import PlainForm, form, set_fields
from takifugu.model.beliefs.states import State
from takifugu.numbers.distributions.pmf import Pmf

#: How a distribution is written.
_LAW = form(lambda law: law.to_dict()["atoms"], lambda atoms: Pmf.from_dict({"atoms": atoms}))


@dataclass(frozen=True, eq=False)
class LawPair(PlainForm, Nameless, Undivided, kind="law-pair"):
    """An answer whose distribution is `left` or `right`; there is one entry, the choice."""

    left: Pmf = field(metadata=_LAW)
    right: Pmf = field(metadata=_LAW)
    source: str = "assumed"

    answers: ClassVar = {"the distribution of the answer": "analysis.answer_laws.listed:PairLaw"}

    def __post_init__(self) -> None:
        # float atoms are read as decimals (0.1 is 1/10), as the published value will be: both are the same number
        set_fields(self, left=self.left.in_decimals(), right=self.right.in_decimals())

    @property
    def size(self) -> int:
        return 1

    def alphabet(self, entry: int) -> tuple[State, ...]:
        return ("left", "right")

    def position(self, name: Hashable) -> int:
        raise InputError(f"two distributions have no column {name!r}", fix="publish Identity()")

    def possible(self, entry: int) -> tuple[bool, ...]:
        return (True, True)

    @property
    def span(self) -> Fraction:
        """Return the distance from the lowest to the highest atom of both."""
        ends = [Fraction(x) for x in (*self.left.support_range, *self.right.support_range)]
        return max(ends) - min(ends)

    def law(self, value: int) -> Pmf:
        """Return the answer's law for index 0 (left) or 1 (right)."""
        return self.right if value else self.left

    def assumptions(self) -> tuple[Assumption, ...]:
        return (world("The answer follows one of the two stated distributions."),)

    def describe(self) -> str:
        return f"two distributions of the answer, {len(self.left)} and {len(self.right)} values ({self.source})"
