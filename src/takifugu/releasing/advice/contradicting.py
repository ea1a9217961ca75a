"""What [expect] cannot say: more people or rows than there are, or what no data that the belief allows give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from takifugu.analysis.questions.expected_answer import EXPECTED_ANSWER, expected_answer
from takifugu.analysis.questions.likely_range import log_chance_of_reaching
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.escaping import number
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Query
from takifugu.model.queries.answer import Additive
from takifugu.model.queries.choices.candidates import Candidates
from takifugu.releasing.planning.questions import Observed

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.model.queries.resolving.real_columns import ColumnSums
    from takifugu.releasing.file.sections import ExpectSpec

#: What floats may lose of a sum, as a share of what a cell can be.
_ROUNDING = 1e-9
#: What is expected may be off by this share of all that a cell can count, and is refused only if even then it is nearly
#: certain not to come: beliefs are rough, and numbers are rounded.
_ROUGHLY, _NEVER = 0.25, 1e-9
_FIX = "count those that this table reads"


def rows_read(query: Query, belief: Belief) -> int:
    """Return the number of observed rows behind a query."""
    if isinstance(query, Observed):
        return int(query.runs.values @ query.runs.lengths)
    return belief.size if query.entries is None else len(query.entries)


def share_of_rows(expect: ExpectSpec, query: Query, belief: Belief, readers: int) -> float:
    """Return the expected share of a query's rows. Raises InputError for more rows than there are."""
    size, believed = rows_read(query, belief), EXPECTED_ANSWER.of(belief)(belief).people
    if believed is None:
        believed = readers
    rows = Fraction(size, believed) if expect.rows is None else Fraction(expect.rows)
    if believed != readers and expect.people is not None and expect.people > believed:
        fault = f"{expect.people:,} people are more than the {believed:,} that the belief is about"
        raise InputError(fault, fix=_FIX).at("expect", "people")
    counted_people = believed if expect.people is None or believed == 1 else expect.people
    if rows * counted_people > size:
        key = "rows" if expect.rows is not None and expect.rows * believed > size else "people"
        rows_each = f"{counted_people} people with {number(rows)} rows each"
        fault = f"{rows_each} are more than the {size:,} rows that the table reads"
        raise InputError(fault, fix=_FIX).at("expect", key)
    return float(rows * counted_people / size)


def refuse_more_people(expect: ExpectSpec | None, units: int, where: tuple[str | int, ...]) -> None:
    """Raise InputError for more people than the data's `units`, if known."""
    if expect is not None and expect.people is not None and expect.people > units:
        fault = f"{expect.people:,} people are more than the {units:,} that the data have"
        raise InputError(fault, fix="count those whose rows this table reads").at(*where, "people")


def refuse_impossible(calibration: Calibration, cells: Sequence[float], key: str, share: float = 1.0) -> None:
    """Raise InputError for expected cells, in answer units, that are impossible under the beliefs."""
    answer = calibration.problem.answers[0]
    _refuse_out_of_range(calibration, answer, cells, key)
    if not isinstance(answer, Additive) or not answer.is_count:
        return
    grid, total, most = float(answer.grid), answer.constant_sum(), answer.cell_bounds()[1]
    read = math.fsum(most) if total is None else float(total / answer.grid)
    counted = [value / grid for value in cells]
    # cells that count rows count no more than the `share` of the expected people
    refuse_more_rows(math.fsum(counted), read, share, "in all cells", key)
    for label, value, high in zip(answer.labels, counted, most, strict=True):
        refuse_more_rows(value, float(high), share, f"in {label!r}", key)
    try:
        # without a belief there is one answer, about the domain
        pairs = zip(calibration.framework.beliefs, calibration.problem.answers, strict=False)
        means = [expected_answer(belief, belief_answer) for belief, belief_answer in pairs]
    except TakifuguError:
        return  # what has no mean makes nothing impossible
    for label, value, *expected in zip(answer.labels, cells, *means, strict=True):
        if value > 0 and expected and not any(expected):
            fault = f"{number(value)} is expected in {label!r}, which the belief makes impossible"
            raise InputError(fault, fix="write 0, or a belief that allows it").at("expect", key)
    if means:
        _refuse_unlikely(calibration, answer, counted, np.max(means, axis=0) / grid, most, key)


