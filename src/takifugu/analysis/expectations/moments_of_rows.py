"""Bounds on log E exp(tilt * N) under users, records, tables, whole columns, and laws of which only a mean is known.

They are exact but for normal columns that are clipped, for parameters, and for networks and cliques. No promise rests
on them: they are floats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from takifugu.analysis.expectations.columns import means_of_record
from takifugu.analysis.expectations.rows import largest_mean, laws_of_users, masses_of
from takifugu.analysis.questions.evaluating import row_answers
from takifugu.analysis.questions.expected_answer import expected, expected_range
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.records.normal import MultivariateNormal
from takifugu.model.beliefs.records.parameters import Parameters
from takifugu.model.beliefs.records.records import Records
from takifugu.model.beliefs.table import JointTable
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.queries.answer import Additive
from takifugu.model.queries.resolving.columns import ColumnAnswer
from takifugu.model.queries.resolving.real_columns import ColumnSums


def of_users(users: IndependentUsers, count: Additive, tilts: FloatArray) -> FloatArray:
    """Users are independent: the logs of their moments add up."""
    laws, total = laws_of_users(users), np.zeros(len(tilts))
    for law, added, entries in kinds_of(count, users.law_of):
        total += entries * _log_mean(laws[law], np.multiply.outer(tilts, added))
    return total


def of_records(records: Records, count: Additive, tilts: FloatArray) -> FloatArray:
    """Records are independent, and of one law, the worst of a class."""
    total = np.zeros(len(tilts))
    for _, added, entries in kinds_of(count, np.zeros(count.size, dtype=np.int64)):
        for place, gains in enumerate(np.multiply.outer(tilts, added)):
            most = gains.max()
            total[place] += entries * (most + math.log(largest_mean(records, np.exp(gains - most))))
    return total


def of_table(table: JointTable, count: Additive, tilts: FloatArray) -> FloatArray:
    """Each row of a table is one number."""
    return _log_mean(masses_of(table), np.multiply.outer(tilts, row_answers(table, count)))


def of_parameters(belief: Parameters, answer: ColumnAnswer, tilts: FloatArray) -> FloatArray:
    """Given the parameters records are independent: each lies between its ends, with its mean."""
    if not isinstance(answer, ColumnAnswer) or belief.table is None:
        return of_ends(belief, answer, tilts)
    low, high = _addend_ends(answer)
    bounds = list[FloatArray]()
    for row in belief.table.rows:
        mean = float(means_of_record(belief, answer, row)[0])
        bounds.append(answer.records * between(low, high, mean, tilts))
    return _log_mean(masses_of(belief.table), np.array(bounds).T)


def of_ends(belief: Parameters, answer: Any, tilts: FloatArray) -> FloatArray:
    """Whatever the parameters are, given them records are independent, and their mean lies between two ends."""
    is_of_columns = isinstance(answer, ColumnAnswer)
    if not is_of_columns:
        return np.full(len(tilts), np.inf)
    low, high = _addend_ends(answer)
    least, most = (float(mean[0]) / float(answer.grid * answer.records) for mean in expected_range(belief, answer))
    up, down = between(low, high, most, tilts), between(low, high, least, tilts)
    return np.asarray(answer.records * np.where(tilts > 0, up, down))


def _addend_ends(answer: ColumnAnswer) -> tuple[float, float]:
    """Bound what one record adds to a cell."""
    low = sum(float(term.table.min()) for term in answer.terms)
    high = sum(float(term.table.max()) for term in answer.terms)
    return low, high


def of_normal(belief: MultivariateNormal, answer: ColumnSums, tilts: FloatArray) -> FloatArray:
    """A sum of normal numbers is normal; one that clipping or replacing moves is not bounded here."""
    if not isinstance(answer, ColumnSums) or belief.clips(answer.read_columns) or belief.replaces(answer.read_columns):
        return np.full(len(tilts), np.inf)
    row, grid = answer.coefficients[0], float(answer.grid)
    mean = float(answer.size * sum(weight * of_column for weight, of_column in zip(row, belief.mean, strict=True)))
    variance = belief.deviation(row) ** 2
    rounding = 0.0 if belief.resolution is None else float(answer.size * answer.rounding(belief.resolution)[0]) / 2
    return np.asarray((mean * tilts + rounding * np.abs(tilts)) / grid + variance / 2 * (tilts / grid) ** 2)


def of_any_law(belief: Belief, count: Additive, tilts: FloatArray) -> FloatArray:
    """Whatever depends on what, a number lies between its ends, with its mean."""
    mean = float(expected(belief).cells(count)[0])
    low, high = count.cell_bounds()
    return between(float(low[0]), float(high[0]), mean, tilts)


def between(low: float, high: float, mean: float, tilts: FloatArray) -> FloatArray:
    """Bound log moments of a number between two ends: exp is convex, so none exceed those of the ends alone."""
    if high <= low:
        return low * tilts
    share = min(max((mean - low) / (high - low), 0.0), 1.0)
    return _log_mean(np.array([1 - share, share]), np.multiply.outer(tilts, np.array([low, high])))


def _log_mean(masses: FloatArray, logs: FloatArray) -> FloatArray:
    """Return log of the mean of exp(logs) over the last axis, which may be large."""
    possible = logs[..., masses > 0]
    most = possible.max(axis=-1)
    return np.asarray(most + np.log(np.exp(possible - most[..., np.newaxis]) @ masses[masses > 0]))


def kinds_of(count: Additive, group: IntArray) -> Iterator[tuple[int, IntArray, int]]:
    """Yield the group of each kind of counted entry, what it adds by value, and how many there are."""
    tables, (weights, weight_of) = count.table_numbers, np.unique(count.weights, return_inverse=True)
    sizes = len(weights), len(count.tables)
    codes = (group * sizes[1] + tables) * sizes[0] + weight_of.ravel()
    different, times = np.unique(codes, return_counts=True)
    others, places = np.divmod(different, sizes[0])
    kinds = zip(*(row.tolist() for row in (*np.divmod(others, sizes[1]), weights[places], times)), strict=True)
    for number, table, weight, entries in kinds:
        if weight:  # who is not counted adds nothing, and may have another alphabet than its table
            yield number, weight * count.tables[table][:, 0], entries
