"""Quilts with the laws of their near sets by enumeration, and the loss of two laws after noise: slow, as defined."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from tests.support.network_oracles import Law, independent, marginal

Sum = dict[int, Fraction]
FloatArray = npt.NDArray[np.float64]


def loss(p: Sum, q: Sum, scale: float) -> float:
    """Return the largest log p/q after Laplace noise: at an atom, where every extreme lies."""
    ys = np.array(sorted({*p, *q}), dtype=float)

    def log_density(law: Sum) -> FloatArray:
        atoms, masses = np.array(list(law), dtype=float), np.array([float(mass) for mass in law.values()])
        logs = np.log(masses) - np.abs(ys[:, None] - atoms) / scale
        return np.asarray(np.logaddexp.reduce(logs, axis=1))

    return float((log_density(p) - log_density(q)).max())


def least_scale(p: Sum, q: Sum, room: float) -> float:
    """Return the least scale at which the loss is at most `room`, by bisection; room is above 0."""
    if all(x in q and math.log(mass / q[x]) <= room for x, mass in p.items()):
        return 0.0
    low, high = 0.0, float(max(*p, *q) - min(*p, *q)) / room
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if loss(p, q, middle) <= room else (middle, high)
    return high


def separates(law: Law, near: tuple[int, ...], remote: tuple[int, ...], quilt: tuple[int, ...]) -> bool:
    """Whether X_near and X_remote are independent given X_quilt, near entries together, exactly."""
    if not remote:
        return True
    joined: Law = {}
    index = {x: n for n, x in enumerate(marginal(law, near))}
    for x, mass in law.items():
        key = (index[tuple(x[v] for v in near)], *(x[v] for v in remote), *(x[v] for v in quilt))
        joined[key] = joined.get(key, Fraction(0)) + mass
    r = len(remote)
    return independent(joined, 0, tuple(range(1, 1 + r)), tuple(range(1 + r, 1 + r + len(quilt))))


def near_laws(
    law: Law, tables: list[list[int]], entry: int, near: tuple[int, ...], quilt: tuple[int, ...]
) -> dict[tuple[int, tuple[int, ...]], Sum]:
    """Return P(X_i = s, X_Q = x_Q, near sum = j) as {(s, x_Q): {j: mass}}."""
    laws: dict[tuple[int, tuple[int, ...]], Sum] = {}
    for x, mass in law.items():
        if mass:
            sums = laws.setdefault((x[entry], tuple(x[v] for v in quilt)), {})
            at = sum(tables[v][x[v]] for v in near)
            sums[at] = sums.get(at, Fraction(0)) + mass
    return laws


def needed_scale(
    law: Law, tables: list[list[int]], entries: list[int], epsilon: float, least_nodes: int = 0
) -> float:
    """Return max over entries and ordered pairs of min over quilts of max over x_Q of the scale for epsilon - r."""
    n, worst = len(tables), 0.0
    for entry in entries:
        prior = marginal(law, (entry,))
        values = [v for (v,), mass in prior.items() if mass > 0]
        best = {(a, b): math.inf for a in values for b in values if a != b}
        others = [v for v in range(n) if v != entry]
        for quilt in (q for r in range(least_nodes, n) for q in itertools.combinations(others, r)):
            rest = [v for v in others if v not in quilt]
            # the smallest near set that leaves the rest independent: a larger one never requires less noise
            near = next(
                (entry, *c)
                for r in range(len(rest) + 1)
                for c in itertools.combinations(rest, r)
                if separates(law, (entry, *c), tuple(v for v in rest if v not in c), quilt)
            )
            laws = near_laws(law, tables, entry, near, quilt)
            for a, b in best:
                best[(a, b)] = min(best[(a, b)], _quilt_scale(laws, prior, (a, b), epsilon))
        worst = max([worst, *best.values()])
    return worst


def _quilt_scale(
    laws: dict[tuple[int, tuple[int, ...]], Sum], prior: Law, pair: tuple[int, int], epsilon: float
) -> float:
    a, b = pair
    worst = 0.0
    for (s, x), p in laws.items():
        if s != a:
            continue
        q = laws.get((b, x))
        if q is None:
            return math.inf
        left, right = sum(p.values()), sum(q.values())
        r = math.log(left / prior[(a,)] / (right / prior[(b,)]))
        p_law, q_law = ({v: m / whole for v, m in part.items()} for part, whole in ((p, left), (q, right)))
        apart = max(*p, *q) > min(*p, *q)
        if r > epsilon or (r >= epsilon and apart):
            return math.inf
        worst = max(worst, least_scale(p_law, q_law, epsilon - r) if apart else 0.0)
    return worst
