"""Laws of a scalar answer given one of many independent users' states, and what Laplace noise needs to hide it.

The answer is c(X_v) + R: user v's contribution and the sum R of all others', which is independent of it. Given
X_v = a the answer is c_a + R; given that v is removed, R; given that v's value is unknown, C + R, where C has the law p
of v's contribution (000 Appendix A). For Laplace noise of scale b let loss be the largest log-ratio.

*Two states with one contribution each, c apart*: loss = |c|/b exactly, whatever the others do. At most: it is so
without R, and adding R is post-processing. At least: beyond all atoms the density of R + noise is K e^{-y/b} on the
right, so there the ratio of the two shifts of it is e^{c/b} (and e^{-c/b} on the left). W-infinity is |c|: the shift is
a plan, and the means differ by c. So the smallest scale is |c|/epsilon, and no law of the others is needed (000
eq. 13; signs as in 000 §3.4.1: x - x' = f_v(a) - f_v(b)).

*The value a against an unknown value*: without R the log-ratios, extreme at atoms, are
    at y = c_a:             -log E e^{-|C - c_a|/b},
    beyond the last atom:   log E e^{(C - c_a)/b}  and its negative,   and the same with signs changed before the first
(|y - c_a| <= |y - c| + |c - c_a|, so the first is the largest of a over p; |y - c_a| - |y - c| grows with y > c_a and
falls with y < c_a, so p over a is largest outside). Those outside are the same with R; if c_a is the least or the
largest contribution the first is one of them. So only for a value strictly inside does R help, and there the smallest
scale is found from the law of R. W-infinity is max |C - c_a| with and without R: the distance of the highest, or of the
lowest, atoms.

Where the law of R would take too much work, laws of v's contribution alone stand for those of the answer: noise that
hides the one hides the other, because R is independent and added later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from takifugu.answers.dense import Compared, DenseFamily, compared
from takifugu.answers.listed import ListedFamily
from takifugu.answers.search import smallest_scale
from takifugu.answers.sums import ROUNDED, Sums, Weights, joined
from takifugu.answers.wide import LOWEST, UNIT, Wide, stack
from takifugu.beliefs.users import IndependentUsers, UserLaw
from takifugu.laws.pmf import Pmf
from takifugu.laws.rationals import round_up
from takifugu.queries import Additive
from takifugu.secrets import Family, absent_index

FloatArray = npt.NDArray[np.float64]

#: Most multiplications for all laws of the answer, and for the search among them; beyond, contributions stand alone.
MOST_WORK, MOST_SEARCH = 4e9, 1e10
#: Exact masses are kept up to this many places and binary digits of a mass.
FEW_PLACES, FEW_DIGITS = 512, 4096
#: Laplace scales this far below the reach over epsilon are not looked for.
_LEAST = Fraction(1, 2**40)


@dataclass(frozen=True, eq=False)
class Contribution:
    """What one user adds to the answer: `states[i]` for its i-th value, `law` on average; all in grid units."""

    states: tuple[int, ...]
    law: Pmf

    @cached_property
    def log_law(self) -> tuple[FloatArray, FloatArray]:
        """The atoms and the logarithms of their masses, however small these are."""
        atoms = self.law.values.astype(np.float64)
        if self.law.total is None:
            return atoms, np.log(self.law.masses)
        whole = math.log(self.law.total)
        return atoms, np.array([math.log(int(m)) - whole for m in self.law.masses.tolist()])


@dataclass(frozen=True, eq=False)
class UserFamily:
    """The laws of the answer given each state of one user; losses and moves are known without them (see above).

    `hulls` are laws of the whole answer where `whole`, else of the user's contribution alone: enough for any noise that
    is added to the answer, and for nothing else.
    """

    entry: int
    pairs: tuple[tuple[int, int], ...]
    share: Contribution
    unknown: int | None
    full: Callable[[], DenseFamily | ListedFamily] | None
    refines: bool

    @property
    def whole(self) -> bool:
        return self.full is not None

    @cached_property
    def compared(self) -> tuple[Compared, ...]:
        """Return (a, 0, b, 0), once for every unordered pair of values."""
        return compared(self.pairs, dict.fromkeys(sum(self.pairs, ()), 1))

    @property
    def laws(self) -> DenseFamily | ListedFamily:
        """The family of the laws themselves, listed or dense."""
        return self.alone if self.full is None else self.full()

    @property
    def relative_error(self) -> float:
        return self.laws.relative_error

    @property
    def hulls(self) -> Mapping[int, tuple[Pmf, ...]]:
        return self.laws.hulls

    @cached_property
    def alone(self) -> ListedFamily:
        """The laws of the user's contribution."""
        given = {v: self.share.law if v == self.unknown else self._point(v) for v in sorted({*sum(self.pairs, ())})}
        rounded = 0.0 if self.share.law.exact else ROUNDED
        return ListedFamily(self.entry, self.pairs, {v: (law,) for v, law in given.items()}, rounded)

    def reach(self, index: int) -> int:
        """Return W-infinity of one comparison: how far the user's change moves the answer."""
        state, unknown = self._sides(index)
        if not unknown:
            return abs(state[0] - state[1])
        low, high = (int(v) for v in self.share.law.support_range)
        return max(high - state[0], state[0] - low)

    def moves(self, index: int) -> tuple[int, ...]:
        """Return W-infinity, which is certain."""
        return (self.reach(index),)

    def wasserstein(self, index: int, epsilon: Fraction) -> tuple[int, Fraction]:
        """Return W-infinity and the scale W-infinity / epsilon."""
        return self.reach(index), round_up(self.reach(index) / epsilon)

    def losses(self, scale: Fraction) -> list[float]:
        """Return, for each of `compared`, an upper bound on sup |log A/B| after Laplace noise; scale 0 is no noise.

        Exact but for rounding, except for a value strictly inside against an unknown value, where the others help.
        """
        return [self._loss(index, scale) for index in range(len(self.compared))]

    def smallest_scale(self, index: int, epsilon: Fraction) -> Fraction:
        """Return the smallest Laplace scale that keeps the log-ratio within epsilon, at most 2**-34 above it.

        Where the others help and their law is too much work: the smallest by the user's contribution alone.
        """
        proven = Fraction(self.reach(index)) / epsilon
        if not proven or not self._sides(index)[1]:
            return proven
        scale = smallest_scale(lambda b: self._loss(index, b), proven, proven * _LEAST, epsilon)
        if self.full is None or not self.refines or not scale:
            return scale
        just_below = scale * (1 - Fraction(1, 2**34))
        if self._outside(index, just_below) > epsilon:
            return scale
        return min(scale, self.full().smallest_scale(index, epsilon))

    def _loss(self, index: int, scale: Fraction) -> float:
        reach = self.reach(index)
        if not reach:
            return 0.0
        if not scale:
            return math.inf
        if not self._sides(index)[1]:
            ratio = float(reach / scale)
            return ratio if Fraction(ratio) >= reach / scale else math.nextafter(ratio, math.inf)
        return max(self._outside(index, scale), self._inside(index, scale)) + self._rounding(reach / scale)

    def _inside(self, index: int, scale: Fraction) -> float:
        """Return -log E e^{-|C - c_a|/b}."""
        atoms, logs = self.share.log_law
        return -_log_sum(logs - np.abs(atoms - self._sides(index)[0][0]) / float(scale))

    def _outside(self, index: int, scale: Fraction) -> float:
        """Return the largest |log-ratio| beyond all atoms."""
        atoms, logs = self.share.log_law
        moved = (atoms - self._sides(index)[0][0]) / float(scale)
        return max(abs(_log_sum(logs + moved)), abs(_log_sum(logs - moved)))

    def _rounding(self, size: Fraction) -> float:
        """Return a bound on the rounding of exponents of at most `size`, of log masses, and of their sums."""
        logs = self.share.log_law[1]
        return 8 * UNIT * (float(size) + float(np.abs(logs).max()) + len(logs) + 8)

    def _sides(self, index: int) -> tuple[tuple[int, ...], bool]:
        """Return the contributions of the known states that are compared, and whether the other is unknown."""
        a, _, b, _ = self.compared[index]
        return tuple(self.share.states[v] for v in (a, b) if v != self.unknown), self.unknown in (a, b)

    def _point(self, value: int) -> Pmf:
        return Pmf([self.share.states[value]], [1])


