"""What can happen at worst, found by linear programs and by enumeration: no formula of the package is used.

Entries are the axes of `law`, an array of joint probabilities, P(x) = law[x_1, ..., x_n]. `tables` is one matrix
c_t(u, v) per entry: log g(x) moves by at most tables[t][u, v] when entry t alone changes from u to v. Secrets are
masks over the cells of `law` (see `given`). Every supremum is the ratio of a likelihood that keeps its constraints
(the program's answer is repaired before it is measured), so it is attained, never above the truth.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, vstack

Array = np.ndarray


# Joint laws ----------------------------------------------------------------------------------------------------------


def network_law(nodes: Sequence[tuple[Sequence[int], Array]]) -> Array:
    """The joint law of nodes (parents' numbers, table with one axis per parent and one for the node's own values)."""
    tables = [np.asarray(table, dtype=float) for _, table in nodes]
    law = np.ones([table.shape[-1] for table in tables])
    for x in np.ndindex(*law.shape):
        for node, (parents, _) in enumerate(nodes):
            law[x] *= tables[node][(*(x[p] for p in parents), x[node])]
    return law


def chain_law(start: Array, matrices: Sequence[Array]) -> Array:
    """The joint law of X_1 with distribution `start` and X_{t+1} given X_t by matrices[t]."""
    return network_law([((), start), *(((t,), matrix) for t, matrix in enumerate(matrices))])


def exchangeable_law(number: Sequence[float]) -> Array:
    """The joint law of people of whom `number[n]` is the chance that n are ill, whichever they are."""
    people = len(number) - 1
    law = np.zeros((2,) * people)
    for x in np.ndindex(*law.shape):
        law[x] = number[sum(x)] / math.comb(people, sum(x))
    return law


def given(law: Array, entry: int, values: int | Iterable[int]) -> Array:
    """The mask of all cells whose entry has one of these values."""
    wanted = {values} if isinstance(values, int) else set(values)
    return np.isin(np.indices(law.shape)[entry], sorted(wanted))


def conditional(law: Array, secret: Array) -> Array:
    """P(x | secret), flat."""
    mass = np.where(secret, law, 0.0).ravel()
    return mass / mass.sum()


def random_tables(rng: np.random.Generator, states: int, length: int, least: float) -> list[Array]:
    """Symmetric tables of changes, small ones about `least`, a fifth of them 0."""
    tables = []
    for _ in range(length):
        upper = np.triu(rng.exponential(rng.choice([least, 1.0]), (states, states)), 1)
        tables.append((upper + upper.T) * (rng.random() < 0.8))
    return tables


# Linear programs -----------------------------------------------------------------------------------------------------


def closed(table: Array) -> Array:
    """Shortest paths between values."""
    best = np.array(table, dtype=float)
    for w in range(len(best)):
        best = np.minimum(best, best[:, w, None] + best[None, w, :])
    return best


def worst_likelihood(law: Array, tables: Sequence[Array], a: Array, b: Array) -> float:
    """max log E[g | a]/E[g | b] over all g >= 0 with log-differences of at most `tables`: a program over all cells."""
    p, q = conditional(law, a), conditional(law, b)
    likelihood = _program(p, q, _neighbours(law.shape, [closed(t) for t in tables]))
    repaired = _repaired(likelihood.reshape(law.shape), tables).ravel()
    return float(np.log(p @ repaired) - np.log(q @ repaired))


def worst_pairs(law: Array, tables: Sequence[Array], entry: int) -> Array:
    """`worst_likelihood` of all pairs of an entry's values, shape (k, k); 0 where a value is impossible."""
    return _of_all_pairs(law, entry, lambda a, b: worst_likelihood(law, tables, a, b))


def _of_all_pairs(law: Array, entry: int, measure: Callable[[Array, Array], float]) -> Array:
    """What is measured of the masks of each two possible values of an entry, shape (k, k); 0 elsewhere."""
    k = law.shape[entry]
    possible = [bool(law[given(law, entry, u)].sum() > 0) for u in range(k)]
    measured = np.zeros((k, k))
    for u, v in product(range(k), repeat=2):
        if u != v and possible[u] and possible[v]:
            measured[u, v] = measure(given(law, entry, u), given(law, entry, v))
    return measured


