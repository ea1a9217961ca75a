"""What one release promises: definition, epsilon, delta, how it composes, under which assumptions; and its charge."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

from takifugu.core.assumptions import Assumption
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain, PlainForm, arguments, form, set_fields
from takifugu.core.typed import Typed
from takifugu.numbers.rationals import as_delta, as_non_negative, exact

#: Whose data an answer reads: one unit's, or several units' at once.
SCOPES = ("unit", "pooled")
#: What a charge need not say.
_WHICH = ("names", "lengths", "reading", "at", "phases", "begins_series")


class Composition(StrEnum):
    """How a release composes with others on the same source (docs/decisions.md#composition)."""

    COMPOSES = "composes"  # what releases lose together is bounded, whatever was chosen after which output
    ALONE = "alone"  # a promise about this output's distribution

    @property
    def answer(self) -> str:
        """Return the answer to "does it compose?", for tables."""
        return "yes" if self is Composition.COMPOSES else "no"


class Covers(StrEnum):
    """Which changes a promise bounds, a fact of its charge that the joint rules use; the loosest rules come first."""

    EVERYTHING = "everything"  # every change of the whole data set
    COMPONENT = "component"  # every change of one unit or independent component
    ENTRIES = "entries"  # every change of one entry: a profile
    OUTPUT = "output"  # none: it is about the distribution of one output

    @property
    def composition(self) -> Composition:
        return Composition.ALONE if self is Covers.OUTPUT else Composition.COMPOSES


@dataclass(frozen=True)
class Guarantee(Typed):
    """State a guarantee: Pr[M in S | a] <= e^epsilon Pr[M in S | b] + delta for every comparison a -> b.

    Args:
        epsilon: The privacy loss.
        delta: The delta.
        covers: The releases that it covers: this one, or any together with it.
        definition: Name of the definition, such as "pufferfish".
        framework: Fingerprint of the framework.
        assumptions: What it rests on, each with its kind.
        conditions: Its limits, in words.
        hides_facts: Whether the data tell which hypothesis holds.

    Examples:
        >>> from takifugu import Count, MarkovChain, Pufferfish, calibrate, every_entry
        >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10))
        >>> calibrate(framework, Count(1), epsilon=1).guarantee.epsilon
        Fraction(1, 1)
    """

    epsilon: Fraction
    delta: Fraction
    covers: Covers
    definition: str
    framework: str
    assumptions: tuple[Assumption, ...]
    conditions: tuple[str, ...] = ()
    hides_facts: bool = field(kw_only=True)

    @property
    def composition(self) -> Composition:
        """How the release composes with others on the same source."""
        return self.covers.composition

    def to_dict(self) -> Json:
        """Return plain data for `from_dict`, and how it composes."""
        return {**super().to_dict(), "composition": str(self.composition)}


def _read_phases(phases: Iterable[tuple[Any, Any]]) -> tuple[tuple[int, int], ...]:
    return tuple((int(period), int(place)) for period, place in phases)


_TEXT, _TEXT_OR_NONE = form(read=str), form(read=str, is_left_out=True)
_NUMBERS = form(read=lambda numbers: tuple(map(int, numbers)), is_left_out=True)


@dataclass(frozen=True)
class Charge(PlainForm):
    """What a past release can be charged for under any framework: promise, query and noise; never data."""

    framework: str = field(metadata=_TEXT)
    definition: str = field(metadata=_TEXT)
    covers: Covers
    epsilon: Fraction = field(metadata=exact("epsilon"))
    delta: Fraction = field(metadata=exact("delta"))
    query: Plain = field(hash=False, metadata=form(dict, dict))
    randomiser: Plain = field(hash=False, metadata=form(dict, dict))
    #: Laplace's b in the units of `query` (0: no noise, None: noise of another kind).
    scale: Fraction | None = field(metadata=exact("the scale"))
    #: The largest L1 changes over all `entries` entries (0 where two laws are compared), and over one; None: unbounded.
    change: Fraction | None = field(metadata=exact("the change"))
    entry_change: Fraction | None = field(metadata=exact("a value's change"))
    entries: int = field(metadata=form(read=int))
    #: Short hashes of what `query` adds up under the beliefs that it was calibrated for.
    answers: tuple[str, ...] = field(metadata=form(read=lambda texts: tuple(map(str, texts))))
    #: One unit's data, or several units'.
    scope: str = field(default="unit", metadata=_TEXT)
    #: In the order in which the query's numbers count entries; empty where these have none.
    names: tuple[Hashable, ...] = field(default=(), metadata=form(list, tuple, is_left_out=True))
    #: Of the sequences that the query reads.
    lengths: tuple[int, ...] = field(default=(), metadata=_NUMBERS)
    #: Of rows that are sent those of one reading are the same.
    reading: str = field(default="", metadata=_TEXT_OR_NONE)
    #: The step of the one long recording where the sequence starts; without it all start at the first step.
    at: int | None = field(default=None, metadata=form(read=int, is_left_out=True))
    #: Of beliefs whose matrices repeat, the period and the place in it of step 0 of the recording.
    phases: tuple[tuple[int, int], ...] = field(default=(), metadata=form(read=_read_phases, is_left_out=True))
    #: Whether it is the first of a series of normal releases, or one of those that begin it (`composition.series`).
    begins_series: bool = field(default=False, metadata=form(read=bool, is_left_out=True))

    def __post_init__(self) -> None:
        set_fields(
            self, covers=Covers(self.covers), epsilon=as_non_negative(self.epsilon, "a release's epsilon"),
            delta=as_delta(self.delta),
        )  # fmt: skip
        for name, title in (("change", "a change"), ("entry_change", "a value's change"), ("scale", "a scale")):
            limit = getattr(self, name)
            if limit is not None:
                set_fields(self, **{name: as_non_negative(limit, title)})
        if self.scope not in SCOPES:
            raise InputError(f"the scope is {self.scope!r}", fix=f"write one of {list(SCOPES)}").at("scope")

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, name) for name in _HASHED))

    def __hash__(self) -> int:
        return self._hash  # a long history is looked up charge by charge, at every release

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_hash"}  # texts hash otherwise elsewhere

    @classmethod
    def from_dict(cls, data: Plain) -> Charge:
        """Read a charge back; raises InputError for a missing key or a value that breaks a rule."""
        missing = [name for name in _REQUIRED if name not in data]
        if missing:
            raise InputError(f"a charge lacks {missing}", rule="it was not written by Charge.to_dict")
        return cls(**arguments(cls, data))


_REQUIRED = [member.name for member in fields(Charge) if member.name not in _WHICH]
_HASHED = [member.name for member in fields(Charge) if member.compare and member.hash is not False]
