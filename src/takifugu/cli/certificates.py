"""`certificate show`."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.output import print_json, wrapped
from takifugu.releasing.checksum import read_certificate

CHECKED = (
    "The checksum in the file fits: nothing was changed by accident or by hand since it was written. It is no "
    "signature: whoever must rely on this page gets the file from the publisher."
)


def show(file: Path, as_json: bool) -> None:
    certificate = read_certificate(file)
    if as_json:
        print_json("certificate show", file, {"unchanged": True, "certificate": certificate.to_dict()})
        return
    click.echo(certificate.text())
    click.echo(f"\n{wrapped(CHECKED)}")
