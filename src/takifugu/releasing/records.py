"""From a release file of records to calibrated questions: one belief for every unit, so one calibration per release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from takifugu.calibration import Calibration, compare
from takifugu.errors import CalibrationRefused
from takifugu.laws.rationals import Number
from takifugu.releasing.planning import Compared, Priced, Table, Watch, calibrated_beside_others
from takifugu.releasing.questions import Question
from takifugu.spec.records.build import record_query
from takifugu.spec.records.checks import RecordFile
from takifugu.spec.records.data import Record, records_of
from takifugu.spec.records.sections import RecordItemSpec, RecordReleaseSpec, TableSpec


@dataclass(frozen=True, eq=False)
class RecordPlan:
    """What a release file of records would publish: calibrated, nothing drawn. It holds the private records."""

    file: RecordFile
    records: tuple[Record, ...] = field(repr=False)
    tables: tuple[Table, ...]
    assumptions: tuple[str, ...]

    @property
    def spec(self) -> RecordReleaseSpec:
        return self.file.spec

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(r.name for r in self.records if r.name is not None)


def plan_records(file: RecordFile, watch: Watch, with_data: bool = True) -> RecordPlan:
    """Calibrate every answer and read the records; without `with_data` one question stands for those of all units.

    Raises SpecError and DataError for data that break a rule, CalibrationRefused where no mechanism may be used.
    """
    records: tuple[Record, ...] = (Record(None, None),)
    if with_data:
        watch("reading the data", 0, 1)
        records = records_of(file)
    tables = []
    for number, item in enumerate(file.spec.release):
        watch(f"calibrating {item.name}", number, len(file.spec.release))
        made = _calibrated(file, item)
        questions = [
            Question(item.name, r.name, made, r.data, {r.name or "": file.framework}, {r.name or "": r.written or ""})
            for r in records
        ]
        tables.append(Table(item.name, file.scope, item, tuple(questions)))
    return RecordPlan(file, records, tuple(tables), tuple(_assumptions(file)))


def compare_records(file: RecordFile, watch: Watch) -> Iterator[Compared]:
    """Yield every mechanism side by side for each release; the data are not read."""
    for number, item in enumerate(file.spec.release):
        watch(f"comparing mechanisms for {item.name}", number, len(file.spec.release))
        query, only = record_query(item, file.belief), file.spec.source.only_release
        rows = compare(file.framework, query, item.epsilon, item.delta, only)
        yield Compared(item.name, file.scope, None, rows)


def price_records(file: RecordFile, epsilons: Sequence[Number], watch: Watch) -> Iterator[Priced]:
    """Yield what each release would cost at each epsilon instead of its own; the data are not read."""
    work = len(file.spec.release) * len(epsilons)
    for number, item in enumerate(file.spec.release):
        for place, epsilon in enumerate(epsilons):
            watch(f"pricing {item.name}", number * len(epsilons) + place, work)
            made, reason = None, ""
            try:
                made = _calibrated(file, item.model_copy(update={"epsilon": epsilon}))
            except CalibrationRefused as refusal:
                reason = str(refusal)
            yield Priced(item.name, file.scope, None, item, Fraction(epsilon), made, reason)


def _calibrated(file: RecordFile, item: RecordItemSpec) -> Calibration:
    belief = file.spec.belief
    private = isinstance(belief, TableSpec) and belief.fit is not None and belief.fit.private
    query, alone = record_query(item, file.belief), len(file.spec.release) == 1
    return calibrated_beside_others(item, query, file.framework, alone, file.spec.source.only_release, private)


def _assumptions(file: RecordFile) -> Iterator[str]:
    if file.scope == "unit":
        yield "which units there are is public"
        yield "the units are independent of each other"
    if file.spec.belief.kind == "users":
        yield "how many users the belief is about is public"
    for item in file.spec.release:
        if item.variables is not None:
            yield f"that {item.name!r} reads {', '.join(item.variables)}, and no other column, is public"
