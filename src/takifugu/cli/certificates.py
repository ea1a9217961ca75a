"""What lies in a folder: `certificate show`, and `open` for the newest report."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from takifugu.cli.output import print_json, write_new
from takifugu.core.errors import InputError
from takifugu.core.text.plot import Plot
from takifugu.core.text.tables import paragraph, width
from takifugu.releasing.certificates.certificate import WIDTH
from takifugu.releasing.certificates.checksum import read_certificate, table_state
from takifugu.releasing.certificates.files import REPORT
from takifugu.releasing.report.outcomes import published_of

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


def show(file: Path, picture: Path | None, as_json: bool) -> None:
    certificate = read_certificate(file)
    if picture is not None:
        drawing = published_of(certificate).drawing
        if drawing is None:
            raise InputError("these values are nothing that is drawn", fix="leave --picture out")
        write_new(picture, Plot(certificate.release, drawing).content(picture), False, picture.suffix, len)
    table = table_state(file, certificate)
    if as_json:
        content = {"unchanged": True, "table": table, "certificate": certificate.to_dict()}
        print_json("certificate show", file, content)
        return
    click.echo(certificate.text(min(WIDTH, width())))
    click.echo(f"\n{paragraph(f'{CHECKED} {TABLES[table]}')}")


def open_report(where: Path | None, as_json: bool) -> None:
    report = newest_report(where or Path())
    if as_json:
        print_json("open", None, {"report": str(report)})
        return
    click.echo(str(report))
    if not webbrowser.open(report.resolve().as_uri()):
        click.echo("There is no browser here: open this file with one.", err=True)


def newest_report(place: Path) -> Path:
    """Return the newest report near a file or folder; InputError for none."""
    if not place.exists():
        raise InputError(f"there is no {str(place)!r}", fix="name a folder, or a release file").at("where")
    folder = place if place.is_dir() else place.parent
    reports = [*folder.glob(f"*{REPORT}"), *folder.glob(f"*/*{REPORT}")]
    if not reports:
        raise InputError(
            f"no report lies in {str(folder)!r} or in a folder inside it", fix="publish a release file first"
        ).at("where")
    return max(reports, key=lambda report: report.stat().st_mtime_ns)
