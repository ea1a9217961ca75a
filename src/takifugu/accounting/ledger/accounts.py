"""What every unit of a source has spent: the joint cost of all that was released about it, under every framework.

A unit is charged under each framework that any release about it was made for, for all releases about it, older ones
included: a new belief inherits the history. Units are independent of each other, so they are charged in parallel. One
thing crosses units: an output-law promise of a pooled answer is about the law of all units that it reads, so what is
released about one is added to all: x1 + x2 mod 2 pooled, then x2, gives x1 away (docs/decisions.md#composition).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Generic, TypeVar

from takifugu.accounting.composition import Charge, joint
from takifugu.accounting.composition.losses import WHAT, any_change, cost_of_all, raised
from takifugu.accounting.composition.several import as_one
from takifugu.accounting.ledger.asking import is_link
from takifugu.accounting.ledger.format.readings import CUT, cut_differently
from takifugu.accounting.ledger.values import NOTHING, Amount, most
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import CompositionRefused
from takifugu.model.frameworks import Framework

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
            linked.update(self._with.get(kind, {}))
        return list(linked)

    def cost(self, kind: Kind) -> Amount:
        """Return a unit's largest joint cost over its frameworks.

        Raises CompositionRefused where some framework has no joint promise for what was released about the unit.
        """
        items = self.items[kind]
        if cut_differently(item.charge for item in items if not item.is_foreign):
            return Amount(*cost_of_all(((item.charge, 1) for item in items), CUT))
        worst, fingerprints = NOTHING, dict[str, None]()
        for item in items:
            if item.is_adopted or not item.is_foreign:
                fingerprints[item.fingerprint] = None
        for fingerprint in fingerprints:
            worst = most([worst, self._cost_under(kind, fingerprint)])
        return worst

    def _cost_under(self, kind: Kind, fingerprint: str) -> Amount:
        """Return a unit's joint cost under one framework.

        An output-law promise of a pooled answer costs what was released about others, too; without a delta it counts
        only where that is less than what the noise loses of this unit.
        """
        charges = charges_under(self.items[kind], fingerprint)
        has_delta = any(charge.delta for charge in charges)
        recharge = False
        if has_delta:
            for other in self.linked([kind]):
                recharge = recharge or any(item.recharge for item in self.items[other])
        promise = joint(self.frameworks[fingerprint], charges, recharge, fingerprint)
        leaning, refused = Amount(promise.epsilon, promise.delta), None
        if promise.covers is Covers.OUTPUT:
            try:
                crossing, earlier = self._crossing(kind, fingerprint)
                leaning = Amount(promise.epsilon, raised(promise.delta, earlier)).plus(crossing)
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
    def _with(self) -> Mapping[Kind, Mapping[Kind, None]]:
        """The kinds of a common pooled single, by kind."""
        readers: dict[str, dict[Kind, None]] = {}
        for kind, items in self.items.items():
            for item in items:
                if item.links:
                    readers.setdefault(item.release, {})[kind] = None
        linked: dict[Kind, dict[Kind, None]] = {}
        for kind, items in self.items.items():
            linked[kind] = {}
            for item in items:
                if item.links:
                    linked[kind].update(readers[item.release])
        return linked

    def _crossing(self, kind: Kind, fingerprint: str) -> tuple[Amount, Fraction]:
        """Return the cost of the other units in a unit's pooled single.

        Beside it is the epsilon of those releases after which a single with a delta may have been chosen.
        """
        items = self.items[kind]
        single = next((item for item in items if item.links and item.fingerprint == fingerprint), None)
        if single is None:
            return NOTHING, Fraction(0)
        shared = {item.release for item in items if item.charge.scope == "pooled"}
        total, earlier, pooled = NOTHING, NOTHING, dict[str, tuple[Amount, bool]]()
        for other in self._with[kind]:
            count = self.counts.get(other, 1) - (other == kind)
            if not count:
                continue
            for item in self.items[other]:
                is_before = item.number < single.number
                if item.charge.scope != "pooled":
                    cost = _added_by(item, single).times(count)
                    total = total.plus(cost)
                    if is_before:
                        earlier = earlier.plus(cost)
                elif item.release not in shared:  # one answer, however many units it reads
                    dearest, was_before = pooled.get(item.release, (NOTHING, False))
                    pooled[item.release] = most([_added_by(item, single), dearest]), is_before or was_before
        for cost, is_before in pooled.values():
            total = total.plus(cost)
            if is_before:
                earlier = earlier.plus(cost)
        if single.charge.delta == 0 or single.charge.fixed_in_advance:
            return total, Fraction(0)
        return total, earlier.epsilon


def total_of(items: Iterable[Item]) -> Amount:
    """Return the sum of promises, maybe more than their noise's loss."""
    total = NOTHING
    for item in items:
        total = total.plus(Amount(item.charge.epsilon, item.charge.delta))
    return total


def charges_under(items: Sequence[Item], fingerprint: str) -> list[Charge]:
    """Return the charges of debits under one framework.

    A debit about another source counts as a promise of this very framework about the whole data.
    """
    charges = []
    for item in items:
        charge = item.charge
        if item.is_foreign:
            charge = replace(charge, framework=fingerprint)
        charges.append(charge)
    return charges


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
        read_as="", phases=(), reading="",
    )  # fmt: skip
    return replace(item, charge=charge_here, is_foreign=True, recharge=False)


def of_everyone(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the debits of every unit of a source.

    Releases known by their certificates only, without how rows became entries, count at whole-change cost, under their
    own frameworks, too. They count as the first, beside which later promises cost most, because the time of their
    release is unknown.
    """
    for item in items:
        if item.charge.read_as:
            yield item
        else:
            yield replace(foreign(item), number=0, is_adopted=True)


def _added_by(item: Item, single: Item) -> Amount:
    """Return the addition of another unit's debit to a pooled single."""
    charge, cost = item.charge, None
    if charge.covers is Covers.EVERYTHING:
        cost = any_change(charge)
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
