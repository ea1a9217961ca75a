"""What a plan publishes, in order: completed if it is paid for, else paid for, drawn, kept, and handed out as files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from takifugu.accounting.ledger import PUBLISHED, Ledger, Payment, Pending, Reservation
from takifugu.accounting.ledger.disk.places import path_of
from takifugu.accounting.ledger.previewing import as_it_is
from takifugu.core.errors import LedgerError, ReleaseError, ReleaseState, TakifuguError
from takifugu.core.names import normalised
from takifugu.core.plain import Json, Plain
from takifugu.numbers.noise import Entropy, SystemEntropy
from takifugu.releasing.advice.refusing import refusal_of
from takifugu.releasing.certificates.files import ENDS, content_of, digest_at, reason
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.ledger_id import write_ledger_id
from takifugu.releasing.planning.identity import identity_of, keys_of
from takifugu.releasing.planning.inputs import refuse_inputs
from takifugu.releasing.planning.notices import tell
from takifugu.releasing.planning.plan import Plan, tables_of
from takifugu.releasing.planning.questions import Ready
from takifugu.releasing.planning.two_ledgers import notices_of_ledgers
from takifugu.releasing.postprocess.library import library_of
from takifugu.releasing.publishing.due import payments_of, to_pay
from takifugu.releasing.publishing.every_window import index_windows
from takifugu.releasing.publishing.folder import alone_in, place
from takifugu.releasing.publishing.new_ledger import check_ledger, opened, settle
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.publish import Order, Stored, keep, ready
from takifugu.releasing.publishing.sheets import bundle_for, published_at, table_of, with_calibrations, worths_of
from takifugu.releasing.publishing.standing import Choice, standings
from takifugu.releasing.report.outcomes import Outcome, Published


@dataclass(frozen=True, eq=False)
class Ordered:
    """A plan whose data were read and found valid: where it goes, and how it is paid for."""

    planned: Plan
    folder: Path
    requested: tuple[Ready, ...]
    origin: Plain
    private: bool

    def part(self, names: Collection[str]) -> Ordered | None:
        """Return the order of the tables of these names alone; None unless it has them, and whole [[release]]s."""
        part = self.planned.only(names)
        whole = [name for item in part.file.items for name, _ in tables_of(part.file, item)]
        if sorted(whole) != sorted(names):
            return None
        return replace(
            self, planned=part, requested=tuple(one for one in self.requested if one.question.release in names)
        )

    def identity(self, once: str | None) -> bytes:
        return identity_of(self.requested, self.planned.spec, self.private, once=once)

    def paid_by(self, book: Ledger, paid: Payment) -> bytes | None:
        """Return the identity by which a payment is for this very order; None for others."""
        identity = self.identity(paid.once)
        return identity if book.tag("identity", identity) == paid.identity else None


def ordered(planned: Plan, folder: Path, data: object = None, private: bool = True) -> Ordered:
    """Read the data of a plan; raises DataError for data that break a rule."""
    questions = ready([q for table in planned.tables for q in table.questions])
    return Ordered(planned, folder, questions, _origin(planned.file, data), private)


def published(
    order: Ordered, wanted: Choice, bits: Entropy, progress: Progress, anyway: bool, new_ledger: bool = False
) -> Outcome:
    """Complete what is paid for already, then pay for, draw, keep and publish what is new, unless it is refused."""
    file, folder = order.planned.file, order.folder
    with alone_for(order, new_ledger):
        made, rest = [], {table.name for table in order.planned.tables}
        for part, paid, identity in _waiting(order, wanted):
            if set(paid.ids) <= rest:
                made.append(made_of(part, bits, progress, wanted.force, {}, identity, paid.once, _meanwhile()))
                progress.completed(paid.ids)
                rest -= set(paid.ids)
        payments = payments_of(file)
        left = file.only([table.item for table in order.planned.tables if table.name in rest])
        due = to_pay(left, standings(left, folder, payments), wanted, payments, folder, bool(made))
        new = order.part({name for one in due for name in one.tables}) if due else None
        if new is not None:
            refusal = refusal_of(new.planned, anyway)
            if refusal is not None:
                raise refusal
            tell(notices_of_ledgers(file))
            there = {name: digest_at(folder / name) or "" for one in due for name in one.files}
            made.append(made_of(new, bits, progress, wanted.force, there, new.identity(wanted.once), wanted.once))
        return _outcome(file, folder, wanted, made, payments)


def completed(order: Ordered, paid: Payment, identity: bytes, progress: Progress) -> tuple[Published, ...]:
    """Draw and publish the one thing that an order was paid for, and nothing else."""
    with alone_for(order, new_ledger=True):
        return made_of(order, SystemEntropy(), progress, False, {}, identity, paid.once, _meanwhile())[1]


def _meanwhile() -> LedgerError:
    return LedgerError("another process has completed it", fix="run the same command again")


@contextmanager
def alone_for(order: Ordered, new_ledger: bool) -> Iterator[None]:
    """Be alone in the folder of an order, with the ledger that paid for what lies there, and nothing in the way."""
    file, folder = order.planned.file, order.folder
    names = [f"{table.name}{end}" for table in order.planned.tables for end in ENDS]
    refuse_inputs(file, folder, names)
    with alone_in(folder):
        check_ledger(file, folder, new_ledger)
        if in_the_way := [name for name in names if (folder / name).is_dir()]:
            raise ReleaseError(
                f"{', '.join(in_the_way)} in {str(folder)!r} is a folder where a file belongs", fix="move it"
            )
        if path_of(file.ledger).exists():  # it is not created only to be asked
            settle(opened(file.ledger), file.source.name, [folder, file.output])
        yield


def _waiting(order: Ordered, wanted: Choice) -> Iterator[tuple[Ordered, Payment, bytes]]:
    """Yield what is paid for and not published, with its identity; those under the caller's own key first."""
    file = order.planned.file
    payments = [p for p in payments_of(file) if p.state != PUBLISHED and p.recipe.get("kind") == "file"]
    if not payments:
        return
    again = {name for i in file.items if wanted.wants_again(i) for name, _ in tables_of(file, i)}
    book = opened(file.ledger)
    for paid in sorted(payments, key=lambda p: p.once != wanted.once):
        part = order.part(set(paid.ids))
        is_other = bool(again & set(paid.ids)) and paid.once != wanted.once
        if part is not None and not is_other and (identity := part.paid_by(book, paid)) is not None:
            yield part, paid, identity


