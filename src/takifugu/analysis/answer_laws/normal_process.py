"""Answers about one draw of jointly normal values, without credit for its own randomness (Theorem 16).

X_j = E[X_j | X_i] + R_j, where R has one law whatever X_i is. Beside a given R each cell moves by h at most
(`ProcessView.moves`), also where values are clipped or rounded. Noise that hides such a move hides X_i: laws of noisy
answers under two hypotheses are mixtures over R, and the hockey-stick divergence is jointly convex.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from takifugu.analysis.answer_laws.listed import ListedFamily, one_move
from takifugu.analysis.questions.answer_law import AnswerLaw
from takifugu.analysis.questions.normal_law import ComparedNormals, NormalLaw, apart
from takifugu.model.beliefs.records.normal_views import ProcessView
from takifugu.model.queries.resolving.real_columns import ColumnSums
from takifugu.model.secrets.hypotheses import against

#: Operations for the move of one value with another, and for a look at its weight in a cell.
PER_MOVE, PER_WEIGHT = 2e3, 30


def predicted(view: ProcessView, cells: int) -> float:
    """Predict the operations for all moves of an answer."""
    return len(view.columns) * len(view.whole.columns) * float(PER_MOVE + PER_WEIGHT * cells)


class ProcessLaw(NormalLaw[ProcessView]):
    """For each hidden value two answers that are its largest moves apart, and nothing else."""

    answer: ColumnSums

    def comparisons(self) -> Iterator[ComparedNormals]:
        view = self.belief
        for number, (a, b) in enumerate(view.pairs):
            laws = apart(view.moves(self.answer, number))
            comparison = against(view.describe_hypothesis(a), view.describe_hypothesis(b))
            yield ComparedNormals(laws, comparison, view.secret.describe())

    def work(self) -> float:
        return predicted(self.belief, self.answer.cells)


class ProcessShift(AnswerLaw[ProcessView]):
    """The moves of an answer, as two numbers for each hidden value: for mechanisms that look at finite laws."""

    def families(self) -> Iterator[ListedFamily]:
        answer = cast(ColumnSums, self.answer)
        for number, pair in enumerate(self.belief.pairs):
            (move,) = self.belief.moves(answer, number)
            yield one_move(number, pair, move / answer.grid)

    def work(self, laplace: bool = False) -> tuple[float, float]:
        return predicted(self.belief, 1), 1e4

    def atoms(self) -> float:
        return 1.0
