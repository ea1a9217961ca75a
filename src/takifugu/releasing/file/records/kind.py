"""What all kinds of records share: their sections, the rules between them, their secrets and their queries."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictBool

from takifugu.core.assumptions import public
from takifugu.core.errors import DataError, TakifuguError
from takifugu.core.names import normalised
from takifugu.core.nearest import first_of
from takifugu.core.sections import values_of, written
from takifugu.model.beliefs import Belief
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries.sections import RECORDS, known_value, spelled
from takifugu.model.secrets.of_entries import attribute, every_entry
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.keys import Answers, Edges, Section, State, Text, meaning, names_of
from takifugu.releasing.file.kind import Kind, ReleaseFile
from takifugu.releasing.file.problems import broken, fault, faults_at, never_read
from takifugu.releasing.file.reading import bins_of, wrong
from takifugu.releasing.file.relation_keys import RelationKeys
from takifugu.releasing.file.relation_keys import key as relation_key
from takifugu.releasing.file.sections import FileSpec, SharedTable, numbered
from takifugu.releasing.file.shape import Shape


class RecordSourceSpec(RelationKeys):
    """Where the private records are."""

    rows: Answers = "answers"
    value: Annotated[
        Text | Annotated[tuple[Text, ...], Field(min_length=2)] | None, relation_key("value", "answer", ["age", "sex"])
    ] = None
    group: Annotated[Text | None, relation_key("group")] = None
    bins: Annotated[
        dict[str, Edges | dict[str, Edges]] | None, relation_key("bins", {"young": [0, 30], "old": [30, 120]})
    ] = None


class RecordHideSpec(Section):
    """What must stay secret; without this section, every single value."""

    kind: Annotated[Literal["every-entry"] | None, meaning("every single value is hidden")] = None
    variable: Annotated[Text | None, meaning("the one variable of a network that is hidden")] = None
    attribute: Annotated[Text | None, meaning("the one column of a table that is hidden")] = None
    person: Annotated[Text | None, meaning("the one person of a contact graph who is hidden")] = None
    a: Annotated[State | None, meaning("one of the two values that it may have")] = None
    b: Annotated[State | None, meaning("the other one")] = None
    presence: Annotated[StrictBool, meaning("whether each user is present or absent is hidden")] = False


class RecordItemSpec(SharedTable):
    """One table to publish."""

    by: Annotated[
        Text | Annotated[tuple[Text, ...], Field(min_length=1)] | None,
        meaning("users: a cell for each group, or each combination of columns", "ward"),
    ] = None


class RecordReleaseSpec(FileSpec):
    """A release file of records, version 1: one source, one belief, one or more releases."""

    source: Annotated[RecordSourceSpec, meaning("where the private records are")]
    belief: Any
    hide: Annotated[RecordHideSpec, meaning("what must stay secret")] = RecordHideSpec()
    table: tuple[RecordItemSpec, ...]


def bins_problems(source: RecordSourceSpec, columns: bool) -> Iterator[TakifuguError]:
    """Yield the faults of the bins in [source]."""
    for name, bins in (source.bins or {}).items():
        if isinstance(bins, Mapping) != columns:
            problem, fix = "is bins of one column", f"write bins = {{ {name} = {{ low = [0, 10], high = [10, 20] }} }}"
            if not columns:
                problem, fix = "is bins of several columns", f"write the two edges of each value, {name} = [0, 10]"
            yield fault(("source", "bins", name), problem, fix)
            return
    for column in (source.bins or {}) if columns else (None,):
        yield from faults_at(("source", "bins", *names_of(column)), partial(bins_of, source, column))


def unknown_value(column: str, values: Iterable[object]) -> DataError:
    """Return the error about a value that the belief does not know of this row, though it does of another."""
    fix = f"its values are {first_of(values)}; declare it, or leave such rows out by where"
    return wrong("value", f"column {column!r} has a value that the belief does not know", fix=fix)


#: Keys of a relation that no row of records is read by, and what to write in their place.
_NO_KEYS = {
    "roster": "leave it out: each row is one, or the belief names everybody",
    "nulls": "leave it out, and give what is missing a value, value = \"coalesce(answer, 'none')\"; of users write "
    "missing under [belief]",
    "engine": "leave it out: a row is one answer, and all of them are counted here",
}
#: The kinds of this package whose rows have a name, beside those of one row a unit.
NAMED = ("contacts",)
#: The kinds of this package that read a key of [source], and the key of [hide] that each of them has for itself.
READERS = {"value": ("users", "contacts"), "group": ("users",)}
_HIDES = {"variable": "network", "attribute": "joint-table", "presence": "users", "person": "contacts"}


class Records(Kind):
    """A kind whose data are rows without an order in time."""

    facts = Shape(
        RECORDS, RecordReleaseSpec, RecordItemSpec
    )  # fmt: skip
    #: The keys of [source] and the key of [hide] that not every kind has.
    reads: ClassVar[tuple[str, ...]] = ()
    hides: ClassVar[str] = ""

    def shape(self, spec: RecordReleaseSpec, folder: Path, data: object) -> Iterable[TakifuguError]:
        source, hide, kind = spec.source, spec.hide, spec.belief.kind
        for key, fix in _NO_KEYS.items():
            if key in source.model_fields_set:
                yield fault(("source", key), f"does not belong to a belief of kind {kind!r}", fix)
        for key in written(source, READERS):
            if key not in self.reads:
                problem = f"belongs to a belief of kind {' or '.join(READERS[key])}"
                yield fault(("source", key), problem, f"a belief of kind {kind!r} does not use it")
        yield from self.shape_faults(spec)
        for number, item in numbered(spec.table):
            if item.by is not None and "group" not in self.reads:
                yield fault(
                    ("table", number, "by"), f"does not belong to a belief of kind {kind!r}",
                    'to count combinations over many rows write belief.kind = "users", with value = ["age", "sex"]',
                )  # fmt: skip
        for key, value in values_of(hide, _HIDES).items():
            if value and key != self.hides:
                fix = "leave it out"
                if self.hides:
                    fix = f"with {kind!r} write {self.hides}, or leave it out"
                yield fault(("hide", key), f"belongs to a belief of kind {_HIDES[key]!r}", fix)
        hidden_name = hide.variable or hide.attribute or hide.person
        is_half = (hide.a is None) != (hide.b is None) or (hide.a is not None and not hidden_name)
        yield from broken(
            (hide.kind and hidden_name, "hide.kind", "hides every entry, and one is named beside it",
             "write only one of them"),
            (is_half, "hide", "a and b are the two values of one variable, attribute or person",
             "write all three, or only its name"),
        )  # fmt: skip

    def shape_faults(self, spec: RecordReleaseSpec) -> Iterable[TakifuguError]:
        """Yield the contradictions between sections of this kind."""
        return ()

    def values(self, belief: Belief) -> list[tuple[Hashable, ...]]:
        """Return each entry's values; two must not be spelt alike."""
        alphabets = list(map(belief.alphabet, range(belief.size)))
        for alphabet in alphabets:
            spelled(alphabet)
        return alphabets

    def misfits(self, spec: RecordReleaseSpec, belief: Belief) -> Iterator[TakifuguError]:
        values = dict.fromkeys(chain(*self.values(belief)))
        belief_keys = written(spec.belief, ("states", "file", "fit", "values"))
        yield from never_read(("belief", *belief_keys[:1]), values)
        if self.facts.of_belief:
            return
        for number, item in enumerate(spec.table):
            for key in written(item, ("attribute", "variables")):
                problem = "names columns, but a row here is one value"
                yield fault(("table", number, key), problem, "publish a count, sum or mean of all")

    def framework_of(self, spec: RecordReleaseSpec, belief: Belief) -> Framework:
        hide = spec.hide
        name = hide.variable or hide.attribute
        if name is None and hide.person:
            name = normalised(hide.person)
        if name is None:
            return Pufferfish(every_entry(), belief)
        values = spelled(belief.alphabet(belief.position(name)))
        if hide.a is None or hide.b is None:
            return Pufferfish(every_entry(name), belief)
        return Pufferfish(attribute(name, known_value(hide.a, values), known_value(hide.b, values)), belief)

    def assumptions(self, file: ReleaseFile) -> Iterator[Fact]:
        spec = file.sections(RecordReleaseSpec)
        yield from super().assumptions(file)
        for item in spec.table:
            for variables in values_of(item, written(item, ("variables",))).values():
                columns = ", ".join(variables)
                yield public(f"That the table {item.name!r} reads {columns}, and no other column, is public.")
