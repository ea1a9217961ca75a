"""What a plan publishes, in order: completed if it is paid for, else paid for, drawn, kept, and handed out as files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from takifugu.accounting.ledger import Payment
from takifugu.core.errors import ReleaseError, ReleaseState
from takifugu.core.plain import Json
from takifugu.numbers.noise import Entropy, SystemEntropy
from takifugu.releasing.advice.refusing import refusal_of
from takifugu.releasing.certificates.files import content_of, digest_at, files_of
from takifugu.releasing.certificates.signing import configured
from takifugu.releasing.file.neighbours import notices_of_file
from takifugu.releasing.planning.book import there
from takifugu.releasing.planning.identity import identity_of, keys_of
from takifugu.releasing.planning.notices import tell
from takifugu.releasing.planning.plan import Plan, table_names
from takifugu.releasing.publishing.choosing import NO_CHOICE, Choice, check_place, to_pay
from takifugu.releasing.publishing.estimating import foresee_estimates
from takifugu.releasing.publishing.every_window import index_windows
from takifugu.releasing.publishing.folder import alone_in, in_the_way, place, writing
from takifugu.releasing.publishing.new_ledger import BESIDE, opened, unknown_to_ledger
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.publish import Drawn, Planned, keep, validate
from takifugu.releasing.publishing.sheets import bundle_for, published_at, tables_of, with_plan, worths_of
from takifugu.releasing.publishing.standing import Standing, settle, standings
from takifugu.releasing.publishing.states import Does, InFolder, InLedger, row_of
from takifugu.releasing.report.outcomes import Outcome


def planned_of(
    plan: Plan, folder: Path, private: bool, once: str | None = None, choice: Choice = NO_CHOICE,
    replaces: Mapping[str, str] | None = None, beside: Sequence[str] = (),
) -> Planned:  # fmt: skip
    """Return how the tables of a plan are paid for, and completed; `once` is the key of the payment."""
    file, source, given = plan.file, plan.file.source, plan.file.given
    # `replaces` are the digests of the files that they may overwrite, `beside` the releases that the ledger never knew
    recipe: Json = {
        "kind": "file", "file": str(file.path.absolute()), "single_release": source.single_release,
        "window": file.window, "output": str(folder.absolute()), "replaces": dict(replaces or {}),
        "keys": {item.name: keys_of(file, item) for item in file.items},
    }  # fmt: skip
    if given is None:  # where its rows are, for whoever reads them again elsewhere
        recipe["data"] = None
    elif not isinstance(given, str | Path):
        recipe["frame"] = True
    else:
        recipe["data"] = str(given) if "://" in str(given) else str(Path(given).absolute())
    if once is not None:
        recipe["once"] = once
    if beside:
        recipe[BESIDE] = [*beside]
    choice = replace(choice, same_people=choice.same_people or source.same_people)
    identity = identity_of(plan.questions, plan.spec, private, once=once)
    return Planned(plan.questions, source.name, file.budget, identity, recipe, choice, file.people)


def published(
    plan: Plan, folder: Path, choice: Choice, bits: Entropy, progress: Progress, allow_useless: bool, new_ledger: bool
) -> Outcome:
    """Complete the paid tables of a plan, then pay for and publish permitted new ones; DataError for bad data."""
    validate(plan.questions)
    file, once = plan.file, choice.idempotency_key
    with alone_for(plan, folder, new_ledger) as waiting:
        outcomes, unpublished = list[Outcome](), {table.name for table in plan.tables}
        paid_again = {*table_names(file, filter(choice.wants_again, file.items))}
        for paid in sorted(waiting, key=lambda paid: paid.once != once):
            if not unpublished.issuperset(paid.ids) or (paid.once != once and paid_again & {*paid.ids}):
                continue
            outcome = _completed(plan, folder, paid, bits, progress, choice.force)
            if outcome is not None:
                outcomes.append(outcome)
                progress.completed(paid.ids)
                unpublished -= {*paid.ids}
        standing = standings(choice.of(file.only((*file.items, *file.others))), folder)
        left = [release for release in standing if unpublished.issuperset(release.tables)]
        due = to_pay(left, choice, bool(outcomes))
        new = _whole(plan, {*chain.from_iterable(release.tables for release in due)})
        if due and new is not None:
            if refusal := refusal_of(new, allow_useless):
                raise refusal
            tell(notices_of_file(file))
            replaced = chain.from_iterable(release.files for release in due)
            digests = {name: digest_at(folder / name) or "" for name in replaced}
            beside = [one.release_id for one in unknown_to_ledger(file, folder)] if new_ledger else []
            planned = planned_of(new, folder, bits.private, once, choice, digests, beside)
            outcomes.append(_published(new, folder, planned, bits, progress, choice.force))
        if outcomes:
            progress.over()
        return _together(outcomes, standing)


def completed(plan: Plan, folder: Path, group: str, progress: Progress) -> Outcome | None:
    """Draw and publish the tables of one payment of a plan. Returns None for a payment of another plan."""
    validate(plan.questions)
    with alone_for(plan, folder, new_ledger=True) as waiting:
        for paid in waiting:
            if paid.group == group:
                return _completed(plan, folder, paid, SystemEntropy(), progress, False)
    return None


@contextmanager
def alone_for(plan: Plan, folder: Path, new_ledger: bool) -> Iterator[Sequence[Payment]]:
    """Lock a plan's folder, and yield its pending payments; raise where anything is in the way."""
    file, tables = plan.file, [table.name for table in plan.tables]
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


