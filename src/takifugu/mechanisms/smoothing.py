"""The laws of an answer family, each convolved with the law of what a part of the other components adds."""

from __future__ import annotations

import math

import numpy as np

from takifugu.answer_laws.dense import DenseFamily
from takifugu.capabilities.answer_law import AnswerFamily
from takifugu.laws.extended.convolution import convolve
from takifugu.laws.extended.floats import LOWEST, UNIT, Wide, stack
from takifugu.laws.extended.leave_one_out import Weights
from takifugu.laws.extended.window_products import convolve_many


def can_be_smoothed(family: AnswerFamily) -> bool:
    """Return whether each law of a family is a row: single laws, or those of a chain's start states."""
    return isinstance(family, DenseFamily) or all(len(hull) == 1 for hull in family.hulls.values())


def smoothed_by(family: AnswerFamily, sums: Weights, step: int) -> DenseFamily:
    """Return the laws of a family, each convolved with the law of what a part of the others adds, on steps of `step`.

    Positive terms only; every mass is right up to the family's error, that of the sums and 2 n + 4 roundings, twice
    where it is divided by their sum.
    """
    own = family if isinstance(family, DenseFamily) else _as_dense(family)
    unit = math.gcd(own.step, step) if len(sums) > 1 else own.step
    rows, beside = _spread(own.weights, own.step // unit), _spread(sums.numbers, step // unit if len(sums) > 1 else 1)
    places = rows.mantissas.shape[1]
    kernels = Wide(rows.mantissas.T[None], rows.exponents.T[None])
    found = convolve_many(Wide(beside.mantissas[None], beside.exponents[None]), kernels)
    weights = stack([convolve(row, beside) for row in _rows(rows)]) if found is None else found
    error = sums.error + 1.01 * (2 * places + 4) * UNIT
    whole = own.relative_error + 2.02 * error * (1 + own.relative_error) + 4 * weights.mantissas.shape[1] * UNIT
    start = own.start + sums.start
    return DenseFamily(own.entry, own.pairs, own.rows, own.starts, weights, start, unit, whole)


def _as_dense(family: AnswerFamily) -> DenseFamily:
    """Return a family of single laws as rows of weights."""
    laws = {value: law for value, (law,) in family.hulls.items()}
    values = np.unique(np.concatenate([law.values for law in laws.values()]))
    step = max(1, int(np.gcd.reduce(np.diff(values), initial=0)))
    start, size = int(values[0]), 1 + int(values[-1] - values[0]) // step
    rows = []
    for law in laws.values():
        weights = Weights.of(law, step)
        rows.append(placed(weights.numbers, (weights.start - start) // step, size))
    places = {value: (row,) for row, value in enumerate(laws)}
    error = family.relative_error + 2.02 * 8 * UNIT
    return DenseFamily(family.entry, family.pairs, places, dict.fromkeys(laws, (0,)), stack(rows), start, step, error)


def _rows(rows: Wide) -> list[Wide]:
    return [rows[number] for number in range(len(rows.mantissas))]


def placed(numbers: Wide, place: int, size: int) -> Wide:
    """Return a row of `size` places that holds the numbers from a place on, and zeros elsewhere."""
    mantissas, exponents = np.zeros(size), np.full(size, LOWEST, dtype=np.int64)
    here = slice(place, place + len(numbers.mantissas))
    mantissas[here], exponents[here] = numbers.mantissas, numbers.exponents
    return Wide(mantissas, exponents)


def _spread(rows: Wide, factor: int) -> Wide:
    """Return rows with `factor` - 1 zeros between any two places."""
    if factor == 1:
        return rows
    shape = (*rows.mantissas.shape[:-1], (rows.mantissas.shape[-1] - 1) * factor + 1)
    mantissas, exponents = np.zeros(shape), np.full(shape, LOWEST, dtype=np.int64)
    mantissas[..., ::factor], exponents[..., ::factor] = rows.mantissas, rows.exponents
    return Wide(mantissas, exponents)
