"""Slow, obviously right: max-influence, quilts and losses by listing every state of a short sequence.

A joint law is an array with one axis per entry. Nothing here imports takifugu.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import mpmath
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def joint_tensor(matrix: Sequence[Sequence[float]], start: Sequence[float], length: int) -> Array:
    """Return P(X_0 = x_0, ..., X_{length-1} = x_{length-1})."""
    p = np.array(matrix, dtype=float)
    joint = np.array(start, dtype=float)
    for _ in range(length - 1):
        joint = joint[..., None] * p
    return joint


def law_of(joint: Array, nodes: Sequence[int], entry: int, value: int) -> Array:
    """Return P(X_nodes | X_entry = value), one axis per node."""
    given = np.take(joint, value, axis=entry)
    axes = [n - (n > entry) for n in nodes]
    law = given.sum(axis=tuple(a for a in range(given.ndim) if a not in axes))
    return np.asarray(law / given.sum())


def influence(joint: Array, nodes: Sequence[int], entry: int, a: int, b: int) -> float:
    """Return max over x of log P(X_nodes = x | X_entry = a)/P(X_nodes = x | X_entry = b)."""
    if not nodes:
        return 0.0
    p, q = law_of(joint, nodes, entry, a), law_of(joint, nodes, entry, b)
    if (q[p > 0] == 0).any():
        return math.inf
    return float(np.log(p[p > 0] / q[p > 0]).max())


def possible(joint: Array, entry: int) -> list[int]:
    masses = joint.sum(axis=tuple(a for a in range(joint.ndim) if a != entry))
    return [v for v in range(len(masses)) if masses[v] > 0]


def ordered_pairs(joint: Array, entry: int) -> list[tuple[int, int]]:
    values = possible(joint, entry)
    return [(a, b) for a in values for b in values if a != b]


def max_influence(joint: Array, nodes: Sequence[int], entry: int) -> float:
    """Return e(X_nodes | X_entry) (Song17 Definition 4.1)."""
    return max((influence(joint, nodes, entry, a, b) for a, b in ordered_pairs(joint, entry)), default=0.0)


def is_quilt(joint: Array, entry: int, nodes: Sequence[int], remote: Sequence[int]) -> bool:
    """Return whether X_remote is independent of X_entry given X_nodes, by listing (Song17 Definition 4.2)."""
    if not remote:
        return True
    keep = sorted([entry, *nodes, *remote])
    axis = {n: i for i, n in enumerate(keep)}
    table = joint.sum(axis=tuple(a for a in range(joint.ndim) if a not in keep))
    over_remote = table.sum(axis=tuple(axis[r] for r in remote), keepdims=True)
    over_entry = table.sum(axis=axis[entry], keepdims=True)
    neither = over_remote.sum(axis=axis[entry], keepdims=True)
    return bool(np.abs(table * neither - over_remote * over_entry).max() < 1e-13)


def all_quilts(joint: Array, entry: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield (quilt, near set) for every way to part the entries into near (with the entry), quilt and remote."""
    others = [n for n in range(joint.ndim) if n != entry]
    for parts in product((0, 1, 2), repeat=len(others)):
        nodes, remote = (tuple(n for n, part in zip(others, parts, strict=True) if part == p) for p in (1, 2))
        if is_quilt(joint, entry, nodes, remote):
            yield nodes, tuple(sorted({entry, *others} - set(nodes) - set(remote)))


