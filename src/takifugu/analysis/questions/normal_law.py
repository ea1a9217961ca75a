"""The normal laws of an answer under the hypotheses of a secret: can a belief tell them, and which are they?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from takifugu.analysis.problem import Part
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.queries.answer import Additive
from takifugu.model.secrets.families import Family
from takifugu.numbers.normal.comparisons import NormalComparison, Shifted
from takifugu.numbers.normal.matrices import Vector

B = TypeVar("B", bound=Belief, covariant=True)


@dataclass(frozen=True)
class ComparedNormals:
    """Two normal laws of the answer, or mixtures of them, that nobody may tell apart either way, in answer units."""

    laws: NormalComparison
    #: Names the two hypotheses, and the secret.
    comparison: str
    about: str


@dataclass(frozen=True, eq=False)
class NormalLaw(Generic[B]):
    """What one type of belief tells about normal laws of an answer; `reason` says why nothing, empty where it does."""

    belief: B
    answer: object
    family: Family
    reason: str = ""

    def comparisons(self) -> Iterator[ComparedNormals]:
        """Yield every unordered comparison of the family; raises Unsupported where the answer is not normal."""
        raise Unsupported(self.reason)

    def work(self) -> float:
        """Return the predicted operations of a look at every comparison."""
        return 0.0


def normal_law(share: Part) -> NormalLaw[Belief]:
    """Return a share's normal laws, or the reason why it has none."""
    make = NORMAL_LAW.of(share.belief)
    return cached(share, make, lambda: make(share.belief, share.answer, share.family))


def apart(moves: Vector) -> Shifted:
    """Return two certain answers whose cells are these moves apart."""
    nothing = (Fraction(0),) * len(moves)
    return Shifted(moves, (nothing,) * len(moves))


def _not_normal(belief: Belief, answer: Additive, family: Family) -> NormalLaw[Belief]:
    return NormalLaw(
        belief, answer, family,
        f"under {belief.describe()} the answer is not normal, which this mechanism requires: take a MultivariateNormal "
        'belief, or mechanism="gaussian-exact" or "wasserstein"',
    )  # fmt: skip


def deviation_up(variance: Fraction) -> Fraction:
    """Return the root of `variance`, rounded up by <= 2**-50 relative."""
    if not variance:
        return Fraction(0)
    scale = Fraction(4) ** ((variance.numerator.bit_length() - variance.denominator.bit_length()) // 2)
    root = Fraction(float(variance / scale) ** 0.5)
    while root * root * scale < variance:
        root *= 1 + Fraction(1, 2**52)
    return root * Fraction(2) ** ((variance.numerator.bit_length() - variance.denominator.bit_length()) // 2)


#: (belief, answer, family) -> NormalLaw, by type of belief.
NORMAL_LAW: Question[Callable[[Belief, Additive, Family], NormalLaw[Belief]]] = Question(
    "the normal distribution of the answer", _not_normal
)
