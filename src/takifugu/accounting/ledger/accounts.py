"""What every unit of a source has spent: the joint cost of all that was released about it, under every framework.

A unit is charged under each framework that any release about it was made for, for all releases about it, older ones
included: a new belief inherits the history. Units are independent of each other, so they are charged in parallel. One
thing crosses units: an output-law promise of a pooled answer is about the law of all units that it reads, so what is
released about one is added to all: x1 + x2 mod 2 pooled, then x2, gives x1 away (docs/decisions.md#composition).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Generic, TypeVar

from takifugu.accounting.composition import Charge, joint
from takifugu.accounting.composition.losses import WHAT, any_change, cost_of_all, raised
from takifugu.accounting.composition.several import as_one
from takifugu.accounting.ledger.asking import is_link
from takifugu.accounting.ledger.format.layouts import CUT, cut_differently
from takifugu.accounting.ledger.values import NOTHING, Amount, most, short
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import CompositionRefused
from takifugu.model.frameworks import Framework
from takifugu.numbers.search import halved

#: What distinguishes units with different accounts.
Kind = TypeVar("Kind", bound=Hashable)


@dataclass(frozen=True)
class Item:
    """A unit's debit: the charge, the unit's framework, and the release.

    The charge may be of several releases that differ in their noise only. `number` says which came before which.
    `is_foreign` says that the release is about another source, which the same people are in, or that only its
    certificate is known: it is charged at the cost of a change of the whole data. Of the latter the framework counts
    here (`is_adopted`).
    """

    charge: Charge
    fingerprint: str
    release: str
    number: int
    recharge: bool
    is_foreign: bool = False
    is_adopted: bool = False

    @property
    def links(self) -> bool:
        return is_link(self.charge) and not self.is_foreign


@dataclass(frozen=True, eq=False)
class Accounts(Generic[Kind]):
    """The debits about one source, by kinds of units with equal debits.

    `counts` says how many units a kind has (one, where it does not); `frameworks` are known by their fingerprints.
    """

    frameworks: Mapping[str, Framework]
    items: Mapping[Kind, Sequence[Item]]
    counts: Mapping[Kind, int] = field(default_factory=dict)

    def linked(self, kinds: Iterable[Kind]) -> list[Kind]:
        """Return these kinds and all others tied by a pooled single."""
        linked = dict.fromkeys(kinds)
        for kind in list(linked):
            linked.update(dict.fromkeys(self._with.get(kind, ())))
        return list(linked)

    def is_cut(self, kind: Kind) -> bool:
        """Whether nothing declares the common entries of a unit's releases."""
        return cut_differently(item.charge for item in self.items[kind] if not item.is_foreign)

    def cost(self, kind: Kind) -> Amount:
        """Return a unit's largest joint cost over its frameworks.

        Raises CompositionRefused where some framework has no joint promise for what was released about the unit.
        """
        items = self.items[kind]
        if self.is_cut(kind):
            return Amount(*cost_of_all(((item.charge, 1) for item in items), CUT))
        worst = NOTHING
        for fingerprint in dict.fromkeys(item.fingerprint for item in items if item.is_adopted or not item.is_foreign):
            cost = self._cost_under(kind, fingerprint)
            worst = Amount(max(worst.epsilon, cost.epsilon), max(worst.delta, cost.delta))
        return worst

    def _cost_under(self, kind: Kind, fingerprint: str) -> Amount:
        """Return a unit's joint cost under one framework.

        An output-law promise of a pooled answer costs what was released about others, too; without a delta it counts
        only where that is less than what the noise loses of this unit.
        """
        charges = charges_under(self.items[kind], fingerprint)
        has_delta = any(charge.delta for charge in charges)
        items = chain.from_iterable(self.items[other] for other in self.linked([kind]))
        recharge = has_delta and any(item.recharge for item in items)
        promise = joint(self.frameworks[fingerprint], charges, recharge, fingerprint)
        leaning, refused = Amount(promise.epsilon, promise.delta), None
        if promise.leans_on_single:
            try:
                crossing, earlier = self._crossing(kind, fingerprint)
                leaning = Amount(promise.epsilon + crossing.epsilon, raised(promise.delta, earlier) + crossing.delta)
            except CompositionRefused as error:
                refused = error
        if refused is not None and has_delta:
            raise refused
        if refused is None and (has_delta or leaning.delta or leaning.epsilon == promise.epsilon):
            return leaning
        try:
            by_noise = joint(self.frameworks[fingerprint], charges, True, fingerprint)
        except CompositionRefused as error:
            if refused is not None:
                raise refused from error
            return leaning
        if refused or by_noise.epsilon < leaning.epsilon:
            return Amount(by_noise.epsilon, by_noise.delta)
        return leaning

    @cached_property
    def _with(self) -> Mapping[Kind, list[Kind]]:
        """The kinds of a common pooled single, by kind."""
        readers: dict[str, list[Kind]] = {}
        for kind, items in self.items.items():
            for release in dict.fromkeys(item.release for item in items if item.links):
                readers.setdefault(release, []).append(kind)
        linked: dict[Kind, list[Kind]] = {kind: [] for kind in self.items}
        for kind, items in self.items.items():
            singles = dict.fromkeys(item.release for item in items if item.links)
            linked[kind] = list(dict.fromkeys(chain.from_iterable(readers[release] for release in singles)))
        return linked

    def _crossing(self, kind: Kind, fingerprint: str) -> tuple[Amount, Fraction]:
        """Return the cost of the other units in a unit's pooled single.

        Beside it is the epsilon of those releases after which a single with a delta may have been chosen.
        """
        items = self.items[kind]
        single = next((i for i in items if i.links and i.fingerprint == fingerprint), None)
        if single is None:
            return NOTHING, Fraction(0)
        shared = {i.release for i in items if i.charge.scope == "pooled"}
        total, earlier, pooled = NOTHING, Fraction(0), dict[str, tuple[Amount, bool]]()
        for other in self._with[kind]:
            count = self.counts.get(other, 1) - (other == kind)
            for item in self.items[other] if count else ():
                is_before = item.number < single.number
                if item.charge.scope != "pooled":
                    cost = _added_by(item, single)
                    total = _sum(total, cost, count)
                    earlier += count * cost.epsilon if is_before else 0
                elif item.release not in shared:  # one answer, however many units it reads
                    dearest = pooled.get(item.release, (NOTHING, False))
                    pooled[item.release] = most([_added_by(item, single), dearest[0]]), is_before or dearest[1]
        for cost, is_before in pooled.values():
            total = _sum(total, cost, 1)
            earlier += cost.epsilon if is_before else 0
        has_share = single.charge.delta > 0 and not single.charge.fixed_in_advance
        return total, earlier if has_share else Fraction(0)


