"""What Laplace noise of a given scale promises under a framework: the loss of one release, by D or by a curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.influence import Release
from takifugu.analysis.sensitivity import component_change, part_change
from takifugu.core.errors import Unsupported
from takifugu.influence.beginnings import longest
from takifugu.influence.curves import joint_loss
from takifugu.model.queries import Additive
from takifugu.numbers.rationals import decimal_up

#: A curve must beat the change of the whole component by this much, or the better composing kind is kept.
_TIE = Fraction(1, 10**9)


@dataclass(frozen=True)
class Promise:
    """Laplace noise's loss at a given scale, its composition, and its witness."""

    epsilon: Fraction
    covers: Covers
    witness: Witness


def promise_of(problem: Problem, scale: Fraction) -> Promise:
    """Return the promise of Laplace noise of a positive scale, in answer units."""
    # The smaller of D(component)/b (Song17 Theorem A.5) and the loss by curves (docs/decisions.md#composition).
    change = component_change(problem)
    plain = Promise(change.size / scale, change.covers, change.witness)
    if problem.is_pair:
        return plain
    worst = Promise(Fraction(0), Covers.ENTRIES, change.witness)
    for part in longest(problem.parts):
        part_promise = _part_promise(part, scale / problem.grid)
        if part_promise.epsilon > worst.epsilon:
            worst = part_promise
    return worst if worst.epsilon < plain.epsilon * (1 - _TIE) else plain


def _part_promise(part: Part, units: Fraction) -> Promise:
    size = part_change(part)
    witness = Witness("any values of the component against any others", f"they move the answer by up to {size} steps")
    plain = Promise(Fraction(size) / units, Covers.ENTRIES, witness)
    try:
        answer = part.answer if isinstance(part.answer, Additive) else None
        cost, forced_by = joint_loss(part, [Release(part.answer.entry_changes(), units, answer)])
    except Unsupported:
        return plain
    if math.isinf(cost) or Fraction(cost) >= plain.epsilon:
        return plain
    return Promise(decimal_up(Fraction(cost)), Covers.ENTRIES, forced_by)
