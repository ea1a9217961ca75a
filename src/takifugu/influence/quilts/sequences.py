"""The noise that the worst entry of a sequence needs with its best Markov quilt (Song17 Algorithms 3 and 4).

The quilts of entry i are {X_{i-a}, X_{i+b}} with near set {i-a+1, ..., i+b-1}, those with one node, and the trivial one
(Song17 Lemma B.2). No other set does better: of whatever lies outside a near set only the nearest node on each side
matters to X_i, and cutting the near set down to the run around i only lowers D.

These are the printed mechanisms, for comparison: `influence` needs no more noise for any sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from takifugu.analysis.bounds import Witness
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Worst
from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.influence.quilts.scores import SAME, exact_scale, scores, settle
from takifugu.model.secrets.families import Family
from takifugu.model.secrets.hypotheses import compared
from takifugu.numbers.rationals import float_below
from takifugu.numbers.runs import Runs

#: Distance up to which quilts are searched first.
FIRST_REACH = 32
#: Changes of one query stay below this, so that they are exact in floats too.
MOST_CHANGE = 2**53


class Influences(Protocol):
    """What nodes tell of an entry at most, by pair of values (columns), and what no pair tells: e is their sum."""

    @property
    def pairs(self) -> tuple[tuple[int, int], ...] | None: ...

    @property
    def farthest(self) -> int: ...

    def alive(self, entries: IntArray) -> BoolArray:
        """Return which pairs have two possible values, (entries, pairs)."""

    def after(self, entry: int, count: int) -> FloatArray:
        """Return what nodes 1, ..., `count` steps later tell, (count, pairs)."""

    def before(self, entry: int, count: int) -> FloatArray:
        """Return what nodes 1, ..., `count` steps earlier tell, (count, pairs)."""

    def largest(self, entries: IntArray, left: int | None, right: int | None) -> FloatArray:
        """Bound e over the pairs alive, for nodes at these distances from each entry."""


class RunningChange:
    """D(N) of one query for runs of entries, in grid units, from running sums."""

    def __init__(self, changes: IntArray) -> None:
        self.each = Runs.of(changes)
        self.size = self.each.size
        if float((self.each.values.astype(np.float64) * self.each.lengths).sum()) >= MOST_CHANGE:
            raise Unsupported(
                f"the answer can change by {MOST_CHANGE} steps of its grid or more, too many to add exactly",
                fix="declare a coarser grid",
            )

    def between(self, low: IntArray, high: IntArray | int) -> FloatArray:
        """Return D of the runs low .. high - 1."""
        change = self.each.sum_before(np.asarray(high)) - self.each.sum_before(low)
        return np.asarray(change, dtype=np.float64)

    def total(self) -> float:
        """Return D of all entries."""
        return float(self.between(np.array([0]), self.size)[0])


@dataclass(frozen=True)
class Quilt:
    """Nodes at distance `left` before and `right` after an entry, or None."""

    left: int | None = None
    right: int | None = None


@dataclass(frozen=True)
class Best:
    """The best quilt of one entry, with its change and influence there."""

    entry: int
    quilt: Quilt
    change: float
    influence: float


@dataclass(frozen=True, eq=False)
class Sequence:
    """A sequence's influences, and the answer's changes along it."""

    influences: Influences
    change: RunningChange

    def near(self, quilt: Quilt, entries: IntArray) -> tuple[IntArray, IntArray]:
        """Return the near runs low .. high - 1; a node outside the sequence is missing."""
        low = np.zeros_like(entries) if quilt.left is None else np.maximum(entries - quilt.left + 1, 0)
        reach = self.change.size if quilt.right is None else quilt.right
        return low, np.minimum(entries + reach, self.change.size)

    def at(self, quilt: Quilt, entries: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return D(N) and a bound on e of a quilt at each entry."""
        low, high = self.near(quilt, entries)
        influence = np.zeros(len(entries))
        has_left, has_right = low > 0, high < self.change.size
        for left in (None, quilt.left):
            for right in (None, quilt.right):
                of_kind = (has_left == (left is not None)) & (has_right == (right is not None))
                if of_kind.any() and not left is right is None:
                    influence[of_kind] = self.influences.largest(entries[of_kind], left, right)
        return self.change.between(low, high), np.maximum(influence, 0.0)

    def sides(self, entry: int, reach: int) -> tuple[Choices, Choices]:
        """Return the choices of a node on both sides of an entry, up to a distance, or none."""
        here, size = self.influences, self.change.size
        alive = here.alive(np.array([entry]))[0]
        back, ahead = min(entry, reach, here.farthest), min(size - 1 - entry, reach, here.farthest)
        lows = np.append(entry - np.arange(back), 0)
        highs = np.append(entry + 1 + np.arange(ahead), size)
        nothing = np.zeros((1, int(alive.sum())))
        return (
            Choices(self.change.between(lows, entry), np.vstack([here.before(entry, back)[:, alive], nothing])),
            Choices(
                self.change.between(np.full(ahead + 1, entry + 1), highs),
                np.vstack([here.after(entry, ahead)[:, alive], nothing]),
            ),
        )  # fmt: skip

    def best(self, entry: int, epsilon: float) -> tuple[Best, float]:
        """Return one entry's quilt of least scale, and this scale (Song17 Algorithm 4)."""
        of_entry, reach = float(self.change.between(np.array([entry]), entry + 1)[0]), FIRST_REACH
        size, most = self.change.size, self.influences.farthest
        while True:
            left, right = self.sides(entry, reach)
            scale, a, b = least(of_entry, left, right, epsilon)
            # A near set that moves the answer by epsilon times the best scale is no better: farther nodes are left out.
            useful = of_entry + np.array([left.moved[-1], right.moved[-1]])
            if reach < min(entry, most):
                useful[0] = of_entry + float(self.change.between(np.array([entry - reach]), entry)[0])
            if reach < min(size - 1 - entry, most):
                useful[1] = of_entry + float(self.change.between(np.array([entry + 1]), entry + 1 + reach)[0])
            is_wide = reach < min(max(entry, size - 1 - entry), most)
            if not is_wide or not (useful < epsilon * scale).any():
                break
            reach *= 2
        change = of_entry + float(left.moved[a] + right.moved[b])
        influence = max(0.0, float((left.influence[a] + right.influence[b]).max(initial=0.0)))
        return Best(entry, Quilt(left.distance(a), right.distance(b)), change, influence), scale


