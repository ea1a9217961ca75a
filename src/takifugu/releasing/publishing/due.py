"""What is to be paid for now: what is new, or wanted again under a key; refused is what would be in the way."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from takifugu.accounting.ledger import PUBLISHED, Payment
from takifugu.accounting.ledger.disk.places import path_of
from takifugu.accounting.ledger.pending import refuse_alike
from takifugu.core.errors import ReleaseError
from takifugu.releasing.certificates.files import ENDS
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.planning.inputs import refuse_inputs
from takifugu.releasing.planning.notices import tell
from takifugu.releasing.planning.plan import tables_of
from takifugu.releasing.publishing.new_ledger import check_ledger
from takifugu.releasing.publishing.standing import Choice, Standing, names_of, standings
from takifugu.releasing.publishing.states import Does


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
    unfinished = {name for paid in payments if paid.state != PUBLISHED for name in paid.ids}
    standing = standings(chosen, folder, payments)
    waiting = [one for one in standing if unfinished & set(one.tables)]
    due = to_pay([one for one in standing if one not in waiting], wanted, bool(waiting))
    left = [one for one in standing if one.row.keyed is not None and one not in (*waiting, *due)]
    tell(f"{_refusal(one).what}; nothing is paid for it now" for one in left)
    return chosen.only([one.item for one in standing if one in (*waiting, *due)])


def payments_of(file: ReleaseFile) -> tuple[Payment, ...]:
    """Return what was ever paid for about the source of a release file; no ledger is created only to be asked."""
    if not path_of(file.ledger).exists():
        return ()
    from takifugu.accounting.ledger.previewing import as_it_is

    with as_it_is(file.ledger) as book:
        return book.payments(file.source.name)


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