def families(belief: IndependentUsers, answer: Additive, family: Family) -> Iterator[UserFamily]:
    """Yield the laws given each state of each secret user, in order; states of probability zero are left out."""
    users = _users(belief, answer)
    affordable = users.work <= MOST_WORK
    refines = affordable and users.work + 600.0 * _inner(users, family) * users.width <= MOST_SEARCH
    for user in family.entries:
        pairs = family.value_pairs(belief, user)
        if not pairs:
            continue
        unknown = absent_index(belief, user) if belief.absence == "unknown" else None
        share = users.contributions[int(users.sort_of[user])]
        full = _full(users, user, pairs, unknown) if affordable else None
        yield UserFamily(user, pairs, share, unknown, full, refines)


def work(belief: IndependentUsers, answer: Additive, family: Family, laplace: bool) -> tuple[float, float]:
    """Return predicted multiplications, and bytes held at once, for the laws; for Laplace noise: where it uses them."""
    users = _users(belief, answer)
    if users.work > MOST_WORK or (laplace and not _refined(users, family)):
        return 50.0 * len(users.contributions), 1e3 * len(users.contributions)
    return users.work, 12.0 * users.width * (2 * math.log2(2 + len(users.counts)) + 8)


def comparisons(belief: IndependentUsers, answer: Additive, family: Family, laplace: bool) -> tuple[float, float]:
    """Return how many comparisons there are, and the largest number of atoms that is looked at for one."""
    users = _users(belief, answer)
    values = max(len(law.values) for law in belief.laws)
    pairs = values if family.presence else values * (values - 1) / 2 if family.pairs is None else len(family.pairs) / 2
    if users.work > MOST_WORK or laplace:
        inner = float(_inner(users, family)) * users.width if laplace and _refined(users, family) else 0.0
        count = max(pairs * len(family.entries), 1.0)
        return count, values + inner / count
    return pairs * len(family.entries), users.width


