"""The populations that rows may come from, as a release file declares them: written, or counted in a public file."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Unpack

from annotated_types import Gt, Lt, MinLen

from takifugu.core.assumptions import Assumption, limit, reading, world
from takifugu.core.errors import InputError, TakifuguError, within
from takifugu.core.names import normalised
from takifugu.core.rules import check_as_many
from takifugu.core.sections import FilePath, Key, Number, PublicFile, State, Text
from takifugu.model.beliefs.boxed_places import UNSCALED, Box
from takifugu.model.beliefs.counted_populations import samples_of
from takifugu.model.beliefs.estimate import checked_source
from takifugu.model.beliefs.populations import About, FromPopulations
from takifugu.model.beliefs.sections import Public
from takifugu.model.secrets.of_populations import population_membership


@dataclass(frozen=True, kw_only=True)
class Reference(PublicFile):
    """A public file of other people, in which the values of each population are counted."""

    file: Annotated[FilePath, Key("a public file of a table, relative to this file", "survey.csv")]
    population: Annotated[Text, Key("the column that names the population", "status")]
    populations: Annotated[
        Annotated[tuple[Text, ...], MinLen(2)] | None, Key("the populations that count; other rows are left out")
    ] = None
    value: Annotated[
        Text | tuple[Text, Text] | None,
        Key("its column with the values, or the two with coordinates; default: the source's", "activity"),
    ] = None
    unit: Annotated[
        Text | None, Key("the column that says whose row it is; without it rows are independent", "person")
    ] = None
    confidence: Annotated[
        float, Gt(0), Lt(1), Key("how surely the true populations are in the class that the promise covers")
    ] = 0.99
    smoothing: Annotated[Number, Key("added to the count of each value where losses are averaged", 1)]
    from_private_data: Annotated[
        bool, Key("declare that these are the private rows: the promise does not cover what they tell")
    ] = False

    def counted(self, belief: object, source: Any) -> tuple[str, ...]:
        """Return the columns of the value, by default the private data's."""
        value = source.value if self.value is None else self.value
        if isinstance(value, tuple) != isinstance(source.value, tuple):
            raise InputError("has another number of columns than source.value", fix="write as many").at("value")
        return value if isinstance(value, tuple) else (value,)


@dataclass(frozen=True)
class ReferenceRows:
    """The rows of a reference file: the name of the population and the number of the value, and whose they are."""

    rows: Sequence[tuple[str, int]]
    people: Sequence[Hashable] | None


