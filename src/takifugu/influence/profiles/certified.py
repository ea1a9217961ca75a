"""The supremum over a cone of four states and more: a simplex method over trees, and a dual certificate of its result.

max p.phi / q.phi over phi(u) <= e^rho(u, v) phi(v) is a linear-fractional program. Its vertices are trees of tight
constraints: phi(u) = e^rho(u, v) phi(v) along each edge (u, v). For any f >= 0 on the edges

    lambda = max over u of (p_u - sum_v f_uv + sum_w e^rho(w, u) f_wu) / q_u

bounds p.phi / q.phi from above, because p <= A'f + lambda q and A phi <= 0. So a tree only proposes f; what is returned
is lambda, rounded up, whatever the search did. Scaled by phi the flow obeys g = A' s, s = phi (p - lambda q), A the
inverse of the tree's incidence matrix; g >= 0 and phi feasible prove the tree to be the best one. Trees are remembered:
the next step of a recursion, or the next scale, mostly has the same. Source: linear programming duality.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.rays import star_rays, tree_paths
from takifugu.influence.profiles.sparse import SOLVED, SparsePrograms
from takifugu.numbers.atoms import Array
from takifugu.numbers.outward_rounding import UNIT, up

#: Slack below this, relative to the largest ratio, counts as tight; flow above minus this share counts as not negative.
TIGHT = 1e-12
#: Pivots for each state before the search for trees ends.
PIVOTS = 6
#: Beyond so many states programs of the pairs that no third state implies are quicker than trees of all pairs.
MOST_IN_TREES = 16


@dataclass(frozen=True, eq=False)
class Trees:
    """One tree for each pair: its edges (pairs, k - 1, 2), and its paths (pairs, k, k - 1), exponents by edges."""

    edges: IntArray
    paths: FloatArray

    @staticmethod
    def of(edges: IntArray) -> Trees:
        """Return trees with their paths."""
        return Trees(edges, tree_paths(edges))

    @cached_property
    def places(self) -> IntArray:
        """Return the edges as flat indices into all pairs of states."""
        return np.asarray(self.edges[..., 0] * (self.edges.shape[1] + 1) + self.edges[..., 1])

    @cached_property
    def ends(self) -> tuple[IntArray, IntArray]:
        """Return both ends of all edges as flat indices (pairs, k)."""
        count, size, _ = self.edges.shape
        first = np.arange(count)[:, None] * (size + 1)
        return (first + self.edges[..., 0]).ravel(), (first + self.edges[..., 1]).ravel()

    def sums(self, end: int, flows: FloatArray) -> FloatArray:
        """Return each state's flows, as first and as second end."""
        count, size = flows.shape
        sums: FloatArray = np.bincount(self.ends[end], flows.ravel(), count * (size + 1)).astype(float, copy=False)
        return sums.reshape(count, size + 1)


@dataclass(eq=False)
class Programs:
    """One program for each ordered pair of rows, with its last tree."""

    sparse: SparsePrograms = field(default_factory=SparsePrograms)
    _trees: dict[tuple[int, int], Trees] = field(default_factory=dict)

    def bound(self, rows: FloatArray, ratio: FloatArray, needed: np.ndarray | None = None) -> FloatArray:
        """Return R[a, b] >= log sup p.phi / q.phi over a closed cone, p = rows[a], q = rows[b], shape (m, m)."""
        count, states = rows.shape
        bound = np.full((count, count), np.inf)
        np.fill_diagonal(bound, 0.0)
        first, second = ordered_pairs(count)
        # Pairs that are not `needed` keep the bound inf.
        places = np.arange(len(first)) if needed is None else np.flatnonzero(needed[first, second])
        if states <= MOST_IN_TREES:
            proofs, solved = self._by_trees(rows, ratio, places)
            bound[first[places[solved]], second[places[solved]]] = proofs[solved]
            places = places[~solved]
        if len(places):
            first, second = first[places], second[places]
            bound[first, second], solved = self.sparse.bound(rows, ratio, np.stack([first, second], axis=1))
            # No bound is what an unfinished search proved: such bounds would not rise with rho.
            if not solved.all():
                levels = Levels(rows).bound(float(ratio.max()))
                bound[first[~solved], second[~solved]] = levels[first[~solved], second[~solved]]
        return bound

    def _by_trees(self, rows: FloatArray, ratio: FloatArray, places: IntArray) -> tuple[FloatArray, np.ndarray]:
        """Return what the trees of some ordered pairs prove, and which are the suprema, nearly."""
        count, states = rows.shape
        first, second = ordered_pairs(count)
        remembered = self._trees.get((count, states)) or Trees.of(best_stars(rows[first], rows[second], ratio))
        p, q = rows[first[places]], rows[second[places]]
        trees, vertices, is_best = improved(Trees(remembered.edges[places], remembered.paths[places]), p, q, ratio)
        self._trees[count, states] = Trees(
            _with(remembered.edges, places, trees.edges), _with(remembered.paths, places, trees.paths)
        )
        proofs = proved(trees, vertices, p, q, ratio)
        return proofs, is_best & (np.exp(proofs) <= vertices.value * (1 + SOLVED))


