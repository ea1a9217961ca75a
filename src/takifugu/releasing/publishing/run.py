"""Publish a release file, or its plan: what is to be published, unless it is refused. It only orchestrates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from takifugu.accounting.ledger import OVER
from takifugu.core.errors import BudgetExceeded
from takifugu.core.searches import stopping
from takifugu.core.tracebacks import without_data
from takifugu.numbers.noise import Entropy, SystemEntropy
from takifugu.releasing.advice.budgets import with_ways_to_pay
from takifugu.releasing.advice.refusing import refusal_of
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.book import payments_of
from takifugu.releasing.planning.plan import Plan, Watch, plan, unwatched
from takifugu.releasing.publishing.choosing import NO_CHOICE, Choice, folder_of, to_plan
from takifugu.releasing.publishing.orders import published
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.report.outcomes import Outcome


@without_data
def release_file(
    path: str | Path, data: object = None, output: str | Path | None = None, force: bool = False,
    single_release: bool = False, new_ledger: bool = False, allow_useless: bool = False, window: str | None = None, *,
    only: str | Sequence[str] = (), replace: str | Sequence[str] = (), idempotency_key: str | None = None,
    same_entries: str = "", other_entries: bool = False,
) -> Outcome:  # fmt: skip
    """Publish every new table of a release file, as `takifugu release` does.

    Published tables with the same keys are left alone and cost nothing (`Published.since`). A release that was paid for
    and not published is completed, and costs nothing (`completed`). A table that `advise` calls useless, or that is
    nothing but noise, is refused before its data are read. Tables with `every` are about each window of the calendar.
    Rows stay where they are; noise and ledger are local. `dry_run` predicts all this.

    Args:
        path: The release file.
        data: Replaces the file of its [source]: another file, or a frame of pandas, Polars, PyArrow, DuckDB or PySpark
            with the same columns. A frame needs `entries` under [source], where `order` holds no times.
        output: The folder.
        force: Overwrite files that are in the way.
        single_release: Declare that nothing else is ever released about the source. It allows the least noise; the
            ledger charges later releases for a change of all data.
        new_ledger: Accept a ledger that does not know what was published of the source in that folder.
        allow_useless: Publish useless tables, too.
        window: The one window to publish; None for all.
        only: Names of the tables to publish; empty for all.
        replace: Names of the tables to pay for again; needs an `idempotency_key`.
        idempotency_key: Key under which each table is paid for once, however often the call is repeated.
        same_entries: The reason why the entries are those of earlier releases, where the source is read otherwise or
            from a file of another name. Certificates print it.
        other_entries: Count earlier releases beside this one, by their loss when all their data change.

    Returns:
        The published tables.

    Raises:
        SpecError: For a faulty file.
        DataError: For data that break a rule.
        InputError: For an unknown name.
        ReadingChanged: Where the owner must say whether the entries are the same.
        CalibrationRefused: Where no mechanism may be used.
        BudgetExceeded: Where the loss exceeds the budget.
        CompositionRefused: Where the ledger has no joint guarantee.
        ReleaseError: Where files are in the way or cannot be written. Every error's `state` tells how far the release
            had come.

    Examples:
        >>> from takifugu.cli.samples import write_demo
        >>> outcome = release_file(write_demo(Path("demo")))
        >>> [table.name for table in outcome.tables]
        ['time-use-units', 'time-use-pooled']
    """
    progress = Progress()
    with progress.telling():
        choice = Choice(only, replace, idempotency_key, force, same_entries, other_entries)
        file = load(path, data, single_release, window)
        folder = folder_of(file, output)
        with stopping(once=False):  # an interrupt means: do not publish
            planned = planned_for(file, folder, choice, new_ledger, allow_useless)
        return publish(
            planned, folder, progress=progress, new_ledger=new_ledger, allow_useless=allow_useless, wanted=choice
        )


@without_data
def publish(
    planned: Plan, output: Path | None = None, entropy: Entropy | None = None, *, progress: Progress | None = None,
    new_ledger: bool = False, allow_useless: bool = False, wanted: Choice = NO_CHOICE,
) -> Outcome:  # fmt: skip
    """Publish every new table of a plan: reserve once, draw, write."""
    progress = progress or Progress()
    with progress.telling():
        # ReleaseError, CalibrationRefused (without `allow_useless`), LedgerError (without `new_ledger`) have a state
        bits, folder = entropy or SystemEntropy(), folder_of(planned.file, output)
        try:
            return published(planned, folder, wanted, bits, progress, allow_useless, new_ledger)
        except BudgetExceeded as over:
            raise with_ways_to_pay(over, planned.file, planned) from None


def planned_for(
    file: ReleaseFile, folder: Path, choice: Choice, new_ledger: bool, allow_useless: bool,
    watch: Watch = unwatched,
) -> Plan:  # fmt: skip
    """Return the plan of the tables to publish now; useless ones are refused before their data are read."""
    new = to_plan(file, folder, choice, new_ledger)
    is_waiting = any(paid.state != OVER for paid in payments_of(new))

    def require(planned: Plan) -> None:
        # paid tables are completed first
        if not is_waiting and (refusal := refusal_of(planned, allow_useless)):
            raise refusal

    return plan(new, watch, require)
