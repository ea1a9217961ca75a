"""The question whose a row is: names of columns, repeated names, nested ids."""

from __future__ import annotations

from takifugu.core.escaping import visible
from takifugu.core.lists import present, without
from takifugu.data.kinds import TEXTS
from takifugu.releasing.file.guessing.column_words import NOUNS, THINGS, TOGETHER
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.guessing.notes import merged_words
from takifugu.releasing.file.guessing.seen import Seen
from takifugu.releasing.file.questions.question import NONE, Answers, Choice, Question, Subject, of_columns

_NOBODY = {
    "answers": "no column: each row is another person or case",
    "steps": "no column: all rows are about one person or thing",
}
#: The columns that may say whose a row is, the likely one, why, and whether it is clear.
_Likely = tuple[list[Seen], Seen | None, str, bool]


def whose_question(subject: Subject, answers: Answers) -> Question | None:
    """Return the question whose a row is, if anybody's."""
    rows, facts, others = answers["rows"], subject.facts, answers["rows"] != "wide"
    if rows == "contacts":
        return None  # each row names two
    if rows == "answers":
        columns, likely, why, is_clear = _of_answers(facts)
        others = subject.unit_role(answers) is not None
        columns, likely = (columns, likely) if others else ([], None)
    elif rows == "wide":
        steps = () if facts.across is None else facts.across.names
        columns, why = [column for column in facts.that_name if column.varies and column.name not in steps], ""
        people = [column for column in columns if column.named("unit")]
        likely = next(iter([*people, *(c for c in columns if len(c.labels) == c.rows), *columns]), None)
        is_clear = len(people) == 1 or not columns
    else:
        columns, likely, why, is_clear = _of_several(facts, facts.repeated if rows == "visits" else None)
    if facts.merged is not None and rows != "wide":
        columns, likely, why, is_clear = [*columns, facts.merged], None, merged_words(facts.merged.name), False
    columns.sort(key=lambda column: (column is not likely, column.is_class))
    choices = of_columns(columns, "its column says whose row it is")
    nobody = Choice(NONE, _NOBODY.get(rows, _NOBODY["steps"]))
    choices.insert(0 if likely is None or likely.is_class else len(choices), nobody)
    names = subject.unnamed_columns(answers, choices) if others else ()
    offered = choices[0].name if is_clear else None
    return Question(
        "whose", "Whose is a row?", tuple(choices), offered, why, is_clear, must_be_clear=True, others=names
    )


def _of_answers(facts: Facts) -> _Likely:
    several, another = facts.repeated, facts.another
    columns = list(dict.fromkeys(present((several, another, *_naming(facts)))))
    if several is not None:
        why = (
            f"{visible(several.name)!r} has several rows for some, which must be hidden together: make them one row "
            "each first, or, where something orders the rows, write --kind sequences"
        )
        return columns, several, why, False
    why = f"{visible(another.name)!r} is another in each row" if another is not None else ""
    if facts.shared is not None:
        why += (
            f", and several have the same in {visible(facts.shared.name)!r}, but all are taken as independent. Where "
            "one says something about those who live with them, that protects too little: write --kind contacts for "
            "what spreads, or make all people of one a single row"
        )
    recurs = any(c.words & (NOUNS - TOGETHER) and c.repeats and not c.is_question for c in facts.that_name)
    is_case = another is not None or len(facts.questions) > 1
    return columns, another, why, is_case and not (facts.people_again or recurs or facts.shared)


def _of_several(facts: Facts, visitor: Seen | None) -> _Likely:
    """Return the person of several rows each; of nested ids the larger."""
    columns, first, again = _naming(facts), visitor or facts.roles.get("unit"), facts.people_again
    columns += without(again, columns)  # few of whom have several rows
    if again and (first is None or not first.names_people):
        first = again[0]
    if first not in columns:
        return columns, None, "", not columns
    people = [column for column in columns if column is not first and column.named("unit")]
    larger = [column for column in people if _is_inside(first, column)]
    columns.sort(key=lambda column: column not in larger)
    rivals = people or [c for c in columns if c is not first and facts.are_many_names(c)]
    why = f"{visible(first.name)!r} has several rows of each"
    texts = [c for c in facts.that_name if c is not first and c.kind == TEXTS and c.recurs]
    if first.words & THINGS and len(texts) > 1:  # one of them says the state
        columns, rivals = [*columns, *without(texts, columns)], texts
        why += ", and other columns have names or states: one may say whose that is"
    if larger and not first.names_people:
        why = f"{visible(larger[-1].name)!r} has several rows of each, and it groups others that may say whose a row is"
        return columns, larger[-1], why, False
    if larger:
        why += f", and each of it has one {visible(larger[-1].name)!r}"
    return columns, first, why, first.named("unit") and not rivals


def _naming(facts: Facts) -> list[Seen]:
    """Return the columns of names with several rows, no orders or states.

    Without a likely column of people, the likely state may name them if there are two of a few words.
    """
    taken = list(map(facts.roles.get, ("order", "clock")))
    some = [c for c in facts.that_name if c not in taken and c.recurs]
    if "unit" in facts.roles or len(some) < 2:
        some = without(some, (facts.roles.get("value"),))
    return sorted(some, key=lambda c: (not c.named("unit"), c.kind != TEXTS, -len(c.labels)))


def _is_inside(column: Seen, other: Seen) -> bool:
    """Return whether the other column groups names of this one."""
    pairs = set(zip(column.values, other.values, strict=True))
    return len({name for name, _ in pairs}) == len(pairs) > len(other.labels) > 1
