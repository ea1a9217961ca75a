"""What a ledger needs to charge a release again as what it is, and the digest by which it knows that a copy wrote it.

The digest is a keyed hash of all that the certificate says, which is public; without the ledger's key it tells nobody
anything, whatever they guess.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from takifugu.core.plain import Json, Plain

#: What the keyed hashes of a certificate, and of a layout, are made of in a ledger.
CERTIFICATE, LAYOUT = "certificate", "layout"


@dataclass(frozen=True)
class Bill:
    """What a release was charged by, beside what its certificate says of the answers: `book` is the ledger's id.

    Answers of one `payment` read the same entries. `layout` is a keyed hash of how rows became entries, empty where
    nothing was declared; `places` are the steps, counted as `calendar` says, where the data of each answer start.
    `readers` are the framework, query and factor of people's shares in a pooled answer, each once; none where they are
    many. The rest are flags of the release.
    """

    book: str
    payment: str
    layout: str
    calendar: str
    places: tuple[int | None, ...]
    readers: tuple[Plain, ...]
    begins_series: bool
    as_composing: bool
    same_people: bool | None


@dataclass(frozen=True)
class Account:
    """Where a release was paid for: the ledger's id of the source, the release's own one, and how it was charged.

    `tag` makes the ledger's keyed hashes (`Ledger.tag`).
    """

    ledger: str
    release_id: str
    bill: Bill
    tag: Callable[[str, bytes], str] = field(repr=False, compare=False)


def content_of(data: Plain) -> bytes:
    """Return the bytes under a certificate's digest, whatever its file's layout."""
    return _canonical(data, "checksum", "digest")


def checksum_of(data: Plain) -> str:
    """Return the checksum of a certificate's values, whatever their order."""
    return f"sha256:{hashlib.sha256(_canonical(data, 'checksum')).hexdigest()}"


def _canonical(data: Plain, *without: str) -> bytes:
    content: Json = {key: value for key, value in data.items() if key not in without}
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
