"""What tables cost beside the declared budget: how often they fit, and what to write or run where they do not.

An epsilon with which they fit is tried before it is offered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import BudgetExceeded, CompositionRefused, LedgerError, TakifuguError
from takifugu.core.names import normalised
from takifugu.core.plain import Json, Plain
from takifugu.releasing.advice.changes import Change, Place, applied, number_of
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import checked, parsed
from takifugu.releasing.file.neighbours import notices_of_file
from takifugu.releasing.planning.book import opened, payments_of
from takifugu.releasing.planning.identity import keys_in, keys_of
from takifugu.releasing.planning.notices import asks_words, notices_of_reading
from takifugu.releasing.planning.plan import Plan, plan
from takifugu.releasing.planning.questions import debits_of

if TYPE_CHECKING:
    from takifugu.accounting.amounts import Amount, Budget
    from takifugu.accounting.ledger import Preview


def room_of(planned: Plan, account: Preview | None = None) -> float:
    """Return the number of times a plan's costs fit the declared budget, after the spent ones; infinite without."""
    from takifugu.accounting.amounts import Amount
    from takifugu.accounting.ledger.words import worthless

    most = planned.file.epsilon_budget
    if most is None:
        return math.inf
    try:
        account = account or previewed(unpaid(planned), None)
    except TakifuguError:
        return math.inf
    if not account.after.epsilon:
        return math.inf
    # no budget is worth the costs
    if worthless(account.after.beyond(account.before), Amount(most, Fraction(0))):
        return 0
    return float(most / account.after.epsilon)


def unpaid(planned: Plan) -> Plan:
    """Return the plan without the tables that were published as they are: they cost nothing more."""
    from takifugu.accounting.ledger import OVER

    file = planned.file
    over = [paid for paid in payments_of(file) if paid.state == OVER]
    due = [table for table in planned.tables if keys_of(file, table.item) not in [keys_in(p, table.item) for p in over]]
    return planned.only({table.name for table in due})


def previewed(planned: Plan, budget: Budget | None) -> Preview:
    """Return what the ledger would count for a plan's tables."""
    file = planned.file
    return opened(file.ledger).preview(
        file.source.name, debits_of(planned.questions), budget, reading=file.reading, entries=file.entries,
        same_people=file.source.same_people,
    )


def beforehand(planned: Plan) -> tuple[Preview | None, tuple[str, ...]]:
    """Return what the ledger would count, and what speaks against it."""
    file, account, refusal = planned.file, None, ""
    try:
        if not (due := unpaid(planned)).tables:
            return None, tuple(notices_of_file(file))
        if planned.knows_units:
            account = previewed(due, file.budget)
            refusal = "" if account.over is None else with_ways_to_pay(account.over, file, due).message
        reading = notices_of_reading(file) if account is None else (asks_words(account.asks),)
    except CompositionRefused as refused:
        reading, refusal = (), str(refused)
    except LedgerError as error:
        return None, (error.message,)
    notices = [words for words in (*reading, *notices_of_file(file)) if words and words not in refusal]
    if refusal:
        notices.append(f"the ledger would refuse what is not published yet: {refusal}")
    return account, tuple(notices)


def larger_budget(raw: Plain, room: float) -> Change:
    """Return the change to a budget that is large enough. `room` is how often the costs fit into the present one."""
    budget = raw["source"]["budget"]
    if isinstance(budget, dict):
        return Change(("source", "budget"), {**budget, "epsilon": two_digits(number_of(budget["epsilon"]) / room)})
    return Change(("source", "budget"), two_digits(number_of(budget) / room))


def said_to_ledger(planned: Plan, change: Change) -> str:
    """Say how to tell the ledger of a new budget first. Empty where the ledger has counted none for the source."""
    if not _is_declared(planned.file):
        return ""
    from takifugu.accounting.amounts import as_budget

    value: Any = change.value
    if isinstance(value, dict):
        value = value["epsilon"], value.get("delta", 0)
    budget = as_budget(value)
    return f"the ledger has another budget, so first {_setting(planned.file, budget)}"


