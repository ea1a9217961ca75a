"""A release file without its data: everything in it that can be wrong before they are opened, and what cannot be seen.

Neither data nor ledger are opened, and nothing is written, so that it may run where neither of them is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.errors import CalibrationRefused
from takifugu.core.escaping import at_least, at_most
from takifugu.core.plain import Json
from takifugu.core.text.tables import paragraph, text_table
from takifugu.core.tracebacks import without_data
from takifugu.releasing.advice.advising import advice_of, refuse_other_names, refuse_other_units
from takifugu.releasing.advice.budgets import two_digits
from takifugu.releasing.advice.refusing import refusals, too_early
from takifugu.releasing.file.calendars import without_end
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.neighbours import notices_of_file
from takifugu.releasing.file.relation_keys import UNOPENED
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.file.sharing import sharing
from takifugu.releasing.planning.notices import unjudged_words
from takifugu.releasing.planning.plan import (
    Plan,
    Watch,
    aims_of,
    calibrated_unread,
    planned_of,
    table_names,
    unwatched,
    why_untried,
)

_HEADER = ("table", "query", "noise")
_THERE, _LATER = "computed", "depends on the data"
NOT_SEEN = (
    "Not looked at: the columns and values of the data, and what the ledger has counted. `advise` reads the data, and "
    "counts the rows that a rule leaves out."
)


@dataclass(frozen=True)
class CheckedTable:
    """One table of a valid release file; `mechanisms` add its noise, none where only the data can tell."""

    name: str
    query: str
    mechanisms: tuple[str, ...]


@dataclass(frozen=True)
class Checked:
    """A release file in which nothing is wrong, as far as that shows without data."""

    tables: tuple[CheckedTable, ...]
    #: Worth knowing, such as noise that was tried for the longest sequence only, or not at all.
    notices: tuple[str, ...]
    #: Why it is released one window at a time, in the words of a release without a window.
    proviso: str = ""

    def __str__(self) -> str:
        rows = list[tuple[str, ...]]()
        for table in self.tables:
            noise = _THERE if table.mechanisms else _LATER
            rows.append((table.name, table.query, noise))
        return "\n\n".join([text_table(_HEADER, rows), *map(paragraph, self.notices)])

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        tables = [{"name": t.name, "query": t.query, "mechanisms": list(t.mechanisms)} for t in self.tables]
        return {"tables": tables, "notices": [*filter(None, [self.proviso]), *self.notices]}


@without_data
def check(
    path: str | Path, window: str | None = None, watch: Watch = unwatched, allow_useless: bool = False
) -> Checked:
    """Check a release file's keys, belief, queries, noise and expectation without data."""
    # SpecError with every fault, InputError for a window of no calendar
    file = load(path, UNOPENED, window=window)
    planned = calibrated_unread(file, watch)
    unjudged, judged = planned.unjudged, planned.judged
    refuse_other_names(planned.only(unjudged))
    advice = advice_of(judged)  # which refuses an expectation that a table contradicts
    refused = [] if allow_useless else [refusal.line for refusal in refusals(judged, advice)]
    # CalibrationRefused for no noise, no worth or no budget; a pooled table of unknown size is not judged
    refused += _unpaid(planned)
    if refused:
        raise CalibrationRefused("; ".join(refused))
    mechanisms, remarks = _mechanisms(planned), dict[str, list[str]]()
    if unjudged:
        remarks[unjudged_words(file)] = [*unjudged]
    tables = list[CheckedTable]()
    for item in file.items:
        names = table_names(file, [item])
        if not mechanisms.keys() >= {*names}:
            tried, words = _tried(file, item, watch)
            mechanisms |= {name: tried[name] for name in names if name in tried}
            remarks.setdefault(words, []).extend(names)
        tables += [CheckedTable(name, item.query, mechanisms.get(name, ())) for name in names]
    notices = (f"{', '.join(names)}: {words}" for words, names in remarks.items())
    return Checked(tuple(tables), (*notices, *too_early(file), *notices_of_file(file)), without_end(file))


def _tried(file: ReleaseFile, item: Item, watch: Watch) -> tuple[dict[str, tuple[str, ...]], str]:
    """Return the mechanisms for a longest sequence, and their caveat."""
    why = why_untried(file, item)
    if why:
        refuse_other_units(file, item)
        return {}, f"the noise was not tried: {why}"
    steps = file.kind.part(file, item).most_steps or 0
    sharers = file.only(sharing(file, item))
    longest = f"a sequence of length {steps:,}, the most that the file allows, with a row in each step"
    try:
        planned = planned_of(sharers, aims_of(sharers), watch)
        refuse_other_names(planned)
        return _mechanisms(planned), f"tried for {longest}; the data decide"
    except CalibrationRefused as refused:
        return {}, f"there is no noise for {longest}: {refused.message}"


def _unpaid(planned: Plan) -> Iterator[str]:
    """Yield the tables dearer than the whole budget. Even a ledger without spending could not pay for them."""
    most = planned.file.epsilon_budget
    if most is None:
        return
    for table in planned.tables:
        cost = max(calibration.epsilon for calibration in table.calibrations)
        if cost > most:
            sentence = f"costs epsilon {at_most(cost)}, and the whole budget is epsilon {at_least(most)}"
            larger = f"budget = {two_digits(float(cost)):g}"
            yield f"{table.name} {sentence}; write {larger} under [source], or a smaller epsilon under its [[table]]"


def _mechanisms(planned: Plan) -> dict[str, tuple[str, ...]]:
    mechanisms = {}
    for table in planned.tables:
        mechanisms[table.name] = tuple(dict.fromkeys(calibration.mechanism for calibration in table.calibrations))
    return mechanisms
