"""`reproduce`: the experiments of a checkout or of the installed package, listed and run."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from takifugu.cli.group import FAULT, complain
from takifugu.cli.output import print_json, wrapped
from takifugu.cli.samples import experiments
from takifugu.core.commands import command
from takifugu.core.text.tables import labelled


def reproduce(target: str | None, folder: Path | None, whole: bool, as_json: bool) -> None:
    if target is None:
        _list(as_json)
        return
    experiment = experiments.find(target, experiments.ROOT)
    if folder is None and not experiments.is_checkout(experiments.ROOT):
        folder = Path("reproduced") / experiment.name
    started = time.perf_counter()
    sys.stdout.flush()
    try:
        code = experiments.run(experiment, experiments.ROOT, folder, whole, output=sys.stderr if as_json else None)
    except (KeyboardInterrupt, SystemExit):
        if folder is not None and folder.is_dir():
            page = ", whose page says what is missing" if any(folder.glob("*.md")) else ""
            complain(f"what was made is in {folder}{page}; the same command makes it anew")
        raise
    if as_json:
        content = {
            "target": experiment.name, "exit_code": code, "output": None if folder is None else str(folder),
            "seconds": round(time.perf_counter() - started, 1),
        }  # fmt: skip
        print_json("reproduce", experiment.path, content)
    if code:
        how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        click.echo(f"takifugu: the experiment {experiment.name} {how}", err=True)
        click.get_current_context().exit(FAULT)


def _list(as_json: bool) -> None:
    targets = experiments.targets(experiments.ROOT)
    if as_json:
        listing = [
            {"name": t.name, "reproduces": t.reproduces, "about": t.about, "file": str(t.path)} for t in targets
        ]  # fmt: skip
        print_json("reproduce", None, {"targets": listing})
        return
    if not targets:
        click.echo("there are no experiments here yet")
        return
    click.echo(labelled([(t.name, f"{t.about} [{t.reproduces}]") for t in targets]))
    first = command("reproduce", targets[0].name)
    click.echo(f"\n{wrapped(f'{first} runs the first one. TAKIFUGU_DATA says where research data is.')}")
