"""log E exp(tilt * N) of a count N under a chain, users and records: floats, because no promise rests on them."""

from __future__ import annotations

from functools import reduce

import numpy as np
import numpy.typing as npt

from takifugu.analysis.answer_laws.expected import laws_of_users
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.records.records import Records
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.queries.additive import Additive

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
#: For each tilt a matrix, shape (tilts, rows, columns), and the log of what it was divided by, shape (tilts,).
Scaled = tuple[FloatArray, FloatArray]

#: The moments of a chain of which more runs of steps are counted differently are not worth their time.
MOST_RUNS = 1_000


def of_chain(chain: PeriodicChain, count: Additive, tilts: FloatArray) -> FloatArray:
    """Follow sum over x of P(x) exp(tilt * N(x)) from the last step to the first; of any start it is the largest."""
    runs, states = _runs(count), len(chain.states)
    if len(runs) > MOST_RUNS:
        return np.full(len(tilts), np.inf)
    onwards: Scaled = np.ones((len(tilts), states, 1)), np.zeros(len(tilts))
    for first, last in reversed(runs):
        gains = np.exp(np.multiply.outer(tilts, count.contribution(first)[:, 0]))[:, :, np.newaxis]
        steps = [(gains * matrix, np.zeros(len(tilts))) for matrix in chain.step_matrices]
        period = steps[first % chain.period :] + steps[: first % chain.period]
        periods, rest = divmod(last - first, chain.period)
        for step in reversed(period[:rest]):
            onwards = _times(step, onwards)
        onwards = _times(_power(reduce(_times, period), periods), onwards)
    vectors, scale = onwards[0][:, :, 0], onwards[1]
    return np.asarray(scale + np.log(vectors.max(axis=1) if chain.starts_anyhow else vectors @ _start(chain)))


def _runs(count: Additive) -> list[tuple[int, int]]:
    """Return the longest runs of steps, first and last + 1, that add the same for each value."""
    kinds = np.zeros(count.size, dtype=np.int64) if count.table_of is None else count.table_of
    changes = (np.diff(kinds) != 0) | (np.diff(count.weights) != 0)
    starts = [0, *(1 + np.flatnonzero(changes)).tolist()]
    added = [count.contribution(first).tobytes() for first in starts]
    cuts = [first for place, first in enumerate(starts) if not place or added[place] != added[place - 1]]
    return list(zip(cuts, [*cuts[1:], count.size], strict=True))


def _start(chain: PeriodicChain) -> FloatArray:
    if not isinstance(chain.initial, str):
        return np.array(chain.initial, dtype=np.float64)
    first = chain.stationary_laws[0]
    return np.asarray(first.mantissas * 2.0**first.exponents)


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


def of_users(users: IndependentUsers, count: Additive, tilts: FloatArray) -> FloatArray:
    """Users are independent: the logs of their moments add up."""
    return _of_groups(count, users.law_of, laws_of_users(users), tilts)


def of_records(records: Records, count: Additive, tilts: FloatArray) -> FloatArray:
    """Records are independent, and of one law."""
    masses = np.array([float(mass) for mass in records.table.masses])
    return _of_groups(count, np.zeros(count.size, dtype=np.int64), [masses / masses.sum()], tilts)


def _of_groups(count: Additive, group: IntArray, laws: list[FloatArray], tilts: FloatArray) -> FloatArray:
    """Return the sum where entry i has the law `laws[group[i]]`; entries that add the same are taken together."""
    kinds = np.zeros(count.size, dtype=np.int64) if count.table_of is None else count.table_of
    different, times = np.unique(np.stack([group, kinds, count.weights]), axis=1, return_counts=True)
    total = np.zeros(len(tilts))
    for (law, table, weight), entries in zip(different.T.tolist(), times.tolist(), strict=True):
        gains = np.exp(np.multiply.outer(tilts, weight * count.tables[table][:, 0]))
        total += entries * np.log(gains @ laws[law])
    return total
