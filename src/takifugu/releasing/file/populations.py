"""Release files that randomise a column: their sections, rules and populations, and how their rows are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from takifugu.analysis.questions.coded_rows import CodedRows
from takifugu.calibration.registry import find
from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.mechanisms.local.held_out import halves_of, held_out
from takifugu.mechanisms.local.populations import populations_of
from takifugu.model.beliefs.counted_populations import samples_of
from takifugu.model.beliefs.declared_populations import PopulationsSection, ReferenceRows
from takifugu.model.beliefs.populations import About, FromPopulations
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import EachValue, Query
from takifugu.model.queries.sections import EACH_ROW
from takifugu.model.secrets.of_populations import which_population
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.keys import Answers, Positive, Text, meaning, names_of
from takifugu.releasing.file.kind import Kind, ReleaseFile, Unit, assumed
from takifugu.releasing.file.problems import broken, never_read, undeclared
from takifugu.releasing.file.public import Public
from takifugu.releasing.file.reading import (
    are_degrees,
    called,
    codes_of,
    columns_of,
    misplaced,
    names_in,
    wrong,
)
from takifugu.releasing.file.sections import AboutUnits, FileSpec, SourceKeys
from takifugu.releasing.file.shape import Shape
from takifugu.releasing.file.tables import Table, numbered


class PopulationSourceSpec(SourceKeys):
    """Where the private rows are: a person's values, or places, one per row."""

    rows: Answers = "answers"
    unit: Annotated[Text | None, meaning("the column that says whose row it is", "person")] = None
    value: Annotated[
        Text | tuple[Text, Text],
        meaning(
            "the column with the values, or the two with the coordinates of a place", "activity",
            ["longitude", "latitude"],
        ),
    ]
    rows_per_person: Annotated[Positive, meaning("the most rows that a person may have; one with more is refused", 1)]
    entries: Annotated[Text | None, meaning("a name for these rows: no row has two such names", "2026-03")] = None

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


class Populations(Kind):
    """Rows of people whose population is hidden; one table holds what is sent for each row."""

    facts = Shape(
        EACH_ROW,
        PopulationReleaseSpec,
        "releasing.file.drafting.shapes:each_row",
        PopulationItemSpec,
        AboutUnits,
        roles=("value", "unit"),
        named=("unit", "value"),
    )

    def shape(self, spec: PopulationReleaseSpec, folder: Path, data: object) -> Iterator[TakifuguError]:
        source, belief = spec.source, spec.belief
        places = isinstance(source.value, tuple)
        if isinstance(source.value, tuple) and belief.box is not None:
            boxes = (("belief", "box", "first"), ("belief", "box", "second"))
            ends = (belief.box.first, belief.box.second)
            yield from misplaced(source.value, ends, ("source", "value"), boxes)
        with_places = "write it with two columns in source.value"
        with_value = "write the values that a row may have, with one column in source.value"
        yield from broken(
            (places and belief.box is None, "belief.box", "is missing: places lie in a declared box", with_places),
            (not places and belief.box is not None, "belief.box", "belongs to places", with_places),
            (places and belief.values is not None, "belief.values", "belongs to a column of values", with_value),
            (not places and belief.values is None, "belief.values", "is missing", with_value),
        )
        if source.unit is not None and belief.units_independent is not True:
            yield undeclared("unit")
        for number, item in numbered(spec.table):
            yield from _table_faults(item, f"table.{number}")

    def misfits(self, spec: PopulationReleaseSpec, belief: FromPopulations) -> Iterator[TakifuguError]:
        if not belief.is_planar:
            yield from never_read(("belief", "values"), belief.values, spec.source.missing)

    def framework_of(self, spec: PopulationReleaseSpec, belief: FromPopulations) -> Framework:
        return Pufferfish(which_population(spec.belief.meant.metric), belief)

    def query_of(self, file: ReleaseFile, item: Any) -> Query:
        """Return the query of one table, with its columns and the name of its rows."""
        source = file.sections(PopulationReleaseSpec).source
        return EachValue(item.dummies, source.entries or "", source.value_columns, item.radius)

    def in_degrees(self, file: ReleaseFile) -> bool:
        columns, grid = file.sections(PopulationReleaseSpec).source.value, file.spec.belief.meant.grid
        return isinstance(columns, tuple) and (grid.in_degrees or are_degrees(columns))

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the persons with all rows; DataError for rule-breaking data."""
        source = file.sections(PopulationReleaseSpec).source
        section: PopulationsSection = file.spec.belief.meant
        names = [*source.value_columns]
        if source.unit is not None:
            names.append(source.unit)
        read = columns_of(file.table, names)
        if not read[0]:
            raise wrong("file", "the data has no rows", rule="nothing can be released")
        try:
            rows = CodedRows(codes_of(read, names, file.table, file.belief.values, section.grid))
        except DataError as error:
            raise error.at("source").placed() from None
        if source.unit is None:
            return (Unit(None, rows),)
        people = names_in(read[-1], source.unit, file.table)
        unit_names = called("unit", source.unit, people)
        if max(Counter(unit_names[str(name)] for name in people).values(), default=0) > source.rows_per_person:
            raise wrong(
                "rows_per_person", "a person has more rows than this says",
                rule="each row more would tell more than the promise covers",
                fix="keep fewer rows of each person, or declare more",
            )  # fmt: skip
        unit_texts = {name: raw for raw, name in unit_names.items()}
        return tuple(Unit(name, rows, unit_texts[name]) for name in sorted(unit_texts))

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

    def assumptions(self, file: ReleaseFile) -> Iterator[str | Fact]:
        spec = file.sections(PopulationReleaseSpec)
        yield "how many rows there are, and their order, is public"
        if spec.source.unit is not None:
            yield "which persons there are is public"
            yield "the persons are independent of each other"
        else:
            yield "nothing in the data says whose row it is, and nobody has more rows than declared"
        if spec.source.entries is not None:
            yield f"no row of {spec.source.entries!r} is under another name, too"
        yield from assumed(spec.belief)


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
