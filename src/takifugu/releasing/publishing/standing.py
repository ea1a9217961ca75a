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
from takifugu.accounting.ledger.disk.places import path_of
from takifugu.core.errors import InputError, ReleaseError, did_you_mean
from takifugu.core.escaping import visible
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.checksum import read_certificate, table_state
from takifugu.releasing.certificates.files import CERTIFICATE, ENDS
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.planning.identity import keys_of
from takifugu.releasing.planning.inputs import refuse_inputs
from takifugu.releasing.planning.plan import tables_of
from takifugu.releasing.publishing.new_ledger import check_ledger

_LONGEST_KEY = 200
_AGAIN = "--again {} --once KEY, which pays for it again, and once for one KEY"


class State(StrEnum):
    """What lies in the folder where the tables of one [[release]] go."""

    NEW = "nothing"
    INTACT = "what was published"
    CHANGED = "what was published from other keys"
    BROKEN = "not what was published"
    UNRECORDED = "what the ledger does not call published yet"
    ELSEWHERE = "what was paid for by another ledger, or for another source"
    STRANGE = "what no release has written"


@dataclass(frozen=True)
class Choice:
    """Which tables a caller wants: `only` some, some `again`, under the key `once`; `force` overwrites.

    Raises InputError for `again` without a key, and for a key that is blank.
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
        once = self.once
        if once is not None and (not once.strip() or len(once) > _LONGEST_KEY or visible(once) != once):
            raise InputError(
                f"the key is {once[:40]!r}", fix=f"write up to {_LONGEST_KEY} letters or digits, such as 2026-W07"
            ).at("once")

    def of(self, file: ReleaseFile) -> ReleaseFile:
        """Return the file with the tables that are wanted; InputError for a name that it does not have."""
        known = {name: None for item in file.items for name in _names(item)}
        for key, names in (("only", self.only), ("again", self.again)):
            for name in names:
                if name not in known:
                    nearest = did_you_mean(name, known)
                    raise InputError(
                        f"the file has no [[release]] named {name!r}", fix=f"it has {list(known)}{nearest}"
                    ).at(key)
        if not self.only:
            return file
        wanted = [item for item in file.items if set(_names(item)) & {*self.only, *self.again}]
        return file.only(wanted)

    def wants_again(self, item: Item) -> bool:
        return bool(set(_names(item)) & set(self.again))


def choice(
    only: str | Sequence[str] = (), again: str | Sequence[str] = (), once: str | None = None, force: bool = False
) -> Choice:
    """Return what a caller wants; one name may stand for a list of one."""
    return Choice(_listed(only), _listed(again), once, force)


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _names(item: Item) -> tuple[str, ...]:
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
    if not files:
        return Standing(item, tables, State.NEW)
    certificates = {name: _certificate(folder / f"{name}{CERTIFICATE}") for name in tables}
    ids = {name: None if one is None else one.release_id for name, one in certificates.items()}
    named = [paid for paid in reversed(payments) if set(tables) & set(paid.ids)]
    by_id = next((paid for paid in named if any(paid.ids.get(name) == ids[name] for name in tables)), None)
    whole = all(
        one is not None and by_id is not None and by_id.ids.get(name) == ids[name] and _is_whole(folder, name, one)
        for name, one in certificates.items()
    )
    if by_id is not None and by_id.state != PUBLISHED:
        return Standing(item, tables, State.UNRECORDED, files, by_id)
    if by_id is not None and whole:
        keys = by_id.recipe.get("keys", {}).get(item.name)
        state = State.INTACT if keys in (None, keys_of(file, item)) else State.CHANGED
        return Standing(item, tables, state, files, by_id)
    if by_id is None and any(ids.values()):
        return Standing(item, tables, State.ELSEWHERE, files)
    published = by_id or next((paid for paid in named if paid.state == PUBLISHED), None)
    return Standing(item, tables, State.STRANGE if published is None else State.BROKEN, files, published)


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


def folder_of(file: ReleaseFile, output: str | Path | None) -> Path:
    """Return the folder that tables go to: the one that the caller chose, or the file's own."""
    return file.output if output is None else Path(output)


def to_plan(file: ReleaseFile, folder: Path, wanted: Choice, new_ledger: bool) -> ReleaseFile:
    """Return a release file with what is to be published now: what is new, wanted again, or paid for already.

    Raises ReleaseError where something is in the way, and InputError for names that the file does not have.
    """
    chosen = wanted.of(file)
    names = [name for item in chosen.items for name, _ in tables_of(file, item)]
    refuse_inputs(file, folder, [f"{name}{end}" for name in names for end in ENDS])
    check_ledger(file, folder, new_ledger)
    payments = payments_of(file)
    return chosen.only(_to_plan(standings(chosen, folder, payments), wanted, payments, folder))


