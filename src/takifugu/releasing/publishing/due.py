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
from takifugu.releasing.publishing.states import Does, row_of


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
    due = to_pay(chosen, [one for one in standing if one not in waiting], wanted, payments, folder, bool(waiting))
    left = [one for one in standing if one.is_elsewhere and one not in (*waiting, *due)]
    tell(f"{_words(chosen, one, payments, folder).what}; nothing is paid for it now" for one in left)
    to_do = {one.tables for one in (*waiting, *due)}
    return chosen.only([one.item for one in standing if one.tables in to_do])


def payments_of(file: ReleaseFile) -> tuple[Payment, ...]:
    """Return what was ever paid for about the source of a release file; no ledger is created only to be asked."""
    if not path_of(file.ledger).exists():
        return ()
    from takifugu.accounting.ledger.previewing import as_it_is

    with as_it_is(file.ledger) as book:
        return book.payments(file.source.name)


def to_pay(
    file: ReleaseFile, standing: Sequence[Standing], wanted: Choice, payments: Sequence[Payment], folder: Path,
    goes_on: bool,
) -> tuple[Standing, ...]:  # fmt: skip
    """Return what must be paid for now; with `goes_on` there is something else to do.

    What was published in another folder is paid for again under a key only. Raises ReleaseError where something is in
    the way, where the key has paid for what does not lie there, and where nothing is to do but what was published from
    other keys, or in another folder.
    """
    unpaid, refused = [], []
    for one in standing:
        paid = None if wanted.once is None else _under(one, wanted.once, payments)
        if paid is not None:
            if not (one.is_here and one.paid == paid):
                raise _lost(file, one, paid, folder)
            continue
        does = one.does(wanted.force)
        if does is Does.PAY or wanted.wants_again(one.item) or (one.is_elsewhere and wanted.once is not None):
            unpaid.append(one)
        elif does is not Does.LEAVE:
            refused.append(one)
    in_the_way = next((one for one in refused if not one.is_out), None)
    if in_the_way is None and not unpaid and not goes_on:
        is_done = any(one.does() is Does.LEAVE for one in standing)
        left = [one for one in refused if one.is_here or not is_done]
        in_the_way = next(iter(sorted(left, key=lambda one: one.is_here)), None)
    if in_the_way is not None:
        raise _words(file, in_the_way, payments, folder)
    for paid in payments if unpaid else ():
        refuse_alike(paid, wanted.once)
    return tuple(unpaid)


def _under(one: Standing, once: str, payments: Sequence[Payment]) -> Payment | None:
    """Return what was paid under a key for one of the tables."""
    return next((paid for paid in payments if paid.once == once and set(paid.ids) & set(one.tables)), None)


def _lost(file: ReleaseFile, one: Standing, paid: Payment, folder: Path) -> ReleaseError:
    names, key = ", ".join(one.tables), paid.once
    if paid.state != PUBLISHED:
        return ReleaseError(
            f"{names} was paid for with the key {key!r} ({paid.created[:10]}), and the release file, or the data that "
            "it reads, is not what was paid for",
            rule="one key pays once",
            fix=f"restore both and run again, or `{_resuming(file)}`; another key pays for a new one",
        ).at("once")
    return ReleaseError(
        f"{names} was published with the key {key!r} ({paid.created[:10]}), and its files are not in {str(folder)!r}",
        rule="one key pays once",
        fix="bring them back, or write another key, which pays for new values",
    ).at("once")


def _words(file: ReleaseFile, one: Standing, payments: Sequence[Payment], folder: Path) -> ReleaseError:
    """Return what the table of states says of a table that is not published, with commands that may be pasted."""
    row = row_of(one.said, one.there)
    facts = {
        "names": ", ".join(one.tables),
        "files": ", ".join(one.files),
        "where": str(folder),
        "output": "" if one.paid is None else one.paid.recipe.get("output", ""),
        "day": one.since[:10],
        "again": _paying_again(file, one, payments, folder),
        "resume": _resuming(file),
    }
    rule = "one table is paid for once" if one.is_elsewhere else ""
    return ReleaseError(row.words.format(**facts), rule=rule, fix=row.fix.format(**facts)).at("output")


def _resuming(file: ReleaseFile) -> str:
    return shlex.join(["takifugu", "ledger", "resume", str(file.ledger)])


def _paying_again(file: ReleaseFile, one: Standing, payments: Sequence[Payment], folder: Path) -> str:
    """Return the command that pays for one [[release]] again, under a key that has paid for nothing."""
    name, used = names_of(one.item)[0], {paid.once for paid in payments}
    key = next(key for key in map(str, count(2)) if key not in used)
    others = len(file.items) + len(file.others) > 1
    return shlex.join([
        "takifugu", "release", str(file.path), *(["--output", str(folder)] if folder != file.output else []),
        *(["--window", file.window] if file.window else []), *(["--only", name] if others else []),
        "--again", name, "--once", key,
    ])  # fmt: skip
