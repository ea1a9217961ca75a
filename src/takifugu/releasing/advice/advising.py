"""`takifugu advise`: the verdict on every table of a release file, before anything is read, drawn or paid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from takifugu.analysis.randomisers import Noise
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.core.cache import cached
from takifugu.core.errors import InputError, SpecError, TakifuguError, Unsupported
from takifugu.core.plain import Json
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.releasing.advice.choosing import worth_of_choice
from takifugu.releasing.advice.contradicting import refuse_more_people
from takifugu.releasing.advice.expecting import expectation_of
from takifugu.releasing.advice.mattering import in_answer_units
from takifugu.releasing.advice.reaching import Reach, reach_of
from takifugu.releasing.advice.safe_lists import worth_of_list
from takifugu.releasing.advice.worth import Worth, worst, worth
from takifugu.releasing.file.policies.sections import PolicyReleaseSpec, PriorSpec
from takifugu.releasing.file.sequences.sections import SourceSpec
from takifugu.releasing.planning.asking import Totals
from takifugu.releasing.planning.expected import expected as noise_of
from takifugu.releasing.planning.plan import Plan, Table

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.releasing.file.sections import ExpectSpec


@dataclass(frozen=True)
class TableAdvice:
    """What one table is worth; without a worth, `reason` says why there is no verdict.

    `reach` stands for the worth of a number without a verdict, where it can be compared with all that the number can
    be; `hopeless` says that it would be nothing but noise.
    """

    name: str
    scope: str
    labels: tuple[str, ...]
    worth: Worth | None
    measured_in: str = ""
    reason: str = ""
    reach: Reach | None = None
    hopeless: str = ""

    @property
    def sentence(self) -> str:
        if self.worth is not None:
            return self.worth.sentence(self.measured_in)
        noise = f"; and it would be nothing but noise: {self.hopeless}" if self.hopeless else ""
        return f"no verdict: {self.reason}{noise}"

    @property
    def is_useful(self) -> bool:
        """Whether nothing says that the table is useless."""
        return not self.hopeless and (self.worth is None or self.worth.verdict.is_useful)

    @property
    def judged(self) -> Worth | None:
        """Return what the table is compared by: its worth, or what stands for it where it is nothing but noise."""
        return self.worth or self.reach

    def to_dict(self) -> Json:
        """Return plain data for JSON, in answer units."""
        data: Json = {"name": self.name, "scope": self.scope, "sentence": self.sentence}
        if self.worth is None:
            return {**data, "verdict": None}
        one, expected = self.worth, self.worth.expectation
        return {
            **data, "verdict": str(one.verdict), "ratio": one.ratio_or_none, "matters": one.matters,
            "error_of_a_cell": one.cell.width, "coverage_of_a_cell": one.cell.coverage,
            "error_of_a_difference": None if one.difference is None else one.difference.width,
            "coverage_of_a_difference": None if one.difference is None else one.difference.coverage,
            "expected": None if expected.cells is None else dict(zip(self.labels, expected.cells, strict=False)),
            "expected_from": expected.source,
        }  # fmt: skip


def table_advice(
    table: Table, expect: ExpectSpec | None, prior: PriorSpec | None, step: int | float | str | None = None
) -> TableAdvice:
    """Return what a planned table is worth: that of its worst answer; its own [expect] goes before the file's.

    `prior` is what a file under a policy says of counts, `step` how long a step of its source is. Raises SpecError for
    an expectation that the table contradicts.
    """
    try:
        expected = in_answer_units(expect if table.item.expect is None else table.item.expect, table, step)
    except InputError as error:
        raise SpecError([error]) from None
    people = {id(q.calibration): len(q.readers) for q in table.questions}
    totals = dict(zip((id(q.calibration) for q in table.questions), table.totals or (), strict=False))
    labels: tuple[str, ...] = ()
    worths = []
    for calibration in {id(one): one for one in table.calibrations}.values():
        try:
            this = id(calibration)
            worths.append(worth_of(calibration, expected, people[this], prior, totals.get(this)))
            if isinstance(calibration.randomiser, Noise):
                labels = calibration.problem.answers[0].labels
        except (InputError, Unsupported) as error:
            if isinstance(error, InputError) and error.where[:1] == ("expect",):
                raise SpecError([error]) from None
            return _without_verdict(table, error)
    return TableAdvice(table.name, table.scope, labels, worst(worths), table.measured_in)


def _without_verdict(table: Table, error: TakifuguError) -> TableAdvice:
    """Return why there is no verdict, and whether the table would be nothing but noise all the same."""
    blurred = noise_of(table)
    noise = blurred.words_of_nothing() if blurred.says_nothing else blurred.words() if blurred.hopeless else ""
    reach = reach_of(blurred)
    return TableAdvice(table.name, table.scope, (), None, table.measured_in, str(error), reach, noise)


def worth_of(
    calibration: Calibration,
    expect: ExpectSpec | None,
    people: int = 1,
    prior: PriorSpec | None = None,
    totals: Totals | None = None,
) -> Worth:
    """Return what one answer about so many people is worth; Unsupported where no honest verdict exists.

    With `totals` its values are adjusted after the noise. It is kept with the calibration: a release asks before its
    data are read, before it pays, and for its report.
    """
    key = ("worth", people, totals, repr((expect, prior)))
    return cached(calibration, key, lambda: _worth_of(calibration, expect, people, prior, totals))


def _worth_of(
    calibration: Calibration, expect: ExpectSpec | None, people: int, prior: PriorSpec | None, totals: Totals | None
) -> Worth:
    noise = calibration.randomiser
    if isinstance(noise, PermuteAndFlip):
        return worth_of_choice(calibration, expect, people)
    if isinstance(noise, SafeCells):
        return worth_of_list(noise, prior)
    if noise.output.is_column:
        raise Unsupported(
            "each row is randomised by itself, and none is to be read alone: what a table made of them is worth "
            "depends on how many rows it counts"
        )
    if not isinstance(noise, Noise):
        raise Unsupported(f"{calibration.mechanism} does not add noise to a number that is as likely too low as high")
    return worth(noise, expectation_of(calibration, expect, people), totals)


def poorest(tables: Sequence[TableAdvice]) -> tuple[TableAdvice, Worth] | None:
    """Return the table that is worth least, by which a file is judged; None where no table has a verdict."""
    judged = [(table, table.worth) for table in tables if table.worth is not None]
    return max(judged, key=lambda pair: pair[1].ratio, default=None)


def advice_of(planned: Plan) -> tuple[TableAdvice, ...]:
    """Return what every table of a plan is worth, in the file's order."""
    prior = planned.spec.prior if isinstance(planned.spec, PolicyReleaseSpec) else None
    source = planned.file.source
    step = source.step if isinstance(source, SourceSpec) else None
    advice = tuple(table_advice(table, planned.spec.expect, prior, step) for table in planned.tables)
    _refuse_more_people(planned)
    return advice


def _refuse_more_people(planned: Plan) -> None:
    """Raise SpecError for more people than there are, where their names were read."""
    units = len(planned.unit_names)
    try:
        if units:
            for place, item in enumerate(planned.file.items):
                refuse_more_people(item.expect, units, ("release", place, "expect"))
            refuse_more_people(planned.spec.expect, units, ("expect",))
    except InputError as error:
        raise SpecError([error]) from None
