"""What lies published in a folder: certificates, which name who paid for them, and the files beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.errors import TakifuguError
from takifugu.core.files import read_file
from takifugu.core.names import normalised
from takifugu.releasing.certificates.files import ALWAYS, CERTIFICATE, ENDS, TABLE, content_of, digest_of
from takifugu.releasing.publishing.bundle import Sheet

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Pending


@dataclass(frozen=True)
class Paid:
    """A published certificate: its file, when it was made, and its source and its release in the ledger that paid."""

    path: Path
    made: tuple[str, int]
    ledger: str
    release_id: str


def paid_for(source: str | None, folder: Path) -> Iterator[Paid]:
    """Yield the certificates of a source in a folder (of every source: None); what is not a certificate is skipped."""
    for path in sorted(folder.glob(f"*{CERTIFICATE}")):
        try:
            certificate = json.loads(read_file(path).decode("utf-8"))
            name, ledger, date, release = (certificate.get(key) for key in ("source", "ledger", "date", "release_id"))
            if not isinstance(ledger, str) or not isinstance(name, str):
                continue
            if source is None or normalised(name) == normalised(source):
                made = (str(date), path.stat().st_mtime_ns)
                yield Paid(path, made, ledger, release if isinstance(release, str) else "")
        except (OSError, ValueError, AttributeError, RecursionError):
            continue


def public_of(one: Pending, folders: Iterable[Path]) -> tuple[Paid, ...]:
    """Return the certificates of a reservation that lie in these folders, or in the one that it was to go to."""
    places = dict.fromkeys(path.absolute() for path in folders)
    if isinstance(output := one.recipe.get("output"), str):
        places[Path(output)] = None
    ids = set(one.ids.values())
    return tuple(paid for folder in places for paid in paid_for(one.source, folder) if paid.release_id in ids)


def sheet_of(paid: Paid) -> Sheet | None:
    """Return the files of a table as they lie beside its certificate, or None where they are not whole."""
    name = paid.path.name.removesuffix(CERTIFICATE)
    files = {f"{name}{end}": content_of(paid.path.with_name(f"{name}{end}")) for end in ENDS}
    there = {key: content for key, content in files.items() if content is not None}
    table = there.get(f"{name}{TABLE}")
    try:
        sheet = Sheet(name, there)
        complete = {f"{name}{end}" for end in ALWAYS} <= {*there}
        whole = complete and table is not None and digest_of(table) == sheet.certificate.table
    except (TakifuguError, ValueError):
        return None
    return sheet if whole else None
