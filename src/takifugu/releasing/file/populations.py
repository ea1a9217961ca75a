"""Release files that randomise a column: their sections, rules and populations, and how their rows are read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from takifugu.analysis.questions.coded_rows import CodedRows
from takifugu.calibration.registry import find
from takifugu.core.arrays import FloatArray
from takifugu.core.assumptions import public, world
from takifugu.core.column_words import people_of
from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.plain import toml_of
from takifugu.data import meant
from takifugu.data.relation.visits import Grid
from takifugu.data.values.bins import Known
from takifugu.data.values.texts import not_numbers, number_in
from takifugu.mechanisms.local.held_out import halves_of, held_out
from takifugu.mechanisms.local.populations import populations_of
from takifugu.model.beliefs.counted_populations import samples_of
from takifugu.model.beliefs.declared_populations import PopulationsSection, ReferenceRows
from takifugu.model.beliefs.populations import About, FromPopulations
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import LocalValue, Query
from takifugu.model.queries.sections import EACH_ROW, spelled
from takifugu.model.secrets.of_populations import population_membership
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.keys import Answers, Positive, Text, meaning, names_of
from takifugu.releasing.file.kind import Kind, ReleaseFile, Unit
from takifugu.releasing.file.problems import broken, undeclared
from takifugu.releasing.file.public import Public
from takifugu.releasing.file.reading import cells_on, coded, misplaced, placed_at, wrong
from takifugu.releasing.file.relation_keys import RelationKeys, key
from takifugu.releasing.file.sections import AboutUnits, FileSpec, Table, numbered
from takifugu.releasing.file.shape import Shape


class PopulationSourceSpec(RelationKeys):
    """Where the private rows are: a person's values, or places, one per row; nobody is covered without a row."""

    rows: Answers = "answers"
    value: Annotated[Text | tuple[Text, Text], key("value", "activity", ["longitude", "latitude"])]
    rows_per_person: Annotated[Positive, key("rows_per_person")]
    nulls: ClassVar[None] = None  # type: ignore[misc, assignment]
    roster: ClassVar[None] = None  # type: ignore[misc]

    @property
    def names_rows(self) -> bool:
        return self.entries is not None

    @property
    def value_columns(self) -> tuple[str, ...]:
        return names_of(self.value)


class PopulationItemSpec(Table):
    """A randomised column to publish."""

    @property
    def scope(self) -> str:
        """One table has the rows of all persons."""
        return "pooled"


class PopulationReleaseSpec(FileSpec):
    """A release file that randomises a column."""

    source: Annotated[PopulationSourceSpec, meaning("where the private data are")]
    belief: Any
    table: tuple[PopulationItemSpec, ...]

#: The mechanism that cuts its noise at a radius.
_RESTRICTED = "restricted-laplace"


def _known(spec: PopulationReleaseSpec, belief: FromPopulations) -> Sequence[Known]:
    """Return the values of a column, or the ends of the box by axis."""
    section: PopulationsSection = spec.belief.meant
    if section.box is None:
        return [tuple(spelled(belief.values))]
    return Grid(*section.box.ends).bins if isinstance(spec.source.value, tuple) else ()


