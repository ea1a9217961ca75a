"""The least noise over quilts with near laws on a Bayesian network (`quilt_local`).

The near set of Q is what X_i reaches in the moral graph without Q: only then is (X_i, X_N) independent of X_R given
X_Q. Nodes of Q that touch nothing near change neither r nor the near laws, so a quilt is known by its near set. The
same quilts are tried as in `quilt-exact`, and its bound is a candidate: where d-separation leaves a smaller near set (a
collider that nobody observed) D(N) of that set may be the better one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from takifugu.analysis.answer_laws.network import sums_table
from takifugu.analysis.problem import Cost, Part
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.analysis.questions.influence import Search, Worst, one_number
from takifugu.core.errors import Unsupported
from takifugu.influence.quilts.near_laws.needed_scales import (
    TIE,
    TRIVIAL_WORK,
    NeededScale,
    Pair,
    as_worst,
    still_dear,
    worst_needed,
)
from takifugu.influence.quilts.near_laws.scores import NearLaws, quilt_scale
from takifugu.influence.quilts.network.candidates import ALL_SUBSETS, count_quilts, network_of, quilts
from takifugu.influence.quilts.network.search import NetworkSearch, needed_scale
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.log_ratios import DEAD, TRUSTED, BoolArray, FloatArray, clip, log_bounds, log_rounding

#: Quilts whose near laws are found, in all, shared among the secret entries of networks that are not searched fully.
MOST_LOCAL = 10_000
#: Largest table of one near law, in numbers.
LARGEST_NEAR = 1e6
#: Predicted operations of one quilt.
PER_QUILT = 3e6
#: Seconds that one quilt takes, roughly.
SECONDS = 2e-2


@dataclass(frozen=True, eq=False)
class NearTable:
    """P(x_Q, X_i = s, near sum = start + j) up to a factor: shape (x_Q, s, j), and which (x_Q, s) are possible."""

    masses: FloatArray
    start: int
    error: float
    ratios: FloatArray

    def laws(self, pair: Pair, x: int) -> NearLaws:
        """Return the near laws given both values of a pair and one x_Q."""
        p, q = (Pmf.on_integers(self.start, row / row.sum()) for row in self.masses[x, list(pair)])
        return NearLaws(p, q, 2 * self.error)


def moral_near_set(
    network: BayesianNetwork, entry: int, quilt: frozenset[int]
) -> tuple[frozenset[int], frozenset[int]]:
    """Return what an entry reaches in the moral graph without the quilt, and the quilt's nodes that touch it.

    >>> net = BayesianNetwork([("x", [0, 1], [], [0.5, 0.5]), ("r", [0, 1], [], [0.5, 0.5]),
    ...                        ("n", [0, 1], ["x", "r"], [[[1, 0], [0, 1]], [[0, 1], [1, 0]]])])
    >>> sorted(moral_near_set(net, 0, frozenset())[0])  # the collider joins x and r
    [0, 1, 2]
    """
    near, stack = {entry}, [entry]
    touched: set[int] = set()
    while stack:
        for v in network.moral_neighbours[stack.pop()]:
            if v in quilt:
                touched.add(v)
            elif v not in near:
                near.add(v)
                stack.append(v)
    return frozenset(near), frozenset(touched)


def near_table(part: Part, entry: int, near: frozenset[int], quilt: frozenset[int]) -> NearTable | None:
    """Return the laws of a near set, or None where they are too large or too small for float64."""
    network = network_of(part)
    keep = [*sorted(quilt), entry]
    try:
        table, start, error = sums_table(network, part.answer, keep, near, LARGEST_NEAR)
    except Unsupported:
        return None
    k = len(network.alphabet(entry))
    masses = np.ascontiguousarray(table).reshape(-1, k, table.shape[-1])
    cells = masses.sum(axis=-1)
    possible = network.support(keep).reshape(-1, k)
    if ((cells < TRUSTED) & possible).any() or ((masses > 0) & (masses < TRUSTED)).any():
        return None
    error += 2.0**-52 * (masses.size + 8)
    return NearTable(masses, start, error, _ratios(cells, possible, error))


def _ratios(cells: FloatArray, possible: BoolArray, error: float) -> FloatArray:
    """Return upper bounds of log P(x | a)/P(x | b), shape (x, a, b), DEAD where x or a is impossible."""
    upper, lower = log_bounds(cells, possible)
    totals, held = cells.sum(axis=0), np.asarray(possible.any(axis=0))
    logs = np.log(np.where(held, totals, 1.0))
    raw = clip(upper[:, :, None] - lower[:, None, :])
    margin = 4 * error + log_rounding(upper, lower, logs)
    shifted = clip(raw + logs[None, None, :] - logs[None, :, None] + margin)
    return np.where(held[None, :, None] & held[None, None, :] & possible[:, :, None], shifted, DEAD)


@dataclass(frozen=True, eq=False)
class LocalSearch(Search):
    """The largest over secret entries and ordered pairs of the least over quilts, by the laws of their near sets."""

    def cost(self, epsilon: Fraction) -> Cost:
        """Predict the search of `quilt-exact`, the near laws, and the laws of the whole answer."""
        part = self.part
        law = answer_law(part)
        exact = NetworkSearch(part).cost(epsilon).operations
        laws, held = law.work()
        count, widest = law.comparisons()
        whole = laws + count * 1000 * (widest + 300) if laws <= TRIVIAL_WORK else 0.0
        return Cost(exact + _most_tried(part) * PER_QUILT + whole, held + 8 * LARGEST_NEAR)

    def worst(self, epsilon: Fraction) -> Worst:
        part = self.part
        first, note = needed_scale(part, epsilon)
        known = Fraction(first.value)
        if note:
            return as_worst(
                part, NeededScale(known, first.entry, first.pair, f"the quilt of quilt-exact is used; {note}")
            )

        def improve(entry: int, best: dict[Pair, NeededScale], enough: Fraction) -> Iterator[int]:
            for near, quilt in _near_sets(part, entry):
                if not still_dear(best, enough):
                    return
                _improve(part, entry, near, quilt, best, enough, epsilon)
                yield 1

        most = _most_tried(part)
        return as_worst(part, worst_needed(part, epsilon, known, improve, most, most * SECONDS))


def local_search(part: Part) -> Search:
    """Return the search on a network, for one number."""
    reason = one_number(part)
    return Search(part, reason) if reason else LocalSearch(part)


def _near_sets(part: Part, entry: int) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """Yield the near sets of the quilts that are tried, each once, with the quilt's nodes that touch it."""
    network = network_of(part)
    everything = network.size <= ALL_SUBSETS
    most = max(1, MOST_LOCAL // len(part.family.entries))
    seen: set[frozenset[int]] = set()
    for number, nodes in enumerate(quilts(network, entry, most)):
        if number >= most and not everything:
            return
        near, touched = moral_near_set(network, entry, frozenset(nodes))
        if touched and near not in seen:
            seen.add(near)
            yield near, touched


def _improve(
    part: Part,
    entry: int,
    near: frozenset[int],
    quilt: frozenset[int],
    best: dict[Pair, NeededScale],
    enough: Fraction,
    epsilon: Fraction,
) -> None:
    table = near_table(part, entry, near, quilt)
    if table is None:
        return
    names = ", ".join(str(network_of(part).names[v]) for v in sorted(quilt))
    words = f"the best quilt is {names}; the distribution of its near set of {len(near)} nodes is used"
    for pair in still_dear(best, enough):
        ratios, limit = table.ratios[:, pair[0], pair[1]], best[pair].scale * (1 - TIE)
        scale = quilt_scale(ratios, partial(table.laws, pair), epsilon, limit)
        if scale is not None:
            best[pair] = NeededScale(scale, entry, pair, words)


def _most_tried(part: Part) -> int:
    """Return how many quilts are tried at most."""
    entries = len(part.family.entries)
    share = max(1, MOST_LOCAL // entries)
    number = count_quilts(part, share)
    return number if part.belief.size <= ALL_SUBSETS else min(number, entries * share)