@dataclass(eq=False)
class Users:
    """The users of a belief sorted by what they add to an answer: `contributions[sort_of[v]]`, `counts` of each sort.

    `last` are the laws that were asked for last: mechanisms ask several times in a row.
    """

    absence: str
    contributions: tuple[Contribution, ...]
    sort_of: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    step: int
    last: tuple[object, DenseFamily | ListedFamily] | None = None

    @cached_property
    def width(self) -> float:
        """The number of places of the answer's law."""
        return 1.0 + sum(float(n) * _span(c) / self.step for n, c in zip(self.counts, self.contributions, strict=True))

    @cached_property
    def work(self) -> float:
        return self.width**2 * (2 + math.log2(1 + len(self.counts)))

    @cached_property
    def exact(self) -> bool:
        """Whether exact masses are kept."""
        laws = [c.law for c in self.contributions]
        if self.width > FEW_PLACES or any(law.total is None for law in laws):
            return False
        digits = sum(float(n) * math.log2(law.total or 1) for n, law in zip(self.counts, laws, strict=True))
        return digits <= FEW_DIGITS

    @cached_property
    def exact_sums(self) -> Sums[Pmf]:
        laws = [c.law for c in self.contributions]
        return Sums(laws, self.counts.tolist(), lambda p, q: p.convolve(q), Pmf([0], [1]))

    @cached_property
    def sums(self) -> Sums[Weights]:
        laws = [Weights.of(c.law, self.step) for c in self.contributions]
        return Sums(laws, self.counts.tolist(), joined, Weights(0, Wide.of(np.ones(1)), 0.0))


_KNOWN: WeakKeyDictionary[IndependentUsers, tuple[object, Users]] = WeakKeyDictionary()


def _users(belief: IndependentUsers, answer: Additive) -> Users:
    """Sort the users of a belief; the last answer's are kept."""
    known = _KNOWN.get(belief)
    if known is None or known[0] != answer.key:
        known = answer.key, _sorted(belief, answer)
        _KNOWN[belief] = known
    return known[1]


