"""What a payment would come to, and what has to be said before: a question has the price of each answer."""

from __future__ import annotations

from dataclasses import replace

from takifugu.accounting.ledger import fitting, words
from takifugu.accounting.ledger.trials import Order, Trial, trial_of
from takifugu.accounting.ledger.values import Preview
from takifugu.accounting.ledger.view import View
from takifugu.core.errors import CompositionRefused, InputError, LedgerError, PeopleUndeclared, ReadingChanged


def preview_of(ledger: str, view: View, order: Order) -> Preview:
    """Return what a payment would come to on a view; raises what cannot be counted."""
    asks: ReadingChanged | PeopleUndeclared | None = None
    try:
        trial = trial_of(ledger, view, order)
    except ReadingChanged as changed:
        trial, asks = _by_either_answer(ledger, view, order, changed)
    except PeopleUndeclared as undeclared:
        trial, asks = _with_other_sources(ledger, view, order, undeclared)
    before, after = view.source(order.source), trial.view.source(order.source)
    assert after.budget is not None, "an implied budget is one"
    return Preview(
        before.spent, after.spent, after.budget, not after.is_implied, fitting.charges(trial),
        fitting.excess(trial, ledger), asks, trial, order,
    )  # fmt: skip


def _by_either_answer(
    ledger: str, view: View, order: Order, changed: ReadingChanged
) -> tuple[Trial, ReadingChanged]:
    """Return what a payment comes to by the first answer that can be counted, and the question with both prices."""
    trials, prices, refusals = list[Trial](), list[str](), list[Exception]()
    for answer in (True, False):
        try:
            trial = trial_of(ledger, view, replace(order, same_entries=answer, why=order.why or "a rehearsal"))
            trials.append(trial)
            prices.append(words.price(view, trial.view, order.source))
        except (InputError, LedgerError, CompositionRefused) as refused:
            refusals.append(refused)
            prices.append(f"refused, {refused.message}")
    if not trials:
        raise refusals[-1]
    return trials[0], ReadingChanged(order.source, changed.before, changed.now, *prices)


def _with_other_sources(
    ledger: str, view: View, order: Order, undeclared: PeopleUndeclared
) -> tuple[Trial, PeopleUndeclared]:
    """Return what a payment comes to beside the other sources, and the question with that price."""
    try:
        try:
            trial = trial_of(ledger, view, replace(order, same_people=True))
        except ReadingChanged:  # which is asked afterwards
            trial = trial_of(ledger, view, replace(order, same_people=True, same_entries=False))
    except (InputError, LedgerError, CompositionRefused) as refused:
        raise PeopleUndeclared(undeclared.source, undeclared.other, f"refused, {refused.message}") from None
    price = words.price(view, trial.view, order.source)
    return trial, PeopleUndeclared(undeclared.source, undeclared.other, price)
