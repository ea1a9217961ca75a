"""Which tables of a file are to be paid for, which wait or were published: by the table of states, without their data.

Nothing that was paid for is paid for again unless the caller says so by name, under a key that pays once.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from takifugu.accounting.ledger import DRAWN, PUBLISHED, Payment
from takifugu.accounting.ledger.disk.places import path_of
from takifugu.accounting.ledger.pending import refuse_alike
from takifugu.core.errors import InputError, ReleaseError, did_you_mean
from takifugu.core.escaping import visible
from takifugu.core.names import normalised
from takifugu.releasing.certificates.files import ENDS
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.planning.identity import keys_of
from takifugu.releasing.planning.inputs import refuse_inputs
from takifugu.releasing.planning.notices import tell
from takifugu.releasing.planning.plan import tables_of
from takifugu.releasing.publishing.in_folder import Paid, certificates_of
from takifugu.releasing.publishing.new_ledger import check_ledger
from takifugu.releasing.publishing.states import Does, InFolder, InLedger, Row, row_of

_LONGEST_KEY = 200


@dataclass(frozen=True)
class Choice:
    """Which tables a caller wants: `only` some, some `again`, under the key `once`; `force` overwrites.

    One name may stand for a list of one.
    Two spellings of a key that look alike are one (`normalised`). Raises InputError for `again` without a key, and for
    a key that is blank.
    """

    only: str | Sequence[str] = ()
    again: str | Sequence[str] = ()
    once: str | None = None
    force: bool = False

    def __post_init__(self) -> None:
        for key, names in (("only", self.only), ("again", self.again)):
            object.__setattr__(self, key, (names,) if isinstance(names, str) else tuple(names))
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


def names_of(item: Item) -> tuple[str, ...]:
    """Return what one [[release]] is called: with its window, and as the file has it."""
    window = item.period
    return tuple(dict.fromkeys((item.name, item.name.removesuffix(f"-{window}")))) if window else (item.name,)


def folder_of(file: ReleaseFile, output: str | Path | None) -> Path:
    """Return the folder that tables go to: the one that the caller chose, or the file's own."""
    return file.output if output is None else Path(output)


def payments_of(file: ReleaseFile) -> tuple[Payment, ...]:
    """Return what was ever paid for about the source of a release file; no ledger is created only to be asked."""
    if not path_of(file.ledger).exists():
        return ()
    from takifugu.accounting.ledger.previewing import as_it_is

    with as_it_is(file.ledger) as book:
        return book.payments(file.source.name)


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
    def is_waited_for(self) -> bool:
        """Whether something was paid for and not published, under the name of one of its tables."""
        return any(paid.state != PUBLISHED and {*paid.ids} & {*self.tables} for paid in self.payments)

    @property
    def since(self) -> str:
        """When it was paid for."""
        return "" if self.paid is None else self.paid.created


def standings(file: ReleaseFile, folder: Path) -> tuple[Standing, ...]:
    """Return the state of each [[release]] of a file, as if none of what waits were for these very keys and data."""
    payments = payments_of(file)
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


def to_plan(file: ReleaseFile, folder: Path, wanted: Choice, new_ledger: bool) -> ReleaseFile:
    """Return a release file with what is to be published now: what is new, wanted again, or paid for already.

    Raises ReleaseError where something is in the way, and InputError for names that the file does not have.
    """
    chosen = wanted.of(file)
    check_place(file, folder, [name for item in chosen.items for name, _ in tables_of(file, item)], new_ledger)
    standing = standings(chosen, folder)
    waiting = [one for one in standing if one.is_waited_for]
    due = to_pay([one for one in standing if one not in waiting], wanted, bool(waiting))
    left = [one for one in standing if one.row.keyed is not None and one not in (*waiting, *due)]
    tell(f"{_refusal(one).what}; nothing is paid for it now" for one in left)
    return chosen.only([one.item for one in standing if one in (*waiting, *due)])


def check_place(file: ReleaseFile, folder: Path, tables: Sequence[str], new_ledger: bool) -> None:
    """Raise where tables would replace what is read, or lie in the folder of another ledger."""
    refuse_inputs(file, folder, [f"{name}{end}" for name in tables for end in ENDS])
    check_ledger(file, folder, new_ledger)


def to_pay(standing: Sequence[Standing], wanted: Choice, goes_on: bool) -> tuple[Standing, ...]:
    """Return what must be paid for now; with `goes_on` there is something else to do.

    Raises ReleaseError where something is in the way, where the key has paid for what does not lie there, and where
    nothing is to do but what was published from other keys, or in another folder.
    """
    does = {one: one.does(wanted) for one in standing if not _is_paid_under(one, wanted.once)}
    due = tuple(one for one, act in does.items() if act is Does.PAY)
    refused = [one for one, act in does.items() if act not in (Does.PAY, Does.LEAVE, Does.REFUSE_ALONE)]
    if not refused and not due and not goes_on:
        is_done = any(one.row.does is Does.LEAVE for one in standing)
        alone = [one for one, act in does.items() if act is Does.REFUSE_ALONE]
        refused = sorted((one for one in alone if one.is_here or not is_done), key=lambda one: one.is_here)
    if refused:
        raise _refusal(refused[0])
    for paid in due[0].payments if due else ():
        refuse_alike(paid, wanted.once)
    return due


def _is_paid_under(one: Standing, once: str | None) -> bool:
    """Whether this key has paid for a table that lies here whole; raises ReleaseError where it does not."""
    under = [paid for paid in one.payments if once is not None and paid.once == once and {*paid.ids} & {*one.tables}]
    if not under or (one.is_here and one.paid == under[0]):
        return bool(under)
    names, how = ", ".join(one.tables), f"with the key {once!r} ({under[0].created[:10]})"
    if under[0].state != PUBLISHED:
        raise ReleaseError(
            f"{names} was paid for {how}, and the release file, or the data that it reads, is not what was paid for",
            rule="one key pays once",
            fix=f"restore both and run again, or `{_resuming(one.file)}`; another key pays for a new one",
        ).at("once")
    raise ReleaseError(
        f"{names} was published {how}, and its files are not in {str(one.folder)!r}",
        rule="one key pays once",
        fix="bring them back, or write another key, which pays for new values",
    ).at("once")


def _refusal(one: Standing) -> ReleaseError:
    """Return what the table of states says of a table that is not published, with commands that may be pasted."""
    return one.row.refusal(
        rule="" if one.row.keyed is None else "one table is paid for once",
        names=", ".join(one.tables), files=", ".join(one.files), where=str(one.folder), day=one.since[:10],
        output="" if one.paid is None else one.paid.recipe.get("output", ""),
        again=_paying_again(one), resume=_resuming(one.file),
    )  # fmt: skip


def _resuming(file: ReleaseFile) -> str:
    return shlex.join(["takifugu", "ledger", "resume", str(file.ledger)])


def _paying_again(one: Standing) -> str:
    """Return the command that pays for one [[release]] again, under a key that has paid for nothing."""
    file, folder, name, used = one.file, one.folder, names_of(one.item)[0], {paid.once for paid in one.payments}
    key = next(key for key in map(str, count(2)) if key not in used)
    others = len(file.items) + len(file.others) > 1
    return shlex.join([
        "takifugu", "release", str(file.path), *(["--output", str(folder)] if folder != file.output else []),
        *(["--window", file.window] if file.window else []), *(["--only", name] if others else []),
        "--again", name, "--once", key,
    ])  # fmt: skip