def worst_event(law: Array, tables: Sequence[Array], deltas: Sequence[Array], a: Array, b: Array, loss: float) -> float:
    """max P(S | a) - e^loss P(S | b) over all events S with P(S | x) <= e^c P(S | x') + delta, and not S likewise."""
    p, q = conditional(law, a), conditional(law, b)
    left, right, ratios, slacks = _neighbours(law.shape, tables, deltas)
    rows = np.arange(len(left))
    ones = np.ones(len(left))

    def differences(x: Array, y: Array) -> coo_matrix:
        entries = np.concatenate([ones, -ratios])
        return coo_matrix((entries, (np.concatenate([rows, rows]), np.concatenate([x, y]))), (len(rows), law.size))

    inside = differences(left, right)  # s(x) - e^c s(x') <= delta
    outside = -differences(right, left)  # (1 - s(x')) - e^c (1 - s(x)) <= delta
    limits = np.concatenate([slacks, slacks - 1 + ratios])
    answer = linprog(
        np.exp(loss) * q - p, vstack([inside, outside]).tocsc(), limits, bounds=(0, 1), options=_OPTIONS, method=_METHOD
    )
    assert answer.status == 0, answer.message
    return float(-answer.fun)


_METHOD = "highs-ds"
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": False}

Constraints = tuple[Array, Array, Array, Array]


def _neighbours(shape: tuple[int, ...], tables: Sequence[Array], deltas: Sequence[Array] | None = None) -> Constraints:
    """(x, x', e^c, delta) of all ordered pairs of cells that differ in one entry."""
    cells = np.arange(prod(shape)).reshape(shape)
    pieces = []
    for t, k in enumerate(shape):
        by_value = np.moveaxis(cells, t, 0).reshape(k, -1)
        for u, v in product(range(k), repeat=2):
            if u != v:
                many = np.ones(by_value.shape[1])
                slack = 0.0 if deltas is None else float(deltas[t][u, v])
                pieces.append((by_value[u], by_value[v], many * np.exp(tables[t][u, v]), many * slack))
    if not pieces:
        return np.zeros(0, int), np.zeros(0, int), np.zeros(0), np.zeros(0)
    return tuple(np.concatenate(column) for column in zip(*pieces, strict=True))  # type: ignore[return-value]


def _program(p: Array, q: Array, constraints: Constraints) -> Array:
    """The phi >= 0 with the largest p.phi where q.phi = 1 and phi(x) <= ratio phi(x')."""
    left, right, ratios, _ = constraints
    rows = np.arange(len(left))
    matrix = coo_matrix(
        (np.concatenate([np.ones(len(rows)), -ratios]), (np.concatenate([rows, rows]), np.concatenate([left, right]))),
        (len(rows), len(p)),
    )
    answer = linprog(
        -p, matrix.tocsc(), np.zeros(len(rows)), q[None, :], [1.0], bounds=(0, None), options=_OPTIONS, method=_METHOD
    )
    assert answer.status == 0, answer.message
    return np.maximum(answer.x, 0.0)


def _repaired(likelihood: Array, tables: Sequence[Array]) -> Array:
    """The largest function below `likelihood` that keeps all constraints."""
    for t, table in enumerate(tables):
        last = np.moveaxis(likelihood, t, -1)
        lowered = (last[..., None, :] * np.exp(closed(table))).min(axis=-1)
        likelihood = np.moveaxis(lowered, -1, t)
    return likelihood


def lp_supremum(p: Array, q: Array, rho: Array) -> float:
    """max log p.phi/q.phi over phi with phi(u) <= e^rho(u, v) phi(v)."""
    ratio = closed(rho)
    p, q = np.asarray(p, float), np.asarray(q, float)
    if np.array_equal(p, q):
        return 0.0
    phi = _repaired(_program(p, q, _neighbours((len(p),), [ratio])), [ratio])
    return float(np.log(p @ phi) - np.log(q @ phi))


def lp_suprema(rows: Array, ratio: Array, relative_error: float = 0.0) -> Array:
    """`lp_supremum` of all pairs of rows, shape (m, m)."""
    m = len(rows)
    return np.array([[lp_supremum(rows[a], rows[b], ratio) for b in range(m)] for a in range(m)]) + 2 * relative_error


