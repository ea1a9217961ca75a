"""Two laws of the answer that nobody may tell apart, in either order: how far apart they are, and which noise hides it.

Where a belief is a class of laws a comparison may stand for many pairs of laws at once (`answer_law`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.outward_rounding import log_ratio_error
from takifugu.numbers.rationals import round_up
from takifugu.numbers.search import smallest_noise
from takifugu.numbers.transport.on_the_line import level_tolerance

Move = int | float | Fraction
#: The index of a value, and the number of a law in the value's hull.
LawIndex = tuple[int, int]
Loss = Callable[[Fraction], float]


@dataclass(frozen=True, eq=False)
class TwoLaws:
    """The laws p and q of the answer given two hypotheses."""

    p: Pmf
    q: Pmf
    #: The true masses lie within a factor 1 +- this; 0 for exact laws.
    error: float

    def budget(self, epsilon: Fraction) -> Fraction:
        """Return the epsilon left for p and q; it may be negative."""
        return epsilon - log_ratio_error(Fraction(self.error))

    def share(self, delta: Fraction) -> Fraction:
        """Return the delta left for p and q at `budget(epsilon)`."""
        # (1 + r) A - e^epsilon (1 - r) B is at most (1 + r) (A - e^budget B)
        return delta / (1 + Fraction(self.error))


@dataclass(frozen=True, eq=False)
class Compared:
    """Two hypotheses about an entry, and what is known of the laws of the answer given them, in grid units."""

    #: Of two given laws in answer units. All numbers allow for the rounding of masses.
    left: LawIndex
    right: LawIndex
    #: No move exceeds it.
    reach: int | Fraction
    #: Bounds sup abs log A/B after Laplace noise of a scale, 0 for none.
    loss: Loss
    #: Increasing proposals for W-infinity, the last of them certain.
    moves: Callable[[], Sequence[Move]]
    #: Raises Unsupported where only bounds are known.
    laws: Callable[[], TwoLaws]
    #: Certainly keeps the loss within an epsilon.
    smallest_scale: Callable[[Fraction], Fraction]
    #: W-infinity w or a bound of it, and the scale w/epsilon.
    wasserstein: Callable[[Fraction], tuple[Move, Fraction]]


class AnswerFamily(Protocol):
    """What is compared about one entry, and the laws of the answer given each of its values."""

    @property
    def entry(self) -> int: ...

    @property
    def compared(self) -> Sequence[Compared]: ...

    @property
    def hulls(self) -> Mapping[int, tuple[Pmf, ...]]: ...

    @property
    def relative_error(self) -> float: ...

    @property
    def whole(self) -> bool: ...

    @property
    def alone(self) -> AnswerFamily | None: ...

    def losses(self, scale: Fraction) -> Sequence[float]:
        """Return the loss of each comparison."""
        ...


@dataclass(frozen=True, eq=False)
class BoundedFamily:
    """Comparisons that are bounded without their laws; `laws()` makes these where somebody asks for them."""

    entry: int
    compared: Sequence[Compared]
    laws: Callable[[], AnswerFamily]
    whole: bool = False
    alone: AnswerFamily | None = None

    @property
    def hulls(self) -> Mapping[int, tuple[Pmf, ...]]:
        return self.laws().hulls

    @property
    def relative_error(self) -> float:
        return self.laws().relative_error

    def losses(self, scale: Fraction) -> list[float]:
        return [compared.loss(scale) for compared in self.compared]


def unordered(
    pairs: Iterable[tuple[int, int]], sizes: Mapping[int, int]
) -> tuple[tuple[LawIndex, LawIndex], ...]:
    """Return the unordered pairs of laws; `sizes` are those of the values' hulls."""
    values = dict.fromkeys((min(pair), max(pair)) for pair in pairs)
    return tuple(((a, i), (b, j)) for a, b in values for i in range(sizes[a]) for j in range(sizes[b]))


def laws_of(family: AnswerFamily, left: LawIndex, right: LawIndex) -> TwoLaws:
    """Return two laws of a family, and how far they and their levels may be off."""
    hulls, known = family.hulls, family.relative_error
    p, q = (hulls[value][number] for value, number in (left, right))
    is_exact = not known and p.exact and q.exact
    return TwoLaws(p, q, 0.0 if is_exact else 2 * known + level_tolerance(p, q))


def least_scale(loss: Loss, farthest: int | Fraction, epsilon: Fraction) -> Fraction:
    """Return a scale certain to keep the loss within epsilon, at most 2**-36 above the smallest one."""
    # `farthest` certainly is W-infinity or more; what is below a 2**-40th of this is not tried
    proven = Fraction(farthest) / epsilon
    return smallest_noise(loss, epsilon, proven, proven / 2**40) if proven else proven


def bounded(
    sides: tuple[LawIndex, LawIndex],
    reach: int | Fraction,
    loss: Loss,
    laws: Callable[[], TwoLaws],
    smallest_scale: Callable[[Fraction], Fraction],
    moves: Callable[[], Sequence[Move]] | None = None,
) -> Compared:
    """Return a comparison whose proposed moves w are tried: the first stands whose w/epsilon keeps epsilon."""
    proposals = moves or (lambda: (reach,))

    def wasserstein(epsilon: Fraction) -> tuple[Move, Fraction]:
        # the last one needs no trial
        *proposed, certain = proposals()
        for move in proposed:
            scale = round_up(Fraction(move) / epsilon)
            if scale and loss(scale) <= epsilon:
                return move, scale
        return certain, round_up(Fraction(certain) / epsilon)

    return Compared(*sides, reach, loss, proposals, laws, smallest_scale, wasserstein)
