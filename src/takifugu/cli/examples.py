"""`example` and `reproduce`: release files with made-up data, and papers' experiments, listed, written and run."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from takifugu.cli.group import FAULT, complain
from takifugu.cli.output import path_text, print_json, wrapped
from takifugu.cli.samples import experiments
from takifugu.cli.samples.examples import examples, write_example
from takifugu.core.commands import command
from takifugu.core.plain import Json
from takifugu.core.text.tables import labelled


def example(name: str | None, as_json: bool) -> None:
    if name is None:
        all_examples = examples()
        if as_json:
            listing = list[Json]()
            for each in all_examples:
                listing.append({
                    "name": each.name, "about": each.about, "files": [path.name for path in each.files],
                    "meant_for_published_data": each.meant_for_published_data,
                })  # fmt: skip
            print_json("example", None, {"examples": listing})
            return
        lines = list[tuple[str, str]]()
        for each in all_examples:
            about = each.about
            if each.meant_for_published_data:
                about += " (made-up data stand in for published ones)"
            lines.append((each.name, about))
        click.echo(labelled(lines))
        first = command("example", all_examples[0].name)
        click.echo(f"\n{wrapped(f'{first} writes the first one into this folder.')}")
        return
    paths = [str(path) for path in write_example(name, Path())]
    if as_json:
        print_json("example", Path(paths[0]), {"name": name, "written": paths})
        return
    click.echo(wrapped(f"written: {', '.join(paths)}"))
    words = "The data are made up"
    for each in examples():
        if each.name == name and each.meant_for_published_data:
            words += f", in place of published ones: the first lines of {paths[0]} say where to get these"
    click.echo(wrapped(f"{words}. Then:"))
    click.echo(labelled([
        (f"  takifugu compare {paths[0]}", "the best mechanisms, side by side"),
        (f"  takifugu advise {paths[0]}", "is the table worth reading?"),
        (f"  takifugu release {paths[0]}", "publish"),
    ]))  # fmt: skip


def reproduce(target: str | None, folder: Path | None, whole: bool, as_json: bool) -> None:
    if target is None:
        targets = experiments.targets(experiments.ROOT)
        if as_json:
            listing = list[Json]()
            for t in targets:
                listing.append({"name": t.name, "reproduces": t.reproduces, "about": t.about, "file": str(t.path)})
            print_json("reproduce", None, {"targets": listing})
            return
        if not targets:
            click.echo("there are no experiments here yet")
            return
        click.echo(labelled([(t.name, f"{t.about} [{t.reproduces}]") for t in targets]))
        first = command("reproduce", targets[0].name)
        click.echo(f"\n{wrapped(f'{first} runs the first one. TAKIFUGU_DATA says where research data is.')}")
        return
    experiment = experiments.find(target, experiments.ROOT)
    if folder is None and not experiments.is_checkout(experiments.ROOT):
        folder = Path("reproduced") / experiment.name
    output = sys.stderr if as_json else None
    started = time.perf_counter()
    sys.stdout.flush()
    try:
        code = experiments.run(experiment, experiments.ROOT, folder, whole, output)
    except (KeyboardInterrupt, SystemExit):
        if folder is not None and folder.is_dir():
            made = f"what was made is in {folder}"
            if any(folder.glob("*.md")):
                made += ", whose page says what is missing"
            complain(f"{made}; the same command makes it anew")
        raise
    if as_json:
        content = {
            "target": experiment.name, "exit_code": code, "output": path_text(folder),
            "seconds": round(time.perf_counter() - started, 1),
        }  # fmt: skip
        print_json("reproduce", experiment.path, content)
    if code:
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        click.echo(f"takifugu: the experiment {experiment.name} {how}", err=True)
        click.get_current_context().exit(FAULT)
