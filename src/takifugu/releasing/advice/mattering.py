"""The difference that matters, as a reader says it, in the units of an answer: "2 h" of steps of 10 minutes is 12."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING

from takifugu.core.errors import InputError
from takifugu.model.queries.additive import Additive
from takifugu.releasing.file.expectations import size_that_matters
from takifugu.releasing.file.sequences.measured import seconds_in, seconds_of_step
from takifugu.releasing.file.sequences.source import SourceSpec

if TYPE_CHECKING:
    from takifugu.releasing.file.expectations import ExpectSpec
    from takifugu.releasing.file.sections import SourceKeys
    from takifugu.releasing.planning.plan import Table

_PER_ONE = {"row": "rows", "step": "steps"}


@dataclass(frozen=True)
class Unit:
    """What the values of a table about a source are in; `counts_rows` says that they are numbers of rows."""

    table: str
    measured_in: str
    source: SourceKeys
    counts_rows: bool = True

    @property
    def has_steps(self) -> bool:
        """Return whether a source of this kind can have a step."""
        return isinstance(self.source, SourceSpec)

    @property
    def step(self) -> int | float | str | None:
        return self.source.step if isinstance(self.source, SourceSpec) else None

    @property
    def known(self) -> str:
        """Return the permitted units in words."""
        units = [self.measured_in] if self.measured_in else []
        if self.counts_rows:
            units += [unit for unit in _PER_ONE.values() if unit not in units]
            units += ["a time such as 2 h"] if seconds_of_step(self.step) is not None else []
        examples = list[str]()
        for unit in units:
            examples.append(unit if " " in unit else f"one with {unit!r}")
        return ", ".join(["a number", *examples, 'or one with "%"'])


def unit_of(table: Table, source: SourceKeys) -> Unit:
    """Return the unit of a planned table's values."""
    answers = chain.from_iterable(calibration.problem.answers for calibration in table.calibrations)
    counts_rows = all(isinstance(answer, Additive) and answer.is_count for answer in answers)
    return Unit(table.name, table.measured_in, source, counts_rows)


def in_answer_units(expect: ExpectSpec | None, unit: Unit) -> ExpectSpec | None:
    """Return the expectation with its important difference in answer units.

    Per cent of the expected mean stay per cent. Raises InputError for a unit that is none of the table's.
    """
    if expect is None or expect.matters is None:
        return expect
    size, unit_word = size_that_matters(expect.matters)
    if unit_word in ("", "%"):
        return expect
    times = _times(unit_word.casefold(), unit)
    if times is None:
        fault = f"is {expect.matters!r}, and {unit_word!r} is nothing that the table {unit.table} is measured in"
        is_time = unit.has_steps and unit.counts_rows and seconds_in(unit_word.casefold()) is not None
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
        return Fraction(seconds, of_one)
    of_a_step = seconds_of_step(unit.step) if unit.counts_rows else None
    return None if of_a_step is None else seconds / of_a_step
