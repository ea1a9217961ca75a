"""The kind of release file that randomises a column: its rules, its populations, and how its rows are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from takifugu.analysis.questions.coded_rows import CodedRows
from takifugu.core.errors import DataError, InputError, TakifuguError, within
from takifugu.core.names import normalised
from takifugu.data import Table, missing_states
from takifugu.mechanisms.local.held_out import halves_of, held_out
from takifugu.mechanisms.local.populations import populations_of
from takifugu.model.beliefs.estimate import checked_source
from takifugu.model.beliefs.population_region import samples_of
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import EachValue, Query
from takifugu.model.queries.sections import EACH_ROW, spelled
from takifugu.model.secrets.populations import which_population
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.file.kind import Kind, ReleaseFile, Unit, fitted_to_data, undeclared
from takifugu.releasing.file.populations.draft import draft
from takifugu.releasing.file.populations.places import grid_of, scales_of
from takifugu.releasing.file.populations.reading import Codes, coded, columns_of, most_rows, numbers_in, texts_in
from takifugu.releasing.file.populations.sections import (
    PopulationItemSpec,
    PopulationReleaseSpec,
    PopulationsSpec,
    reference_columns,
)
from takifugu.releasing.file.problems import fault
from takifugu.releasing.file.reading import called
from takifugu.releasing.file.same_data import COUNT_ELSEWHERE, IS_PRIVATE, is_one_of
from takifugu.releasing.file.shape import Shape
from takifugu.releasing.file.source import open_public, private_files


class Populations(Kind):
    """Rows of people whose population is hidden; one table holds what is sent for each row."""

    names = ("populations",)
    facts = Shape(EACH_ROW, PopulationReleaseSpec, draft, PopulationItemSpec, named=("unit", "value", "coordinates"))

    def shape(self, spec: Any, folder: Path, data: Any) -> Iterator[TakifuguError]:
        source, belief = spec.source, spec.belief
        if (source.value is None) == (source.coordinates is None):
            yield fault(("source", "value"), "or coordinates must be given, one of both", 'write value = "activity"')
        places = source.coordinates is not None
        if places != (belief.box is not None):
            what = "is missing: places lie in a declared box" if places else "belongs to places"
            yield fault(("belief", "box"), what, "write it with source.coordinates")
        if places == (belief.values is not None):
            what = "belongs to a column of values" if places else "is missing"
            yield fault(("belief", "values"), what, "write the values that a row may have, with source.value")
        if (belief.laws is None) == (belief.reference is None):
            what = "or reference must be given, one of both"
            yield fault(("belief", "laws"), what, 'write laws = { home = ["0.6", "0.4"], out = ["0.3", "0.7"] }')
        given = belief.reference
        if given is not None and given.value is not None and given.coordinates is not None:
            yield fault(("belief", "reference", "value"), "is given beside coordinates", "write one of both")
        if source.unit is not None and belief.units_independent is not True:
            yield undeclared("unit")
        fresh = given is not None and not given.from_private_data
        if fresh and is_one_of(folder / given.file, private_files(source, folder, data)):
            yield fault(("belief", "reference", "file"), IS_PRIVATE, COUNT_ELSEWHERE)
        for number, item in enumerate(spec.release):
            yield from () if item is None else _table_faults(item, number)

    def belief(self, spec: Any, folder: Path) -> FromPopulations:
        given, source = spec.belief, spec.source
        scales, measure = ((1, 1), "") if given.box is None else scales_of(given.box)
        values: tuple[Any, ...] = given.values if given.box is None else grid_of(given.box).centres
        if given.box is None and len(set(map(str, values))) < len(values):
            raise InputError("repeat a value, or write two alike", fix="write each once").at("values")
        about: dict[str, Any] = {
            "rows": source.rows_per_person, "independent": given.rows_independent, "scales": scales, "measure": measure,
            "supports": given.supports,
        }  # fmt: skip
        if given.reference is None:
            laws = _declared(given, values)
            return FromPopulations(laws, source=checked_source(given.source, False), **about)
        read = reference_rows(given, source, values, folder)
        about["source"] = checked_source(given.source, given.reference.from_private_data)
        return _counted(given, read.rows, read.people, values, about)

    def misfits(self, spec: Any, belief: FromPopulations) -> Iterator[TakifuguError]:
        for text in () if belief.is_planar else missing_states(belief.values, (), spec.source.missing):
            what = f"have the value {text!r}, which counts as missing, so it would never be read"
            yield fault(("belief", "values"), what, "rename it, or remove it from source.missing")

    def framework_of(self, spec: Any, belief: FromPopulations) -> Framework:
        return Pufferfish(which_population(), belief)

    def query_of(self, file: ReleaseFile, item: Any) -> Query:
        """Return the query of one table with the names of what it reads: its columns and its batch."""
        source: Any = file.source
        return EachValue(item.dummies, source.batch or "", source.value_columns)

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the persons, each with all rows; DataError, which names the key, for data that break a rule."""
        source: Any = file.source
        given: Any = file.spec.belief  # type: ignore[attr-defined]
        names = [*source.value_columns, *([] if source.unit is None else [source.unit])]
        read = columns_of(file.table, names)
        if not read[0]:
            raise _blamed(DataError("the data has no rows", rule="nothing can be released").at("file"))
        try:
            rows = CodedRows(_codes(read, names, given, file.belief.values, file.table))
        except DataError as error:
            raise _blamed(error) from None
        if source.unit is None:
            return (Unit(None, rows),)
        people = texts_in(read[-1], file.table)
        spelt = called("unit", source.unit, "person", people)
        if most_rows([spelt[str(name)] for name in people]) > source.rows_per_person:
            raise DataError(
                "a person has more rows than this says", rule="each row more would tell more than the promise covers",
                fix="keep fewer rows of each person, or declare more",
            ).at("source", "rows_per_person").placed()  # fmt: skip
        written = {name: raw for raw, name in spelt.items()}
        return tuple(Unit(name, rows, written[name]) for name in sorted(written))

    def data(self, file: ReleaseFile, item: Any, query: Query, units: Sequence[Unit]) -> Any:
        return units[0].data  # all persons' rows, in their order

    def remarks(self, file: ReleaseFile, item: Any, mechanism: str, noise: Any = None) -> Iterator[str]:
        """Yield what a mechanism gives away on public data that had no part in finding it, for a comparison."""
        given, belief = file.spec.belief, file.belief  # type: ignore[attr-defined]
        if given.reference is None or not belief.adds_up or noise is not None:
            return
        read = reference_rows(given, file.source, belief.values, file.folder)
        half, other = halves_of(read.rows, read.people)
        about = {"scales": belief.scales, "measure": belief.measure, "supports": "align"}
        try:
            halves = (
                populations_of(_counted(given, *half, belief.values, about)),
                populations_of(_as_seen(belief, *other)),
            )
        except TakifuguError:
            return  # a half has too few rows
        if set(halves[0].laws) != set(halves[1].laws):
            return
        epsilon, delta = (as_fraction(part, "a budget") / belief.rows for part in (item.epsilon, item.delta))
        if (seen := held_out(halves, mechanism, epsilon, delta, item.dummies)) is not None:
            yield seen.words(mechanism, epsilon, read.people is not None)

    def assumptions(self, file: ReleaseFile) -> Iterator[str]:
        spec: Any = file.spec
        yield "how many rows there are, and their order, is public"
        if spec.source.unit is not None:
            yield "which persons there are is public"
            yield "the persons are independent of each other"
        else:
            yield "nothing in the data says whose row it is, and nobody has more rows than declared"
        if spec.source.batch is not None:
            yield f"no row of the batch {spec.source.batch!r} is in a batch of another name"
        box = spec.belief.box
        if box is not None:
            yield f"a place counts as the centre of its cell, of {box.cells[0]} x {box.cells[1]} cells of a public box"
        if box is not None and box.outside == "clamp":
            yield "a place outside of the box counts as the nearest one inside"
        given = spec.belief.reference
        if given is not None and not given.from_private_data:
            yield (
                f"the reference file is about other people; {given.smoothing} is added to the count of each value "
                "where losses are averaged"
            )
        if fitted_to_data(spec):
            yield (
                "the populations were counted in the private rows: that these, the table of probabilities and the maps "
                "tell something about them is accepted, and not covered"
            )


