"""`reproduce`: the experiments of a checkout, listed and run."""

from __future__ import annotations

import sys
import time

import click

from takifugu import reproduce as experiments
from takifugu.cli.group import FAULT
from takifugu.cli.output import print_json, wrapped
from takifugu.tables import labelled


def reproduce(target: str | None, as_json: bool) -> None:
    if target is None:
        _list(as_json)
        return
    found = experiments.find(target)
    started = time.perf_counter()
    sys.stdout.flush()
    code = experiments.run(found, output=sys.stderr if as_json else None)
    if as_json:
        told = {"target": found.name, "exit_code": code, "seconds": round(time.perf_counter() - started, 1)}
        print_json("reproduce", found.path, told)
    if code:
        click.echo(f"takifugu: the experiment {found.name} ended with exit code {code}", err=True)
        click.get_current_context().exit(FAULT)


def _list(as_json: bool) -> None:
    known = experiments.targets()
    if as_json:
        told = [
            {"name": t.name, "reproduces": t.reproduces, "about": t.about, "file": str(t.path)} for t in known
        ]  # fmt: skip
        print_json("reproduce", None, {"targets": told})
        return
    if not known:
        click.echo("there are no experiments here yet")
        return
    click.echo(labelled([(t.name, f"{t.about} [{t.reproduces}]") for t in known]))
    click.echo(f"\n{wrapped('Run one with `takifugu reproduce <name>`. TAKIFUGU_DATA says where research data is.')}")
