"""What a belief expects an answer to be, and how likely a large count is: public, and known before anything is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.alike import alike
from takifugu.model.queries.additive import Additive

B = TypeVar("B", bound=Belief, covariant=True)


@dataclass(frozen=True, eq=False)
class ExpectedAnswer(Generic[B]):
    """What one type of belief expects; by default that is not known."""

    belief: B

    def cells(self, answer: Additive) -> FloatArray:
        """Return the mean of each cell in grid units, shape (cells,).

        Raises Unsupported where the belief has none.
        """
        raise Unsupported(
            f"{self.belief.describe()} says nothing of the mean of an answer", fix="write what is expected: [expect]"
        )

    @property
    def people(self) -> int | None:
        """Return the number of people, each an entry or record, else None."""
        return None

    def ends(self, answer: object) -> tuple[FloatArray, FloatArray] | None:
        """Return each cell's least and largest in answer units, if known."""
        return None


def expected_answer(belief: Belief, answer: Additive) -> FloatArray:
    """Return the mean of each cell under a belief, in answer units.

    Raises Unsupported where a belief has no mean: an unknown start, a class of beliefs.

    >>> from takifugu import Histogram, MarkovChain
    >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100, states=["still", "walking"])
    >>> expected_answer(chain, Histogram().resolve(chain)).round(9).tolist()
    [80.0, 20.0]
    """
    expected = EXPECTED_ANSWER.of(belief)
    if expected is ExpectedAnswer:
        cells = of_components(belief, answer)
    else:
        cells = expected(belief).cells(answer)
    return cells * float(answer.grid)


def of_components(belief: Belief, answer: Additive) -> FloatArray:
    """Add up the mean of each cell over components, in grid units."""
    total = np.zeros(answer.cells)
    for group in alike(belief, answer):
        piece, share = belief.component(group.number), answer.restrict(slice(group.run.start, group.run.stop))
        total += group.count * EXPECTED_ANSWER.of(piece)(piece).cells(share)
    return total

EXPECTED_ANSWER: Question[type[ExpectedAnswer[Belief]]] = Question(
    "the mean of an answer",
    {
        "model.beliefs.chains.chain:MarkovChain": "analysis.answer_laws.expected:OfChain",
        "model.beliefs.chains.periodic_chain:PeriodicChain": "analysis.answer_laws.expected:OfChain",
        "model.beliefs.chains.pieces:IndependentPieces": "analysis.answer_laws.expected:OfPieces",
        "model.beliefs.networks.network:BayesianNetwork": "analysis.answer_laws.expected:OfMarginals",
        "model.beliefs.contacts:Clique": "analysis.answer_laws.expected:OfClique",
        "model.beliefs.records.normal:MultivariateNormal": "analysis.answer_laws.expected_rows:OfNormal",
        "model.beliefs.records.parameters:Parameters": "analysis.answer_laws.expected_rows:OfParameters",
        "model.beliefs.records.records:Records": "analysis.answer_laws.expected_rows:OfRecords",
        "model.beliefs.table:JointTable": "analysis.answer_laws.expected_rows:OfTable",
        "model.beliefs.users:IndependentUsers": "analysis.answer_laws.expected_rows:OfUsers",
    },
    default=ExpectedAnswer,
)


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