def _table_faults(item: Any, number: int) -> Iterator[TakifuguError]:
    where = ("release", number)
    if (item.mechanism == "tupling") != (item.dummies > 0) and item.mechanism != "auto":
        what = "is missing: tupling sends a value among dummies" if not item.dummies else "belongs to tupling"
        yield fault((*where, "dummies"), what, 'write dummies = 10 with mechanism = "tupling"')
    if item.dummies and not Fraction(as_fraction(item.delta, "delta")):
        what = "is 0, and dummies never improve a pure promise: all of them may be the least likely value"
        yield fault((*where, "delta"), what, "write delta = 1e-3")


def _declared(given: PopulationsSpec, values: Sequence[Any]) -> Mapping[str, Mapping[Any, Any]]:
    laws = {}
    for name, masses in (given.laws or {}).items():
        if len(masses) != len(values):
            raise InputError(
                f"has {len(masses)} probabilities for {len(values)} values", fix="write one for each, in their order"
            ).at("laws", name)
        laws[name] = dict(zip(values, masses, strict=True))
    return laws


def _counted(given: Any, rows: Any, people: Any, values: Sequence[Any], about: dict[str, Any]) -> FromPopulations:
    file, samples = given.reference, samples_of(rows, len(values), people)
    with within("reference"):
        return FromPopulations.counted(samples, values, file.confidence, file.smoothing, **about)


