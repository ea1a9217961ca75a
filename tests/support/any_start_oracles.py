"""What a chain loses at worst whose first entry has any law, by listing likelihoods and starts. No takifugu here.

A likelihood is a product of one factor an entry, each an extreme ray of the cone {phi >= 0: phi(u) <= e^c(u, v) phi(v)}
of its profile c: as if every entry were sent by itself. All products are tried, with all laws on two starts. Every
number is the loss of such a mechanism under such a law, so it is attained, and never above the truth.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product

import numpy as np

Array = np.ndarray
#: Weights of the second start against the first, beside the best one.
FAR = (1e-13, 1e13)


def extreme_rays(table: Array) -> Array:
    """Return all extreme rays of a cone, one a row: k - 1 constraints that are tight fix phi up to a factor."""
    count = len(table)
    rays = [[1.0] * count]
    for tight in combinations(permutations(range(count), 2), count - 1):
        logs = {0: 0.0}
        for _ in range(count):  # log phi(u) = c(u, v) + log phi(v)
            for u, v in tight:
                if v in logs and u not in logs:
                    logs[u] = logs[v] + table[u, v]
                elif u in logs and v not in logs:
                    logs[v] = logs[u] - table[u, v]
        if len(logs) == count and all(logs[u] - logs[v] <= table[u, v] + 1e-12 for u, v in product(logs, logs)):
            ray = np.exp([logs[u] for u in range(count)])
            rays.append(list(ray / ray.max()))
    return np.unique(np.round(np.array(rays), 14), axis=0)


def worst_loss(matrices: Sequence[Array], tables: Sequence[Array], starts: Array) -> float:
    """Return the largest loss over entries, pairs, products of rays, and laws on two of the `starts` (rows).

    `matrices[t]` leads from entry t to t + 1, `tables[t]` is what entry t loses.
    """
    return max(loss_about(matrices, tables, starts, entry) for entry in range(len(tables)))


def loss_about(matrices: Sequence[Array], tables: Sequence[Array], starts: Array, entry: int) -> float:
    """Return the largest loss of one entry's secrets."""
    count, worst = len(tables[0]), 0.0
    after = np.ones((1, count))  # E[factors behind | value], by product
    for t in range(len(tables) - 1, entry, -1):
        after = (after[:, None, :] * extreme_rays(tables[t])[None]).reshape(-1, count) @ matrices[t - 1].T
    before = np.asarray(starts, dtype=float)[None]  # E[factors before, value], by product and start
    masses = np.asarray(starts, dtype=float)
    for t in range(entry):
        before = before[:, None] * extreme_rays(tables[t])[None, :, None, :]
        before = before.reshape(-1, len(starts), count) @ matrices[t]
        masses = masses @ matrices[t]
    for a, b in permutations(range(count), 2):
        if (masses[:, a] > 0).any() and (masses[:, b] > 0).any():
            ahead = float(np.log(after[:, a] / after[:, b]).max())
            behind = max(_on_two(before[..., a], before[..., b], masses[:, a], masses[:, b]))
            worst = max(worst, float(tables[entry][a, b]) + ahead + behind)
    return worst


def _on_two(above: Array, below: Array, a: Array, b: Array) -> Iterator[float]:
    """Yield the largest log of (mu A)(mu b)/((mu B)(mu a)) over laws mu on each two starts.

    With mu in proportion to (1, t) its derivative in t is 0 where a quadratic is.
    """
    for u in range(len(a)):
        if a[u] > 0 and b[u] > 0:
            yield float((np.log(above[:, u] / a[u]) - np.log(below[:, u] / b[u])).max())
    for u, v in combinations(range(len(a)), 2):
        if a[u] + a[v] > 0 and b[u] + b[v] > 0:
            first = (above[:, v] * a[u] - above[:, u] * a[v])[:, None] * _product(below[:, u], below[:, v], b[u], b[v])
            other = (below[:, v] * b[u] - below[:, u] * b[v])[:, None] * _product(above[:, u], above[:, v], a[u], a[v])
            for weight in (*_roots(first - other), *(np.full(len(above), far) for far in FAR)):
                pair = np.stack([np.ones_like(weight), weight], axis=1)
                sums = [(rows[:, [u, v]] * pair).sum(axis=1) for rows in (above, below)]
                losses = np.log(sums[0] / (pair @ a[[u, v]])) - np.log(sums[1] / (pair @ b[[u, v]]))
                yield float(losses.max())