def _sorted(belief: IndependentUsers, answer: Additive) -> Users:
    code = belief.likenesses((answer.weights, answer.table_of), by_law=True)
    _, first, sort_of = np.unique(code, return_index=True, return_inverse=True)
    contributions = tuple(_contribution(belief, answer, user) for user in first.tolist())
    step = math.gcd(*(int(gap) for c in contributions for gap in np.diff(c.law.values).tolist())) or 1
    counts = np.bincount(sort_of.ravel(), minlength=len(first))
    return Users(belief.absence, contributions, sort_of.ravel(), counts, step)


def _contribution(belief: IndependentUsers, answer: Additive, user: int) -> Contribution:
    law, letters = belief.law(user), belief.alphabet(user)
    row = answer.contribution(user)[:, 0] if answer.weights[user] else np.zeros(len(letters), dtype=np.int64)
    states = tuple(int(x) for x in row)
    chances = _chances(law, belief.absence == "removed" and len(letters) > len(law.values))
    masses: dict[int, list[Fraction | float]] = {}
    for state, chance in zip(states, chances, strict=False):
        masses.setdefault(state, []).append(chance)
    exact = all(isinstance(chance, Fraction) for chance in chances)
    return Contribution(states, Pmf(list(masses), [sum(m) if exact else math.fsum(m) for m in masses.values()]))


def _chances(law: UserLaw, may_leave: bool) -> list[Fraction | float]:
    """Return the probability of each value, and of absence where it removes the user."""
    if not may_leave:
        return list(law.probabilities)
    if law.exact:
        return [*(p * law.presence for p in law.probabilities), 1 - law.presence]
    there = float(law.presence)
    return [*(float(p) * there for p in law.probabilities), 1 - there]


def _span(share: Contribution) -> int:
    low, high = share.law.support_range
    return int(high) - int(low)


def _inner(users: Users, family: Family) -> int:
    """Return how many secret users have a value strictly inside the range of their contributions, against unknown."""
    asks = family.presence or family.pairs is not None
    if users.absence != "unknown" or not asks:
        return 0
    sorts = [any(_is_inside(c, state) for state in c.states) for c in users.contributions]
    return sum(sorts[int(users.sort_of[user])] for user in family.entries)


def _is_inside(share: Contribution, state: int) -> bool:
    low, high = share.law.support_range
    return low < state < high


def _refined(users: Users, family: Family) -> bool:
    inner = _inner(users, family)
    return inner > 0 and users.work + 600.0 * inner * users.width <= MOST_SEARCH


def _full(
    users: Users, user: int, pairs: tuple[tuple[int, int], ...], unknown: int | None
) -> Callable[[], DenseFamily | ListedFamily]:
    """Return how to find the laws of the whole answer given each state of a user."""
    sort = int(users.sort_of[user])
    share, values = users.contributions[sort], sorted({*sum(pairs, ())})

    def listed() -> ListedFamily:
        others = users.exact_sums.without(sort)
        laws = {v: (others.convolve(share.law) if v == unknown else others.shift(share.states[v]),) for v in values}
        return ListedFamily(user, pairs, laws)

    def dense() -> DenseFamily:
        others = users.sums.without(sort)
        laws = [
            joined(others, Weights.of(share.law, users.step)) if v == unknown
            else Weights(others.start + share.states[v], others.numbers, others.error)
            for v in values
        ]  # fmt: skip
        start = min(law.start for law in laws)
        size = max((law.start - start) // users.step + len(law) for law in laws)
        rows = stack([_padded(law.numbers, (law.start - start) // users.step, size) for law in laws])
        error = 2.02 * max(law.error for law in laws) + 4 * size * UNIT
        places: dict[int, tuple[int, ...]] = {v: (i,) for i, v in enumerate(values)}
        return DenseFamily(user, pairs, places, dict.fromkeys(values, (0,)), rows, start, users.step, error)

    find, key = listed if users.exact else dense, (user, pairs)

    def last() -> DenseFamily | ListedFamily:
        if users.last is None or users.last[0] != key:
            users.last = key, find()
        return users.last[1]

    return last


def _padded(numbers: Wide, place: int, size: int) -> Wide:
    mantissas, exponents = np.zeros(size), np.full(size, LOWEST, dtype=np.int64)
    here = slice(place, place + len(numbers.mantissas))
    mantissas[here], exponents[here] = numbers.mantissas, numbers.exponents
    return Wide(mantissas, exponents)


def _log_sum(logs: FloatArray) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))
