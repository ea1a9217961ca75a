"""Records of several columns: one row per unit, under a Bayesian network or a joint table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from takifugu.core.errors import TakifuguError
from takifugu.data import Bins, Table, totals
from takifugu.data.rows.layout import natural
from takifugu.model.beliefs.estimate import checked_source, point_estimate
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.networks.network_files import read_network
from takifugu.model.beliefs.table import JointTable
from takifugu.model.queries.sections import spelled
from takifugu.releasing.file.kind import ReleaseFile, Unit, undeclared
from takifugu.releasing.file.problems import about, fault
from takifugu.releasing.file.records.binning import binned, bins_of, bins_problems
from takifugu.releasing.file.records.declared_table import declared_table, table_faults
from takifugu.releasing.file.records.kind import Records
from takifugu.releasing.file.records.reading import Texts, called, texts, value_of, wrong
from takifugu.releasing.file.records.sections import RecordBelief, RecordReleaseSpec, TableFitSpec
from takifugu.releasing.file.same_data import FIT_ELSEWHERE, GIVE_PUBLIC, IS_PRIVATE, is_one_of, same_rows
from takifugu.releasing.file.source import open_public, private_files


class Columned(Records):
    """A kind of which every unit has one row, with a column for each entry of the belief."""

    has_columns, believed = True, RecordBelief
    roles: ClassVar[Mapping[str, str]] = {"unit": "person"}

    def shape_faults(self, spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
        if spec.source.unit is not None and getattr(spec.belief, "units_independent", None) is not True:
            yield undeclared("unit")
        yield from bins_problems(spec.source, columns=True)

    def assumptions(self, file: ReleaseFile) -> Iterator[str]:
        spec: Any = file.spec
        yield from super().assumptions(file)
        if spec.source.unit is not None:
            yield "no column that this or another release of the source reads holds what is another unit's"

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the rows by unit; without a unit column there is one."""
        source: Any = file.source
        unit, names = source.unit, [str(name) for name in file.belief.names]
        rows = texts(file.table, [*([] if unit is None else [unit]), *names])
        if unit is not None and source.null_keys == "drop":
            rows = [row for row in rows if row[0] is not None]
        if not rows:
            raise wrong("file", "the data has no rows", rule="nothing can be released")
        known = {name: spelled(file.belief.alphabet(i)) for i, name in enumerate(names)}
        read = partial(_record, known=known, bins={n: bins_of(source, n) for n in names}, table=file.table)
        if unit is None:
            if len(rows) != 1:
                fix = 'write unit = "<the column that names the unit>"'
                raise wrong("unit", "the data has several rows", fix=fix)
            return (Unit(None, read(rows[0])),)
        whose = called("unit", unit, "unit", [row[0] for row in rows])
        if len(whose) != len(rows):
            raise wrong("unit", f"column {unit!r} names a unit twice", rule="every unit has one row")
        units = [Unit(whose[str(row[0])], read(row[1:]), row[0]) for row in rows]
        return tuple(sorted(units, key=lambda one: natural(one.name)))


class _Network(Columned):
    names, hides = ("network",), "variable"

    def belief(self, spec: Any, folder: Path) -> BayesianNetwork:
        with about("file"):
            return read_network(folder / spec.belief.file, spec.belief.source)

    def private_files(self, spec: Any, folder: Path, data: Any) -> Iterator[TakifuguError]:
        if is_one_of(folder / spec.belief.file, private_files(spec.source, folder, data)):
            yield fault(("belief", "file"), IS_PRIVATE, GIVE_PUBLIC)


class _Table(Columned):
    names, hides = ("table",), "attribute"

    def shape_faults(self, spec: Any) -> Iterator[TakifuguError]:
        yield from super().shape_faults(spec)
        yield from table_faults(spec.belief)

    def belief(self, spec: Any, folder: Path) -> JointTable:
        given = spec.belief
        with about(*([] if given.fit is None else ["fit"])):
            if given.fit is None:
                return declared_table(given)
            return _counted(given.fit, given.source, spec.source, folder)

    def private_files(self, spec: Any, folder: Path, data: Any) -> Iterator[TakifuguError]:
        fit = spec.belief.fit
        private = private_files(spec.source, folder, data)
        if fit is not None and not fit.private and is_one_of(folder / fit.file, private):
            yield fault(("belief", "fit", "file"), IS_PRIVATE, FIT_ELSEWHERE)

    def reveals(self, spec: Any, folder: Path, table: Table) -> Iterator[TakifuguError]:
        fit = spec.belief.fit
        if fit is None or fit.private:
            return
        if same_rows(open_public(fit, spec.source, folder / fit.file), table, fit.columns):
            what = "counts what the private data counts, row by row"
            yield fault(("belief", "fit", "file"), what, FIT_ELSEWHERE)


def _counted(fit: TableFitSpec, origin: str, source: Any, folder: Path) -> JointTable:
    """Return the empirical distribution of some columns of a file of records, with exact masses count / total."""
    public, counts = open_public(fit, source, folder / fit.file), Counter[Texts]()
    bins = {name: bins_of(source, name) for name in fit.columns}
    for group in totals(public, [], by=fit.columns):
        cells = zip(group.key, fit.columns, strict=True)
        counts[tuple(binned(text, name, bins[name], public.numerals) for text, name in cells)] += group.rows
    source_text = point_estimate(checked_source(f"{origin}; counted in {fit.file}", fit.private))
    return JointTable.from_counts(list(counts), list(counts.values()), fit.columns, source=source_text)


def _record(
    row: Texts, known: Mapping[str, Mapping[str, Any]], bins: Mapping[str, Bins | None], table: Table
) -> dict[str, Any]:
    cells = zip(row, known.items(), strict=True)
    return {
        name: value_of(binned(text, name, bins[name], table.numerals), name, values, table)
        for text, (name, values) in cells
    }


NETWORK, TABLE = _Network(), _Table()
