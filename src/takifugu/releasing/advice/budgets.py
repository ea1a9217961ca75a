"""What a remedy costs beside the declared budget: how often it fits, and what to change where it does not."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING

from takifugu.core.errors import TakifuguError
from takifugu.core.names import normalised
from takifugu.core.plain import Plain
from takifugu.releasing.advice.candidates import number_of
from takifugu.releasing.advice.changes import Change
from takifugu.releasing.planning.plan import Plan
from takifugu.releasing.planning.questions import debits_of

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Preview


def room_of(planned: Plan) -> float:
    """Return how often what a plan costs, with what was spent, fits into the declared budget; infinite without one."""
    most = planned.file.epsilon_budget
    account = None if most is None else _account(planned)
    if most is None or account is None or account.after is None or not account.after.epsilon:
        return math.inf
    return float(most / account.after.epsilon)


def larger_budget(raw: Plain, room: float) -> Change:
    """Return the change of the budget that is enough for what fits into it so often."""
    budget = raw["source"]["budget"]
    if isinstance(budget, dict):
        return Change(("source", "budget"), {**budget, "epsilon": two_digits(number_of(budget["epsilon"]) / room)})
    return Change(("source", "budget"), two_digits(number_of(budget) / room))


def said_to_ledger(planned: Plan, change: Change) -> str:
    """Say how the ledger is told of another budget before the file is; "" where it has counted none for the source."""
    account = _account(planned)
    if account is None or not account.budget_is_declared:
        return ""
    budget = change.value if isinstance(change.value, dict) else {"epsilon": change.value}
    delta = f" --delta {budget['delta']}" if "delta" in budget else ""
    name = shlex.quote(normalised(planned.file.source.name))
    return f"the ledger has another budget, so first `takifugu ledger budget LEDGER {name} {budget['epsilon']}{delta}`"


def two_digits(value: float, down: bool = False) -> float:
    """Round up, or down, to two significant digits."""
    if not 0 < value < math.inf:
        return math.inf
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    whole = math.floor(value / step + 1e-9) if down else math.ceil(value / step - 1e-9)
    return round(whole * step, 10)


def _account(planned: Plan) -> Preview | None:
    """Return what the ledger would count of a plan; None where it cannot, which is said by what opens it."""
    from takifugu.accounting.ledger import preview  # nothing is loaded that reads ledgers where no budget is declared

    source, questions = planned.file.source, [q for table in planned.tables for q in table.questions]
    try:
        debits = debits_of(questions)
        return preview(
            planned.file.ledger, normalised(source.name), debits, None, source.as_composing, source.same_people
        )
    except TakifuguError:
        return None
