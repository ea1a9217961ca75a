"""What every unit of a source has spent: the joint cost of all that was released about it, under every framework.

A unit is charged under each framework that any release about it was made for, for all releases about it, older ones
included: a new belief inherits the history. Units are independent of each other, so they are charged in parallel. One
thing crosses units: an output-law promise of a pooled answer is about the law of all units that it reads, so what is
released about one of them is added to all of them (DESIGN §4: x1 + x2 mod 2 pooled, then x2, gives x1 away).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from takifugu.composition import Charge, joint
from takifugu.errors import CompositionRefused
from takifugu.frameworks import Framework
from takifugu.guarantee import Composition
from takifugu.ledger.values import NOTHING, Amount, short


@dataclass(frozen=True)
class Item:
    """One debit of a unit: the charge, the fingerprint of the framework about this unit, and the release it is of."""

    charge: Charge
    fingerprint: str
    release: str
    number: int
    recharge: bool

    @property
    def is_pooled_single(self) -> bool:
        return self.charge.composition is Composition.SINGLE and self.charge.scope == "pooled"


@dataclass(frozen=True, eq=False)
class Accounts:
    """The debits of every unit of one source in the order of their release, and the frameworks by fingerprint."""

    frameworks: Mapping[str, Framework]
    items: Mapping[str, Sequence[Item]]

    def with_new(self, frameworks: Mapping[str, Framework], items: Sequence[tuple[str, Item]]) -> Accounts:
        """Return the accounts after further debits."""
        grown = {unit: list(held) for unit, held in self.items.items()}
        for unit, item in items:
            grown.setdefault(unit, []).append(item)
        return Accounts({**self.frameworks, **frameworks}, grown)

    def touched(self, units: Sequence[str]) -> list[str]:
        """Return the units whose cost a release on `units` changes: these, and those in one pooled single with them."""
        found = dict.fromkeys(units)
        for unit in units:
            found.update(dict.fromkeys(self._pooled_with(unit)))
        return list(found)

    def cost(self, unit: str) -> Amount:
        """Return the unit's joint cost, the largest over its frameworks.

        Raises CompositionRefused where some framework has no joint promise for what was released about the unit.
        """
        items = self.items.get(unit, ())
        if not items:
            return NOTHING
        charges = [item.charge for item in items]
        recharge = any(item.recharge for other in [unit, *self._pooled_with(unit)] for item in self.items[other])
        worst = NOTHING
        for fingerprint in dict.fromkeys(item.fingerprint for item in items):
            promise = joint(self.frameworks[fingerprint], charges, recharge, fingerprint)
            crossing = self._crossing(unit, fingerprint) if promise.leans_on_single else NOTHING
            epsilon, delta = promise.epsilon + crossing.epsilon, promise.delta + crossing.delta
            worst = Amount(max(worst.epsilon, epsilon), max(worst.delta, delta))
        return worst

    def _pooled_with(self, unit: str) -> list[str]:
        releases = {item.release for item in self.items.get(unit, ()) if item.is_pooled_single}
        if not releases:
            return []
        return [u for u, held in self.items.items() if any(i.is_pooled_single and i.release in releases for i in held)]

    def _crossing(self, unit: str, fingerprint: str) -> Amount:
        """Return the cost of what was released about the other units of the pooled single that `unit` is in."""
        mine = self.items[unit]
        single = next((i for i in mine if i.is_pooled_single and i.fingerprint == fingerprint), None)
        if single is None:
            return NOTHING
        shared = {i.release for i in mine if i.charge.scope == "pooled"}
        counted: set[str] = set()
        total = NOTHING
        for other in self._pooled_with(unit):
            for item in self.items[other]:
                pooled = item.charge.scope == "pooled"
                if other == unit or (pooled and item.release in shared | counted):
                    continue
                if pooled:
                    counted.add(item.release)
                total = _added(total, item, single)
        return total


def _added(total: Amount, item: Item, single: Item) -> Amount:
    charge = item.charge
    if charge.composition is not Composition.WHOLE:
        raise CompositionRefused(
            "a pooled answer of kind 'single' reads a unit about which a release of kind "
            f"{str(charge.composition)!r} was made: nothing else than 'whole' releases adds to it; publish the pooled "
            "answer by a mechanism that composes ('group', 'quilt-exact')"
        )
    if charge.delta > 0 and item.number < single.number and not single.charge.fixed_in_advance:
        raise CompositionRefused(
            "a pooled answer of kind 'single' was chosen when the output of a release with delta > 0 could be seen: "
            "they add only if its query and noise were fixed before"
        )
    loss = charge.change / charge.scale if charge.scale else Fraction(0)
    return Amount(total.epsilon + max(charge.epsilon, loss), total.delta + charge.delta)


def what_fits(before: Accounts, new: Accounts, unit: str, budget: Amount) -> str:
    """Return in words what could be released about the unit instead of its newest debits, within the budget."""
    old = len(before.items.get(unit, ()))
    history, asked = list(new.items[unit][:old]), list(new.items[unit][old:])

    def cost(items: Sequence[Item]) -> Amount:
        grown = Accounts(new.frameworks, {**new.items, unit: [*history, *items]})
        return grown.cost(unit)

    def fits(factor: Fraction) -> bool:
        try:
            return cost([_quieter(item, factor) for item in asked]).fits(budget)
        except CompositionRefused:
            return False

    spent = before.cost(unit)
    if spent.epsilon >= budget.epsilon:
        return "nothing more"
    if any(item.charge.delta > budget.delta for item in asked):
        return "perhaps the same with a smaller delta, or with delta 0"
    wanted = sum((item.charge.epsilon for item in asked), Fraction(0))
    if not any(item.charge.composition is Composition.QUILT for item in new.items[unit]):
        left = budget.epsilon - spent.epsilon
        if fits(wanted / left):
            what = "epsilon" if len(asked) == 1 else "epsilons that add up to"
            return f"{what} at most {short(left, up=False)}"
    factor = _least_factor(fits)
    if factor is None:
        return "nothing more"
    alone = [_quieter(item, factor) for item in asked]
    costs = [joint(new.frameworks[item.fingerprint], [item.charge], False, item.fingerprint).epsilon for item in alone]
    worth = short(max(costs), up=False)
    return f"noise of {short(factor, up=True)} times the scale (alone, epsilon {worth})"


def _quieter(item: Item, factor: Fraction) -> Item:
    """Return a debit with `factor` times the noise; a quilt release is then charged by its noise alone."""
    charge = item.charge
    scale = None if charge.scale is None else charge.scale * factor
    fingerprint = "" if charge.composition is Composition.QUILT else charge.framework
    return replace(item, charge=replace(charge, epsilon=charge.epsilon / factor, scale=scale, framework=fingerprint))


def _least_factor(fits: Callable[[Fraction], bool]) -> Fraction | None:
    """Return a factor above 1 that fits, within a few per cent of the least one; None where none below 2**20 does."""
    low, high = Fraction(1), Fraction(2)
    while not fits(high):
        low, high = high, high * 4
        if high > 2**20:
            return None
    for _ in range(6):
        middle = Fraction(math.ceil(math.sqrt(low * high) * 1000), 1000)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
