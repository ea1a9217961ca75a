"""What a release file costs, in words, as HTML and as JSON: noise, mechanisms, other epsilons, windows to come.

Nothing is paid, drawn or written, and no result holds data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from typing import TYPE_CHECKING

from takifugu.accounting import definitions
from takifugu.calibration import Calibration
from takifugu.calibration.alternatives import WEAKER
from takifugu.calibration.registry import find
from takifugu.core.errors import CalibrationRefused, TakifuguError
from takifugu.core.escaping import at_most, command, number
from takifugu.core.people import People
from takifugu.core.plain import Json
from takifugu.core.text.parts import Part, closed, heading, rows, together, words
from takifugu.core.text.tables import labelled, name_of
from takifugu.numbers.rationals import to_text
from takifugu.releasing.advice.forecast import Forecast, Foreseen, forecast_of
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.planning.notices import unjudged_words
from takifugu.releasing.planning.plan import Plan, Watch, aims_as_needed, aims_of, planned_of, unwatched
from takifugu.releasing.planning.prices import Compared, Prices, compared, meaning_words, only_one, prices
from takifugu.releasing.planning.questions import Question

if TYPE_CHECKING:
    from takifugu.releasing.planning.outlook import Outlook

_NOISE = ("table", "answers", "mechanism", "scale", "error", "epsilon")
#: Said where tables have epsilons of their own.
_OF_ONE = (
    "What a promise means is said of one table: whoever sees several can become surer, by what they lose together."
)
_PUBLISHED = "Already published, and not paid for again: {tables}. Below: the cost of one more such release."
#: An error that is less than another by more than what scales are rounded up by.
_CLEARLY = 0.999
#: The mechanisms that stand beside the one that is taken, and what they are to a reader.
_COMPARED = {"group-dp": "as if all data were one secret", "record-dp": "as if no datum told of another"}


@dataclass(frozen=True, eq=False)
class CostOfTable:
    """The noise of one table: its calibrations, each with whose answers get it, and that of each answer."""

    name: str
    scope: str
    query: str
    noise: tuple[tuple[str, Calibration], ...]
    people: People
    answers: tuple[tuple[str | None, Calibration], ...]

    @property
    def calibrations(self) -> tuple[Calibration, ...]:
        return tuple(calibration for _, calibration in self.noise)

    @property
    def noisiest(self) -> Calibration:
        return max(self.calibrations, key=lambda c: c.scale_or_none or 0)

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        for whose, c in self.noise:
            sizes = map(number, (c.scale_or_none, c.error_or_none, c.epsilon))
            yield (name_of(self.name), name_of(whose.removesuffix(" together"), 16), c.mechanism, *sizes)

    @property
    def others(self) -> Part:
        """Return the errors of noise for one secret, and for data that tell of nothing else."""
        chosen, lines = self.noisiest, list[tuple[str, ...]]()
        by_name = {row.name: row for row in chosen.alternatives if row.name != chosen.mechanism}
        for name, meaning in _COMPARED.items():
            row = by_name.get(name)
            if row is None or row.expected_error is None:
                continue
            if row.status == WEAKER and row.expected_error < _CLEARLY * (chosen.error_or_none or math.inf):
                meaning += ": too little"
            lines.append((name, meaning, number(row.expected_error, digits=3)))
        return rows(("mechanism", "for comparison", "error"), lines)

    @property
    def causes(self) -> list[tuple[str, str]]:
        """Return what forced the noise, and what it rules out."""
        chosen = self.noisiest
        requested, epsilon, promised = chosen.requested, chosen.epsilon, ""
        if requested is not None and epsilon > requested[0]:
            promised = f"the promise is epsilon {at_most(epsilon)}, not what was requested"
        pairs = [
            ("forced by", chosen.witness.comparison),
            ("because", chosen.witness.detail),
            ("means", meaning_words(chosen)),
            ("composes", chosen.guarantee.composition.answer),
            ("forbids", chosen.forbids),
            *product(["condition"], chosen.guarantee.conditions),
            ("NOTE", promised),
        ]
        return [(label, said) for label, said in pairs if said]

    @property
    def why(self) -> Part:
        chosen = self.noisiest
        title = f"{self.name}: {chosen.query.describe()}, for {self.people.whose(self.scope)}"
        causes = Part(labelled(self.causes), chosen._repr_html_)
        return together(heading(title), closed("Why this noise, and the other mechanisms", causes))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what a definition says of the problem, whatever the mechanism."""
        return definitions.find(self.noisiest.framework.definition).remarks(self.noisiest.problem)

    def to_dict(self) -> Json:
        answers = list[Json]()
        for unit, calibration in self.answers:
            answers.append({
                "unit": unit, "mechanism": calibration.mechanism, "scale": calibration.exact_scale,
                "expected_error": calibration.error_or_none, "epsilon": to_text(calibration.epsilon),
                "delta": to_text(calibration.delta), "composition": str(calibration.guarantee.composition),
                "forbids": calibration.forbids, "forced_by": calibration.witness.comparison,
            })  # fmt: skip
        return {"name": self.name, "scope": self.scope, "query": self.query, "answers": answers}


