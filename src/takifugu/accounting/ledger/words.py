"""What a ledger asks and refuses, in words: before anything is written, with the numbers and what would fit."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

from takifugu.accounting.amounts import SMALLEST_SPEND, Amount, three_digits
from takifugu.accounting.ledger.events import NOBODY, UNREADABLE, Line, canonical
from takifugu.accounting.ledger.view import Source, View
from takifugu.accounting.suspicion import MUCH, warning
from takifugu.analysis.guarantee import Charge
from takifugu.core.errors import CompositionRefused, InputError, LedgerError, PeopleUndeclared
from takifugu.core.escaping import at_most, command
from takifugu.core.names import normalised
from takifugu.core.plain import Plain
from takifugu.core.rules import check_type
from takifugu.model.frameworks import Framework
from takifugu.numbers.rationals import to_text

#: The most bytes of noisy values that one payment keeps.
LARGEST = 400_000_000


def source_name(name: object) -> str:
    """Return a name in the ledger's spelling; raises InputError for none."""
    spelling = normalised(name, "the name of a source") if isinstance(name, str) else ""
    if not spelling:
        fix = "give the data a name, such as 'activity-study'"
        raise InputError(f"the source's name is {name!r}", fix=fix).at("source")
    return spelling


def as_stored(charge: Charge, framework: Framework, name: str) -> Charge:
    """Return a charge as it is kept; raises InputError or LedgerError for one that cannot be counted or read again."""
    if charge.epsilon < SMALLEST_SPEND:
        raise LedgerError(
            f"the release {name!r} would spend epsilon {at_most(charge.epsilon)}",
            rule="a release costs more than nothing", fix="calibrate it for an epsilon above 0, for example 0.1",
        )  # fmt: skip
    if charge.framework != framework.fingerprint():
        raise InputError(
            f"the release {name!r} was charged under another framework than the one that it names for its person",
            fix="use charge_of(calibration, framework=...) with the person's framework",
        )
    stored = replace(charge, reading="", at=None)
    try:
        Charge.from_dict(json.loads(canonical(stored.to_dict(), "the charge of this release")))
    except (InputError, ArithmeticError, ValueError) as error:
        why = error.message if isinstance(error, InputError) else str(error)
        raise InputError(
            f"the charge of the release {name!r} would not read back from a ledger: {why}",
            rule="what is paid for can be written down and read",
            fix="publish numbers of an ordinary size, such as millions",
        ) from None
    return stored


def check_names_units(source: Source, lines: Sequence[Line]) -> None:
    """Refuse a source that names its people in some releases only."""
    named = {line.units != NOBODY for line in lines}
    if len(named) > 1 or (source.names_units is not None and named != {source.names_units}):
        raise LedgerError(
            "about one source, either every release names the people that it reads or none does: name them as before, "
            "or give these data another source name if nothing was released about them"
        )


def check_people(view: View, name: str, same_people: bool) -> None:
    """Ask about the people of a source without releases, beside one that has some."""
    others = sorted(other.name for other in view.sources.values() if other.tables)
    if others and name not in others and not same_people:
        raise PeopleUndeclared(name, others[0])


def refuse_twice(view: View, source: str, names: Mapping[str, str], recipe: Plain) -> None:
    """Refuse a second payment for a release under one key, and a key that looks like an earlier one."""
    once = recipe.get("once")
    if once is None:
        return
    for group in view.groups_of(source):
        paid, before = group.paid, view.recipe(group).get("once")
        twice = sorted(names.keys() & paid.ids.keys())
        if before == once and twice:
            raise LedgerError(
                f"{', '.join(twice)} was paid for with the key {once!r} before ({paid.created})",
                rule="one key pays once", fix="run the same command again, which pays nothing, or write another key",
            ).at("once")  # fmt: skip
        if before not in (None, once) and normalised(str(before)).casefold() == normalised(once).casefold():
            raise LedgerError(
                f"the key {once!r} is not {before!r}, with which {', '.join(sorted(paid.ids))} was paid for before "
                f"({paid.created[:10]}), and looks like it", rule="one key pays once",
                fix="write the earlier key, which pays nothing for what it has paid for, or another one",
            ).at("once")  # fmt: skip


