"""`compare`: the mechanisms side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from takifugu.calibration.registry import find
from takifugu.cli.output import coloured, heading, print_json
from takifugu.cli.progress import watching
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.comparison import Comparison, comparison

#: Colours in comparisons: what is taken, and what does not keep the promise.
_MARKS = {
    " chosen": {"fg": "green"}, " if the only release": {"fg": "cyan"}, " if others follow": {"fg": "cyan"},
    " promises less": {"fg": "yellow"}, " refused by default": {"fg": "yellow"},
}  # fmt: skip


def compare(files: Sequence[Path], as_json: bool, with_all: bool = False, mechanism: str | None = None) -> None:
    name = None if mechanism is None else find(mechanism).name
    documents = []
    for file in files:
        with watching() as watch:
            compared = comparison(load(file), watch)
        if name is not None:
            compared = compared.only(name)
        documents.append({"file": str(file), **compared.to_dict()})
        if not as_json:
            if len(files) > 1:
                heading(str(file))
            print_comparison(compared, with_all or name is not None)
    if as_json and len(files) == 1:
        del documents[0]["file"]
        print_json("compare", files[0], documents[0])
    elif as_json:
        print_json("compare", None, {"files": documents})


def print_comparison(compared: Comparison, with_all: bool = False) -> None:
    text = str(compared) if with_all else compared.brief
    click.echo(coloured(text, _MARKS))
