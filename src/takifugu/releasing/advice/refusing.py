"""What is not worth publishing is refused before anything is read: noise that hides what the table is about."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from takifugu.core.errors import CalibrationRefused
from takifugu.core.escaping import command
from takifugu.releasing.advice.advising import TableAdvice, advice_of
from takifugu.releasing.advice.remedies import remedies
from takifugu.releasing.advice.worth import Verdict
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import parsed
from takifugu.releasing.planning.plan import Plan

#: A refusal names the best remedy of those that are tried in so many seconds of work.
SECONDS = 5.0
_ANYWAY = "or write --allow-useless (allow_useless=True)"


def refusals(
    planned: Plan, advice: Sequence[TableAdvice], with_remedies: bool = True
) -> list[CalibrationRefused]:
    """Return every refusal of a plan's tables, with the best remedy, whose search may take SECONDS."""
    reasons = list(_reasons(planned, advice))
    best = _best_remedy(planned, advice) if reasons and with_remedies else ""
    return [CalibrationRefused(reason, fix=f"{best or fix}, {_ANYWAY}") for reason, fix in reasons]


def refusal_of(planned: Plan, allow_useless: bool = False) -> CalibrationRefused | None:
    """Return the refusal of a plan's first early or useless table, with the best remedy; None with `allow_useless`."""
    # SpecError for an expectation that a table contradicts, also of useless tables that are allowed
    advice = advice_of(planned)
    if allow_useless:
        return None
    if early := too_early(planned.file):
        return CalibrationRefused(early[0])
    return next(iter(refusals(planned, advice)), None)


def too_early(file: ReleaseFile) -> list[str]:
    """Name the tables of unfinished windows. Such tables would be paid for, and not read again."""
    early = list[str]()
    for item in file.items:
        window = file.kind.part(file, item).still_open
        if window:
            early.append(f"{item.name} is about {window}, which has not ended; publish it when it has, {_ANYWAY}")
    return early


def _reasons(planned: Plan, advice: Sequence[TableAdvice]) -> Iterator[tuple[str, str]]:
    """Yield the reasons and remedies of tables not worth publishing."""
    is_known = planned.knows_units
    for advised in advice:
        table, ways = advised.noise, ["increase epsilon"]
        if any(blur.cells > 1 for blur in table.blurs):
            ways.append("publish fewer cells")
        if table.scope == "unit":
            ways.append(f"publish one answer over all {planned.file.people.many}")
        nothing = table.words() if table.hopeless else advised.hopeless
        # noise is compared with the range of the sum over all units, so where these are known
        if nothing and (is_known or table.scope != "unit"):
            yield f"{table.name} would be nothing but noise: {nothing}", " or ".join(ways)
        elif advised.worth is not None and advised.worth.verdict is Verdict.USELESS:
            advice_on_it = command("advise", planned.file.path)
            yield f"{table.name} would be {advised.sentence}", f"{advice_on_it} says what would help"


def _best_remedy(planned: Plan, advice: Sequence[TableAdvice]) -> str:
    """Name a remedy sufficient for the worst table, if quickly computed."""
    file = planned.file
    if file.window is not None:
        return ""
    tried = remedies(parsed(file.path), planned, advice, time.process_time() + SECONDS)
    best = next((remedy for remedy in tried if remedy.worth.verdict.is_useful), None)
    if best is None:
        return ""
    is_verdict = best.is_one and best.advised.verdict is not None
    link = " it is " if is_verdict else ": "
    return f"with {best.words} ({best.why}){link}{best.sentence}"
