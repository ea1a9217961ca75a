"""What a row of a table likely says, and what is secret of it: one table of rules, of which the first that fits counts.

A reason names columns and never a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from takifugu.core.escaping import visible
from takifugu.data.kinds import TIMES
from takifugu.releasing.file.guessing.column_words import BIRTH, NUMBERING, THINGS
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.guessing.notes import merged_words, mixed_words
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
    """Return what a row of a table likely says, by the first rule that fits."""
    for rule in (_merged, _wide, _contacts, _stays, _visits, _places, _companies, _questionnaire, _log, _numbers):
        said = rule(facts)
        if said is not None:
            return said
    return _answers(facts)


def _merged(facts: Facts) -> Likely | None:
    if facts.merged is None:
        return None
    return Likely(in_order(facts).rows, False, merged_words(facts.merged.name))


def _wide(facts: Facts) -> Likely | None:
    across = facts.across
    if across is None or across.sort == "questions":
        return None
    first, *_, last = map(visible, across.names)
    return Likely("wide", across.are_times, f"the columns {first!r} to {last!r} are called as steps, and hold the same")


def _contacts(facts: Facts) -> Likely | None:
    if facts.ends is None:
        return None
    are_people = all(end.named("unit") and not end.words & THINGS for end in facts.ends)
    return Likely("contacts", are_people, f"each row names two, in {names_of(facts.ends)}")


def _stays(facts: Facts) -> Likely | None:
    has_several = facts.repeated is not None and bool(facts.where or not _is_log(facts))
    return Likely("stays", False, _why_stays(facts)) if facts.stays and has_several else None


def _why_stays(facts: Facts) -> str:
    start, *clocks, closing = facts.stays[0]
    if clocks:
        return f"each row has a date and the times of day {visible(clocks[0])!r} and {visible(closing)!r}"
    is_end = facts.look.columns[closing].is_time
    return f"{visible(closing)!r} is never before {visible(start)!r}" if is_end else f"{visible(closing)!r} is how long"


def _visits(facts: Facts) -> Likely | None:
    who = facts.repeated
    if who is None or not facts.where:
        return None
    why = f"{names_of([who])} has several rows, and where is in {names_of(facts.where)}"
    return Likely("visits", facts.coordinates is not None and who.names_people, why)


def _places(facts: Facts) -> Likely | None:
    if facts.coordinates is None:
        return None
    why = f"{names_of(facts.coordinates)} are coordinates, and nobody has several rows"
    return _of_cases(facts, why, "population")


def _companies(facts: Facts) -> Likely | None:
    if not facts.companies or not facts.amounts:
        return None
    return _of_cases(facts, f"each row is a company, by {names_of(facts.companies[:2])}", "column")


def _questionnaire(facts: Facts) -> Likely | None:
    if len(facts.questions) < 2 or facts.several is not None:
        return None
    why = f"its columns are questions, such as {names_of(facts.questions[:2])}, and each row is another case"
    return _of_cases(facts, why)


def _log(facts: Facts) -> Likely | None:
    return in_order(facts) if _is_log(facts) else None


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
    if facts.mixed_times is not None:
        return Likely("samples", False, mixed_words(facts.mixed_times.name))
    if facts.stays and facts.is_timed and (facts.shifts or not spacing.is_even):
        return Likely("stays", False, _why_stays(facts))
    if spacing.is_even:
        are_cases = several is not None and order is not None and order.is_identifier  # numbers of rows are even anyhow
        return Likely("samples", spacing.is_repeated and not are_cases, f"{why}, whose steps are even")
    if not facts.is_timed:
        return Likely("samples", False, why)
    if spacing.is_repeated:
        return Likely("events", False, f"{why}, whose steps are uneven, and values recur from row to row")
    return Likely("changes", False, f"{why}, whose steps are uneven, and each row has another state than the last")


def _numbers(facts: Facts) -> Likely | None:
    number = len(facts.amounts)
    if number < 2 or number * 10 < _MOSTLY * (number + len(facts.answers)):
        return None
    return _of_cases(facts, f"most columns are numbers, such as {names_of(facts.amounts[:3])}", "column")


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
