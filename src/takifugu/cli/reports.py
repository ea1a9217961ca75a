"""What lies in a folder: `report` for the newest report, or the tables in another form, and `verify`."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.output import open_page, print_json, show_page, wants_json, write_new
from takifugu.core.assumptions import sentence
from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.escaping import on_one_line, visible
from takifugu.core.plain import Json
from takifugu.core.text.tables import paragraph, shortened, width
from takifugu.releasing.certificates.certificate import WIDTH
from takifugu.releasing.certificates.checksum import TABLES
from takifugu.releasing.certificates.files import CERTIFICATE, REPORT
from takifugu.releasing.certificates.verifying import verified

CHECKED = "The checksum in the file matches: nothing was changed by accident or by hand since it was written."
#: What a signature proves, and what its absence leaves open.
SIGNED = "The certificate is signed with the key {key}. Compare it with the key that its publisher has made known."
UNSIGNED = (
    "Without a signature anybody could have written it: if you must rely on it, get the file from the publisher."
)
#: So many other files of a folder are named.
_NAMED = 5


def verify(where: Path | None, page: bool, output: Path | None, force: bool) -> None:
    """Verify a certificate, or each one of a folder or a ZIP, or write the page that does more."""
    if page:
        from takifugu.pages.checker import TITLE, checker

        if where is not None:
            raise InputError("the page takes files in the browser", fix="leave the file out").at("where")
        show_page(output, "checker", checker(), TITLE, force)
        return
    if output is not None or force:
        place = "--output" if output else "--force"
        raise InputError("verifying writes no file", fix="leave it out, or add --page").at(place)
    if where is None:
        raise InputError("nothing to verify is named", fix="name a certificate, a folder or a ZIP").at("where")
    _verify(where)


def _verify(where: Path) -> None:
    """Verify what lies at a place; the first certificate that was changed ends it."""
    results, is_one = verified(where), where.name.endswith(CERTIFICATE)
    documents = list[Json]()
    for one in results:
        documents.append({
            "name": one.name, "unchanged": True, "table": one.table, "unverified": list(one.unverified),
            "signed_by": one.signed_by, "certificate": one.certificate.to_dict(),
        })  # fmt: skip
    if print_json({"certificates": documents, "others": list(results[0].others)}):
        return
    for one in results:
        click.echo(one.certificate.text(min(WIDTH, width())) if is_one else paragraph(f"{one.words}."))
    if others := list(map(on_one_line, results[0].others)):
        names = ", ".join(shortened(others, _NAMED, "more"))
        click.echo(paragraph(f"\nOf no table that has a certificate here, and not looked at: {names}."))
    said = [CHECKED]
    if is_one:
        words = TABLES[results[0].table]
        said.append(sentence(words) if results[0].is_whole else f"Note: {words}.")
    keys = list(dict.fromkeys(one.signed_by for one in results))
    said.append(SIGNED.format(key=keys[0]) if len(keys) == 1 and keys[0] else "" if is_one and keys[0] else UNSIGNED)
    click.echo(f"\n{paragraph(' '.join(said))}")


def _lying_in(place: Path, ending: str, what: str) -> tuple[list[Path], list[Path]]:
    """Return the files of this ending near a file or folder, and those in folders inside it; InputError for none."""
    if not place.exists():
        raise InputError(f"there is no {str(place)!r}", fix="name a folder, or a release file").at("where")
    if place.suffix not in (".toml", ".json", ".html", "") and place.is_file():
        fix = "name one of them; of an archive, the folder that it is unpacked into"
        raise InputError(f"{place.name!r} is no folder, release file or certificate", fix=fix).at("where")
    folder = place if place.is_dir() else place.parent
    here, inside = sorted(folder.glob(f"*{ending}")), sorted(folder.glob(f"*/*{ending}"))
    if not here and not inside:
        raise InputError(
            f"no {what} lies in {str(folder)!r} or in a folder inside it", fix="publish a release file first"
        ).at("where")
    return here, inside


def report(where: Path | None, kind: str | None, force: bool) -> None:
    if kind is not None:
        _written(where or Path(), kind, force)
        return
    here, inside = _lying_in(where or Path(), REPORT, "report")
    newest = max([*here, *inside], key=lambda report: report.stat().st_mtime_ns)
    if print_json({"report": str(newest)}):
        return
    click.echo(str(newest))
    open_page(newest.resolve().as_uri(), "file")


def _written(where: Path, kind: str, force: bool) -> None:
    """Write each published table in another form, beside its certificate."""
    from takifugu.releasing.publishing.forms import FORMS, form_of

    written, ending = list[str](), FORMS[kind]
    paths = [where]
    if not where.name.endswith(CERTIFICATE):
        here, inside = _lying_in(where, CERTIFICATE, "certificate")
        paths = here or inside
    for path in paths:
        name = path.name.removesuffix(CERTIFICATE)
        target = path.with_name(f"{name}{ending}")
        try:
            content = form_of(path.parent, name, kind)
        except TakifuguError as error:
            error.what = f"{name}: {error.what}"
            raise
        write_new(target, content, force, ending, len, "move it")  # its name is that of the table
        written.append(str(target))
        if not wants_json():
            click.echo(visible(f"written: {target}"))  # a path is copied as it is
    print_json({"written": written}, where)
