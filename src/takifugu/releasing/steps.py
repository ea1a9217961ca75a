"""The dry run of a release: what would be published, what it would cost, and what would be refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.errors import CompositionRefused
from takifugu.core.escaping import command
from takifugu.core.plain import Json
from takifugu.core.searches import stopping
from takifugu.core.sections import values_by_field
from takifugu.core.text.parts import Part, closed, facts, words
from takifugu.core.tracebacks import without_data
from takifugu.releasing.advice.advising import TableAdvice
from takifugu.releasing.advice.forecast import Forecast, forecast_of
from takifugu.releasing.advice.leaving_out import in_place_of_good
from takifugu.releasing.advice.worth import Verdict
from takifugu.releasing.certificates.files import files_of
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.outlook import Outlook, outlook
from takifugu.releasing.planning.plan import Watch, plan, table_names, unwatched
from takifugu.releasing.publishing.choosing import NO_CHOICE, Choice, folder_of, refuse_inputs, to_plan

#: A dry run looks so many windows ahead.
YEAR = 52


@dataclass(frozen=True)
class DryRun(Forecast):
    """A release before it is paid for, with the cost of such windows one after the other."""

    outlook: Outlook | None = None
    #: The tables that are published already, and that a release leaves alone.
    there: tuple[str, ...] = ()
    #: Why no other window may follow one with this noise, if so.
    only_one: str = ""

    @property
    def foreseen(self) -> Iterator[Part]:
        if self.there:
            yield words(f"already published, and nothing to pay for: {', '.join(self.there)}")
        yield from super().foreseen
        judged = [table for table in self.advice if table.worth is not None]
        lines = [("worth", f"{table.name}: {table.sentence}") for table in judged]
        if any(table.verdict is not Verdict.GOOD for table in judged):
            lines.append(("advice", f"{command('advise', self.path)} says what would help"))
        yield facts(lines)
        if self.outlook is not None:
            yield closed(_AHEAD, Part(f"{_AHEAD}:\n\n{self.outlook}", self.outlook._repr_html_))
        if self.only_one:
            yield words(f"only one such window can be published: {self.only_one}", strong=True)
        yield words("This was a dry run: nothing was paid, drawn or written.")

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        worth = list(map(TableAdvice.to_dict, self.advice))
        data: Json = {"forecast": super().to_dict(), "there": list(self.there), "advice": worth}
        if self.outlook is not None:
            data["outlook"] = self.outlook.to_dict()
        if self.only_one:
            data["only_one"] = self.only_one
        return data


_AHEAD = "If such windows are published one after the other"


@without_data
def dry_run(
    path: str | Path, data: object = None, output: str | Path | None = None, single_release: bool = False,
    new_ledger: bool = False, allow_useless: bool = False, window: str | None = None, *,
    only: str | Sequence[str] = (), replace: str | Sequence[str] = (), idempotency_key: str | None = None,
    force: bool = False,
) -> DryRun:  # fmt: skip
    """Predict the tables, costs and errors of `release_file`, which has the same arguments.

    Nothing is paid, drawn or written, and a missing ledger is not created. Of the data it uses units and their public
    lengths.

    Args:
        path: The release file.
        data: As in `release_file`.
        output: As in `release_file`.
        single_release: As in `release_file`.
        new_ledger: As in `release_file`.
        allow_useless: As in `release_file`.
        window: As in `release_file`.
        only: As in `release_file`.
        replace: As in `release_file`.
        idempotency_key: As in `release_file`.
        force: As in `release_file`.

    Returns:
        The forecast.

    Raises:
        SpecError: For a faulty file.
        DataError: For data that break a rule.
        CalibrationRefused: Where no mechanism may be used.
        ReleaseError: Where files are in the way.
        LedgerError: For a ledger that cannot be read.

    Examples:
        >>> from takifugu.cli.samples import write_demo
        >>> foreseen = dry_run(write_demo(Path("foreseen")))
        >>> foreseen.account.before.epsilon < foreseen.account.after.epsilon <= 2
        True
        >>> foreseen.refused, Path("foreseen/activity-ledger.db").exists()
        (False, False)
    """
    with stopping(once=False):
        choice = Choice(only, replace, idempotency_key, force)
        return foreseen(load(path, data, single_release, window), output, new_ledger, allow_useless, choice=choice)


def foreseen(
    file: ReleaseFile, output: str | Path | None = None, new_ledger: bool = False, allow_useless: bool = False,
    watch: Watch = unwatched, choice: Choice = NO_CHOICE, is_seen: bool = False,
) -> DryRun:
    """Return the dry run of a file that was read; what its tables are worth is said as `advise` says it."""
    new = to_plan(file, folder_of(file, output), choice, new_ledger)
    planned = plan(new, watch)
    refuse_inputs(file, folder_of(file, output), files_of(table.name for table in planned.tables))
    left_alone = [value for value in choice.of(file).items if value not in new.items]
    published_before = tuple(table_names(file, left_alone))
    is_regular = any(question.at is not None for question in planned.questions)
    ahead, only_one = None, ""
    if is_regular:
        try:
            ahead = outlook(file, YEAR, is_sought=False)
        except CompositionRefused as error:  # the next window is, and this one is not
            only_one = error.message
    forecast = forecast_of(planned, allow_useless, left_out=in_place_of_good(planned.file, is_seen))
    return DryRun(**values_by_field(forecast), outlook=ahead, there=published_before, only_one=only_one)
