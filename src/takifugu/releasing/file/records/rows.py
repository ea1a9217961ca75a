"""Rows with names: a unit each, with a column for each entry, or an entry each of a belief about all."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from takifugu.core.errors import TakifuguError
from takifugu.core.names import natural
from takifugu.core.sections import written
from takifugu.data import Bins, Table
from takifugu.model.beliefs import Belief
from takifugu.model.queries.sections import spelled
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.problems import broken, fault, undeclared
from takifugu.releasing.file.reading import (
    Texts,
    binned,
    bins_of,
    called,
    columns_of,
    names_in,
    no_lookalikes,
    texts,
    texts_in,
    value_of,
    wrong,
)
from takifugu.releasing.file.records.kind import NAMED, RecordReleaseSpec, Records, bins_problems
from takifugu.releasing.file.sections import AboutUnits


class Columned(Records):
    """A kind of which every unit has one row, with a column for each entry of the belief."""

    facts = replace(Records.facts, of_belief=True, believed=AboutUnits, roles=("unit",))

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
            another = f"another {file.people.one}'s"
            yield f"no column that this or another release of the source reads holds what is {another}"

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the rows by unit, one without a unit column."""
        source = file.sections(RecordReleaseSpec).source
        unit, names = source.unit, [*map(str, file.belief.names)]
        columns, cells = columns_of(file.table, [*names_of(unit), *names]), list[list[str | None]]()
        if unit is not None:
            cells.append(names_in(columns.pop(0), unit, file.table))
        cells += [texts_in(column, file.table) for column in columns]
        rows = list(zip(*cells, strict=True))
        if unit is not None and source.null_keys == "drop":
            rows = [row for row in rows if row[0] is not None]
        if not rows:
            raise wrong("file", "the data has no rows", rule="nothing can be released")
        if unit is None and len(rows) != 1:
            fix = 'write unit = "<the column that says whose row it is>"'
            raise wrong("unit", "the data has several rows", fix=fix)
        kinds = [(name, spelled(file.belief.alphabet(i)), bins_of(source, name)) for i, name in enumerate(names)]
        if unit is None:
            return (Unit(None, _record(file.table, kinds, rows[0])),)
        whose = called("unit", unit, [row[0] for row in rows], may_drop=True)
        if len(whose) != len(rows):
            raise wrong("unit", f"column {unit!r} names a person twice", rule="every person has one row")
        units = [Unit(whose[str(row[0])], _record(file.table, kinds, row[1:]), row[0]) for row in rows]
        return tuple(sorted(units, key=lambda person: natural(person.name)))


#: A column with its values by their texts, and its bins.
_Column = tuple[str, Mapping[str, Hashable], Bins | None]


def _record(table: Table, columns: Sequence[_Column], row: Texts) -> dict[str, Hashable]:
    """Return the values of a row, as the belief spells them."""
    record = dict[str, Hashable]()
    for text, (name, values, bins) in zip(row, columns, strict=True):
        record[name] = value_of(binned(text, name, bins, table.numerals), name, values, table)
    return record


_NAMELESS = "is missing", 'write unit = "<the column with the name of each person>"'


class SingleValues(Records):
    """A kind whose rows are the entries of the belief, found by their name where entries have one."""

    reads, hides = ("value",), "person"
    facts = replace(Records.facts, is_one_unit=True, roles=("unit", "value"))

    def shape_faults(self, spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
        source, kind = spec.source, spec.belief.kind
        has_several, needs_names = isinstance(source.value, tuple), kind in NAMED
        yield from broken(
            (source.value is None, "source.value", "is missing", 'write value = "<the column with their value>"'),
            (source.unit is None and needs_names, "source.unit", *_NAMELESS),
            (has_several, "source.value", "names several columns, and a value is in one", "name the one"),
        )  # fmt: skip
        if not has_several:
            yield from bins_problems(source, columns=False)

    def misfits(self, spec: RecordReleaseSpec, belief: Belief) -> Iterator[TakifuguError]:
        yield from super().misfits(spec, belief)
        if belief.names is not None:
            yield from broken((spec.source.unit is None, "source.unit", *_NAMELESS))
            return
        for key in written(spec.source, ("unit", "null_keys")):
            problem = "is given, and the belief names nobody: a row is any of its entries"
            yield fault(("source", key), problem, "leave it out")

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return all rows as one unit, by name or in their order."""
        belief, source, once = file.belief, file.sections(RecordReleaseSpec).source, "every person has one row"
        column, value = str(source.unit), str(source.value)  # which `shape_faults` and `misfits` require
        if belief.names is None:
            rows = texts(file.table, [value])
            if len(rows) != belief.size:
                raise wrong("file", "the data must have one row for each entry of the belief", fix="check both")
            return (Unit(None, [_value(file, text, value, entry) for entry, (text,) in enumerate(rows)]),)
        rows = texts(file.table, [column, value])
        if source.null_keys == "drop":
            rows = [row for row in rows if row[0] is not None]
        names = called("unit", column, [name for name, _ in rows], may_drop=True)
        values: dict[str, Hashable] = {}
        for person, text in rows:
            name = names[str(person)]
            if name in values:
                raise wrong("unit", f"column {column!r} names somebody twice", rule=once)
            if name not in belief.names:
                no_lookalikes(file.table, column, belief.names, "unit")
                problem = "the data has somebody whom the belief does not know"
                fix = "name them in [belief]"
                if "people" in type(file.spec.belief).model_fields:
                    people = "with the names of those whom its own file does not name"
                    fix = f'write people = ["Ana"] under [belief], {people}'
                raise wrong("unit", problem, fix=fix)
            values[name] = _value(file, text, value, belief.position(name))
        if len(values) < belief.size:
            raise wrong("unit", "somebody of the belief is not in the data", rule=once)
        return (Unit(None, values),)


def _value(file: ReleaseFile, text: str | None, column: str, entry: int) -> Hashable:
    """Return the value of an entry as the column spells it."""
    read = binned(text, column, bins_of(file.source), file.table.numerals)
    return value_of(read, column, spelled(file.belief.alphabet(entry)), file.table)
