"""What one release promises: definition, epsilon, delta, how it composes, under which assumptions; and its charge."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain
from takifugu.numbers.rationals import as_delta, as_fraction, to_text

#: Whose data an answer reads: one unit's, or several units' at once.
SCOPES = ("unit", "pooled")
#: What a charge need not say.
_WHICH = ("names", "lengths", "reading", "at", "calendar", "layout", "phases", "begins_series")


class Composition(StrEnum):
    """How a release composes with others on the same source (docs/decisions.md#composition)."""

    COMPOSES = "composes"  # what releases lose together is bounded, whatever was chosen after which output
    ALONE = "alone"  # a promise about this output's distribution

    @property
    def answer(self) -> str:
        """Return the answer to "does it compose?", for tables."""
        return "yes" if self is Composition.COMPOSES else "only alone"


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
class Guarantee:
    """A promise: Pr[M in S | a] <= e^epsilon Pr[M in S | b] + delta for every comparison a -> b of the framework."""

    epsilon: Fraction
    delta: Fraction
    covers: Covers
    definition: str
    framework: str
    assumptions: tuple[str, ...]
    conditions: tuple[str, ...] = ()

    @property
    def composition(self) -> Composition:
        """How the release composes with others on the same source."""
        return self.covers.composition

    def to_dict(self) -> Json:
        return {
            "definition": self.definition,
            "framework": self.framework,
            "epsilon": to_text(self.epsilon),
            "delta": to_text(self.delta),
            "composition": str(self.composition),
            "covers": str(self.covers),
            "assumptions": list(self.assumptions),
            "conditions": list(self.conditions),
        }


@dataclass(frozen=True)
class Charge:
    """What a past release can be charged for under any framework: its promise, its query and its noise; never data.

    `scale` is Laplace's b in the units of `query` (0: no noise, None: noise of another kind). `change` and
    `entry_change` are the largest L1 changes of the answer over all `entries` entries (0 where two laws are compared)
    and over one; None where nothing bounds them, as of real numbers without a range. `answers` are short hashes of what
    `query` adds up under the beliefs that it was calibrated for. `scope` is "unit" or "pooled": one unit's data or
    several units'. `fixed_in_advance` says that query and noise were chosen before any output about the source was
    seen.

    Which entries `query` means: `names` are those of the entries in the order in which its numbers count them (empty
    where they have none), `lengths` those of the sequences that it reads. Charges with the same `reading` read the same
    entries; `at` is the declared step of the one long recording where the sequence starts, and `calendar` says from
    when and in which steps it is counted. `layout` is how rows became entries, as it was declared. `phases` are, of
    beliefs whose matrices repeat, the period and the place in it of step 0 of the recording. What is not said is taken
    at its worst. `begins_series` declares that this is the first of a series of normal releases
    (`composition.normal_series`).
    """

    framework: str
    definition: str
    covers: Covers
    epsilon: Fraction
    delta: Fraction
    query: Plain = field(hash=False)
    randomiser: Plain = field(hash=False)
    scale: Fraction | None
    change: Fraction | None
    entry_change: Fraction | None
    entries: int
    answers: tuple[str, ...]
    scope: str = "unit"
    fixed_in_advance: bool = False
    release: str = field(default="", compare=False)
    names: tuple[Hashable, ...] = ()
    lengths: tuple[int, ...] = ()
    reading: str = ""
    at: int | None = None
    calendar: str = ""
    layout: str = ""
    phases: tuple[tuple[int, int], ...] = ()
    begins_series: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "covers", Covers(self.covers))
        object.__setattr__(self, "epsilon", _at_least_zero(self.epsilon, "a release's epsilon"))
        object.__setattr__(self, "delta", as_delta(self.delta))
        limits = (
            ("change", "a change", self.change),
            ("entry_change", "a value's change", self.entry_change),
            ("scale", "a scale", self.scale),
        )
        for name, what, value in limits:
            if value is not None:
                object.__setattr__(self, name, _at_least_zero(value, what))
        if self.scope not in SCOPES:
            raise InputError(f"the scope is {self.scope!r}", fix=f"write one of {list(SCOPES)}").at("scope")

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, f.name) for f in fields(self) if f.compare and f.hash is not False))

    def __hash__(self) -> int:
        return self._hash  # a long history is looked up charge by charge, at every release

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_hash"}  # texts hash otherwise elsewhere

    def to_dict(self) -> Json:
        """Return plain values that survive JSON and read back with `from_dict`."""
        which = {
            "names": list(self.names), "lengths": list(self.lengths), "reading": self.reading, "at": self.at,
            "calendar": self.calendar, "layout": self.layout, "phases": [list(phase) for phase in self.phases],
        }  # fmt: skip
        return {
            "framework": self.framework, "definition": self.definition, "covers": str(self.covers),
            "epsilon": to_text(self.epsilon), "delta": to_text(self.delta), "query": dict(self.query),
            "randomiser": dict(self.randomiser), "scale": _written(self.scale),
            "change": _written(self.change), "entry_change": _written(self.entry_change), "entries": self.entries,
            "answers": list(self.answers),
            "scope": self.scope, "fixed_in_advance": self.fixed_in_advance, "release": self.release,
            **{key: value for key, value in which.items() if value not in ([], "", None)},
            **({"begins_series": True} if self.begins_series else {}),
        }  # fmt: skip

    @staticmethod
    def from_dict(data: Plain) -> Charge:
        """Read a charge back.

        Raises InputError for a missing key or a value that breaks a rule.
        """
        missing = [f.name for f in fields(Charge) if f.name not in (*data, *_WHICH)]
        if missing:
            raise InputError(f"a charge lacks {missing}", rule="it was not written by Charge.to_dict")
        return Charge(
            str(data["framework"]), str(data["definition"]), Covers(data["covers"]),
            as_fraction(data["epsilon"], "epsilon"), as_fraction(data["delta"], "delta"), dict(data["query"]),
            dict(data["randomiser"]), _read(data["scale"], "the scale"),
            _read(data["change"], "the change"), _read(data["entry_change"], "a value's change"),
            int(data["entries"]), tuple(map(str, data["answers"])),
            str(data["scope"]), bool(data["fixed_in_advance"]), str(data["release"]),
            tuple(data.get("names", ())), tuple(map(int, data.get("lengths", ()))), str(data.get("reading", "")),
            None if data.get("at") is None else int(data["at"]), str(data.get("calendar", "")),
            str(data.get("layout", "")), tuple((int(n), int(k)) for n, k in data.get("phases", ())),
            bool(data.get("begins_series", False)),
        )  # fmt: skip


def _at_least_zero(value: Fraction, name: str) -> Fraction:
    number = as_fraction(value, name)
    if number < 0:
        raise InputError(f"{name} is {value!r}", rule="it must not be negative")
    return number


def _written(value: Fraction | None) -> str | None:
    return None if value is None else to_text(value)


def _read(text: str | None, what: str) -> Fraction | None:
    return None if text is None else as_fraction(text, what)
