"""`init` and `schema`: what a release file starts from."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

import click

from takifugu.accounting.ledger import Ledger
from takifugu.cli.output import counted, print_json, wrapped, write_new
from takifugu.core.errors import LedgerError, ReleaseError, SpecError, TakifuguError
from takifugu.core.escaping import visible
from takifugu.core.text.tables import labelled, name_of, text_table
from takifugu.data import open_frame, sniffed
from takifugu.releasing.file.columns import Column, look_at
from takifugu.releasing.file.drafting import MOST_COLUMNS
from takifugu.releasing.file.kinds import KINDS, PLAINLY
from takifugu.releasing.file.ledger_id import write_ledger_id
from takifugu.releasing.file.loading import json_schema, load
from takifugu.releasing.file.neighbours import ledger_for


def init(source: str, output: Path, kind: str, force: bool, as_json: bool) -> None:
    kind = PLAINLY.get(kind, kind)
    chosen_kind = KINDS.find(kind)
    if output.exists() and not force:
        raise ReleaseError(f"{str(output)!r} would be overwritten", fix="write --force, or name another file with -o")
    data = Path(source)
    columns = look_at(open_frame(source, written=sniffed(data)), chosen_kind.roles)
    text, (declared, whose) = chosen_kind.draft(data, output, columns, kind), ledger_for(output, data)
    write_new(output, text, force, ".toml", tomllib.loads)
    ledger, is_new, name = _made(output, declared)
    write_ledger_id(output, name)
    missing = _missing(output)
    if as_json:
        listing = [{"name": c.name, "kind": c.kind, "role": c.role, "why": c.why, "sure": c.sure} for c in columns]
        made = {"written": str(output), "ledger": str(ledger), "ledger_is_new": is_new}
        made["ledger_of"] = None if whose is None else str(whose)
        print_json("init", data, {**made, "columns": listing, "fill_in": [fault.line for fault in missing]})
        return
    _print(data, output, columns, missing)
    if whose is not None:
        click.echo(f"\nledger: {visible(str(ledger))}")
        words = f"It is that of {whose}, which reads the same data: one ledger knows what was spent on them."
        click.echo(wrapped(words))
    if is_new:
        click.echo(f"\nnew ledger: {ledger}")
        click.echo(wrapped("It remembers nothing before today. The release file requires it from now on."))


def schema(kind: str) -> None:
    click.echo(json.dumps(json_schema(kind), indent=2))


def _made(output: Path, declared: str) -> tuple[str | Path, bool, str]:
    """Make the draft's ledger where there is none; return whether it is new, and its id.

    Without one the draft is taken back.
    """
    where = declared if "://" in declared else output.parent / declared
    try:
        book = Ledger.open(where)
        return where, book.is_new, book.id
    except LedgerError:
        output.unlink(missing_ok=True)
        raise


def _missing(output: Path) -> Sequence[TakifuguError]:
    """Return what the written file still lacks, in the words of the commands that will require it."""
    try:
        load(output)
    except SpecError as error:
        return error.faults
    return ()


def _reason(column: Column) -> str:
    return f"{column.sure}: {column.why}" if column.why else "-"


def _print(data: Path, output: Path, columns: Sequence[Column], missing: Sequence[TakifuguError]) -> None:
    click.echo(wrapped(f"{data.name} has {counted(len(columns), 'column')}; what they are for is guessed:"))
    click.echo()
    listed = [c for c in columns if c.role is not None]
    listed += [c for c in columns if c.role is None][: MOST_COLUMNS - len(listed)]
    rows = [[name_of(c.name, 26), c.kind, c.role or "-", _reason(c)] for c in columns if c in listed]
    click.echo(text_table(["column", "looks like", "used as", "why"], rows))
    if len(columns) > len(listed):
        click.echo(f"and {counted(len(columns) - len(listed), 'more column')}, used for nothing")
    click.echo(f"\nwritten: {visible(str(output))}\n")
    click.echo("What only you can know is still missing in it:\n")
    lines = ((fault, "; ".join(text for text in (fault.rule, fault.fix) if text)) for fault in missing)
    click.echo(labelled([(f"  {fault.place}", text or fault.what) for fault, text in lines]))
    click.echo()
    click.echo("Then:")
    click.echo(labelled([
        (f"  takifugu compare {output}", "all mechanisms, side by side"),
        (f"  takifugu advise {output}", "is the table worth reading?"),
        (f"  takifugu explain {output}", "what other epsilons would cost"),
        (f"  takifugu release {output}", "publish"),
    ]) if len(str(output)) < 30 else wrapped(f"takifugu compare {output}"))  # fmt: skip
