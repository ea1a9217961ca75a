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
from takifugu.releasing.planning.plan import Plan, Watch, plan, unwatched
from takifugu.releasing.publishing.choosing import Choice, folder_of, to_plan
from takifugu.releasing.publishing.orders import ordered, published
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.standing import payments_of
from takifugu.releasing.report.outcomes import Outcome


@without_data
def release_file(
    path: str | Path, data: object = None, output: str | Path | None = None, force: bool = False,
    single_release: bool = False, new_ledger: bool = False, allow_useless: bool = False, window: str | None = None, *,
    only: str | Sequence[str] = (), replace: str | Sequence[str] = (), idempotency_key: str | None = None,
    same_entries: str = "", other_entries: bool = False,
) -> Outcome:  # fmt: skip
    """Publish every new table of a release file, like `takifugu release`.

    `data` stands for the file of its [source]: another file, or a frame of pandas, Polars, PyArrow, DuckDB or
    PySpark with the same columns. Rows stay where they are; noise and ledger are local. `output` is the folder.
    `single_release` says that nothing else is ever released about the source, as the key `single_release` does:
    it allows the least noise, and the ledger charges others for a change of all data if it is alone. `new_ledger` takes
    a ledger that does not know what was published of the source in that folder. A table that is useless (`advise`), or
    of nothing but noise, is refused before its data are read, unless `allow_useless`. Tables with `every` are about
    each window of the calendar, or about one `window`. `dry_run` tells all this beforehand.

    What is published, whole and from the same keys is left alone, and nothing is paid for it (`Published.since`).
    `only` names the tables to publish. `replace` names those that are to be paid for again; it needs an
    `idempotency_key`, under which each table is paid for once, however often the call is repeated and whatever kills
    it. `force` overwrites
    files that are in the way. Where a source is read otherwise than before, or from a file of another name, one of two
    answers is needed, once: `same_entries` says why they are the same, which certificates print, `other_entries` counts
    each beside the others at the cost of a change of all data. A frame needs a name of its entries, `entries` under
    [source], where `order` holds no times. A release that an earlier call paid for and did not publish is completed,
    and nothing is paid (`completed`).

    Raises SpecError for a faulty file, DataError for data that break a rule, InputError for a name that it does not
    have, ReadingChanged where it has to be said whether the entries are the same, CalibrationRefused, BudgetExceeded or
    CompositionRefused where the release is refused, and ReleaseError where files are in the way or cannot be written.
    The error's `state` and words say how far the release had come.

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
            planned, folder, data=data, progress=progress, new_ledger=new_ledger, allow_useless=allow_useless,
            wanted=choice,
        )  # fmt: skip


@without_data
def publish(
    planned: Plan, output: Path | None = None, entropy: Entropy | None = None, *, data: object = None,
    progress: Progress | None = None, new_ledger: bool = False, allow_useless: bool = False,
    wanted: Choice | None = None,
) -> Outcome:  # fmt: skip
    """Publish every new table of a plan: reserve once, draw, write.

    `data` replaced the file of the source, `progress` records how far it comes, `wanted` says which tables (by default
    all). Raises ReleaseError where a file is in the way or cannot be written, CalibrationRefused for a table that is
    not worth publishing (without `allow_useless`), and LedgerError where a required ledger is missing, or is not the
    one that paid for what is in the folder (without `new_ledger`); the error's state says what had happened.
    """
    progress = progress or Progress()
    with progress.telling():
        bits = entropy or SystemEntropy()
        order = ordered(planned, folder_of(planned.file, output), data, bits.private)
        try:
            return published(order, wanted or Choice(), bits, progress, allow_useless, new_ledger)
        except BudgetExceeded as over:
            raise with_ways_to_pay(over, planned.file, planned) from None


def planned_for(
    file: ReleaseFile, folder: Path, choice: Choice, new_ledger: bool, allow_useless: bool,
    watch: Watch = unwatched,
) -> Plan:  # fmt: skip
    """Return the plan of the tables to publish now.

    Useless tables are refused before their data are read; data are read where their lengths decide the noise. What was
    paid for already is completed first.
    """
    new = to_plan(file, folder, choice, new_ledger)
    is_waiting = any(paid.state != OVER for paid in payments_of(new))

    def require(planned: Plan) -> None:
        if not is_waiting and (refusal := refusal_of(planned, allow_useless)):
            raise refusal

    return plan(new, watch, require)