def charges_under(items: Sequence[Item], fingerprint: str) -> list[Charge]:
    """Return the charges of debits under one framework.

    A debit about another source counts as a promise of this very framework about the whole data.
    """
    return [replace(item.charge, framework=fingerprint) if item.is_foreign else item.charge for item in items]


def foreign(item: Item) -> Item:
    """Return a debit about another source at its whole-change cost.

    The same unit is in both sources. The cost is sound for any dependence of the two: between any two data sets of the
    other source the output's densities differ by this factor at most. Raises CompositionRefused where the release has
    no such bound.
    """
    charge = item.charge
    cost = any_change(charge)
    if cost is None:
        raise CompositionRefused(
            f"a release that covers {WHAT[charge.covers]}, about another source that the same people are in, has no "
            "cost for a change of the whole data, so nothing bounds what both reveal together",
            fix="publish it with Laplace noise, or by a mechanism that covers every change of the data ('group')",
        )
    charge_here = replace(
        as_one(charge), covers=Covers.EVERYTHING, epsilon=cost, scale=None, query={"kind": "about another source"},
        entries=0, answers=(), scope="unit", names=(), lengths=(), at=None, calendar="",
        layout="", phases=(), reading="",
    )  # fmt: skip
    return replace(item, charge=charge_here, is_foreign=True, recharge=False)


