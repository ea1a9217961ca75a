"""Numbers as states and classes: by ends that are declared, not found in the data, the same on every engine."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from takifugu.core.errors import InputError
from takifugu.data.values.texts import MISSING, UNBINNED, UNKNOWN, number_in
from takifugu.numbers.rationals import Number, as_fraction, to_text

Edge = Fraction | float


@dataclass(frozen=True)
class Bins:
    """Numbers from each bin's lower edge to below its upper one are its state; the last upper edge is in its bin."""

    # Edges and numbers are compared as float64. The outer edges may be infinite, and infinities are in the outer bins
    # then. Null is missing (as is NaN of pandas, which writes null so), any other NaN is no number.
    states: tuple[Hashable, ...]
    edges: tuple[Edge, ...]

    def __init__(self, bins: Mapping[str, Sequence[Number]]) -> None:
        ends = dict[str, tuple[Edge, Edge]]()
        for state, edges in bins.items():
            if len(edges) != 2:
                raise InputError(f"the bin of {state!r} is {list(edges)}", fix="write its two edges, such as [0, 100]")
            low, high = (_edge(end, state) for end in edges)
            if not float(low) < float(high):
                flaw = f"the bin of {state!r} goes from {_text(low)} to {_text(high)}"
                raise InputError(flaw, rule="its second edge must be above the first one")
            ends[state] = low, high
        if not ends:
            raise InputError("no bin is declared", fix="write for example { still = [0, 100], moving = [100, inf] }")
        ordered = sorted(ends, key=lambda state: float(ends[state][0]))
        for lower, upper in pairwise(ordered):
            (_, high), (low, _) = ends[lower], ends[upper]
            if float(high) != float(low):
                flaw = "a gap" if high < low else "an overlap"
                raise InputError(
                    f"there is {flaw} between the bins of {lower!r}, which ends at {_text(high)}, and {upper!r}, which "
                    f"starts at {_text(low)}",
                    rule="each bin starts where the one before it ends",
                )
        object.__setattr__(self, "states", tuple(ordered))
        object.__setattr__(self, "edges", (ends[ordered[0]][0], *(ends[state][1] for state in ordered)))

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words for each bin."""
        words = [f"{_text(low)} to below {_text(high)}" for low, high in pairwise(self.edges)]
        words[-1] = f"{_text(self.edges[-2])} to {_text(self.edges[-1])}"
        return tuple(words)

    def code(self, value: float | None) -> int:
        """Return the number of a number's bin, in rising order."""
        if value is None:
            return MISSING
        if value != value:
            return UNKNOWN
        if not float(self.edges[0]) <= value <= float(self.edges[-1]):
            return UNBINNED
        return bisect_right(self.edges[1:-1], value, key=float)

    def code_of(self, text: str) -> int:
        """Return the number of a text's bin, UNKNOWN without a number."""
        number = number_in(text)
        return UNKNOWN if number is None else self.code(number)


def _edge(value: Number, state: object) -> Edge:
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        return value
    if isinstance(value, str) and value.strip() in ("inf", "+inf", "-inf"):
        return float(value)
    return as_fraction(value, f"an edge of the bin of {state!r}")


def _text(edge: Edge) -> str:
    return to_text(edge) if isinstance(edge, Fraction) else f"{edge:g}"


@dataclass(frozen=True)
class Classes:
    """Numbers below the first of rising ends, from each end to below the next, and from the last end on."""

    #: Compared with numbers as float64; there is one class more.
    ends: tuple[Fraction, ...]
    #: The class of null, NaN and infinities; without one they are MISSING.
    missing: int = MISSING

    def __init__(self, ends: Iterable[Number], missing: int = MISSING) -> None:
        object.__setattr__(self, "ends", tuple(as_fraction(end, "an end of a class", "ends") for end in ends))
        object.__setattr__(self, "missing", missing)
        floats = list(map(float, self.ends))
        if not floats or floats != sorted(set(floats)):
            raise InputError(
                f"the ends of the classes are {list(map(to_text, self.ends))}",
                rule="they must rise, and differ as floats", fix="write for example [20, 40]",
            ).at("ends")  # fmt: skip

    @property
    def words(self) -> tuple[str, ...]:
        """Return default words for each class."""
        ends = list(map(to_text, self.ends))
        return (f"below {ends[0]}", *(f"from {a} to below {b}" for a, b in pairwise(ends)), f"at least {ends[-1]}")

    def code(self, value: float | None) -> int:
        """Return the class's number for a raw value."""
        if value is None or not abs(value) < float("inf"):
            return self.missing
        return bisect_right(self.ends, value, key=float)


#: How the values of a column are counted: by their texts, or by bins; or by classes of numbers.
Listed = Sequence[str] | Bins
Known = Listed | Classes
