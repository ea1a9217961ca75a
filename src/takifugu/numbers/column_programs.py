"""Linear programs over channels whose constraints are the same for every output: an interior-point method.

    minimise sum_xy c_xy K_xy   with   G K_y <= 0 for every column K_y,   sum_y K_xy = 1 for every row,   K >= 0.

Only the sums of rows couple the columns. So each step of Mehrotra's predictor-corrector method (1992) needs, for every
column, the inverse of an (inputs x inputs) matrix, and one more such system for the row sums: (outputs) (inputs)^3
operations, where a solver that sees a program with inputs x outputs variables only fills its factors. It starts at the
uniform channel, which is strictly inside, and every iterate stays strictly inside: what is returned keeps all
constraints, not up to a tolerance.

Constraints are generated: first those with least slack at the uniform channel, then whatever the solution breaks, until
it breaks none.

Every iterate also has multipliers l >= 0, and by weak duality no channel that keeps the constraints costs less than
sum_x min_y (c + G^T l)_xy: the least over K >= 0 with row sums 1 of the cost plus l times what must not be positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.numbers.atoms import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: How K moves, its multipliers, the slack, the slack's multipliers, and those of the sums.
Direction = tuple[Floats, Floats, Floats, Floats, Floats]

#: So many constraints per input come first, and so accurate (relative) are the programs that find the others.
_FIRST, _ACCURACIES = 8, (1e-3, 1e-9)
#: So much of the way to the nearest boundary is gone.
_CLOSE = 0.9995
#: Steps shorter than this change nothing any more.
_STUCK = 1e-8
#: Steps after which it ends in any case.
_MOST = 200
#: A gap this small, in units of the largest cost, is none.
_TINY = 1e-14
#: Rounds of iterative refinement for each direction, the first included.
_REFINED = 2
#: The diagonal of a matrix that is not positive definite in floating point is raised by this share.
_RAISED = 2.0**-48
#: So many columns' matrices are assembled at once, for the memory that takes.
_TOGETHER = 32


@dataclass(frozen=True, eq=False)
class Solution:
    """A channel strictly inside its constraints, its cost, and a lower bound."""

    matrix: Floats
    cost: float
    least: float


def solve(cost: Floats, limits: csr_array) -> Solution:
    """Return the channel K of least cost with `limits` @ K <= 0, and a lower bound, at most 1e-9 of the cost below."""
    # Shapes: `cost` (inputs, outputs), numbers not negative; `limits` (constraints, inputs), sparse.
    limits = limits.tocsr()
    loose = np.asarray(limits.sum(axis=1)).ravel()
    if (loose >= 0).any():
        raise Unsupported("the uniform channel is not strictly inside the constraints")
    used, least = np.argsort(-loose, kind="stable")[: _FIRST * len(cost)], -np.inf
    for accuracy in _ACCURACIES:
        while True:
            solution = _solve(cost, limits[used], accuracy)
            least = max(least, solution.least)
            over = (limits @ solution.matrix / -loose[:, None]).max(axis=1)
            over[used] = 0.0
            broken = np.argsort(-over, kind="stable")[: _FIRST * len(cost)]
            broken = broken[over[broken] > 0]
            if not broken.size:
                break
            used = np.union1d(used, broken)
    return Solution(solution.matrix, solution.cost, least)


def _solve(cost: Floats, limits: csr_array, narrow: float) -> Solution:
    """Return the channel of least cost under all of these limits."""
    unit = float(np.abs(cost).max()) or 1.0
    state = _State(np.asarray(cost, dtype=np.float64) / unit, limits)
    best = state.solution()
    for _ in range(_MOST):
        if best.cost - best.least <= narrow * best.cost + _TINY or not state.step():
            break
        solution = state.solution()
        nearer = solution if solution.cost < best.cost else best
        best = Solution(nearer.matrix, nearer.cost, max(solution.least, best.least))
    return Solution(best.matrix, best.cost * unit, best.least * unit)


class _State:
    """The iterate: K and its multipliers `below` (of K >= 0), the slack -G K and its multipliers, those of the sums."""

    def __init__(self, cost: Floats, limits: csr_array) -> None:
        self.cost, self.limits, self.turned = cost, limits.tocsr(), limits.T.tocsr()
        self.products = _products(self.limits)
        self.matrix = np.full(cost.shape, 1.0 / cost.shape[1])
        self.slack = self._slack(self.matrix)
        level = max(float(cost.mean()), 1e-3) / cost.shape[1]
        self.below, self.multipliers = level / self.matrix, level / self.slack
        self.sums = (cost + self.turned @ self.multipliers - self.below).mean(axis=1)

    def solution(self) -> Solution:
        matrix = self.matrix / self.matrix.sum(axis=1, keepdims=True)
        least = (self.cost + self.turned @ self.multipliers).min(axis=1).sum()
        return Solution(matrix, float((self.cost * matrix).sum()), float(least))

    def step(self) -> bool:
        """Go one predicted and corrected step; False if floating point ends it."""
        system = self._factors()
        if system is None:
            return False
        factors, schur = system
        gap = self._gap(self.matrix, self.below, self.slack, self.multipliers)
        affine = self._direction(factors, schur, -self.matrix * self.below, -self.slack * self.multipliers)
        if affine is None:
            return False
        primal, dual = self._lengths(*affine)
        d_matrix, d_below, d_slack, d_multipliers, _ = affine
        reached = self._gap(
            self.matrix + primal * d_matrix, self.below + dual * d_below,
            self.slack + primal * d_slack, self.multipliers + dual * d_multipliers,
        )  # fmt: skip
        target = gap * min(1.0, (reached / gap)) ** 3
        direction = self._direction(
            factors, schur, target - self.matrix * self.below - d_matrix * d_below,
            target - self.slack * self.multipliers - d_slack * d_multipliers,
        )  # fmt: skip
        if direction is None:
            return False
        primal, dual = self._lengths(*direction)
        matrix = self.matrix + primal * direction[0]
        slack = self._slack(matrix)
        if not ((slack > 0).all() and (matrix > 0).all()):
            return False
        self.matrix, self.slack = matrix, slack
        self.below = self.below + dual * direction[1]
        self.multipliers = self.multipliers + dual * direction[3]
        self.sums = self.sums + dual * direction[4]
        return bool(max(primal, dual) > _STUCK)

    def _slack(self, matrix: Floats) -> Floats:
        return np.asarray(-(self.limits @ matrix))

    @staticmethod
    def _gap(matrix: Floats, below: Floats, slack: Floats, multipliers: Floats) -> float:
        products = float((matrix * below).sum()) + float((slack * multipliers).sum())
        return products / (matrix.size + slack.size)

    def _factors(self) -> tuple[Floats, Floats] | None:
        """Return the Cholesky factor of every column's Hessian, and the sum of their inverses."""
        from scipy.linalg import lapack

        inputs, outputs = self.cost.shape
        # The Hessian is diag(below / K) + G^T diag(multipliers / slack) G.
        weights, diagonal = self.multipliers / self.slack, self.below / self.matrix
        factors, total, diagonal_places = (
            np.empty((outputs, inputs, inputs)),
            np.zeros((inputs, inputs)),
            np.arange(inputs),
        )
        for start in range(0, outputs, _TOGETHER):
            blocks = (self.products @ weights[:, start : start + _TOGETHER]).T.reshape(-1, inputs, inputs)
            for number, block in enumerate(blocks, start):
                block[diagonal_places, diagonal_places] += diagonal[:, number]
                factors[number], failed = lapack.dpotrf(block, lower=1)
                if failed:  # refinement makes up for it
                    block[diagonal_places, diagonal_places] *= 1 + _RAISED
                    factors[number], failed = lapack.dpotrf(block, lower=1)
                if failed:
                    return None
                inverse, _ = lapack.dpotri(factors[number], lower=1)
                total += np.tril(inverse)
        return factors, total + np.tril(total, -1).T

    def _direction(self, factors: Floats, schur: Floats, of_matrix: Floats, of_slack: Floats) -> Direction | None:
        """Return the Newton direction with these right sides of the two complementarities."""
        off = self.cost + self.turned @ self.multipliers - self.below - self.sums[:, None]
        right = -off + of_matrix / self.matrix - self.turned @ (of_slack / self.slack)
        missing = 1.0 - self.matrix.sum(axis=1)
        d_matrix, d_sums = np.zeros_like(self.matrix), np.zeros_like(missing)
        for _ in range(_REFINED):
            through = self.turned @ (self.multipliers / self.slack * (self.limits @ d_matrix))
            residual = right - (self.below / self.matrix * d_matrix + through) + d_sums[:, None]
            free = _solved(factors, residual)
            try:
                more = np.linalg.solve(schur, missing - d_matrix.sum(axis=1) - free.sum(axis=1))
            except np.linalg.LinAlgError:
                return None
            d_matrix = d_matrix + _solved(factors, residual + more[:, None])
            d_sums = d_sums + more
        d_slack = self._slack(d_matrix)
        d_below = (of_matrix - self.below * d_matrix) / self.matrix
        d_multipliers = (of_slack - self.multipliers * d_slack) / self.slack
        direction = (d_matrix, d_below, d_slack, d_multipliers, d_sums)
        if all(np.isfinite(part).all() for part in direction):
            return direction
        return None

    def _lengths(
        self, d_matrix: Floats, d_below: Floats, d_slack: Floats, d_multipliers: Floats, _: Floats
    ) -> tuple[float, float]:
        """Return the allowed primal and dual step of a direction."""
        primal = min(_until_zero(self.matrix, d_matrix), _until_zero(self.slack, d_slack))
        dual = min(_until_zero(self.below, d_below), _until_zero(self.multipliers, d_multipliers))
        return min(1.0, _CLOSE * primal), min(1.0, _CLOSE * dual)


def _solved(factors: Floats, right: Floats) -> Floats:
    from scipy.linalg import lapack

    columns = zip(factors, right.T, strict=True)
    return np.array([lapack.dpotrs(factor, column, lower=1)[0] for factor, column in columns]).T


def _until_zero(values: Floats, direction: Floats) -> float:
    falls = direction < 0
    return float((values[falls] / -direction[falls]).min(initial=np.inf))


def _products(limits: csr_array) -> csr_array:
    """Return the sparse map from constraint weights to sums of g g^T."""
    from scipy.sparse import csr_array

    rows, columns, values = [], [], []
    for number in range(limits.shape[0]):
        part = slice(limits.indptr[number], limits.indptr[number + 1])
        places, entries = limits.indices[part].astype(np.int64), limits.data[part]
        rows.append((places[:, None] * limits.shape[1] + places[None, :]).ravel())
        columns.append(np.full(len(places) ** 2, number))
        values.append(np.outer(entries, entries).ravel())
    shape = (limits.shape[1] ** 2, limits.shape[0])
    return csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