class Populations(Kind):
    """Rows of people whose population is hidden; one table holds what is sent for each row."""

    facts = Shape(EACH_ROW, PopulationReleaseSpec, PopulationItemSpec, AboutUnits, known=_known)

    def shape(self, spec: PopulationReleaseSpec, folder: Path, data: object) -> Iterator[TakifuguError]:
        source, belief = spec.source, spec.belief
        places = isinstance(source.value, tuple)
        if isinstance(source.value, tuple) and belief.box is not None:
            boxes = (("belief", "box", "first"), ("belief", "box", "second"))
            ends = (belief.box.first, belief.box.second)
            yield from misplaced(source.value, ends, boxes)
        with_places = "write it with two columns in source.value"
        with_value = "write the values that a row may have, with one column in source.value"
        yield from broken(
            (places and belief.box is None, "belief.box", "is missing: places lie in a declared box", with_places),
            (not places and belief.box is not None, "belief.box", "belongs to places", with_places),
            (places and belief.values is not None, "belief.values", "belongs to a column of values", with_value),
            (not places and belief.values is None, "belief.values", "is missing", with_value),
        )
        if source.unit is not None and belief.units_independent is not True:
            yield undeclared("unit", people_of(source.unit, source.called).one)
        for number, item in numbered(spec.table):
            yield from _table_faults(item, f"table.{number}")

    def framework_of(self, spec: PopulationReleaseSpec, belief: FromPopulations) -> Framework:
        return Pufferfish(population_membership(spec.belief.meant.metric), belief)

    def query_of(self, file: ReleaseFile, item: Any) -> Query:
        """Return the query of one table, with its columns and the name of its rows."""
        source = file.sections(PopulationReleaseSpec).source
        return LocalValue(item.dummies, source.entries or "", source.value_columns, item.radius)

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the persons with all rows; DataError for rule-breaking data."""
        source = file.sections(PopulationReleaseSpec).source
        section: PopulationsSection = file.spec.belief.meant
        roles = [f"value{number}" for number, _ in enumerate(source.value_columns)]
        with placed_at():
            file.table.check_rows()
            read = list(zip(*file.table.texts([*roles, *(["unit"] if source.unit else []), "row"]), strict=True))
            numbers = [*map(int, read[-1])]
            columns = source.value_columns
            if section.box is None:
                coalesced, cases = (toml_of(sql.format(columns[0])) for sql in ("coalesce({}, ...)", "CASE {} ... END"))
                fixes = f"value = {coalesced} with a declared value", f"value = {cases}, or declare it"
                codes = coded(read[0], file.belief.values, columns[0], fixes, numbers)
            else:
                first, second = (_numbers_of(read[axis], numbers, columns[axis]) for axis in (0, 1))
                codes = cells_on(section.box, columns, first, second, numbers)
            if source.unit is None:
                return (Unit(None, CodedRows(codes)),)
            names = [*map(str, read[-2])]
            unit_names = meant(((name, row - 1) for name, row in zip(names, numbers, strict=True)), source.unit, "unit")
        if max(Counter(unit_names[name] for name in names).values()) > source.rows_per_person:
            raise wrong(
                "rows_per_person", "a person has more rows than this says",
                rule="each row more would tell more than the promise covers",
                fix="keep fewer rows of each person, or declare more",
            )  # fmt: skip
        rows = CodedRows(codes)
        return tuple(Unit(name, rows) for name in sorted({*unit_names.values()}))

    def data(self, file: ReleaseFile, item: Table, query: Query, units: Sequence[Unit]) -> object:
        return units[0].data  # all persons' rows, in their order

    def remarks(self, file: ReleaseFile, item: Any, mechanism: str, noise: object = None) -> Iterator[str]:
        """Yield a mechanism's leakage on held-out public data, when compared."""
        section: PopulationsSection = file.spec.belief.meant
        belief = file.belief
        if section.reference is None or not belief.adds_up or noise is not None:
            return
        read = section.reference_rows(Public(file.folder, file.source), belief.values)
        half, others = halves_of(read.rows, read.people)
        terms: About = {"scales": belief.scales, "measure": belief.measure, "supports": "align"}
        try:
            samples = samples_of(others[0], len(belief.values), others[1])
            laws = dict[str, Any]()  # of these very rows, without smoothing
            for name, sample in samples.items():
                laws[name] = dict(zip(belief.values, sample.smoothed(Fraction(0)), strict=True))
            halves = (
                populations_of(section.counted_in(ReferenceRows(*half), belief.values, **terms)),
                populations_of(FromPopulations(laws, **terms)),
            )
        except TakifuguError:
            return  # a half has too few rows
        if set(halves[0].laws) != set(halves[1].laws):
            return
        epsilon, delta = (as_fraction(part, "a budget") / belief.rows for part in (item.epsilon, item.delta))
        if (leakage := held_out(halves, mechanism, epsilon, delta, item.dummies, item.radius)) is not None:
            yield leakage.words(mechanism, epsilon, read.people is not None)

    def assumptions(self, file: ReleaseFile) -> Iterator[Fact]:
        spec = file.sections(PopulationReleaseSpec)
        yield public("How many rows there are, and their order, is public.")
        if spec.source.unit is None:
            yield world(f"No column names the {file.people.one} of a row, and nobody has more rows than declared.")
        if spec.source.entries is not None:
            yield world(f"No row of {spec.source.entries!r} is under another name, too.")
        yield from super().assumptions(file)


def _numbers_of(texts: Sequence[str | None], rows: Sequence[int], column: str) -> FloatArray:
    """Return coordinates, NaN where there is none; DataError, with the row, for another text."""
    numbers = np.full(len(texts), math.nan)
    for place, text in enumerate(texts):
        if text is None:
            continue
        number = number_in(text)
        if number is None:
            sql = f"nullif({column}, 'NA')"
            fix = f"value = {toml_of([sql, '...'])}, with the text that stands for a missing value"
            raise not_numbers(column, fix).about(f"row {rows[place]}").at("value")
        numbers[place] = number
    return np.where(np.isfinite(numbers), numbers, math.nan)


def _table_faults(item: Any, place: str) -> Iterator[TakifuguError]:
    mechanism = item.mechanism
    if mechanism != "auto":
        try:
            mechanism = find(mechanism, "distribution").name
        except InputError:
            mechanism = ""  # said of the mechanism itself
    has_dummies, fix = item.dummies > 0, 'write dummies = 10 with mechanism = "tupling"'
    yield from broken(
        (mechanism == "tupling" and not has_dummies, f"{place}.dummies",
         "is missing: tupling sends a value among dummies", fix),
        (mechanism not in ("auto", "tupling") and has_dummies, f"{place}.dummies", "belongs to tupling", fix),
        (item.radius is not None and mechanism not in ("auto", "tupling", _RESTRICTED), f"{place}.radius",
         "cuts no noise of this mechanism", f'write mechanism = "{_RESTRICTED}"'),
        (item.radius is None and mechanism == _RESTRICTED, f"{place}.radius", "is missing: noise is cut there",
         "write how far a value may be moved"),
        (has_dummies and not as_fraction(item.delta, "delta"), f"{place}.delta",
         "is 0, and dummies never improve a pure promise: all of them may be the least likely value",
         "write delta = 1e-3"),
    )  # fmt: skip
