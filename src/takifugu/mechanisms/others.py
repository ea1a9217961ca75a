"""The laws of what other independent components add beside one of them, all of them or a part, at any size.

Let the answer be F = F_i + R + L over independent components: the component i that holds a secret, a part R of the
others, and the rest L.

Claim 1 (a part is enough). Noise Z that keeps (epsilon, delta) for F_i + R + Z keeps it for F + Z, and the least such
noise never grows when R does.
Proof. L is independent of the secret, of F_i, R and Z. So for every set S, a value a of the secret and the laws p_l of
L:  P(F + Z in S | a) = sum over l of p_l P(F_i + R + Z in S - l | a) <= sum over l of p_l (e^epsilon P(F_i + R + Z in
S - l | b) + delta) = e^epsilon P(F + Z in S | b) + delta. The second half is the first with L split in two. QED

Claim 2 (who knows some of them). Someone who knows all that the components of a set K add is told the answer less a
constant: for them the others are those outside K. By claim 1 their loss never falls when K grows, so what is lost to
someone who knows m of the others is at most the loss with any part that is left whichever m they are.

Claim 3 (any initial distribution). Let every law that another component may have be a mixture of its corners: one law
for each first state. With the laws of all else held fixed, P(F + Z in S | a) - e^epsilon P(F + Z in S | b) is linear
in the law of that component, and the ratio of two densities of F + Z is a quotient of two linear functions of it: both
are largest at a corner. One component after the other: largest where each has a corner, and of components alike only
the number at each corner matters. This is about the others: of the component that holds the secret, mixtures may be
worse than all corners (`answer_laws.minimax_start`), because the initial law changes what is learnt from a and b.

Claim 4 (spare mass). Let E be an event of the others alone, of probability at least 1 - t. Noise that keeps (epsilon,
delta - t) where the others have their law given E keeps (epsilon, delta). Proof. P(F + Z in S | a) <= t + P(E) P(F + Z
in S | a, E) <= t + P(E) (e^epsilon P(F + Z in S | b, E) + delta - t) <= e^epsilon P(F + Z in S | b) + delta, because E
is independent of the secret. QED So for normal noise the law of a long sum needs its middle only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from takifugu.beliefs import Belief, separate
from takifugu.capabilities.answer_law import answer_law
from takifugu.capabilities.marginal import marginal
from takifugu.errors import Unsupported
from takifugu.kept import kept
from takifugu.laws.extended.floats import UNIT, Wide, add, as_law, times
from takifugu.laws.extended.leave_one_out import Weights, binary, joined
from takifugu.laws.pmf import Pmf
from takifugu.mechanisms.smoothing import placed
from takifugu.problem import Part
from takifugu.queries import Additive
from takifugu.secrets import Family

#: A sum of components is made in at most so many steps: their number halves at each.
LEVELS = 64
#: For the predicted work: how many deviations about its mean a sum keeps where mass is spared, and of how many kinds
#: the deviations are looked up.
DEVIATIONS, FEW_KINDS = 10.0, 32
#: How many of each kind of component.
Counts = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Kind:
    """Components alike: how many there are, how far one's share may range, and how to find the corners of its laws.

    `starts` is how many corners there are at most. The laws are found when they are used.
    """

    count: int
    span: int
    starts: int
    find: Callable[[], tuple[tuple[Pmf, ...], float]]

    @cached_property
    def corners(self) -> tuple[tuple[Pmf, ...], float]:
        """The laws, none where they are not known, and the error of their masses."""
        try:
            return self.find()
        except Unsupported:
            return (), 0.0

    @cached_property
    def deviation(self) -> float:
        """The largest standard deviation of a corner."""
        return max((_deviation(law) for law in self.corners[0]), default=0.0)


@dataclass(frozen=True, eq=False)
class Others:
    """The components of one belief by kind, those of which there are most first; the kind of each by its first entry.

    Components of which the law is not known are left out of every part; all distances of answers are multiples of
    `step`.
    """

    kinds: tuple[Kind, ...]
    kind_at: dict[int, int]
    step: int

    def beside(self, start: int) -> Counts:
        """Return how many of each kind there are beside the component that begins at entry `start`."""
        own = self.kind_at.get(start)
        return tuple(kind.count - (number == own) for number, kind in enumerate(self.kinds))

    def part(self, there: Counts, size: int) -> Counts:
        """Return the first `size` of the components that are there."""
        used = []
        for count in there:
            used.append(min(count, size))
            size -= used[-1]
        return tuple(used)

    def width(self, counts: Counts, spare: float = 0.0) -> float:
        """Return about how many places their sum has: all for no spare mass, else those near its mean."""
        used = [(n, kind) for n, kind in zip(counts, self.kinds, strict=True) if n]
        full = 1.0 + sum(n * kind.span for n, kind in used) / self.step
        if not spare:
            return full
        exact = len(used) <= FEW_KINDS
        variance = sum(n * (kind.deviation if exact else kind.span / 2) ** 2 for n, kind in used)
        widest = max((kind.span for _, kind in used), default=0)
        return min(full, 1.0 + 2 * (DEVIATIONS * math.sqrt(variance) + widest) / self.step)

    def ways(self, counts: Counts) -> int:
        """Return how many laws `sums` yields, at most."""
        pairs = zip(counts, self.kinds, strict=True)
        return math.prod(math.comb(n + kind.starts - 1, n) for n, kind in pairs)

    def sums(self, counts: Counts, spare: float = 0.0) -> Iterator[Weights]:
        """Yield the law of their sum, for each way in which components may have their corners.

        It is conditional on an event of probability at least 1 - `spare`, which depends on them alone: places far out
        are left out at every step, for a sum of m components with at most its share of the spare mass.
        """
        each = spare / (LEVELS * max(1, sum(counts)))
        pairs = zip(counts, self.kinds, strict=True)
        several = [list(_shares_of(n, len(kind.corners[0]))) if n else [()] for n, kind in pairs]
        for chosen in product(*several):
            parts = [
                (count, self._power(number, corner, count, each))
                for number, at in enumerate(chosen) for corner, count in enumerate(at) if count
            ]  # fmt: skip
            while len(parts) > 1:
                parts = [self._together(parts[i : i + 2], each) for i in range(0, len(parts), 2)]
            yield parts[0][1] if parts else _NOTHING

    def _together(self, parts: Sequence[tuple[int, Weights]], each: float) -> tuple[int, Weights]:
        if len(parts) == 1:
            return parts[0]
        (m, first), (n, second) = parts
        return m + n, _cut(joined(first, second), (m + n) * each, self.step)

    def _power(self, number: int, corner: int, count: int, each: float) -> Weights:
        """Return the law of the sum of `count` >= 1 components with one corner; halves are kept."""

        def found() -> Weights:
            if count == 1:
                laws, error = self.kinds[number].corners
                weights = Weights.of(laws[corner], self.step)
                return Weights(weights.start, weights.numbers, weights.error + error * (1 + weights.error))
            half = self._power(number, corner, count // 2, each)
            whole = joined(half, half)
            if count % 2:
                whole = joined(whole, self._power(number, corner, 1, each))
            return _cut(whole, count * each, self.step)

        return kept(self, ("power", number, corner, count, each), found)


_NOTHING = Weights(0, Wide.of(np.ones(1)), 0.0)


def _cut(weights: Weights, mass: float, step: int) -> Weights:
    """Return a law without its ends, which have at most this mass in all."""
    if not mass:
        return weights
    held = weights.numbers.floats(0) * (1 + 2 * weights.error) + 1e-300  # more than what underflows
    first = int(np.searchsorted(np.cumsum(held), 0.499 * mass))
    last = len(held) - int(np.searchsorted(np.cumsum(held[::-1]), 0.499 * mass))
    return Weights(weights.start + first * step, weights.numbers[first:last], weights.error)


def others_of(belief: Belief, answer: Additive) -> Others:
    """Return the components of a belief by kind, and what each adds to a scalar answer; kept with the answer.

    >>> from takifugu import Count, IndependentPieces, MarkovChain
    >>> pieces = IndependentPieces(MarkovChain([[0.9, 0.1], [0.4, 0.6]], 3), [3, 1, 1])
    >>> others = others_of(pieces, Count(1).resolve(pieces))
    >>> others.beside(3), [kind.span for kind in others.kinds], [len(kind.corners[0][0]) for kind in others.kinds]
    ((1, 1), [1, 3], [2, 4])
    """
    known = kept(answer, Others, dict[int, tuple[Belief, Others]])
    if id(belief) not in known:
        known.clear()
        known[id(belief)] = belief, (_of_users if separate(belief) else _of_components)(belief, answer)
    return known[id(belief)][1]


def _of_components(belief: Belief, answer: Additive) -> Others:
    found: dict[Any, list[int]] = {}
    shares: dict[Any, tuple[Belief, Additive]] = {}
    for number, run in enumerate(belief.components()):
        piece, share = belief.component(number), answer.restrict(slice(run.start, run.stop))
        key = (id(piece), share.key)
        shares.setdefault(key, (piece, share))
        found.setdefault(key, []).append(run.start)
    kinds = []
    for key, starts in found.items():
        piece, share = shares[key]
        kind = Kind(len(starts), share.cell_ranges()[0], marginal(piece).starts, partial(corners, piece, share))
        kinds.append((kind, starts))
    return _ordered(kinds, answer)


def _of_users(belief: Belief, answer: Additive) -> Others:
    users = answer_law(Part(belief, answer, Family(()))).users  # type: ignore[attr-defined]
    of_sort: list[list[int]] = [[] for _ in users.contributions]
    for user, sort in enumerate(users.sort_of.tolist()):
        of_sort[sort].append(user)
    kinds = []
    for share, held in zip(users.contributions, of_sort, strict=True):
        low, high = share.law.support_range
        kinds.append((Kind(len(held), int(high) - int(low), 1, partial(_given, share.law)), held))
    return _ordered(kinds, answer)


def _given(law: Pmf) -> tuple[tuple[Pmf, ...], float]:
    return (law,), 0.0


def _ordered(kinds: list[tuple[Kind, list[int]]], answer: Additive) -> Others:
    ordered = sorted(kinds, key=lambda pair: -pair[0].count)
    kind_at = {start: number for number, (_, starts) in enumerate(ordered) for start in starts}
    return Others(tuple(kind for kind, _ in ordered), kind_at, _step(answer))


def _step(answer: Additive) -> int:
    """Return the largest number of which every change of a scalar answer is a multiple."""
    gaps = np.array([int(np.gcd.reduce(np.diff(np.unique(table)), initial=0)) for table in answer.tables])
    which = np.zeros(answer.size, dtype=np.int64) if answer.table_of is None else answer.table_of
    return int(np.gcd.reduce(gaps[which] * answer.weights, initial=0)) or 1


def corners(piece: Belief, share: Additive) -> tuple[tuple[Pmf, ...], float]:
    """Return laws of which each that one component's share may have is a mixture, and the error of their masses.

    Raises Unsupported where the belief does not tell them.

    >>> from takifugu import Count, MarkovChain
    >>> chain = MarkovChain([[0.75, 0.25], [0.5, 0.5]], 2, initial="any")
    >>> [dict(law.items()) for law in corners(chain, Count(1).resolve(chain))[0]]
    [{0: 0.75, 1: 0.25}, {1: 0.5, 2: 0.5}]
    """
    free = next((i for i in range(piece.size) if sum(piece.possible(i)) > 1), None)
    if free is None:
        read = [int(i) for i in np.flatnonzero(share.weights)]  # an entry that is not read has no table of its own
        return (Pmf([sum(int(share.contribution(i)[piece.possible(i).index(True), 0]) for i in read)], [1]),), 0.0
    entry, several, error = marginal(piece).corners(free)
    family = next(answer_law(Part(piece, share, Family((entry,)))).families())
    if any(len(hull) > 1 for hull in family.hulls.values()):
        raise Unsupported("what a component adds has no single distribution given an entry")
    hulls = {value: hull[0] for value, hull in family.hulls.items()}
    laws: dict[Any, Pmf] = {}
    for chances in several:
        held = [value for value in hulls if chances[value]]
        law = hulls[held[0]] if len(held) == 1 else _mixed([(chances[v], hulls[v]) for v in held])
        laws.setdefault((tuple(law.values.tolist()), tuple(law.probabilities.tolist())), law)
    return tuple(laws.values()), 2.02 * (2 * family.relative_error + error + 64 * UNIT)


def _mixed(parts: Sequence[tuple[Fraction, Pmf]]) -> Pmf:
    """Return the mixture of laws on whole numbers; masses keep their relative accuracy, however small."""
    values = np.unique(np.concatenate([law.values for _, law in parts]))
    step = max(1, int(np.gcd.reduce(np.diff(values), initial=0)))
    start, size = int(values[0]), 1 + int(values[-1] - values[0]) // step
    total: Wide | None = None
    for chance, law in parts:
        weights = Weights.of(law, step)
        place = (weights.start - start) // step
        row = placed(times(weights.numbers, *binary(chance.numerator, chance.denominator)), place, size)
        total = row if total is None else add(total, row)
    assert total is not None
    return as_law(total, start, step)


def _shares_of(count: int, corners: int) -> Iterator[Counts]:
    """Yield every way to give `count` components one of so many corners each, as numbers of each.

    >>> list(_shares_of(2, 2))
    [(2, 0), (1, 1), (0, 2)]
    """
    for bars in combinations_with_replacement(range(corners), count) if corners > 1 else ((0,) * count,):
        yield tuple(bars.count(corner) for corner in range(corners))


def _deviation(law: Pmf) -> float:
    values, chances = law.values.astype(float), law.probabilities
    mean = float((values * chances).sum())
    return math.sqrt(max(float(((values - mean) ** 2 * chances).sum()), 0.0))
