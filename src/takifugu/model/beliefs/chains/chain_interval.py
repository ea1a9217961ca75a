"""All chains with two states whose probabilities of staying lie in one interval (Song17 §5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from takifugu.core.errors import InputError
from takifugu.core.plain import VALUES, PlainForm, set_fields
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.one_sequence import OneChain, checked_length, checked_states
from takifugu.model.beliefs.states import State
from takifugu.numbers.rationals import as_fraction


@dataclass(frozen=True, init=False)
class BinaryChainInterval(PlainForm, OneChain, kind="binary-chain-interval"):
    """All chains with P(stay in 0) and P(stay in 1) in [low, 1 - low], any initial distribution (Song17 §5).

    Max-influence over the whole class is known exactly: of all its chains `worst` reveals the most (proved in
    docs/theory/chain-classes.md). Raises InputError unless 0 <= low <= 1/2, and for other than two states.

    >>> BinaryChainInterval(0.2, length=100).worst.matrix.tolist()
    [[0.8, 0.2], [0.2, 0.8]]
    """

    low: float
    length: int
    states: tuple[State, ...] = field(default=(0, 1), metadata=VALUES)
    source: str = "assumed"

    def __init__(self, low: float, length: int, states: Iterable[State] = (0, 1), source: str = "assumed") -> None:
        if not 0 <= as_fraction(low, "low", "low") <= Fraction(1, 2):
            raise InputError(
                f"low is {low!r}", rule="the interval is [low, 1 - low]", fix="write a number from 0 to 1/2"
            ).at("low")
        set_fields(
            self, low=float(low), length=checked_length(length),
            states=checked_states(states, 2, "a chain of two states"), source=source,
        )  # fmt: skip

    @property
    def worst(self) -> MarkovChain:
        """Return the longest-staying chain, from any initial distribution."""
        stay, leave = 1 - self.low, self.low
        return MarkovChain([[stay, leave], [leave, stay]], self.length, "any", self.states, self.source)

    def contains(self, chain: MarkovChain) -> bool:
        """Return whether a chain lies in the class, up to 1e-9."""
        stays = chain.matrix.diagonal()
        holds_stays = bool(((stays >= self.low - 1e-9) & (stays <= 1 - self.low + 1e-9)).all())
        return chain.states == self.states and holds_stays

    def with_length(self, length: int) -> BinaryChainInterval:
        """Return the same class with another number of steps."""
        return BinaryChainInterval(self.low, length, self.states, self.source)

    def assumptions(self) -> tuple[str, ...]:
        return (
            f"the sequence is a Markov chain that stays in either state with a probability from {self.low:g} to "
            f"{1 - self.low:g}; its initial distribution is unknown",
            "its length is public",
        )

    def _described(self, length: str) -> str:
        return (
            f"every Markov chain over 2 states that stays with probabilities in [{self.low:g}, {1 - self.low:g}], "
            f"{length}unknown initial distribution ({self.source})"
        )
