"""What all kinds of records share: the rules between their sections, their secrets and their queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import ClassVar

from takifugu.core.errors import TakifuguError
from takifugu.core.names import normalised
from takifugu.core.sections import values_of, written
from takifugu.model.beliefs import Belief
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import State
from takifugu.model.queries.sections import RECORDS, known_value, spelled
from takifugu.model.secrets.of_entries import attribute, every_entry
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.kind import Kind, ReleaseFile
from takifugu.releasing.file.problems import fault, never_read
from takifugu.releasing.file.records.sections import RecordItemSpec, RecordReleaseSpec
from takifugu.releasing.file.shape import Shape

#: The kinds of this package that read a key of [source], and the key of [hide] that each of them has for itself.
READERS = {"person": ("contacts",), "value": ("users", "contacts"), "group": ("users",)}
_HIDES = {"variable": "network", "attribute": "table", "presence": "users", "person": "contacts"}


class Records(Kind):
    """A kind whose data are rows without an order in time.

    `reads` are the keys of [source] and `hides` is the key of [hide] that not every kind has.
    """

    facts = Shape(
        RECORDS, RecordReleaseSpec, "releasing.file.drafting.shapes:records", RecordItemSpec,
        named=("unit", "person", "value", "group"),
    )  # fmt: skip
    reads: ClassVar[tuple[str, ...]] = ()
    hides: ClassVar[str] = ""

    def shape(self, spec: RecordReleaseSpec, folder: Path, data: object) -> Iterable[TakifuguError]:
        source, hide, kind = spec.source, spec.hide, spec.belief.kind
        for key in written(source, READERS):
            if key not in self.reads:
                problem = f"belongs to a belief of kind {' or '.join(READERS[key])}"
                yield fault(("source", key), problem, f"a belief of kind {kind!r} does not use it")
        yield from self.shape_faults(spec)
        for number, item in enumerate(spec.release):
            if item is not None and item.by is not None and "group" not in self.reads:
                yield fault(
                    ("release", number, "by"), f"does not belong to a belief of kind {kind!r}",
                    'to count combinations over many rows write belief.kind = "users", with value = ["age", "sex"]',
                )  # fmt: skip
        for key, value in values_of(hide, _HIDES).items():
            if value and key != self.hides:
                fix = f"with {kind!r} write {self.hides}, or leave it out" if self.hides else "leave it out"
                yield fault(("hide", key), f"belongs to a belief of kind {_HIDES[key]!r}", fix)
        hidden_name = hide.variable or hide.attribute or hide.person
        if hide.kind and hidden_name:
            problem = "hides every entry, and one is named beside it"
            yield fault(("hide", "kind"), problem, "write only one of them")
        if (hide.a is None) != (hide.b is None) or (hide.a is not None and not hidden_name):
            problem = "a and b are the two values of one variable, attribute or person"
            yield fault(("hide",), problem, "write all three, or only its name")

    def shape_faults(self, spec: RecordReleaseSpec) -> Iterable[TakifuguError]:
        """Yield the contradictions between sections of this kind."""
        return ()

    def values(self, belief: Belief) -> list[tuple[State, ...]]:
        """Return each entry's values; two must not be spelt alike."""
        alphabets = [belief.alphabet(entry) for entry in range(belief.size)]
        for alphabet in alphabets:
            spelled(alphabet)
        return alphabets

    def misfits(self, spec: RecordReleaseSpec, belief: Belief) -> Iterator[TakifuguError]:
        values = dict.fromkeys(chain(*self.values(belief)))
        belief_keys = written(spec.belief, ("states", "file", "fit", "values"))
        yield from never_read(("belief", *belief_keys[:1]), values, spec.source.missing)
        if self.facts.of_belief:
            return
        for number, item in enumerate(spec.release):
            for key in written(item, ("attribute", "variables")):
                problem = "names columns, but a row here is one value"
                yield fault(("release", number, key), problem, "publish a count, sum or mean of all")

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

    def assumptions(self, file: ReleaseFile) -> Iterator[str | Fact]:
        spec = file.sections(RecordReleaseSpec)
        yield from super().assumptions(file)
        for item in spec.release:
            for variables in values_of(item, written(item, ("variables",))).values():
                yield f"that {item.name!r} reads {', '.join(variables)}, and no other column, is public"

