"""What the cells of an answer are expected to be: what [expect] says, else the means of the first belief."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from takifugu.analysis.questions.expected_answer import expected_answer
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.escaping import number
from takifugu.model.beliefs import Belief
from takifugu.model.queries import By, Mean, Query
from takifugu.model.queries.additive import Additive
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.releasing.advice.worth import Expectation

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.releasing.file.sections import ExpectSpec


def expectation_of(calibration: Calibration, expect: ExpectSpec | None = None, people: int = 1) -> Expectation:
    """Return what is expected of an answer about so many people, in answer units.

    `expect` is the section that says so; what it leaves out are the means of the first belief. Raises Unsupported where
    nothing says what to expect, and InputError, with the key, for an expectation that the answer contradicts.
    """
    answer = calibration.problem.answers[0]
    matters = declared(expect)
    if matters is None and _is_mean(calibration.query):
        raise Unsupported("nothing says which difference of a mean matters", fix="write matters in [expect]")
    if expect is not None and expect.values is not None:
        cells = _by_label(_valued(expect.values, answer), answer, "values")
        _check_possible(cells, answer)
        return Expectation(cells, matters, expect.source)
    size = calibration.framework.beliefs[0].size if calibration.framework.beliefs else 0
    times = 1.0 if expect is None else share_of_rows(expect, size, people)
    if _is_mean(calibration.query):
        times = 1.0  # it is one of the rows, however many there are
    if expect is not None and expect.shares is not None:
        cells = _by_label(expect.shares, answer, "shares")
        return Expectation(tuple(share * size * times for share in cells), matters, expect.source)
    try:
        means = _means(calibration, answer)
    except Unsupported:
        if matters is None:
            raise
        return Expectation(None, matters, expect.source if expect is not None else "")
    source = f"the means of {calibration.framework.beliefs[0].describe()}"
    if expect is not None and (expect.people or expect.rows):
        source = f"{source}, for the people and rows of {expect.source}"
    expected = Expectation(tuple(mean * times for mean in means), matters, source)
    if matters is None and not expected.varies:
        raise Unsupported("0 is expected, so that no share of it can matter", fix="write matters in [expect]")
    return expected


def declared(expect: ExpectSpec | None) -> float | None:
    """Return the difference that matters to the reader, where it is declared."""
    return None if expect is None or expect.matters is None else float(as_fraction(expect.matters, "what matters"))


def first_belief(calibration: Calibration) -> Belief:
    """Return the belief whose means are expected; Unsupported where nothing is believed."""
    if not calibration.framework.beliefs:
        raise Unsupported("nothing is believed about the data", fix="write values in [expect]")
    return calibration.framework.beliefs[0]


def _is_mean(query: Query) -> bool:
    return isinstance(query.query if isinstance(query, By) else query, Mean)


def _means(calibration: Calibration, answer: Additive) -> tuple[float, ...]:
    if type(answer) is not Additive:
        raise Unsupported(f"{calibration.query.describe()} is no sum over rows", fix="write values in [expect]")
    means: list[float] = expected_answer(first_belief(calibration), answer).tolist()
    return tuple(means)


def share_of_rows(expect: ExpectSpec, size: int, people: int) -> float:
    """Return how many of the rows that the belief is about are expected; InputError for more than there are."""
    rows = size / people if expect.rows is None else float(expect.rows)
    counted = people if expect.people is None or people == 1 else expect.people
    if rows * counted > size:
        key = "rows" if expect.rows is not None and expect.rows > size / people else "people"
        raise InputError(
            f"{counted} people with {rows:g} rows each are more than the {size:,} rows that the table reads",
            fix="count those that this table reads",
        ).at("expect", key)
    return rows * counted / size


def _check_possible(cells: Sequence[float], answer: Additive) -> None:
    """Refuse counts of more rows than the table reads, or of fewer than none: in one cell, or in all together."""
    if not answer.is_count:
        return
    fix = "count those that this table reads"
    for label, value, most in zip(answer.labels, cells, answer.cell_ranges(), strict=True):
        if not 0 <= value <= most:
            what = f"{value:,g} in {label!r} is not from 0 to {most:,}, the rows that it can count"
            raise InputError(what, fix=fix).at("expect", "values")
    total = answer.constant_sum()
    if total is not None and math.fsum(cells) > total:
        what = f"{math.fsum(cells):,g} in all cells are more than the {number(total)} rows that the table reads"
        raise InputError(what, fix=fix).at("expect", "values")


def _valued(values: Number | Mapping[str, Number], answer: Additive) -> Mapping[str, Number]:
    if isinstance(values, Mapping):
        return values
    if len(answer.labels) != 1:
        raise InputError(
            f"is one number, and the table has {len(answer.labels)} cells", fix="write a value for each cell"
        ).at("expect", "values")
    return {answer.labels[0]: values}


def _by_label(given: Mapping[str, Number], answer: Additive, key: str) -> tuple[float, ...]:
    return numbers_for(answer.labels, given, key)


def numbers_for(labels: Sequence[str], given: Mapping[str, Number], key: str) -> tuple[float, ...]:
    """Return one number for each cell; InputError for cells that are not there, or have none."""
    odd = [label for label in given if label not in labels]
    lacking = [label for label in labels if label not in given]
    if odd or lacking:
        what = f"names {odd[0]!r}, which is no cell of the table" if odd else f"has no number for {lacking[0]!r}"
        raise InputError(what, fix=f"write one for each of {list(labels)[:8]}").at("expect", key)
    return tuple(float(as_fraction(given[label], "an expected number")) for label in labels)