def _whole(plan: Plan, names: Collection[str]) -> Plan | None:
    """Return the plan of these tables, if they are those of whole [[table]]s."""
    part = plan.only(names)
    return part if sorted(table_names(part.file, part.file.items)) == sorted(names) else None


def _completed(
    plan: Plan, folder: Path, paid: Payment, bits: Entropy, progress: Progress, force: bool
) -> Outcome | None:
    """Publish the paid part of a plan, or return None for another's."""
    part = _whole(plan, {*paid.ids})
    if part is None or paid.recipe.get("kind") != "file":
        return None
    planned = planned_of(part, folder, bits.private, paid.once)
    if opened(plan.file.ledger).tag("identity", planned.identity) != paid.identity:
        return None
    return _published(part, folder, planned, bits, progress, force, is_paid=True)


def _published(
    plan: Plan, folder: Path, planned: Planned, bits: Entropy, progress: Progress, force: bool, is_paid: bool = False
) -> Outcome:
    """Pay for tables unless it `is_paid`; draw, keep and publish them."""
    book, worths = opened(plan.file.ledger), worths_of(plan)
    foresee_estimates(plan)
    signer = configured(str(plan.file.ledger or ""), folder)  # a key that is none is told before it pays
    seal = partial(bundle_for, plan, worths=worths, signer=signer)
    outcome = handed_out(keep(book, planned, progress, bits, seal, is_paid), folder, force, progress)
    return replace(outcome, tables=tuple(with_plan(table, plan, worths) for table in outcome.tables))


def handed_out(drawn: Drawn, folder: Path, force: bool, progress: Progress) -> Outcome:
    """Place the files of drawn tables, and note them as published."""
    bundle, replaced = drawn.bundle, drawn.paid.recipe.get("replaces", {})
    files = bundle.files
    progress.public = lambda: [name for name, content in files.items() if content_of(folder / name) == content]
    try:
        with writing(folder):
            # overwritten are only, without `force`, files that were to be replaced at the time of payment
            strange = in_the_way(folder, files, replaced)
            in_folder = InFolder.STRANGE if strange else InFolder.NOTHING
            row = row_of(InLedger.DRAWN, in_folder)
            if row.done(force) is Does.REFUSE:
                raise row.refusal(files=", ".join(strange), where=str(folder))
            place(folder, files, replaced)
            index_windows(folder, bundle.read)
    except BaseException:
        if len(progress.public()) == len(files):
            progress.state = ReleaseState.UNRECORDED
        raise
    progress.record(drawn.book, drawn.paid, bundle.certificates, ReleaseState.UNRECORDED)
    return Outcome(tables_of(bundle, folder), drawn.paid, drawn.since)


def _together(outcomes: Sequence[Outcome], standing: Sequence[Standing]) -> Outcome:
    """Return the tables of now, then earlier ones."""
    tables = list(chain.from_iterable(outcome.tables for outcome in outcomes))
    names = {table.name for table in tables}
    for release in standing:
        if release.is_here and names.isdisjoint(release.tables):
            tables += [published_at(release.folder, name, release.since) for name in release.published]
    if not outcomes:
        return Outcome(tuple(tables), standing[-1].payments[-1])
    since = next((outcome.completed for outcome in outcomes if outcome.completed is not None), None)
    return Outcome(tuple(tables), outcomes[-1].reservation, since)
