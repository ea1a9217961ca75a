"""`certificate show`."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.output import print_json, wrapped
from takifugu.core.text.tables import width
from takifugu.releasing.certificates.certificate import WIDTH
from takifugu.releasing.certificates.checksum import read_certificate, table_state

CHECKED = (
    "The checksum in the file matches: nothing was changed by accident or by hand since it was written. It is not a "
    "signature: whoever must rely on this page gets the file from the publisher."
)


#: What is said of the table beside the certificate, by what `table_state` returns.
TABLES = {
    "the same": "The table beside it is the one that was certified.",
    "missing": "Note: the table that it is about is not beside it.",
    "not certified": "It does not say which file its values were published in.",
}


def show(file: Path, as_json: bool) -> None:
    certificate = read_certificate(file)
    table = table_state(file, certificate)
    if as_json:
        content = {"unchanged": True, "table": table, "certificate": certificate.to_dict()}
        print_json("certificate show", file, content)
        return
    click.echo(certificate.text(min(WIDTH, width())))
    click.echo(f"\n{wrapped(f'{CHECKED} {TABLES[table]}')}")
