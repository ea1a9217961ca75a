"""`open`: the newest report, in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from takifugu.cli.output import print_json
from takifugu.core.errors import InputError
from takifugu.releasing.certificates.files import REPORT


def open_report(where: Path | None, as_json: bool) -> None:
    report = newest_report(where or Path())
    if as_json:
        print_json("open", None, {"report": str(report)})
        return
    click.echo(str(report))
    if not webbrowser.open(report.resolve().as_uri()):
        click.echo("There is no browser here: open this file with one.", err=True)


def newest_report(where: Path) -> Path:
    """Return the report written last, in a folder, in those inside it, or beside a file.

    Raises InputError where there is none.
    """
    if not where.exists():
        raise InputError(f"there is no {str(where)!r}", fix="name a folder, or a release file").at("where")
    folder = where if where.is_dir() else where.parent
    reports = [*folder.glob(f"*{REPORT}"), *folder.glob(f"*/*{REPORT}")]
    if not reports:
        raise InputError(
            f"no report lies in {str(folder)!r} or in a folder inside it", fix="publish first: `takifugu release FILE`"
        ).at("where")
    return max(reports, key=lambda report: report.stat().st_mtime_ns)
