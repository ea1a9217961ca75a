"""What lies published in a folder: certificates, which name who paid for them, and the tables beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.errors import InputError
from takifugu.core.files import read_file
from takifugu.core.names import normalised
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.checksum import read_certificate, table_state
from takifugu.releasing.certificates.files import CERTIFICATE


@dataclass(frozen=True)
class Certified:
    """A published certificate: its file, when it was made, its source, and its ledger and its release there."""

    path: Path
    made: tuple[str, int]
    source: str
    ledger: str
    release_id: str

    @property
    def name(self) -> str:
        """Return the name of its table."""
        return self.path.name.removesuffix(CERTIFICATE)

    @property
    def certificate(self) -> Certificate | None:
        """Return the certificate, or None if changed or unreadable."""
        try:
            return read_certificate(self.path)
        except InputError:
            return None

    @property
    def is_whole(self) -> bool:
        """Return whether the certificate is unchanged, with its table beside it."""
        try:
            return table_state(self.path, read_certificate(self.path)) != "missing"
        except InputError:
            return False


def certificates_of(folder: Path, names: Iterable[str]) -> tuple[Certified, ...]:
    """Return the certificates of tables of these names, skipping other files."""
    certified = []
    for name in names:
        path = folder / f"{name}{CERTIFICATE}"
        try:
            fields = json.loads(read_file(path).decode("utf-8"))
            source, ledger, date, release = map(fields.get, ("source", "ledger", "date", "release_id"))
            time = (str(date), path.stat().st_mtime_ns)
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
        if isinstance(source, str) and isinstance(ledger, str):
            if not isinstance(release, str):
                release = ""
            certified.append(Certified(path, time, source, ledger, release))
    return tuple(certified)


def paid_for(source: str | None, folder: Path) -> tuple[Certified, ...]:
    """Return a folder's certificates of a source, or of all (None)."""
    names = [path.name.removesuffix(CERTIFICATE) for path in sorted(folder.glob(f"*{CERTIFICATE}"))]
    certified = certificates_of(folder, names)
    if source is None:
        return certified
    return tuple(certificate for certificate in certified if normalised(certificate.source) == normalised(source))
