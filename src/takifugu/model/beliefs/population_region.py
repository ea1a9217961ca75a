"""What a sample says of a population: all distributions in a region that holds the true one with a stated confidence.

The region bounds the mass of every set of a tree: the whole, its parts, theirs, down to single values. Over it <p, v>
is largest at a vertex that a merge of the tree finds (docs/theory/distributions.md), for all columns of a channel at
once: in integers for what is certified, in floating point for what is proposed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from typing import Any, TypeGuard

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.assumptions import Assumption, world
from takifugu.core.errors import InputError
from takifugu.core.escaping import at_most
from takifugu.core.plain import Json, Plain
from takifugu.numbers.atoms import Floats
from takifugu.numbers.rationals import as_fraction, to_text

#: Masses of sets are rounded outward to multiples of 1 / WHOLE.
WHOLE = 2**60

#: Integers of any size, or floats, by column.
Columns = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Block:
    """A set of values (by number) and the parts that it is divided into; a single value has none."""

    values: tuple[int, ...]
    parts: tuple[Block, ...] = ()

    @property
    def all(self) -> tuple[Block, ...]:
        """Return the block and everything inside it, each block before its parts."""
        return (self, *chain.from_iterable(part.all for part in self.parts))


@dataclass(frozen=True, eq=False)
class Region:
    """All distributions whose mass on each block lies between `low` and `high`, in multiples of 1 / WHOLE."""

    tree: Block
    low: tuple[int, ...]
    high: tuple[int, ...]

    def largest(self, *columns: Sequence[int]) -> list[Fraction]:
        """Return the largest <p, column> over the region's distributions p, for each column, exactly."""
        ends = np.array([self.low, self.high], dtype=object)
        return [Fraction(gain, WHOLE) for gain in self._gains(np.array(columns, dtype=object), ends)]

    def least(self, *columns: Sequence[int]) -> list[Fraction]:
        """Return the least <p, column> over the region's distributions p, for each column, exactly."""
        return [-gain for gain in self.largest(*([-value for value in column] for column in columns))]

    def contains(self, law: Sequence[Fraction]) -> bool:
        """Return whether a distribution lies in the region."""
        for block, low, high in zip(self.tree.all, self.low, self.high, strict=True):
            if not low <= WHOLE * sum(map(law.__getitem__, block.values), Fraction(0)) <= high:
                return False
        return True

    def about(self, columns: Floats, sign: int = 1) -> Floats:
        """Estimate the largest <p, column>, or with sign -1 the least, in floats of shape (columns,)."""
        return np.asarray(sign * self._gains(sign * columns.T, np.array([self.low, self.high]) / WHOLE))

    def _gains(self, slopes: Columns, both_ends: Columns) -> Columns:
        """Return the largest gain by column, shape (columns,), in numbers of the type of `slopes` (columns, values)."""
        ends = iter(both_ends.T)

        def line(block: Block) -> tuple[Columns, Columns, Columns, Columns]:
            """Return a block's least mass, its gain, and what more of it gains, the most first: per unit, and mass."""
            low, high = next(ends)
            if not block.parts:
                slope = slopes[:, block.values]
                return full(len(slope), low), low * slope[:, 0], slope, full(slope.shape, high - low)
            if all(not part.parts for part in block.parts):
                lows, highs = np.array([next(ends) for _ in block.parts]).T
                slope = slopes[:, [part.values[0] for part in block.parts]]
                return merged(low, high, full(len(slope), lows.sum()), slope @ lows, slope, highs - lows)
            masses, gains, slopes_of_parts, rooms = zip(*map(line, block.parts), strict=True)
            mass, gain = np.sum(masses, axis=0), np.sum(gains, axis=0)
            return merged(low, high, mass, gain, np.concatenate(slopes_of_parts, axis=1), np.concatenate(rooms, axis=1))

        def full(shape: int | tuple[int, ...], value: Any) -> Columns:
            return np.full(shape, value, dtype=slopes.dtype)  # NumPy would make 64 bits of an integer

        def merged(
            low: Any, high: Any, mass: Columns, gain: Columns, slope: Columns, length: Columns
        ) -> tuple[Columns, Columns, Columns, Columns]:
            length = np.broadcast_to(length, slope.shape)
            order = np.argsort(-slope, axis=1, kind="stable")
            slope, length = np.take_along_axis(slope, order, 1), np.take_along_axis(length, order, 1)
            until = np.cumsum(length, axis=1)
            needed = np.clip(low - mass[:, None] - (until - length), 0, length)
            most = np.clip(high - mass[:, None] - (until - length), 0, length)
            return mass + needed.sum(axis=1), gain + (needed * slope).sum(axis=1), slope, np.maximum(most - needed, 0)

        return line(self.tree)[1]


