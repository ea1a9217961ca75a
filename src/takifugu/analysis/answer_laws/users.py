"""Laws of a scalar answer given the states of many independent users: who is alike, and what costs too much.

What one user's family of laws is, and which noise it needs, is in `user_family`. The law of all others is found for one
user after the other by `sums`. Where it would take too much work, laws of the user's contribution alone replace those
of the answer; noise that hides the former hides the latter: the others' sum is independent of it and added later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from takifugu.analysis.answer_laws.dense import DenseFamily
from takifugu.analysis.answer_laws.listed import FEW_ATOMS, FEW_DIGITS, ListedFamily
from takifugu.analysis.answer_laws.user_family import Contribution, user_family
from takifugu.analysis.questions.answer_law import AnswerLaw, newest
from takifugu.analysis.questions.compared import BoundedFamily
from takifugu.core.arrays import IntArray
from takifugu.core.entries import called
from takifugu.model.beliefs.user_laws import UserLaw
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import ABSENT, Family, absent_index, compared_values
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.leave_one_out import NOTHING, Law, Sums, Weights

#: Most multiplications for all laws of the answer, and for the search among them; beyond, contributions stand alone.
MOST_WORK, MOST_SEARCH = 4e9, 1e10


class UsersLaw(AnswerLaw[IndependentUsers]):
    """The laws given each state of each secret user, in order; states of probability zero are left out."""

    @cached_property
    def users(self) -> Users:
        return newest(self.answer, self.belief, Users, lambda: _users(self.belief, self.answer))

    def families(self) -> Iterator[BoundedFamily]:
        belief, users = self.belief, self.users
        refines = users.affordable and users.work + 600.0 * _inner(users, self.family) * users.places <= MOST_SEARCH
        for user in self.family.entries:
            pairs = self.family.value_pairs(belief, user)
            if not pairs:
                continue
            unknown = absent_index(belief, user) if belief.absence == "unknown" else None
            share = users.contributions[int(users.sort_of[user])]
            full = _full(users, user, pairs, unknown) if users.affordable else None
            yield user_family(user, pairs, share, unknown, full, refines)

    def work(self, laplace: bool = False) -> tuple[float, float]:
        """Predict the multiplications, and the bytes held at once; with `laplace` of what that noise needs."""
        users = self.users
        if users.work > MOST_WORK or (laplace and not _refined(users, self.family)):
            return 50.0 * len(users.contributions), 1e3 * len(users.contributions)
        return users.work, 12.0 * users.places * (2 * math.log2(2 + len(users.counts)) + 8)

    def comparisons(self, laplace: bool = False) -> tuple[float, float]:
        users, family, secret = self.users, self.family, len(self.family.entries)
        if not secret:
            return 0.0, 0.0
        values = max(len(law.values) for law in self.belief.laws)
        pairs = float(values) if family.presence else self.pairs_of(values)
        if users.work > MOST_WORK or laplace:
            inner = 0.0
            if laplace and _refined(users, family):
                inner = float(_inner(users, family)) * users.places
            count = max(pairs * secret, 1.0)
            return count, values + inner / count
        return pairs * secret, users.places

    def cached_bytes(self) -> float:
        return 2e3 * len(self.family.entries)  # the laws are not kept

    def describe(self, entry: int, value: int, number: int, start: int = 0) -> str:
        belief, state = self.belief, self.belief.alphabet(entry)[value]
        name = called(belief, entry, start)
        if state != ABSENT:
            return f"{name} = {state!r}"
        return f"{name} absent ({belief.absence})"


@dataclass(eq=False)
class Users:
    """The users of a belief sorted by what they add to an answer: `contributions[sort_of[v]]`."""

    absence: str
    contributions: tuple[Contribution, ...]
    sort_of: IntArray
    #: Of each sort.
    counts: IntArray
    step: int
    #: The laws computed last: mechanisms request them several times in a row.
    last: tuple[object, DenseFamily | ListedFamily] | None = None

    @cached_property
    def places(self) -> float:
        """Return the number of atoms, or of places for rounded masses."""
        return self._atoms if self.exact else self._width

    @cached_property
    def work(self) -> float:
        return self.places**2 * (2 + math.log2(1 + len(self.counts)))

    @property
    def affordable(self) -> bool:
        """Whether laws of the whole answer are computed."""
        return self.work <= MOST_WORK

    @property
    def _laws(self) -> list[Pmf]:
        return [contribution.law for contribution in self.contributions]

    @cached_property
    def exact(self) -> bool:
        """Whether exact masses are kept."""
        if self._atoms > FEW_ATOMS or any(law.total is None for law in self._laws):
            return False
        digits = sum(float(n) * math.log2(law.total or 1) for n, law in zip(self.counts, self._laws, strict=True))
        return digits <= FEW_DIGITS

    @cached_property
    def _width(self) -> float:
        width = 0.0
        for count, share in zip(self.counts, self.contributions, strict=True):
            low, high = share.law.support_range
            width += float(count) * (int(high) - int(low)) / self.step
        return 1.0 + width

    @cached_property
    def _atoms(self) -> float:
        """Bound the number of atoms by all users' choices, or all places."""
        bits = sum(float(n) * math.log2(len(law)) for n, law in zip(self.counts, self._laws, strict=True))
        return min(self._width, 2.0 ** min(bits, 60.0))

    @cached_property
    def exact_sums(self) -> Sums[Pmf]:
        return Sums(self._laws, self.counts.tolist(), Pmf([0], [1]))

    @cached_property
    def sums(self) -> Sums[Weights]:
        laws = [Weights.of(law, self.step) for law in self._laws]
        return Sums(laws, self.counts.tolist(), NOTHING)