@dataclass(frozen=True)
class Choices:
    """The nodes on one side of an entry, outward, and none as the last."""

    moved: FloatArray  # the change that each choice puts into the near set
    influence: FloatArray  # [choice, pair]

    def distance(self, choice: int) -> int | None:
        """Return the distance of a choice's node, if any."""
        return None if choice == len(self.moved) - 1 else choice + 1

    def within(self, epsilon: float) -> IntArray:
        """Return the choices whose own influence leaves room."""
        return np.flatnonzero(self.influence.max(axis=1, initial=0.0) <= epsilon)


def least(of_entry: float, left: Choices, right: Choices, epsilon: float) -> tuple[float, int, int]:
    """Return the least (D_i + D_left + D_right)/(epsilon - max over pairs of e_left + e_right), and its choices."""
    best = (np.inf, len(left.moved) - 1, len(right.moved) - 1)
    rows, columns = left.within(epsilon), right.within(epsilon)
    changes, influences = right.moved[columns], right.influence[columns]
    for a in rows.tolist():
        moved = of_entry + float(left.moved[a])
        if moved > epsilon * best[0]:
            break
        near = int(np.searchsorted(changes, epsilon * best[0] - moved, side="right"))
        if near:
            together = (left.influence[a] + influences[:near]).max(axis=1, initial=0.0)
            scale = scores(moved + changes[:near], together, epsilon)
            b = int(scale.argmin())
            if scale[b] < best[0]:
                best = float(scale[b]), a, int(columns[b])
    return best