@dataclass(frozen=True, eq=False)
class Regions:
    """One region for each population, over one tree; all hold the true distributions with probability `confidence`."""

    confidence: float
    tree: Block
    by_name: Mapping[str, Region]
    #: How many independent observations each was found from.
    sizes: Mapping[str, int]
    #: Whether an observation is a person with several rows.
    of_people: bool = False
    #: Of a class that was declared (`spread`): no value has more.
    largest_mass: Fraction | None = None

    @property
    def largest_move(self) -> float:
        """Bound the total variation distance in one region."""
        places = [n for n, block in enumerate(self.tree.all) if not block.parts]
        widths = []
        for region in self.by_name.values():
            widths.append(sum(region.high[n] - region.low[n] for n in places) / WHOLE / 2)
        return min(1.0, max(widths))

    def only(self, names: Sequence[str]) -> Regions:
        """Return the regions of some of the populations."""
        some = {name: self.by_name[name] for name in names}
        sizes = {name: size for name, size in self.sizes.items() if name in names}
        return Regions(self.confidence, self.tree, some, sizes, self.of_people, self.largest_mass)

    @property
    def in_short(self) -> str:
        """Say what is known of the populations, after their source."""
        if self.largest_mass is not None:
            return f"; no mass above {to_text(self.largest_mass)}"
        return f"; counted, confidence {self.confidence}"

    def assumptions(self) -> tuple[Assumption, ...]:
        """Return the assumptions of the class, in words of a certificate."""
        if self.largest_mass is not None:
            return (
                world(
                    f"In no population is a value likelier than {to_text(self.largest_mass)}. Nothing else is known of "
                    "the populations. The guarantee holds for every two such distributions."
                ),
            )
        sizes = ", ".join(f"{size:,} of {name}" for name, size in self.sizes.items())
        word, independence = "rows", "The rows of the reference file are independent of each other."
        if self.of_people:
            word = "people"
            independence = "The people of the reference file are independent of each other, and each counts once."
        move = at_most(100 * self.largest_move, digits=3)
        return (
            world(
                f"The populations were counted in a sample ({word}: {sizes}). The guarantee holds for every "
                f"distribution in a class that holds the true ones with confidence {self.confidence}. Two "
                f"distributions of one population in it differ by at most {move} % of their mass."
            ),
            world(independence),
        )

    def to_dict(self) -> Json:
        ends = {name: [list(map(str, of.low)), list(map(str, of.high))] for name, of in self.by_name.items()}
        if self.largest_mass is None:
            declared = {}
        else:
            declared = {"largest_mass": to_text(self.largest_mass)}
        counted = {"confidence": self.confidence, "sizes": dict(self.sizes), "of_people": self.of_people}
        return {**counted, "ends": ends, **declared}

    @staticmethod
    def from_dict(data: Plain, values: Sequence[Hashable]) -> Regions:
        tree = tree_of(values)
        regions = {}
        for name, (low, high) in data["ends"].items():
            if {len(low), len(high)} != {len(tree.all)}:
                raise InputError("the region bounds other sets of values", rule="it was edited by hand").at("region")
            regions[name] = Region(tree, tuple(map(int, low)), tuple(map(int, high)))
        declared = data.get("largest_mass")
        most = None if declared is None else as_fraction(declared, "the largest mass")
        return Regions(data["confidence"], tree, regions, data["sizes"], data["of_people"], most)


def tree_of(values: Sequence[Hashable]) -> Block:
    """Return a tree of blocks of values, from public facts only."""
    # places are halved by both coordinates, numbers by size; all other values are blocks by themselves
    places, numbers = list(filter(is_place, values)), list(filter(is_number, values))
    axes: list[Sequence[float]]
    if len(places) == len(values):
        axes = list(zip(*places, strict=True))
    elif len(numbers) == len(values):
        axes = [numbers]
    else:
        return Block(tuple(range(len(values))), tuple(Block((n,)) for n in range(len(values))))
    ranks = np.array([np.unique(axis, return_inverse=True)[1] for axis in axes])
    return _halved(ranks, np.arange(len(values)))


def is_place(value: object) -> TypeGuard[tuple[float, float]]:
    return isinstance(value, tuple) and len(value) == 2 and all(map(is_number, value))


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _halved(ranks: IntArray, members: IntArray) -> Block:
    if len(members) == 1:
        return Block((int(members[0]),))
    low, high = ranks[:, members].min(axis=1), ranks[:, members].max(axis=1)
    upper = ranks[:, members] > ((low + high) // 2)[:, None]
    parts = [members[(half == upper.T).all(axis=1)] for half in product((False, True), repeat=len(ranks))]
    return Block(tuple(map(int, members)), tuple(_halved(ranks, part) for part in parts if len(part)))
