"""The least noise with the other components' randomness, and what is lost to someone who knows some of them.

The noise is found from the laws of the answer with all other components where that is affordable, else with as many of
them as are (`others`, claim 1). It relies on randomness that the people behind the other components know, each their
own: so the epsilon against someone who knows one, a tenth and all of the others stands beside the promise. Whichever m
they know, at least a part that is the same, or smaller, is left; the loss with that part is the bound (claim 2). Where
the choices of m are few each is looked at; where they are many, those among fewer components, or as if m of every kind
were known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from takifugu.beliefs import separate
from takifugu.capabilities.answer_law import Compared, answer_law
from takifugu.kept import kept
from takifugu.mechanisms.answer_families import OVERHEAD, Located, from_the_middle, located_families, predicted
from takifugu.mechanisms.largest_need import Needs, largest_need, largest_of
from takifugu.mechanisms.lines import line_answers, line_parts
from takifugu.mechanisms.others import Counts, Others, others_of
from takifugu.mechanisms.shares import alone, is_smoothed, stands_alone
from takifugu.mechanisms.smoothing import can_be_smoothed, smoothed_by
from takifugu.problem import Part, Problem
from takifugu.tables import number as short

#: The share of a problem's work limit that laws with other components may take.
WORK = Fraction(1, 3)
#: Operations for each place of a law and each product when laws are convolved, and a law's own work.
_PLACE, _PRODUCT = 60.0, 0.5
_NONE = Fraction(0)
#: A loss above epsilon by no more than this factor is epsilon: rounding.
NO_MORE = 1 + 1e-6
#: At most so many choices of whom someone knows are looked at one by one, for so many times the work of one.
MOST_CHOICES, CHOOSING = 40, 4


@dataclass(frozen=True)
class Rule:
    """What a mechanism asks of each answer family: the noise that it needs, and the loss at given noise.

    `loss(located, amount, enough)` is an upper bound on the epsilon that the amount keeps for every comparison, at
    least `enough`. `scans` and `searched` are how many passes over its laws a comparison takes that is tried, and one
    that is searched. `settled` says, where it is known, whether other components cannot lower the amount that a
    comparison needs. `spare` is the mass that laws of the others may lack (`others`, claim 4): needs and loss take it
    off delta.
    """

    needs: Needs
    loss: Callable[[Located, Fraction, float], float]
    nothing: str
    scans: float
    searched: float
    lines: bool = False
    settled: Callable[[Located, Compared, Fraction], bool] | None = None
    spare: Fraction = _NONE


@dataclass(frozen=True)
class Amount:
    """How much noise, what forced it, and how many others were counted on: None for all; `note` is for the witness."""

    size: Fraction
    worst: str
    used: int | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Pool:
    """The components of every belief of a problem, for answers of one number or, with `lines`, along one line."""

    problem: Problem
    lines: bool
    beliefs: tuple[Others, ...]

    @property
    def most(self) -> int:
        """The largest number of components that there are beside one of them."""
        return max(sum(kind.count for kind in others.kinds) for others in self.beliefs) - 1

    def key(self, located: Located) -> int:
        """Return where the component of an answer family begins: users stand together in one part."""
        return located.start + (located.family.entry if separate(located.law.belief) else 0)

    def families(self, size: int, spare: Fraction = _NONE) -> Iterator[Located]:
        """Yield every answer family with the first `size` of its others, in each way that they may start."""
        for located in from_the_middle(self.problem, self.lines):
            others = self.beliefs[located.number]
            yield from self._with(located, others, others.part(others.beside(self.key(located)), size), spare)

    def left(self, rule: Rule, known: int, size: int, relied: int) -> Iterator[Located]:
        """Yield them with at most `size` of those left where `known` are known, unless the first `relied` all are."""
        for located in located_families(self.problem, self.lines, alone=True):
            others = self.beliefs[located.number]
            there = others.beside(self.key(located))
            relied_on = others.part(there, relied)
            for counts in self._parts_left(others, there, known, size, rule):
                if any(n < m for n, m in zip(counts, relied_on, strict=True)):
                    yield from self._with(located, others, counts, rule.spare)

    def _parts_left(self, others: Others, there: Counts, known: int, size: int, rule: Rule) -> tuple[Counts, ...]:
        """Return parts of which at least one is left whichever `known` of those there are known.

        At least `size` of the first `size` + `known` are left: each choice of them is a part. Where that is too much
        work the size is halved, until `known` of every kind may be taken away instead.
        """

        def found() -> tuple[Counts, ...]:
            of_every_kind = others.part(tuple(max(0, count - known) for count in there), size)
            wanted, limit = min(size, sum(there) - known), CHOOSING * self.limit(rule)
            while wanted > sum(of_every_kind):
                first = others.part(there, wanted + known)
                several = tuple(islice(_left(first, known), MOST_CHOICES + 1))
                if len(several) <= MOST_CHOICES and len(several) * self.operations(wanted, rule) <= limit:
                    return several
                wanted //= 2
            return (of_every_kind,)

        return kept(self, (id(others), there, known, size), found)

    def _with(self, located: Located, others: Others, counts: Counts, spare: Fraction) -> Iterator[Located]:
        if not any(counts) or not located.others or not can_be_smoothed(located.family):
            yield located
            return
        for sums in kept(others, ("sums", counts, spare), lambda: tuple(others.sums(counts, float(spare)))):
            yield replace(located, family=smoothed_by(located.family, sums, others.step), spare=spare)

    def operations(self, size: int, rule: Rule) -> float:
        """Predict the work of all comparisons with `size` others."""
        total = 0.0
        for part in line_parts(self.problem) if self.lines else self.problem.law_parts:
            law, others = answer_law(part), self.beliefs[part.number]
            counts = others.part(others.beside(part.start), size)
            comparisons, own = law.comparisons()[0], 1.0 if separate(part.belief) else law.atoms()
            added = others.width(counts, float(rule.spare))
            each = (own + added + OVERHEAD) * (rule.scans + 2 * _PLACE) + 2 * _PRODUCT * own * added
            total += min(others.ways(counts), 10**9) * (comparisons * each + _PRODUCT * added**2)
        return total

    def limit(self, rule: Rule) -> float:
        """Return how much work counting on others may be: a few seconds, or what each component alone takes."""
        work = predicted(self.problem, rule.searched, lines=self.lines).operations
        return max(float(self.problem.work_limit * WORK), work)

    def affordable(self, rule: Rule) -> int:
        """Return how many others may be counted on: all, or 2^k - 1."""
        limit = self.limit(rule)
        if self.operations(self.most, rule) <= limit:
            return self.most
        size = 0
        while 2 * size + 1 < self.most and self.operations(2 * size + 1, rule) <= limit:
            size = 2 * size + 1
        return size


def pool_of(problem: Problem, lines: bool) -> Pool | None:
    """Return the components of a problem, None where none has others that add to one number."""
    if problem.is_pair or (problem.cells > 1 and not lines):
        return None
    if not any(len(belief.components()) > 1 for belief in problem.framework.beliefs):
        return None
    answers = line_answers(problem)
    if answers is None or not problem.on_grid:
        return None

    def found() -> Pool | None:
        beliefs = tuple(others_of(b, a) for b, a in zip(problem.framework.beliefs, answers, strict=True))
        pool = Pool(problem, lines, beliefs)
        return pool if pool.most > 0 else None

    return problem.kept((Pool, lines), found)


def least(problem: Problem, rule: Rule) -> Amount:
    """Return the least noise that serves every comparison, with as many other components as are affordable."""
    return problem.kept((Amount, rule.scans), lambda: _least(problem, rule))


def _least(problem: Problem, rule: Rule) -> Amount:
    pool = pool_of(problem, rule.lines)
    if pool is None or is_smoothed(problem, rule.lines) or not _is_cut(problem, rule.lines):
        size, worst = largest_need(problem, rule.needs, rule.nothing, rule.lines)
        return Amount(size, worst, None, alone(problem, rule.lines))
    used = pool.affordable(rule)
    if rule.settled or not used:
        size, worst, forced_by = largest_of(from_the_middle(problem, rule.lines), rule.needs, rule.nothing)
        if not forced_by or (rule.settled and rule.settled(*forced_by, size)):
            return Amount(size, worst, 0)  # no part of the others changes it
        if not used:
            return Amount(size, worst, 0, alone(problem, rule.lines))
    return with_part(pool, rule, used)


def with_part(pool: Pool, rule: Rule, used: int) -> Amount:
    """Return the least noise with so many of the others."""
    size, worst, _ = largest_of(pool.families(used, rule.spare), rule.needs, rule.nothing)
    if used >= pool.most:
        return Amount(size, worst, None)
    return Amount(size, worst, used, f"; smallest given this component and {used:,} of the {pool.most:,} others")


def fewer(problem: Problem, rule: Rule, amount: Amount) -> Iterator[Amount]:
    """Yield the least noise with ever fewer others, at last with none."""
    pool = pool_of(problem, rule.lines)
    if pool is None or amount.used == 0:
        return
    used = min(pool.most if amount.used is None else amount.used, pool.affordable(rule)) // 2
    while used:
        yield with_part(pool, rule, used)
        used //= 2
    yield with_part(pool, rule, 0)


def conditions(problem: Problem, rule: Rule, amount: Amount) -> tuple[str, ...]:
    """Return what is lost to someone who knows what one, a tenth, all of the other components add; nothing if no more.

    The bounds are rounded up to three digits.
    """
    if amount.used == 0:
        return ()
    known = losses_to_who_knows(problem, rule, amount)
    if not known or known[-1][1] <= float(problem.epsilon) * NO_MORE:
        return ()
    pool = pool_of(problem, rule.lines)
    assert pool is not None
    if pool.most == 1:
        others, told = "the other component adds", _up(known[-1][1])
    else:
        others = f"any of the {pool.most:,} other components add"
        told = ", ".join(f"{_up(loss)} if {_how_many(m, pool.most)}" for m, loss in known)
    return (f"nobody who sees it knows what {others}: for who does, epsilon is at most {told}",)


def losses_to_who_knows(problem: Problem, rule: Rule, amount: Amount) -> tuple[tuple[int, float], ...]:
    """Return (m, epsilon) for m = 1, a tenth, all of the others known: bounds at this noise, at least the promise.

    Empty where there are no others.
    """
    pool = pool_of(problem, rule.lines)
    if pool is None:
        return ()
    enough = float(problem.epsilon)
    everyone = _largest_loss(located_families(problem, rule.lines, alone=True), rule, amount.size, enough)
    relied = pool.most if amount.used is None else amount.used
    used = min(relied, pool.affordable(rule))
    found = []
    for known in sorted({1, math.ceil(pool.most / 10)} - {pool.most}):
        if everyone > enough * NO_MORE:
            enough = min(everyone, _largest_loss(pool.left(rule, known, used, relied), rule, amount.size, enough))
        found.append((known, enough))
    return (*found, (pool.most, everyone))


def _largest_loss(families: Iterator[Located], rule: Rule, amount: Fraction, enough: float) -> float:
    for located in families:
        enough = max(enough, rule.loss(located, amount, enough))
        if math.isinf(enough):
            break
    return enough


def _left(there: Counts, known: int) -> Iterator[Counts]:
    """Yield what is left of some components for each choice of `known` of them.

    >>> list(_left((2, 3), 1)), list(_left((1, 1), 3))
    ([(1, 3), (2, 2)], [])
    """
    if not known:
        yield there
    elif known <= sum(there):
        for first in range(min(there[0], known), -1, -1):
            for rest in _left(there[1:], known - first):
                yield (there[0] - first, *rest)


def _is_cut(problem: Problem, lines: bool) -> bool:
    """Whether laws of one component alone stand for those of the answer: elsewhere all others count already."""
    return stands_alone(problem, lines) or any(_is_too_large(part) for part in problem.law_parts)


def _is_too_large(part: Part) -> bool:
    users = getattr(answer_law(part), "users", None)
    return users is not None and not users.affordable


def _up(loss: float) -> str:
    if math.isinf(loss):
        return "not bounded"
    digits = 2 - math.floor(math.log10(loss))
    return short(math.ceil(loss * (1 - 1e-9) * 10.0**digits) / 10.0**digits)


def _how_many(known: int, most: int) -> str:
    return "they know all of them" if known == most else f"they know {known:,}"
