"""The epsilon with which a release that is over its budget fits, tried before it is offered."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import BudgetExceeded, TakifuguError
from takifugu.core.plain import Json
from takifugu.releasing.advice.changes import Change, applied
from takifugu.releasing.file.loading import checked, parsed
from takifugu.releasing.planning.plan import Plan, plan

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Preview

#: How often a smaller epsilon is tried, and how much smaller each is.
TRIES, SMALLER = 6, Fraction(9, 10)


def lines_that_fit(planned: Plan, over: BudgetExceeded, previewed: Callable[[Plan, Any], Preview]) -> str:
    """Return what to write in which [[table]] so that the release fits, "" where nothing is found.

    The lines are tried: the tables are calibrated again, and the ledger is asked what they would cost.
    """
    if over.share is None or not planned.questions:
        return ""
    try:
        raw = parsed(planned.file.path)
        share = over.share
        for _ in range(TRIES):
            changes = _changes(raw["table"], planned, share)
            if not changes:
                return ""
            if _fits(applied(raw, changes), planned, previewed):
                return _in_lines(changes)
            share *= SMALLER
    except TakifuguError:  # what is changed is another file, which may be refused for another reason
        return ""
    return ""


def _changes(items: Sequence[dict[str, object]], planned: Plan, share: Fraction) -> list[Change]:
    """Return every table's epsilon times a share, rounded down; none where one has no epsilon of its own."""
    changes: dict[int, Change] = {}
    for table in planned.tables:
        name = table.item.name
        for number, item in enumerate(items):
            if name == item.get("name") or name.startswith(f"{item.get('name')}-"):
                epsilon = item.get("epsilon")
                if epsilon is None or isinstance(epsilon, bool | list | dict):
                    return []
                smaller = _rounded_down(Fraction(str(epsilon)) * share)
                if not smaller:
                    return []
                changes[number] = Change(("table", number, "epsilon"), smaller, str(item["name"]))
                break
    return [*changes.values()]


def _rounded_down(value: Fraction) -> float:
    """Return three digits of a number, and never more.

    >>> _rounded_down(Fraction("2.64999")), _rounded_down(Fraction(1, 3)), _rounded_down(Fraction(1, 3000))
    (2.64, 0.333, 0.000333)
    """
    if value <= 0:
        return 0.0
    places = 2 - math.floor(math.log10(value))
    return float(math.floor(value * Fraction(10) ** places) / Fraction(10) ** places)


def _fits(raw: Json, planned: Plan, previewed: Callable[[Plan, Any], Preview]) -> bool:
    file = planned.file
    changed = plan(checked(raw, file.path, file.given, file.window)).only({table.name for table in planned.tables})
    account = previewed(changed, file.budget)
    return account.over is None and account.after is not None


def _in_lines(changes: Sequence[Change]) -> str:
    if len(changes) == 1:
        return f"or write under {changes[0].section}\n{changes[0].line}"
    lines = [f"{change.line}  # under {change.section}" for change in changes]
    return "\n".join(["or write", *lines])
