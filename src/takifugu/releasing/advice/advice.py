"""The advice on a release file: a verdict on each table, what would help the worst one, and what the belief costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from pathlib import Path

from takifugu.core.errors import DataError, SpecError, TakifuguError
from takifugu.core.escaping import number
from takifugu.core.lasting import lasting
from takifugu.core.plain import Json
from takifugu.core.rules import as_path
from takifugu.core.text.bars import bars
from takifugu.core.text.parts import html_table, note
from takifugu.core.text.tables import filled, paragraph
from takifugu.core.tracebacks import without_data
from takifugu.data.sql.faults import RowFault
from takifugu.releasing.advice.advising import TableAdvice, advice_of, poorest, said
from takifugu.releasing.advice.bands import json_of
from takifugu.releasing.advice.budgets import beforehand
from takifugu.releasing.advice.changes import what_if
from takifugu.releasing.advice.leaving_out import in_place_of_good
from takifugu.releasing.advice.refusing import too_early
from takifugu.releasing.advice.remedies import SECONDS, Remedy, remedies, with_changes
from takifugu.releasing.advice.worth import Named, Verdict, Worth
from takifugu.releasing.file.calendars import without_end
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import load, parsed
from takifugu.releasing.file.reading import raise_all
from takifugu.releasing.file.relation_keys import is_there
from takifugu.releasing.planning.expected import AT_ONCE
from takifugu.releasing.planning.plan import Watch, calibrated, number_of_units, unwatched

REMEDY_HEADER = ("change", "then", "why")
EXPECTED_HEADER = ("cell", "expected", "± (95 %)")
#: How many cells of a table are shown.
MOST_CELLS = 12
_NOTHING_HELPS = (
    "Nothing that was tried helps enough: fewer cells, a longer window or more people in one number need less noise "
    "beside what they count."
)
_NO_LIST = (
    "No list of so many safe places is worth publishing: each place that one person can have been at makes the others "
    "less sure. Fewer places, or a bound on them that is a fact (most under [belief]), need less noise."
)
_EXPECTED = "What is expected, from {source}. "
_LEGEND = "What is expected, from {source}; ▓ and ░ are the ± {half} of its release. "
_BEFORE = " It is that of the noisy values, before they are adjusted."
_UNREAD = "The ± of its release depends on how many people there are, and their data cannot be read yet."


@dataclass(frozen=True)
class Advice:
    """The worth of a release file: its tables, the remedies of the worst one, the best first."""

    tables: tuple[TableAdvice, ...]
    remedies: tuple[Remedy, ...]
    #: The worst table under `provided`: no remedy, since a belief may not be chosen for its convenience.
    if_true: TableAdvice | None = None
    provided: str = ""
    #: The words of the ledger and of other files against publishing.
    notices: tuple[str, ...] = ()

    @property
    def shorter_stays(self) -> Worth | None:
        """Return the worst table's worth with shorter stays, if it says anything."""
        return None if self.if_true is None else self.if_true.worth

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict on the worst table, if any table has one."""
        table = poorest(self.tables)
        return None if table is None else table.verdict

    @property
    def helps(self) -> bool:
        """Return whether a remedy makes the worst table useful."""
        return any(remedy.worth.verdict.is_useful for remedy in self.remedies)

    @property
    def heading(self) -> str:
        """Return the heading of the remedies, or of insufficient ones."""
        if self.helps:
            return "What would help, the best first"
        return "Nothing that was tried makes it worth reading; what comes nearest, the best first"

    @property
    def of_the_belief(self) -> str:
        """Say what the belief costs, if anything can be said."""
        return "" if self.if_true is None else f"{self.provided}, and only if that is true: {self.if_true.sentence}."

    def lines(self) -> Iterator[tuple[str, Verdict | None]]:
        """Yield the advice in parts of lines, each with any verdict."""
        for name, table in self.alike:
            yield filled(f"{name}: {table.sentence}"), table.verdict
            for line in ("", *_picture(table)):
                yield line, None
        for line in self._help():
            yield line, None

    def _help(self) -> Iterator[str]:
        """Yield what would help the worst table, or why nothing does."""
        if self.remedies:
            yield filled(f"{self.heading}. Each goes into the place of the keys that it names:")
        for place, remedy in enumerate(self.remedies, start=1):
            promise = f"{place}. {remedy.promise}"
            if not remedy.fits:
                promise += " (it needs a larger budget)"
            yield from ("", filled(promise), filled(f"{remedy.why}:"))
            for line in remedy.lines:
                yield f"    {line}"
        if self.remedies:
            yield ""
        poor = poorest(self.tables)
        is_poor_list = poor is not None and isinstance(poor.worth, Named) and not poor.is_useful
        if is_poor_list and not self.helps:
            yield filled(_NO_LIST)
        elif not self.remedies and not all(table.is_useful for table in self.tables):
            yield filled(_NOTHING_HELPS)
        yield filled(self.of_the_belief)

    @property
    def alike(self) -> list[tuple[str, TableAdvice]]:
        """Return tables of equal advice once, by name and number."""
        kinds: dict[object, list[TableAdvice]] = {}
        for table in self.tables:
            kinds.setdefault((table.sentence, table.labels, table.cells, table.joint), []).append(table)
        tables = []
        for first, *others_like_it in kinds.values():
            name = first.name
            if others_like_it:
                name += f" and {len(others_like_it)} more like it"
            tables.append((name, first))
        return tables

    def __str__(self) -> str:
        lines = "\n".join(text for text, _ in self.lines()).rstrip()
        return "\n\n".join([lines, *map(paragraph, self.notices)])

    def __repr__(self) -> str:
        facts = [f"{name}: {table.sentence}" for name, table in self.alike]
        if self.remedies:
            facts.append(f"{len(self.remedies)} would help")
        return f"<Advice: {'; '.join(facts)}>"

    def _repr_html_(self) -> str:
        """Return verdicts, expectations and remedies as tables."""
        parts = []
        for name, table in self.alike:
            parts.append(note(f"{name}: {table.sentence}", strong=True))
            if rows := expected_rows(table):
                parts += [html_table(EXPECTED_HEADER, rows), note(_meaning(table))]
        if self.remedies:
            rows = [(remedy.words, remedy.promise, remedy.why) for remedy in self.remedies]
            parts.append(html_table(REMEDY_HEADER, rows, self.heading))
        if self.of_the_belief:
            parts.append(note(self.of_the_belief))
        return "".join([*parts, *map(note, self.notices)])

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        supposed = None
        if self.shorter_stays is not None and self.if_true is not None:
            worth, joint = self.shorter_stays, self.if_true.joint
            supposed = {"verdict": said(self.if_true.verdict), **json_of(joint), "ratio": worth.ratio_or_none}
        return {
            "verdict": said(self.verdict),
            "tables": list(map(TableAdvice.to_dict, self.tables)),
            "remedies": list(map(Remedy.to_dict, self.remedies)),
            "if_stays_were_half_as_long": supposed,
            "notices": list(self.notices),
        }


@without_data
def advise(
    path: str | Path, data: object = None, window: str | None = None, watch: Watch = unwatched, is_seen: bool = False
) -> Advice:
    """Predict whether a release file's tables are useful, and find remedies for the worst.

    Nothing is paid, drawn or written. Units and lengths come from the data, the spent loss from the ledger. Expected
    values are the means of the first belief, unless the file declares others. No table is called good where a declared
    rule may leave rows out.

    Args:
        path: The release file.
        data: Replaces the file of its [source], as in `release_file`.
        window: The one window to judge; None for all.
        watch: Called with the task, its number and how many there are.
        is_seen: Whether only the owner sees the advice. Rows left out are then counted, and "good" is missing above a
            tenth.

    Returns:
        Verdicts, sentences and remedies.

    Raises:
        SpecError: For a faulty file.
        DataError: For all mistakes in the data at once.
        CalibrationRefused: Where no mechanism may be used.

    Examples:
        >>> from takifugu.cli.samples import write_demo
        >>> advice = advise(write_demo(Path("advised")))
        >>> str(advice.verdict), advice.tables[0].sentence
        ('good', 'good: differences above 115 rows show')
    """
    file = as_path(path, "path")
    with lasting():  # the files that are tried are about the same rows, which are read once
        return advised(load(file, data, window=window, first=True), parsed(file), watch, is_seen)


def advised(read: ReleaseFile, raw: Json, watch: Watch = unwatched, is_seen: bool = False) -> Advice:
    """Judge the tables of a file that was read; `raw` are its keys, which remedies change."""
    ends = time.process_time() + SECONDS
    try:
        if not read.kind.facts.has_lengths:  # whose data calibration does not read
            _refuse_unreadable(read)
        planned = calibrated(read, watch)
    except DataError:
        _refuse_unreadable(read)  # which tells all that is wrong with them at once
        raise
    units = number_of_units(planned, watch)
    left_out = in_place_of_good(planned.file, is_seen)
    tables = advice_of(planned, units, left_out)
    account, notices = beforehand(planned)
    notices += tuple(too_early(read))
    if read.endless:
        notices += (f"a release without a window is refused: {without_end(read)}",)
    advice = Advice(tables, (), notices=notices)
    if not any(table.hopeless or table.verdict in (Verdict.ROUGH, Verdict.USELESS) for table in tables):
        return advice
    watch("looking for what would help", 0, 1)
    advice = replace(advice, remedies=remedies(raw, planned, tables, ends, units, account, left_out))
    supposed = what_if(raw)
    if supposed is None:
        return advice
    change, provided = supposed
    changed = with_changes(raw, planned, [change])
    if changed is None:
        return advice
    return replace(advice, if_true=poorest(advice_of(changed, units, left_out)), provided=provided)


def verdicts(path: Path, is_seen: bool) -> tuple[TableAdvice, ...]:
    """Judge a release file's tables as `advise`, and look for no remedy."""
    planned = calibrated(load(path))
    return advice_of(planned, number_of_units(planned, unwatched), in_place_of_good(planned.file, is_seen))


