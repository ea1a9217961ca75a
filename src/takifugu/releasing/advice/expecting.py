"""What the cells of an answer are expected to be: what [expect] says, else the means of the first belief."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from takifugu.analysis.questions.expected_answer import expected_answer
from takifugu.core.errors import InputError, Unsupported
from takifugu.data.lookalikes import Lookalikes
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Query
from takifugu.model.queries.additive import Additive
from takifugu.model.queries.forms import Averaging, of_each_cell
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.releasing.advice.contradicting import largest_difference, refuse_impossible, rows_read, share_of_rows
from takifugu.releasing.advice.worth import Expectation
from takifugu.releasing.file.expectations import size_that_matters
from takifugu.releasing.planning.observed import Observed

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.model.queries.real_columns import ColumnSums
    from takifugu.releasing.file.expectations import ExpectSpec


def expectation_of(calibration: Calibration, expect: ExpectSpec | None = None, people: int = 1) -> Expectation:
    """Return an answer's expectation in answer units, for so many people.

    `expect` is the section that says so; what it leaves out are the means of the first belief. Raises Unsupported where
    nothing says what to expect, and InputError, with the key, for an expectation that the answer contradicts.
    """
    has_no_default = is_mean_of_cells(calibration.query) and (expect is None or expect.matters is None)
    undecided = Unsupported("nothing says which difference of a mean matters", fix="write matters in [expect]")
    if has_no_default and expect is None:
        raise undecided
    cells = None
    source = "" if expect is None else expect.source
    try:
        cells, source = _expected(calibration, expect, people)  # which refuses what contradicts the table
    except Unsupported:
        if declared(expect) is None and not has_no_default:
            raise
    if has_no_default:
        raise undecided
    matters = declared(expect, cells)
    expected = Expectation(cells, matters, source, largest_difference(calibration))
    if not matters and not expected.varies:
        raise Unsupported("0 is expected, so that no share of it can matter", fix="write matters in [expect]")
    return expected


def _expected(
    calibration: Calibration, expect: ExpectSpec | None, people: int
) -> tuple[tuple[float, ...], str]:
    """Return the expected cells, and their source.

    Raises Unsupported without a source.
    """
    answer = calibration.problem.answers[0]
    beliefs = calibration.framework.beliefs
    times = 1.0 if expect is None or not beliefs else share_of_rows(expect, calibration.query, beliefs[0], people)
    if is_mean_of_cells(calibration.query):
        times = 1.0  # it is one of the rows, however many there are
    if expect is not None and expect.values is not None:
        values = expect.values
        if not isinstance(values, Mapping) and len(answer.labels) == 1:
            values = {answer.labels[0]: values}
        if not isinstance(values, Mapping):
            problem = f"is one number, and the table has {len(answer.labels)} cells"
            raise InputError(problem, fix="write a value for each cell").at("expect", "values")
        cells = numbers_for(answer.labels, values, "values")
        refuse_impossible(calibration, cells, "values", times)
        return cells, expect.source
    if expect is not None and expect.shares is not None:
        rows = rows_read(calibration.query, beliefs[0]) if beliefs else 0
        cells = _of_shares(expect.shares, answer, rows, times)
        refuse_impossible(calibration, cells, "shares")
        return cells, expect.source
    try:
        means = expected_answer(first_belief(calibration), answer).tolist()
    except InputError as error:  # a mean that cannot be found is no fault of the file
        raise Unsupported(str(error)) from None
    source = f"the means of {beliefs[0].describe()}"
    if expect is not None and (expect.people or expect.rows):
        source = f"{source}, for the people and rows of {expect.source}"
    return tuple(mean * times for mean in means), source


def declared(expect: ExpectSpec | None, cells: Sequence[float] | None = None) -> float | None:
    """Return the declared important difference, resolving per cents of the mean.

    None where none is declared. Raises Unsupported for per cents without expected cells.
    """
    if expect is None or expect.matters is None:
        return None
    size, unit = size_that_matters(expect.matters)
    if unit != "%":
        return float(size)
    if cells is None:
        raise Unsupported("nothing says what the per cent that matter are of", fix="write matters as a number")
    return float(size) / 100 * abs(math.fsum(cells)) / len(cells)


def first_belief(calibration: Calibration) -> Belief:
    """Return the belief behind expected means.

    Raises Unsupported where nothing is believed.
    """
    if not calibration.framework.beliefs:
        raise Unsupported("nothing is believed about the data", fix="write values in [expect]")
    return calibration.framework.beliefs[0]


def is_mean_of_cells(query: Query) -> bool:
    """Return whether each cell is a mean.

    The size of a mean says nothing of how well it is known.
    """
    whole_query = query.query if isinstance(query, Observed) else query
    return isinstance(of_each_cell(whole_query), Averaging)


def _of_shares(
    shares: Mapping[str, Number], answer: Additive | ColumnSums, size: int, times: float
) -> tuple[float, ...]:
    """Return cells from their shares of all the rows counted together."""
    if not isinstance(answer, Additive) or not answer.is_count or len(answer.labels) == 1:
        example = f"values, a number for each of {list(answer.labels)[:8]},"
        if len(answer.labels) == 1:
            example = "values = NUMBER"
        problem = "are for tables whose cells count the rows between them"
        raise InputError(problem, fix=f"write {example} instead").at("expect", "shares")
    total = answer.constant_sum()
    rows = float(size if total is None else total) * times
    return tuple(share * rows for share in numbers_for(answer.labels, shares, "shares"))


def numbers_for(labels: Sequence[str], numbers: Mapping[str, Number], key: str) -> tuple[float, ...]:
    """Return one number for each cell.

    Raises InputError for unknown cells and for missing ones.
    """
    odd = [label for label in numbers if label not in labels]
    lacking = [label for label in labels if label not in numbers]
    if odd or lacking:
        fault = f"names {odd[0]!r}, which is no cell of the table" if odd else f"has no number for {lacking[0]!r}"
        like = Lookalikes(labels)(odd[0]) if odd else None
        if like is not None:  # two texts may look the same and not be
            fault += f" but looks like {like!r}: copy it from where it is declared"
        raise InputError(fault, fix=f"write one for each of {list(labels)[:8]}").at("expect", key)
    return tuple(float(as_fraction(numbers[label], "an expected number", "expect", key)) for label in labels)