def payments_of(file: ReleaseFile) -> tuple[Payment, ...]:
    """Return what was ever paid for about the source of a release file; no ledger is created only to be asked."""
    if not path_of(file.ledger).exists():
        return ()
    from takifugu.accounting.ledger.previewing import as_it_is

    with as_it_is(file.ledger) as book:
        return book.payments(file.source.name)


def _to_plan(
    standing: Sequence[Standing], wanted: Choice, payments: Sequence[Payment], folder: Path
) -> tuple[Item, ...]:
    """Return what is paid for and not published, and what must be paid for now; ReleaseError as `to_pay`."""
    unfinished = {name for paid in payments if paid.state != PUBLISHED for name in paid.ids}
    waiting = [one for one in standing if unfinished & set(one.tables)]
    due = to_pay([one for one in standing if one not in waiting], wanted, payments, folder, bool(waiting))
    return tuple(one.item for one in standing if one in waiting or one in due)


def to_pay(
    standing: Sequence[Standing], wanted: Choice, payments: Sequence[Payment], folder: Path, goes_on: bool
) -> tuple[Standing, ...]:
    """Return what must be paid for now; with `goes_on` there is something else to do.

    Raises ReleaseError where something is in the way, where the key has paid for what does not lie there, and where
    nothing is to do but what was published from other keys.
    """
    unpaid = []
    for one in standing:
        paid = None if wanted.once is None else _under(one, wanted.once, payments)
        if paid is not None and not (one.state in (State.INTACT, State.CHANGED) and one.paid == paid):
            raise _lost(one, paid, folder)
        if paid is None and (one.state is State.NEW or wanted.wants_again(one.item) or _gives_way(one, wanted.force)):
            unpaid.append(one)
        elif paid is None and one.state not in (State.INTACT, State.CHANGED):
            raise _in_the_way(one, folder)
    changed = [one for one in standing if one.state is State.CHANGED and not _is_under(one, wanted.once)]
    if changed and not unpaid and not goes_on:
        raise _in_the_way(changed[0], folder)
    return tuple(unpaid)


def _is_under(one: Standing, once: str | None) -> bool:
    return once is not None and one.paid is not None and one.paid.once == once


def _under(one: Standing, once: str, payments: Sequence[Payment]) -> Payment | None:
    """Return what was paid under a key for one of the tables."""
    return next((paid for paid in payments if paid.once == once and set(paid.ids) & set(one.tables)), None)


def _gives_way(one: Standing, force: bool) -> bool:
    return force and one.state in (State.STRANGE, State.CHANGED, State.ELSEWHERE)


def _lost(one: Standing, paid: Payment, folder: Path) -> ReleaseError:
    names, key = ", ".join(one.tables), paid.once
    if paid.state != PUBLISHED:
        return ReleaseError(
            f"{names} was paid for with the key {key!r} ({day_of(paid)}), and the release file, or the data that it "
            "reads, is not what was paid for",
            rule="one key pays once",
            fix="restore both and run again, or `takifugu ledger resume LEDGER`; another key pays for a new one",
        ).at("once")
    return ReleaseError(
        f"{names} was published with the key {key!r} ({day_of(paid)}), and its files are not in {str(folder)!r}",
        rule="one key pays once",
        fix="bring them back, or write another key, which pays for new values",
    ).at("once")


def _in_the_way(one: Standing, folder: Path) -> ReleaseError:
    """Return why a table cannot go where it should; overwriting is not offered for what somebody has paid for."""
    what, where = ", ".join(one.files), str(folder)
    again = f"replace it: {_AGAIN.format(_names(one.item)[0])}"
    elsewhere = "give the table another name, or choose another folder"
    if one.state is State.CHANGED and one.paid is not None:
        what_lies_there = f"{', '.join(one.tables)} in {where!r} was published from other keys than the file has"
        return ReleaseError(what_lies_there, fix=f"{elsewhere}, or {again}").at("output")
    if one.state is State.UNRECORDED:
        what_lies_there = f"{what} in {where!r} is paid for, and the ledger does not call it published yet"
        return ReleaseError(what_lies_there, fix="run `takifugu ledger resume LEDGER` first, which pays nothing").at(
            "output"
        )
    if one.state is State.BROKEN and one.paid is not None:
        names, day = ", ".join(one.tables), day_of(one.paid)
        what_lies_there = f"{what} in {where!r} is not what was published as {names}, which is paid for ({day})"
        return ReleaseError(what_lies_there, fix=f"bring the files back, choose another folder, or {again}").at(
            "output"
        )
    if one.state is State.ELSEWHERE:
        what_lies_there = f"{what} in {where!r} was paid for by another ledger, or for another source"
        return ReleaseError(what_lies_there, fix=elsewhere).at("output")
    return ReleaseError(
        f"{what} in {where!r} would be overwritten", fix="move it, choose another folder, or write --force"
    ).at("output")


def day_of(paid: Payment) -> str:
    return paid.created[:10]
