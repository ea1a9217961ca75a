"""What Laplace noise of a given scale promises under a framework: the loss of one release, by D or by a curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter

from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.influence import Release
from takifugu.analysis.sensitivity import component_change, part_change
from takifugu.core.errors import Unsupported
from takifugu.influence.beginnings import longest
from takifugu.influence.curves import joint_losses
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
    return promises_of(problem, [scale])[0]


def promises_of(problem: Problem, scales: Sequence[Fraction]) -> list[Promise]:
    """Return `promise_of` each of several scales."""
    # The smaller of D(component)/b (Song17 Theorem A.5) and the loss by curves (docs/decisions.md#composition).
    change = component_change(problem)
    plain = [Promise(change.size / scale, change.covers, change.witness) for scale in scales]
    if problem.is_pair:
        return plain
    worst = [Promise(Fraction(0), Covers.ENTRIES, change.witness)] * len(scales)
    for part in longest(problem.parts):
        of_part = _part_promises(part, [scale / problem.grid for scale in scales])
        worst = [max(pair, key=attrgetter("epsilon")) for pair in zip(worst, of_part, strict=True)]
    return [
        by_parts if by_parts.epsilon < by_change.epsilon * (1 - _TIE) else by_change
        for by_parts, by_change in zip(worst, plain, strict=True)
    ]


def _part_promises(part: Part, scales: Sequence[Fraction]) -> list[Promise]:
    """Return the promises of scales in grid units about one part."""
    size = part_change(part)
    witness = Witness("any values of the component against any others", f"they move the answer by up to {size} steps")
    plain = [Promise(Fraction(size) / scale, Covers.ENTRIES, witness) for scale in scales]
    answer = part.answer if isinstance(part.answer, Additive) else None
    try:
        losses = joint_losses(part, [[Release(part.answer.entry_changes(), scale, answer)] for scale in scales])
    except Unsupported:
        return plain
    promises = list[Promise]()
    for by_change, (cost, forced_by) in zip(plain, losses, strict=True):
        if math.isinf(cost) or Fraction(cost) >= by_change.epsilon:
            promises.append(by_change)
        else:
            promises.append(Promise(decimal_up(Fraction(cost)), Covers.ENTRIES, forced_by))
    return promises
