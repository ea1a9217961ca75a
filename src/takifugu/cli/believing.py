"""`beliefs`: what was published, to paste, and what a release file believes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from takifugu.cli.output import print_json, print_listing
from takifugu.cli.samples.published import PUBLISHED, published
from takifugu.core.assumptions import Assumption
from takifugu.core.errors import InputError
from takifugu.core.escaping import command
from takifugu.core.plain import Json
from takifugu.core.text.tables import paragraph, text_table
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.one_sequence import is_recording
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.public import fitted_to_data

#: Larger matrices are not printed.
_MOST_STATES = 12


def beliefs(name: str | None) -> None:
    if name is None:
        listing: list[Json] = [{"name": each.name, "about": each.about, "source": each.source} for each in PUBLISHED]
        example = command("beliefs", PUBLISHED[0].name)
        hint = f"{example} prints the first one to paste; with a release file it shows what that believes."
        lines = [(belief.name, belief.about) for belief in PUBLISHED]
        print_listing("beliefs", listing, lines, hint)
    elif name.endswith(".toml"):
        _of_file(Path(name))
    else:
        belief = published(name)
        content = {"name": belief.name, "source": belief.source, "belief": dict(belief.keys)}
        if not print_json(content):
            click.echo(f"{belief.toml}\n\n{paragraph(belief.note)}")


def _of_file(path: Path) -> None:
    file = load(path)
    if fitted_to_data(file.spec):
        raise InputError(
            "the belief is fitted to the private data", rule="nothing computed from them is shown"
        ).at("belief", "fit", "private")
    belief: Any = file.belief
    matrices, description, states = dict[str, list[list[float]]](), belief.describe(), list[str]()
    if getattr(belief, "lower", None) is not None:
        matrices = {"at least": belief.lower.tolist(), "at most": belief.upper.tolist()}
    elif getattr(belief, "matrix", None) is not None:
        matrices = {"matrix": belief.matrix.tolist()}
    source = belief.source if isinstance(belief, Belief) else ""
    if is_recording(belief):  # without a length: each piece has its own
        description, states = belief.chain.describe_piece(), list(map(str, belief.alphabet(0)))
    if print_json({"belief": description, "source": source, "states": states, **matrices}, path):
        return
    click.echo(paragraph(f"{path} believes: {description}"))
    for fact in file.kind.assumptions(file):
        if not isinstance(fact, Assumption):  # what the belief says in words, and not what is taken to be public
            click.echo(paragraph(fact.words))
    for title, rows in matrices.items():
        if len(states) <= _MOST_STATES:
            click.echo(f"\n{title}: from (a row) to (a column)\n")
            cells = list[list[str]]()
            for state, row in zip(states, rows, strict=True):
                cells.append([state, *(f"{probability:.4f}" for probability in row)])
            click.echo(text_table(["", *states], cells))
