"""Commands about a ledger: what it says, whether that is right, budgets, what it lacks, and what is pending."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from takifugu.accounting.amounts import as_budget
from takifugu.accounting.ledger import DRAWN, RESERVED, Ledger, Payment, Source
from takifugu.accounting.ledger.events import RESTORE
from takifugu.accounting.ledger.events.stores import named
from takifugu.cli.group import UNPUBLISHED, UNRECORDED, complain
from takifugu.cli.output import amount, print_json, wants_json
from takifugu.core.errors import InputError, LedgerError, ReleaseState
from takifugu.core.escaping import at_most, command
from takifugu.core.names import normalised
from takifugu.core.plain import Json
from takifugu.core.text.tables import labelled, name_of, paragraph, text_table
from takifugu.numbers.rationals import as_delta, as_epsilon
from takifugu.releasing.certificates.signing import configured, key_file, new_key
from takifugu.releasing.publishing.progress import Progress

if TYPE_CHECKING:
    from takifugu.releasing.publishing.adopting import Adopted
    from takifugu.releasing.publishing.resuming import Resumed

PENDING_MEANS = (
    "reserved and drawn releases are paid for and not published: their epsilon counts as spent, and {resume} finishes "
    "them at no further cost"
)
#: What a ledger with several sources assumes.
SAME_PEOPLE = (
    "the sources of a ledger are about the same people: a release about one of them counts for the others, too"
)


def show(ledger: str) -> None:
    book = Ledger.open(ledger, create=False)
    if print_json({"id": book.id, "sources": sources_of(book)}):
        return
    print_ledger(book)


def print_ledger(book: Ledger) -> None:
    sources = book.show()
    if not sources:
        click.echo("the ledger has no sources yet")
    waiting = 0
    for place, source in enumerate(sources):
        if place:
            click.echo()
        payments = book.payments(source.name)
        waiting += _unpublished(payments)
        _print_source(source, payments)
    if len(sources) > 1:
        click.echo(f"\n{paragraph(SAME_PEOPLE)}")
    if waiting:
        resume = command("ledger", "resume", book.store.name)
        click.echo(f"\n{paragraph(PENDING_MEANS.format(resume=resume))}")


def _print_source(source: Source, payments: Sequence[Payment]) -> None:
    spent, budget, count = str(source.spent), "none", f"{sum(len(payment.ids) for payment in payments):,}"
    if source.budget is not None:
        spent, budget = source.spent.with_budget(source.budget)
        if source.is_implied:
            budget += " (what the first release cost: none was declared)"
    if pending := _unpublished(payments):
        count += f", {pending:,} of them not published"
    click.echo(paragraph(f"source {source.name!r}"))
    click.echo(labelled([("spent", spent), ("budget", budget), ("releases", count)]))
    click.echo()
    has_delta = any(promised.delta for payment in payments for promised in payment.promised.values())
    header, lines = ["date", "epsilon", *["delta"] * has_delta, "state", "release"], list[list[str]]()
    for payment in payments:
        for name in payment.ids:
            epsilon, delta = map(at_most, payment.promised[name])
            lines.append([payment.created[:10], epsilon, *[delta] * has_delta, payment.fate, name_of(name)])
    click.echo(text_table(header, lines))
    for said in source.same:
        names = " and ".join(dict.fromkeys(repr(entries) for _, entries in said.tables))
        click.echo(paragraph(f"{said.created[:10]}: declared to be the same entries, {names}: {said.why}"))


def _unpublished(payments: Sequence[Payment]) -> int:
    return sum(len(payment.ids) for payment in payments if payment.state in (RESERVED, DRAWN))


def sources_of(book: Ledger) -> list[Json]:
    sources = list[Json]()
    for source in book.show():
        payments = book.payments(source.name)
        declared = list[Json]()
        for said in source.same:
            entries = list(dict.fromkeys(name for _, name in said.tables))
            declared.append({"created": said.created, "same_entries": entries, "why": said.why})
        listed = list[Json]()
        for payment in payments:
            for name, number in payment.ids.items():
                listed.append({
                    "id": number, "name": name, "state": payment.fate, "promised": amount(payment.promised[name]),
                    "software": payment.software, "created": payment.created,
                })  # fmt: skip
        sources.append({
            "name": source.name, "spent": amount(source.spent), "budget": amount(source.budget),
            "budget_is_implied": source.is_implied, "names_units": bool(source.names_units),
            "unpublished": _unpublished(payments), "declarations": declared, "releases": listed,
        })  # fmt: skip
    return sources


def set_budget(ledger: str, source: str, epsilon: str, delta: str) -> None:
    book = Ledger.open(ledger, create=False)
    new_budget = (as_epsilon(epsilon, "the budget's epsilon"), as_delta(delta))
    book.spent(source)  # a name that it does not know is a typing error
    sources = {one.name: one for one in book.show()}
    before = sources[normalised(source)]
    book.budget(source, new_budget)
    now = as_budget(new_budget)
    content = {"source": before.name, "spent": amount(before.spent), "before": amount(before.budget)}
    if print_json({**content, "budget": amount(now)}):
        return
    was = "no budget" if before.budget is None else before.budget.text(up=False)
    spent, most = before.spent.with_budget(now)
    click.echo(paragraph(f"the source {before.name!r} may spend {most} (before: {was}); it has spent {spent}"))


def verify(ledger: str, folders: tuple[Path, ...]) -> None:
    from takifugu.accounting.ledger.certificates import lacking_in
    from takifugu.releasing.publishing.adopting import certificates_in, with_waiting

    book = Ledger.open(ledger, create=False)
    certificates = with_waiting(book, certificates_in(folders))
    differences = book.check()
    missing = [one.words for one in lacking_in(book.view(), certificates.statements, certificates.bodies)]
    content = {"differences": list(differences), "missing": missing, "unpaid": list(certificates.unpaid)}
    if not print_json(content):
        if not differences:
            click.echo(paragraph("the ledger is what its events say, and no event is missing, moved or edited"))
        if folders and not missing:
            click.echo(paragraph("it knows every release that a certificate there says a ledger paid for"))
        for fault in (*differences, *missing):
            click.echo(paragraph(fault))
        _print_unpaid(certificates.unpaid)
    if differences:
        raise LedgerError(
            f"the ledger {named(ledger)!r} was edited or damaged (differences: {len(differences):,})",
            rule="nothing is to be paid with it", fix=RESTORE,
        )  # fmt: skip
    if missing:
        entering = " and ".join(command("ledger", "import-certificates", named(ledger), folder) for folder in folders)
        raise LedgerError(
            f"the ledger {named(ledger)!r} lacks what certificates name (releases: {len(missing):,})",
            rule="it would grant their epsilon again",
            fix=f"restore the newest copy, if this one paid for nothing since; or enter them: {entering}",
        )


def _print_unpaid(names: Sequence[str]) -> None:
    if names:
        click.echo(paragraph(f"without a ledger, and counted nowhere: {', '.join(names)}"))


def import_certificates(ledger: str, folder: Path, yes: bool) -> None:
    from takifugu.releasing.publishing.adopting import adopt, certificates_in

    certificates = certificates_in([folder])
    book = Ledger.coming(ledger)  # made where something is entered
    offered: list[Sequence[Adopted]] = []

    def agree(prices: Sequence[Adopted]) -> bool:
        offered.append(prices)
        if not wants_json():
            _print_prices(prices)
            if len({source.name for source in book.show()}.union(price.source for price in prices)) > 1:
                click.echo(paragraph(SAME_PEOPLE))
        if book.is_new and not wants_json():
            complain(f"there is no ledger {named(ledger)!r}: a new one will know these releases alone", "yellow")
        return yes or agreed("enter them as spent? This cannot be taken back")

    adopted = adopt(book, certificates, agree)
    sources = list[Json]()
    for entered in adopted:
        sources.append({
            "name": entered.source, "releases": list(entered.releases), "before": amount(entered.before),
            "after": list(map(amount, entered.after)), "spent": amount(entered.spent),
        })  # fmt: skip
    content = {"sources": sources, "unpaid": list(certificates.unpaid)}
    if print_json(content):
        return
    _print_unpaid(certificates.unpaid)
    if not offered:
        click.echo(paragraph(f"nothing to enter: the ledger knows every release that a certificate in {folder} names"))
    elif not adopted:
        click.echo("nothing was entered")
    for entered in adopted:
        releases = f"{', '.join(entered.releases)} about {entered.source!r}"
        click.echo(paragraph(f"entered as spent: {releases}; the source has now spent {entered.spent}"))


#: What is believed of a certificate: its checksum shows accidents, and whoever alters one can write another checksum.
TAKEN_AT_ITS_WORD = (
    "Each certificate is taken at its word, with the noise, the beliefs and the entries that it names; no signature is "
    "looked at. An altered one can cost less than its release did. Take them from their publisher."
)


def _print_prices(prices: Sequence[Adopted]) -> None:
    """Print each release's cost and the total, and what is believed."""
    for price in prices:
        click.echo(paragraph(f"source {price.source!r}, which has spent {price.before}, would have spent"))
        lines = [[name, *map(at_most, spent)] for name, spent in zip(price.releases, price.after, strict=True)]
        click.echo(text_table(["with release", "epsilon", "delta"], lines))
    click.echo(paragraph(TAKEN_AT_ITS_WORD))


