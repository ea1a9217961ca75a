"""Joint masses of a value and of all partial sums of the answers along a chain, step by step, with no list of states.

Every cell of every answer adds up over the entries: base + unit * sum of offsets, offsets >= 0. The sums of all cells
are one number in mixed radix, the *code*, so that an entry's value adds one number to it. Let F_i(a, c) be the mass of
X_i = a and code c over entries 0..i, and B_i(a, c) that of code c over the entries behind i given X_i = a. Then

    P(X_i = a, code = c) = sum over c' of F_i(a, c') B_i(a, c - c').

F and B are products of matrices and shifts, so all terms are positive, and a mass has a relative error of at most
2 (k + 1) T + C units, for k states, T entries and C codes. Nothing of the calibration is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from takifugu.analysis.randomisers import Randomiser
from takifugu.audit.states import stationary_law
from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.queries import Additive

#: Masses below this are left out: e^600 of them are nothing (`chain_sweeps`), and numbers near 1e-308 are slow.
NOTHING = 1e-290


@dataclass(frozen=True, eq=False)
class Axis:
    """One cell of an answer, in steps of its noise's grid: base + unit * (0, ..., width - 1)."""

    answer: Additive
    cell: int
    noise: Randomiser
    base: Fraction
    unit: Fraction
    step: int
    width: int

    @staticmethod
    def of(answer: Additive, cell: int, noise: Randomiser) -> Axis:
        """Return the axis of a cell, from its runs of entries alone."""
        (weights, numbers), lengths = answer.total_kinds
        lowest = width = step = 0
        for weight, number, count in zip(weights.tolist(), numbers.tolist(), lengths.tolist(), strict=True):
            added = answer.tables[number][:, cell] * weight
            least = int(added.min())
            lowest += count * least
            width += count * (int(added.max()) - least)
            step = math.gcd(step, int(np.gcd.reduce(added - least)))
        step = max(step, 1)
        grid = answer.grid / noise.grid
        return Axis(answer, cell, noise, lowest * grid, step * grid, step, width // step + 1)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return self.base, self.base + self.unit * (self.width - 1)

    @cached_property
    def offsets(self) -> IntArray:
        """Return what each entry's values add, shape (entries, states)."""
        table = np.stack([t[:, self.cell] for t in self.answer.tables])
        added = table[self.answer.table_numbers] * self.answer.weights[:, None]
        return np.asarray((added - added.min(axis=1, keepdims=True)) // self.step)


@dataclass(frozen=True, eq=False)
class Chained:
    """A chain, or pieces of one behind each other, of a known start or of any: `starts` has one distribution a row."""

    chain: PeriodicChain
    lengths: tuple[int, ...]

    @staticmethod
    def of(belief: object) -> Chained | None:
        """Return a belief as one sequence; None for no chain, and for pieces with starts of their own."""
        if isinstance(belief, PeriodicChain):
            return Chained(belief, (belief.length,))
        if not isinstance(belief, IndependentPieces) or not isinstance(belief.chain, PeriodicChain):
            return None
        is_mixed = belief.chain.initial == "any" and len(belief.lengths) > 1
        return None if is_mixed else Chained(belief.chain, belief.lengths)

    @property
    def length(self) -> int:
        return sum(self.lengths)

    @property
    def states(self) -> int:
        return len(self.chain.states)

    def joint_states_within(self, most: int) -> bool:
        """Whether there are no more joint states, without their number."""
        return self.length <= most and self.length * math.log(self.states) <= math.log(most)

    @property
    def count_of_starts(self) -> int:
        return self.states if self.chain.initial == "any" else 1

    @cached_property
    def starts(self) -> FloatArray:
        if self.chain.initial == "any":
            return np.eye(self.states)
        if self.chain.initial == "stationary":
            return np.array([list(map(float, stationary_law(self.chain)))])
        return np.array([self.chain.initial], dtype=float)

    @cached_property
    def _places(self) -> IntArray:
        """Return each entry's place in its piece."""
        ends = np.cumsum(self.lengths)
        return np.arange(ends[-1]) - np.repeat(ends - self.lengths, self.lengths)

    def step(self, entry: int) -> FloatArray:
        """Return the probabilities from an entry to the next."""
        # A new piece is a step with rows that are all the first law.
        if self._places[entry + 1] == 0:
            return np.repeat(self.starts, self.states, axis=0)
        matrices = self.chain.step_matrices
        return np.asarray(matrices[self._places[entry] % len(matrices)])

    @cached_property
    def laws(self) -> FloatArray:
        """Return the law of each entry under the first start, shape (entries, states)."""
        laws = [self.starts[0]]
        for entry in range(self.length - 1):
            laws.append(laws[-1] @ self.step(entry))
        return np.array(laws)

    def supports(self) -> Iterator[BoolArray]:
        """Yield whether each start leads to each value, by entry."""
        can = self.starts > 0
        yield can
        for entry in range(self.length - 1):
            can = can @ (self.step(entry) > 0)
            yield can


@dataclass(frozen=True, eq=False)
class Sums:
    """The codes of all axes' sums along a sequence."""

    sequence: Chained
    axes: tuple[Axis, ...]

    @cached_property
    def widths(self) -> tuple[int, ...]:
        return tuple(axis.width for axis in self.axes)

    @property
    def codes(self) -> int:
        return math.prod(self.widths)

    @cached_property
    def _added(self) -> IntArray:
        """Return what each entry's values add to the code."""
        added = np.zeros((self.sequence.length, self.sequence.states), dtype=np.int64)
        for axis in self.axes:
            added = added * axis.width + axis.offsets
        return added

    def forward(self) -> Iterator[FloatArray]:
        """Yield F by entry, shape (starts, states, codes so far)."""
        law = self._shifted(self.sequence.starts[:, :, None], 0)
        yield law
        for entry in range(1, self.sequence.length):
            law = self._shifted(np.matmul(self.sequence.step(entry - 1).T, law), entry)
            yield law

    def backward(self) -> Iterator[FloatArray]:
        """Yield B from the last entry on, shape (states, codes)."""
        law = np.ones((self.sequence.states, 1))
        yield law
        for entry in range(self.sequence.length - 2, -1, -1):
            law = self.sequence.step(entry) @ self._shifted(law[None], entry + 1)[0]
            yield law

    def joint(self, paths: Mapping[int, IntArray]) -> Iterator[FloatArray]:
        """Yield P(X_i, X_{i+1}, ... take a path, code) by first entry i, shape (starts, paths, codes)."""
        # `paths` has one a row; of a single entry these are its values.
        wanted, behind = {first + rows.shape[1] - 1 for first, rows in paths.items()}, {}
        last = self.sequence.length - 1
        for number, law in enumerate(self.backward()):
            if last - number in wanted:
                behind[last - number] = law
        for entry, before in enumerate(self.forward()):
            if entry not in paths:
                continue
            rows = paths[entry]
            joint = np.zeros((len(before), len(rows), self.codes))
            after = behind[entry + rows.shape[1] - 1]
            for number, row in enumerate(rows.tolist()):
                chance, code = self._within(entry, row)
                for start in range(len(before)):
                    law = np.convolve(before[start, row[0]], after[row[-1]] / NOTHING)  # no product is near 1e-308
                    joint[start, number, code : code + len(law)] = law * (chance * NOTHING)
            yield np.where(joint < NOTHING, 0.0, joint)

    def _within(self, first: int, path: Sequence[int]) -> tuple[float, int]:
        """Return the probability of a path given its first value, and what the values behind that one add."""
        chance, code = 1.0, 0
        for step, (value, following) in enumerate(pairwise(path), start=first):
            chance *= float(self.sequence.step(step)[value, following])
            code += int(self._added[step + 1, following])
        return chance, code

    def _shifted(self, law: FloatArray, entry: int) -> FloatArray:
        """Return laws (starts, states, codes) with what an entry adds."""
        added = self._added[entry]
        places = law.shape[2]
        shifted = np.zeros((*law.shape[:2], places + int(added.max())))
        for value, code in enumerate(added.tolist()):
            shifted[:, value, code : code + places] = law[:, value]
        return np.where(shifted < NOTHING, 0.0, shifted)
