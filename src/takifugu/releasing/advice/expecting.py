"""What the cells of an answer are expected to be: what [expect] says, else the means of the first belief.

The difference that matters may be in a reader's own units: "2 h" of steps of 10 minutes is 12.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any

from takifugu.analysis.questions.expected_answer import expected_answer
from takifugu.core.errors import InputError, Unsupported
from takifugu.data.lookalikes import Lookalikes
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Histogram, Query
from takifugu.model.queries.answer import Additive
from takifugu.model.queries.coding import states_of
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.releasing.advice.contradicting import largest_difference, refuse_impossible, rows_read, share_of_rows
from takifugu.releasing.advice.worth import Expectation
from takifugu.releasing.file.sections import size_that_matters
from takifugu.releasing.file.sequences.sections import SourceSpec, seconds_in, seconds_of_step
from takifugu.releasing.planning.questions import Observed

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.model.queries.resolving.real_columns import ColumnSums
    from takifugu.releasing.file.sections import ExpectSpec
    from takifugu.releasing.planning.plan import Table

_PER_ONE = {"row": "rows", "step": "steps"}


def expectation_of(calibration: Calibration, expect: ExpectSpec | None = None, people: int = 1) -> Expectation:
    """Return an answer's expectation in answer units: [expect], else the means of the first belief."""
    # Unsupported where nothing says it, and InputError, with the key, for one that the answer contradicts
    cells, source = None, "" if expect is None else expect.source
    with undecided("a mean", expect) if is_mean_of_cells(calibration.query) else nullcontext():
        try:
            cells, source = _expected(calibration, expect, people)  # which refuses what contradicts the table
        except Unsupported:
            if declared(expect) is None:
                raise
    matters = declared(expect, cells)
    expected = Expectation(cells, matters, source, largest_difference(calibration))
    if not matters and not expected.varies:
        raise Unsupported("0 is expected, so that no share of it can matter", fix="write matters in [expect]")
    return expected


@contextmanager
def undecided(what: str, expect: ExpectSpec | None) -> Iterator[None]:
    """Refuse a number of which no share matters by itself, unless [expect] says which difference does."""
    refusal = Unsupported(f"nothing says which difference of {what} matters", fix="write matters in [expect]")
    if expect is None:
        raise refusal
    if expect.matters is not None:
        yield
        return
    # a contradiction to [expect] is told first
    with suppress(Unsupported):
        yield
    raise refusal


def filling(calibration: Calibration, source: Any) -> tuple[str, ...]:
    """Return the cells of the state that fills steps without rows, beside which the others are few."""
    query = calibration.query.of_each_cell
    state = source.default_state if isinstance(source, SourceSpec) else None
    if state is None or not isinstance(query, Histogram):
        return ()
    labels, framework = calibration.problem.answers[0].labels, calibration.framework
    states = [*map(str, query.states or states_of(framework.beliefs[0] if framework.beliefs else framework.domain))]
    filled = tuple(label for place, label in enumerate(labels) if states[place % len(states)] == str(state))
    return filled if len(filled) < len(labels) else ()


def _expected(
    calibration: Calibration, expect: ExpectSpec | None, people: int
) -> tuple[tuple[float, ...], str]:
    """Return the expected cells, and their source. Raises Unsupported without a source."""
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
    return means_of(calibration, expect, times)


def means_of(calibration: Calibration, expect: ExpectSpec | None, times: float) -> tuple[tuple[float, ...], str]:
    """Return the means of the first belief, so many times, and their source. Raises Unsupported without a mean."""
    belief = first_belief(calibration)
    try:
        means = expected_answer(belief, calibration.problem.answers[0]).tolist()
    except InputError as error:  # a mean that cannot be found is no fault of the file
        raise Unsupported(str(error)) from None
    source = f"the means of {belief.describe()}"
    if expect is not None and (expect.people or expect.rows):
        source = f"{source}, for the people and rows of {expect.source}"
    return tuple(mean * times for mean in means), source


def declared(expect: ExpectSpec | None, cells: Sequence[float] | None = None) -> float | None:
    """Return the declared important difference, if any, resolving per cents of the mean of `cells`."""
    if expect is None or expect.matters is None:
        return None
    size, unit = size_that_matters(expect.matters)
    if unit != "%":
        return float(size)
    if cells is None:
        raise Unsupported("nothing says what the per cent that matter are of", fix="write matters as a number")
    return float(size) / 100 * abs(math.fsum(cells)) / len(cells)