def agreed(question: str) -> bool:
    """Ask for agreement at the terminal; InputError without one."""
    if not sys.stdin.isatty():
        raise InputError("nobody is there to be asked", fix="look at the prices, and add --yes").at("--yes")
    return click.confirm(question, err=True)


def key() -> None:
    """Show the user's signing key, or make one."""
    signer = configured()
    is_new = signer is None
    signer, path = signer or new_key(), str(key_file())
    if print_json({"key": signer.public, "made": is_new}, path):
        return
    click.echo(signer.public)
    said = f"This is your public signing key: publish it where readers trust you. The private part is {path!r}."
    click.echo(paragraph(f"{said} Keep a copy. From now on every release signs its certificates." if is_new else said))


def resume(ledger: str, source: str | None) -> None:
    from takifugu.releasing.publishing.resuming import resume

    resumed = resume(ledger, source, files_only=True)
    progress = Progress()  # what was completed stays so, whether or not anybody reads it
    progress.state = ReleaseState.DONE
    for release in reversed(resumed):
        if release.state is not ReleaseState.DONE:
            progress.state = release.state
    with progress.telling():
        releases = list[Json]()
        for release in resumed:
            releases.append({
                "source": release.source, "releases": list(release.releases), "since": release.since,
                "state": str(release.state), "files": files_of(release), "problem": release.problem,
            })  # fmt: skip
        if not print_json({"releases": releases}):
            if not resumed:
                click.echo(paragraph("nothing is pending: everything that was paid for is published and recorded"))
            for release in resumed:
                since = release.since[:16].replace("T", " ")
                words = f"{', '.join(release.releases)} about {release.source!r}, paid for at {since} UTC"
                if release.problem:
                    complain(f"{words}: {release.problem}")
                    complain(release.state.sentence(named(ledger)))
                else:
                    click.echo(paragraph(f"completed: {words}"))
                    for path in files_of(release):
                        click.echo(f"  {path}")
    if progress.state is ReleaseState.UNRECORDED:
        raise click.exceptions.Exit(UNRECORDED)
    if progress.state is not ReleaseState.DONE:
        raise click.exceptions.Exit(UNPUBLISHED)


def files_of(release: Resumed) -> list[str]:
    tables = getattr(release.outcome, "tables", ())
    return list(map(str, chain.from_iterable(table.files for table in tables)))
