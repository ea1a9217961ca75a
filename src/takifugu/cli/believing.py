"""`beliefs`: what was published, to paste, and what a release file believes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from takifugu.cli.output import print_json, wrapped
from takifugu.cli.samples.published import PUBLISHED, Published, published
from takifugu.core.commands import command
from takifugu.core.errors import InputError
from takifugu.core.text.tables import labelled, text_table
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.one_sequence import is_recording
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.public import fitted_to_data

#: Larger matrices are not printed.
_MOST_STATES = 12


def beliefs(name: str | None, as_json: bool) -> None:
    if name is None:
        _list(as_json)
    elif name.endswith(".toml"):
        _of_file(Path(name), as_json)
    else:
        _one(published(name), as_json)


def _list(as_json: bool) -> None:
    if as_json:
        listing = [{"name": belief.name, "about": belief.about, "source": belief.source} for belief in PUBLISHED]
        print_json("beliefs", None, {"beliefs": listing})
        return
    click.echo(labelled([(belief.name, belief.about) for belief in PUBLISHED]))
    example = command("beliefs", PUBLISHED[0].name)
    hint = f"{example} prints the first one to paste; with a release file it shows what that believes."
    click.echo(f"\n{wrapped(hint)}")


def _one(one: Published, as_json: bool) -> None:
    if as_json:
        print_json("beliefs", None, {"name": one.name, "source": one.source, "belief": dict(one.keys)})
        return
    click.echo(one.toml)
    click.echo(f"\n{wrapped(one.note)}")


def _of_file(path: Path, as_json: bool) -> None:
    file = load(path)
    if fitted_to_data(file.spec):
        raise InputError(
            "the belief is fitted to the private data", rule="nothing computed from them is shown"
        ).at("belief", "fit", "private")
    belief = file.belief
    matrices, source = dict(_matrices(belief)), belief.source if isinstance(belief, Belief) else ""
    description, states = belief.describe(), list[str]()
    if is_recording(belief):  # without a length: each piece has its own
        description, states = belief.chain.describe_piece(), [str(state) for state in belief.alphabet(0)]
    if as_json:
        content = {"belief": description, "source": source, "states": states, **matrices}
        print_json("beliefs", path, content)
        return
    click.echo(wrapped(f"{path} believes: {description}"))
    for fact in file.kind.assumptions(file):
        if not isinstance(fact, str):  # what the belief says in words, and not what is taken to be public
            click.echo(wrapped(fact.words))
    for title, rows in matrices.items():
        if len(states) <= _MOST_STATES:
            click.echo(f"\n{title}: from (a row) to (a column)\n")
            cells = list[list[str]]()
            for state, row in zip(states, rows, strict=True):
                cells.append([state, *(f"{probability:.4f}" for probability in row)])
            click.echo(text_table(["", *states], cells))


def _matrices(belief: Any) -> list[tuple[str, list[list[float]]]]:
    """Return a chain's matrix, or the bounds of a class."""
    if getattr(belief, "lower", None) is not None:
        return [("at least", belief.lower.tolist()), ("at most", belief.upper.tolist())]
    matrix = getattr(belief, "matrix", None)
    return [] if matrix is None else [("matrix", matrix.tolist())]