# Budgets


def setting(ledger: object, name: str, budget: Amount) -> str:
    """Return the command to set a source's budget."""
    delta = ("--delta", _pasted(budget.delta)) if budget.delta else ()
    return command("ledger", "set-budget", str(ledger), name, _pasted(budget.epsilon), *delta)


def _pasted(value: Fraction) -> str:
    """Write a number as it is pasted: a decimal if that is the number, else the fraction."""
    decimal = at_most(value).replace(",", "")
    return decimal if Fraction(decimal) == value else to_text(value)


def enough(cost: Amount) -> Amount:
    """Return a cost rounded up to three digits, as a short budget."""
    return Amount(three_digits(cost.epsilon), three_digits(cost.delta))


def worthless(cost: Amount, budget: Amount) -> str:
    """Say why no budget is worth a release's cost, or ""."""
    # whoever declares a budget of that size has decided otherwise
    if not budget.epsilon < MUCH <= cost.epsilon:
        return ""
    return f"no budget is worth that: {warning(cost.epsilon)}"


def check_budget(ledger: str, source: Source, budget: Amount) -> None:
    """Refuse another budget than the one declared before, and one below what is spent."""
    if source.budget is not None and not source.is_implied:
        change = f"write the ledger's, {source.budget}"
        if source.budget.fits(budget):  # never a command that lowers it: files that differ would be told so in turn
            change = f"change it on purpose: {setting(ledger, source.name, budget)}"
        raise LedgerError(
            f"the source {source.name!r} has a budget of {source.budget}, and now {budget} is declared",
            fix=f"leave the budget out, or {change}",
        ).at("budget")
    check_spent(source, budget)


def check_spent(source: Source, budget: Amount) -> None:
    if not source.spent.fits(budget):
        amount, limit = source.spent.with_budget(budget)
        raise LedgerError(
            f"the source {source.name!r} has spent {amount} already", rule=f"{limit} is less",
            fix="write no smaller budget",
        ).at("budget")  # fmt: skip


# What waits, and what is read


def packed(values: bytes) -> bytes:
    """Pack noisy values; raises LedgerError for more than a ledger keeps, and InputError for what are none."""
    check_type(values, bytes, "the bytes of values", "encode a text, as by text.encode()", "values")
    if len(values) > LARGEST:
        raise LedgerError(
            f"the files of this release take {len(values) // 1_000_000:,} MB",
            rule=f"a ledger keeps at most {LARGEST // 1_000_000} MB of one release",
            fix="publish fewer rows or cells at once",
        )
    return zlib.compress(values, 9 if len(values) < 10**6 else 1)


def texts_of(certificates: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return the texts of certificates; raises InputError for what are none."""
    due, fix = "the text of certificates in bytes", "give a list of bytes, a certificate each"
    check_type(certificates, Iterable, due, fix, "certificates")
    texts = tuple(certificates)
    for text in texts:
        check_type(text, bytes, due, fix, "certificates")
    return texts


def unpacked(body: bytes) -> bytes:
    """Return packed values; b"" for what are none, which have no such digest."""
    unpacking = zlib.decompressobj()
    try:
        values = unpacking.decompress(body, LARGEST + 1)
    except (zlib.error, TypeError):
        return b""
    return values if unpacking.eof and not unpacking.unused_data else b""


@contextmanager
def of_certificate() -> Iterator[None]:
    """Turn whatever a certificate lacks into an InputError."""
    try:
        yield
    except (LedgerError, InputError, CompositionRefused):
        raise
    except UNREADABLE as error:
        raise InputError(
            f"the certificate does not say what was charged ({error})", fix="give a certificate as it was published"
        ) from None
