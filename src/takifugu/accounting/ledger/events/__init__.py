"""What was done to a ledger, as plain values: each event is one JSON text, chained to the one before by a keyed digest.

What is long (charges, frameworks, recipes, readings, sets of units) stands once among the contents, named by its
digest. `created` says when; nothing is computed from it.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from secrets import token_hex
from typing import Any, ClassVar

from takifugu.core.errors import InputError, LedgerError, TakifuguError
from takifugu.core.typed import read_as

FORMAT = 2
#: What became of a payment.
RESERVED, DRAWN, OVER = "reserved", "drawn", "over"
#: How a payment says that it is for a session.
SESSION = {"kind": "session"}
#: Whose data a line reads, where it is no set of units: a source that names nobody, and all who are or will be.
NOBODY, EACH = "", "*"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Began:
    """The first event: which ledger this is, and the key of its digests and tags, which never leaves it."""

    kind: ClassVar[str] = "began"
    id: str = field(default_factory=lambda: token_hex(8))
    key: str = field(default_factory=lambda: token_hex(32))
    format: int = FORMAT
    created: str = field(default_factory=now)


@dataclass(frozen=True)
class Budgeted:
    """What the units of a source may spend; implied: what its first release cost."""

    kind: ClassVar[str] = "budget"
    source: str
    epsilon: str
    delta: str
    implied: bool = False
    created: str = field(default_factory=now)


@dataclass(frozen=True)
class Line:
    """One charge of one release, and whose data it reads: a set of so many units, or NOBODY, or EACH."""

    release: str
    charge: str
    framework: str
    units: str
    count: int
    #: The step where the sequence starts, counted by the calendar that the entries name.
    at: int | None = None
    #: Where there is none, a keyed digest of where the sequences start.
    starts: str = ""


@dataclass(frozen=True)
class Paid:
    """Releases that are charged from now on."""

    kind: ClassVar[str] = "paid"
    source: str
    group: str
    ids: dict[str, str]
    lines: tuple[Line, ...]
    #: Says how rows became entries.
    reading: str
    #: Their name.
    entries: str
    #: What each source that it touches came to: no total is shown below it, and `check` computes it again.
    spent: dict[str, tuple[str, str]]
    recipe: str = ""
    identity: str = ""
    #: Known from a certificate only.
    adopted: bool = False
    software: str = ""
    created: str = field(default_factory=now)


@dataclass(frozen=True)
class Same:
    """The owner declares that these (reading, entries) of a source are the same entries; certificates print it."""

    kind: ClassVar[str] = "same"
    source: str
    tables: tuple[tuple[str, str], ...]
    why: str
    created: str = field(default_factory=now)


@dataclass(frozen=True)
class Drawn:
    """Noisy values are drawn: from here on only these may be published. A session keeps one answer after another."""

    kind: ClassVar[str] = "kept"
    group: str
    values: str
    created: str = field(default_factory=now)


@dataclass(frozen=True)
class Over:
    """A release is published, or will never be; `why` is empty for the former."""

    kind: ClassVar[str] = "over"
    group: str
    certificates: tuple[str, ...] = ()
    why: str = ""
    created: str = field(default_factory=now)


Event = Began | Budgeted | Paid | Same | Drawn | Over
_KINDS: dict[str, type[Any]] = {kind.kind: kind for kind in (Began, Budgeted, Paid, Same, Drawn, Over)}

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(data: object, name: str = "an event") -> str:
    """Write plain values as one JSON text; raises InputError where they would not read back unchanged."""
    try:
        text = _ENCODER.encode(data)
        if "\\ud" in text:  # half a character, which no file can hold
            json.dumps(data, ensure_ascii=False).encode()
        if name == "an event" or json.loads(text) == data:
            return text
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} cannot be kept in a ledger ({error})", fix="name states by strings or numbers"
        ) from None
    raise InputError(f"{name} would not read back from a ledger unchanged", fix="name states by strings or numbers")


#: What reading a text raises that was never written.
UNREADABLE = (TakifuguError, LookupError, TypeError, ValueError, AttributeError, RecursionError, ArithmeticError)


@contextmanager
def decoding() -> Iterator[None]:
    """Turn whatever cannot be read into a LedgerError."""
    try:
        yield
    except LedgerError:
        raise
    except UNREADABLE as error:
        raise LedgerError(
            f"the ledger holds an event that cannot be read ({error})",
            rule="it was written by another version, or edited",
            fix=f"use the version that wrote it, or {RESTORE}",
        ) from None


def to_text(event: Event) -> str:
    values = {"kind": event.kind, **vars(event)}
    if isinstance(event, Paid):
        values["lines"] = list(map(vars, event.lines))
    return canonical(values)


def of_text(text: str) -> Event:
    """Read an event back; raises LedgerError for what no version of this format has written."""
    with decoding():
        values = json.loads(text)
        event: Event = read_as(_KINDS[values.pop("kind")], values)
        if to_text(event) != text:
            raise ValueError("it is not written as this version writes it")
        return event


def chained(key: bytes, before: str, text: str) -> str:
    """Return the digest of an event after the one before it."""
    return hmac.digest(key, f"{before}\n{text}".encode(), "sha256").hex()


def first_row() -> tuple[str, str]:
    """Return the text and digest with which a new ledger begins."""
    began = Began()
    text = to_text(began)
    return text, chained(bytes.fromhex(began.key), "", text)


def keyed(key: bytes, kind: str, content: bytes) -> str:
    """Return a ledger's keyed hash of a content, different by kind."""
    return hmac.digest(key, f"{kind}\0".encode() + content, "sha256").hex()


def digest_of(body: bytes) -> str:
    """Return the name of a content."""
    return sha256(body).hexdigest()


def in_chain(rows: Iterable[tuple[str, str]], key: bytes, before: str, number: int) -> Iterator[tuple[Event, str]]:
    """Yield the events of rows (text, digest); raises LedgerError where one does not follow from the one before."""
    for place, (text, digest) in enumerate(rows, number):
        if not isinstance(text, str) or not isinstance(digest, str):
            raise LedgerError(f"event {place} is no text", rule="the ledger was edited or damaged", fix=RESTORE)
        event = of_text(text)
        if isinstance(event, Began) != (place == 0):
            raise LedgerError(f"event {place} begins a ledger", rule="the ledger was edited or damaged", fix=RESTORE)
        if isinstance(event, Began):
            if event.format != FORMAT:
                raise LedgerError(
                    f"the ledger is in format {event.format}", rule=f"this version reads format {FORMAT}",
                    fix="install the Takifugu that wrote it, or import its certificates into a new ledger",
                )  # fmt: skip
            with decoding():
                key = bytes.fromhex(event.key)
        if chained(key, before, text) != digest:
            raise LedgerError(
                f"event {place} ({event.kind}) does not follow from the one before it",
                rule="the ledger was edited or damaged", fix=RESTORE,
            )  # fmt: skip
        yield event, digest
        before = digest


RESTORE = "restore a copy, and import the certificates of what was published since"
