"""Entry noise: ordinary differential privacy of one entry, the baseline; correlated entries make its promise worse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from takifugu.errors import Unsupported
from takifugu.guarantee import Composition
from takifugu.laws.rationals import round_up
from takifugu.mechanisms.group import component_change, part_change
from takifugu.mechanisms.quilt_exact import MECHANISM as QUILTS
from takifugu.problem import Bound, Cost, Part, Problem, Refusal, Witness
from takifugu.quilts.joint_cost import joint_cost
from takifugu.randomisers import laplace_or_exact

#: Quilts must beat the change of the whole component by this much, or the better composing kind is kept.
_TIE = Fraction(1, 10**9)


@dataclass(frozen=True)
class Promise:
    """What Laplace noise of a given scale promises: the loss, how it composes, and where it is reached."""

    epsilon: Fraction
    composition: Composition
    witness: Witness


def promise_of(problem: Problem, scale: Fraction) -> Promise:
    """Return what Laplace noise of a scale above 0 (answer units) promises under the framework.

    The smaller of D(component)/b (Song17 Theorem A.5) and, where the belief has Markov quilts, the largest over entries
    and pairs of the least over quilts of e(Q) + D(N)/b (Song17 Theorem 4.3, docs/architecture.md#composition).
    """
    change = component_change(problem)
    plain = Promise(change.size / scale, change.composition, change.witness)
    if problem.is_pair:
        return plain
    worst = Promise(Fraction(0), Composition.QUILT, change.witness)
    for part in problem.parts:
        found = _part_promise(part, scale / problem.grid)
        worst = found if found.epsilon > worst.epsilon else worst
    return worst if worst.epsilon < plain.epsilon * (1 - _TIE) else plain


def _part_promise(part: Part, units: Fraction) -> Promise:
    size = part_change(part)
    witness = Witness("any values of the component against any others", f"they move the answer by up to {size} steps")
    plain = Promise(Fraction(size) / units, Composition.QUILT, witness)
    try:
        cost, forced_by = joint_cost(part, [(part.answer.entry_changes(), units)])
    except Unsupported:
        return plain
    if math.isinf(cost) or Fraction(cost) >= plain.epsilon:
        return plain
    return Promise(decimal_up(Fraction(cost)), Composition.QUILT, forced_by)


def decimal_up(value: Fraction) -> Fraction:
    """Return the least decimal of twelve significant digits that is at least `value`: short on paper, never below.

    >>> str(decimal_up(Fraction(2, 3)) * 10**12), decimal_up(Fraction(5, 2))
    ('666666666667', Fraction(5, 2))
    """
    if value == 0:
        return value
    unit = Fraction(10) ** (math.floor(math.log10(value)) - 11)
    return math.ceil(value / unit) * unit


@dataclass(frozen=True)
class Entry:
    """Laplace noise of scale D_1/epsilon, D_1 the largest L1 change of the answer when one secret entry changes.

    It hides one entry from someone who knows all others. What it promises when entries are correlated is computed and
    stated: the bound's own epsilon, which may be far above what was requested.
    """

    name: str = "entry"
    source: str = "Dwork, McSherry, Nissim and Smith 2006, Proposition 1; what it promises here: Song et al. 2017"

    def cost(self, problem: Problem) -> Cost:
        entries = 0.0 if problem.is_pair else float(sum(len(a.weights) for a in problem.answers))
        quilts = QUILTS.cost(problem)  # what it promises depends on quilts
        return Cost(entries + quilts.operations, quilts.memory)

    def bound(self, problem: Problem) -> Bound | Refusal:
        if problem.is_pair:
            return Refusal("two distributions of an answer are compared: no entries change one at a time")
        size = entry_change(problem)
        units = round_up(size / problem.epsilon)
        noise = laplace_or_exact(units, problem.grid, problem.cells)
        if not size:
            change = component_change(problem)
            if change.size:
                return Refusal(
                    "the query reads no secret entry, so there would be no noise, but it reads entries that are "
                    "correlated with the secret ones"
                )
            return Bound(noise, problem.epsilon, Fraction(0), change.composition, change.witness)
        promise = promise_of(problem, noise.scale)
        if promise.epsilon <= problem.epsilon:
            return Bound(noise, problem.epsilon, Fraction(0), promise.composition, promise.witness)
        correlated = "does not protect correlated data: it hides one entry only from someone who knows all the others"
        return Bound(noise, promise.epsilon, Fraction(0), promise.composition, promise.witness, (correlated,))


def entry_change(problem: Problem) -> int:
    """Return D_1: the largest L1 change of the answer when one secret entry changes, in grid units; 0 for `between`."""
    largest = 0
    for part in problem.parts:
        changes = part.answer.entry_changes()
        largest = max(largest, max(int(changes[i]) for i in part.family.entries))
    return largest


MECHANISM = Entry()
