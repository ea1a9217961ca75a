"""`takifugu advise`: the verdict on every table of a release file, before anything is read, drawn or paid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from takifugu.analysis.randomisers import Noise
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.core.cache import cached
from takifugu.core.errors import InputError, SpecError, Unsupported
from takifugu.core.plain import Json
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.model.queries.answer import Additive
from takifugu.model.queries.choices.candidates import Candidates
from takifugu.releasing.advice.bands import Joint, joint_of, json_of
from takifugu.releasing.advice.choosing import worth_of_choice
from takifugu.releasing.advice.contradicting import refuse_more_people
from takifugu.releasing.advice.expecting import (
    Unit,
    expectation_of,
    filling,
    in_answer_units,
    is_mean_of_cells,
    numbers_for,
    unit_of,
)
from takifugu.releasing.advice.leaving_out import in_place_of_good
from takifugu.releasing.advice.worth import (
    Verdict,
    Worth,
    cells_that_count,
    reach_of,
    refuse_no_cells,
    refuse_unused,
    worth,
    worth_of_list,
)
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.policies.sections import PolicyReleaseSpec, PriorSpec
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.planning.asking import Totals
from takifugu.releasing.planning.expected import Expected, half_width, values_of
from takifugu.releasing.planning.expected import expected as noise_of
from takifugu.releasing.planning.plan import Plan, Table

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.releasing.file.sections import ExpectSpec


@dataclass(frozen=True)
class TableAdvice:
    """The worth of one table; without a worth, `reason` says why there is no verdict."""

    #: The effect of its noise.
    noise: Expected
    labels: tuple[str, ...]
    worth: Worth | None
    measured_in: str = ""
    reason: str = ""
    #: The ± that the release prints, of its worst answer.
    joint: Joint | None = None
    #: The words in place of the verdict "good", where declared rules may leave rows out.
    left_out: str = ""

    @property
    def name(self) -> str:
        return self.noise.name

    @property
    def scope(self) -> str:
        return self.noise.scope

    @property
    def hopeless(self) -> str:
        """Say why a table without a verdict would be nothing but noise, if it would."""
        return self.noise.only_noise if self.worth is None else ""

    @property
    def sentence(self) -> str:
        if self.worth is not None:
            return verdict_and_words(self.worth, self.measured_in, self.left_out)[1]
        if self.hopeless:
            return f"no verdict: {self.reason}; and it would be nothing but noise: {self.hopeless}"
        if self.joint is None:
            return f"no verdict: {self.reason}"
        return f"no verdict: {self.reason}; {self.joint.sentence(self.measured_in)}"

    @property
    def is_useful(self) -> bool:
        """Return whether nothing calls the table useless."""
        return not self.hopeless and (self.worth is None or self.worth.verdict.is_useful)

    @property
    def verdict(self) -> Verdict | None:
        return None if self.worth is None else verdict_and_words(self.worth, self.measured_in, self.left_out)[0]

    @property
    def cells(self) -> tuple[float, ...] | None:
        """Return the expected cells, in answer units, if known."""
        return None if self.worth is None else self.worth.expectation.cells

    @property
    def judged(self) -> Worth | None:
        """Return the worth for comparing tables; without a verdict its ± beside all that a value can be, if known."""
        return self.worth or reach_of(self.noise)

    @property
    def ratio(self) -> float:
        """Return the ratio for comparing tables, infinite for incomparable ones."""
        return math.inf if self.judged is None else self.judged.ratio

    def to_dict(self) -> Json:
        """Return plain data for JSON, in answer units."""
        labels: Json = {"name": self.name, "scope": self.scope, "sentence": self.sentence}
        data: Json = {**labels, **json_of(self.joint)}
        if self.worth is None:
            return {**data, "verdict": None}
        worth, coverage = self.worth, None
        cells = None if self.cells is None else dict(zip(self.labels, self.cells, strict=False))
        if worth.difference is not None:
            coverage = worth.difference.coverage
        return {
            **data, "verdict": said(self.verdict), "ratio": worth.ratio_or_none, "matters": worth.matters,
            "error_of_a_difference": worth.error_of_a_difference, "coverage_of_a_difference": coverage,
            "expected": cells, "expected_from": worth.expectation.source, "noise": list(worth.noisy),
        }  # fmt: skip


def said(verdict: Verdict | None) -> str | None:
    """Return a verdict as JSON has it."""
    return None if verdict is None else str(verdict)


def verdict_and_words(worth: Worth, unit: str, left_out: str) -> tuple[Verdict | None, str]:
    """Return a verdict and its sentence: no "good" where something stands in its place."""
    words = worth.sentence(unit)
    if worth.verdict is not Verdict.GOOD or not left_out:
        return worth.verdict, words
    return None, f"{left_out}: of the others, {words.partition(': ')[2]}"


def table_advice(planned: Plan, table: Table, units: int | None) -> TableAdvice:
    """Return the worth of a planned table's worst answer; SpecError for an expectation that it contradicts."""
    expected = _expect_of(planned, table)
    prior = planned.spec.prior if isinstance(planned.spec, PolicyReleaseSpec) else None
    totals = dict(zip(map(id, table.calibrations), table.totals or (), strict=False))
    last_questions = dict(zip(map(id, table.calibrations), table.questions, strict=True))
    is_stand_in = table.scope == "unit" and not planned.knows_units
    several = is_stand_in or len(table.questions) > 1
    # `units` is how many there are; the ± is unknown where nobody knows it
    per_question = units if is_stand_in else 1
    values = values_of(table) * (per_question or 1)
    labels: tuple[str, ...] = ()
    worths: list[tuple[Worth, Calibration]] = []
    for this, question in last_questions.items():
        calibration = question.calibration
        aside = filling(calibration, planned.file.source)
        about = (expected, len(question.readers), prior, totals.get(this), values, several, aside)
        try:
            # kept with the calibration: a release asks before its data are read, before it pays, and for its report
            key = ("worth", repr(about))
            answer = cached(question.of_observed, key, partial(worth_of, question.of_observed, *about))
            worths.append((answer, calibration))
            if isinstance(calibration.randomiser, Noise):
                labels = calibration.problem.answers[0].labels
        except (InputError, Unsupported) as error:
            if isinstance(error, InputError) and error.where[:1] == ("expect",):
                raise SpecError([error]) from None
            reason, joint = str(error), joint_of(table, per_question)
            return TableAdvice(noise_of(table), (), None, table.measured_in, reason, joint)
    least, noisiest = max(worths, key=lambda pair: pair[0].ratio)
    joint = joint_of(table, per_question, noisiest)
    return TableAdvice(noise_of(table), labels, least, table.measured_in, joint=joint)


