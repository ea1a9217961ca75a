"""The profile of several Laplace releases as a function of their rates: the tables of each query are made once.

A release of rate r = 1/b has the profile r times that of rate 1, and profiles add up. So the loss of all is a curve at
a weighted sum of tables, and queries whose tables are proportional lose together what one of them does
(docs/theory/influence.md, several queries at once).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from takifugu.accounting.composition.series import shares
from takifugu.accounting.composition.views import Read, View
from takifugu.analysis.guarantee import Charge
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Release, quilts
from takifugu.core.arrays import FloatArray
from takifugu.core.errors import CompositionRefused, Unsupported
from takifugu.influence.curves import along_curve, of_all_values, profile_of
from takifugu.influence.profiles.profile import Profile
from takifugu.numbers.rationals import float_above
from takifugu.numbers.runs import Runs, different

#: Tables up to here are whole numbers without rounding.
EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class PartTables:
    """What each query loses at rate 1 in one part."""

    part: Part
    #: For each kind of entry an array (queries, values, values).
    tables: tuple[FloatArray, ...]
    kinds: Runs
    #: How far all entries move each answer, in grid steps.
    reach: FloatArray

    @staticmethod
    def of(part: Part, reads: Sequence[Read]) -> PartTables:
        """Return the tables of a part, as each query reads it."""
        profiles = []
        for read in reads:
            assert read.answer is not None
            profile = profile_of(part.belief, Release(read.changes, Fraction(1), read.answer))
            profiles.append(of_all_values(part.belief, profile))
        together, kinds = different(*(profile.kinds for profile in profiles))
        tables = []
        for numbers in together.T.tolist():
            rows = [profile.tables[number] for profile, number in zip(profiles, numbers, strict=True)]
            tables.append(np.stack(rows))
        reach = [float(read.reach(range(len(read.changes))) / read.grid) for read in reads]
        return PartTables(part, tuple(tables), kinds, np.array(reach))

    def loss(self, rates: FloatArray) -> float:
        """Return the loss at these rates, rounded up."""
        rounded = rates * (1 + (len(rates) + 4) * 2.0**-52)  # products and their sum
        bound = float(rounded @ self.reach)
        tables = []
        for table in self.tables:
            total = np.tensordot(rounded, table, axes=1)
            tables.append(np.maximum(total, total.T))
        by_curve = along_curve(self.part, Profile(tuple(tables), self.kinds.lengths, self.kinds.values))
        return bound if by_curve is None else min(by_curve[0], bound)


@dataclass(frozen=True, eq=False)
class SharedProfile:
    """The joint loss of Laplace releases of some grids, from tables at rate 1."""

    parts: tuple[PartTables, ...]
    grids: tuple[Fraction, ...]

    def loss(self, scales: Sequence[Fraction]) -> float:
        """Return an upper bound on the joint loss of these scales, in answer units."""
        rates = np.array([float_above(grid / scale) for grid, scale in zip(self.grids, scales, strict=True)])
        return max((part.loss(rates) for part in self.parts), default=0.0)

    @cached_property
    def sizes(self) -> tuple[Fraction, ...]:
        """The largest change of each answer by one entry, in answer units: proportional within a shape."""
        return tuple(Fraction(largest) * grid for largest, grid in zip(self._rows.max(axis=1), self.grids, strict=True))

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The queries whose tables are proportional, shape by shape."""
        places = dict[Hashable, list[int]]()
        for place, row in enumerate(self._rows):
            whole = row.astype(np.int64)
            common = max(1, int(np.gcd.reduce(whole)))
            places.setdefault((whole // common).tobytes(), []).append(place)
        return tuple(map(tuple, places.values()))

    @cached_property
    def _rows(self) -> FloatArray:
        """All losses of each query at rate 1, in one row."""
        count = len(self.grids)
        return np.concatenate([table.reshape(count, -1) for part in self.parts for table in part.tables], axis=1)


def shared_profile(view: View, charges: Sequence[Charge]) -> SharedProfile | None:
    """Return the profile of releases with Laplace noise; None where the loss is no function of one."""
    # So of choices, of what a belief does not read value by value, and where quilts of columns lower a loss.
    grids, parts = set[tuple[Fraction, ...]](), list[PartTables]()
    try:
        for part, reads in shares(view, charges):
            grids.add(tuple(read.grid for read in reads))
            if quilts(part.belief).joint_cost is not None or any(read.together is not None for read in reads):
                return None
            parts.append(PartTables.of(part, reads))
    except (CompositionRefused, Unsupported):
        return None
    largest = max((table.max(initial=0.0) for part in parts for table in part.tables), default=math.inf)
    if len(grids) != 1 or largest >= EXACT:
        return None
    return SharedProfile(tuple(parts), *grids)
