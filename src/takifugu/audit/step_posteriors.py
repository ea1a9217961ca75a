"""What a reader thinks of each step of a recording, before and after a table: exact, by forward and backward sums.

The reader takes the chain for true, and knows everybody else's data. Each cell of the table is a sum over steps and
noise. A cell is open from the first step that may add to it to the last. Let F_t(v, s) be the law of X_t = v and the
sums s of the open cells, jointly with the published values of the cells closed before, and B_t(v, s) the likelihood of
all other published values given X_t = v and s. Then

    P(X_t = v | table) is proportional to the sum over s of F_t(v, s) B_t(v, s).

Only sums that some recording has are kept, so that cells one after the other cost no more than the longest of them.
All terms are positive. The noise is that of its definition (`noise_masses`), and nothing of the calibration is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.analysis.randomisers import Randomiser
from takifugu.audit.compared_pairs import Pairs
from takifugu.audit.noise_masses import likelihood
from takifugu.audit.partial_sums import Chained
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.model.queries import Additive

#: Most numbers of all F together; most numbers that all steps add to the cells.
MOST_NUMBERS, MOST_ADDED = 1e7, 2e7
#: Sums of all open cells are one whole number below this.
LARGEST_CODE = 2**62
#: How far beyond a promise the log of the odds may be by rounding.
ROUNDED = 1e-9
#: Floats tell no probability nearer to one.
UNIT = 2.0**-53


@dataclass(frozen=True, eq=False)
class Closing:
    """A cell whose last step this is: the sums that it can have, in grid units, and which one each code has."""

    cell: int
    sums: IntArray
    sum_of: IntArray


@dataclass(frozen=True, eq=False)
class Stop:
    """One step of the walk: where each code goes for each state, which cells close, and what is left of each code."""

    into: IntArray
    codes: int
    closing: tuple[Closing, ...]
    left: IntArray | None


@dataclass(frozen=True, eq=False)
class Walk:
    """The open cells along a recording of a known start, and the sums that they can have."""

    chain: Chained
    answer: Additive
    stops: tuple[Stop, ...]

    @staticmethod
    def of(chain: Chained, answer: Additive, most: float = MOST_NUMBERS) -> Walk:
        """Return the walk along a recording; Unsupported for more than `most` numbers."""
        if chain.length * chain.states * answer.cells > MOST_ADDED:
            raise _too_long()
        added = np.stack([answer.contribution(step) for step in range(chain.length)])
        least = added.min(axis=1, keepdims=True)
        return Walk(chain, answer, tuple(_stops(added - least, least.sum(axis=(0, 1)), most)))

    def after(self, noise: Randomiser, published: Sequence[Fraction]) -> FloatArray:
        """Return what the reader thinks of each step after a table in answer units, shape (steps, states)."""
        weights = self._weights(noise, published)
        laws, result = self._forward(weights), np.zeros((self.chain.length, self.chain.states))
        back = np.ones((self.chain.states, 1))
        for step in range(self.chain.length - 1, -1, -1):
            stop = self.stops[step]
            here = (back if stop.left is None else back[:, stop.left]) * weights[step]
            result[step] = (laws[step] * here).sum(axis=1)
            if step:
                back = self.chain.step(step - 1) @ np.take_along_axis(here, stop.into, axis=1)
                back = back / back.max()
        return np.asarray(result / result.sum(axis=1, keepdims=True))

    def _forward(self, weights: Sequence[FloatArray]) -> list[FloatArray]:
        """Return F of each step, shape (states, codes)."""
        law, laws = self.chain.starts[0][:, None], list[FloatArray]()
        for step, stop in enumerate(self.stops):
            if step:
                law = self.chain.step(step - 1).T @ law
            here = np.zeros((self.chain.states, stop.codes))
            np.put_along_axis(here, stop.into, law, axis=1)
            laws.append(here)
            law = here * weights[step]
            if stop.left is not None:
                law = np.array([np.bincount(stop.left, row) for row in law])
            total = float(law.sum())
            if not total:
                raise Unsupported("the table is next to impossible under the belief", fix="attack another table")
            law = law / total
        return laws

    def _weights(self, noise: Randomiser, published: Sequence[Fraction]) -> list[FloatArray]:
        """Return the likelihood of the cells that close at each step, by code, over its largest."""
        weights = list[FloatArray]()
        for stop in self.stops:
            weight = np.ones(stop.codes)
            for closed in stop.closing:
                by_sum = likelihood(noise, self.answer.grid, published[closed.cell], closed.sums)
                weight = weight * by_sum[closed.sum_of]
            weights.append(weight)
        return weights


def _stops(added: IntArray, base: IntArray, most: float) -> list[Stop]:
    """Return the stops of what each step adds by state and cell, at least 0, to cells of this base."""
    places, widths, last = _slots(added)
    by_code = (added * places).sum(axis=2)  # what a state of a step adds to the code
    codes, stops, numbers = np.zeros(1, dtype=np.int64), list[Stop](), 0.0
    for step in range(len(added)):
        reached = codes + by_code[step][:, None]
        codes, into = np.unique(reached, return_inverse=True)
        numbers += float(codes.size) * added.shape[1]
        if numbers > most:
            raise _too_long()
        closing, count, left = list[Closing](), codes.size, None
        for cell in np.flatnonzero(last == step).tolist():
            totals = codes // places[cell] % widths[cell]
            sums, sum_of = np.unique(totals, return_inverse=True)
            closing.append(Closing(cell, sums + base[cell], sum_of))
        if closing:
            for closed in closing:
                codes = codes - (closed.sums - base[closed.cell])[closed.sum_of] * places[closed.cell]
            codes, left = np.unique(codes, return_inverse=True)
        stops.append(Stop(into.reshape(reached.shape), count, tuple(closing), left))
    return stops


def _slots(added: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return each cell's factor in the code, how many sums it has room for, and its last step (-1 for none)."""
    # Cells that are never open together share a slot.
    counts = added.max(axis=1)
    cells = counts.shape[1]
    ranges, first, last = 1 + counts.sum(axis=0), np.full(cells, -1), np.full(cells, -1)
    for cell in range(cells):
        steps = np.flatnonzero(counts[:, cell])
        if steps.size:
            first[cell], last[cell] = steps[0], steps[-1]
    slots, slot_of = list[list[int]](), np.zeros(cells, dtype=np.int64)  # of a slot: its width, and when it is free
    for cell in np.argsort(first, kind="stable").tolist():
        if first[cell] < 0:
            continue
        number = next((i for i, (_, busy) in enumerate(slots) if busy < first[cell]), len(slots))
        if number == len(slots):
            slots.append([1, -1])
        slots[number] = [max(slots[number][0], int(ranges[cell])), int(last[cell])]
        slot_of[cell] = number
    if math.prod(width for width, _ in slots) > LARGEST_CODE:
        raise _too_long()
    factors = [math.prod(width for width, _ in slots[:number]) for number in range(len(slots))] or [1]
    widths = [width for width, _ in slots] or [1]
    is_read = first >= 0
    return np.where(is_read, np.array(factors)[slot_of], 0), np.array(widths)[slot_of], last