def _expect_of(planned: Plan, table: Table) -> ExpectSpec | None:
    """Return a table's expectations in answer units, its own before the file's; none for safe lists."""
    if _is_list(table):
        return None
    expect = _in_units(planned.file, table.item, unit_of(table, planned.file.source))
    if expect is None or table.item.expect is not None:
        return expect
    # what the file's [expect] says of cells belongs to the tables that have them
    cells, elsewhere, left = cells_of(table), set[str](), dict[str, object]()
    for other in planned.tables:
        if other.item.expect is None:
            elsewhere |= cells_of(other)
    are_all_planned = not planned.file.others
    for key in ("values", "shares", "unimportant"):
        names = getattr(expect, key)
        if not isinstance(names, dict | tuple):
            continue
        others = [name for name in names if name not in cells and (name in elsewhere or not are_all_planned)]
        if isinstance(names, tuple):
            kept = tuple(name for name in names if name not in others)
            left[key] = kept if not names or kept else None
        elif len(others) == len(names):
            left[key] = None
    return expect.model_copy(update=left)


def cells_of(table: Table) -> set[str]:
    """Return what the cells of a table are called, or the values that it chooses from."""
    answer = table.calibrations[0].problem.answers[0]
    outcomes = answer.outcomes if isinstance(answer, Candidates) else ()
    return {*answer.labels, *map(str, outcomes)}


def _in_units(file: ReleaseFile, item: Item, unit: Unit) -> ExpectSpec | None:
    with _as_fault_of_file():
        return in_answer_units(item.expect or file.spec.expect, unit)


@contextmanager
def _as_fault_of_file() -> Iterator[None]:
    """Turn impossible expectations into SpecError."""
    try:
        yield
    except InputError as error:
        raise SpecError([error]) from None


