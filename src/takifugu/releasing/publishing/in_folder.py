"""What lies published in a folder: certificates, which name who paid for them, and the tables beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.errors import InputError
from takifugu.core.files import read_file
from takifugu.core.names import normalised
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.checksum import read_certificate, table_state
from takifugu.releasing.certificates.files import CERTIFICATE

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Pending


@dataclass(frozen=True)
class Paid:
    """A published certificate: its file, when it was made, its source, and its ledger and its release there."""

    path: Path
    made: tuple[str, int]
    source: str
    ledger: str
    release_id: str

    @property
    def name(self) -> str:
        """The name of the table that it is about."""
        return self.path.name.removesuffix(CERTIFICATE)

    @property
    def certificate(self) -> Certificate | None:
        """All that it says; None where that is not what Takifugu wrote."""
        try:
            return read_certificate(self.path)
        except InputError:
            return None

    @property
    def is_whole(self) -> bool:
        """Whether it is as it was written, and its table lies beside it and is the one that was certified."""
        try:
            return table_state(self.path, read_certificate(self.path)) != "missing"
        except InputError:
            return False


def certificate_of(folder: Path, name: str) -> Paid | None:
    """Return the certificate of a table of this name; None where what lies there is not one."""
    path = folder / f"{name}{CERTIFICATE}"
    try:
        said = json.loads(read_file(path).decode("utf-8"))
        source, ledger, date, release = (said.get(key) for key in ("source", "ledger", "date", "release_id"))
        if not isinstance(source, str) or not isinstance(ledger, str):
            return None
        made = (str(date), path.stat().st_mtime_ns)
        return Paid(path, made, source, ledger, release if isinstance(release, str) else "")
    except (OSError, ValueError, AttributeError, RecursionError):
        return None


def paid_for(source: str | None, folder: Path) -> Iterator[Paid]:
    """Yield the certificates of a source in a folder (of every source: None); what is not a certificate is skipped."""
    wanted = None if source is None else normalised(source)
    for path in sorted(folder.glob(f"*{CERTIFICATE}")):
        one = certificate_of(folder, path.name.removesuffix(CERTIFICATE))
        if one is not None and (wanted is None or normalised(one.source) == wanted):
            yield one


def public_of(one: Pending, folders: Iterable[Path]) -> tuple[Paid, ...]:
    """Return the certificates of a reservation that lie in these folders, or in the one that it was to go to."""
    places = dict.fromkeys(path.absolute() for path in folders)
    if isinstance(output := one.recipe.get("output"), str):
        places[Path(output)] = None
    ids = set(one.ids.values())
    return tuple(paid for folder in places for paid in paid_for(one.source, folder) if paid.release_id in ids)
