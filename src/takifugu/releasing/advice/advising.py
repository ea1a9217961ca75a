"""`takifugu advise`: the verdict on every table of a release file, before anything is read, drawn or paid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from takifugu.analysis.randomisers import Noise
from takifugu.core.errors import InputError, SpecError, Unsupported
from takifugu.releasing.advice.expecting import expectation_of
from takifugu.releasing.advice.worth import Worth, worst, worth
from takifugu.releasing.planning.plan import Plan, Table

if TYPE_CHECKING:
    from takifugu.releasing.file.sections import ExpectSpec


@dataclass(frozen=True)
class TableAdvice:
    """What one table is worth; without a worth, `reason` says why there is no verdict."""

    name: str
    scope: str
    labels: tuple[str, ...]
    worth: Worth | None
    measured_in: str = ""
    reason: str = ""

    @property
    def sentence(self) -> str:
        return f"no verdict: {self.reason}" if self.worth is None else self.worth.sentence(self.measured_in)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, in answer units."""
        data: dict[str, Any] = {"name": self.name, "scope": self.scope, "sentence": self.sentence}
        if self.worth is None:
            return {**data, "verdict": None}
        one, expected = self.worth, self.worth.expectation
        return {
            **data, "verdict": str(one.verdict), "ratio": one.ratio_or_none, "matters": one.matters,
            "error_of_a_cell": one.cell.width,
            "error_of_a_difference": None if one.difference is None else one.difference.width,
            "expected": None if expected.cells is None else dict(zip(self.labels, expected.cells, strict=False)),
            "expected_from": expected.source,
        }  # fmt: skip


def table_advice(table: Table, expect: ExpectSpec | None = None) -> TableAdvice:
    """Return what a planned table is worth: that of its worst answer; its own [expect] goes before the file's.

    Raises SpecError for an expectation that the table contradicts.
    """
    item: Any = table.item
    expected = expect if item.expect is None else item.expect
    people = {id(q.calibration): len(q.readers) for q in table.questions}
    labels: tuple[str, ...] = ()
    worths = []
    for calibration in {id(one): one for one in table.calibrations}.values():
        try:
            expectation = expectation_of(calibration, expected, people[id(calibration)])
            noise = calibration.randomiser
            if not isinstance(noise, Noise):
                raise Unsupported(f"{calibration.mechanism} does not add noise to a number")
            worths.append(worth(noise, expectation))
            labels = calibration.problem.answers[0].labels
        except InputError as error:
            raise SpecError([error]) from None
        except Unsupported as error:
            return TableAdvice(table.name, table.scope, (), None, item.measured_in or "", str(error))
    return TableAdvice(table.name, table.scope, labels, worst(worths), item.measured_in or "")


def poorest(tables: Sequence[TableAdvice]) -> tuple[TableAdvice, Worth] | None:
    """Return the table that is worth least, by which a file is judged; None where no table has a verdict."""
    judged = [(table, table.worth) for table in tables if table.worth is not None]
    return max(judged, key=lambda pair: pair[1].ratio, default=None)


def advice_of(planned: Plan) -> tuple[TableAdvice, ...]:
    """Return what every table of a plan is worth, in the file's order."""
    return tuple(table_advice(table, planned.spec.expect) for table in planned.tables)