def refuse_other_units(file: ReleaseFile, item: Item) -> None:
    """Raise SpecError for units that are impossible before calibration."""
    _in_units(file, item, Unit(item.name, item.measured_in or file.counted_in, file.source))


def refuse_other_names(planned: Plan) -> None:
    """Raise SpecError for cells and units impossible at any sequence length."""
    for table in planned.tables:
        expect, answer = _expect_of(planned, table), table.calibrations[0].problem.answers[0]
        for key in ("values", "shares"):
            numbers = getattr(expect, key, None)
            if isinstance(answer, Additive) and isinstance(numbers, dict):
                with _as_fault_of_file():
                    numbers_for(answer.labels, numbers, key)
        with _as_fault_of_file():
            refuse_no_cells(answer.labels, () if expect is None else expect.unimportant or ())


def _is_list(table: Table) -> bool:
    return all(isinstance(calibration.randomiser, SafeCells) for calibration in table.calibrations)


def worth_of(
    calibration: Calibration,
    expect: ExpectSpec | None,
    people: int = 1,
    prior: PriorSpec | None = None,
    totals: Totals | None = None,
    values: int | None = None,
    is_one_of_several: bool = False,
    aside: Sequence[str] = (),
) -> Worth:
    """Return the worth of one answer about so many people; Unsupported where no honest verdict exists."""
    # `values` of all answers of its table; `totals` adjust them; the cells `aside` are unimportant by default
    noise = calibration.randomiser
    if isinstance(noise, PermuteAndFlip):
        return worth_of_choice(calibration, expect, people)
    if isinstance(noise, SafeCells):
        return worth_of_list(noise, prior)
    if noise.output.is_column:
        raise Unsupported(
            "each row is randomised by itself, so that it hides from which population it comes and not its own value, "
            "which may come out as it is; what a table made of these rows is worth depends on how many it counts"
        )
    if not isinstance(noise, Noise):
        raise Unsupported(f"{calibration.mechanism} does not add noise to a number that is as likely too low as high")
    expectation = expectation_of(calibration, expect, people)
    cells = None
    if expectation.cells is not None and noise.cells > 1 and not is_mean_of_cells(calibration.query):
        answer = calibration.problem.answers[0]
        error = half_width(noise, values or noise.cells)
        unimportant = aside
        if expect is not None and expect.unimportant is not None:
            unimportant = expect.unimportant
        if error is not None:
            is_signed = not (isinstance(answer, Additive) and answer.is_count)
            counts = (answer.labels, expectation.cells, float(error), unimportant)
            cells = cells_that_count(*counts, is_one_of_several, is_signed)
            expectation = replace(expectation, counting=cells.values)
    return worth(noise, expectation, totals, is_one_of_several, cells)


def poorest(tables: Sequence[TableAdvice]) -> TableAdvice | None:
    """Return the table of least worth, if any has a verdict."""
    judged = [table for table in tables if table.worth is not None]
    return max(judged, key=lambda table: table.ratio, default=None)


def advice_of(planned: Plan, units: int | None = None, left_out: str | None = None) -> tuple[TableAdvice, ...]:
    """Return the worth of every table of a plan, in order; `units` is as for one table (`table_advice`)."""
    lists = list(filter(_is_list, planned.tables))
    with _as_fault_of_file():  # what is expected of a list is unused, and of a file if all its tables are lists
        for table in lists:
            if table.item.expect is not None:
                refuse_unused(table.item.expect, ("table", planned.file.items.index(table.item), "expect"))
        if planned.spec.expect is not None and lists and len(lists) == len(planned.tables):
            refuse_unused(planned.spec.expect, ("expect",))
    # the words in place of the verdict "good"
    if left_out is None:
        left_out = in_place_of_good(planned.file)
    advice = tuple(replace(table_advice(planned, table, units), left_out=left_out) for table in planned.tables)
    names_read = len(planned.unit_names)
    if names_read:
        with _as_fault_of_file():
            for place, item in enumerate(planned.file.items):
                refuse_more_people(item.expect, names_read, ("table", place, "expect"))
            refuse_more_people(planned.spec.expect, names_read, ("expect",))
    return advice
