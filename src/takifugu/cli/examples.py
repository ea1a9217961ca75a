"""`example`: release files that run as they stand, with made-up data, listed and written."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.output import print_json, wrapped
from takifugu.cli.samples.examples import examples, write_example
from takifugu.core.commands import command
from takifugu.core.plain import Json
from takifugu.core.text.tables import labelled


def example(name: str | None, as_json: bool) -> None:
    if name is None:
        _list(as_json)
        return
    paths = [str(path) for path in write_example(name, Path())]
    if as_json:
        print_json("example", Path(paths[0]), {"name": name, "written": paths})
        return
    click.echo(wrapped(f"written: {', '.join(paths)}"))
    real = next(each_example.meant_for_published_data for each_example in examples() if each_example.name == name)
    hint = f", in place of published ones: the first lines of {paths[0]} say where to get these" if real else ""
    click.echo(wrapped(f"The data are made up{hint}. Then:"))
    click.echo(labelled([
        (f"  takifugu compare {paths[0]}", "the best mechanisms, side by side"),
        (f"  takifugu advise {paths[0]}", "is the table worth reading?"),
        (f"  takifugu release {paths[0]}", "publish"),
    ]))  # fmt: skip


def _list(as_json: bool) -> None:
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
    meant, lines = " (made-up data stand in for published ones)", list[tuple[str, str]]()
    for each in all_examples:
        lines.append((each.name, f"{each.about}{meant}" if each.meant_for_published_data else each.about))
    click.echo(labelled(lines))
    first = command("example", all_examples[0].name)
    click.echo(f"\n{wrapped(f'{first} writes the first one into this folder.')}")
