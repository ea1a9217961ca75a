"""What all files share that hide a property of whole columns: their secrets, their queries, and what they assume."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from takifugu.core.errors import SpecError, TakifuguError
from takifugu.core.sections import values_of as held_by
from takifugu.core.sections import written
from takifugu.model.beliefs import Belief
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import State
from takifugu.model.queries.sections import WHOLE_COLUMNS, values_by_column, values_of
from takifugu.model.secrets import Secret
from takifugu.model.secrets.declared_properties import dataset_property, distribution_parameter
from takifugu.model.secrets.of_entries import every_entry
from takifugu.numbers.rationals import Number
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.attributes.sections import (
    AttributeReleaseSpec,
    OneRecordSpec,
    ParameterSpec,
    PropertySpec,
    SetSpec,
)
from takifugu.releasing.file.kind import Kind, ReleaseFile
from takifugu.releasing.file.problems import Where, blamed, fault
from takifugu.releasing.file.shape import Shape

#: The values of each column of a finite distribution, by their texts; a column of numbers has none.
Known = Mapping[str, Mapping[str, State]]
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


class Attributes(Kind):
    """A kind whose records are hidden as a whole; a belief's section `hides` the keys of [hide] that it answers."""

    facts = Shape(
        WHOLE_COLUMNS, AttributeReleaseSpec, "releasing.file.drafting.shapes:columns",
        roles={}, of_belief=True, believes_from=("belief",),
    )  # fmt: skip

    @property
    def hides(self) -> tuple[str, ...]:
        return self.section.hides if isinstance(self.section, Hiding) else ("property", "record")

    def hidden(self, belief: object) -> Known:
        """Return the possible values of each column, by their texts."""
        return self.section.hidden(belief) if isinstance(self.section, Listing) else values_by_column(belief)

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
        secrets, section = _secrets(spec, self.hidden(belief)), spec.belief.meant
        beliefs = section.class_with(belief) if isinstance(section, OfAClass) else [belief]
        try:
            return Pufferfish(secrets, beliefs)
        except TakifuguError as error:
            raise SpecError([blamed(error, "hide", *_hide_key(spec, error))]) from None

    def assumptions(self, file: ReleaseFile) -> Iterator[str | Fact]:
        yield "the number of records is public"
        yield from super().assumptions(file)


#: One section of [hide].
Hidden = PropertySpec | ParameterSpec | OneRecordSpec


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
    if isinstance(section, OneRecordSpec):
        return every_entry(section.attribute, section.max_difference)
    if isinstance(section, ParameterSpec):
        values = None if section.values is None else values_of(section.attribute, section.values, hidden, "values")
        return distribution_parameter(
            section.attribute, values, section.interval, section.map, section.max_difference
        )
    columns = section.attribute if isinstance(section.attribute, tuple) else (section.attribute,)
    of: Hashable = section.of
    if of is not None and len(columns) == 1:
        of = values_of(columns[0], of, hidden, "of")
    sets: list[list[State] | tuple[Number | None, Number | None]] | None = None
    if section.sets is not None:
        sets = []
        for value_set in section.sets:
            if isinstance(value_set, SetSpec):
                sets.append(value_set.ends)
            else:
                sets.append([*value_set])
    return dataset_property(section.attribute, section.function, section.max_difference, section.pairs, sets, of)


def _hide_key(spec: AttributeReleaseSpec, error: TakifuguError) -> tuple[str, ...]:
    """Return the key of [hide] behind an unfit belief."""
    sections = _given(spec)
    if len(sections) != 1:
        return ()
    ((name, secret),) = sections.items()
    key = str(error.where[0]) if error.where else ""
    return (name,) if isinstance(secret, tuple) else (name, *written(secret, (key,)))