def _users(belief: IndependentUsers, answer: Additive) -> Users:
    code = belief.likenesses((answer.weights, answer.table_of), by_law=True)
    _, first, sort_of = np.unique(code, return_index=True, return_inverse=True)
    contributions, step = tuple(_contribution(belief, answer, user) for user in first.tolist()), 0
    for contribution in contributions:
        step = math.gcd(step, *map(int, np.diff(contribution.law.values).tolist()))
    counts = np.bincount(sort_of.ravel(), minlength=len(first))
    return Users(belief.absence, contributions, sort_of.ravel(), counts, step or 1)


def _contribution(belief: IndependentUsers, answer: Additive, user: int) -> Contribution:
    law, letters = belief.law(user), belief.alphabet(user)
    if answer.weights[user]:
        row = answer.contribution(user)[:, 0]
    else:
        row = np.zeros(len(letters), dtype=np.int64)
    states = tuple(map(int, row))
    chances = _chances(law, belief.absence == "removed" and len(letters) > len(law.values))
    masses: dict[int, list[Fraction | float]] = {}
    for state, chance in zip(states, chances, strict=False):
        masses.setdefault(state, []).append(chance)
    total = sum if all(isinstance(chance, Fraction) for chance in chances) else math.fsum
    return Contribution(states, Pmf(list(masses), list(map(total, masses.values()))))


def _chances(law: UserLaw, may_leave: bool) -> list[Fraction | float]:
    """Return each value's probability, and absence's where it removes the user."""
    if not may_leave:
        return list(law.probabilities)
    kind = Fraction if law.exact else float
    presence = kind(law.presence)
    return [*(kind(p) * presence for p in law.probabilities), 1 - presence]


def _inner(users: Users, family: Family) -> int:
    """Count secret users with a value strictly inside the range of contributions, compared with unknown."""
    asks = family.presence or family.pairs is not None
    if users.absence != "unknown" or not asks:
        return 0
    sorts = []
    for contribution in users.contributions:
        low, high = contribution.law.support_range
        sorts.append(any(low < state < high for state in contribution.states))
    return sum(sorts[int(users.sort_of[user])] for user in family.entries)


def _refined(users: Users, family: Family) -> bool:
    inner = _inner(users, family)
    return inner > 0 and users.work + 600.0 * inner * users.places <= MOST_SEARCH


def _full(
    users: Users, user: int, pairs: tuple[tuple[int, int], ...], unknown: int | None
) -> Callable[[], DenseFamily | ListedFamily]:
    """Return a function for the answer's laws given a user's states."""

    def find() -> DenseFamily | ListedFamily:
        sort = int(users.sort_of[user])
        share, values = users.contributions[sort], compared_values(pairs)
        if users.exact:
            exact = _laws_given(users.exact_sums.without(sort), share.law, share.states, values, unknown)
            return ListedFamily(user, pairs, {value: (law,) for value, law in exact.items()})
        own = Weights.of(share.law, users.step)
        laws = _laws_given(users.sums.without(sort), own, share.states, values, unknown)
        return DenseFamily.of(user, pairs, laws, users.step)

    def last() -> DenseFamily | ListedFamily:
        if users.last is None or users.last[0] != (user, pairs):
            users.last = (user, pairs), find()
        return users.last[1]

    return last


def _laws_given(
    others: Law, own: Law, states: Sequence[int], values: Iterable[int], unknown: int | None
) -> dict[int, Law]:
    """Return the answer's law given each value of a user, who adds a constant, or what is unknown, to all others."""
    return {value: others.convolve(own) if value == unknown else others.shift(states[value]) for value in values}
