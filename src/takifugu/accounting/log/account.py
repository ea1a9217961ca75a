"""What one unit has spent in one table, and beside it: the one rule, of which everything else is a special case.

Lines about the same entries (one table) cost together the least of what is proved: the promise of a single line, the
sum of promises that cover every change, the joint loss of the noise, and the sum of what each loses when all of the
unit's data change. Every other line about the unit counts beside them by the last. Why no total is too low is told in
docs/theory/composition.md: each bound holds at every output, and a line about other data has, whatever these are, a
density between some m and e^w m, so that it multiplies every bound by e^w at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache

from takifugu.accounting.amounts import NOTHING, ONE, ZERO, Amount
from takifugu.accounting.composition.alignment import is_one_reading
from takifugu.accounting.composition.at_delta import in_a_series, series_joint
from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.accounting.composition.losses import any_change, deltas, steady_cost, whole_cost
from takifugu.accounting.composition.several import (
    STEADY,
    Cost,
    Several,
    added_up,
    adds_up,
    in_runs,
    merged,
    several,
)
from takifugu.accounting.composition.totals import Total
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.errors import CompositionRefused
from takifugu.model.frameworks import DEFINITIONS, Framework

#: The definitions whose lines about the same entries cost the least of the four bounds; others have their own rule.
_OF_NOISE = ("pufferfish", "attribute")


def together(framework: Framework, fingerprint: str, charges: Sequence[Charge], counts_alone: bool) -> Amount:
    """Return what the lines of one table cost under a framework, in their order.

    `counts_alone` says that there is no other line about the unit, nor any that its answer reads others in: then a
    promise about the one output's own distribution counts. Raises CompositionRefused where nothing is proved.
    """
    question = framework, fingerprint, tuple(charges), counts_alone
    if any(isinstance(charge, Several) and charge.runs for charge in charges):  # such a set is never asked about twice
        return _together(*question)
    return _remembered(*question)


def _together(framework: Framework, fingerprint: str, given: tuple[Charge, ...], counts_alone: bool) -> Amount:
    view, charges = View(framework, fingerprint), _of_definition(framework, fingerprint, given)
    if framework.definition not in _OF_NOISE:
        joint = DEFINITIONS.find(framework.definition).joint(view, charges, True)
        return Amount(joint.epsilon, min(joint.delta, ONE))
    delta = min(deltas(charges), ONE)
    if in_a_series(charges):
        return Amount(series_joint(view, charges).epsilon, delta)
    bounds, terms = list[Fraction](), merged(charges)
    is_one = len(terms) == 1 and terms[0].times == 1 and view.is_native(terms[0])
    if is_one and (counts_alone or terms[0].covers is not Covers.OUTPUT):
        bounds.append(terms[0].epsilon)
    if all(term.covers in STEADY for term in terms):
        is_placed = is_one_reading(terms)
        _bound(bounds, lambda: sum((steady_cost(view, term, is_placed) for term in terms), ZERO))
    refused = _bound(bounds, lambda: cost_by_noise(view, terms).epsilon)
    if not delta:
        _bound(bounds, lambda: sum((whole_cost(view, term) for term in terms), ZERO))
    if bounds:
        return Amount(min(bounds), delta)
    assert refused is not None, "the last bound was not refused"
    raise CompositionRefused(
        "a release that promises something about its own output only has no joint promise with another about the same "
        f"person: {refused.message}",
        fix="use a mechanism that composes ('influence', 'group') for both, or begin a series (begins_series)",
    )


_remembered = lru_cache(maxsize=16384)(_together)


def _bound(bounds: list[Fraction], compute: Callable[[], Fraction]) -> CompositionRefused | None:
    """Add a bound where it is proved; return why it is not."""
    try:
        bounds.append(compute())
    except CompositionRefused as refused:
        return refused
    return None


def _of_definition(framework: Framework, fingerprint: str, charges: Iterable[Charge]) -> tuple[Charge, ...]:
    """Return charges as those of a framework's definition; what lies beside them is of every framework."""
    definition, converted = DEFINITIONS.find(framework.definition), list[Charge]()
    for charge in charges:
        if charge.query == _ELSEWHERE:
            charge = replace(charge, framework=fingerprint, definition=framework.definition)
        if charge.definition not in (framework.definition, *definition.reads_alike):
            charge = replace(definition.converted(charge), framework=fingerprint)
        converted.append(charge)
    return tuple(converted)


_ELSEWHERE = {"kind": "about other entries"}


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
    return replace(
        charge, covers=Covers.EVERYTHING, epsilon=times * epsilon, delta=times * delta, scale=None, query=_ELSEWHERE,
        entries=0, answers=(), scope="unit", names=(), lengths=(), at=None, calendar="", phases=(), reading="",
        begins_series=False,
    )  # fmt: skip


def placed(charge: Charge, at: int | None, table: str) -> Charge:
    """Return a charge as one about a table: at a step of its calendar, or about its entries."""
    if at is None:
        return replace(charge, reading=table)
    return replace(charge, at=at, calendar=table, reading=table if charge.begins_series else "")


def repeated(charge: Charge, places: Sequence[int | None], table: str) -> list[Charge]:
    """Return a charge at many steps, or so many times about the same entries; as one where they add up."""
    if not adds_up(charge):
        return [placed(charge, at, table) for at in places]
    counts, charges = Counter(places), list[Charge]()
    unplaced = counts.pop(None, 0)
    if unplaced:
        charges.append(_times(placed(charge, None, table), unplaced))
    if not counts:
        return charges
    steps = {at: times for at, times in counts.items() if at is not None}
    first = placed(charge, min(steps), table)
    if len(steps) == 1:
        return [*charges, _times(first, *steps.values())]
    costs = {times: several(_times(first, times)).cost for times in {*steps.values()}}
    runs = in_runs({at: costs[times] for at, times in steps.items()})
    total = several(_times(first, sum(steps.values()))).cost
    return [*charges, added_up(first, total, 1, several(first).saved, runs)]


def _times(charge: Charge, times: int) -> Charge:
    """Return a charge so many times about the same entries."""
    if times == 1:
        return charge
    one = several(charge)
    rates = one.cost.rates and _total_times(one.cost.rates, times)
    return added_up(charge, Cost(times, rates, _total_times(one.cost.promised, times)), 1, one.saved)


def _total_times(total: Total, times: int) -> Total:
    return Total(total.exact * times, total.denominator, total.rounded * times)
