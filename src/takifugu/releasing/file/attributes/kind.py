"""What all files share that hide a property of whole columns: their sections, their secrets, and what they assume."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol, runtime_checkable

from pydantic import Field

from takifugu.core.assumptions import public
from takifugu.core.entries import columns_of
from takifugu.core.errors import InputError, SpecError, TakifuguError
from takifugu.core.sections import values_of as held_by
from takifugu.core.sections import written
from takifugu.data.relation.keys import Column
from takifugu.model.beliefs import Belief
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries.sections import WHOLE_COLUMNS, values_by_column, values_of
from takifugu.model.secrets import Secret
from takifugu.model.secrets.declared_properties import dataset_property, distribution_parameter
from takifugu.model.secrets.of_entries import every_entry
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.keys import Answers, Number, Section, State, Text, meaning, names_of
from takifugu.releasing.file.kind import Kind, ReleaseFile
from takifugu.releasing.file.problems import Where, blamed, fault
from takifugu.releasing.file.relation_keys import RelationKeys
from takifugu.releasing.file.sections import FileSpec, Table
from takifugu.releasing.file.shape import ReadBy, Shape

Columns = Text | Annotated[tuple[Text, ...], Field(min_length=1)]


class AttributeSourceSpec(RelationKeys):
    """Where the private records are: one row per record, a column for each that the belief names."""

    rows: Answers = "answers"
    # all records together are one unit, so that no key says whose a row is, or who is covered
    unit: ClassVar[None] = None  # type: ignore[misc]
    nulls: ClassVar[None] = None  # type: ignore[misc, assignment]
    roster: ClassVar[None] = None  # type: ignore[misc]


class SetSpec(Section):
    """A set of values of a property: all numbers of an interval; an end that is left out is infinite."""

    at_least: Annotated[Number | None, meaning("the first number of the set")] = None
    below: Annotated[Number | None, meaning("the first number above the set")] = None

    @property
    def ends(self) -> tuple[Number | None, Number | None]:
        """Return both ends, None for infinite ones; InputError without any."""
        if self.at_least is None and self.below is None:
            raise InputError("a set of values has no end", fix="write below, at_least, or both").at("sets")
        return self.at_least, self.below


class PropertySpec(Section):
    """A property of the records at hand: a function of a column, or of several, over all of them."""

    attribute: Annotated[Columns, meaning("the sensitive column, or a list of columns", "income")]
    function: Annotated[
        Literal["mean", "sum", "share"] | tuple[Number, ...],
        meaning('"mean", "sum", "share" (of the values `of`), or one weight per column', "mean"),
    ]
    of: Annotated[State | tuple[State, ...] | None, meaning("the values of which a share is hidden")] = None
    max_difference: Annotated[
        Number | tuple[Number, ...] | None, meaning("compare values of the property that differ by at most this", 5)
    ] = None
    pairs: Annotated[
        tuple[tuple[Number, Number], ...] | None, meaning("compare these pairs of values", min_length=1)
    ] = None
    sets: Annotated[
        tuple[SetSpec | tuple[Number, ...], ...] | None,
        meaning("compare these sets of values", [{"below": 50}, {"at_least": 50}]),
    ] = None


class ParameterSpec(Section):
    """A parameter of the population that the records come from: what governs a column there."""

    attribute: Annotated[Text, meaning("the column whose parameter is hidden", "smoker")]
    values: Annotated[tuple[State, ...] | None, meaning("compare these values of it; default: all", ["a", "b"])] = None
    interval: Annotated[tuple[Number, Number] | None, meaning("compare all numbers from one to another")] = None
    map: Annotated[Text | None, meaning("how a number becomes a distribution, as the belief names it")] = None
    max_difference: Annotated[
        Number | None, meaning("compare only values of it that differ by at most this", 5)
    ] = None


class OneRecordSpec(Section):
    """The value of a column in any single record (individual attribute privacy)."""

    attribute: Annotated[Text, meaning("the sensitive column", "income")]
    max_difference: Annotated[
        Number | None, meaning("compare values that differ by at most this; required where nothing bounds it")
    ] = None


class AttributeHideSpec(Section):
    """What must stay secret: properties of the records at hand, parameters of the population, or single values."""

    property: Annotated[
        PropertySpec | tuple[PropertySpec, ...] | None,
        meaning(
            "a property of the records at hand, or a list of them",
            {"attribute": "income", "function": "mean", "max_difference": 5},
        ),
    ] = None
    parameter: Annotated[
        ParameterSpec | tuple[ParameterSpec, ...] | None,
        meaning("a parameter of the population, or a list of them", {"attribute": "smoker"}),
    ] = None
    record: Annotated[
        OneRecordSpec | None, meaning("the value of a column in any one record", {"attribute": "income"})
    ] = None


class AttributeReleaseSpec(FileSpec):
    """A release file that hides a property of whole columns, version 1: one source, one belief, releases."""

    source: Annotated[AttributeSourceSpec, meaning("where the private records are")]
    belief: Any
    hide: Annotated[AttributeHideSpec, meaning("what must stay secret")]
    table: tuple[Table, ...]


#: The values of each column of a finite distribution, by their texts; a column of numbers has none.
Known = Mapping[str, Mapping[str, Hashable]]
#: The setting that a key of [hide] belongs to: the kinds of belief of the other one have no use for it.
_SETTINGS = {"property": "the records at hand", "record": "the records at hand", "parameter": "the population"}


@runtime_checkable
class Hiding(Protocol):
    """A section of a belief that says which keys of [hide] it has an answer to."""

    @property
    def hides(self) -> tuple[str, ...]: ...


@runtime_checkable
class Listing(Protocol):
    """A section of a belief that lists what a secret may name, where that is not the values of columns."""

    def hidden(self, belief: object) -> Known: ...


@runtime_checkable
class OfAClass(Protocol):
    """A section of a belief that states other beliefs, too."""

    def class_with(self, belief: Belief) -> list[Belief]: ...


def read_by(spec: AttributeReleaseSpec, belief: Any) -> ReadBy:
    """Return the keys that rows are read by: the columns of the belief are the values."""
    return {**spec.source.read(), "value": [*map(Column, columns_of(belief))]}, (), ()


class Attributes(Kind):
    """A kind whose records are hidden as a whole; a belief's section `hides` the keys of [hide] that it answers."""

    facts = Shape(
        WHOLE_COLUMNS, AttributeReleaseSpec, of_belief=True, believes_from=("belief",), read_by=read_by,
    )  # fmt: skip

    @property
    def hides(self) -> tuple[str, ...]:
        return self.section.hides if isinstance(self.section, Hiding) else ("property", "record")

    def shape(self, spec: AttributeReleaseSpec, folder: Path, data: object) -> Iterable[TakifuguError]:
        hidden_sections = _given(spec)
        for key in hidden_sections:
            if key not in self.hides:
                fault_text = f"is about {_SETTINGS[key]}, and a belief of kind {spec.belief.kind!r} is about "
                fault_text += _SETTINGS[self.hides[0]]
                yield fault(("hide", key), fault_text, f"write {' or '.join(self.hides)}, or another kind of belief")
        if not hidden_sections:
            yield fault(("hide",), "hides nothing", f"write {' or '.join(self.hides)} = {{ ... }}")
        yield from self.shape_faults(spec, folder, data)
        try:
            _secrets(spec, {})
        except SpecError as error:  # whatever is believed
            yield from error.faults

    def shape_faults(self, spec: AttributeReleaseSpec, folder: Path, data: object) -> Iterable[TakifuguError]:
        """Yield the contradictions between sections of this kind."""
        return ()

    def framework_of(self, spec: AttributeReleaseSpec, belief: Belief) -> Framework:
        """Return the framework of a belief; SpecError names every faulty secret."""
        hidden = self.section.hidden(belief) if isinstance(self.section, Listing) else values_by_column(belief)
        secrets, beliefs, meant = _secrets(spec, hidden), [belief], spec.belief.meant
        if isinstance(meant, OfAClass):
            beliefs = meant.class_with(belief)
        try:
            return Pufferfish(secrets, beliefs)
        except TakifuguError as error:
            keys, hidden_sections = list[str](), _given(spec)
            if len(hidden_sections) == 1:
                ((key, section),) = hidden_sections.items()
                keys = [key, *written(section, map(str, error.where[:1]))]
            raise SpecError([blamed(error, "hide", *keys)]) from None

    def assumptions(self, file: ReleaseFile) -> Iterator[Fact]:
        yield public("The number of records is public.")
        yield from super().assumptions(file)


