"""The question whose a row is; and the columns that are choices of questions."""

from __future__ import annotations

from collections.abc import Sequence

from takifugu.core.escaping import visible
from takifugu.data.kinds import TEXTS
from takifugu.releasing.file.guessing.seen import Seen
from takifugu.releasing.file.questions.question import NONE, Choice, Question
from takifugu.releasing.file.questions.subject import Answers, Subject

_NAMES_NOBODY = "no column: all rows are about one person or thing"
_EACH_ANOTHER = "no column: each row is another person or case"


def whose(subject: Subject, answers: Answers) -> Question | None:
    if answers["rows"] == "contacts":
        return None  # each row names two
    role, facts = subject.unit_role(answers), subject.facts
    if answers["rows"] == "wide":
        return _whose_of_wide(subject)
    if answers["rows"] == "answers":
        several, another = facts.repeated, facts.each_row_another
        names = [column for column in (several, another) if column is not None and role is not None]
        names += [column for column in _naming(subject) if role is not None and column not in names]
        choices = [Choice(NONE, _EACH_ANOTHER), *of_columns(names, "its column says whose row it is")]
        if role is not None and several is None and another is not None:
            choices = [*choices[1:], choices[0]]
        is_clear = several is None and (another is not None or len(facts.questions) > 1)
        why = f"{visible(another.name)!r} is another in each row" if another is not None else ""
        if several is not None:
            why = f"{visible(several.name)!r} has several rows for some, which must be hidden together"
            choices = [*choices[1:], choices[0]] if role is not None else choices
        return _question(choices, why, is_clear, unnamed_columns(subject, answers, choices) if role is not None else ())
    return _whose_of_several(subject, answers)


def _whose_of_wide(subject: Subject) -> Question:
    """Return the question for the person of rows with many steps."""
    facts = subject.facts
    assert facts.across is not None
    name_columns = [c for c in facts.that_name if c.name not in facts.across.names and len(c.labels) > 1]
    unit_columns = [column for column in name_columns if column.named("unit")]
    likely = (unit_columns or [c for c in name_columns if len(c.labels) == c.rows] or name_columns)[:1]
    nobody = Choice(NONE, _NAMES_NOBODY)
    other_columns = [column for column in name_columns if column not in likely]
    choices = [*of_columns([*likely, *other_columns], "its column says whose row it is"), nobody]
    is_clear = len(unit_columns) == 1 or not name_columns
    return _question(choices, "", is_clear)


def _whose_of_several(subject: Subject, answers: Answers) -> Question:
    """Return the question for the person of several rows each.

    Of nested ids the larger is offered.
    """
    names = _naming(subject)
    first = subject.likely("unit")
    if answers["rows"] == "visits" and subject.facts.with_several_rows is not None:
        first = subject.facts.with_several_rows.name
    likely = next((column for column in names if column.name == first), None)
    larger = [c for c in names if likely is not None and c.named("unit") and _is_inside(subject, likely, c)]
    rivals = [c for c in names if c is not likely and c.named("unit") and c not in larger]
    if likely is not None and larger and not likely.names_people:
        likely = larger[-1]
    ordered = sorted(names, key=lambda column: (column is not likely, column not in larger))
    why = "" if likely is None else f"{visible(likely.name)!r} has several rows of each"
    if larger:
        why += f", and each of it has one {visible(larger[-1].name)!r}" if likely not in larger else ""
        why += ", and it groups others that may say whose a row is" if likely in larger else ""
    nobody = Choice(NONE, _NAMES_NOBODY)
    choices = [*of_columns(ordered, "its column says whose row it is"), nobody]
    choices = choices if likely is not None else [nobody, *choices[:-1]]
    is_clear = not names if likely is None else bool(likely.named("unit")) and not larger and not rivals
    return _question(choices, why, is_clear, unnamed_columns(subject, answers, choices))


def _question(choices: Sequence[Choice], why: str, is_clear: bool, other_columns: tuple[str, ...] = ()) -> Question:
    words, likely = "Whose is a row?", choices[0].name
    return Question("whose", words, tuple(choices), likely, why, is_clear, must_be_clear=True, others=other_columns)


def _naming(subject: Subject) -> list[Seen]:
    """Return the columns of names with several rows, no orders or states.

    Without a likely column of people, the likely state may name them if there are two of a few words.
    """
    orders = [subject.likely(role) for role in ("order", "clock")]
    some = [c for c in subject.facts.that_name if c.name not in orders and 0 < len(c.labels) * 2 <= c.rows]
    if "unit" in subject.facts.roles or len(some) < 2:
        some = [c for c in some if c.name != subject.likely("value")]
    return sorted(some, key=lambda c: (not c.named("unit"), c.kind != TEXTS, -len(c.labels)))


def _is_inside(subject: Subject, column: Seen, other: Seen) -> bool:
    """Return whether the other column groups names of this one."""
    pairs = set(zip(column.values, other.values, strict=True))
    return column is not other and len({name for name, _ in pairs}) == len(pairs) > len(other.labels) > 1


def of_columns(columns: Sequence[Seen], words: str) -> list[Choice]:
    return [Choice(column.name, words) for column in columns]


def unnamed_columns(subject: Subject, answers: Answers, choices: Sequence[Choice]) -> tuple[str, ...]:
    """Return the columns outside these choices and earlier answers."""
    taken = {*named_columns(subject, answers), *(choice.name for choice in choices)}
    return tuple(name for name in subject.look.columns if name not in taken)


def named_columns(subject: Subject, answers: Answers) -> set[str]:
    """Return the columns in earlier answers."""
    words = {answers[name] for name in ("whose", "when") if name in answers}
    return words | {column for pair in subject.facts.stays if ", ".join(pair) in words for column in pair}