def of_everyone(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the debits of every unit of a source.

    Releases known by their certificates only, without how rows became entries, count at whole-change cost, under their
    own frameworks, too. They count as the first, beside which later promises cost most, because the time of their
    release is unknown.
    """
    for item in items:
        if item.charge.layout:
            yield item
        else:
            yield replace(foreign(item), number=0, is_adopted=True)


def _added_by(item: Item, single: Item) -> Amount:
    """Return the addition of another unit's debit to a pooled single.

    Raises CompositionRefused where it cannot be added.
    """
    charge = item.charge
    cost = any_change(charge) if charge.covers is Covers.EVERYTHING else None
    if cost is None:
        raise CompositionRefused(
            "a pooled answer that is alone reads a person about whom another release was made that does not cover "
            "every change of the data",
            rule="nothing bounds what both reveal together",
            fix="publish the pooled answer by a mechanism that composes ('influence', 'group')",
        )
    if charge.delta > 0 and item.number < single.number and not single.charge.fixed_in_advance:
        raise CompositionRefused(
            "a pooled answer that is alone was chosen when the output of a release with delta > 0 could be seen",
            rule="they compose only if its query and noise were fixed before",
        )
    return Amount(cost, charge.delta)


def _sum(total: Amount, cost: Amount, times: int) -> Amount:
    return Amount(total.epsilon + times * cost.epsilon, total.delta + times * cost.delta)


def what_fits(accounts: Accounts[Kind], kind: Kind, new: Sequence[Item], spent: Amount, budget: Amount) -> str:
    """Say in words the releases within a unit's budget, as alternatives."""
    history = [item for item in accounts.items[kind] if item not in new]

    def cost(items: Sequence[Item]) -> Amount:
        return replace(accounts, items={**accounts.items, kind: [*history, *items]}).cost(kind)

    def fits(factor: Fraction) -> bool:
        try:
            return cost([_quieter(item, factor) for item in new]).fits(budget)
        except CompositionRefused:
            return False

    if spent.epsilon >= budget.epsilon:
        return "nothing more"
    if any(item.charge.delta > budget.delta for item in new):
        return "perhaps the same with a smaller delta, or with delta 0"
    total = sum((item.charge.epsilon for item in new), Fraction(0))
    if not any(item.charge.covers is Covers.ENTRIES for item in accounts.items[kind]):
        left = budget.epsilon - spent.epsilon
        is_sum = fits(total / left) and not fits(total / left * Fraction(99, 100))
        factor = total / left if is_sum else _least_factor(fits)
        if factor is not None:
            words = "epsilon" if len(new) == 1 else "epsilons that add up to"
            return f"{words} at most {short(total / factor, up=False)}"
    factor = _least_factor(fits)
    if factor is None:
        return "nothing more"
    alone = [_quieter(item, factor) for item in new]
    frameworks = accounts.frameworks
    costs = [joint(frameworks[item.fingerprint], [item.charge], False, item.fingerprint).epsilon for item in alone]
    worth = short(max(costs), up=False)
    return f"noise of {short(factor, up=True)} times the scale (alone, epsilon {worth})"


def _quieter(item: Item, factor: Fraction) -> Item:
    """Return a debit with `factor` times the noise.

    A quilt release is then charged by its noise alone.
    """
    charge = item.charge
    scale = None if charge.scale is None else charge.scale * factor
    fingerprint = "" if charge.covers is Covers.ENTRIES else charge.framework
    return replace(item, charge=replace(charge, epsilon=charge.epsilon / factor, scale=scale, framework=fingerprint))


def _least_factor(fits: Callable[[Fraction], bool]) -> Fraction | None:
    """Return nearly the least factor above 1 to fit; None above 2**20."""
    low, high = Fraction(1), Fraction(2)
    while not fits(high):
        low, high = high, high * 4
        if high > 2**20:
            return None

    def middle(low: Fraction, high: Fraction) -> Fraction:
        return Fraction(math.ceil(math.sqrt(low * high) * 1000), 1000)

    return halved(fits, high, low, lambda good, bad: good <= bad * Fraction(101, 100), middle)
