"""One attempt to pay for releases: what is asked becomes drafts, drafts become joint costs, a refusal becomes words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from secrets import token_hex

from takifugu.errors import InputError, LedgerError
from takifugu.frameworks import Framework
from takifugu.ledger.accounts import Accounts, Item, what_fits
from takifugu.ledger.encoding import canonical
from takifugu.ledger.store import framework_of
from takifugu.ledger.values import SMALLEST_SPEND, Amount, Debit, Source, most

#: Debits that are being written come after all that were.
_NEW = 2**62


@dataclass(frozen=True, eq=False)
class Draft:
    """A debit that is ready to be written: the unit's hash, the item, the release's name, the framework as text."""

    tag: str
    item: Item
    name: str
    body: str
    unit_is_named: bool


@dataclass(frozen=True, eq=False)
class Attempt:
    """The accounts before and after, and the joint cost of every unit whose cost changes."""

    before: Accounts
    after: Accounts
    costs: Mapping[str, Amount]

    @property
    def cost(self) -> Amount:
        return most(list(self.costs.values()))


class TooMuch(Exception):
    """A unit's joint cost is above the budget; it leaves the transaction before it is put into words."""

    def __init__(self, attempt: Attempt, unit: str, source: Source) -> None:
        super().__init__(unit)
        self.attempt, self.unit, self.source = attempt, unit, source


def drafts_of(debits: Sequence[Debit], tag: Callable[[str], str], recharge: bool) -> tuple[Draft, ...]:
    """Check what is asked and make it ready; raises InputError or LedgerError for what cannot be counted."""
    if not debits:
        raise InputError("there is nothing to reserve: give at least one debit")
    ids = {name: token_hex(8) for name in dict.fromkeys(debit.name for debit in debits)}
    seen: set[tuple[str, str]] = set()
    drafts = []
    for position, debit in enumerate(debits):
        charge = debit.charge
        if (debit.name, debit.unit) in seen:
            raise InputError(f"the release {debit.name!r} debits one unit twice: give each answer its own name")
        seen.add((debit.name, debit.unit))
        if charge.epsilon < SMALLEST_SPEND:
            raise LedgerError(
                f"the release {debit.name!r} would spend epsilon {float(charge.epsilon):g}: a release costs more than "
                "nothing; calibrate it for an epsilon above 0, for example 0.1"
            )
        if charge.framework != debit.framework.fingerprint():
            raise InputError(
                f"the release {debit.name!r} was charged for another framework than the one that it names for its "
                "unit: use charge_of(calibration, framework=...) with the unit's framework"
            )
        body = canonical(debit.framework.to_dict(), "the framework of this release")
        kept = replace(charge, release=ids[debit.name])
        item = Item(kept, charge.framework, kept.release, _NEW + position, recharge)
        drafts.append(Draft(tag(debit.unit), item, debit.name, body, debit.unit != ""))
    return tuple(drafts)


def attempt(before: Accounts, drafts: Sequence[Draft], everything: str) -> Attempt:
    """Return what the drafts would cost; `everything` is the tag of a source that is one unit.

    Raises CompositionRefused where something has no joint promise, and LedgerError where a source that was one unit is
    now divided into units, or the reverse: the two histories would not know of each other.
    """
    if len({tag == everything for tag in (*before.items, *(draft.tag for draft in drafts))}) > 1:
        raise LedgerError(
            "about one source, either every release names the units that it reads or none does: name them as before, "
            "or give these data another source name if nothing was released about them"
        )
    frameworks: dict[str, Framework] = {d.item.fingerprint: framework_of(d.body) for d in drafts}
    after = before.with_new(frameworks, [(d.tag, d.item) for d in drafts])
    units = after.touched(list(dict.fromkeys(d.tag for d in drafts)))
    return Attempt(before, after, {unit: after.cost(unit) for unit in units})


def refusal(found: TooMuch) -> str:
    """Say what is spent, asked and left, and what would fit."""
    source, unit, tried = found.source, found.unit, found.attempt
    budget = source.budget
    assert budget is not None
    old, held = tried.before.items.get(unit, ()), tried.after.items[unit]
    asked = [item.charge for item in held[len(old) :]]
    spent, total = tried.before.cost(unit), tried.costs[unit]
    left = Amount(max(budget.epsilon - spent.epsilon, Fraction(0)), max(budget.delta - spent.delta, Fraction(0)))
    wanted = Amount(sum((c.epsilon for c in asked), Fraction(0)), sum((c.delta for c in asked), Fraction(0)))
    whose = "" if len(tried.after.items) == 1 else f" for the unit with the tag {unit[:12]}"
    implied = (
        " No budget was declared, so it is what the first release cost: declare one (budget=..., "
        "takifugu ledger budget, or Ledger.set_budget) if more may be spent."
        if source.budget_is_implied
        else ""
    )
    asks = f"this release asks for {wanted}" if asked else "this release is about a unit pooled with it"
    fit = what_fits(tried.before, tried.after, unit, budget)
    return (
        f"the source {source.name!r} has spent {spent}{whose}, of a budget of {budget.text(up=False)}; left: "
        f"{left.text(up=False)}; {asks}, and all together would cost {total}. What would fit: {fit}.{implied}"
    )