def with_ways_to_pay(over: BudgetExceeded, file: ReleaseFile, planned: Plan | None = None) -> BudgetExceeded:
    """Return the error with what to write in a file, or to run, instead; last the epsilon of the plan that fits."""
    from takifugu.accounting.amounts import Amount
    from takifugu.accounting.ledger.words import enough, worthless

    total = Amount(*over.total)
    if over.source != normalised(file.source.name):  # of the same people
        return over
    if reason := worthless(total.beyond(Amount(*over.spent)), Amount(*over.budget)):
        over.fix = f"fits in [[table]]: {over.fits};\n{reason}"
        return over.at("source")
    budget, ways = enough(total), list[str]()
    if file.budget:
        value: float | Json = float(budget.epsilon)
        if budget.delta:
            value = {"epsilon": value, "delta": float(budget.delta)}
        ways.append(f"write {Change(('source', 'budget'), value).words} under [source]")
    if not ways or _is_declared(file):
        ways.append(f"run\n{_setting(file, budget)}")
    over.fix = f"fits in [[table]]: {over.fits};\nto spend that much, {' and '.join(ways)}"
    if planned is not None and (lines := _lines_that_fit(planned, over)):
        over.fix = f"{over.fix};\n{lines}"
    return over.at("source")


def _setting(file: ReleaseFile, budget: Amount) -> str:
    from takifugu.accounting.ledger.words import setting

    return setting(file.ledger, normalised(file.source.name), budget)


def _is_declared(file: ReleaseFile) -> bool:
    """Return whether the file's ledger counts a budget for its source."""
    try:
        source = opened(file.ledger).view().source(normalised(file.source.name))
    except TakifuguError:
        return False
    return source.budget is not None and not source.is_implied


def two_digits(value: float, down: bool = False) -> float:
    """Round up, or down, to two significant digits."""
    if not 0 < value < math.inf:
        return math.inf
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    digits = math.floor(value / step + 1e-9) if down else math.ceil(value / step - 1e-9)
    return round(digits * step, 10)


#: How often a smaller epsilon is tried, and how much smaller each is.
TRIES, SMALLER = 6, Fraction(9, 10)


def _lines_that_fit(planned: Plan, over: BudgetExceeded) -> str:
    """Return the lines for each [[table]] with which the release fits, "" where nothing is found."""
    if over.share is None or not planned.questions:
        return ""
    try:
        raw = parsed(planned.file.path)
        share = over.share
        for _ in range(TRIES):
            changes = _changes(raw, planned, share)
            if not changes:
                return ""
            # they are tried: the tables are calibrated again, and the ledger is asked for the cost
            if _fits(applied(raw, changes), planned):
                return _in_lines(changes)
            share *= SMALLER
    except TakifuguError:  # what is changed is another file, which may be refused for another reason
        return ""
    return ""


def _changes(raw: Plain, planned: Plan, share: Fraction) -> list[Change]:
    """Return every epsilon that tables have or share, times a share, rounded down; none where one has none."""
    changes: dict[Place, Change] = {}
    for table in planned.tables:
        name = table.item.name
        for number, item in enumerate(raw["table"]):
            if name == item.get("name") or name.startswith(f"{item.get('name')}-"):
                where: Place = ("table", number, "epsilon")
                epsilon = item.get("epsilon")
                if epsilon is None:
                    where, epsilon = ("joint_epsilon",), raw.get("joint_epsilon")
                if epsilon is None or isinstance(epsilon, bool | list | dict):
                    return []
                smaller = _rounded_down(Fraction(str(epsilon)) * share)
                if not smaller:
                    return []
                changes[where] = Change(where, smaller, str(item["name"]))
                break
    return [*changes.values()]


def _rounded_down(value: Fraction) -> float:
    """Return three digits of a number, and never more."""
    if value <= 0:
        return 0.0
    places = 2 - math.floor(math.log10(value))
    return float(math.floor(value * Fraction(10) ** places) / Fraction(10) ** places)


def _fits(raw: Json, planned: Plan) -> bool:
    file = planned.file
    changed = plan(checked(raw, file.path, file.given, file.window, bool(file.endless)))
    return previewed(changed.only({table.name for table in planned.tables}), file.budget).over is None


def _at(change: Change) -> str:
    return f"under {change.section}" if len(change.where) > 1 else f"at {change.section}"


def _in_lines(changes: Sequence[Change]) -> str:
    if len(changes) == 1:
        return f"or write {_at(changes[0])}\n{changes[0].line}"
    lines = [f"{change.line}  # {_at(change)}" for change in changes]
    return "\n".join(["or write", *lines])
