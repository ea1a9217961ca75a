"""Which kind of release file a table is for: a rule for each kind, with the reason that it gives.

A reason names columns and never a value. A kind from outside takes part with a rule of its own (`RULES.register`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from takifugu.core.escaping import visible
from takifugu.core.registry import Registry
from takifugu.data.kinds import TIMES
from takifugu.releasing.file.guessing.column_words import BIRTH, words
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.guessing.seen import MOST_STATES, Seen

#: Words in the names of columns that name companies, and of columns of numbers that are their figures.
_COMPANY = words(
    "company firm business enterprise corporation supplier branch store shop firma unternehmen betrieb entreprise "
    "societe empresa azienda"
)
_FIGURES = words(
    "turnover revenue sales profit employees headcount assets equity umsatz gewinn mitarbeiter effectif ventas "
    "ingresos fatturato"
)
_PLACE = words("place poi venue location stop spot cell tower ort lieu lugar luogo")
#: A table is one of numbers if so many of ten columns are.
_MOSTLY = 7


@dataclass(frozen=True)
class Guess:
    """A kind of release file by its name, how much speaks for it, and what."""

    kind: str
    points: int
    why: str


#: What a rule says of a table: how much speaks for its kind, and what; None where nothing does.
Said = tuple[int, str] | None
Rule = Callable[[Facts], Said]


def _contacts(facts: Facts) -> Said:
    who, shared, infected = facts.each_row_another, facts.shared, facts.infected
    if facts.ends is not None:
        return 90, f"each row names two, in {names_of(facts.ends)}"
    if who is None or shared is None or infected is None:
        return None
    pair = f'[["{who.name}_x", "{who.name}_y"]].to_csv("meetings.csv", header=["one", "other"], index=False)'
    return 64, (
        f"{names_of([infected])} spreads among people with the same in {names_of([shared])}, who are not "
        "independent. Who lives with whom becomes a public file, a row for each two (in pandas, "
        f"frame.merge(frame, on={shared.name!r}){pair})"
    )


def _visits(facts: Facts) -> Said:
    who = facts.repeated
    places = [c for c in facts.columns if c.words & _PLACE and len(c.labels) > MOST_STATES and c is not who]
    where = facts.coordinates or tuple(places[:1])
    if who is None or not where:
        return None
    return 80, f"{names_of([who])} has several rows, and where is in {names_of(where)}{_exchanged(facts)}"


def _places(facts: Facts) -> Said:
    together = facts.places_in_one_column
    if facts.coordinates is not None:
        same = f"; {names_of([together])} is not needed" if together is not None else ""
        places = f"{names_of(facts.coordinates)} are coordinates{_exchanged(facts)}"
        return 70, f"{places}, and nobody has several rows{same}"
    if together is None:
        return None
    return 70, (
        f"{names_of([together])} holds both coordinates of places in one column. Make it two columns first (in "
        f"pandas, frame[[\"y\", \"x\"]] = frame[{together.name!r}].str.extract(r\"(-?[\\d.]+)[,; ]+(-?[\\d.]+)\"))"
    )


def _exchanged(facts: Facts) -> str:
    return " (exchanged: no latitude is above 90)" if facts.are_exchanged else ""


def _companies(facts: Facts) -> Said:
    companies = _of_companies(facts)
    return (65, f"each row is a company, by {names_of(companies[:2])}") if companies and facts.amounts else None


def _of_companies(facts: Facts) -> list[Seen]:
    """Return the columns of companies, none for several ordered rows each."""
    if facts.with_several_rows is not None and facts.order is not None:
        return []
    return [c for c in facts.columns if c.words & _COMPANY or (c.words & _FIGURES and c in facts.amounts)]


def _numbers(facts: Facts) -> Said:
    numbers, others = facts.amounts, len(facts.answers)
    if len(numbers) < 2:
        return None
    if _of_companies(facts) and len(numbers) > others:
        return 66, f"each row is a company, and most columns are numbers, such as {names_of(numbers[:2])}"
    if len(numbers) * 10 < _MOSTLY * (len(numbers) + others):
        return None
    points = 59 if len(numbers) > 2 and not others else 50
    return points, f"most columns are numbers, such as {names_of(numbers[:3])}"


def _sequences(facts: Facts) -> Said:
    order, several, another = facts.order, facts.with_several_rows, facts.each_row_another
    if order is None:
        return None
    is_regular, is_even = order.kind == TIMES or facts.spacing.is_even, facts.spacing.is_even
    if facts.side_by_side and is_regular:
        return 62, (
            f"{names_of([order])} tells when each row was. {names_of(facts.side_by_side[:3])} look like one "
            "column for each of several people or rooms, and one is read: to publish all make it a row for each "
            f"time and each of them first (in pandas, frame.melt({order.name!r}))"
        )
    number = len(facts.answers) + len(facts.amounts)
    if not facts.answers and len(facts.amounts) not in (1, 2):
        return None
    if several is not None:
        return 60, f"{names_of([several])} has several rows, in the order of {names_of([order])}"
    is_alone = (another is None or is_regular) and not (order.is_running and number > 1)
    is_log = is_alone and (number in (1, 2) or (is_even and another is None))
    return (55, f"{names_of([order])} tells when each row was") if is_log else None


def _people(facts: Facts) -> Said:
    answers, is_case = facts.answers, facts.with_several_rows is None
    points, why = 1, "nothing in its columns speaks for another kind"
    if len(answers) + len(facts.amounts) == 1 and is_case:
        points, why = 45, f"each row is another person, with one answer in {names_of([*answers, *facts.amounts])}"
    elif len(facts.questions) > 1 and is_case:
        questions = names_of(facts.questions[:2])
        points, why = 63, f"its columns are questions, such as {questions}, and each row is another case"
    elif len(answers) > 1:
        points, why = 40, f"each row is a person or case, with a few answers in {names_of(answers[:3])}"
    elif not any(column.rows for column in facts.columns):
        why = "it has no rows, so nothing but the names of its columns is known"
    times = [c for c in facts.columns if c.kind == TIMES and not c.words & BIRTH]
    if times and is_case and facts.each_row_another is None and not facts.questions:
        why += (
            f". But {names_of(times[:1])} says when each row was, and no column says whose: if one person has several "
            "rows, this protects too little"
        )
    return points, why


def names_of(columns: Sequence[Seen]) -> str:
    """Return the names of columns in one sentence.

    >>> names_of([])
    ''
    """
    names = [repr(visible(column.name)[:40]) for column in columns]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


#: The rules by the kind that they speak for.
RULES: Registry[Rule] = Registry("the rule about a table", {
    "contacts": "releasing.file.guessing.rules:_contacts", "asymmetric": "releasing.file.guessing.rules:_visits",
    "populations": "releasing.file.guessing.rules:_places",
    "independent-records": "releasing.file.guessing.rules:_companies",
    "normal": "releasing.file.guessing.rules:_numbers", "markov-chain": "releasing.file.guessing.rules:_sequences",
    "users": "releasing.file.guessing.rules:_people",
})  # fmt: skip


def register(kind: str, rule: Rule) -> None:
    """Let `takifugu init` recognise tables for an external kind.

    `rule` takes the `Facts` of a table and returns its points for the kind (built-in ones have 1 to 90) with the
    reason, in words that name columns and no value, or None. Raises InputError for a kind with a rule.
    """
    RULES.register(kind, rule)


def guessed(facts: Facts) -> Guess:
    """Return the kind with the most points for a table."""
    best = Guess("users", 0, "")
    for kind in RULES.names:
        said = RULES.find(kind)(facts)
        if said is not None and said[0] > best.points:
            best = Guess(kind, *said)
    return best
