"""What one unit has spent in one table, and beside it: the one rule, of which everything else is a special case.

Lines about the same entries (one table) cost together the least of what is proved: the promise of a single line, the
sum of promises that cover every change, the joint loss of the noise, and the sum of what each loses when all of the
unit's data change. Every other line about the unit counts beside them by the last. Why no total is too low is told in
docs/theory/composition.md: each bound holds at every output, and a line about other data has, whatever these are, a
density between some m and e^w m, so that it multiplies every bound by e^w at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache

from takifugu.accounting.amounts import NOTHING, ONE, ZERO, Amount
from takifugu.accounting.composition import joint, losses
from takifugu.accounting.composition.losses import any_change
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.errors import CompositionRefused
from takifugu.model.frameworks import Framework


def together(framework: Framework, fingerprint: str, charges: Sequence[Charge], counts_alone: bool) -> Amount:
    """Return what the lines of one table cost under a framework, in their order.

    `counts_alone` says that there is no other line about the unit, nor any that its answer reads others in: then a
    promise about the one output's own distribution counts. Raises CompositionRefused where nothing is proved.
    """
    promise = joint(framework, charges, fingerprint, counts_alone)
    return Amount(promise.epsilon, min(promise.delta, ONE))


@lru_cache(maxsize=65536)
def whole_loss(charge: Charge) -> Amount:
    """Return what a release costs a unit when all that it reads of the unit changes.

    Raises CompositionRefused where nothing bounds that.
    """
    epsilon = any_change(charge)
    if epsilon is None or (charge.delta and charge.covers is not Covers.EVERYTHING):
        raise CompositionRefused(
            "a release about other entries of the same person has no cost for a change of all its data",
            rule="nothing says that they are the same entries, and nothing bounds what both reveal together",
            fix="declare the same entries, or publish with Laplace noise (delta = 0)",
        )
    if charge.covers is Covers.EVERYTHING:
        epsilon = max(epsilon, charge.epsilon)
    return Amount(epsilon, charge.delta)


#: The number of what is no table of the unit that is asked about.
ELSEWHERE = -1


class Outside:
    """What the lines of each table cost when all their data change, with a delta apart."""

    def __init__(self) -> None:
        self.lines: dict[int, Counter[Charge]] = {}

    def add(self, table: int, charge: Charge, times: int) -> None:
        self.lines.setdefault(table, Counter())[charge] += times

    @cached_property
    def costs(self) -> dict[int, tuple[Amount, Amount] | CompositionRefused]:
        """The cost of each table's lines without a delta and with one, or why it has none."""
        costs = dict[int, tuple[Amount, Amount] | CompositionRefused]()
        for table, lines in self.lines.items():
            plain = late = NOTHING
            try:
                for charge, times in lines.items():
                    cost = whole_loss(charge).times(times)
                    plain, late = (plain, late.plus(cost)) if charge.delta else (plain.plus(cost), late)
                costs[table] = plain, late
            except CompositionRefused as refused:
                costs[table] = refused
        return costs

    @cached_property
    def total(self) -> tuple[Fraction, Amount]:
        """What all lines cost that have a cost: the epsilons of those without a delta, and all with one."""
        bounded = [cost for cost in self.costs.values() if not isinstance(cost, CompositionRefused)]
        late = NOTHING
        for _, cost in bounded:
            late = late.plus(cost)
        return sum((plain.epsilon for plain, _ in bounded), ZERO), late

    def all_but(self, table: int | None, without_delta: bool = False) -> Amount:
        """Return what the lines of all other tables cost; raises CompositionRefused where one of them has no cost."""
        if not self.lines.keys() - {table}:
            return NOTHING
        for other, cost in self.costs.items():
            if other != table and isinstance(cost, CompositionRefused):
                raise cost
        plain, late = self.total
        mine = self.costs.get(table) if table is not None else None
        if mine is not None and not isinstance(mine, CompositionRefused):
            plain -= mine[0].epsilon
        return Amount(plain) if without_delta else late.plus(Amount(plain))


def covering(charge: Charge, times: int) -> Charge:
    """Return so many releases about other entries as one promise about every change of their data.

    With a delta they stay in the order of all: what was chosen after them is charged by its whole component.
    """
    epsilon, delta = whole_loss(charge)
    if times * delta >= 1:
        raise CompositionRefused(
            f"{times:,} releases with a delta about other people promise nothing",
            fix="keep these people's releases in another ledger, or publish with delta = 0",
        )  # fmt: skip
    return losses.covering(charge, times * epsilon, times * delta)
