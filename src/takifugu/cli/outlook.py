"""`takifugu plan`: what publishing again and again costs, and which epsilon a budget allows."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.output import print_json
from takifugu.cli.progress import watching
from takifugu.core.text.tables import paragraph
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.neighbours import notices_of_file
from takifugu.releasing.planning.notices import notices_of_reading
from takifugu.releasing.planning.outlook import outlook


def plan(file: Path, releases: int, window: str | None, as_json: bool) -> None:
    with watching() as watch:
        watch("looking ahead", 0, 1)
        read = load(file, window=window, first=True)
        ahead, notices = outlook(read, releases), (*notices_of_reading(read), *notices_of_file(read))
    if as_json:
        content = ahead.to_dict()
        if notices:
            content["notices"] = list(notices)
        print_json("plan", file, content)
        return
    click.echo(str(ahead))
    for words in notices:
        click.echo(f"\n{paragraph(words)}")
