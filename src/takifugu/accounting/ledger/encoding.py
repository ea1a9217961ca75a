"""How values are written into the ledger's rows and read back: one JSON text for equal values, exact amounts, dates."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from takifugu.accounting.ledger.values import DRAWN, PUBLISHED, RESERVED, Amount
from takifugu.core.errors import InputError, LedgerError, TakifuguError
from takifugu.core.plain import Plain
from takifugu.numbers.rationals import as_fraction


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def canonical(data: Plain, name: str) -> str:
    """Write plain values as one JSON text.

    Raises InputError where they would not read back unchanged.
    """
    try:
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
        if "\\ud" in text:  # half a character, which no file can hold
            json.dumps(data, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} cannot be kept in a ledger ({error})", fix="name states by strings or numbers"
        ) from None
    if json.loads(text) != data:
        raise InputError(f"{name} would not read back from a ledger unchanged", fix="name states by strings or numbers")
    return text


def amount(epsilon: str, delta: str) -> Amount:
    return Amount(as_fraction(epsilon, "an epsilon"), as_fraction(delta, "a delta"))


def known_state(state: object) -> str:
    """Return the state of a reservation; raises ValueError for any other text."""
    if state not in (RESERVED, DRAWN, PUBLISHED):
        raise ValueError(f"its state is {state!r:.40}")
    return str(state)


@contextmanager
def decoding() -> Iterator[None]:
    """Turn whatever cannot be read into a LedgerError."""
    try:
        yield
    except LedgerError:
        raise
    except (TakifuguError, KeyError, TypeError, ValueError, AttributeError, RecursionError, zlib.error) as error:
        raise LedgerError(
            f"the ledger holds a release that cannot be read ({error})",
            rule="it was written by another version or edited",
            fix="nothing more is released about this source, restore a backup or use the version that wrote it",
        ) from None
