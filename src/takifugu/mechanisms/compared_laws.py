"""The two laws of every comparison of a problem, for mechanisms that calibrate to one comparison after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from takifugu.capabilities.answer_law import AnswerFamily
from takifugu.laws.pmf import Pmf
from takifugu.laws.transport import level_tolerance
from takifugu.mechanisms.answer_families import Located, located_families
from takifugu.problem import Problem


@dataclass(frozen=True, eq=False)
class Comparison:
    """The laws p and q of the answer given the two sides, in the units of the answer families.

    Both orders are meant. The true masses lie within a factor 1 +- `error` of those of p and q; 0 for exact laws.
    """

    p: Pmf
    q: Pmf
    error: float
    located: Located
    index: int

    @property
    def family(self) -> AnswerFamily:
        return self.located.family

    def describe(self) -> str:
        """Name the two sides."""
        return self.located.describe(self.family.compared[self.index])

    def budget(self, epsilon: Fraction) -> Fraction:
        """Return the epsilon that p and q must keep so that the true laws keep `epsilon`; it may be 0 or below."""
        return epsilon - 2 * Fraction(self.error) * (1 + Fraction(self.error))

    def share(self, delta: Fraction) -> Fraction:
        """Return the delta that p and q must keep at `budget(epsilon)` so that the true laws keep (epsilon, delta).

        (1 + r) A - e^epsilon (1 - r) B is at most (1 + r) (A - e^budget B).
        """
        return delta / (1 + Fraction(self.error))

    def certain_move(self) -> Fraction:
        """Return a number that no move from one true law to the other has to exceed."""
        return Fraction(self.family.moves(self.index)[-1])

    def pure_scale(self, epsilon: Fraction) -> Fraction:
        """Return W-infinity / epsilon, verified for rounded masses: the scale of the Wasserstein mechanism."""
        return self.family.wasserstein(self.index, epsilon)[1]


def compared_laws(problem: Problem, lines: bool = False) -> Iterator[Comparison]:
    """Yield every comparison of a problem, in order and lazily; for `lines` see `located_families`.

    Raises Unsupported where a belief or the query has no law of the answer.
    """
    for located in located_families(problem, lines):
        family = located.family
        for index, (a, i, b, j) in enumerate(family.compared):
            p, q = family.hulls[a][i], family.hulls[b][j]
            rounded = 2 * family.relative_error + level_tolerance(p, q)
            exact = not family.relative_error and p.exact and q.exact
            yield Comparison(p, q, 0.0 if exact else rounded, located, index)
