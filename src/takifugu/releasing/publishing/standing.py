"""Which tables of a release file are new, and which were published before: what folder and ledger say together.

Nothing that was paid for is paid for again unless the caller says so by name, under a key that pays once. No data are
read to decide it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from takifugu.accounting.ledger import DRAWN, PUBLISHED, Payment
from takifugu.core.errors import InputError, did_you_mean
from takifugu.core.escaping import visible
from takifugu.core.names import normalised
from takifugu.releasing.certificates.files import ENDS
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.planning.identity import keys_of
from takifugu.releasing.planning.plan import tables_of
from takifugu.releasing.publishing.in_folder import Paid, certificates_of
from takifugu.releasing.publishing.states import Does, InFolder, InLedger, Row, row_of

_LONGEST_KEY = 200


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


@dataclass(frozen=True, eq=False)
class Standing:
    """The state of one [[release]]: its tables, the files in their places, and the payment that they are about.

    `payments` are all that the ledger has of the source of its `file`.
    """

    file: ReleaseFile
    item: Item
    folder: Path
    payments: tuple[Payment, ...]
    tables: tuple[str, ...]
    said: InLedger
    there: InFolder
    files: tuple[str, ...]
    paid: Payment | None

    @property
    def row(self) -> Row:
        return row_of(self.said, self.there)

    @property
    def is_here(self) -> bool:
        """Whether it was published, and lies here whole."""
        return self.said in (InLedger.PUBLISHED, InLedger.REKEYED) and self.there is InFolder.WHOLE

    def does(self, wanted: Choice) -> Does:
        """Return what a release does about it."""
        return Does.PAY if wanted.wants_again(self.item) else self.row.done(wanted.force, wanted.once is not None)

    @property
    def since(self) -> str:
        """When it was paid for."""
        return "" if self.paid is None else self.paid.created


def standings(file: ReleaseFile, folder: Path, payments: tuple[Payment, ...]) -> tuple[Standing, ...]:
    """Return the state of each [[release]] of a file, as if none of what waits were for these very keys and data."""
    return tuple(_standing(file, item, folder, payments) for item in file.items)


def _standing(file: ReleaseFile, item: Item, folder: Path, payments: tuple[Payment, ...]) -> Standing:
    tables, keys = tuple(name for name, _ in tables_of(file, item)), keys_of(file, item)
    files = tuple(f"{name}{end}" for name in tables for end in ENDS if os.path.lexists(folder / f"{name}{end}"))
    lying = certificates_of(folder, tables)
    named = [paid for paid in reversed(payments) if set(tables) & set(paid.ids)]
    published = [paid for paid in named if paid.state == PUBLISHED]
    here = next((paid for paid in named if _is_of(paid, lying)), None)
    alike = (paid for paid in published if _keys_in(paid, item) == keys)
    paid = here or next(alike, None) or next(iter((*published, *named)), None)
    if here is not None:
        is_whole = len(lying) == len(tables) and all(_is_of(here, [one]) and one.is_whole for one in lying)
        there = InFolder.WHOLE if is_whole else InFolder.ALTERED
    elif files:
        there = InFolder.ANOTHER_SOURCE if lying else InFolder.STRANGE
    else:
        output = "" if paid is None else paid.recipe.get("output", "")
        is_away = paid is not None and _is_of(paid, certificates_of(Path(output), tables))
        there = InFolder.AWAY if is_away else InFolder.NOTHING
    if paid is None:
        said = InLedger.NOTHING
    elif paid.state == PUBLISHED:
        is_alike = _keys_in(paid, item) in ((keys,) if here is None else (keys, None))
        said = InLedger.PUBLISHED if is_alike else InLedger.REKEYED
    else:
        said = InLedger.DRAWN_OTHER if paid.state == DRAWN else InLedger.PAID_OTHER
    return Standing(file, item, folder, payments, tables, said, there, files, paid)


def _is_of(paid: Payment, lying: Sequence[Paid]) -> bool:
    return any(paid.ids.get(one.name) == one.release_id for one in lying)


def _keys_in(paid: Payment, item: Item) -> str | None:
    """Return the digest of the keys that were paid for, where a release file had them."""
    keys: str | None = paid.recipe.get("keys", {}).get(item.name)
    return keys
