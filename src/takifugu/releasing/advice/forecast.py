"""A release before it is paid for: how large the noise will be, what the ledger would count, what would be refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.errors import CompositionRefused, PeopleUndeclared
from takifugu.core.escaping import command, number, plus_minus
from takifugu.core.names import normalised
from takifugu.core.people import PEOPLE, People
from takifugu.core.plain import Json
from takifugu.core.text.parts import InParts, Part, facts, folded, rows, text_of, together, words
from takifugu.core.text.tables import name_of
from takifugu.releasing.advice.advising import TableAdvice, advice_of
from takifugu.releasing.advice.budgets import previewed, with_ways_to_pay
from takifugu.releasing.advice.refusing import refusals as refusals_of
from takifugu.releasing.advice.refusing import too_early
from takifugu.releasing.file.neighbours import notices_of_file
from takifugu.releasing.planning.expected import AT_ONCE, Expected
from takifugu.releasing.planning.notices import added, asks_words, forbidden, notices, notices_of_reading, spending
from takifugu.releasing.planning.plan import Plan

if TYPE_CHECKING:  # nothing is loaded that reads ledgers where none is consulted
    from takifugu.accounting.ledger import Preview

_HEADER = ("table", "answers", "± (95 %)", "a cell can be", "± of that", "half exceeds")
_MEANING = f"{AT_ONCE} A cell can be: from its smallest to its largest possible value, whatever the data."
_NOT_CONSULTED = "The ledger was not consulted: {dry_run} reads which {people} there are."
_OF_ONE = " It was not read which {people} there are: the ± is that of one {person}, and that of all at once is larger."
_BEFOREHAND = "To know beforehand"
#: How many kinds of answers are shown per table; the JSON has all.
_MOST_NAMED = 6


class Foreseen(InParts):
    """A value that says what is foreseen, and last why it would be refused."""

    @property
    def foreseen(self) -> Iterator[Part]:
        raise NotImplementedError

    @property
    def refusal(self) -> Part:
        raise NotImplementedError

    @property
    def text(self) -> str:
        """Return everything but the refusal."""
        return text_of(self.foreseen)

    @property
    def parts(self) -> tuple[Part, ...]:
        return (*self.foreseen, self.refusal)


@dataclass(frozen=True)
class Forecast(Foreseen):
    """The tables and the cost of a release file, which lies at `path`; nothing was paid, drawn or written."""

    source: str
    path: Path
    #: The worth of each table.
    advice: tuple[TableAdvice, ...]
    #: The ledger before and after, None where the units were not read.
    account: Preview | None
    #: Words on what to know beforehand, and on why it would be refused.
    notices: tuple[str, ...]
    refusals: tuple[str, ...]
    people: People = PEOPLE

    @property
    def tables(self) -> tuple[Expected, ...]:
        """Return what the noise of each table does to it."""
        return tuple(table.noise for table in self.advice)

    @property
    def refused(self) -> bool:
        return bool(self.refusals)

    @property
    def refusal(self) -> Part:
        reasons = "\n".join(f"refused: {reason}" for reason in self.refusals)
        return Part(reasons, words(*(f"Refused: {reason}" for reason in self.refusals), strong=True).draw)

    @property
    def foreseen(self) -> Iterator[Part]:
        lines, notes, account = list(_rows(self.tables)), list[tuple[str, str]](), words()
        if lines:
            yield rows(_HEADER, lines)
            if any(error != "-" for _, _, error, *_ in lines):
                is_of_one = self.account is None and any(table.scope == "unit" for table in self.tables)
                of_one = _OF_ONE.format(people=self.people.many, person=self.people.one)
                yield words(_MEANING + of_one * is_of_one)
        for table in self.tables:
            yield words(f"{table.name}: {table.words()}")
        if self.account is not None:
            pairs = [("ledger", spending(self.source, self.account))]
            if self.account.charges:
                units, charged = sum(charge.units for charge in self.account.charges), added(self.account.charges)
                pairs.append(("charge", f"{charged} for {self.people.counted(units)}"))
            account = facts(pairs)
        elif self.tables and not self.refusals:
            dry_run = command("release", "--dry-run", self.path)
            account = words(_NOT_CONSULTED.format(people=self.people.many, dry_run=dry_run))
        if self.tables:
            notes = [("note", remark) for remark in self.notices]
        yield together(account, Part(facts(notes).text, lambda: folded(_BEFOREHAND, words(*self.notices).draw())))

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        account: Json | None = None
        if self.account is not None:
            charges = list[Json]()
            for charge in self.account.charges:
                charges.append({
                    "units": charge.units, "alone": charge.alone.to_dict(), "charged": charge.added.to_dict(),
                })  # fmt: skip
            account = {
                "before": self.account.before.to_dict(), "after": self.account.after.to_dict(),
                "budget": self.account.budget.to_dict(), "budget_is_declared": self.account.budget_is_declared,
                "charges": charges,
            }  # fmt: skip
        return {
            "source": self.source,
            "tables": list(map(Expected.to_dict, self.tables)),
            "account": account,
            "notices": list(self.notices),
            "refused": list(self.refusals),
        }


def _rows(tables: Sequence[Expected]) -> Iterator[tuple[str, ...]]:
    for table in tables:
        name = name_of(table.name)
        for blur in table.blurs[:_MOST_NAMED]:
            whose = table.people.whose(table.scope).removesuffix(" together")
            if table.scope == "unit" and blur.answers == 1:
                whose = name_of(blur.unit or whose, 12)
            elif table.scope == "unit":
                whose = table.people.counted(blur.answers)
            reach, share = "any number", "-"
            if blur.ranges:
                reach = " to ".join(dict.fromkeys(map(number, (min(blur.ranges), max(blur.ranges)))))
                share = " to ".join(dict.fromkeys(f"{number(100 * part, digits=3)} %" for part in blur.shares))
            sizes = plus_minus(blur.half_width), reach, share, number(blur.median)
            if blur.marks:
                sizes = "-", "-", "-", "-"
            yield (name, whose, *sizes)
        if len(table.blurs) > _MOST_NAMED:
            yield (name, f"{len(table.blurs) - _MOST_NAMED} more kinds", *["-"] * 4)


def forecast_of(
    planned: Plan, allow_useless: bool = False, is_due: bool = True, left_out: str | None = None
) -> Forecast:
    """Return the forecast of a plan; `allow_useless` accepts tables that are not worth publishing."""
    # where it `is_due`, windows that have not ended are refused, and a question of the ledger is raised
    file, questions, notices_of_sources = planned.file, planned.questions, notices_of_file(planned.file)
    name, people = normalised(file.source.name), file.people
    advice, early = advice_of(planned, None, left_out), too_early(file) if is_due else []
    refusals = list[str]()
    if not allow_useless:
        refusals = [*early, *(refusal.line for refusal in refusals_of(planned, advice, is_due))]
    if planned.knows_units and not questions:
        return Forecast(name, file.path, (), None, notices_of_sources, (), people=people)
    account, open_questions = None, list[str]()
    # else the ledger is not consulted, and a table of units is not judged
    if planned.knows_units:
        try:
            account = previewed(planned, file.budget)
        except CompositionRefused as refused:
            refusals.append(str(refused))
        except PeopleUndeclared as question:
            if is_due:
                raise
            open_questions.append(asks_words(question))
        remarks = dict[str, None]()
        for table in planned.tables:
            for c in table.calibrations:
                remarks |= dict.fromkeys(file.kind.remarks(file, table.item, c.mechanism, c.randomiser))
        beforehand = [*remarks, *open_questions]
        if account is not None:
            beforehand += notices(questions, name, account, people)
            if account.over is not None:
                refusals.append(with_ways_to_pay(account.over, file, planned).message)
    else:
        beforehand = [*forbidden((q.release, q.calibration) for q in questions), *notices_of_reading(file)]
    all_notices = (*beforehand, *notices_of_sources)
    return Forecast(name, file.path, advice, account, all_notices, tuple(refusals), people)