@dataclass(frozen=True)
class Cost(Foreseen):
    """The cost of a release file."""

    tables: tuple[CostOfTable, ...]
    #: None where no mechanism may be used as asked, and `why_not` says so.
    forecast: Forecast | None
    #: Compared only if asked for, as the prices at other epsilons and the outlook are.
    mechanisms: tuple[Compared, ...] = ()
    prices: tuple[Prices, ...] = ()
    outlook: Outlook | None = None
    why_not: str = ""
    more: tuple[str, ...] = ()
    #: Whether there are several tables with an epsilon each.
    has_several: bool = False
    #: Tables that a release would leave as they are.
    published: tuple[str, ...] = ()

    @property
    def refusal(self) -> Part:
        return words() if self.forecast is None else self.forecast.refusal

    @property
    def foreseen(self) -> Iterator[Part]:
        if self.published:
            yield words(_PUBLISHED.format(tables=", ".join(self.published)))
        if self.forecast is not None:
            yield from self.forecast.foreseen
        yield rows(_NOISE, list(chain.from_iterable(table.rows for table in self.tables)))
        errors = dict[str, None]()
        for table in self.tables:
            errors |= dict.fromkeys(calibration.error_words for calibration in table.calibrations)
        if errors:
            yield words(f"error: {' or '.join(errors)}")
        for table in self.tables:
            yield table.why
            if not self.mechanisms:
                yield table.others
                yield words(*table.remarks)
        if self.has_several:
            yield words(_OF_ONE)
        for compared_table in self.mechanisms:
            of_all = compared_table.rows
            yield together(heading(compared_table.head), Part(str(of_all), of_all._repr_html_))
        for priced in self.prices:
            yield from priced.parts
        if self.outlook is not None:
            yield from self.outlook.parts
        yield words(*self.more)

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        data: Json = {
            "tables": [table.to_dict() for table in self.tables],
            "forecast": None if self.forecast is None else self.forecast.to_dict(),
        }
        if self.published:
            data["published"] = list(self.published)
        if self.mechanisms:
            data["mechanisms"] = [table.to_dict() for table in self.mechanisms]
        if self.prices:
            data["prices"] = [table.to_dict() for table in self.prices]
        if self.outlook is not None:
            data["outlook"] = self.outlook.to_dict()
        if self.why_not:
            data["refused"] = self.why_not
        return data


def cost(
    file: ReleaseFile, *, with_all: bool = False, mechanism: str | None = None, epsilons: Sequence[Fraction] = (),
    windows: int | None = None, watch: Watch = unwatched,
) -> Cost:  # fmt: skip
    """Return the cost of a release file; data are read where noise or ledger need them, and no `windows` are asked."""
    name = None if mechanism is None else find(mechanism).name
    ahead = None
    if windows is not None:
        watch("looking ahead", 0, 1)
        from takifugu.releasing.planning.outlook import outlook

        ahead = outlook(file, windows)
    scopes = aims_as_needed(file, watch) if windows is None else aims_of(file)
    side_by_side = tuple(compared(file, scopes, watch)) if with_all or name is not None else ()
    if name is not None:
        side_by_side = only_one(side_by_side, name, file)
    priced = tuple(prices(file, scopes, epsilons, watch)) if epsilons else ()
    others = f"All mechanisms, and why some do not apply: {command('cost', '--all', file.path)}"
    more = () if side_by_side else (others,)
    try:
        planned = planned_of(file, scopes, watch)
    except CalibrationRefused as error:
        # noise that may not be used is shown in the comparison
        if not side_by_side and not priced:
            raise
        return Cost((), None, side_by_side, priced, ahead, error.message, more)
    forecast = forecast_of(planned.judged, is_due=False)
    if planned.unjudged:
        notices = () if forecast.tables else forecast.notices
        more = (*notices, f"{', '.join(planned.unjudged)}: {unjudged_words(file)}", *more)
    has_several = len(planned.tables) > 1 and not all(item.shares_epsilon for item in file.items)
    there = _published(file) if windows is None else ()
    return Cost(tables_of(planned), forecast, side_by_side, priced, ahead, "", more, has_several, there)


def _published(file: ReleaseFile) -> tuple[str, ...]:
    """Return the tables that lie in the folder as they are, and are not paid for again."""
    if not file.output.is_dir():
        return ()
    from takifugu.releasing.publishing.choosing import Choice
    from takifugu.releasing.publishing.standing import standings
    from takifugu.releasing.publishing.states import Does

    with suppress(TakifuguError):  # a release says what is in the way
        left = [table for table in standings(file, file.output) if Choice().does(table) is Does.LEAVE]
        return tuple(table.item.name for table in left)
    return ()


def tables_of(planned: Plan) -> tuple[CostOfTable, ...]:
    """Return the noise of every table, grouping answers of equal noise."""
    tables = list[CostOfTable]()
    for table in planned.tables:
        groups: dict[tuple[str, float | None, Fraction], list[Question]] = {}
        for question in table.questions:
            c = question.calibration
            groups.setdefault((c.mechanism, c.scale_or_none, c.epsilon), []).append(question)
        everybody, noise = table.people.whose(table.scope), list[tuple[str, Calibration]]()
        for first, *others in groups.values():
            whose = everybody
            if table.scope == "unit" and others:
                whose = table.people.counted(1 + len(others))
            elif table.scope == "unit":
                whose = first.unit or everybody
            noise.append((whose, first.calibration))
        answers = tuple((question.unit, question.calibration) for question in table.questions)  # and not their data
        whose_noise = tuple(noise), table.people, answers
        tables.append(CostOfTable(table.name, table.scope, table.item.query, *whose_noise))
    return tuple(tables)