def first_belief(calibration: Calibration) -> Belief:
    """Return the belief behind expected means. Raises Unsupported where nothing is believed."""
    if not calibration.framework.beliefs:
        raise Unsupported("nothing is believed about the data", fix="write values in [expect]")
    return calibration.framework.beliefs[0]


def is_mean_of_cells(query: Query) -> bool:
    """Return whether each cell is a mean. The size of a mean says nothing of how well it is known."""
    whole_query = query.query if isinstance(query, Observed) else query
    return whole_query.of_each_cell.is_mean


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
    rows = float(size * answer.grid if total is None else total) * times
    return tuple(share * rows for share in numbers_for(answer.labels, shares, "shares"))


def numbers_for(labels: Sequence[str], numbers: Mapping[str, Number], key: str) -> tuple[float, ...]:
    """Return one number for each cell. Raises InputError for unknown cells and for missing ones."""
    odd = [label for label in numbers if label not in labels]
    lacking = [label for label in labels if label not in numbers]
    if odd or lacking:
        fault = f"names {odd[0]!r}, which is no cell of the table" if odd else f"has no number for {lacking[0]!r}"
        like = Lookalikes(labels)(odd[0]) if odd else None
        if like is not None:  # two texts may look the same and not be
            fault += f" but looks like {like!r}: copy it from where it is declared"
        raise InputError(fault, fix=f"write one for each of {list(labels)[:8]}").at("expect", key)
    return tuple(float(as_fraction(numbers[label], "an expected number", "expect", key)) for label in labels)


@dataclass(frozen=True)
class Unit:
    """What the values of a table about a source are in; `counts_rows` says that they are numbers of rows."""

    table: str
    measured_in: str
    source: Any
    counts_rows: bool = True

    @property
    def step(self) -> int | float | str | None:
        return self.source.step if isinstance(self.source, SourceSpec) else None

    @property
    def known(self) -> str:
        """Return the permitted units in words."""
        units = [self.measured_in] if self.measured_in else []
        if self.counts_rows:
            units += [value for value in _PER_ONE.values() if value not in units]
            units += ["a time such as 2 h"] if seconds_of_step(self.step) is not None else []
        examples = list[str]()
        for unit in units:
            examples.append(unit if " " in unit else f"one with {unit!r}")
        return ", ".join(["a number", *examples, 'or one with "%"'])


def unit_of(table: Table, source: Any) -> Unit:
    """Return the unit of a planned table's values."""
    answers = chain.from_iterable(calibration.problem.answers for calibration in table.calibrations)
    counts_rows = all(isinstance(answer, Additive) and answer.is_whole_count for answer in answers)
    return Unit(table.name, table.measured_in, source, counts_rows)


def in_answer_units(expect: ExpectSpec | None, unit: Unit) -> ExpectSpec | None:
    """Return the expectation with its important difference in answer units; per cents stay per cents."""
    if expect is None or expect.matters is None:
        return expect
    size, unit_word = size_that_matters(expect.matters)
    if unit_word in ("", "%"):
        return expect
    times = _times(unit_word.casefold(), unit)
    if times is None:
        fault = f"is {expect.matters!r}, and {unit_word!r} is nothing that the table {unit.table} is measured in"
        may_have_steps = isinstance(unit.source, SourceSpec) and unit.counts_rows
        is_time = may_have_steps and seconds_in(unit_word.casefold()) is not None
        lacking = '; a time needs a step that is one, such as step = "10min" under [source]' if is_time else ""
        raise InputError(fault, fix=f"write {unit.known}{lacking}").at("expect", "matters")
    return expect.model_copy(update={"matters": str(size * times)})


def _times(unit_word: str, unit: Unit) -> Fraction | None:
    """Return the answer units per written unit, None for other units."""
    measured = unit.measured_in.casefold()
    if unit_word == measured or unit_word + "s" == measured:
        return Fraction(1)
    if unit.counts_rows and _PER_ONE.get(unit_word, unit_word) in _PER_ONE.values():
        return Fraction(1)
    seconds, of_one = seconds_in(unit_word), seconds_in(measured)
    if seconds is None:
        return None
    if of_one is not None:
        return seconds / of_one
    of_a_step = seconds_of_step(unit.step) if unit.counts_rows else None
    return None if of_a_step is None else seconds / of_a_step