def _picture(table: TableAdvice) -> list[str]:
    """Return any typical result as bars with the release's ±."""
    if not table.labels or table.worth is None or table.cells is None:
        return []
    rows, off, template = list[Json](), None, _EXPECTED
    if table.joint is not None:
        off, template = table.joint.half_width, _LEGEND
    for label, cell in zip(table.labels, table.cells, strict=True):
        value, is_readable = Fraction(round(cell, 6)), label not in table.worth.noisy
        row: Json = {"cell": label, "value": number(value), "low": None, "high": None, "readable": is_readable}
        if off is not None:
            row |= {"value": value, "low": value - off, "high": value + off}
        rows.append(row)
    picture = bars(rows[:MOST_CELLS], error=off)
    if len(rows) > MOST_CELLS:
        picture.append(f"and {len(rows) - MOST_CELLS} more cells")
    legend = template.format(source=table.worth.expectation.source, half=table.joint)
    return ["Expected, and no result yet:", *picture, "", filled(f"{legend}{_meaning(table)}"), ""]


def _meaning(table: TableAdvice) -> str:
    """Explain a table's ±, or why it is unknown."""
    if table.joint is None:
        return _UNREAD
    return f"{AT_ONCE}{_BEFORE}" if table.joint.is_adjusted else AT_ONCE


