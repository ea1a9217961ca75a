"""Which tables of a release file are new, and which were published before: what folder and ledger say together.

Nothing that was paid for is paid for again unless the caller says so by name, under a key that pays once. No data are
read to decide it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from takifugu.accounting.ledger import PUBLISHED, Payment
from takifugu.core.errors import InputError, did_you_mean
from takifugu.core.escaping import visible
from takifugu.core.names import normalised
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.checksum import read_certificate, table_state
from takifugu.releasing.certificates.files import CERTIFICATE, ENDS
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.planning.identity import keys_of
from takifugu.releasing.planning.plan import tables_of

_LONGEST_KEY = 200


class State(StrEnum):
    """What lies in the folder where the tables of one [[release]] go."""

    NEW = "nothing"
    INTACT = "what was published"
    CHANGED = "what was published from other keys"
    BROKEN = "not what was published"
    UNRECORDED = "what the ledger does not call published yet"
    ELSEWHERE = "what was paid for by another ledger, or for another source"
    STRANGE = "what no release has written"
    AWAY = "nothing, and it was published somewhere else"


@dataclass(frozen=True)
class Choice:
    """Which tables a caller wants: `only` some, some `again`, under the key `once`; `force` overwrites.

    Two spellings of a key that look alike are one (`normalised`). Raises InputError for `again` without a key, and for
    a key that is blank.
    """

    only: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    once: str | None = None
    force: bool = False

    def __post_init__(self) -> None:
        if self.again and self.once is None:
            raise InputError(
                f"{', '.join(self.again)} is to be paid for again, and nothing says how often",
                fix="write --once KEY (once= in Python), such as --once 2026-W07: whatever happens, one key pays once",
            ).at("again")
        once = self.once if self.once is None else normalised(self.once, "the key")
        object.__setattr__(self, "once", once)
        if once is not None and (not once or len(once) > _LONGEST_KEY or visible(once) != once):
            raise InputError(
                f"the key is {once[:40]!r}", fix=f"write up to {_LONGEST_KEY} letters or digits, such as 2026-W07"
            ).at("once")

    def of(self, file: ReleaseFile) -> ReleaseFile:
        """Return the file with the tables that are wanted; InputError for a name that it does not have."""
        known = {name: None for item in file.items for name in names_of(item)}
        for key, names in (("only", self.only), ("again", self.again)):
            for name in names:
                if name not in known:
                    nearest = did_you_mean(name, known)
                    raise InputError(
                        f"the file has no [[release]] named {name!r}", fix=f"it has {list(known)}{nearest}"
                    ).at(key)
        if not self.only:
            return file
        wanted = [item for item in file.items if set(names_of(item)) & {*self.only, *self.again}]
        return file.only(wanted)

    def wants_again(self, item: Item) -> bool:
        return bool(set(names_of(item)) & set(self.again))


def choice(
    only: str | Sequence[str] = (), again: str | Sequence[str] = (), once: str | None = None, force: bool = False
) -> Choice:
    """Return what a caller wants; one name may stand for a list of one."""
    return Choice(_listed(only), _listed(again), once, force)


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def names_of(item: Item) -> tuple[str, ...]:
    """Return what one [[release]] is called: with its window, and as the file has it."""
    window = item.period
    return tuple(dict.fromkeys((item.name, item.name.removesuffix(f"-{window}")))) if window else (item.name,)


@dataclass(frozen=True)
class Standing:
    """What folder and ledger say of one [[release]]: its tables, the files in their places, and who paid for them."""

    item: Item
    tables: tuple[str, ...]
    state: State
    files: tuple[str, ...] = ()
    paid: Payment | None = None

    @property
    def since(self) -> str:
        """When it was paid for."""
        return "" if self.paid is None else self.paid.created


def standings(file: ReleaseFile, folder: Path, payments: Sequence[Payment]) -> tuple[Standing, ...]:
    """Return how each [[release]] of a file stands; `payments` are all that the ledger has of its source."""
    return tuple(_standing(file, item, folder, payments) for item in file.items)


def _standing(file: ReleaseFile, item: Item, folder: Path, payments: Sequence[Payment]) -> Standing:
    tables = tuple(name for name, _ in tables_of(file, item))
    files = tuple(f"{name}{end}" for name in tables for end in ENDS if os.path.lexists(folder / f"{name}{end}"))
    named = [paid for paid in reversed(payments) if set(tables) & set(paid.ids)]
    if not files:
        alike = (paid for paid in named if paid.state == PUBLISHED and _keys_in(paid, item) == keys_of(file, item))
        published = next(alike, None)
        return Standing(item, tables, State.NEW if published is None else State.AWAY, paid=published)
    certificates = {name: _certificate(folder / f"{name}{CERTIFICATE}") for name in tables}
    ids = {name: None if one is None else one.release_id for name, one in certificates.items()}
    by_id = next((paid for paid in named if any(paid.ids.get(name) == ids[name] for name in tables)), None)
    whole = all(
        one is not None and by_id is not None and by_id.ids.get(name) == ids[name] and _is_whole(folder, name, one)
        for name, one in certificates.items()
    )
    if by_id is not None and by_id.state != PUBLISHED:
        return Standing(item, tables, State.UNRECORDED, files, by_id)
    if by_id is not None and whole:
        state = State.INTACT if _keys_in(by_id, item) in (None, keys_of(file, item)) else State.CHANGED
        return Standing(item, tables, state, files, by_id)
    if by_id is None and any(ids.values()):
        return Standing(item, tables, State.ELSEWHERE, files)
    published = by_id or next((paid for paid in named if paid.state == PUBLISHED), None)
    return Standing(item, tables, State.STRANGE if published is None else State.BROKEN, files, published)


def _keys_in(paid: Payment, item: Item) -> str | None:
    """Return the digest of the keys that were paid for, where a release file had them."""
    keys: str | None = paid.recipe.get("keys", {}).get(item.name)
    return keys


def _certificate(path: Path) -> Certificate | None:
    try:
        return read_certificate(path) if path.is_file() else None
    except InputError:
        return None


def _is_whole(folder: Path, name: str, certificate: Certificate) -> bool:
    try:
        return table_state(folder / f"{name}{CERTIFICATE}", certificate) != "missing"
    except InputError:
        return False
