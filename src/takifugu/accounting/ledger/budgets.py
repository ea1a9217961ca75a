"""The budget of a source: declared with it, implied by its first release, or changed; never below what is spent."""

from __future__ import annotations

from dataclasses import replace
from secrets import token_hex

from takifugu.accounting.amounts import three_digits
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.applying import note
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.facts import Fact
from takifugu.accounting.ledger.values import Amount, Source
from takifugu.accounting.suspicion import MUCH, warning
from takifugu.core.errors import InputError, LedgerError
from takifugu.core.escaping import command
from takifugu.core.names import normalised
from takifugu.numbers.rationals import Number, to_text

Budget = Number | tuple[Number, Number] | Amount


def source_with(connection: Connection, name: str, budget: Amount | None) -> Source:
    """Return a source, made if new.

    Raises LedgerError where another budget was declared before.
    """
    if not rows.read_source(connection, name).number:
        note(connection, Fact("source", name, {"id": token_hex(8)}))
    source = rows.known_source(connection, name)
    declared = None if source.budget_is_implied else source.budget
    if budget is None or budget == declared:
        return source
    if declared is not None:
        raise other_budget(connection.ledger, name, declared, budget)
    return set_budget(connection, source, budget)


def other_budget(ledger: object, name: str, declared: Amount, budget: Amount) -> LedgerError:
    """Return the error about a source's other budget.

    Its fix never lowers a budget: files that differ would be told so in turn.
    """
    change = f"write the ledger's, {declared}"
    if declared.fits(budget):
        change = f"change it on purpose: {setting(ledger, name, budget)}"
    return LedgerError(
        f"the source {name!r} has a budget of {declared}, and now {budget} is declared",
        fix=f"leave the budget out, or {change}",
    ).at("budget")


def setting(ledger: object, name: str, budget: Amount) -> str:
    """Return the command to set a source's budget."""
    delta = ("--delta", to_text(budget.delta)) if budget.delta else ()
    return command("ledger", "budget", ledger, name, to_text(budget.epsilon), *delta)


def enough(cost: Amount) -> Amount:
    """Return a cost rounded up to three digits, as a short budget."""
    return Amount(three_digits(cost.epsilon), three_digits(cost.delta))


def worthless(cost: Amount, budget: Amount) -> str:
    """Say why no budget is worth a release's cost, or "".

    Whoever declares a budget of that size has decided otherwise.

    >>> worthless(Amount(0, 0.1), Amount(1, 0)), worthless(Amount(10, 0), Amount(1, 0))[:24]
    ('', 'no budget is worth that:')
    """
    if not budget.epsilon < MUCH <= cost.epsilon:
        return ""
    return f"no budget is worth that: {warning(cost.epsilon)}"


def spent_already(name: str, spent: Amount, budget: Amount) -> LedgerError:
    """Return the error about a budget already spent."""
    amount, most = spent.with_budget(budget)
    return LedgerError(
        f"the source {name!r} has spent {amount} already", rule=f"{most} is less", fix="write no smaller budget"
    ).at("budget")


def set_budget(connection: Connection, source: Source, budget: Amount) -> Source:
    """Give a source another budget.

    Raises LedgerError where more is spent already.
    """
    spent = rows.most_spent(connection, source.number)
    if not spent.fits(budget):
        raise spent_already(source.name, spent, budget)
    write_budget(connection, source.name, budget, implied=False)
    return replace(source, budget=budget, budget_is_implied=False)


def write_budget(connection: Connection, name: str, budget: Amount, implied: bool) -> None:
    """Note a source's declared or implied budget."""
    budget_text = {"epsilon": to_text(budget.epsilon), "delta": to_text(budget.delta), "implied": implied}
    note(connection, Fact("budget", name, budget_text))


def known_source(connection: Connection, name: str) -> Source:
    """Return a source by its name; raises LedgerError for an unknown one."""
    source = rows.read_source(connection, source_name(name))
    if not source.number:
        names = [row.name for row in rows.read_rows(connection)]
        raise LedgerError(f"the ledger {str(connection.ledger)!r} has no source {name!r}", fix=f"it has {names}").at(
            "source"
        )
    return source


def source_name(name: str) -> str:
    """Return a name in the ledger's spelling; raises InputError for none."""
    spelling = normalised(name, "the name of a source") if isinstance(name, str) else ""
    if not spelling:
        raise InputError(f"the source's name is {name!r}", fix="give the data a name, such as 'activity-study'").at(
            "source"
        )
    return spelling
