"""The true loss and delta of additive noise on a chain of any length, from the masses of its partial sums.

`partial_sums` gives P(X_i = a, sums); noise is one matrix of masses along each axis. In each coordinate the ratio is
monotone between atoms and constant beyond them, so the outputs of `places` are enough. All terms are positive. A, B and
the masses of both hypotheses are divided by their largest before they are multiplied, and what could underflow is
refused (Theorem 1 of docs/theory/audit.md). For any start the supremum over its laws lies between two start states,
where one quadratic vanishes (`any_start`); an error of its roots changes the ratio in second order only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from mpmath import mp

from takifugu.analysis.questions.joint_states import MOST_STATES
from takifugu.analysis.randomisers import DiscreteLaplace, RoundedLaplace, RoundedNormal
from takifugu.audit.any_start import is_limit
from takifugu.audit.compared_pairs import Pairs, is_of_runs, of_entries, paths, runs_of
from takifugu.audit.noise_masses import DIGITS, mass_function, places, places_of_mass
from takifugu.audit.partial_sums import NOTHING, Axis, Chained, Sums
from takifugu.audit.results import Audit
from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.core.errors import InputError, Unsupported
from takifugu.model import secrets
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Additive, resolved
from takifugu.model.secrets import Secret
from takifugu.model.secrets.hypotheses import compared_runs

UNIT = 2.0**-53
#: Up to so many joint states are listed, in 60 digits; a longer chain is swept.
LISTED = 4096
#: Most multiplications and most bytes of a sweep; multiplications that one call of numpy, and one mass of noise, cost.
MOST_WORK, MOST_BYTES, PER_CALL, PER_MASS = 3e11, 2e9, 1e4, 5e4
#: The log of the smallest quotient of masses: products of larger ones do not underflow.
SMALLEST = 600.0
#: What joint masses are multiplied by before noise.
LARGE = 1e280
#: Numbers of one block of entries.
BLOCK = 2_000_000
#: Two ratios so close are one: of equal comparisons the first is named.
EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Block:
    """Some entries with their pairs, masses (entries, starts, values) and joint masses with noise (..., outputs)."""

    #: Of a run the entry is its first, and the values are its paths, numbers of rows of `paths`.
    entries: Sequence[int]
    pairs: Sequence[Pairs]
    masses: FloatArray
    laws: FloatArray
    paths: IntArray

    def each(self) -> Iterator[tuple[int, IntArray, Pairs, FloatArray, FloatArray]]:
        paths = itertools.repeat(self.paths, len(self.entries))
        return zip(self.entries, paths, self.pairs, self.masses, self.laws, strict=True)


@dataclass(frozen=True, eq=False)
class Sweep:
    """A belief about a sequence, its secrets, and the cells of all releases."""

    belief: Belief
    secrets: Sequence[Secret]
    sums: Sums

    @property
    def sequence(self) -> Chained:
        return self.sums.sequence

    @property
    def can_be_listed(self) -> bool:
        """Whether its joint states are few enough to be listed instead."""
        return self.sequence.joint_states_within(MOST_STATES)

    @cached_property
    def relative_error(self) -> float:
        """Return a bound on the relative error of every mass with noise."""
        states, codes = self.sequence.states, self.sums.codes
        error = 2 * (states + 1) * self.sequence.length + codes + sum(self.sums.widths) + 20
        rows = 4 * states * self.sequence.length  # a row of floats sums to one up to this
        return (error + rows) * UNIT

    def check(self, outputs: Sequence[range]) -> None:
        """Raise Unsupported beyond the work of an audit; nothing here grows with the sequence."""
        states, starts, length = self.sequence.states, self.sequence.count_of_starts, self.sequence.length
        codes, results = self.sums.codes, math.prod(map(len, outputs))
        compared = self._most_compared
        rows = length * compared * starts
        work = float(rows) * (codes**2 / 6 + states * codes + PER_CALL)
        work += float(rows) * codes * max(map(len, outputs))
        work += float(length) * compared**2 * starts**2 * results * 20
        for axis, values in zip(self.sums.axes, outputs, strict=True):
            work += PER_MASS * _masses_of(axis, values)
        if self.sequence.chain.initial == "stationary":
            work += 600.0 * states**4 * self.sequence.chain.period
        memory = 8.0 * (length * states * (codes + 1) + 4 * compared * starts * max(results, codes) + 8 * BLOCK)
        for name, needed, most in (("operations", work, MOST_WORK), ("bytes", memory, MOST_BYTES)):
            if needed > most:
                raise Unsupported(
                    f"the audit of this chain would take {needed:.2g} {name}, and takes at most {most:.2g}",
                    fix="audit a shorter sequence, or ask for a lower bound (takifugu.audit.sampled_loss)",
                )

    def loss(self) -> Audit:
        """Return the largest log-ratio; raises Unsupported for normal noise."""
        spans = [places(axis.noise, axis.ends) for axis in self.sums.axes]
        outputs = [range(span[0], span[-1] + 1) for span in spans]
        self.check(outputs)
        reach = sum(float(_reach(axis)) for axis in self.sums.axes)
        if reach > SMALLEST:
            raise _underflow(reach)
        best, place, comparison = 1.0, -1, ""
        for block in self._blocks(outputs):
            smallest = float(block.masses[block.masses > 0].min())
            if reach - math.log(smallest) > SMALLEST:
                raise _underflow(reach - math.log(smallest))
            laws, masses = block.laws, block.masses
            for a, b in sorted(set(itertools.chain(*block.pairs))):
                ratios = _ratios(laws[:, :, a], masses[:, :, a], laws[:, :, b], masses[:, :, b])
                ratios[[(a, b) not in pairs for pairs in block.pairs]] = 0.0
                ratio = float(ratios.max())
                if ratio > best * (1 + EQUAL) or not comparison:
                    number = int(np.argmax(ratios.max(axis=1) >= ratio / (1 + EQUAL)))
                    place = int(np.argmax(ratios[number] >= ratio / (1 + EQUAL)))
                    comparison = self._describe(block.entries[number], block.paths, a, b)
                best = max(best, ratio)
        loss = math.log(best)
        error = 4 * self.relative_error + 64 * UNIT
        return self._audit(loss, loss + error, error, comparison, outputs, place)

    def delta(self, epsilon: Fraction) -> Audit:
        """Return the largest delta that laws of the start come near to, its `upper` over all pairs of starts."""
        if epsilon > SMALLEST:
            raise Unsupported(f"the audit of a long chain's delta takes an epsilon up to {SMALLEST:g}")
        spans = [places_of_mass(axis.noise, axis.ends) for axis in self.sums.axes]
        outputs = [range(span[0], span[-1] + 1) for span in spans]
        self.check(outputs)
        factor = math.exp(epsilon)
        low = high = 0.0
        place, comparison = -1, ""
        starts = range(self.sequence.count_of_starts)
        every = itertools.chain.from_iterable(block.each() for block in self._blocks(outputs))
        for entry, paths_of_entry, pairs, masses, laws in every:
            with np.errstate(divide="ignore", invalid="ignore"):
                given = laws / masses[:, :, None]
            for (a, b), i, j in itertools.product(pairs, starts, starts):
                if not (masses[i, a] > 0 and masses[j, b] > 0):
                    continue
                excess = np.maximum(given[i, a] - factor * given[j, b], 0.0)
                delta = float(excess.sum())
                high, comparison = max(high, delta), comparison or self._describe(entry, paths_of_entry, a, b)
                if not is_limit(i, j, masses[:, a], masses[:, b]):
                    continue
                if delta > low * (1 + EQUAL) or place < 0:
                    place, comparison = int(excess.argmax()), self._describe(entry, paths_of_entry, a, b)
                low = max(low, delta)
        error = 4 * self.relative_error + math.prod(map(len, outputs)) * UNIT + 1e-24 * len(outputs)
        return self._audit(low, high, error, comparison, outputs, place)

    def _blocks(self, outputs: Sequence[range]) -> Iterator[Block]:
        matrices = list(itertools.starmap(noise_matrix, zip(self.sums.axes, outputs, strict=True)))
        supports = np.array(list(self.sequence.supports()))
        for secret, rows in itertools.chain.from_iterable(map(self._paths, self.secrets)):
            compared = dict(self._compared(secret, rows, supports))
            entries = sorted(entry for entry, (pairs, _) in compared.items() if pairs)
            size = self.sequence.count_of_starts * len(rows)
            size *= max(self.sums.codes, math.prod(map(len, outputs)))
            joint = self.sums.joint(dict.fromkeys(entries, rows))
            step = max(1, BLOCK // size)
            for first in range(0, len(entries), step):
                several = entries[first : first + step]
                laws = np.array(list(itertools.islice(joint, len(several))))
                masses, can = laws.sum(axis=3), np.array([compared[entry][1] for entry in several])
                if (can & (masses < math.exp(-SMALLEST))).any():
                    raise _underflow(SMALLEST)
                noisy = self._with_noise(laws, matrices)
                yield Block(several, [compared[entry][0] for entry in several], masses, noisy, rows)

    def _paths(self, secret: Secret) -> Iterator[tuple[Secret, IntArray]]:
        """Yield a secret with the paths of its runs, by their length; those of a single entry are its values."""
        lengths = {1} if not is_of_runs(secret) else {length for _, length in runs_of(secret, self.belief)}
        for length in sorted(lengths):
            yield secret, paths(self.sequence.states, length)

    def _compared(
        self, secret: Secret, rows: IntArray, supports: BoolArray
    ) -> Iterator[tuple[int, tuple[Pairs, BoolArray]]]:
        """Yield each secret entry, with the pairs of its paths and whether each start leads to each of them."""
        if not is_of_runs(secret):
            for entry, pairs in of_entries(
                secret, self.belief, lambda i: np.flatnonzero(supports[i].any(axis=0)).tolist()
            ):
                yield entry, (pairs, supports[entry])
            return
        for first, length in runs_of(secret, self.belief):
            if length != rows.shape[1]:
                continue
            can = supports[first][:, rows[:, 0]]
            for place in range(length - 1):
                can = can & (self.sequence.step(first + place)[rows[:, place], rows[:, place + 1]] > 0)
            possible = np.flatnonzero(can.any(axis=0)).tolist()
            yield first, (tuple(itertools.permutations(possible, 2)), can)

    @cached_property
    def _most_compared(self) -> int:
        """Return the most values of an entry, or paths of a run, that are compared."""
        every = itertools.chain.from_iterable(map(self._paths, self.secrets))
        return max(len(rows) for _, rows in every)

    def _with_noise(self, laws: FloatArray, matrices: Sequence[FloatArray]) -> FloatArray:
        table = laws.reshape(*laws.shape[:3], *self.sums.widths) * LARGE  # so that no product is near 1e-308
        for number, matrix in enumerate(matrices):
            table = np.moveaxis(np.tensordot(table, matrix, axes=(number + 3, 1)), -1, number + 3)
        return np.asarray(table.reshape(*laws.shape[:3], -1) / LARGE)

    def _describe(self, entry: int, rows: IntArray, a: int, b: int) -> str:
        return compared_runs(self.belief, entry, (tuple(rows[a].tolist()), tuple(rows[b].tolist()))).label

    def _audit(
        self, value: float, upper: float, error: float, comparison: str, outputs: Sequence[range], place: int
    ) -> Audit:
        """Return the largest loss or delta, with the output in its place, in answer units."""
        output = list[Fraction]()
        if place >= 0:
            indices = np.unravel_index(place, tuple(map(len, outputs)))
            for axis, values, index in zip(self.sums.axes, outputs, indices, strict=True):
                output.append(values[int(index)] * axis.noise.grid)
        return Audit(value, comparison, tuple(output), max(0.0, value - error), upper + error)


def sweep_of(belief: Belief, framework_secrets: Sequence[Secret], releases: Sequence[tuple[Any, Any]]) -> Sweep | None:
    """Return the sweep of a chain with too many joint states to list, sums and additive noise, else None."""
    if len(belief.components()) == 1:  # of a belief from outside this is the chain that it says it is
        belief = belief.component(0)
    sequence = Chained.of(belief)
    if sequence is None or sequence.joint_states_within(LISTED):
        return None
    if any(secrets.view(secret, belief) is not None for secret in framework_secrets):
        return None
    axes = []
    for query, noise in releases:
        answer = resolved(query, belief)
        if not isinstance(answer, Additive) or not isinstance(noise, DiscreteLaplace | RoundedLaplace | RoundedNormal):
            return None
        if answer.cells != noise.cells:
            return None  # `releases` says what is wrong
        axes += [Axis.of(answer, cell, noise) for cell in range(answer.cells)]
    for axis in axes:
        is_whole = axis.base.denominator == axis.unit.denominator == 1
        if isinstance(axis.noise, DiscreteLaplace) and not is_whole:
            raise InputError(
                f"an answer is not a multiple of the noise's grid {axis.noise.grid}, as discrete noise needs"
            )
    return Sweep(belief, framework_secrets, Sums(sequence, tuple(axes)))


def noise_matrix(axis: Axis, outputs: range) -> FloatArray:
    """Return P(output | sum) of a symmetric noise, shape (outputs, sums)."""
    common = math.lcm(axis.base.denominator, axis.unit.denominator)
    first = int((axis.base - outputs.start) * common)
    sums = first + int(axis.unit * common) * np.arange(axis.width, dtype=np.int64)
    distances = np.abs(common * np.arange(len(outputs), dtype=np.int64)[:, None] - sums)
    different, places_of = np.unique(distances, return_inverse=True)
    with mp.workdps(DIGITS):
        mass = mass_function(axis.noise)
        masses = np.array([float(mass(Fraction(distance, common))) for distance in different.tolist()])
    masses[masses < NOTHING] = 0.0
    return np.asarray(masses[places_of.reshape(distances.shape)])


def _masses_of(axis: Axis, outputs: range) -> float:
    """Return at most how many distances a noise matrix has."""
    common = math.lcm(axis.base.denominator, axis.unit.denominator)
    return min(float(axis.width) * len(outputs), 2.0 * common * len(outputs))


def _reach(axis: Axis) -> Fraction:
    """Return an axis's range over its noise's scale, and one step more on both ends."""
    steps: Fraction = axis.noise.scale / axis.noise.grid
    return (axis.unit * (axis.width - 1) + 2) / steps


def _underflow(reach: float) -> Unsupported:
    return Unsupported(
        f"the audit of this chain would meet masses of e^-{reach:.0f}, and keeps those above e^-{SMALLEST:.0f}",
        fix="audit a shorter sequence, or more noise",
    )


def _ratios(left: FloatArray, masses: FloatArray, right: FloatArray, other_masses: FloatArray) -> FloatArray:
    """Return the largest ratio over start laws, shape (entries, outputs)."""
    # Laws have the shape (entries, starts, outputs), masses (entries, starts).
    starts = left.shape[1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if starts == 1:
            return _quotient(left[:, 0], masses[:, :1], right[:, 0], other_masses[:, :1])
        best = np.zeros((left.shape[0], left.shape[2]))
        for u, v in itertools.combinations(range(starts), 2):
            edge = _on_edge(
                (left[:, u], left[:, v]), (masses[:, u, None], masses[:, v, None]),
                (right[:, u], right[:, v]), (other_masses[:, u, None], other_masses[:, v, None]),
            )  # fmt: skip
            best = np.maximum(best, edge)
    return best


Two = tuple[FloatArray, FloatArray]


def _on_edge(left: Two, masses: Two, right: Two, other_masses: Two) -> FloatArray:
    """Return the largest ratio over the mixtures of two starts, odds t of the second."""
    # log (A + tA')(b + tb')/((a + ta')(B + tB')) has derivative 0 where the quadratic is 0 of which these are parts:
    # (A'a - A a')(b + tb')(B + tB') + (b'B - b B')(A + tA')(a + ta').
    sides = [(x / np.maximum(np.maximum(x, y), 1e-320), y / np.maximum(np.maximum(x, y), 1e-320))
             for x, y in (left, masses, right, other_masses)]  # fmt: skip
    (n, n2), (m, m2), (k, k2), (q, q2) = sides
    size = _quotient(*(np.maximum(x, y) for x, y in (left, masses, right, other_masses)))
    # At an end a hypothesis that one start cannot lead to has the law that the other start gives it.
    at_u = _quotient(np.where(m > 0, n, n2), np.where(m > 0, m, m2), np.where(q > 0, k, k2), np.where(q > 0, q, q2))
    at_v = _quotient(np.where(m2 > 0, n2, n), np.where(m2 > 0, m2, m), np.where(q2 > 0, k2, k), np.where(q2 > 0, q2, q))
    best = np.maximum(at_u, at_v)
    first, second = n2 * m - n * m2, q2 * k - q * k2
    square, linear, constant = (
        first * q2 * k2 + second * n2 * m2,
        first * (q * k2 + q2 * k) + second * (n * m2 + n2 * m),
        first * q * k + second * n * m,
    )
    root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0.0))
    half_sum = -(linear + np.copysign(root, linear)) / 2
    for odds in (half_sum / square, constant / half_sum):
        odds = np.where((odds > 0) & np.isfinite(odds), odds, 1.0)
        best = np.maximum(best, _quotient(n + odds * n2, m + odds * m2, k + odds * k2, q + odds * q2))
    return np.asarray(best * size)


def _quotient(law: FloatArray, mass: FloatArray, other_law: FloatArray, other_mass: FloatArray) -> FloatArray:
    """Return (law / mass) / (other law / other mass), 0 for an impossible side."""
    possible = (mass > 0) & (other_mass > 0)
    return np.asarray(np.where(possible, (law / mass) / (other_law / other_mass), 0.0))
