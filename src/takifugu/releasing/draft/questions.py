"""The five questions about a table as data: what a row says, whose it is, when, what is published, and on whose clocks.

None has a default where the answer is a promise. What else an answer leaves open (two ways to read it, rows that none
reads, a missing value) is a question of its own, under the key that it sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from takifugu.core.column_words import is_told
from takifugu.core.errors import InputError
from takifugu.core.escaping import visible
from takifugu.core.nearest import unknown
from takifugu.data.relation.roles import check_truth
from takifugu.data.sql.faults import wrong_key
from takifugu.model.queries.sections import IN_ORDER, POLICY, WHOLE_COLUMNS
from takifugu.releasing.draft.evidence import MOST_COUNTED, Evidence
from takifugu.releasing.draft.forms import names_in, value_of
from takifugu.releasing.draft.question import NONE, Answers, Choice, Question, ask
from takifugu.releasing.draft.when import TIMED, columns_in, questions_of_time, which_rows
from takifugu.releasing.file.keys import ROWS as WORDS_OF_ROWS
from takifugu.releasing.file.kinds import KINDS

#: Kinds about numbers.
OF_NUMBERS = ("normal", "density")
#: Rows that are drafted.
ROWS = {name: words for name, words in WORDS_OF_ROWS.items() if name != "contacts"}
#: What is secret of rows without a time, by the kind, with a place for a column.
_SECRETS = {
    "users": "one person's answer, such as that in {}; people say nothing about each other, and one table counts all",
    "contacts":
        "one person's answer, such as that in {}; people who meet or live together tell of each other, and one table "
        "counts all",
    "joint-table":
        "one person's answers, where one answer, such as that in {}, tells of others; each gets a table alone",
    "independent-records": "a fact about all rows together, such as the share of a value of {}; no single row",
    "normal": "a fact about all numbers together, such as the mean of {}; no single row",
    "populations": "which group a row comes from; each {} is randomised before it leaves its owner",
}
_NULLS = {
    "nulls": {"unobserved": "nothing was recorded then", "refuse": "it is a mistake: such rows are refused"},
    "missing": {"no answer": "an answer of its own, which values must have, too; or one of the others",
                NONE: "it is a mistake: such rows are refused"},
}  # fmt: skip


def questions(evidence: Evidence, answers: Answers) -> list[Question]:
    """Return the questions that answers leave open, in their order; InputError for an answer that is none."""
    before = at(evidence, {key: word for key, word in answers.items() if key == "rows"})
    opened = at(evidence, answers)
    of_rows, whose = _rows(before, answers), _unit(before, answers) or _named(opened, answers)
    times, values = questions_of_time(opened, answers), _values(opened, answers)
    parts = (of_rows, whose, *times, *values, _called(answers))
    return [question for question in parts if question is not None]


def at(evidence: Evidence, answers: Answers) -> Evidence:
    """Return the evidence of the steps and the rows that answers name."""
    if answers.get("rows") == "wide":
        if not evidence.steps:
            error = InputError("rows are wide, and no columns are called as steps").at("rows")
            raise error.offering([("samples", "")])
        evidence = evidence.by_steps
    if answers.get("where"):
        where = evidence.judged(answers["where"], "where")
        check_truth(evidence.type_of(where, "where"))
        evidence = replace(evidence, where=where)
        if not evidence.size:
            raise wrong_key("where", "where is true of no row", "some rows count", "write what is true of them")
    return evidence


def names_nobody(kind: str) -> bool:
    """Return whether each row of a kind is another person or case, whose name no key says."""
    return kind == "users" or KINDS.find(kind).facts.rows == WHOLE_COLUMNS


def _rows(evidence: Evidence, answers: Answers) -> Question | None:
    rows, some = answers.get("rows"), [*ROWS]
    if "kind" in answers:
        of_kind = KINDS.find(answers["kind"]).facts.rows
        some = [*TIMED] if of_kind == IN_ORDER else ["visits"] if of_kind == POLICY else ["answers"]
    if rows in some:
        return None
    if rows in ROWS:
        what = f"rows are {rows}, and no release file of such rows is drafted for a belief of kind {answers['kind']!r}"
        raise InputError(what).at("rows").offering([(name, "") for name in some], "another kind")
    if rows is not None:
        raise unknown(f"rows is {rows[:40]!r}", rows, some).at("rows")
    steps, width = evidence.steps, len(evidence.types)
    seen = f"{evidence.size:,} rows, {width:,} column{'s' * (width != 1)}"
    if steps:
        seen += f", of which {len(steps):,} are called as steps, {steps[0]!r} to {steps[-1]!r}"
    choices = (Choice(name, ROWS[name]) for name in some if steps or name != "wide")
    return ask("rows", choices, seen, is_clear=len(some) == 1)


def _unit(evidence: Evidence, answers: Answers) -> Question | None:
    rows, unit = answers.get("rows"), answers.get("unit")
    if unit is None:
        taken = evidence.steps if rows == "wide" else ()
        counted = _counted(evidence, [name for name in evidence.types if name not in taken])
        nobody = "each row is another person or case" if rows == "answers" else "all rows are about one person or thing"
        return ask("unit", [*counted, Choice(NONE, f"no column: {nobody}")], f"{evidence.size:,} rows")
    if unit == NONE:
        return None
    whose, kind = evidence.judged(unit, "unit"), answers.get("kind")
    if kind is not None and names_nobody(kind):
        (different,) = evidence.count(f"count(distinct {whose})")
        if different < evidence.size:
            what = f"{evidence.size:,} rows have {different:,} names in {unit!r}, and with {kind!r} each is another's"
            raise InputError(what, fix="make a table with one row of each, or take another kind").at("unit")
        return None
    if unit not in evidence.types:
        return None
    sql, odd = names_in(evidence, unit)
    if sql == unit:
        return None
    choice = Choice(sql, f"without blanks around, and 7 for 7.0: so read are {odd:,} rows")
    return ask("unit-read", [choice], column=unit)


def _named(evidence: Evidence, answers: Answers) -> Question | None:
    """Return the question which rows count, where some name nobody."""
    unit = answers.get("unit", NONE)
    if unit == NONE or ("kind" in answers and names_nobody(answers["kind"])):
        return None
    is_named = f"coalesce(length({evidence.judged(unit, 'unit')}::varchar), 0) > 0"
    (nameless,) = evidence.count(f"count(*) filter (not {is_named})")
    return which_rows(evidence, answers, is_named, f"{nameless:,} rows name nobody") if nameless else None


def _called(answers: Answers) -> Question | None:
    """Return the question what those are whose rows there are, where the name of their column does not tell it."""
    unit, kind = answers.get("unit", NONE), answers.get("kind")
    some = [Choice("person", "or another noun, such as household, bed or receipt")]
    if "called" in answers:
        return None
    if kind == "users":
        return ask("called-row", some, is_clear=True)
    if unit == NONE or is_told(unit) or (kind is not None and names_nobody(kind)):
        return None
    return ask("called", some, column=unit, is_clear=True)


def _counted(evidence: Evidence, names: Sequence[str]) -> list[Choice]:
    """Return columns by their number of different values, and none of too many: they are named by who knows them."""
    numbers = evidence.different(names) if len(names) <= MOST_COUNTED else {}
    return [Choice(name, f"{number:,} different") for name, number in sorted(numbers.items(), key=lambda one: one[1])]


def _values(evidence: Evidence, answers: Answers) -> Iterator[Question | None]:
    """Yield the questions what is published, and what is secret of rows without a time."""
    rows, said = answers.get("rows"), answers.get("value")
    if rows == "answers" and "kind" not in answers:
        some = {kind: example(evidence, {**answers, "kind": kind}) for kind in _SECRETS}
        fit = [kind for kind in _SECRETS if kind not in OF_NUMBERS or value_of(evidence, some[kind]).is_measured]
        yield ask("kind", [Choice(kind, _SECRETS[kind].format(repr(visible(some[kind])))) for kind in fit])
        return
    if "kind" in answers and KINDS.find(answers["kind"]).facts.of_belief:  # which names columns itself
        return
    if evidence.unpivoted:
        said = said or evidence.unpivoted[1]
    elif said is None and rows is not None:
        taken = {answers.get("unit"), *columns_in(answers.get("order", ""), evidence.types), answers.get("end")}
        what, free = "value-of-visits" if rows == "visits" else "value", [n for n in evidence.types if n not in taken]
        yield ask(what, _counted(evidence, free), is_clear=True)
    if answers.get("nulls", "refuse") not in _NULLS["nulls"]:
        raise unknown(f"nulls is {answers['nulls'][:40]!r}", answers["nulls"], _NULLS["nulls"]).at("nulls")
    about = "nulls" if rows in TIMED else "missing"
    is_asked = about not in answers and (rows in TIMED or answers.get("kind") == "users")
    for column in columns_in(said, evidence.types) if said is not None else ():
        value = value_of(evidence, column)
        if len(value.ways) > 1:
            yield ask("value-read", (Choice(way.sql, way.words) for way in value.ways), column=column)
        if value.missing and is_asked:
            kinds = ", ".join(["nothing", *map(repr, value.words)])
            seen = f"{value.missing:,} of {evidence.size:,} rows hold {kinds}"
            yield ask(about, (Choice(*pair) for pair in _NULLS[about].items()), seen)


def example(evidence: Evidence, answers: Answers) -> str:
    """Return a column to speak of: of a kind about numbers a measured one, else one of few values, but two or more."""
    some = [name for name in evidence.types if name != answers.get("unit")][:MOST_COUNTED] or [*evidence.types]
    if answers.get("kind") in OF_NUMBERS:
        return next((name for name in some if value_of(evidence, name).is_measured), some[-1])
    numbers = evidence.different(some)
    return min(some, key=lambda name: (numbers[name] < 2, numbers[name]))
