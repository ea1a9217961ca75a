"""`demo`: a release from start to end, on a made-up sample."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from takifugu.certificates.certificate import WIDTH
from takifugu.cli.ledgers import print_ledger, sources_of
from takifugu.cli.output import heading, print_json, wrapped
from takifugu.cli.progress import watching
from takifugu.cli.releasing import outcome_of, print_calibrations, print_comparisons, print_outcome
from takifugu.demo import write_demo
from takifugu.ledger import Ledger
from takifugu.releasing import planning, run
from takifugu.releasing.progress import Progress
from takifugu.spec.file import load
from takifugu.spec.kind import ReleaseFile
from takifugu.tables import labelled, width


def demo(folder: Path | None, as_json: bool) -> None:
    where = folder or Path(tempfile.mkdtemp(prefix="takifugu-demo-"))
    spec = load(write_demo(where))
    Ledger.open(spec.ledger)  # made on purpose: nothing to announce
    progress = Progress()
    with progress.telling():
        if as_json:
            outcome = run.publish(planning.plan(spec), progress=progress)
            book = Ledger.open(spec.ledger)
            print_json("demo", where, {**outcome_of(outcome), "sources": sources_of(book)})
            return
        _demo(spec, where, progress)


def _demo(spec: ReleaseFile, where: Path, progress: Progress) -> None:
    heading("1. The data: made up, nobody's life is in it")
    sample = str(spec.source.file)
    click.echo(labelled([("folder", str(where)), ("sample", sample), ("release file", spec.path.name)]))
    click.echo()
    click.echo(wrapped(
        "Six participants, one posture a minute. What anybody did in any one minute must stay hidden from anyone who "
        "believes that postures follow the chain in the release file. What is published is how long people rest, "
        "stand, walk and move, for each of them and for all."
    ))  # fmt: skip
    heading("2. The mechanisms, side by side (takifugu compare)")
    with watching(stops=False) as watch:
        comparisons = [c for c in planning.compared(spec, watch) if c.scope == "pooled"]
    print_comparisons(comparisons)
    heading("3. What would be published (takifugu calibrate)")
    with watching(stops=False) as watch:
        planned = planning.plan(spec, watch)
    print_calibrations(planned)
    heading("4. Published (takifugu release)")
    outcome = run.publish(planned, progress=progress)
    print_outcome(outcome, planned)
    heading("5. The certificate (takifugu certificate show)")
    click.echo(outcome.tables[-1].certificate.text(min(WIDTH, width())))
    heading("6. The ledger (takifugu ledger show)")
    print_ledger(Ledger.open(spec.ledger))
    click.echo()
    click.echo(wrapped(f"Everything is in {where}: look at the tables, the certificates and the release file, change "
                       "the file, and run `takifugu release activity.toml` there."))  # fmt: skip
