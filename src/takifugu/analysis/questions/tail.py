"""How likely it is, at most, that a count is large under a belief: Chernoff's bound, from E exp(tilt * count)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.alike import alike
from takifugu.model.queries.additive import Additive

#: Each gives a bound, and the best of these is near the best of all.
TILTS = 2.0 ** (np.arange(-48, 9) / 2)

#: log E exp(tilt * N) for each tilt, of a count N, which is an answer of one cell; infinite where it is not known.
LogMoments = Callable[[Belief, Additive, FloatArray], FloatArray]


def log_chance_of_reaching(belief: Belief, count: Additive, cell: int, value: float) -> float:
    """Bound log P(N >= value) of a cell N; 0 where unknown.

    H. Chernoff, Ann. Math. Stat. 23 (1952): P(N >= value) <= E exp(tilt * (N - value)) for each tilt above 0.

    >>> from takifugu import Count, MarkovChain
    >>> coin = MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=100, states=["heads", "tails"])
    >>> round(log_chance_of_reaching(coin, Count("heads").resolve(coin), 0, 75), 1)
    -13.0
    """
    tables = tuple(np.asarray(table[:, cell : cell + 1]) for table in count.tables)
    alone = Additive(count.grid, count.labels[cell : cell + 1], tables, count.weights, count.table_of)
    return min(0.0, float((_log_moments(belief, alone) - TILTS * value).min()))


def _log_moments(belief: Belief, count: Additive) -> FloatArray:
    """Return log moments, adding up those of independent components."""
    moments = LOG_MOMENTS.of(belief)
    if moments is not unknown:
        return moments(belief, count, TILTS)
    total = np.zeros(len(TILTS))
    for group in alike(belief, count):
        piece, share = belief.component(group.number), count.restrict(slice(group.run.start, group.run.stop))
        total += group.count * LOG_MOMENTS.of(piece)(piece, share, TILTS)
    return total


def unknown(belief: Belief, count: Additive, tilts: FloatArray) -> FloatArray:
    """Return infinity: of this belief no moment is known."""
    return np.full(len(tilts), np.inf)

LOG_MOMENTS: Question[LogMoments] = Question(
    "the moments of a count",
    {
        "model.beliefs.chains.periodic_chain:PeriodicChain": "analysis.answer_laws.expected:moments_of_chain",
        "model.beliefs.records.records:Records": "analysis.answer_laws.expected_rows:moments_of_records",
        "model.beliefs.users:IndependentUsers": "analysis.answer_laws.expected_rows:moments_of_users",
    },
    default=unknown,
)
