"""The difference that matters, as a reader says it, in the units of an answer: "2 h" of steps of 10 minutes is 12."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import InputError
from takifugu.model.queries.additive import Additive
from takifugu.releasing.file.expectations import size_that_matters
from takifugu.releasing.file.sequences.measured import seconds_in, seconds_of_step

if TYPE_CHECKING:
    from takifugu.releasing.file.sections import ExpectSpec
    from takifugu.releasing.planning.plan import Table

_PER_ONE = {"row": "rows", "step": "steps"}


def in_answer_units(expect: ExpectSpec | None, table: Table, step: Any) -> ExpectSpec | None:
    """Return the same with a difference that matters in answer units; per cent of the expected mean stay per cent.

    `step` is how long a step of the source is, None without one. Raises InputError for a unit that is none of the
    table's.
    """
    if expect is None or expect.matters is None:
        return expect
    size, unit = size_that_matters(expect.matters)
    if unit in ("", "%"):
        return expect
    times = _times(unit.casefold(), table, step)
    if times is None:
        what = f"is {expect.matters!r}, and {unit!r} is nothing that the table {table.name} is measured in"
        raise InputError(what, fix=f"write {_known(table, step)}").at("expect", "matters")
    return expect.model_copy(update={"matters": str(size * times)})


def _times(unit: str, table: Table, step: Any) -> Fraction | None:
    """Return how many answer units one of a unit is; None for a unit that is none of the table's."""
    measured = table.measured_in.casefold()
    if unit == measured or unit + "s" == measured:
        return Fraction(1)
    if _counts_rows(table) and _PER_ONE.get(unit, unit) in _PER_ONE.values():
        return Fraction(1)
    seconds, of_one = seconds_in(unit), seconds_in(measured)
    if seconds is None:
        return None
    if of_one is not None:
        return Fraction(seconds, of_one)
    of_a_step = seconds_of_step(step) if _counts_rows(table) else None
    return None if of_a_step is None else seconds / of_a_step


def _counts_rows(table: Table) -> bool:
    answers = [answer for one in table.calibrations for answer in one.problem.answers]
    return all(isinstance(answer, Additive) and answer.is_count for answer in answers)


def _known(table: Table, step: Any) -> str:
    """Return what may be written, in words."""
    units = [table.measured_in] if table.measured_in else []
    if _counts_rows(table):
        units += [one for one in _PER_ONE.values() if one not in units]
        units += ["a time such as 2 h"] if seconds_of_step(step) is not None else []
    return ", ".join(["a number", *(one if " " in one else f"one with {one!r}" for one in units), 'or one with "%"'])
