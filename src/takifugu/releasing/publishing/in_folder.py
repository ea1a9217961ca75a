"""What lies published in a folder: certificates, which name who paid for them, and the tables beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.accounting.ledger.values import DRAWN
from takifugu.core.errors import InputError
from takifugu.core.files import read_file
from takifugu.core.names import normalised
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.checksum import read_certificate, table_state
from takifugu.releasing.certificates.files import CERTIFICATE
from takifugu.releasing.publishing.states import RESUME, InFolder, InLedger, Row, row_of

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


def _certificate_of(folder: Path, name: str) -> Paid | None:
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


def certificates_of(folder: Path, names: Iterable[str]) -> tuple[Paid, ...]:
    """Return the certificates of tables of these names; what is not a certificate is skipped."""
    return tuple(one for one in (_certificate_of(folder, name) for name in names) if one is not None)


def paid_for(source: str | None, folder: Path) -> tuple[Paid, ...]:
    """Return the certificates of a source in a folder (of every source: None)."""
    paths = sorted(folder.glob(f"*{CERTIFICATE}"))
    lying = certificates_of(folder, (path.name.removesuffix(CERTIFICATE) for path in paths))
    wanted = None if source is None else normalised(source)
    return tuple(one for one in lying if wanted is None or normalised(one.source) == wanted)


def public_of(one: Pending, folders: Iterable[Path]) -> tuple[Paid, ...]:
    """Return the certificates of a reservation that lie in these folders, or in the one that it was to go to."""
    places = dict.fromkeys(path.absolute() for path in folders)
    if isinstance(output := one.recipe.get("output"), str):
        places[Path(output)] = None
    ids = set(one.ids.values())
    return tuple(paid for folder in places for paid in paid_for(one.source, folder) if paid.release_id in ids)


def row_of_pending(one: Pending, public: Sequence[Paid]) -> Row:
    """Return what is done about a reservation, of which these certificates are public, until it is handed out."""
    drawn = InLedger.LOST if one.bundle is None else InLedger.DRAWN
    said = drawn if one.state == DRAWN else InLedger.PAID
    return row_of(said, InFolder.WHOLE if public else InFolder.NOTHING, RESUME)