def lp_chain_losses(start: Array, matrices: Sequence[Array], tables: Sequence[Array], entry: int) -> Array:
    """c_i + R_i + L_i of a chain by one program per pair of values and step, without jumps; shape (k, k).

    Rows and columns of values that are impossible at the entry are meaningless.
    """
    marginals = [np.asarray(start, float)]
    for matrix in matrices:
        marginals.append(marginals[-1] @ matrix)
    right = np.zeros_like(tables[-1], dtype=float)
    for t in reversed(range(entry, len(matrices))):
        right = lp_suprema(np.asarray(matrices[t], float), tables[t + 1] + right)
    left = np.zeros_like(tables[0], dtype=float)
    for t in range(entry):
        joint = (marginals[t][:, None] * matrices[t]).T
        rows = joint / np.where(joint.sum(axis=1) > 0, joint.sum(axis=1), 1.0)[:, None]
        possible = int(np.argmax(joint.sum(axis=1)))
        rows[joint.sum(axis=1) <= 0] = rows[possible]
        left = lp_suprema(rows, tables[t] + left)
    return np.asarray(tables[entry]) + right + left


# Laplace releases ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Laplace:
    """sum over t of weights[t][x_t] (a vector), with Laplace noise of this scale in each coordinate.

    `weights[t]` has shape (values of entry t, coordinates). Discrete Laplace noise on whole numbers has the same worst
    case: its density is the same at the atoms, where the extremes lie.
    """

    weights: tuple[Array, ...]
    scale: float


def count(shape: Sequence[int], values: Iterable[int], scale: float, entries: Iterable[int] | None = None) -> Laplace:
    """How many of some entries have one of these values."""
    counted = set(values)
    indicator = [[1.0 if u in counted else 0.0 for u in range(k)] for k in shape]
    return weighted(shape, indicator, scale, entries)


def weighted(
    shape: Sequence[int], values: Sequence[Sequence[float]], scale: float, entries: Iterable[int] | None = None
) -> Laplace:
    """The sum of values[t][x_t] over some entries (all by default)."""
    summed = set(range(len(shape))) if entries is None else set(entries)
    return Laplace(
        tuple(np.array(v, float)[:, None] * (1.0 if t in summed else 0.0) for t, v in enumerate(values)), scale
    )


def histogram(shape: Sequence[int], scale: float, entries: Iterable[int] | None = None) -> Laplace:
    """How many of some entries have each value."""
    summed = set(range(len(shape))) if entries is None else set(entries)
    return Laplace(tuple(np.eye(k, max(shape)) * (1.0 if t in summed else 0.0) for t, k in enumerate(shape)), scale)


def profile_of(releases: Iterable[Laplace], shape: Sequence[int]) -> list[Array]:
    """c_t(u, v) of all the releases together."""
    tables = [np.zeros((k, k)) for k in shape]
    for release in releases:
        for t, w in enumerate(release.weights):
            tables[t] += np.abs(w[:, None, :] - w[None, :, :]).sum(axis=-1) / release.scale
    return tables


def joint_loss(law: Array, releases: Sequence[Laplace], a: Array, b: Array) -> float:
    """max over all joint outputs y of log p(y | a)/p(y | b).

    In each coordinate the ratio is monotone between neighbouring atoms of the answer and constant beyond the last, so
    the corners of the grid of atoms are enough.
    """
    cells = np.indices(law.shape).reshape(law.ndim, -1)
    corners = []  # per coordinate: density at each atom, by cell
    for release in releases:
        answers = sum(w[cells[t]] for t, w in enumerate(release.weights))
        for column in np.asarray(answers).T:
            atoms = np.unique(column)
            corners.append(np.exp(-np.abs(atoms[:, None] - column[None, :]) / release.scale))
    corners.sort(key=len)
    halves = [np.ones((1, law.size)), np.ones((1, law.size))]
    for densities in reversed(corners):
        smaller = int(len(halves[1]) < len(halves[0]))
        halves[smaller] = (halves[smaller][:, None, :] * densities[None, :, :]).reshape(-1, law.size)
    numerator = (halves[0] * conditional(law, a)) @ halves[1].T
    denominator = (halves[0] * conditional(law, b)) @ halves[1].T
    return float(np.log(numerator / denominator).max())


def joint_losses(law: Array, releases: Sequence[Laplace], entry: int) -> Array:
    """`joint_loss` of all pairs of an entry's values, shape (k, k); 0 where a value is impossible."""
    return _of_all_pairs(law, entry, lambda a, b: joint_loss(law, releases, a, b))