def made_of(
    order: Ordered, bits: Entropy, progress: Progress, force: bool, there: Mapping[str, str], identity: bytes,
    once: str | None, refusal: TakifuguError | None = None,
) -> tuple[Stored, tuple[Published, ...]]:  # fmt: skip
    """Pay for an order unless that is done, draw, keep and publish it; `there` are the files that it may replace.

    Nothing is paid for where there is a `refusal`, which is raised.
    """
    planned, folder = order.planned, order.folder
    source, book = planned.file.source, opened(planned.file.ledger)
    keys = {item.name: keys_of(planned.file, item) for item in planned.file.items}
    under = {} if once is None else {"once": once}
    where = {"output": str(folder.absolute()), "replaces": dict(there)}
    recipe = {"kind": "file", **order.origin, **where, "keys": keys, **under}
    bill = Order(
        source.name, planned.file.budget, identity, recipe, source.same_people, source.as_composing, planned.file.people
    )  # fmt: skip
    worths = worths_of(planned)
    sealed = partial(bundle_for, planned, worths=worths)
    stored = keep(order.requested, book, bill, progress, bits, sealed, refusal)
    replaced = there if stored.since is None else recipe_of(stored.paid).get("replaces", {})
    tables = handed_out(stored, book, folder, force, progress, replaced)
    with suppress(LedgerError):  # what is published stays so, whatever the ledger says now
        write_ledger_id(planned.file.path, opened(planned.file.ledger).id)
    known = {(q.release, q.unit): q.calibration for q in (one.question for one in order.requested)}
    return stored, tuple(with_calibrations(table, known, library_of(planned.file.given), worths) for table in tables)


def _outcome(
    file: ReleaseFile, folder: Path, wanted: Choice, made: Sequence[tuple[Stored, tuple[Published, ...]]],
    payments: Sequence[Payment],
) -> Outcome:  # fmt: skip
    """Return what was published now, and after it what was there before, by what was paid for until then."""
    tables = tuple(table for _, published in made for table in published)
    names = {table.name for table in tables}
    whole = file.only((*file.items, *file.others))
    there = [
        one for one in standings(wanted.of(whole), folder, payments)
        if one.is_here and not names & set(one.tables)
    ]  # fmt: skip
    before = tuple(published_at(folder, name, one.since) for one in there for name in one.tables)
    since = next((stored.since for stored, _ in made if stored.since is not None), None)
    if made:
        return Outcome((*tables, *before), made[-1][0].paid, since)
    with as_it_is(file.ledger) as book:
        spent = book.spent(file.source.name)
    assert spent.budget is not None  # something was paid for
    return Outcome(before, Reservation(normalised(file.source.name), {}, spent.spent, spent.budget))


def handed_out(
    stored: Stored, book: Ledger, folder: Path, force: bool, progress: Progress, replaced: Mapping[str, str]
) -> tuple[Published, ...]:
    """Let the files of drawn tables appear in the folder, and note in the ledger that they are published.

    Other files are overwritten only with `force`, or where `replaced` has their digest.
    """
    files = stored.bundle.files
    progress.public = lambda: [name for name, content in files.items() if content_of(folder / name) == content]
    try:
        place(folder, files, replaced, force)
        index_windows(folder, [sheet.certificate for sheet in stored.bundle.sheets])
    except BaseException as error:
        if len(progress.public()) == len(files):
            progress.state = ReleaseState.UNRECORDED
        if not isinstance(error, OSError):
            raise
        what = f"the files could not all be written to {str(folder)!r} ({reason(error)})"
    else:
        progress.record(book, stored.paid, ReleaseState.UNRECORDED)
        return tuple(table_of(sheet, folder) for sheet in stored.bundle.sheets)
    raise ReleaseError(what, fix="make room or fix it").at("output")


def recipe_of(paid: Reservation | Pending) -> Plain:
    return paid.recipe if isinstance(paid, Pending) else {}


def _origin(file: ReleaseFile, data: object) -> Json:
    """Say where the release file and its rows are, so that another process can read them again."""
    where = {"file": str(file.path.absolute()), "only_release": file.source.only_release, "window": file.window}
    if data is None or isinstance(data, str | Path):
        other = None if data is None else str(data) if "://" in str(data) else str(Path(data).absolute())
        return {**where, "data": other}
    return {**where, "frame": True}