def expected_rows(table: TableAdvice) -> list[tuple[str, ...]]:
    """Return the cells of a typical result with the release's ±."""
    if not table.labels or table.cells is None:
        return []
    rows, off = list[tuple[str, ...]](), str(table.joint or "-")
    for label, value in zip(table.labels, table.cells, strict=True):
        rows.append((label, number(round(value, 6)), off))
    if len(rows) > MOST_CELLS:
        rows[MOST_CELLS:] = [(f"{len(rows) - MOST_CELLS} more", "", "")]
    return rows


def _refuse_unreadable(file: ReleaseFile) -> None:
    """Raise the one fault of the data, or SpecError for several; nothing for data that are not there."""
    if is_there(file.source, file.folder, file.given):
        parts = [file.kind.part(file, item) for item in file.items]
        windows = {part.places: part for part in parts}.values()
        raise_all(chain.from_iterable(map(_faults_of_window, windows)))


def _faults_of_window(file: ReleaseFile) -> Iterator[TakifuguError]:
    """Yield the faults of the data that a release of the tables of one window would meet."""
    try:
        file.kind.units(file)
    except SpecError as error:
        yield from error.faults
    except RowFault as error:
        yield error
        for other in [*error.each()][1:]:
            yield other.at("source").placed()
    except DataError as error:
        yield error
