"""What a plan publishes, in order: completed if it is paid for, else paid for, drawn, kept, and handed out as files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path

from takifugu.accounting.ledger import Payment
from takifugu.core.errors import ReleaseError, ReleaseState
from takifugu.core.plain import Json, Plain
from takifugu.numbers.noise import Entropy, SystemEntropy
from takifugu.releasing.advice.leaving_out import in_place_of_good
from takifugu.releasing.advice.refusing import refusal_of
from takifugu.releasing.certificates.files import content_of, digest_at, files_of
from takifugu.releasing.certificates.signing import configured
from takifugu.releasing.file.neighbours import notices_of_file
from takifugu.releasing.planning.book import there
from takifugu.releasing.planning.identity import identity_of, keys_of
from takifugu.releasing.planning.notices import tell
from takifugu.releasing.planning.plan import Plan, table_names
from takifugu.releasing.postprocess.readable import library_of
from takifugu.releasing.publishing.choosing import NO_CHOICE, Choice, check_place, to_pay
from takifugu.releasing.publishing.estimating import foresee_estimates
from takifugu.releasing.publishing.every_window import index_windows
from takifugu.releasing.publishing.folder import alone_in, in_the_way, place, writing
from takifugu.releasing.publishing.new_ledger import opened
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.publish import Order, Stored, keep, validate
from takifugu.releasing.publishing.sheets import bundle_for, published_at, tables_of, with_calibrations, worths_of
from takifugu.releasing.publishing.standing import Standing, settle, standings
from takifugu.releasing.publishing.states import Does, InFolder, InLedger, row_of
from takifugu.releasing.report.outcomes import Outcome, Published


@dataclass(frozen=True, eq=False)
class Ordered:
    """A plan whose data were read and found valid: where it goes, and how it is paid for."""

    planned: Plan
    folder: Path
    origin: Plain
    private: bool
    once: str | None = None

    def part(self, names: Collection[str], once: str | None) -> Ordered | None:
        """Return the order of these whole [[table]]s, else None. `once` is the key of the new order."""
        part = self.planned.only(names)
        if sorted(table_names(part.file, part.file.items)) != sorted(names):
            return None
        return replace(self, planned=part, once=once)

    @cached_property
    def identity(self) -> bytes:
        return identity_of(self.planned.questions, self.planned.spec, self.private, once=self.once)

    def bill(self, choice: Choice, replaces: Mapping[str, str]) -> Order:
        """Return the order's payment. `replaces` are the digests of the files that it may overwrite."""
        file = self.planned.file
        keys = {item.name: keys_of(file, item) for item in file.items}
        folder = {"output": str(self.folder.absolute()), "replaces": dict(replaces)}
        recipe = {"kind": "file", **self.origin, **folder, "keys": keys}
        if self.once is not None:
            recipe["once"] = self.once
        source, paid = file.source, (self.identity, recipe, choice)
        return Order(self.planned.questions, source.name, file.budget, *paid, file.people, source.same_people)


def ordered(planned: Plan, folder: Path, data: object = None, private: bool = True) -> Ordered:
    """Read and validate the data of a plan. Raises DataError for data that break a rule."""
    validate(planned.questions)
    file = planned.file  # where it and its rows are, for whoever reads them again elsewhere
    only = file.source.single_release
    origin: Json = {"file": str(file.path.absolute()), "single_release": only, "window": file.window}
    if data is None:
        origin["data"] = None
    elif not isinstance(data, str | Path):
        origin["frame"] = True
    elif "://" in str(data):
        origin["data"] = str(data)
    else:
        origin["data"] = str(Path(data).absolute())
    return Ordered(planned, folder, origin, private)


def published(
    order: Ordered, choice: Choice, bits: Entropy, progress: Progress, allow_useless: bool, new_ledger: bool = False
) -> Outcome:
    """Complete paid tables, then pay for and publish permitted new ones."""
    file, folder = order.planned.file, order.folder
    with alone_for(order, new_ledger) as waiting:
        publications, unpublished = [], {table.name for table in order.planned.tables}
        paid_again = {*table_names(file, filter(choice.wants_again, file.items))}
        once = choice.idempotency_key
        for paid in sorted(waiting, key=lambda paid: paid.once != once):
            if not unpublished.issuperset(paid.ids) or (paid.once != once and paid_again & {*paid.ids}):
                continue
            done = _completed(order, paid, bits, progress, choice.force)
            if done is not None:
                publications.append(done)
                progress.completed(paid.ids)
                unpublished -= {*paid.ids}
        standing = standings(choice.of(file.only((*file.items, *file.others))), folder)
        left = [release for release in standing if unpublished.issuperset(release.tables)]
        due = to_pay(left, choice, bool(publications))
        new = order.part({*chain.from_iterable(release.tables for release in due)}, once)
        if due and new is not None:
            if refusal := refusal_of(new.planned, allow_useless):
                raise refusal
            tell(notices_of_file(file))
            replaced = chain.from_iterable(release.files for release in due)
            digests = {name: digest_at(folder / name) or "" for name in replaced}
            bill = new.bill(choice, digests)
            publications.append(_made(new, bill, bits, progress, choice.force))
        return _outcome(publications, standing)