def _too_long() -> Unsupported:
    what = "too many sums are possible for an exact posterior"
    return Unsupported(what, fix="attack a few whole days, or fewer steps, such as --steps 200")


@dataclass(frozen=True)
class Worst:
    """The two values of a step between which the odds moved most, and how probable the first was of the two."""

    step: int
    pair: tuple[int, int]
    before: float
    after: float


@dataclass(frozen=True)
class Learnt:
    """What a table tells of a recording: the worst step, the truth on average, right guesses, and the promise."""

    worst: Worst
    #: How probable the reader takes what was so, by the mean of its log-odds over the steps.
    truth_before: float
    truth: float
    #: The steps at which the likeliest value is the true one.
    right_before: int
    right: int
    #: The steps where the odds of two values moved further than promised.
    outside: int
    steps: int


def learnt(
    before: FloatArray, after: FloatArray, truth: IntArray, compared: Mapping[int, Pairs], epsilon: float
) -> Learnt:
    """Compare what a reader thinks with what was thought before, over the steps and pairs that are `compared`."""
    # `before` and `after` have shape (steps, states), `truth` the value of each step.
    worst, largest, outside = Worst(0, (0, 0), 0.5, 0.5), -math.inf, 0
    for step, pairs in compared.items():
        gains = {pair: _log_odds(after[step], pair) - _log_odds(before[step], pair) for pair in pairs}
        most = max(gains, key=gains.__getitem__)
        outside += gains[most] > epsilon + ROUNDED
        if gains[most] > largest + ROUNDED:  # of equal ones the first
            largest = gains[most]
            worst = Worst(step, most, _share(before[step], most), _share(after[step], most))
    steps = list(compared)
    (was, right_before), (now, right) = _of_truth(before[steps], truth[steps]), _of_truth(after[steps], truth[steps])
    return Learnt(worst, was, now, right_before, right, outside, len(steps))


def _of_truth(laws: FloatArray, truth: IntArray) -> tuple[float, int]:
    """Return how probable the truth is on average, by the mean of its log-odds, and how often it is likeliest."""
    true = laws[np.arange(len(truth)), truth]
    others = np.maximum(laws.sum(axis=1) - true, UNIT)
    mean = float(np.log(true / others).mean())
    return 1 / (1 + math.exp(-mean)), int((laws.argmax(axis=1) == truth).sum())


def _log_odds(law: FloatArray, pair: tuple[int, int]) -> float:
    one, other = float(law[pair[0]]), float(law[pair[1]])
    if not one or not other:  # as far as floats reach
        return math.inf if one else -math.inf
    return math.log(one / other)


def _share(law: FloatArray, pair: tuple[int, int]) -> float:
    one, other = float(law[pair[0]]), float(law[pair[1]])
    return one / (one + other)
