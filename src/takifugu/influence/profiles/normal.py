"""The profile of normal noise at a share kappa of delta (docs/theory/influence.md).

P(S | x) + kappa has the profile c_t(u, v): the least c with delta_t(u, v; c) <= kappa (e^c - 1), where delta_t is the
privacy profile of all normal releases together for a change of entry t from u to v. Normal releases whose squared
changes over sigma^2 add up to mu^2 are as one with mu.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import itemgetter

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray
from takifugu.influence.profiles.profile import Profile
from takifugu.model.queries import Additive
from takifugu.numbers.after_noise.gaussian import log_shifted_delta
from takifugu.numbers.outward_rounding import sum_up
from takifugu.numbers.rationals import float_above
from takifugu.numbers.runs import Runs, different

#: Logarithms of kappa are lowered by this, which outweighs the rounding of every logarithm and every root here.
MARGIN = 2.0**-30
#: Below this change the first term of the series in mu is what a search starts from.
SMALL = 1e-6


@dataclass(frozen=True, eq=False)
class NormalRelease:
    """Normal noise of sigma grid units on each cell of an answer."""

    answer: Additive
    sigma: Fraction


def log_share(epsilon: Fraction, delta: Fraction) -> float:
    """Return log kappa, rounded down: kappa = delta/(e^epsilon - 1)."""
    budget = float_above(epsilon)
    return math.log(delta.numerator) - math.log(delta.denominator) - _log_expm1(budget) - MARGIN


def normal_profile(releases: Sequence[NormalRelease], log_kappa: float) -> Profile:
    """Return the profile at kappa of normal releases, which all read the same entries, rounded up."""
    kinds = list(map(_kinds, releases))
    together, table_of = different(*map(itemgetter(1), kinds))
    moves = list[FloatArray]()
    for places in together.T.tolist():
        squares = [matrices[place] for (matrices, _), place in zip(kinds, places, strict=True)]
        moves.append(np.sqrt(reduce(sum_up, squares)))
    return Profile(_tables(moves, log_kappa), table_of.lengths, table_of.values)


def _tables(moves: Sequence[FloatArray], log_kappa: float) -> tuple[FloatArray, ...]:
    """Return c(u, v) for each table of mu."""
    different_moves, place = np.unique(np.concatenate(list(map(np.ravel, moves))), return_inverse=True)
    losses = least_losses(different_moves, log_kappa)[place.ravel()]
    tables, start = [], 0
    for table in moves:
        tables.append(losses[start : start + table.size].reshape(table.shape))
        start += table.size
    return tuple(tables)


def covering_multiple(first: Sequence[NormalRelease], other: NormalRelease | Profile) -> float:
    """Return the least s with m_t^2 <= s mu_t^2 for all entries and values, rounded up; it may be inf."""
    # mu are the moves of `first` together, m those of `other`, or of normal noise that tells as much as its losses.
    kinds = list(map(_kinds, first))
    if isinstance(other, Profile):
        their_tables, at = list(map(as_normal, other.tables)), other.kinds
    else:
        their_tables, at = _kinds(other)
    worst = []
    for *numbers_of_row, its in different(*map(itemgetter(1), kinds), at)[0].T.tolist():
        together = reduce(np.add, [squares[place] for (squares, _), place in zip(kinds, numbers_of_row, strict=True)])
        base, moves = np.broadcast_arrays(together, their_tables[its])
        if (moves[base == 0] > 0).any():
            return math.inf
        worst.append(np.divide(moves, base, out=np.zeros(base.shape), where=base > 0).max())
    # Squares are rounded up, and so may be sums of as many as there are releases: the quotient is too small by no more.
    return float(max(worst)) * (1 + max(1e-12, (len(first) + 4) * 2.0**-52))


def as_normal(losses: FloatArray) -> FloatArray:
    """Return the squared move of normal noise that tells as much as losses c (Dong, Roth and Su 2022), from above."""
    from scipy.special import erfinv

    # erf(mu/sqrt(8)) = tanh(c/2), mu^2 <= 8c; mu^2/c rises with c: a sum's square is at least the sum of squares.
    exact = 8 * erfinv(np.tanh(losses / 2)) ** 2 * (1 + 1e-9)
    return np.where(losses > 10, 8 * losses, exact)  # later the digits of 1 - tanh are lost


def _kinds(release: NormalRelease) -> tuple[list[FloatArray], Runs]:
    """Return |w(u) - w(v)|^2 / sigma^2 by kind, and each entry's kind."""
    answer = release.answer
    (weights, tables), lengths = answer.kinds
    ends = np.cumsum(lengths)
    kinds, number = different(Runs(tables, ends), Runs(np.abs(weights), ends))
    matrices = []
    for table, weight in kinds.T.tolist():
        rows, factor = answer.tables[table].astype(object), (weight / release.sigma) ** 2
        moves = rows[:, None, :] - rows[None, :, :]
        squares, place = np.unique((moves * moves).sum(axis=2), return_inverse=True)
        rounded = np.array([float_above(square * factor) for square in squares.tolist()])
        matrices.append(rounded[place.reshape(moves.shape[:2])])
    return matrices, number


def least_losses(moves: FloatArray, log_kappa: float) -> FloatArray:
    """Return the least c with delta_mu(c) <= kappa (e^c - 1) for each mu, from above, by 1e-6 relative at most."""
    losses = np.zeros(moves.shape)
    most = np.logaddexp(0.0, -log_kappa)
    moving = np.flatnonzero(moves > 0)
    # A search in floats proposes c; what counts is the inequality at c, decided with many digits.
    for place, loss in zip(moving.tolist(), _proposed(moves[moving], log_kappa).tolist(), strict=True):
        square, slack = Fraction(float(moves[place])) ** 2, 1e-12
        while loss < most and log_shifted_delta(square, Fraction(loss)) > log_kappa + _log_expm1(loss):
            loss, slack = loss * (1 + slack), 2 * slack
        losses[place] = loss
    return np.minimum(losses, most)  # since no delta is above 1


def _proposed(moves: FloatArray, log_kappa: float) -> FloatArray:
    """Return about the least c, by bisection in floats."""
    low, high = np.zeros(moves.shape), moves * (moves + 1)
    for _ in range(200):
        small = ~_holds(moves, high, log_kappa)
        if not small.any():
            break
        high[small] *= 2
    for _ in range(60):
        middle = (low + high) / 2
        holds = _holds(moves, middle, log_kappa)
        low, high = np.where(holds, low, middle), np.where(holds, middle, high)
    return high


def _holds(moves: FloatArray, loss: FloatArray, log_kappa: float) -> BoolArray:
    from scipy.special import log_ndtr

    with np.errstate(all="ignore"):
        tilt = loss / moves
        near, far = log_ndtr(moves / 2 - tilt), log_ndtr(-moves / 2 - tilt)
        exact = near + np.log(-np.expm1(np.minimum(loss + far - near, -1e-300)))
        tail, density = log_ndtr(-tilt), -tilt * tilt / 2 - math.log(2 * math.pi) / 2
        first = np.log(moves) + density + np.log(np.maximum(-np.expm1(np.log(tilt) + tail - density), 1e-300))
        gain = loss + np.log(-np.expm1(-loss))
        return np.asarray(np.where(moves < SMALL, first, exact) <= log_kappa + gain)


def _log_expm1(number: float) -> float:
    return number + math.log(-math.expm1(-number)) if number > 0 else -math.inf