def completed(order: Ordered, group: str, progress: Progress) -> tuple[Published, ...] | None:
    """Draw and publish the tables of one payment of this order. Returns None for a payment of another order."""
    with alone_for(order, new_ledger=True) as waiting:
        for paid in waiting:
            if paid.group == group and (done := _completed(order, paid, SystemEntropy(), progress, False)):
                return done[1]
    return None


@contextmanager
def alone_for(order: Ordered, new_ledger: bool) -> Iterator[Sequence[Payment]]:
    """Lock an order's folder, and yield its pending payments.

    Raises unless the ledger paid for what lies there, and nothing is in the way.
    """
    file, folder = order.planned.file, order.folder
    tables = [table.name for table in order.planned.tables]
    with alone_in(folder):
        check_place(file, folder, tables, new_ledger)
        if folders := [name for name in files_of(tables) if (folder / name).is_dir()]:
            raise ReleaseError(
                f"{', '.join(folders)} in {str(folder)!r} is a folder where a file belongs", fix="move it"
            )
        waiting: Sequence[Payment] = ()
        if there(file.ledger) is not None:  # it is not created only to be asked
            waiting = settle(opened(file.ledger), file.source.name, [folder, file.output])
        yield waiting


Made = tuple[Stored, tuple[Published, ...]]


def _completed(order: Ordered, paid: Payment, bits: Entropy, progress: Progress, force: bool) -> Made | None:
    """Publish the paid part of an order, or return None for another's."""
    part = order.part({*paid.ids}, paid.once)
    if part is None or paid.recipe.get("kind") != "file":
        return None
    if opened(order.planned.file.ledger).tag("identity", part.identity) != paid.identity:
        return None
    return _made(part, part.bill(NO_CHOICE, {}), bits, progress, force, is_paid=True)


def _made(order: Ordered, bill: Order, bits: Entropy, progress: Progress, force: bool, is_paid: bool = False) -> Made:
    """Pay for an order unless it `is_paid`; draw, keep and publish it."""
    planned = order.planned
    book, worths = opened(planned.file.ledger), worths_of(planned)
    foresee_estimates(planned)
    signer = configured(str(planned.file.ledger or ""), order.folder)  # a key that is none is told before it pays
    seal = partial(bundle_for, planned, worths=worths, signer=signer)
    stored = keep(book, bill, progress, bits, seal, is_paid)
    tables = handed_out(stored, order.folder, force, progress)
    calibrations = {(question.release, question.unit): question.calibration for question in planned.questions}
    library, left_out = library_of(planned.file.given), in_place_of_good(planned.file)
    return stored, tuple(with_calibrations(table, calibrations, library, worths, left_out) for table in tables)


def handed_out(stored: Stored, folder: Path, force: bool, progress: Progress) -> tuple[Published, ...]:
    """Place the files of drawn tables, and note them as published.

    Other files are overwritten only with `force`, or where they are those that were to be replaced at the time of
    payment.
    """
    files, replaced = stored.bundle.files, stored.recipe.get("replaces", {})
    progress.public = lambda: [name for name, content in files.items() if content_of(folder / name) == content]
    try:
        with writing(folder):
            strange = in_the_way(folder, files, replaced)
            in_folder = InFolder.STRANGE if strange else InFolder.NOTHING
            row = row_of(InLedger.DRAWN, in_folder)
            if row.done(force) is Does.REFUSE:
                raise row.refusal(files=", ".join(strange), where=str(folder))
            place(folder, files, replaced)
            index_windows(folder, stored.bundle.read)
    except BaseException:
        if len(progress.public()) == len(files):
            progress.state = ReleaseState.UNRECORDED
        raise
    progress.record(stored.book, stored.paid, stored.bundle.certificates, ReleaseState.UNRECORDED)
    return tables_of(stored.bundle, folder)


def _outcome(publications: Sequence[Made], standing: Sequence[Standing]) -> Outcome:
    """Return the tables of now, then earlier ones."""
    tables = tuple(chain.from_iterable(published for _, published in publications))
    names, before = {table.name for table in tables}, list[Published]()
    for release in standing:
        if release.is_here and names.isdisjoint(release.tables):
            before += [published_at(release.folder, name, release.since) for name in release.tables]
    since = next((stored.since for stored, _ in publications if stored.since is not None), None)
    if publications:
        return Outcome((*tables, *before), publications[-1][0].paid, since)
    return Outcome(tuple(before), standing[-1].payments[-1])
