"""Whether a payment on trial fits its budgets, what of it would fit, and what it charges unlike units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from takifugu.accounting.amounts import NOTHING, Amount, short
from takifugu.accounting.composition import joint
from takifugu.accounting.ledger.totals import Account
from takifugu.accounting.ledger.trials import Trial
from takifugu.accounting.ledger.view import Step
from takifugu.accounting.ledger.words import enough, setting, worthless
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import BudgetExceeded, CompositionRefused
from takifugu.numbers.search import least_factor


def excess(trial: Trial) -> BudgetExceeded | None:
    """Return the error of the first source whose budget a payment would exceed, and the account that does."""
    for name, total in trial.worst.items():
        budget = trial.view.source(name).budget
        if budget is not None and not total.fits(budget):
            over = (one for one in trial.accounts if not _cost(trial, one, name).fits(budget))
            return _refusal(trial, next(over, trial.accounts[0]), name, budget)
    return None


def _cost(trial: Trial, account: Account, name: str) -> Amount:
    return account.spent(trial.view).get(name, NOTHING)


def _before(trial: Trial, account: Account, name: str) -> Amount:
    """Return what an account had spent before a payment."""
    return account.without(trial.paid.group).spent(trial.before).get(name, NOTHING)


def _new(trial: Trial, account: Account) -> list[Step]:
    return [step for step in account.steps if step.group == trial.paid.group]


def _promised(steps: Sequence[Step]) -> Amount:
    total = NOTHING
    for step in steps:
        total = total.plus(Amount(step.charge.epsilon, step.charge.delta))
    return total


def _refusal(trial: Trial, account: Account, name: str, budget: Amount) -> BudgetExceeded:
    new, spent = _new(trial, account), _before(trial, account, name)
    source, total, left = trial.view.source(name), _cost(trial, account, name), budget.beyond(spent)
    release = "this release"
    if name != trial.paid.source:
        release = f"this release about {trial.paid.source!r}, where the same people are,"
    rule = f"{name!r} has {left.text(up=False)} left of a budget of {budget.text(up=False)}"
    if source.is_implied:
        rule += ", what its first release cost (no budget was declared)"
    if account.pasts > 1:
        rule += (
            f"; so many people have a past of their own that they are counted in groups, of {account.pasts:,} pasts, "
            "each as one who was in all of them"
        )
    fit, share = _what_fits(trial, account, name, spent, budget)
    cost = total.beyond(spent)
    way = worthless(cost, budget) or f"to spend that much, run\n{setting(trial.view.name, name, enough(total))}"
    return BudgetExceeded(
        f"{release} would cost {cost}", rule=rule, fix=f"fits: {fit};\n{way}", spent=spent, requested=_promised(new),
        left=left, total=total, budget=budget, fits=fit, source=name, share=share,
    ).at("budget")  # fmt: skip


def _what_fits(trial: Trial, account: Account, name: str, spent: Amount, budget: Amount) -> tuple[str, Fraction | None]:
    """Say what of a payment fits a budget, as alternatives, and the share of its epsilons."""
    new = _new(trial, account)

    def fits(factor: Fraction) -> bool:
        steps = [_quieter(step, factor) if step.group == trial.paid.group else step for step in account.steps]
        try:
            return _cost(trial, replace(account, steps=steps), name).fits(budget)
        except CompositionRefused:
            return False

    if spent.epsilon >= budget.epsilon:
        return "nothing more", None
    if any(step.charge.delta > budget.delta for step in new):
        return "perhaps the same with a smaller delta, or with delta 0", None
    total, factor = _promised(new).epsilon, None
    is_sum = not any(step.charge.covers is Covers.ENTRIES for step in account.steps)
    if is_sum:
        as_sum = total / (budget.epsilon - spent.epsilon)
        factor = as_sum if fits(as_sum) and not fits(as_sum * Fraction(99, 100)) else None
    factor = factor or least_factor(fits)
    if factor is None:
        return "nothing more", None
    if is_sum:
        what = "epsilon" if len(new) == 1 else "epsilons that add up to"
        return f"{what} at most {short(total / factor, up=False)}", 1 / factor
    costs = []
    for step in new:
        framework = trial.view.frameworks[step.belief]
        costs.append(joint(framework, [_quieter(step, factor).charge], step.belief, False).epsilon)
    share = max(costs) / max(step.charge.epsilon for step in new)
    noise = f"noise of {short(factor, up=True)} times the scale (alone, epsilon {short(max(costs), up=False)})"
    return noise, min(share, Fraction(1))


def _quieter(step: Step, factor: Fraction) -> Step:
    """Return a line with `factor` times the noise; a promise about single entries stays: the joint loss is less."""
    charge = step.charge
    if charge.scale is not None:
        charge = replace(charge, scale=charge.scale * factor)
    if charge.covers is not Covers.ENTRIES:
        charge = replace(charge, epsilon=charge.epsilon / factor)
    return replace(step, charge=charge)


@dataclass(frozen=True)
class Charged:
    """What a release promises so many units of a source alone, and what it adds to their totals."""

    units: int
    alone: Amount
    added: Amount


def charges(trial: Trial) -> tuple[Charged, ...]:
    """Return what a payment comes to for unlike units of its source."""
    counts, sizes = Counter[tuple[Amount, Amount]](), trial.view.people.sizes
    for account in trial.accounts:
        new, cost = _new(trial, account), account.spent(trial.view).get(trial.paid.source)
        if new and cost is not None:  # whoever has no total in the source is none of its units
            before = _before(trial, account, trial.paid.source)
            counts[_promised(new), cost.beyond(before)] += sizes[account.number] if account.number >= 0 else 1
    return tuple(Charged(count, *amounts) for amounts, count in sorted(counts.items()))
