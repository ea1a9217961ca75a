"""`example` and `reproduce`: release files with made-up data, and papers' experiments, listed, written and run."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import click

from takifugu.cli.group import FAULT, complain, refuse
from takifugu.cli.output import path_text, print_json, print_listing, print_next, wants_json
from takifugu.cli.samples import experiments
from takifugu.cli.samples.examples import examples, write_demo, write_example
from takifugu.core.escaping import command
from takifugu.core.plain import Json
from takifugu.core.text.tables import paragraph


def example(name: str | None, run: bool, folder: Path | None) -> None:
    if name is None and not run:
        _list_examples()
        return
    if run:
        from takifugu.cli.walk import walk  # it loads what draws, and makes the report

        place = folder or Path(tempfile.mkdtemp(prefix="takifugu-example-"))
        walk(write_demo(place) if name is None else write_example(name, place)[0])
        return
    paths = list(map(str, write_example(name or "", folder or Path())))
    if print_json({"name": name, "written": paths}, paths[0]):
        return
    click.echo(paragraph(f"written: {', '.join(paths)}"))
    real = next(each_example.meant_for_published_data for each_example in examples() if each_example.name == name)
    hint = f", in place of published ones: the first lines of {paths[0]} say where to get these" if real else ""
    click.echo(paragraph(f"The data are made up{hint}. Then:"))
    print_next(Path(paths[0]))


def _list_examples() -> None:
    meant, lines, listing = " (made-up data stand in for published ones)", list[tuple[str, str]](), list[Json]()
    for each in examples():
        lines.append((each.name, f"{each.about}{meant}" if each.meant_for_published_data else each.about))
        listing.append({
            "name": each.name, "about": each.about, "files": [path.name for path in each.files],
            "meant_for_published_data": each.meant_for_published_data,
        })  # fmt: skip
    hint = f"{command('example', lines[0][0])} writes the first one into this folder."
    print_listing("examples", listing, lines, hint)


def reproduce(target: str | None, output: Path | None, whole: bool) -> None:
    if target is None:
        _list_experiments()
        return
    experiment = experiments.find(target)
    started = time.perf_counter()
    sys.stdout.flush()
    try:
        code = experiments.run(experiment, output, whole, output=sys.stderr if wants_json() else None)
    except (KeyboardInterrupt, SystemExit):
        if output is not None and output.is_dir():
            page = ", whose page says what is missing" if any(output.glob("*.md")) else ""
            complain(f"what was made is in {output}{page}; the same command makes it anew")
        raise
    seconds = round(time.perf_counter() - started, 1)
    done = {"target": experiment.name, "exit_code": code, "output": path_text(output), "seconds": seconds}
    print_json(done, experiment.path)
    if code:
        how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        refuse([f"the experiment {experiment.name} {how}"], FAULT)


def _list_experiments() -> None:
    targets = experiments.targets()
    listing: list[Json] = [
        {"name": t.name, "reproduces": t.reproduces, "about": t.about, "file": str(t.path)} for t in targets
    ]  # fmt: skip
    lines = [(t.name, f"{t.about} [{t.reproduces}]") for t in targets]
    hint = f"{command('reproduce', targets[0].name)} runs the first one. TAKIFUGU_DATA says where research data is."
    print_listing("targets", listing, lines, hint)
