"""What is to be paid for now: what is new, or wanted again under a key; refused is what would be in the way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from takifugu.accounting.ledger import PUBLISHED, Payment
from takifugu.accounting.ledger.disk.places import path_of
from takifugu.core.errors import ReleaseError
from takifugu.releasing.certificates.files import ENDS
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.planning.inputs import refuse_inputs
from takifugu.releasing.planning.notices import tell
from takifugu.releasing.planning.plan import tables_of
from takifugu.releasing.publishing.new_ledger import check_ledger
from takifugu.releasing.publishing.standing import Choice, Standing, State, names_of, standings

_AGAIN = "--again {} --once KEY, which pays for it again, and once for one KEY"


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
    left = [one for one in standing if one.state is State.AWAY and one not in (*waiting, *due)]
    tell(f"{_where(one)}; nothing is paid for it now" for one in left)
    return tuple(one.item for one in standing if one in waiting or one in due)


def to_pay(
    standing: Sequence[Standing], wanted: Choice, payments: Sequence[Payment], folder: Path, goes_on: bool
) -> tuple[Standing, ...]:
    """Return what must be paid for now; with `goes_on` there is something else to do.

    What was published in another folder is paid for again under a key only. Raises ReleaseError where something is in
    the way, where the key has paid for what does not lie there, and where nothing is to do but what was published from
    other keys, or in another folder.
    """
    unpaid = []
    for one in standing:
        paid = None if wanted.once is None else _under(one, wanted.once, payments)
        if paid is not None and not (one.state in (State.INTACT, State.CHANGED) and one.paid == paid):
            raise _lost(one, paid, folder)
        is_new = one.state is State.NEW or (one.state is State.AWAY and wanted.once is not None)
        if paid is None and (is_new or wanted.wants_again(one.item) or _gives_way(one, wanted.force)):
            unpaid.append(one)
        elif paid is None and one.state not in (State.INTACT, State.CHANGED, State.AWAY):
            raise _in_the_way(one, folder)
    states = {one.state for one in standing}
    if State.AWAY in states and State.INTACT not in states and not unpaid and not goes_on:
        raise _elsewhere(next(one for one in standing if one.state is State.AWAY), folder)
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


def _where(one: Standing) -> str:
    assert one.paid is not None
    return f"{', '.join(one.tables)} was published in {one.paid.recipe['output']!r} ({day_of(one.paid)})"


def _elsewhere(one: Standing, folder: Path) -> ReleaseError:
    return ReleaseError(
        f"{_where(one)}, and its files are not in {str(folder)!r}",
        rule="one table is paid for once",
        fix=f"take them from there, or give a new table another name, or {_AGAIN.format(names_of(one.item)[0])}",
    ).at("output")


def _in_the_way(one: Standing, folder: Path) -> ReleaseError:
    """Return why a table cannot go where it should; overwriting is not offered for what somebody has paid for."""
    what, where = ", ".join(one.files), str(folder)
    again = f"replace it: {_AGAIN.format(names_of(one.item)[0])}"
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
