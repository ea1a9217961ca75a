"""Records of several columns: one row per unit, under a Bayesian network or a joint table."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from takifugu.core.errors import TakifuguError
from takifugu.data import Bins, Table
from takifugu.data.rows.layout import natural
from takifugu.model.queries.sections import spelled
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.kind import ReleaseFile, Unit, undeclared
from takifugu.releasing.file.reading import Texts, binned, bins_of, called, texts, value_of, wrong
from takifugu.releasing.file.records.kind import Records
from takifugu.releasing.file.records.sections import RecordReleaseSpec, bins_problems
from takifugu.releasing.file.sections import AboutUnits


class Columned(Records):
    """A kind of which every unit has one row, with a column for each entry of the belief."""

    facts = replace(Records.facts, of_belief=True, believed=AboutUnits, roles={"unit": "person"})

    @property
    def hides(self) -> str:  # type: ignore[override]
        return "variable" if self.names == ("network",) else "attribute"

    def shape_faults(self, spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
        if spec.source.unit is not None and spec.belief.units_independent is not True:
            yield undeclared("unit")
        yield from bins_problems(spec.source, columns=True)

    def assumptions(self, file: ReleaseFile) -> Iterator[str | Fact]:
        spec = file.sections(RecordReleaseSpec)
        yield from super().assumptions(file)
        if spec.source.unit is not None:
            whose = f"another {file.people.one}'s"
            yield f"no column that this or another release of the source reads holds what is {whose}"

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the rows by unit, one without a unit column."""
        source = file.sections(RecordReleaseSpec).source
        unit, names = source.unit, [str(name) for name in file.belief.names]
        columns_read = names if unit is None else [unit, *names]
        rows = texts(file.table, columns_read)
        if unit is not None and source.null_keys == "drop":
            rows = [row for row in rows if row[0] is not None]
        if not rows:
            raise wrong("file", "the data has no rows", rule="nothing can be released")
        if unit is None and len(rows) != 1:
            fix = 'write unit = "<the column that says whose row it is>"'
            raise wrong("unit", "the data has several rows", fix=fix)
        columns = [(name, spelled(file.belief.alphabet(i)), bins_of(source, name)) for i, name in enumerate(names)]
        if unit is None:
            return (Unit(None, _record(file.table, columns, rows[0])),)
        whose = called("unit", unit, "person", [row[0] for row in rows], may_drop=True)
        if len(whose) != len(rows):
            raise wrong("unit", f"column {unit!r} names a person twice", rule="every person has one row")
        units = [Unit(whose[str(row[0])], _record(file.table, columns, row[1:]), row[0]) for row in rows]
        return tuple(sorted(units, key=lambda person: natural(person.name)))


#: A column with its values by their texts, and its bins.
_Column = tuple[str, Mapping[str, Hashable], Bins | None]


def _record(table: Table, columns: Sequence[_Column], row: Texts) -> dict[str, Hashable]:
    """Return the values of a row, as the belief spells them."""
    record = dict[str, Hashable]()
    for text, (name, values, bins) in zip(row, columns, strict=True):
        record[name] = value_of(binned(text, name, bins, table.numerals), name, values, table)
    return record