@lru_cache(maxsize=16)
def ordered_pairs(count: int) -> tuple[IntArray, IntArray]:
    """Return first and second of all ordered pairs of different rows."""
    first, second = np.nonzero(~np.eye(count, dtype=bool))
    return first, second


def best_stars(p: FloatArray, q: FloatArray, ratio: FloatArray) -> IntArray:
    """Return each pair's best ray, as the star of its tight edges."""
    states = len(ratio)
    rays = star_rays(ratio)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.nan_to_num((p @ rays) / (q @ rays), nan=0.0, posinf=1e300)
    best = values.argmax(axis=1)
    stars = np.empty((2 * states, states - 1, 2), dtype=np.int64)
    for centre in range(states):
        leaves = np.delete(np.arange(states), centre)
        stars[centre] = np.stack([leaves, np.full(states - 1, centre)], axis=1)
        stars[states + centre] = stars[centre][:, ::-1]
    return np.asarray(stars[best])


@dataclass(frozen=True, eq=False)
class _Vertices:
    """The vertices of trees: exponents x, phi = e^x, flows g along the edges, and lambda, one row for each pair."""

    exponents: FloatArray
    phi: FloatArray
    flows: FloatArray
    value: FloatArray


def _vertices(trees: Trees, p: FloatArray, q: FloatArray, ratio: FloatArray) -> _Vertices:
    along = ratio.take(trees.places)
    exponents = (trees.paths @ along[..., None])[..., 0]
    exponents -= exponents.max(axis=1, keepdims=True)
    phi = np.exp(exponents)
    value = (p * phi).sum(axis=1) / np.maximum((q * phi).sum(axis=1), 1e-300)
    supplies = phi * (p - value[:, None] * q)
    return _Vertices(exponents, phi, (supplies[:, None, :] @ trees.paths)[:, 0, :], value)


