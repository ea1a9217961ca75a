"""`demo`: a release from start to end, on a made-up sample."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from takifugu.accounting.ledger import Ledger
from takifugu.cli.comparing import print_comparison
from takifugu.cli.ledgers import print_ledger, sources_of
from takifugu.cli.output import heading, print_json
from takifugu.cli.progress import watching
from takifugu.cli.releasing import outcome_of, print_outcome
from takifugu.cli.samples import write_demo
from takifugu.core.text.parts import text_of
from takifugu.core.text.tables import labelled, paragraph, width
from takifugu.releasing.certificates.certificate import WIDTH
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan
from takifugu.releasing.planning.comparison import Comparison, compared
from takifugu.releasing.publishing import run
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.steps import calibrated_tables, noise_of


def demo(folder: Path | None, as_json: bool) -> None:
    place = folder or Path(tempfile.mkdtemp(prefix="takifugu-demo-"))
    spec = load(write_demo(place))
    Ledger.open(spec.ledger)  # made on purpose: nothing to announce
    progress = Progress()
    with progress.telling():
        if as_json:
            outcome = run.publish(plan.plan(spec), progress=progress)
            book = Ledger.open(spec.ledger)
            print_json("demo", place, {**outcome_of(outcome), "sources": sources_of(book)})
            return
        _demo(spec, place, progress)


def _demo(spec: ReleaseFile, place: Path, progress: Progress) -> None:
    heading("1. The data: made up, nobody's life is in it")
    sample = str(spec.source.file)
    click.echo(labelled([("folder", str(place)), ("sample", sample), ("release file", spec.path.name)]))
    click.echo()
    click.echo(paragraph(
        "Six participants, one posture a minute. What anybody did in any one minute must stay uncertain for anyone who "
        "believes that postures follow the chain in the release file: 50 % may become 73.2 %, and no more. What is "
        "published is how long people rest, stand, walk and move, for each of them and for all."
    ))  # fmt: skip
    heading("2. What the noise costs (takifugu compare)")
    with watching(stops=False) as watch:
        pooled = tuple(table for table in compared(spec, watch) if table.scope == "pooled")
    print_comparison(Comparison(spec.path, pooled))
    heading("3. What would be published (takifugu calibrate)")
    with watching(stops=False) as watch:
        planned = plan.plan(spec, watch)
    click.echo(text_of(noise_of(calibrated_tables(planned))))
    heading("4. Published (takifugu release)")
    outcome = run.publish(planned, progress=progress)
    print_outcome(outcome, planned)
    heading("5. The certificate (takifugu certificate show)")
    click.echo(outcome.tables[-1].certificate.text(min(WIDTH, width())))
    heading("6. The ledger (takifugu ledger show)")
    print_ledger(Ledger.open(spec.ledger))
    click.echo()
    click.echo(paragraph(f"Everything is in {place}: look at the tables, the certificates and the release file, change "
                       "the file, and run `takifugu release activity.toml` there."))  # fmt: skip
