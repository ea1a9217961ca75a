"""What lies in a folder: `report` for the newest report, or the tables in another form, and `verify`."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from takifugu.cli.output import print_json, write_new
from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.plain import Json
from takifugu.core.text.tables import paragraph, width
from takifugu.releasing.certificates.certificate import WIDTH
from takifugu.releasing.certificates.files import CERTIFICATE, REPORT
from takifugu.releasing.certificates.verifying import MISSING, NOT_CERTIFIED, SAME, verified

CHECKED = (
    "The checksum in the file matches: nothing was changed by accident or by hand since it was written. It is not a "
    "signature: whoever must rely on this page gets the file from the publisher."
)


#: What is said of the table beside the certificate.
TABLES = {
    SAME: "The table beside it is the one that was certified.",
    MISSING: "Note: the table that it is about is not beside it.",
    NOT_CERTIFIED: "It does not say which file its values were published in.",
}


def verify(where: Path, as_json: bool) -> None:
    """Verify a certificate, or each one of a folder or a ZIP; the first that was changed ends it."""
    results, is_one = verified(where), where.name.endswith(CERTIFICATE)
    if as_json:
        documents = list[Json]()
        for one in results:
            documents.append({
                "name": one.name, "unchanged": True, "table": one.table, "unverified": list(one.unverified),
                "certificate": one.certificate.to_dict(),
            })  # fmt: skip
        print_json("verify", where, {"certificates": documents})
        return
    for one in results:
        click.echo(one.certificate.text(min(WIDTH, width())) if is_one else paragraph(f"{one.words}."))
    state = f" {TABLES[results[0].table]}" if is_one else ""
    click.echo(f"\n{paragraph(f'{CHECKED}{state}')}")


def _certificates(folder: Path) -> list[Path]:
    """Return the certificates of a folder, or of those inside it; InputError for none."""
    paths = sorted(folder.glob(f"*{CERTIFICATE}")) or sorted(folder.glob(f"*/*{CERTIFICATE}"))
    if not paths:
        raise InputError(
            f"no certificate lies in {str(folder)!r} or in a folder inside it", fix="publish a release file first"
        ).at("where")
    return paths


def report(where: Path | None, kind: str | None, force: bool, as_json: bool) -> None:
    if kind is not None:
        _written(where or Path(), kind, force, as_json)
        return
    newest = newest_report(where or Path())
    if as_json:
        print_json("report", None, {"report": str(newest)})
        return
    click.echo(str(newest))
    if not webbrowser.open(newest.resolve().as_uri()):
        click.echo("There is no browser here: open this file with one.", err=True)


def newest_report(place: Path) -> Path:
    """Return the newest report near a file or folder; InputError for none."""
    folder = _folder(place)
    reports = [*folder.glob(f"*{REPORT}"), *folder.glob(f"*/*{REPORT}")]
    if not reports:
        raise InputError(
            f"no report lies in {str(folder)!r} or in a folder inside it", fix="publish a release file first"
        ).at("where")
    return max(reports, key=lambda report: report.stat().st_mtime_ns)


def _folder(place: Path) -> Path:
    if not place.exists():
        raise InputError(f"there is no {str(place)!r}", fix="name a folder, or a release file").at("where")
    return place if place.is_dir() else place.parent


def _written(where: Path, kind: str, force: bool, as_json: bool) -> None:
    """Write each published table in another form, beside its certificate."""
    from takifugu.releasing.publishing.forms import FORMS, form_of

    written, ending = list[str](), FORMS[kind]
    for path in [where] if where.name.endswith(CERTIFICATE) else _certificates(_folder(where)):
        name = path.name.removesuffix(CERTIFICATE)
        target = path.with_name(f"{name}{ending}")
        try:
            content = form_of(path.parent, name, kind)
        except TakifuguError as error:
            error.what = f"{name}: {error.what}"
            raise
        write_new(target, content, force, ending, len)
        written.append(str(target))
        if not as_json:
            click.echo(paragraph(f"written: {target}"))
    if as_json:
        print_json("report", where, {"written": written})
