"""What a row of a table likely says, and what is secret of it: one table of rules, of which the first that fits counts.

A reason names columns and never a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from takifugu.core.escaping import visible
from takifugu.data.kinds import TIMES
from takifugu.releasing.file.guessing.column_words import BIRTH, NUMBERING, THINGS
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.guessing.notes import merged_words, mixed_words, twice_words
from takifugu.releasing.file.guessing.seen import Seen

#: A table is one of numbers if so many of ten columns are.
_MOSTLY = 7


@dataclass(frozen=True)
class Likely:
    """What a row likely says, whether it says nothing else, why, and what is secret of answers."""

    rows: str
    is_clear: bool
    why: str
    secret: str = "answers"


def likely_of(facts: Facts) -> Likely:
    """Return what a row of a table likely says, by the first rule that fits.

    Nothing is clear where most names are those of several columns.
    """
    likely = next(_rules(facts))
    if len(facts.look.twice) > len(facts.columns):
        return replace(likely, is_clear=False, why=twice_words(facts.look))
    return likely


def _rules(facts: Facts) -> Iterator[Likely]:
    """Yield what a row may say, the likeliest first."""
    across, who, amounts = facts.across, facts.repeated, facts.amounts
    if facts.merged is not None:
        yield Likely(in_order(facts).rows, False, merged_words(facts.merged.name))
    if across is not None and across.sort != "questions":
        first, *_, last = map(visible, across.names)
        why = f"the columns {first!r} to {last!r} are called as steps, and hold the same"
        yield Likely("wide", across.are_times, why)
    if facts.ends is not None:
        are_people = all(end.named("unit") and not end.words & THINGS for end in facts.ends)
        yield Likely("contacts", are_people, f"each row names two, in {names_of(facts.ends)}")
    if facts.stays and who is not None and (facts.where or not _is_log(facts)):
        yield Likely("stays", False, _why_stays(facts))
    if who is not None and facts.where:
        why = f"{names_of([who])} has several rows, and where is in {names_of(facts.where)}"
        yield Likely("visits", facts.coordinates is not None and who.names_people, why)
    if facts.coordinates is not None:
        why = f"{names_of(facts.coordinates)} are coordinates, and nobody has several rows"
        yield _of_cases(facts, why, "population")
    if facts.companies and amounts:
        yield _of_cases(facts, f"each row is a company, by {names_of(facts.companies[:2])}", "column")
    if len(facts.questions) > 1 and facts.several is None:
        why = f"its columns are questions, such as {names_of(facts.questions[:2])}, and each row is another case"
        yield _of_cases(facts, why)
    if _is_log(facts):
        yield in_order(facts)
    if len(amounts) > 1 and len(amounts) * 10 >= _MOSTLY * (len(amounts) + len(facts.answers)):
        yield _of_cases(facts, f"most columns are numbers, such as {names_of(amounts[:3])}", "column")
    yield _answers(facts)


def _why_stays(facts: Facts) -> str:
    start, *clocks, closing = facts.stays[0]
    if clocks:
        return f"each row has a date and the times of day {visible(clocks[0])!r} and {visible(closing)!r}"
    is_end = facts.look.columns[closing].is_time
    return f"{visible(closing)!r} is never before {visible(start)!r}" if is_end else f"{visible(closing)!r} is how long"


def _is_log(facts: Facts) -> bool:
    order, number = facts.order, len(facts.answers) + len(facts.amounts)
    if order is None or (not facts.answers and number not in (1, 2)):
        return False
    if facts.several is not None:
        return True
    is_alone = facts.another is None or order.kind == TIMES or facts.spacing.is_even
    numbers_rows = order.is_identifier and order.words <= NUMBERING and number > 1
    is_even = facts.spacing.is_even and facts.another is None
    return is_alone and not numbers_rows and (number in (1, 2) or is_even)


def in_order(facts: Facts) -> Likely:
    """Return what rows in an order likely say: states at times, changes, stays, or events."""
    order, several, spacing = facts.roles.get("order"), facts.several, facts.spacing
    why = "" if order is None else f"{names_of([order])} tells when each row was"
    if order is not None and several is not None:
        why = f"{names_of([several])} has several rows, in the order of {names_of([order])}"
        if facts.another is not None:
            why = f"each row has another {names_of([facts.another])}, and {why}"
    if facts.mixed_times is not None:
        return Likely("samples", False, mixed_words(facts.mixed_times.name))
    if facts.stays and facts.is_timed and (facts.shifts or not spacing.is_even):
        return Likely("stays", False, _why_stays(facts))
    if spacing.is_even:
        # Numbers of rows are even anyhow, and so may be the times of answers, each of another person.
        is_numbered = facts.another is not None or (order is not None and order.is_identifier)
        are_cases = several is not None and is_numbered
        return Likely("samples", spacing.is_repeated and not are_cases, f"{why}, whose steps are even")
    if not facts.is_timed:
        return Likely("samples", False, why)
    if spacing.is_repeated:
        return Likely("events", False, f"{why}, whose steps are uneven, and values recur from row to row")
    return Likely("changes", False, f"{why}, whose steps are uneven, and each row has another state than the last")


def _answers(facts: Facts) -> Likely:
    columns = [*facts.answers, *facts.amounts]
    if len(columns) == 1 and facts.several is None:
        why = f"each row is another person, with one answer in {names_of(columns)}"
    elif len(facts.answers) > 1:
        why = f"each row is a person or case, with a few answers in {names_of(facts.answers[:3])}"
    elif not any(column.rows for column in facts.columns):
        why = "it has no rows, so nothing but the names of its columns is known"
    else:
        why = "nothing in its columns speaks for another kind"
    times = [c for c in facts.columns if c.kind == TIMES and not c.words & BIRTH]
    is_of_people = facts.another is not None and facts.another.names_people
    if times and facts.several is None and not is_of_people:
        why += (
            f". But {names_of(times[:1])} says when each row was, and no column says whose: if one person has several "
            "rows, this protects too little"
        )
        return Likely("answers", False, why)
    return _of_cases(facts, why)


def _of_cases(facts: Facts, why: str, secret: str = "answers") -> Likely:
    """Return that each row is another case, as far as that is clear."""
    is_case = facts.another is not None or len(facts.questions) > 1 or facts.order is None
    mixed = facts.mixed_times
    if mixed is not None:
        return Likely("answers", False, mixed_words(mixed.name), secret)
    return Likely("answers", facts.repeated is None and is_case, why, secret)


def names_of(columns: Sequence[Seen]) -> str:
    """Return the names of columns in one sentence.

    >>> names_of([])
    ''
    """
    names = [repr(visible(column.name)[:40]) for column in columns]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