def separating_quilts(joint: Array, entry: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield (quilt, near set) for every subset of the other entries, near being the run around the entry it leaves."""
    length = joint.ndim
    others = [n for n in range(length) if n != entry]
    for nodes in chain.from_iterable(combinations(others, size) for size in range(length)):
        low, high = entry, entry
        while low - 1 >= 0 and low - 1 not in nodes:
            low -= 1
        while high + 1 < length and high + 1 not in nodes:
            high += 1
        near = tuple(range(low, high + 1))
        remote = tuple(n for n in others if n not in nodes and n not in near)
        assert is_quilt(joint, entry, nodes, remote)
        yield nodes, near


def score(change: float, e: float, epsilon: float) -> float:
    if change == 0 and e <= epsilon:
        return 0.0
    return change / (epsilon - e) if e < epsilon else math.inf


def quilt_scale(
    joint: Array,
    changes: Sequence[float],
    epsilon: float,
    quilts: Callable[[Array, int], Iterator[tuple[tuple[int, ...], tuple[int, ...]]]] = separating_quilts,
    entries: Sequence[int] | None = None,
) -> float:
    """Return max over entries of min over quilts of D(N)/(epsilon - e(Q)) (Song17 Algorithm 2)."""
    worst = 0.0
    for entry in range(joint.ndim) if entries is None else entries:
        if ordered_pairs(joint, entry):
            worst = max(
                worst,
                min(
                    score(sum(changes[n] for n in near), max_influence(joint, nodes, entry), epsilon)
                    for nodes, near in quilts(joint, entry)
                ),
            )
    return worst


def joint_quilt_cost(joint: Array, charges: Sequence[tuple[Sequence[float], float]]) -> float:
    """Return max over entries and ordered pairs of min over quilts of e(Q) + sum_k D_k(N)/b_k."""
    worst = 0.0
    for entry in range(joint.ndim):
        quilts = list(separating_quilts(joint, entry))
        for a, b in ordered_pairs(joint, entry):
            costs = [
                influence(joint, nodes, entry, a, b)
                + sum(_spent(sum(each[n] for n in near), scale) for each, scale in charges)
                for nodes, near in quilts
            ]
            worst = max(worst, min(costs))
    return worst


def _spent(change: float, scale: float) -> float:
    if scale == 0:
        return math.inf if change else 0.0
    return change / scale


def exact_loss(
    joint: Array,
    answers: Callable[[tuple[int, ...]], Sequence[int]],
    scales: Sequence[Fraction | float],
    entries: Sequence[int] | None = None,
) -> float:
    """Return the exact largest log-ratio of the laws of answers(X) + Laplace noise (one scale per coordinate).

    In one coordinate, the others fixed, the ratio is monotone between atoms and constant outside them, so the largest
    lies where every coordinate of the output is some answer's coordinate: all those points are tried in floats, and
    the largest of each comparison is evaluated again with 50 digits.
    """
    laws: dict[tuple[int, int], dict[tuple[int, ...], float]] = {}
    for path in np.argwhere(joint > 0):
        answer = tuple(int(y) for y in answers(tuple(int(x) for x in path)))
        for entry, value in enumerate(path):
            law = laws.setdefault((entry, int(value)), {})
            law[answer] = law.get(answer, 0.0) + float(joint[tuple(path)])
    atoms = sorted({answer for law in laws.values() for answer in law})
    grids = [sorted({atom[c] for atom in atoms}) for c in range(len(scales))]
    points = np.array(list(product(*grids)), dtype=float)
    exponent = -(np.abs(points[:, None, :] - np.array(atoms)[None, :, :]) / np.array([float(b) for b in scales])).sum(2)
    noised = {}
    for key, law in laws.items():
        mine = [n for n, atom in enumerate(atoms) if atom in law]
        terms = exponent[:, mine] + np.log([law[atoms[n]] / sum(law.values()) for n in mine])
        top = terms.max(axis=1)
        noised[key] = top + np.log(np.exp(terms - top[:, None]).sum(axis=1))
    worst = 0.0
    for entry in range(joint.ndim) if entries is None else entries:
        for a, b in ordered_pairs(joint, entry):
            point = points[int(np.argmax(noised[entry, a] - noised[entry, b]))]
            with mpmath.workdps(50):
                ratio = _density(laws[entry, a], point, scales) / _density(laws[entry, b], point, scales)
                worst = max(worst, float(mpmath.log(ratio)))
    return worst


def _density(law: dict[tuple[int, ...], float], point: Array, scales: Sequence[Fraction | float]) -> mpmath.mpf:
    total = mpmath.fsum(law.values())
    widths = [mpmath.mpf(b.numerator) / b.denominator if isinstance(b, Fraction) else mpmath.mpf(b) for b in scales]
    return mpmath.fsum(
        mass / total * mpmath.exp(-mpmath.fsum(abs(y - x) / b for y, x, b in zip(point, atom, widths, strict=True)))
        for atom, mass in law.items()
    )


def lemma_b4(n: int, pi: float, g: float) -> float:
    """Return log((pi + e^{-gn})/(pi - e^{-gn})), infinite unless n > log(1/pi)/g."""
    z = math.exp(-g * n)
    return math.log((pi + z) / (pi - z)) if z < pi else math.inf


def basic_markov_quilt(length: int, pi: float, g: float, epsilon: float) -> float:
    """Return Song17 Algorithm 3 with Algorithm 4 corrected (errata E3), literally: entries 1 to T, ends 0 and T + 1."""
    return max(find_best_quilt(i, length, pi, g, epsilon)[0] for i in range(1, length + 1))


def find_best_quilt(i: int, length: int, pi: float, g: float, epsilon: float) -> tuple[float, int, int]:
    """Return (score, a, b) of the best quilt of X_i."""
    best = (math.inf, 0, 0)
    for a in range(1, i + 1):
        left = 0.0 if i - a == 0 else 2 * lemma_b4(a, pi, g)
        for b in range(1, length + 1 - i + 1):
            e = left + (0.0 if i + b == length + 1 else lemma_b4(b, pi, g))
            if e < epsilon:
                best = min(best, ((a + b - 1) / (epsilon - e), a, b))
    return best


def exact_chain_quilt(
    matrix: Sequence[Sequence[float]], start: Sequence[float] | str, changes: Sequence[float], epsilon: float
) -> float:
    """Return Song17 Algorithm 3 with exact influence from matrix powers: every entry, every a and b, positive chains.

    `start` is "stationary", "any", or the law of X_0.
    """
    p, length = np.array(matrix, dtype=float), len(changes)
    powers = [np.linalg.matrix_power(p, n) for n in range(length)]
    if isinstance(start, str):
        values, vectors = np.linalg.eig(p.T)
        law = np.real(vectors[:, np.argmax(np.real(values))])
        law = law / law.sum()
    else:
        law = np.array(start)
    ratios = [np.zeros((len(p), len(p)))]
    backward = [np.zeros((len(p), len(p)))]
    for n in range(1, length):
        logs = np.log(powers[n])
        ratios.append((logs[:, None, :] - logs[None, :, :]).max(axis=2))
        backward.append((logs.T[:, None, :] - logs.T[None, :, :]).max(axis=2))
    sums = np.concatenate([[0.0], np.cumsum(changes)])
    worst = 0.0
    for i in range(length):
        alive = np.ones(len(p), bool) if i or isinstance(start, str) else law > 0
        pairs = np.outer(alive, alive) & ~np.eye(len(p), dtype=bool)
        if not pairs.any():
            continue
        first = backward[i]
        if start == "any":
            term = backward[i].T
        else:
            m = np.log(law if start == "stationary" or i == 0 else law @ powers[i], where=alive, out=np.zeros(len(p)))
            term = m[None, :] - m[:, None]
            if not isinstance(start, str) and i:
                logs = np.log(powers[i][law > 0])
                first = (logs.T[:, None, :] - logs.T[None, :, :]).max(axis=2)
        best = score(sums[-1], 0.0, epsilon)
        for a in range(1, i + 2):
            left = np.zeros_like(p) if a == i + 1 else (first if a == i else backward[a]) + term
            for b in range(1, length - i + 1):
                e = (left if b == length - i else left + ratios[b])[pairs].max()
                best = min(best, score(sums[i + b] - sums[i - a + 1], e, epsilon))
        worst = max(worst, best)
    return worst
