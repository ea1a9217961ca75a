"""Bounds on log E exp(tilt * N) of a number N of steps of a chain, or of independent pieces of one.

Where not too many runs of steps are counted differently they are exact, by following the mean of exp(tilt * N(x))
backwards. Elsewhere they are those of a martingale (W. Hoeffding, JASA 58 (1963); K. Azuma, Tohoku Math. J. 19 (1967)):
what step i tells of N lies within the sum over j >= i of osc(f_j) * d(j - i), d(l) being the largest distance in total
variation of two rows of l steps. So log E exp(tilt * (N - E N)) <= tilt^2 / 8 * sum_j osc(f_j)^2 * (sum_l d(l))^2, by
Young's inequality. No promise rests on either: they are floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import groupby

import numpy as np

from takifugu.analysis.expectations.regions import OfChains
from takifugu.analysis.questions.expected_answer import expected, expected_range
from takifugu.analysis.questions.likely_range import LOG_MOMENTS_OF_PIECES, of_components
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.alike import alike
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain, over_period
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.queries.answer import Additive

#: For each tilt a matrix, shape (tilts, rows, columns), and the log of what it was divided by, shape (tilts,).
Scaled = tuple[FloatArray, FloatArray]

#: Exact moments of a chain of which more runs of steps are counted differently, or of more pieces, or classes of them,
#: are not worth their time.
MOST_RUNS, MOST_PIECES, MOST_CLASSES = 1_000, 10_000, 64
#: Pieces of so many steps are followed at once, step by step, where steps are counted alike.
MOST_STEPS = 20_000
#: The most states of a chain whose matrices are multiplied for each tilt.
MOST_STATES = 40
#: A chain that forgets nothing within so many doublings of its period is taken to remember everything.
DOUBLINGS = 40


def of_chain(chain: PeriodicChain, count: Additive, tilts: FloatArray) -> FloatArray:
    """Bound the moments of a chain's number, of an unknown start the largest."""
    runs = _runs(count)
    if len(runs) > MOST_RUNS or len(chain.states) > MOST_STATES:
        return _of_martingale(count, tilts, memory(chain), *expected_range(chain, count))
    return _exact(chain, count, tilts, runs)


def of_pieces(pieces: IndependentPieces, count: Additive, tilts: FloatArray) -> FloatArray:
    """Bound the moments by what each piece is."""
    return LOG_MOMENTS_OF_PIECES.of(pieces.chain)(pieces.chain, pieces, count, tilts)


def of_chains(
    chain: PeriodicChain, pieces: IndependentPieces, count: Additive, tilts: FloatArray
) -> FloatArray:
    """Add up the classes of pieces that are alike, or bound all of them at once."""
    if len(pieces.lengths) <= MOST_PIECES and sum(1 for _ in alike(pieces, count)) <= MOST_CLASSES:
        return of_components(pieces, count, tilts)
    bound = _of_martingale(count, tilts, memory(chain), *expected_range(pieces, count))
    if chain.period == 1 and max(pieces.lengths) <= MOST_STEPS and len(chain.states) <= MOST_STATES:
        bound = np.minimum(bound, _of_whole_pieces(chain, pieces, count, tilts))
    return bound


def _of_whole_pieces(
    chain: PeriodicChain, pieces: IndependentPieces, count: Additive, tilts: FloatArray
) -> FloatArray:
    """Bound the moments by those of all steps, where the steps that are read count alike; infinite elsewhere."""
    kinds, times = count.total_kinds
    is_read = kinds[0] != 0
    read = np.unique(kinds[:, is_read], axis=1).T
    if len(read) != 1:
        return np.full(len(tilts), np.inf)
    weight, table = read[0].tolist()
    contribution, unread = count.tables[table][:, 0] * weight, float(times[~is_read].sum())
    # a step that is not read takes away what it would add, at the most or at the least
    taken = np.maximum(-tilts * float(contribution.min()), -tilts * float(contribution.max()))
    lengths, times = np.unique(pieces.lengths_of_pieces, return_counts=True)
    return _of_beginnings(chain, contribution, tilts, lengths, times) + unread * taken


def of_class(chains: Belief, pieces: Belief, count: Additive, tilts: FloatArray) -> FloatArray:
    """Bound the moments of all pieces of chains of a class at once."""
    expects = expected(chains)
    assert isinstance(expects, OfChains)
    return _of_martingale(count, tilts, expects.memory, *expected_range(pieces, count))


def of_one_piece(chains: Belief, count: Additive, tilts: FloatArray) -> FloatArray:
    """Bound the moments under every chain of a class: it is its only piece."""
    return LOG_MOMENTS_OF_PIECES.of(chains)(chains, chains, count, tilts)


