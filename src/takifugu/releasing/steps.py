"""The dry run of a release: what would be published, what it would cost, and what would be refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.errors import CompositionRefused
from takifugu.core.escaping import command
from takifugu.core.lists import without
from takifugu.core.plain import Json
from takifugu.core.text.parts import Part, closed, facts, words
from takifugu.releasing.advice.advising import TableAdvice
from takifugu.releasing.advice.forecast import Forecast, Foreseen, forecast_of
from takifugu.releasing.advice.leaving_out import in_place_of_good
from takifugu.releasing.advice.worth import Verdict
from takifugu.releasing.certificates.files import files_of
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.planning.outlook import Outlook, outlook
from takifugu.releasing.planning.plan import Watch, plan, table_names, unwatched
from takifugu.releasing.publishing.choosing import NO_CHOICE, Choice, folder_of, refuse_inputs, to_plan

#: A dry run looks so many windows ahead.
YEAR = 52


@dataclass(frozen=True)
class DryRun(Foreseen):
    """What a release would publish and cost; `outlook` is what such windows would cost one after the other.

    Where no other window may follow one with this noise, `only_one` says why. `there` are the tables that are published
    already, and that a release leaves alone.
    """

    forecast: Forecast
    outlook: Outlook | None
    there: tuple[str, ...] = ()
    only_one: str = ""

    @property
    def refusal(self) -> Part:
        return self.forecast.refusal

    @property
    def foreseen(self) -> Iterator[Part]:
        if self.there:
            yield words(f"already published, and nothing to pay for: {', '.join(self.there)}")
        yield from self.forecast.foreseen
        judged = [table for table in self.forecast.advice if table.worth is not None]
        lines = [("worth", f"{table.name}: {table.sentence}") for table in judged]
        if any(table.verdict is not Verdict.GOOD for table in judged):
            lines.append(("advice", f"{command('advise', self.forecast.path)} says what would help"))
        yield facts(lines)
        if self.outlook is not None:
            yield closed(_AHEAD, Part(f"{_AHEAD}:\n\n{self.outlook}", self.outlook._repr_html_))
        if self.only_one:
            yield words(f"only one such window can be published: {self.only_one}", strong=True)
        yield words("This was a dry run: nothing was paid, drawn or written.")

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        worth = list(map(TableAdvice.to_dict, self.forecast.advice))
        data: Json = {"forecast": self.forecast.to_dict(), "there": list(self.there), "advice": worth}
        if self.outlook is not None:
            data["outlook"] = self.outlook.to_dict()
        if self.only_one:
            data["only_one"] = self.only_one
        return data


_AHEAD = "If such windows are published one after the other"


def dry_run(
    file: ReleaseFile, output: str | Path | None = None, new_ledger: bool = False, allow_useless: bool = False,
    watch: Watch = unwatched, choice: Choice = NO_CHOICE, is_seen: bool = False,
) -> DryRun:
    """Rehearse publishing a release file, without creating a missing ledger.

    What its tables are worth is said as `advise` says it.

    Raises what `release_file` raises before it pays.
    """
    new = to_plan(file, folder_of(file, output), choice, new_ledger)
    planned = plan(new, watch)
    refuse_inputs(file, folder_of(file, output), files_of(table.name for table in planned.tables))
    left_alone = without(choice.of(file).items, new.items)
    published_before = tuple(table_names(file, left_alone))
    is_regular = any(question.at is not None for question in planned.questions)
    ahead, only_one = None, ""
    if is_regular:
        try:
            ahead = outlook(file, YEAR, is_sought=False)
        except CompositionRefused as error:  # the next window is, and this one is not
            only_one = error.message
    forecast = forecast_of(planned, allow_useless, left_out=in_place_of_good(planned.file, is_seen))
    return DryRun(forecast, ahead, published_before, only_one)
