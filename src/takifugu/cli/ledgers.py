"""Commands about a ledger: what it says, and what is pending."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from takifugu.accounting.ledger import Entry, Ledger, SourceRow
from takifugu.accounting.ledger.values import UNREADABLE
from takifugu.analysis.guarantee import Composition
from takifugu.cli.group import UNPUBLISHED, UNRECORDED, complain
from takifugu.cli.output import amount, print_json
from takifugu.core.errors import LedgerError, ReleaseState
from takifugu.core.escaping import at_most, command
from takifugu.core.names import normalised
from takifugu.core.people import PEOPLE
from takifugu.core.plain import Json
from takifugu.core.text.tables import labelled, name_of, paragraph, text_table
from takifugu.numbers.rationals import as_delta, as_epsilon
from takifugu.releasing.publishing.progress import Progress

if TYPE_CHECKING:
    from takifugu.releasing.publishing.resuming import Resumed


CANNOT_BE_READ = (
    "the charge of the release {name} ({id}) cannot be read: what it spent stays spent, and nothing more is released "
    "about {source!r} with this ledger"
)
UNPUBLISHED_MEANS = (
    "not published: paid for and perhaps drawn, but not recorded as published; its epsilon counts as spent, and "
    "{resume} completes it"
)


def init(ledger_file: Path, as_json: bool) -> None:
    if ledger_file.exists():
        raise LedgerError(
            f"{str(ledger_file)!r} exists already and was left as it is", fix="name another file for a new ledger"
        )
    Ledger.open(ledger_file)
    if as_json:
        print_json("ledger init", ledger_file, {"made": str(ledger_file)})
        return
    words = "it remembers nothing before today; keep it as safe as the data"
    click.echo(paragraph(f"new ledger at {ledger_file}: {words}"))


def show(ledger_file: Path, as_json: bool) -> None:
    book = Ledger.open(ledger_file, create=False)
    if as_json:
        print_json("ledger show", ledger_file, {"sources": sources_of(book)})
        return
    print_ledger(book)


def history(ledger_file: Path, source: str | None, as_json: bool) -> None:
    book = Ledger.open(ledger_file, create=False)
    rows = {row.name: row for row in book.show()}
    names = list(rows) if source is None else [source]
    histories = {name: book.history(name) for name in names}
    if as_json:
        content = list[Json]()
        for name, entries in histories.items():
            events = [{"created": event.created, "what": event.what} for event in book.events(name)]
            content.append({"name": name, "releases": _entries(entries), "events": events})
        print_json("ledger history", ledger_file, {"sources": content})
        return
    if not histories:
        click.echo("the ledger has no sources yet")
    for number_of_source, (name, entries) in enumerate(histories.items()):
        if number_of_source > 0:
            click.echo()
        click.echo(paragraph(f"releases about {name!r}"))
        lines = [
            [e.created[:10], e.id, _people(rows[normalised(name)], e.units), at_most(e.amount.epsilon),
             at_most(e.amount.delta), e.state, name_of(e.name)]
            for e in entries
        ]  # fmt: skip
        click.echo(text_table(["date", "id", "people", "epsilon", "delta", "state", "release"], lines))
        for event in book.events(name):
            click.echo(paragraph(f"{event.created[:10]}: {event.what}"))


def budget(ledger_file: Path, source: str, epsilon: str, delta: str, as_json: bool) -> None:
    book = Ledger.open(ledger_file, create=False)
    new_budget = (as_epsilon(epsilon, "the budget's epsilon"), as_delta(delta))
    before = book.spent(source)
    now = book.set_budget(source, new_budget).budget
    assert now is not None
    if as_json:
        content = {
            "source": source,
            "spent": amount(before.spent),
            "before": amount(before.budget),
            "budget": amount(now),
        }
        print_json("ledger budget", ledger_file, content)
        return
    was = "no budget" if before.budget is None else before.budget.text(up=False)
    spent, most = before.spent.with_budget(now)
    click.echo(paragraph(f"the source {source!r} may spend {most} (before: {was}); it has spent {spent}"))


def resume(ledger_file: Path, source: str | None, as_json: bool) -> None:
    from takifugu.releasing.publishing.resuming import resume

    resumed = resume(ledger_file, source, files_only=True)
    progress = Progress()  # what was completed stays so, whether or not anybody reads it
    progress.state = ReleaseState.DONE
    for release in reversed(resumed):
        if release.state is not ReleaseState.DONE:
            progress.state = release.state
    with progress.telling():
        if as_json:
            releases = list[Json]()
            for release in resumed:
                releases.append({
                    "source": release.source, "releases": list(release.releases), "since": release.since,
                    "state": str(release.state), "files": files_of(release), "problem": release.problem,
                })  # fmt: skip
            print_json("ledger resume", ledger_file, {"releases": releases})
        else:
            if not resumed:
                click.echo(paragraph("nothing is pending: everything that was paid for is published and recorded"))
            for release in resumed:
                since = release.since[:16].replace("T", " ")
                words = f"{', '.join(release.releases)} about {release.source!r}, paid for at {since} UTC"
                if release.problem:
                    complain(f"{words}: {release.problem}")
                    complain(release.state.sentence(ledger_file))
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


def print_ledger(book: Ledger) -> None:
    rows = book.show()
    if not rows:
        click.echo("the ledger has no sources yet")
        return
    for number_of_source, row in enumerate(rows):
        if number_of_source > 0:
            click.echo()
        click.echo(paragraph(f"source {row.name!r}"))
        releases, spent, budget = str(row.releases), str(row.spent), "none"
        if row.budget is not None:
            spent, budget = row.spent.with_budget(row.budget)
        if row.budget_is_implied:
            budget += " (what the first release cost: none was declared)"
        if row.unpublished:
            releases += f", {row.unpublished} of them not published"
        facts = {"spent": spent, "budget": budget, "people": _people(row, row.units), "releases": releases}
        click.echo(labelled(facts.items()))
        click.echo()
        lines = []
        for e in book.history(row.name):
            composes = ", ".join(Composition(kind).answer for kind in e.kinds) or "cannot be read"
            scope = e.scope if row.names_people and e.scope != UNREADABLE else "all"
            whose = PEOPLE.whose(scope).removesuffix(" together")
            lines.append([e.created[:10], whose, composes, at_most(e.amount.epsilon), e.state, name_of(e.name)])
        click.echo(text_table(["date", "whose data", "others after", "epsilon", "state", "release"], lines))
        for e in book.history(row.name):
            if e.scope == UNREADABLE:
                click.echo(paragraph(CANNOT_BE_READ.format(name=name_of(e.name), id=e.id, source=row.name)))
    if any(row.unpublished for row in rows):
        resuming = command("ledger", "resume", book.store.path)
        click.echo(f"\n{paragraph(UNPUBLISHED_MEANS.format(resume=resuming))}")


def _people(row: SourceRow, count: int) -> str:
    """Count the charged people, if any are named."""
    return f"{count:,}" if row.names_people or not count else "not named"


def sources_of(book: Ledger) -> list[Json]:
    sources = list[Json]()
    for row in book.show():
        sources.append({
            "name": row.name, "id": row.id, "spent": amount(row.spent), "budget": amount(row.budget),
            "budget_is_implied": row.budget_is_implied, "units": row.units, "unpublished": row.unpublished,
            "releases": _entries(book.history(row.name)),
        })  # fmt: skip
    return sources


def _entries(entries: Sequence[Entry]) -> list[Json]:
    return [
        {
            "id": e.id,
            "name": e.name,
            "state": e.state,
            "cost": amount(e.amount),
            "compositions": list(e.kinds),
            "scope": e.scope,
            "units": e.units,
            "software": e.software,
            "created": e.created,
        }
        for e in entries
    ]
