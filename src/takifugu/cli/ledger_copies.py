"""Commands about a ledger and its copies: what it lacks, whether it is whole, and of which format it is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.values import NOTHING
from takifugu.cli.output import amount, path_text, print_json
from takifugu.core.errors import InputError, LedgerError
from takifugu.core.escaping import at_most
from takifugu.core.plain import Json
from takifugu.core.text.tables import name_of, paragraph, text_table

if TYPE_CHECKING:
    from takifugu.releasing.publishing.adopting import Adopted

#: How a release is charged of which only the certificate is there.
AS_PAID, AT_WORST = "as what it is", "at its worst"
WORST_MEANS = (
    "at its worst: to every person, at the cost of a change of the whole data; this ledger does not know what the "
    "release was charged, or in which order it came"
)


def adopt(ledger_file: Path, folder: Path, yes: bool, as_json: bool) -> None:
    from takifugu.releasing.publishing.adopting import adopt

    offered: list[Sequence[Adopted]] = []

    def agree(prices: Sequence[Adopted]) -> bool:
        offered.append(prices)
        if not as_json:
            _print_prices(prices)
        return yes or agreed("enter them as spent? This cannot be taken back")

    adopted = adopt(ledger_file, folder, agree)
    if as_json:
        sources = list[Json]()
        for adoption in adopted:
            sources.append({
                "name": adoption.source, "releases": list(adoption.releases), "before": amount(adoption.before),
                "after": list(map(amount, adoption.after)), "as_paid": list(adoption.as_paid),
                "spent": amount(adoption.spent),
            })  # fmt: skip
        print_json("ledger adopt", ledger_file, {"sources": sources})
        return
    if not offered:
        click.echo(paragraph(f"nothing to enter: the ledger knows every release that a certificate in {folder} names"))
    elif not adopted:
        click.echo("nothing was entered")
    for adoption in adopted:
        releases = f"{', '.join(adoption.releases)} about {adoption.source!r}"
        click.echo(paragraph(f"entered as spent: {releases}; the source has now spent {adoption.spent}"))


def _print_prices(prices: Sequence[Adopted]) -> None:
    """Print each release's cost and the total."""
    for price in prices:
        click.echo(paragraph(f"source {price.source!r}, which has spent {price.before}, would have spent"))
        lines = list[list[str]]()
        for name, spent, as_paid in zip(price.releases, price.after, price.as_paid, strict=True):
            charged = AS_PAID if as_paid else AT_WORST
            lines.append([name, at_most(spent.epsilon), at_most(spent.delta), charged])
        click.echo(text_table(["with release", "epsilon", "delta", "charged"], lines))
        if not all(price.as_paid):
            click.echo(paragraph(WORST_MEANS))


def agreed(question: str) -> bool:
    """Ask for agreement at the terminal; InputError without one."""
    if not sys.stdin.isatty():
        raise InputError("nobody is there to be asked", fix="look at the prices, and add --yes").at("--yes")
    return click.confirm(question, err=True)


def check(ledger_file: Path, as_json: bool) -> None:
    differences = Ledger.open(ledger_file, create=False).check()
    if as_json:
        print_json("ledger check", ledger_file, {"differences": list(differences)})
    elif not differences:
        click.echo(paragraph("the ledger is what its events say, and no event is missing, moved or edited"))
    else:
        for difference in differences:
            click.echo(paragraph(difference))
    if differences:
        raise LedgerError(
            f"the ledger {str(ledger_file)!r} was edited or damaged (differences: {len(differences):,})",
            rule="nothing is to be paid with it",
            fix="restore a backup, or compute all from its events again where these are whole (Ledger.rebuild)",
        )


def merge(ledger_file: Path, other: Path, dry_run: bool, as_json: bool) -> None:
    merged = Ledger.open(ledger_file, create=False).merge(other, is_rehearsal=dry_run)
    if as_json:
        sources = list[Json]()
        for row in merged.after:
            spent_before = amount(merged.before.get(row.name, NOTHING))
            sources.append({"name": row.name, "before": spent_before, "spent": amount(row.spent)})
        former = path_text(merged.former)
        print_json("ledger merge", ledger_file, {"payments": merged.payments, "sources": sources, "kept": former})
        return
    if not merged.payments:
        click.echo(paragraph(f"{ledger_file} knows all that {other} paid for"))
        return
    verb = "lacks" if dry_run else "lacked"
    lacking = f"of the payments of {other}, {ledger_file} {verb} {merged.payments:,}"
    click.echo(paragraph(f"{lacking}; what was spent, with them:"))
    lines = list[list[str]]()
    for row in merged.after:
        before, budget = merged.before.get(row.name, NOTHING), "none"
        if row.budget is not None:
            budget = row.budget.text(up=False)
        lines.append([name_of(row.name), at_most(before.epsilon), at_most(row.spent.epsilon), budget])
    click.echo(text_table(["source", "before", "with the other", "budget"], lines))
    for row in merged.after:
        if row.budget is not None and not row.spent.fits(row.budget):
            click.echo(paragraph(f"the source {row.name!r} has spent more than its budget: nothing more is paid"))
    if merged.former is not None:
        click.echo(paragraph(f"the ledger as it was is kept at {merged.former}; go on with this one, in both places"))


def upgrade(ledger_file: Path, as_json: bool) -> None:
    former = Ledger.upgrade(ledger_file)
    if as_json:
        print_json("ledger upgrade", ledger_file, {"kept": path_text(former)})
    elif former is None:
        click.echo("the ledger has the format of this version already")
    else:
        click.echo(paragraph(f"upgraded; the ledger as it was is kept at {former}, and must not be used any more"))