def _refuse_unlikely(
    calibration: Calibration, answer: Additive, counted: Sequence[float], means: FloatArray, most: IntArray, key: str
) -> None:
    """Raise InputError for expected cells too large for every belief; counts and means are in rows."""
    # too small a cell is no contradiction: rows may be missing
    low, grid = np.asarray(counted) - _ROUGHLY * most, float(answer.grid)
    cell = int(np.argmax((low - means) / np.maximum(most, 1)))
    if low[cell] <= means[cell]:
        return
    pairs = zip(calibration.framework.beliefs, calibration.problem.answers, strict=True)
    chances = [log_chance_of_reaching(belief, of_belief, cell, float(low[cell])) for belief, of_belief in pairs]
    if max(chances) < math.log(_NEVER):
        label, value = answer.labels[cell], number(counted[cell] * grid)
        fault = f"{value} is expected in {label!r}, where the belief expects {number(float(means[cell]) * grid)}"
        why = f"even {number(float(low[cell]) * grid)} would have a probability below 1e-9"
        raise InputError(f"{fault}: {why}", fix="see to the order of the states, or declare what you believe").at(
            "expect", key
        )


def _refuse_out_of_range(
    calibration: Calibration, answer: Additive | ColumnSums, cells: Sequence[float], key: str
) -> None:
    reach = _ends(calibration, answer)
    if reach is None:
        return
    for label, value, low, high in zip(answer.labels, cells, *reach, strict=True):
        slack = _ROUNDING * (high - low)
        if not low - slack <= value <= high + slack:
            why, fix = "which is all that it can be", "write what it can be"
            if isinstance(answer, Additive) and answer.is_count:
                why, fix = "the rows that it can count", _FIX
            fault = f"{number(value)} in {label!r} is not from {number(low)} to {number(high)}, {why}"
            raise InputError(fault, fix=fix).at("expect", key)


def largest_difference(calibration: Calibration) -> float:
    """Return the largest difference of two cells, or of one's values, in answer units; infinite if unbounded."""
    answer = calibration.problem.answers[0]
    ends = _ends(calibration, answer)
    return math.inf if ends is None else float(ends[1].max() - ends[0].min())


def _ends(calibration: Calibration, answer: Additive | ColumnSums) -> tuple[FloatArray, FloatArray] | None:
    """Return the least and largest possible cells, if bounded. Both are in answer units."""
    if type(answer) is Additive:
        low, high = answer.cell_bounds()
        return low.astype(float) * float(answer.grid), high.astype(float) * float(answer.grid)
    beliefs = calibration.framework.beliefs
    return EXPECTED_ANSWER.of(beliefs[0])(beliefs[0]).ends(answer) if beliefs else None


def refuse_more_rows(rows: float, read: float, share: float, place: str, key: str) -> None:
    """Raise InputError for more rows than the expected people have. `share` is their share of all rows."""
    if rows > read * share * (1 + _ROUNDING):
        whose = "that the table reads" if share == 1 else "of the people and rows that are expected"
        fault = f"{number(rows)} {place} are more than the {number(read * share)} rows {whose}"
        raise InputError(fault, fix=_FIX).at("expect", key)


def refuse_more_often(answer: Candidates, counts: Sequence[float], key: str, share: float) -> None:
    """Raise InputError for expected counts below 0 or above the rows."""
    read = int(np.count_nonzero(answer.weights))
    for outcome, value in zip(answer.outcomes, counts, strict=True):
        if not 0 <= value <= read:
            fault = f"{value:,g} of {str(outcome)!r} is not from 0 to {read:,}, the rows that the table reads"
            raise InputError(fault, fix=_FIX).at("expect", key)
    refuse_more_rows(math.fsum(counts), read, share, "in all", key)
