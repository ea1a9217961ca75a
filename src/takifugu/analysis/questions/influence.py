"""The influence of a secret entry on others: which Markov quilts shield it, and what noise they need.

Noise of scale b hides an entry up to e(Q) + D(N)/b for each quilt Q of it with near set N (Song17 Theorem 4.3). Two
searches find quilts (with exact influence, with a proved bound on it). Each says what it costs and what the worst
secret needs, or why it cannot. Of networks and columns a third finds what several releases cost together; on sequences
no quilt costs less than the recursion (docs/theory/influence.md, Theorem 12).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from takifugu.analysis.bounds import Cost, Witness
from takifugu.analysis.problem import Part
from takifugu.core.arrays import IntArray
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Additive
from takifugu.numbers.rationals import float_above
from takifugu.numbers.runs import Runs


@dataclass(frozen=True, eq=False)
class Release:
    """Laplace noise on an answer, as one part reads it."""

    changes: IntArray  # the largest L1 changes by entry
    scale: Fraction  # in grid units
    answer: Additive | None = None  # what adds up, where it is known value by value
    together: Callable[[Iterable[int]], int] | None = None  # D(N), where it is less than the sum of the changes


Pairs = tuple[tuple[int, int], ...] | None


@dataclass(frozen=True, eq=False)
class Worst:
    """The scale, in grid units, that the worst secret of a component needs with its best quilt, and what forced it.

    `note` is what must be said of the search wherever its result is used.
    """

    scale: Fraction
    witness: Callable[[], Witness]
    note: str = ""


@dataclass(frozen=True, eq=False)
class Search:
    """A search for the quilts of one component; without a type of its own it finds none, for the `reason`."""

    part: Part
    reason: str = ""

    def cost(self, epsilon: Fraction) -> Cost:
        """Predict the work of `worst`."""
        return Cost(0.0)

    def worst(self, epsilon: Fraction) -> Worst:
        """Return the largest need over secret entries, by their best quilts.

        Raises Unsupported if no quilts are known.
        """
        raise Unsupported(self.reason)


def no_search(reason: str) -> Callable[[Part], Search]:
    """Return the search of a belief without quilts of some kind."""
    return lambda part: Search(part, reason)

_NO_QUILTS = no_search(
    "quilts are known for sequences (a MarkovChain, or independent pieces of one) and for a BayesianNetwork: "
    'use mechanism="wasserstein"'
)
_NO_BOUND = no_search(
    "the bound is known for Markov chains only (and independent pieces of them): use "
    'mechanism="wasserstein"'
)

#: The search of a belief whose entries are not parameters of columns.
about_columns = no_search(
    "the mechanism is about parameters that govern columns: it requires the belief Parameters(prior, columns, records)"
)


@dataclass(frozen=True)
class Quilts:
    """What a type of belief tells about quilts: two searches, and what releases cost together by them.

    `of_columns` says that the entries are parameters of columns, which is what D(N) is of then. Without a `joint_cost`
    quilts lower no loss.
    """

    exact: Callable[[Part], Search] = _NO_QUILTS
    bounded: Callable[[Part], Search] = _NO_BOUND
    joint_cost: Callable[[Part, Sequence[Release]], tuple[float, Witness]] | None = None
    of_columns: bool = False


def quilts(belief: Belief) -> Quilts:
    """Return the answer of a belief about quilts."""
    return QUILTS.of(belief)


def joint_cost(part: Part, releases: Sequence[Release]) -> tuple[float, Witness]:
    """Return the joint cost of Laplace releases on one part by quilts, at each transcript, rounded up."""
    # no quilt shields runs of entries
    by_quilts = quilts(part.belief).joint_cost if part.family.run == 1 else None
    return (by_quilts or _trivial_cost)(part, releases)


def _trivial_cost(part: Part, releases: Sequence[Release]) -> tuple[float, Witness]:
    """Return the joint cost by the trivial quilt, rounded up: all entries change."""
    total, is_infinite = Fraction(0), False
    for release in releases:
        each = Runs.of(release.changes)
        moved = sum(map(mul, each.values.tolist(), each.lengths.tolist()))  # beyond 64 bits, if it must be
        if release.scale:
            total += moved / Fraction(release.scale)
        else:
            is_infinite |= moved > 0
    cost = math.inf if is_infinite else float_above(total)
    return cost, Witness("any values against any others", "the near set is everything", (("cost", cost),))


_IN_A_CLIQUE = no_search(
    "in a clique everybody is close to everybody, so no quilt shields anyone, and the trivial one needs as much noise "
    'as mechanism="group-dp"; mechanism="laplace-exact" may need less'
)
CLIQUE = Quilts(_IN_A_CLIQUE, _IN_A_CLIQUE)

#: Quilts by type of belief.
QUILTS: Question[Quilts] = Question("what is known of quilts", Quilts())
