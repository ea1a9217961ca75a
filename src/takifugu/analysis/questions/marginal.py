"""The probability of each value of an entry, as rationals: what the law of a whole component is mixed from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.numbers.atoms import Array, Floats
from takifugu.numbers.outward_rounding import TRUSTED

B = TypeVar("B", bound=Belief, covariant=True)


@dataclass(frozen=True, eq=False)
class Marginal(Generic[B]):
    """What one type of belief tells of an entry by itself: by default nothing."""

    belief: B

    @property
    def known(self) -> bool:
        """Whether each entry has one law."""
        return False

    def of(self, entry: int) -> tuple[list[Fraction], float]:
        """Return an entry's probabilities, within a factor of 1 +- error.

        Raises Unsupported where they are unknown.
        """
        raise Unsupported(
            f"the distribution of what {self.belief.describe()} adds is not known", fix="use additive noise"
        )


def trusted(masses: Floats, possible: Array) -> list[Fraction]:
    """Return float masses as fractions; raises Unsupported where a possible one may have lost digits."""
    if (possible & (masses < TRUSTED)).any():
        raise Unsupported(
            "a value has a probability below 1e-270, too small for the distribution of what independent "
            "components add",
            fix='use additive noise, mechanism="laplace-exact"',
        )
    return list(map(Fraction, masses.tolist()))


def marginal(belief: Belief) -> Marginal[Belief]:
    """Return the laws of single entries under a belief."""
    return MARGINAL.of(belief)(belief)


MARGINAL: Question[type[Marginal[Belief]]] = Question("the distribution of an entry", Marginal)
