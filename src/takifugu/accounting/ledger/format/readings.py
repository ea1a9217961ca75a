"""The readings of a source: how its rows became entries, and which of them its owner declared to be the same entries.

Many entries or units of one reading may be one of another, so nothing that a belief says of the one bounds what is
revealed of the other. Where they are not declared the same, each release counts, for everybody, at what its noise loses
when all that it reads changes (`composition.losses.cost_of_all`): between any two data sets, whichever reading they are
described in, the densities of all outputs differ by the product of these factors at most
(docs/theory/composition.md#readings).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from takifugu.analysis.guarantee import Charge
from takifugu.core.errors import InputError, ReadingChanged
from takifugu.core.readings import are_never_the_same, differences, is_unnamed, side_by_side

#: What is said of a reading that no caller named: entries are then told apart by the lengths of their sequences.
UNDECLARED = ""

#: No reading is written in so many characters: a release file, of which it is a part, has at most a third.
LONGEST = 30_000_000

#: What is said of a unit whose releases read sequences of different lengths, and no reading was declared.
CUT = (
    "these sequences have other lengths than those of earlier releases about the same person, and no reading is "
    "declared, so one row of the one may be many of the other: each release counts at the cost of a change of all that "
    "it reads (to prevent it, name how rows become entries with every release: reading='one row an hour')"
)


def known_reading(text: object) -> str:
    """Return a reading from a ledger's text; raises ValueError for others.

    >>> known_reading('unit: "bed"')
    'unit: "bed"'
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ValueError(f"its reading is {str(text)!r:.40}")
    return text


@dataclass(frozen=True)
class Readings:
    """The readings of a source, in classes that are the same entries by its owner's word.

    A class is named by its first reading, and the charge of a release names its class.
    """

    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def members(self) -> tuple[str, ...]:
        """All readings, class by class."""
        return tuple(chain.from_iterable(self.classes.values()))

    @property
    def is_mixed(self) -> bool:
        return len(self.classes) > 1

    def is_another(self, reading: str) -> bool:
        """Return whether its owner has to say what entries a reading has."""
        return is_unnamed(reading) or (bool(self.classes) and reading not in self.members)

    def class_of(self, reading: str) -> str:
        """Return the class of a reading; a new one names its own."""
        return next((name for name, members in self.classes.items() if reading in members), reading)

    def nearest(self, reading: str) -> str:
        """Return the reading with which another one is compared: that with the fewest other lines.

        One that may be of the same entries comes first, and of equals the newest.
        """
        return nearest(self.members, reading)

    def holding(self, reading: str, same: bool) -> Readings:
        """Return these readings and another, in the class of the nearest where it is of the `same` entries."""
        if reading in self.members:
            return self
        name = self.class_of(self.nearest(reading)) if same and self.classes else reading
        return Readings({**self.classes, name: (*self.classes.get(name, ()), reading)})

    def answered(self, source: str, reading: str, same: bool | None) -> Readings:
        """Return these readings and another, by the owner's answer.

        Raises ReadingChanged where there is none and one is needed, and InputError for the answer that the entries are
        the same where two lines show that they are not.
        """
        if not self.is_another(reading):
            return self.holding(reading, False)
        before = self.nearest(reading) if self.classes else ""
        if same is None:
            raise ReadingChanged(source, before, reading)
        if same and not self.classes:
            raise InputError(
                f"nothing was released about the source {source!r} before, so its entries are those of no release",
                fix='name them: entries = "..." under [source] (entries="..." in Python)',
            ).at("same_entries")
        if same and (line := are_never_the_same(before, reading)):
            raise InputError(
                f"the source {source!r} was read with another step, or from another start between steps: {line}",
                rule="these are never the same entries",
                fix="write --other-entries (other_entries=True in Python), or read it as before",
            ).at("same_entries")
        return self.holding(reading, bool(same))

    @property
    def declared(self) -> Iterator[str]:
        """What the owner declared to be the same entries, in certificates' words."""
        for members in self.classes.values():
            for number, reading in enumerate(members[1:], start=1):
                yield f"declared to be the same entries:\n{side_by_side(nearest(members[:number], reading), reading)}"


def nearest(readings: Iterable[str], reading: str) -> str:
    """Return the newest of the readings that differ least."""
    newest_first = list(readings)[::-1]
    return min(newest_first, key=lambda one: (bool(are_never_the_same(one, reading)), len(differences(one, reading))))


def mixed_words(source: str, readings: Readings) -> str:
    """Say what the readings of other entries of a source cost; "" where all are of the same."""
    if not readings.is_mixed:
        return ""
    return (
        f"the source {source!r} was read as other entries before, and many rows of the one reading may be one of the "
        "other, so each release about it, earlier ones too, counts for everybody at the cost of a change of all that "
        "it reads"
    )


def cut_differently(charges: Iterable[Charge]) -> bool:
    """Return whether releases without a declared reading read different cuts.

    Cuts are sequences of different lengths, or other things than sequences.
    """
    cuts = set[object]()
    for charge in charges:
        if charge.read_as != UNDECLARED or charge.entries == 0:  # without entries it counts at its worst anyway
            continue
        if charge.at is not None:
            cuts.add("steps of one recording")
        else:
            cuts.add(charge.lengths or "no sequences")
    return len(cuts) > 1