@dataclass(frozen=True, kw_only=True)
class PopulationsSection:
    """The populations that a row may come from: declared, or counted in a reference file."""

    kind: Annotated[Literal["populations"], Key("populations that a row may come from")]
    source: Annotated[Text, Key("where the populations come from", "a travel survey of 2024")]
    values: Annotated[
        Annotated[tuple[State, ...], MinLen(2)] | None, Key("the values that a row may have", ["a", "b"])
    ] = None
    box: Annotated[Box | None, Key("of places: where all places lie, in equal cells")] = None
    laws: Annotated[
        dict[Text, tuple[Number, ...]] | None,
        Key("for each population the probability of each value (or cell, row by row of the box)"),
    ] = None
    largest_mass: Annotated[
        Number | None, Key("instead of `laws`: no value is likelier than this in a population, all else is open", 0.1)
    ] = None
    populations: Annotated[
        Annotated[tuple[Text, ...], MinLen(2)] | None, Key("with largest_mass: the names of the populations")
    ] = None
    reference: Annotated[Reference | None, Key("instead of `laws`: a public file of other people")] = None
    supports: Annotated[
        Literal["refuse", "align"],
        Key("a value that is impossible in one population and possible in another: refused, or accepted"),
    ] = "refuse"
    metric: Annotated[
        Literal["w-infinity"] | dict[Text, dict[Text, Number]] | None,
        Key("epsilon is multiplied by this distance between two populations", {"home": {"out": 2}}),
    ] = None
    rows_independent: Annotated[bool, Key("declare that a person's rows are independent given the population")] = False

    @property
    def _file(self) -> Reference:
        if self.reference is None:
            raise InputError("is missing", fix="name a file of other people, or write `laws`").at("reference")
        return self.reference

    def faults(self) -> Iterator[InputError]:
        if (self.laws is not None) + (self.reference is not None) + (self.largest_mass is not None) != 1:
            fix = 'write laws = { home = ["0.9", "0.1"], out = ["0.2", "0.8"] }'
            yield InputError("laws or reference or largest_mass is required, one of them", fix=fix).at("laws")
        if (self.largest_mass is None) != (self.populations is None):
            fix = 'write populations = ["home", "out"] and largest_mass = 0.1'
            yield InputError("belongs to largest_mass, and it to the names", fix=fix).at("populations")

    def belief(self, public: Public) -> FromPopulations:
        values: tuple[Hashable, ...] = self.values or ()
        scales, measure = UNSCALED
        if self.box is not None:
            scales, measure = self.box.scales
            self.box.check()
            values = self.box.centres
        elif len(set(map(str, values))) < len(values):
            raise InputError("repeat a value, or write two alike", fix="write each once").at("values")
        options: About = {
            "rows": public.source.rows_per_person, "independent": self.rows_independent, "scales": scales,
            "measure": measure, "supports": self.supports,
            "source": checked_source(self.source, self.reference is not None and self.reference.from_private_data),
        }  # fmt: skip
        if self.largest_mass is not None:
            belief = FromPopulations.spread(self.populations or (), values, self.largest_mass, **options)
        elif self.reference is None:
            belief = FromPopulations(self._declared(values), **options)
        else:
            belief = self.counted_in(self.reference_rows(public, values), values, **options)
        population_membership(self.metric).view(belief)
        return belief

    def _declared(self, values: Sequence[Hashable]) -> Mapping[str, Mapping[Hashable, Number]]:
        laws = {}
        for name, masses in (self.laws or {}).items():
            check_as_many(masses, "probabilities", values, "values", "laws", name, fix="write one for each, in order")
            laws[name] = dict(zip(values, masses, strict=True))
        return laws

    def counted_in(self, read: ReferenceRows, values: Sequence[Hashable], **options: Unpack[About]) -> FromPopulations:
        """Return the populations with rows in the reference file."""
        file = self._file
        with within("reference"):
            samples = samples_of(read.rows, len(values), read.people)
            return FromPopulations.counted(samples, values, file.confidence, file.smoothing, **options)

    def reference_rows(self, public: Public, values: Sequence[Hashable]) -> ReferenceRows:
        """Return the rows of the populations in use."""
        file = self._file
        with within("reference"):
            columns = file.counted(self, public.source)
            try:
                table = public.open(file)
                codes = table.codes(columns, values, self.box)
                texts = table.texts([file.population, *([file.unit] if file.unit else [])])
            except TakifuguError as error:
                raise InputError(f"{file.file}: {error.what}", rule=error.rule, fix=error.fix).at("file") from None
            populations = _names([row[0] for row in texts], file.file, "population", "population")
            people = _names([row[-1] for row in texts], file.file, "unit", "person")
            used_populations = populations if file.populations is None else file.populations
            rows, people_of_rows = list[tuple[str, int]](), list[str]()
            for name, code, person in zip(populations, codes, people, strict=True):
                if name in used_populations:
                    rows.append((name, code))
                    people_of_rows.append(normalised(person))
            names_in_rows = set(dict(rows))
            empty = [value for value in file.populations or () if value not in names_in_rows]
            if empty or len(names_in_rows) < 2:
                if empty:
                    message = f"has no row of {empty[0]!r}"
                else:
                    message = "has fewer than two populations"
                raise InputError(f"{file.file} {message}", fix="name the column of the populations").at("population")
        return ReferenceRows(rows, people_of_rows if file.unit else None)

    def assumptions(self) -> Iterator[Assumption]:
        box, reference = self.box, self.reference
        if box is not None:
            cells = f"{box.cells[0]} x {box.cells[1]} cells of a public box"
            yield reading(f"A place counts as the centre of its cell, of {cells}.")
        if box is not None and box.outside == "clamp":
            yield reading("A place outside the box counts as the nearest one inside.")
        if reference is not None and not reference.from_private_data:
            yield world("The reference file is about other people.")
            yield reading(f"Where losses are averaged, {reference.smoothing} is added to the count of each value.")
        elif reference is not None:
            yield limit(
                "The populations were counted in the private rows. What these, the table of probabilities and the maps "
                "reveal about the rows is not covered."
            )


def _names(texts: Sequence[str | None], file: str, key: str, title: str) -> list[str]:
    """Return a reference column's names, or raise InputError where one is missing."""
    if None in texts:
        raise InputError(f"{file}: a row names no {title}", fix="drop it").at(key)
    return list(map(str, texts))
