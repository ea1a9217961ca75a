"""Rows with names: a unit each, with a column for each entry, or an entry each of a belief about all."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from takifugu.core.assumptions import world
from takifugu.core.column_words import people_of
from takifugu.core.errors import TakifuguError
from takifugu.core.names import natural
from takifugu.core.sections import written
from takifugu.data import meant
from takifugu.data.relation.answers import Answers
from takifugu.data.relation.keys import Column
from takifugu.data.relation.types import state_of
from takifugu.data.values.bins import Listed
from takifugu.model.beliefs import Belief
from takifugu.model.queries.sections import spelled
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.problems import broken, fault, undeclared
from takifugu.releasing.file.published_words import people_named
from takifugu.releasing.file.reading import bins_of, placed_at, telling_all, wrong
from takifugu.releasing.file.records.kind import (
    NAMED,
    RecordReleaseSpec,
    Records,
    bins_problems,
    unknown_value,
)
from takifugu.releasing.file.sections import AboutUnits


def _values_of_columns(spec: RecordReleaseSpec, belief: Belief) -> Sequence[Listed]:
    return [
        bins_of(spec.source, str(name)) or list(spelled(belief.alphabet(entry)))
        for entry, name in enumerate(belief.names or ())
    ]


class Columned(Records):
    """A kind of which every unit has one row, with a column for each entry of the belief."""

    facts = replace(
        Records.facts, of_belief=True, believed=AboutUnits, known=_values_of_columns,
        read_by=lambda spec, belief: ({**spec.source.read(), "value": [*map(Column, belief.names or ())]}, (), ()),
    )  # fmt: skip

    @property
    def hides(self) -> str:  # type: ignore[override]
        return "variable" if self.names == ("network",) else "attribute"

    def shape_faults(self, spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
        if spec.source.unit is not None and spec.belief.units_independent is not True:
            yield undeclared("unit", people_of(spec.source.unit, spec.source.called).one)
        yield from bins_problems(spec.source, columns=True)

    def assumptions(self, file: ReleaseFile) -> Iterator[Fact]:
        spec = file.sections(RecordReleaseSpec)
        yield from super().assumptions(file)
        if spec.source.unit is not None:
            another = f"another {file.people.one}'s"
            yield world(f"No column that this or another release of the source reads holds what is {another}.")

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the rows by unit, one without a unit column."""
        spec = file.sections(RecordReleaseSpec)
        unit = spec.source.unit
        with telling_all(file.table):
            answers = file.table.listed()
        if unit is None and len(answers.rows) != 1:
            fix = 'write unit = "<the column that says whose row it is>"'
            raise wrong("unit", "the data has several rows", fix=fix)
        rules = _values_of_columns(spec, file.belief)
        columns = [
            (str(name), spelled(file.belief.alphabet(entry)), rule)
            for entry, (name, rule) in enumerate(zip(file.belief.names, rules, strict=True))
        ]
        records = [
            {column[0]: _value(code, *column) for code, column in zip(codes, columns, strict=True)}
            for codes in answers.codes.tolist()
        ]
        if unit is None:
            return (Unit(None, records[0]),)
        whose = _called(answers, unit)
        units = [Unit(whose[name], record) for name, record in zip(answers.units, records, strict=True)]
        return tuple(sorted(units, key=lambda person: natural(person.name or "")))


_NAMELESS = "is missing", 'write unit = "<the column with the name of each person>"'


def _values_of_all(spec: RecordReleaseSpec, belief: Belief) -> Sequence[Listed]:
    texts: dict[str, Any] = {}
    for entry in range(belief.size):
        texts |= spelled(belief.alphabet(entry))
    return [bins_of(spec.source) or list(texts)]


class SingleValues(Records):
    """A kind whose rows are the entries of the belief, found by their name where entries have one."""

    reads, hides = ("value",), "person"
    facts = replace(Records.facts, is_one_unit=True, known=_values_of_all)

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
            yield from people_named(spec.source, belief.names, chain(*self.values(belief)))
            return
        for key in written(spec.source, ("unit",)):
            problem = "is given, and the belief names nobody: a row is any of its entries"
            yield fault(("source", key), problem, "leave it out")

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return all rows as one unit, by name or in their order."""
        belief, spec, once = file.belief, file.sections(RecordReleaseSpec), "every person has one row"
        column, value = str(spec.source.unit), str(spec.source.value)  # which `shape_faults` and `misfits` require
        (known,) = _values_of_all(spec, belief)
        with telling_all(file.table):
            answers = file.table.listed()

        def value_of(row: int, entry: int) -> Hashable:
            return _value(int(answers.codes[row, 0]), value, spelled(belief.alphabet(entry)), known)

        if belief.names is None:
            if len(answers.rows) != belief.size:
                raise wrong("file", "the data must have one row for each entry of the belief", fix="check both")
            return (Unit(None, [value_of(entry, entry) for entry in range(belief.size)]),)
        names = _called(answers, column)
        values: dict[str, Hashable] = {}
        for row, person in enumerate(answers.units):
            name = names[person]
            if name not in belief.names:
                with placed_at("unit"):
                    file.table.refuse_lookalikes(belief.names, "unit", "unit")
                problem = "the data has somebody whom the belief does not know"
                fix = "name them in [belief]"
                if "people" in type(file.spec.belief).model_fields:
                    people = "with the names of those whom its own file does not name"
                    fix = f'write people = ["Ana"] under [belief], {people}'
                raise wrong("unit", problem, fix=fix)
            values[name] = value_of(row, belief.position(name))
        if len(values) < belief.size:
            raise wrong("unit", "somebody of the belief is not in the data", rule=once)
        return (Unit(None, values),)


def _value(code: int, column: str, values: Mapping[str, Hashable], known: Listed) -> Hashable:
    """Return the belief's value of a code; DataError for one of another entry, or of bins alone."""
    text = state_of(known, code)
    if text not in values:
        raise unknown_value(column, values)
    return values[text]


def _called(answers: Answers, column: str) -> dict[str, str]:
    """Return the canonical names of all people."""
    with placed_at("unit"):
        rows = (answers.rows - 1).tolist()
        return meant(zip(answers.units.tolist(), rows, strict=True), column, "unit")
