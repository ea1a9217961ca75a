"""`cost`, and `release --dry-run`: the noise that would be added, its price, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from takifugu.cli.group import refuse
from takifugu.cli.output import check_new, heading, print_json, wants_json, write_picture
from takifugu.cli.progress import watching
from takifugu.core.errors import InputError, SpecError
from takifugu.core.plain import Json
from takifugu.releasing.cost import cost as cost_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.relation_keys import UNOPENED
from takifugu.releasing.planning.book import there
from takifugu.releasing.planning.prices import epsilons_of, picture

if TYPE_CHECKING:

    from takifugu.releasing.file.kind import ReleaseFile

#: Colours of lines about mechanisms: what is taken, and what does not keep the promise.
_MARKS: dict[str, Json] = {
    " chosen": {"fg": "green"}, " if the only release": {"fg": "cyan"}, " if others follow": {"fg": "cyan"},
    " promises less": {"fg": "yellow"}, " refused by default": {"fg": "yellow"},
}  # fmt: skip


def cost(
    files: tuple[Path, ...], with_all: bool, mechanism: str | None, epsilons: str | None, windows: int | None,
    window: str | None, svg: Path | None, force: bool,
) -> None:  # fmt: skip
    requested = () if epsilons is None else epsilons_of(epsilons)
    if svg is not None:  # before anything is computed
        if not requested or len(files) > 1:
            what = "the picture shows one file at several epsilons"
            raise InputError(what, fix="write one FILE, and --epsilons 0.5,1,2").at("svg")
        check_new(svg, force)
    documents, refused = list[Json](), list[str]()
    for file in files:
        with watching() as watch:
            spec = _loaded(file, window, windows is not None)
            costs = cost_of(
                spec, with_all=with_all, mechanism=mechanism, epsilons=requested, windows=windows, watch=watch
            )
        documents.append({"file": str(file), **costs.to_dict()})
        if costs.why_not:
            refused.append(costs.why_not)
        if svg is not None:
            write_picture(svg, picture(costs.prices, file.name), force)
        if not wants_json():
            if len(files) > 1:
                heading(str(file))
            click.echo(coloured(costs))
    print_json({"files": documents})
    refuse(refused)


def coloured(costs: object) -> str:
    """Return costs as text, with lines in the style of the mark that they end with."""
    lines = list[str]()
    for line in str(costs).splitlines():
        style = next((style for end, style in _MARKS.items() if line.endswith(end)), None)
        lines.append(line if style is None else click.style(line, **style))
    return "\n".join(lines)


def _loaded(file: Path, window: str | None, is_ahead: bool) -> ReleaseFile:
    """Load a release file; to look ahead its data stay closed, unless its belief or its ledger asks what they are."""
    if is_ahead:
        with suppress(SpecError):  # which the other way to load it tells, or has not
            spec = load(file, UNOPENED, window=window, first=True)
            if there(spec.ledger) is None:
                return spec
    return load(file, window=window, first=True)
