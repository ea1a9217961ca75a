"""`takifugu check`: what is wrong with release files, before their data are there."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.failures import failure
from takifugu.cli.group import DONE, code_of, complain
from takifugu.cli.output import print_json, wants_json
from takifugu.cli.progress import watching
from takifugu.core.errors import CalibrationRefused, SpecError, TakifuguError
from takifugu.core.plain import Json
from takifugu.core.text.tables import paragraph
from takifugu.releasing.advice.checking import NOT_SEEN
from takifugu.releasing.advice.checking import check as checked
from takifugu.releasing.file.toml_words import in_toml

#: No key is at fault, and a release is refused: a table is useless, has no noise, costs too much, or is one of a series
#: without an end.
_BUT = "valid, but "


def check(files: tuple[Path, ...], allow_useless: bool, window: str | None) -> None:
    """Check each file, and exit with the code of the gravest fault."""
    documents, worst = [], DONE
    for file in files:
        document: Json = {"file": str(file)}
        try:
            with watching() as watch:
                report = checked(file, window, watch, allow_useless)
        except TakifuguError as error:
            if len(files) == 1:
                if isinstance(error, CalibrationRefused) and not wants_json():
                    error.what = f"{file}: {_BUT}{error.what}"
                raise
            code = code_of(error)
            worst = max(worst, code)
            document |= {"valid": False, "error": failure(error, "", code)}
            before = f"{file}: "
            if isinstance(error, CalibrationRefused):
                before += _BUT
            lines = error.problems if isinstance(error, SpecError) else (error.message,)
            for line in lines:
                if not line.startswith(str(file)):
                    line = f"{before}{line}"
                complain(line)
        else:
            document |= {"valid": True, **report.to_dict()}
            if not wants_json():
                verdict = f"{_BUT}{in_toml(report.proviso)}" if report.proviso else "valid"
                click.echo(f"{paragraph(f'{file}: {verdict}')}\n\n{report}\n")
        documents.append(document)
    is_printed = print_json({"files": documents})
    if not is_printed and any(document["valid"] for document in documents):
        click.echo(paragraph(NOT_SEEN))
    click.get_current_context().exit(worst)
