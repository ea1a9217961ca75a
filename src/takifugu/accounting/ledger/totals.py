"""What units have spent: of each longest past the largest total over its tables and all beliefs.

It is the one rule, of which everything else is a special case. Lines about the same entries (one table) cost together
the least of what is proved: the promise of a single line, the sum of promises that cover every change, the joint loss
of the noise, and the sum of what each loses when all of the unit's data change. Every other line about the unit counts
beside them by the last. Why no total is too low is told in docs/theory/composition.md: each bound holds at every
output, and a line about other data has, whatever these are, a density between some m and e^w m, so that it multiplies
every bound by e^w at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from takifugu.accounting.amounts import NOTHING, ZERO, Amount, most
from takifugu.accounting.composition import joint, losses
from takifugu.accounting.composition.losses import any_change
from takifugu.accounting.composition.several import placed, summed
from takifugu.accounting.ledger.view import COMING, EVERYBODY, Step, View
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.errors import CompositionRefused
from takifugu.model.frameworks import DEFINITIONS, Framework

#: So many different pasts are looked at one by one; more are put into so many groups of like ones.
MANY, GROUPS = 1000, 100


@dataclass(frozen=True, eq=False)
class Account:
    """A longest past: its class, its steps, and for how many different pasts it stands."""

    number: int
    steps: list[Step]
    pasts: int = 1

    def spent(self, view: View) -> dict[str, Amount]:
        """Return what a unit with this past has spent, by source."""
        return spent_by(view, self.steps, self.number == EVERYBODY)

    def without(self, group: str) -> Account:
        """Return the past without one payment."""
        return replace(self, steps=[step for step in self.steps if step.group != group])

    def tables(self, view: View) -> Iterable[list[Step]]:
        """Return the steps about entries of the unit itself, table by table."""
        tables = _by_table(view, self.steps, self.number == EVERYBODY)
        return [steps for table, steps in tables.items() if table != ELSEWHERE]


def longest(view: View, classes: Iterable[int]) -> list[Account]:
    """Return the longest pasts of some classes: more lines never cost less, so no other past costs more."""
    pasts, shared = dict[object, tuple[int, list[int]]](), view.shared()
    for number in classes:
        past = view.past(number, shared)
        pasts.setdefault((number == EVERYBODY, *(view.steps[step].key for step in past)), (number, past))
    accounts, of_rule = list[Account](), dict[frozenset[int], list[tuple[int, list[int], int]]]()
    for number, past in pasts.values():
        if number == EVERYBODY:
            accounts.append(Account(number, [view.steps[step] for step in past]))
            continue
        late = frozenset(step for step in past if view.steps[step].charge.delta)
        # compared only where their deltas are the same: at a larger delta the epsilon of a series is less
        has_series = any(view.steps[step].charge.begins_series for step in late)
        of_rule.setdefault(late if has_series else frozenset(), []).append((number, past, 1))
    for groups in of_rule.values():
        largest = list[set[int]]()
        if len(pasts) > MANY:
            # a unit that was in all of a group stands for it
            groups = _alike(view, groups)
        for number, past, count in sorted(groups, key=lambda group: -len(group[1])):
            if not any(other.issuperset(past) for other in largest):
                largest.append({*past})
                accounts.append(Account(number, [view.steps[step] for step in past], count))
    return accounts


def _alike(view: View, pasts: Sequence[tuple[int, list[int], int]]) -> list[tuple[int, list[int], int]]:
    """Return groups of like pasts, each as one that holds all of them."""
    ordered = sorted(past for _, past, _ in pasts)
    size, groups = -(-len(ordered) // GROUPS), list[tuple[int, list[int], int]]()
    for start in range(0, len(ordered), size):
        some = ordered[start : start + size]
        groups.append((COMING, view.ordered(set[int]().union(*some)), len(some)))
    return groups


def most_of(view: View, accounts: Iterable[Account]) -> dict[str, Amount]:
    """Return the most that any unit with one of some pasts has spent, by source."""
    worst = dict[str, Amount]()
    for account in accounts:
        for name, amount in account.spent(view).items():
            worst[name] = most(worst.get(name, NOTHING), amount)
    return worst


def spent_by(view: View, steps: Sequence[Step], is_everybody: bool) -> dict[str, Amount]:
    """Return what a unit with these lines has spent, by source; raises where a table has no joint promise."""
    several = {step.source for step in steps} if is_everybody else view.loose()
    if any(step.is_named and not step.line.count for step in steps if step.source in several):
        raise CompositionRefused(
            "who goes by no name, or by another one than before, may be several of all people, and of how many an "
            "adopted release tells is not known", fix="keep a ledger of its own for one of the two",
        )  # fmt: skip
    tables, lines = _by_table(view, steps, is_everybody), dict[int, Counter[Charge]]()
    if len(tables) > 1 or start_apart(steps):  # else nothing counts beside the one table
        for table, here in tables.items():
            lines[table] = Counter()
            for step in here:
                lines[table][step.charge] += _times(step, several)
    rest = Outside(lines)
    tables.pop(ELSEWHERE, None)
    is_only = len(steps) == 1 and (len(view.releases) == 1 or steps[0].charge.scope == "unit")
    has_delta, amounts = any(step.charge.delta for step in steps), dict[str, Amount]()
    for table, here in tables.items():
        are_apart = start_apart(here)  # a row of the one may be many of the other
        others, cost = rest.all_but(None if are_apart else table), NOTHING
        charges: Sequence[Charge] = ()
        if not are_apart:
            charges = _in_order(view, steps, here, several) if has_delta else summed(_placed(view, s) for s in here)
        for name in dict.fromkeys(step.belief for step in here):
            cost = most(cost, _together(view.frameworks[name], name, charges, here[0].charge, others, is_only))
        for name in dict.fromkeys(step.source for step in here):
            amounts[name] = most(amounts.get(name, NOTHING), cost)
    return amounts


def _together(
    framework: Framework, name: str, charges: Sequence[Charge], like: Charge, others: Amount, is_only: bool
) -> Amount:  # fmt: skip
    """Return what charges about entries of a framework cost beside others, of which any change costs so much."""
    beside = others
    if others.epsilon and DEFINITIONS.find(framework.definition).per_distance:
        # between near hypotheses a loss that is not of their distance counts as often as that goes into 1
        charges, beside = [*charges, losses.covering(like, *others)], NOTHING
    if not charges:
        return beside
    promise = joint(framework, charges, name, is_only)
    return Amount(promise.epsilon, promise.delta).plus(beside)


def _by_table(view: View, steps: Sequence[Step], is_everybody: bool) -> dict[int, list[Step]]:
    """Return the steps about each table of a unit, and as ELSEWHERE those that are in no table of its own."""
    tables = dict[int, list[Step]]()
    for step in steps:
        table = view.tables.find(step.table) if step.is_named != is_everybody else ELSEWHERE
        tables.setdefault(table, []).append(step)
    return tables


def _in_order(view: View, steps: Sequence[Step], here: Sequence[Step], several: set[str]) -> list[Charge]:
    """Return the charges of a table one by one, with those beside them that have a delta: later noise costs more."""
    charges, mine, beginning = list[Charge](), set(map(id, here)), here[0]
    for step in steps:
        if id(step) in mine:
            charge = placed(*_placed(view, step))
            # the releases of one payment begin it; what declares later that it begins one continues it
            if beginning.charge.begins_series and step.group != beginning.group:
                charge = replace(charge, begins_series=False)
            charges.append(charge)
        elif step.charge.delta:
            charges.append(covering(step.charge, _times(step, several)))
    return charges


def _placed(view: View, step: Step) -> tuple[Charge, int | None, str]:
    """Return the charge of a step, and where it is: at a step of a calendar, or about all entries of a name."""
    at = step.line.at
    return step.charge, at, str(view.tables.find(step.entries)) if at is None else ""


def start_apart(steps: Iterable[Step]) -> bool:
    """Return whether sequences of one name start at several places, so that no value of theirs is known to be one."""
    return len({step.line.starts for step in steps}) > 1


def _times(step: Step, several: set[str]) -> int:
    """Return how often a line counts: of the people that these sources name, one unit may be each."""
    return step.line.count if step.is_named and step.source in several else 1


@lru_cache(maxsize=65536)
def whole_loss(charge: Charge) -> Amount:
    """Return what a release costs a unit when all that it reads of the unit changes; raises where unbounded."""
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
    """What the lines of each table cost when all their data change; those with a delta count apart."""

    def __init__(self, tables: Mapping[int, Mapping[Charge, int]]) -> None:
        self.plain, self.late, self.refused = dict[int, Fraction](), NOTHING, dict[int, CompositionRefused]()
        for table, lines in tables.items():
            self.plain[table] = ZERO
            try:
                for charge, times in lines.items():
                    cost = whole_loss(charge).times(times)
                    if charge.delta:
                        self.late = self.late.plus(cost)
                    else:
                        self.plain[table] += cost.epsilon
            except CompositionRefused as refused:
                self.refused[table] = refused.with_traceback(None)  # which would keep all frames
        self.total = sum(self.plain.values(), ZERO)

    def all_but(self, table: int | None) -> Amount:
        """Return the cost of all other tables' lines without a delta; for None, of all lines; or raise."""
        for other, refused in self.refused.items():
            if other != table:
                raise refused
        if table is None:
            return self.late.plus(Amount(self.total))
        return Amount(self.total - self.plain.get(table, ZERO))


def covering(charge: Charge, times: int) -> Charge:
    """Return so many releases about other entries as one promise about every change of their data."""
    # with a delta they keep their order: what was chosen after them is charged by its whole component
    epsilon, delta = whole_loss(charge)
    if times * delta >= 1:
        raise CompositionRefused(
            f"{times:,} releases with a delta about other people promise nothing",
            fix="keep these people's releases in another ledger, or publish with delta = 0",
        )  # fmt: skip
    return losses.covering(charge, times * epsilon, times * delta)