def _product(one: Array, other: Array, u: float, v: float) -> Array:
    """Return the coefficients of (one + t other)(u + t v), the constant first."""
    return np.stack([one * u, one * v + other * u, other * v], axis=1)


def _roots(coefficients: Array) -> Iterator[Array]:
    """Yield the two positive roots of each row, 1 in place of one that there is not."""
    constant, linear, square = coefficients.T
    with np.errstate(all="ignore"):
        root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0.0))
        q = -(linear + np.where(linear < 0, -root, root)) / 2
        for t in (q / square, constant / q):
            yield np.where(np.isfinite(t) & (t > 0), t, 1.0)


def laplace_loss(matrices: Sequence[Array], releases: Sequence[tuple[Array, float]]) -> float:
    """Return the largest loss of Laplace releases under any law of the first entry.

    A release is what each entry's values add to its answer, shape (entries, values), and its scale. All sequences are
    listed, and all outputs at atoms of the answers: between these losses are monotone.
    """
    size, count = len(matrices) + 1, len(matrices[0])
    paths = np.array(list(product(range(count), repeat=size)))
    mass = np.ones(len(paths))
    for t, matrix in enumerate(matrices):
        mass = mass * matrix[paths[:, t], paths[:, t + 1]]
    densities = np.ones((1, len(paths)))
    for added, scale in releases:
        answers = added[np.arange(size), paths].sum(axis=1)
        at_atoms = np.exp(-np.abs(np.unique(answers)[:, None] - answers) / scale)
        densities = (densities[:, None] * at_atoms).reshape(-1, len(paths))
    worst = 0.0
    for entry in range(size):
        groups = np.array([[(paths[:, 0] == u) & (paths[:, entry] == a) for a in range(count)] for u in range(count)])
        sums = np.einsum("yp,uap->yua", densities * mass, groups)
        masses = np.einsum("p,uap->ua", mass, groups)
        for a, b in permutations(range(count), 2):
            if (masses[:, a] > 0).any() and (masses[:, b] > 0).any():
                worst = max(worst, *_on_two(sums[..., a], sums[..., b], masses[:, a], masses[:, b]))
    return worst


def quilt_cost(matrices: Sequence[Array], costs: Array, start: Array | None) -> float:
    """Return the largest cost of an entry's pair with its best Markov quilt; `start` None: of any start.

    Every entry, pair of values and pair of nodes is tried; influences are suprema over laws of the first entry.
    """
    size, count = len(costs), len(matrices[0]) if len(matrices) else 1
    sums, worst = np.concatenate([[0.0], np.cumsum(costs)]), 0.0
    laws = [np.eye(count) if start is None else np.asarray(start, dtype=float)[None]]
    for matrix in matrices:
        laws.append(laws[-1] @ matrix)
    for i in range(size):
        after = np.full((count, count), sums[-1] - sums[i + 1])
        before, prior = np.full((count, count), sums[i]), _ratios(laws[i]).T
        rows = columns = np.eye(count)
        for d in range(1, max(i, size - 1 - i) + 1):
            if i + d < size:
                rows = rows @ matrices[i + d - 1]
                after = np.minimum(after, _ratios(rows.T) + sums[i + d] - sums[i + 1])
            if d <= i:
                columns = matrices[i - d] @ columns
                reached = laws[i - d].max(axis=0) > 0
                before = np.minimum(before, _ratios(columns[reached]) + prior + sums[i] - sums[i - d + 1])
        possible = laws[i].max(axis=0) > 0
        compared = np.outer(possible, possible) & ~np.eye(count, dtype=bool)
        worst = max(worst, float((costs[i] + before + after)[compared].max(initial=0.0)))
    return worst


def _ratios(table: Array) -> Array:
    """Return the largest log of table[x, a]/table[x, b] over x, by a and b; x for which both are 0 say nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(table)
        ratios = logs[:, :, None] - logs[:, None, :]
    return np.asarray(np.where(np.isnan(ratios), -np.inf, ratios).max(axis=0))
