"""What releases about pieces of one recording cost together where it is not declared where each of them starts.

Theorem (docs/theory/composition.md). Let X be a recording, a chain, of which release k reads a run of steps, placed
anywhere, with Laplace noise of scale b_k, and W_k(n) the largest D_k of n steps in a row. For a secret about X_p and
nodes X_{p-a}, X_{p+b} of the *recording* the near set has n = a + b - 1 steps in a row, so the loss is at most

    min over a, b of e(a, b) + sum_k W_k(a + b - 1)/b_k,      or  sum_k W_k(infinity)/b_k  without any node,

wherever each release starts. A stationary chain is a run of a longer one on both sides, so every p has every pair of
nodes; one node alone leaves an unbounded near set, which is never better than no node. Where the recording may start
anew before any step, e(a, b) is the largest for any law of X_{p-a}; a position without a node before it costs no more.
Where matrices repeat after a period, e(a, b) is the largest over the phases of p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from takifugu.capabilities.influence import Influence
from takifugu.laws.log_ratios import NEVER, FloatArray
from takifugu.laws.rationals import float_above
from takifugu.problem import Witness
from takifugu.queries import IntArray
from takifugu.quilts.chain.influence import ChainInfluence
from takifugu.quilts.chain.sides import FIRST_REACH
from takifugu.quilts.near_sets import RunningChange

#: Relative slack between a cost in floats and the exact one: many times what a sum of three rounded numbers can miss.
SLACK = 1e-12
#: Farther than any node is looked for.
FAR = 2**40


@dataclass(frozen=True, eq=False)
class Profile:
    """What n steps in a row of some releases cost at most, wherever the releases start: `steps(n)` times `unit`.

    `runs` are running sums of what each step costs, one for each sequence that may lie in the recording.
    """

    runs: tuple[IntArray, ...]
    unit: Fraction

    @staticmethod
    def of(changes: Sequence[RunningChange]) -> Profile:
        """Return the profile of sequences of which one recording holds one at most, all in the same unit."""
        return Profile(tuple(change.sums for change in changes), changes[0].unit)

    def steps(self, length: int) -> int:
        """Return the most that `length` entries in a row cost."""
        return max(
            int(sums[-1]) if length >= len(sums) - 1 else int((sums[length:] - sums[:-length]).max())
            for sums in self.runs
        )

    @property
    def total(self) -> int:
        return max(int(sums[-1]) for sums in self.runs)


@dataclass(frozen=True, eq=False)
class Windows:
    """All profiles of a set of releases, and the least that is known of the cost of everything at once."""

    profiles: tuple[Profile, ...]
    total: Fraction
    _known: dict[int, float] = field(default_factory=dict, repr=False)

    def exact(self, length: int) -> Fraction:
        """Return sum_k W_k(length)/b_k."""
        return min(sum((p.steps(length) * p.unit for p in self.profiles), Fraction(0)), self.total)

    def cost(self, length: int) -> float:
        """Return the same, rounded up."""
        if length not in self._known:
            self._known[length] = float_above(self.exact(length))
        return self._known[length]


@dataclass(frozen=True, eq=False)
class _Best:
    """For each pair of values the least cost found, the influence of its nodes, and the near set's length.

    The length is 0 where the near set is everything.
    """

    cost: FloatArray
    influence: FloatArray
    length: IntArray

    def take(self, cost: FloatArray, influence: FloatArray, length: int) -> None:
        better = cost < self.cost
        self.cost[better], self.influence[better], self.length[better] = cost[better], influence[better], length


def shifted_cost(influence: Influence, windows: Windows) -> tuple[Fraction, Witness]:
    """Return the largest over positions and ordered pairs of values of the least cost over quilts, rounded up.

    `influence` must depend on distances and phases alone: not on a start, which says where the recording starts.

    >>> from takifugu import MarkovChain
    >>> from takifugu.quilts.chain.influence import chain_influence
    >>> counts = Profile.of([RunningChange(np.ones(168, dtype=np.int64), Fraction(1, 24))])
    >>> chain = chain_influence(MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=168))
    >>> round(float(shifted_cost(chain, Windows((counts,), Fraction(7)))[0]), 6)
    0.611079
    """
    worst, found = Fraction(0), 0
    for phase in range(influence.period if isinstance(influence, ChainInfluence) else 1):
        best = _search(influence, windows, phase, float(worst))
        top = float(best.cost.max(initial=0.0))
        for number in np.flatnonzero(best.cost >= top * (1 - SLACK)).tolist():
            length = int(best.length[number])
            cost = windows.total if length == 0 else Fraction(best.influence[number]) + windows.exact(length)
            if cost > worst:
                worst, found = cost, length
    near = "everything" if found == 0 else f"{found} steps in a row, where each release moves most"
    return worst, Witness("one step of the recording", f"near set: {near}", (("cost", float_above(worst)),))


def _search(influence: Influence, windows: Windows, entry: int, floor: float) -> _Best:
    """Return the best quilts for all positions of the phase of an entry; those that cost at most `floor` will do."""
    pairs = np.flatnonzero(influence.alive(entry))
    none = np.zeros(len(pairs))
    best = _Best(np.full(len(pairs), float_above(windows.total)), none, none.astype(np.int64))
    length, reach = 0, 0
    left = right = np.empty((0, len(pairs)))
    while best.cost.max(initial=0.0) > floor:
        length += 1
        if length > reach and not (length > 1 and influence.reach < length - 1):
            influence.extend(max(length, min(2 * reach, FAR), FIRST_REACH))
            reach = influence.reach
            left = _upper(influence.left(entry, reach), pairs)
            right = _upper(influence.right(reach, entry), pairs)
        moved = windows.cost(length)
        if moved >= best.cost.max():
            break
        low, high = max(1, length + 1 - len(right)), min(length, len(left))
        if low <= high:
            sums = left[low - 1 : high] + right[length - high : length - low + 1][::-1]
            _take(best, sums.min(axis=0), moved, length)
        if length >= len(left) + len(right):
            break
    return best


def _take(best: _Best, influence: FloatArray, moved: float, length: int) -> None:
    upper = np.maximum(np.nextafter(influence, np.inf), 0.0)
    best.take(np.where(upper > NEVER / 2, np.inf, np.nextafter(upper + moved, np.inf)), upper, length)


def _upper(rows: FloatArray, pairs: IntArray) -> FloatArray:
    return rows if len(pairs) == rows.shape[1] else rows[:, pairs]