#: One section of [hide], and what makes a secret of it: its keys are the parameters.
Hidden = PropertySpec | ParameterSpec | OneRecordSpec
_SECRETS: Mapping[type[Hidden], Callable[..., Secret]] = {
    PropertySpec: dataset_property, ParameterSpec: distribution_parameter, OneRecordSpec: every_entry,
}  # fmt: skip


def _given(spec: AttributeReleaseSpec) -> dict[str, Hidden | tuple[Hidden, ...]]:
    """Return the values of [hide] by key."""
    return {key: section for key, section in held_by(spec.hide, _SETTINGS).items() if section}


def _secrets(spec: AttributeReleaseSpec, hidden: Known) -> list[Secret]:
    """Return the secrets of [hide]; SpecError names every faulty one."""
    secrets, faults = list[Secret](), list[TakifuguError]()
    placed_sections = list[tuple[Where, Hidden]]()
    for key, section in _given(spec).items():
        if isinstance(section, tuple):
            placed_sections += [((key, number), member) for number, member in enumerate(section)]
        else:
            placed_sections.append(((key,), section))
    for place, section in placed_sections:
        try:
            secrets.append(_secret_of(section, hidden))
        except TakifuguError as error:
            faults.append(blamed(error, "hide", *place, *error.where[:1]))
    if faults:
        raise SpecError(faults)
    return secrets


def _secret_of(section: Hidden, hidden: Known) -> Secret:
    """Return a section's secret; `hidden` are columns' or parameters' values."""
    keys, columns = held_by(section, type(section).model_fields), names_of(section.attribute)
    for key in written(section, ("values", "of")):
        if len(columns) == 1:
            keys[key] = values_of(columns[0], keys[key], hidden, key)
    if written(section, ("sets",)):
        keys["sets"] = [part.ends if isinstance(part, SetSpec) else [*part] for part in keys["sets"]]
    return _SECRETS[type(section)](**keys)
