"""`example --run`: a release from start to end, on made-up data."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.accounting.ledger import Ledger
from takifugu.cli.cost import coloured
from takifugu.cli.ledgers import print_ledger, sources_of
from takifugu.cli.output import heading, print_json, wants_json
from takifugu.cli.progress import watching
from takifugu.cli.releasing import outcome_of, print_outcome
from takifugu.core.escaping import command
from takifugu.core.text.tables import labelled, paragraph, width
from takifugu.releasing.certificates.certificate import WIDTH
from takifugu.releasing.cost import cost
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan
from takifugu.releasing.publishing import run
from takifugu.releasing.publishing.progress import Progress


def walk(path: Path) -> None:
    """Show the cost of a release file, publish it, and show what lies there then."""
    spec = load(path)
    Ledger.open(spec.ledger)  # made on purpose: nothing to announce
    progress = Progress()
    with progress.telling():
        if wants_json():
            outcome = run.publish(plan.plan(spec), progress=progress)
            book = Ledger.open(spec.ledger)
            print_json({**outcome_of(outcome), "sources": sources_of(book)}, path, "example --run")
            return
        _walk(spec, progress)


def _walk(spec: ReleaseFile, progress: Progress) -> None:
    place = spec.path.parent
    heading("1. The data: made up, nobody's life is in it")
    sample = str(spec.source.file)
    click.echo(labelled([("folder", str(place)), ("sample", sample), ("release file", spec.path.name)]))
    heading("2. What the noise costs (takifugu cost)")
    with watching(stops=False) as watch:
        costs = cost(spec, watch=watch)
        planned = plan.plan(spec, watch)
    click.echo(coloured(costs))
    heading("3. Published (takifugu release)")
    outcome = run.publish(planned, progress=progress)
    print_outcome(outcome, planned)
    heading("4. The certificate (takifugu verify)")
    click.echo(outcome.tables[-1].certificate.text(min(WIDTH, width())))
    heading("5. The ledger (takifugu ledger show)")
    print_ledger(Ledger.open(spec.ledger))
    click.echo()
    again = command("release", spec.path.name)
    click.echo(paragraph(
        f"Everything is in {place}: look at the tables, the certificates and the release file, change the file, and "
        f"run {again} there."
    ))  # fmt: skip