def needed(part: Part, influences: Influences, epsilon: Fraction) -> Worst:
    """Return the largest need over the secret entries of a part, by their best quilts."""
    sequence = Sequence(influences, RunningChange(part.answer.entry_changes()))
    limit, total = float_below(epsilon), sequence.change.total()

    def spread(best: Best, entries: IntArray) -> FloatArray:
        return scores(*sequence.at(best.quilt, entries), limit)

    secret = _secret(part.family, influences, sequence.change.size)
    trivial = Best(-1, Quilt(), total, 0.0)
    bound, settled = settle(secret, trivial, total / limit, lambda entry: sequence.best(entry, limit), spread)
    ties = [_largest(sequence, best, entries, epsilon) for best, entries in settled]
    # An entry whose float bound is not among the ties requires no more than this, whatever epsilon - e has cancelled.
    floor = Fraction(bound) * (1 - 9 * Fraction(SAME))
    scale, worst = max(ties, key=lambda tie: tie[0])
    return Worst(max(scale, floor), lambda: _witness(part, sequence, worst))


def _secret(family: Family, influences: Influences, size: int) -> BoolArray:
    """Return the entries with a possible pair to hide."""
    listed = np.asarray(family.entries, dtype=np.int64)
    secret = np.zeros(size, dtype=bool)
    secret[listed] = influences.alive(listed).any(axis=1)
    return secret


def _largest(sequence: Sequence, best: Best, entries: IntArray, epsilon: Fraction) -> tuple[Fraction, Best]:
    """Return one quilt's largest scale over some entries, exactly."""
    change, influence = sequence.at(best.quilt, entries)
    itself = entries == best.entry
    change[itself], influence[itself] = best.change, best.influence
    _, first_places = np.unique(np.stack([change, influence], axis=1), axis=0, return_index=True)
    places = [*first_places.tolist(), *np.flatnonzero(itself).tolist()]
    scales = []
    for at in places:
        alike = Best(int(entries[at]), best.quilt, float(change[at]), float(influence[at]))
        scales.append((exact_scale(alike.change, alike.influence, epsilon), alike))
    return max(scales, key=lambda tie: (tie[0], tie[1].entry == best.entry))


def _witness(part: Part, sequence: Sequence, worst: Best) -> Witness:
    """Return the comparison at an entry that is told best, and the quilt that protects it."""
    numbers = (("influence", worst.influence), ("D", worst.change))
    entry, quilt, influences = worst.entry, worst.quilt, sequence.influences
    low, high = (int(end[0]) for end in sequence.near(quilt, np.array([entry])))
    words = quilt_words(low, high, sequence.change.size, part.start)
    if influences.farthest < sequence.change.size - 1:
        words += f"; nodes farther than {influences.farthest} steps were not searched"
    if influences.pairs is None:
        return Witness(f"any two values of step {part.start + entry}", words, numbers)
    total = np.where(influences.alive(np.array([entry]))[0], 0.0, -np.inf)
    if low > 0:
        total = total + influences.before(entry, entry - low + 1)[-1]
    if high < sequence.change.size:
        total = total + influences.after(entry, high - entry)[-1]
    pair = influences.pairs[int(total.argmax())]
    return Witness(compared(part.belief, entry, pair, part.start).label, words, numbers)


def quilt_words(low: int, high: int, size: int, start: int = 0) -> str:
    """Describe the nodes around a near set low .. high - 1."""
    nodes = [start + node for node, inside in ((low - 1, low > 0), (high, high < size)) if inside]
    near = f"near set: steps {start + low} to {start + high - 1}"
    if low == high - 1:
        near = f"near set: step {start + low}"
    if not nodes:
        return f"trivial quilt; {near}"
    return f"quilt: {'steps' if len(nodes) > 1 else 'step'} {' and '.join(map(str, nodes))}; {near}"