def _as_seen(belief: FromPopulations, rows: Any, people: Any) -> FromPopulations:
    """Return the populations as these rows have them, unsmoothed, taken for what they are."""
    samples = samples_of(rows, len(belief.values), people)
    laws = {name: dict(zip(belief.values, of.smoothed(Fraction(0)), strict=True)) for name, of in samples.items()}
    return FromPopulations(laws, scales=belief.scales, measure=belief.measure, supports="align")


@dataclass(frozen=True)
class ReferenceRows:
    """The rows of a reference file: the name of the population and the number of the value, and whose they are."""

    rows: Sequence[tuple[str, int]]
    people: Sequence[str] | None


def reference_rows(given: PopulationsSpec, source: Any, values: Sequence[Any], folder: Path) -> ReferenceRows:
    """Return the rows of the populations that count; InputError, which names the key, for a file that breaks a rule."""
    file: Any = given.reference
    with within("reference"):
        try:
            table = open_public(file, source, folder / file.file)
            names = [*reference_columns(file, source), file.population, *([file.unit] if file.unit else [])]
            table.require(names)
            read = columns_of(table, names)
            codes = _codes(read, names, given, values, table).tolist()
        except TakifuguError as error:
            raise InputError(f"{file.file}: {error.what}", rule=error.rule, fix=error.fix).at("file") from None
        populations = texts_in(read[len(reference_columns(file, source))], table)
        if None in populations:
            raise InputError(f"{file.file}: a row names no population", fix="drop it").at("population")
        people = texts_in(read[-1], table) if file.unit else [""] * len(codes)
        if None in people:
            raise InputError(f"{file.file}: a row names no person", fix="drop it").at("unit")
        counted = populations if file.populations is None else file.populations
        rows = [
            (str(name), code, normalised(str(person)))
            for name, code, person in zip(populations, codes, people, strict=True) if name in counted
        ]  # fmt: skip
        seen = {name for name, _, _ in rows}
        empty = [name for name in file.populations or () if name not in seen]
        if empty or len(seen) < 2:
            what = f"has no row of {empty[0]!r}" if empty else "has fewer than two populations"
            raise InputError(f"{file.file} {what}", fix="name the column of the populations").at("population")
    return ReferenceRows(
        [(name, code) for name, code, _ in rows], [person for _, _, person in rows] if file.unit else None
    )


def _codes(read: Sequence[Sequence[Any]], names: Sequence[str], given: Any, values: Any, table: Table) -> Codes:
    if given.box is None:
        places = {text: number for number, text in enumerate(spelled(values))}
        return coded(texts_in(read[0], table), places, names[0])
    first, second = (numbers_in(read[axis], names[axis], table) for axis in (0, 1))
    return grid_of(given.box).cells_of(first, second)


def _blamed(error: DataError) -> DataError:
    return error.at("source").placed()


POPULATIONS = Populations()
