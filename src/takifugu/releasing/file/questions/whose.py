"""The question whose a row is; and the columns that are choices of questions."""

from __future__ import annotations

from collections.abc import Sequence

from takifugu.core.escaping import visible
from takifugu.data.kinds import TEXTS
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.guessing.seen import Seen
from takifugu.releasing.file.questions.question import NONE, Choice, Question
from takifugu.releasing.file.questions.subject import Answers, Subject

_NAMES_NOBODY = "no column: all rows are about one person or thing"
_EACH_ANOTHER = "no column: each row is another person or case"


def whose(subject: Subject, answers: Answers) -> Question | None:
    rows, facts, others = answers["rows"], subject.facts, True
    if rows == "contacts":
        return None  # each row names two
    if rows == "answers":
        columns, likely, why, is_clear = _of_answers(facts)
        others = subject.unit_role(answers) is not None
        columns, likely = (columns, likely) if others else ([], None)
    elif rows == "wide":
        columns, likely, why, is_clear = _of_wide(facts)
        others = False
    else:
        visitor = facts.repeated if rows == "visits" else None
        columns, likely, why, is_clear = _of_several(facts, visitor)
    ordered = sorted(columns, key=lambda column: column is not likely)
    choices = of_columns(ordered, "its column says whose row it is")
    of_nobody = _EACH_ANOTHER if rows == "answers" else _NAMES_NOBODY
    choices.insert(0 if likely is None else len(choices), Choice(NONE, of_nobody))
    names = unnamed_columns(subject, answers, choices) if others else ()
    words, offered = "Whose is a row?", choices[0].name
    return Question("whose", words, tuple(choices), offered, why, is_clear, must_be_clear=True, others=names)


#: The columns that may say whose a row is, the likely one, why, and whether it is clear.
_Likely = tuple[list[Seen], Seen | None, str, bool]


def _of_answers(facts: Facts) -> _Likely:
    several, another = facts.repeated, facts.each_row_another
    columns = [column for column in (several, another) if column is not None]
    columns += [column for column in _naming(facts) if column not in columns]
    if several is not None:
        why = f"{visible(several.name)!r} has several rows for some, which must be hidden together"
        return columns, several, why, False
    why = f"{visible(another.name)!r} is another in each row" if another is not None else ""
    is_clear = (another is not None or len(facts.questions) > 1) and not {*facts.people_again, *facts.named_again}
    return columns, another, why, is_clear


def _of_wide(facts: Facts) -> _Likely:
    """Return the person of rows with many steps."""
    assert facts.across is not None
    columns = [c for c in facts.that_name if c.name not in facts.across.names and len(c.labels) > 1]
    people = [column for column in columns if column.named("unit")]
    likely = [*people, *(c for c in columns if len(c.labels) == c.rows), *columns]
    return columns, next(iter(likely), None), "", len(people) == 1 or not columns


def _of_several(facts: Facts, visitor: Seen | None) -> _Likely:
    """Return the person of several rows each; of nested ids the larger."""
    columns, first = _naming(facts), visitor or facts.roles.get("unit")
    people_again = [column for column in facts.people_again if column not in columns]  # few of whom have several rows
    columns += people_again
    if people_again and (first is None or not first.names_people):
        first = people_again[0]
    likely = next((column for column in columns if column is first), None)
    if likely is None:
        return columns, None, "", not columns
    people = [column for column in columns if column is not likely and column.named("unit")]
    larger = [column for column in people if _is_inside(likely, column)]
    columns.sort(key=lambda column: column not in larger)
    rivals = [*people, *(c for c in columns if c is not likely and facts.are_many_names(c))]
    why, is_clear = f"{visible(likely.name)!r} has several rows of each", likely.named("unit") and not rivals
    if larger and not likely.names_people:
        likely = larger[-1]
        why = f"{visible(likely.name)!r} has several rows of each, and it groups others that may say whose a row is"
    elif larger:
        why += f", and each of it has one {visible(larger[-1].name)!r}"
    return columns, likely, why, is_clear


def _naming(facts: Facts) -> list[Seen]:
    """Return the columns of names with several rows, no orders or states.

    Without a likely column of people, the likely state may name them if there are two of a few words.
    """
    taken = [facts.roles.get(role) for role in ("order", "clock")]
    some = [c for c in facts.that_name if c not in taken and 0 < len(c.labels) * 2 <= c.rows]
    if "unit" in facts.roles or len(some) < 2:
        some = [c for c in some if c is not facts.roles.get("value")]
    return sorted(some, key=lambda c: (not c.named("unit"), c.kind != TEXTS, -len(c.labels)))


def _is_inside(column: Seen, other: Seen) -> bool:
    """Return whether the other column groups names of this one."""
    pairs = set(zip(column.values, other.values, strict=True))
    return len({name for name, _ in pairs}) == len(pairs) > len(other.labels) > 1


def of_columns(columns: Sequence[Seen], words: str) -> list[Choice]:
    return [Choice(column.name, words) for column in columns]


def unnamed_columns(subject: Subject, answers: Answers, choices: Sequence[Choice]) -> tuple[str, ...]:
    """Return the columns outside these choices and earlier answers."""
    taken = {*named_columns(subject, answers), *(choice.name for choice in choices)}
    return tuple(name for name in subject.look.columns if name not in taken)


def named_columns(subject: Subject, answers: Answers) -> set[str]:
    """Return the columns in earlier answers."""
    words = {answers[name] for name in ("whose", "when") if name in answers}
    for pair in subject.facts.stays:
        if ", ".join(pair) in words:
            words |= {*pair}
    return words