def _of_martingale(
    count: Additive, tilts: FloatArray, remembered: float, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Bound the moments of a number of a chain's steps, whose mean lies between two ends in answer units."""
    remembered = min(remembered, float(count.size))
    mean = np.where(tilts > 0, high[0], low[0]) / float(count.grid)
    return np.asarray(tilts * mean + tilts**2 / 8 * squared_spreads(count) * remembered**2)


def squared_spreads(count: Additive) -> float:
    """Add up the square of what each step can change, in grid units."""
    spreads = np.array([float(np.ptp(table)) for table in count.tables])
    (weights, tables), lengths = count.total_kinds
    return float(((weights * spreads[tables]) ** 2 * lengths).sum())


def memory(chain: PeriodicChain) -> float:
    """Bound the sum over l of the largest distance of two rows of l steps, infinite where none shrinks."""
    total, steps = float(chain.period), over_period(chain.step_matrices, np.matmul)
    for _ in range(DOUBLINGS):
        distance = float(max(map(_largest_distance, steps)))
        if distance <= 0.75:
            return total / (1 - distance)
        total *= 1 + distance
        steps = steps @ steps
    return np.inf


def _largest_distance(matrix: FloatArray) -> float:
    """Return the largest distance in total variation of two rows."""
    return max(float(np.abs(matrix - row).sum(axis=1).max()) / 2 for row in matrix)


def _exact(chain: PeriodicChain, count: Additive, tilts: FloatArray, runs: list[tuple[int, int]]) -> FloatArray:
    """Follow the mean of exp(tilt * N(x)) backwards through the steps."""
    onwards: Scaled = np.ones((len(tilts), len(chain.states), 1)), np.zeros(len(tilts))
    known = dict[tuple[bytes, int, int], Scaled]()
    for first, last in reversed(runs):
        contribution = count.contribution(first)[:, 0]
        key = contribution.tobytes(), first % chain.period, last - first
        if key not in known:
            known[key] = _of_run(chain, np.exp(np.multiply.outer(tilts, contribution)), *key[1:])
        onwards = _times(known[key], onwards)
    vectors, scale = onwards[0][:, :, 0], onwards[1]
    sums = vectors.max(axis=1) if chain.starts_anyhow else vectors @ start_of(chain)
    return np.asarray(scale + np.log(sums))


def _of_beginnings(
    chain: PeriodicChain, contribution: IntArray, tilts: FloatArray, lengths: IntArray, times: IntArray
) -> FloatArray:
    """Add up the moments of pieces of these lengths, each so many times: one step more for all of them at a time."""
    gains = np.exp(np.multiply.outer(tilts, contribution))
    vectors, scale, total = np.ones_like(gains), np.zeros(len(tilts)), np.zeros(len(tilts))
    start = None if chain.starts_anyhow else start_of(chain)
    times_of = dict(zip(lengths.tolist(), times.tolist(), strict=True))
    for length in range(1, int(lengths[-1]) + 1):
        vectors = gains * (vectors @ chain.step_matrices[0].T)
        largest = vectors.max(axis=1)
        vectors, scale = vectors / largest[:, np.newaxis], scale + np.log(largest)
        if length in times_of:
            sums = vectors.max(axis=1) if start is None else vectors @ start
            total += times_of[length] * (scale + np.log(sums))
    return total


def _of_run(chain: PeriodicChain, gains: FloatArray, phase: int, length: int) -> Scaled:
    """Return what a run of steps with these gains does to the mean behind it."""
    parts = list[Scaled]()
    for stretches, times in periods_of(chain, phase, length):
        steps = [_power((gains[:, :, np.newaxis] * matrix, np.zeros(len(gains))), n) for matrix, n in stretches]
        parts.append(_power(reduce(_times, steps), times))
    return reduce(_times, parts)


def periods_of(chain: PeriodicChain, phase: int, length: int) -> Iterator[tuple[list[tuple[FloatArray, int]], int]]:
    """Yield a run's whole periods and its rest: their stretches of steps with one matrix, and how often they come."""
    periods, rest = divmod(length, chain.period)
    for size, times in ((chain.period, periods), (rest, 1)):
        if size and times:
            matrix_of = [chain.matrix_of[(chain.start + phase + step) % chain.period] for step in range(size)]
            yield [(chain.matrices[number], len(list(steps))) for number, steps in groupby(matrix_of)], times


def _runs(count: Additive) -> list[tuple[int, int]]:
    """Return the longest runs [first, end) of steps with equal contributions."""
    kinds = count.table_numbers
    changes = (np.diff(kinds) != 0) | (np.diff(count.weights) != 0)
    starts = [0, *(1 + np.flatnonzero(changes)).tolist()]
    added = groupby(starts, key=lambda first: count.contribution(first).tobytes())
    cuts = [next(alike) for _, alike in added]
    return list(zip(cuts, [*cuts[1:], count.size], strict=True))


def start_of(chain: PeriodicChain) -> FloatArray:
    """Return the known law of the first step."""
    if not isinstance(chain.initial, str):
        return np.array(chain.initial, dtype=np.float64)
    return chain.stationary_laws[0].floats()


def _times(left: Scaled, right: Scaled) -> Scaled:
    product = left[0] @ right[0]
    largest = product.max(axis=(1, 2))
    return product / largest[:, np.newaxis, np.newaxis], left[1] + right[1] + np.log(largest)


def _power(matrix: Scaled, exponent: int) -> Scaled:
    power: Scaled = np.broadcast_to(np.eye(matrix[0].shape[1]), matrix[0].shape), np.zeros(len(matrix[1]))
    while exponent:
        if exponent % 2:
            power = _times(power, matrix)
        matrix, exponent = _times(matrix, matrix), exponent // 2
    return power