def improved(trees: Trees, p: FloatArray, q: FloatArray, ratio: FloatArray) -> tuple[Trees, _Vertices, np.ndarray]:
    """Return better trees by simplex pivots, all pairs at once, and which are the best."""
    slack_needed = TIGHT * (1 + float(ratio.max()))
    restarted, is_best = np.zeros(len(p), dtype=bool), np.zeros(len(p), dtype=bool)
    at = _vertices(trees, p, q, ratio)
    active, now, vertices = np.arange(len(p)), trees, at
    for _ in range(PIVOTS * len(ratio)):
        feasible = _least_slack(vertices.exponents, ratio) >= -slack_needed
        flowing = (vertices.flows >= -TIGHT * np.abs(vertices.flows).sum(axis=1)[:, None]).all(axis=1)
        is_best[active] = feasible & flowing
        rows = np.flatnonzero(~(feasible & flowing))
        if not len(rows):
            break
        edges, exponents = now.edges[rows], vertices.exponents[rows]
        slack = ratio - (exponents[:, :, None] - exponents[:, None, :])
        lost = ~feasible[rows] & ~flowing[rows] & ~restarted[active[rows]]
        if lost.any():
            still_moving = active[rows[lost]]
            restarted[still_moving] = True
            edges[lost] = best_stars(p[still_moving], q[still_moving], ratio)
        for place, row in enumerate(rows.tolist()):
            if feasible[row]:
                _pivot_out(edges[place], now.paths[row], vertices.flows[row], slack[place])
            elif flowing[row]:
                _pivot_in(edges[place], now.paths[row], vertices.flows[row], slack[place])
        active = active[rows]
        now = Trees.of(edges)
        vertices = _vertices(now, p[active], q[active], ratio)
        trees = Trees(_with(trees.edges, active, edges), _with(trees.paths, active, now.paths))
        at = _Vertices(
            _with(at.exponents, active, vertices.exponents), _with(at.phi, active, vertices.phi),
            _with(at.flows, active, vertices.flows), _with(at.value, active, vertices.value),
        )  # fmt: skip
    return trees, at, is_best


def _least_slack(exponents: FloatArray, ratio: FloatArray) -> FloatArray:
    """Return the least rho(u, v) - x(u) + x(v) by row."""
    by_state = np.ascontiguousarray(exponents.T)
    slack = ratio[:, :, None] - by_state[:, None, :]
    slack += by_state
    return np.asarray(slack.min(axis=(0, 1)))


def _with(rows: Array, places: IntArray, new: Array) -> Array:
    changed = rows.copy()
    changed[places] = new
    return changed


def _pivot_out(tree: IntArray, paths: FloatArray, flows: FloatArray, slack: FloatArray) -> None:
    """Drop the edge of the most negative flow."""
    leaving = int(flows.argmin())
    tail_side = paths[:, leaving] - paths[tree[leaving, 1], leaving] > 0.5
    crossing = np.where(~tail_side[:, None] & tail_side[None, :], slack, np.inf)
    entering = int(crossing.argmin())
    tree[leaving] = divmod(entering, len(slack))


def _pivot_in(tree: IntArray, paths: FloatArray, flows: FloatArray, slack: FloatArray) -> None:
    """Take in the worst violated constraint."""
    u, v = divmod(int(slack.argmin()), len(slack))
    forward = paths[u] - paths[v] > 0.5
    if forward.any():
        tree[int(np.where(forward, flows, np.inf).argmin())] = u, v


def proved(trees: Trees, at: _Vertices, p: FloatArray, q: FloatArray, ratio: FloatArray) -> FloatArray:
    """Return the log of lambda proved by each tree's flow, rounded up."""
    count, states = p.shape
    flows = np.maximum(at.flows, 0.0)
    # f = g / phi(u); what flows in at v is e^rho f phi(v) = g, but for the rounding of the exponents.
    off = (4 * states + 16) * UNIT * (1 - at.exponents.min(axis=1) + float(ratio.max()))  # x <= 0
    outward, inward = trees.sums(0, flows), trees.sums(1, flows * (1 + off)[:, None])
    weights, terms = at.phi * q, at.phi * p
    upper = terms - outward + inward + (2 * states + 12) * UNIT * (terms + outward + inward)
    heaviest = weights.max(axis=1, keepdims=True)
    few = weights < 1e-6 * heaviest
    if few.any():
        row, largest = np.arange(count), weights.argmax(axis=1)
        excess = np.where(few, np.maximum(upper - at.value[:, None] * weights * (1 - 8 * UNIT), 0.0), 0.0)
        detour = np.exp(ratio[:, largest].T - at.exponents + at.exponents[row, largest][:, None])
        upper[row, largest] += (excess * detour).sum(axis=1) * (1 + off) * (1 + (states + 8) * UNIT)
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = np.where(few, 0.0, upper / weights)
    value = np.maximum(bounds.max(axis=1), at.value)
    return np.asarray(up(np.log(value) * (1 + 4 * UNIT) + 16 * UNIT))
