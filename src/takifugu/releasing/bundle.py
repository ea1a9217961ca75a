"""Everything public of a release, as bytes: what the ledger keeps from the draw until all of it is published."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from takifugu.certificates.certificate import Certificate
from takifugu.certificates.checksum import from_dict
from takifugu.certificates.files import CERTIFICATE
from takifugu.errors import LedgerError

_FORMAT = "takifugu-bundle/1"


@dataclass(frozen=True)
class Sheet:
    """The public form of a table: the complete bytes of its files by name, in the order in which they appear.

    A release of the library has no files but its certificate, which holds the noisy values.
    """

    name: str
    files: Mapping[str, bytes]

    @property
    def certificate(self) -> Certificate:
        return from_dict(json.loads(self.files[f"{self.name}{CERTIFICATE}"]))


@dataclass(frozen=True)
class Bundle:
    sheets: tuple[Sheet, ...]

    @property
    def files(self) -> dict[str, bytes]:
        return {name: content for sheet in self.sheets for name, content in sheet.files.items()}

    def to_bytes(self) -> bytes:
        sheets = [{"name": s.name, "files": {n: c.decode() for n, c in s.files.items()}} for s in self.sheets]
        return json.dumps({"format": _FORMAT, "tables": sheets}).encode()


def sealed(certificate: Certificate) -> Bundle:
    """Return the bundle of a release of the library: its certificate."""
    name = certificate.release
    return Bundle((Sheet(name, {f"{name}{CERTIFICATE}": certificate.to_json().encode()}),))


def bundle_of(kept: bytes | None) -> Bundle:
    """Read a bundle back; raises LedgerError for one of another version."""
    told: Any = json.loads(kept) if kept else {}
    if told.get("format") != _FORMAT:
        raise LedgerError(
            "the ledger says that this release was drawn, but keeps no noisy values of it that this version can read",
            fix="complete it with the version of Takifugu that drew it; its epsilon counts as spent",
        )
    return Bundle(
        tuple(Sheet(s["name"], {name: text.encode() for name, text in s["files"].items()}) for s in told["tables"])
    )
