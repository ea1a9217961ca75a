"""The mean of an answer about whole columns, whose laws their parameters give.

Where nothing says how likely the values of the parameters are, each column takes any of the laws that its own parameter
may give it. A term is then largest where its columns take, one after the other, the law that makes it largest given the
values of the others: no choice of one law for each of them exceeds that.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from takifugu.analysis.expectations.rows import masses_of
from takifugu.analysis.questions.expected_answer import ExpectedAnswer
from takifugu.core.arrays import FloatArray
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.records.parameters import Parameters
from takifugu.model.queries.answer import Additive
from takifugu.model.queries.resolving.columns import ColumnAnswer


class OfParameters(ExpectedAnswer[Parameters]):
    """Given the parameters, every record has the law of each column; they are averaged over the parameters."""

    @property
    def laws(self) -> list[FloatArray]:
        """Return the laws of each column whose mixtures are all that it may have, shape (laws, states)."""
        laws = list[FloatArray]()
        for column in self.belief.described:
            is_possible = np.array(self.belief.possible(column.entry))
            laws.append(np.array(column.laws, dtype=np.float64)[is_possible])
        return laws

    def means(self, answer: Additive | ColumnAnswer) -> tuple[FloatArray, FloatArray]:
        """Return the mean twice, and where the parameters are a network what their values allow."""
        if self.belief.table is not None:
            cells = self.cells(answer)
            return cells, cells
        return self.extremes(answer)

    def extremes(self, answer: Additive | ColumnAnswer) -> tuple[FloatArray, FloatArray]:
        """Return the least and largest means over all values of the parameters."""
        if not isinstance(answer, ColumnAnswer):
            return super().means(answer)
        laws, ends = self.laws, list[FloatArray]()
        for sign in (-1.0, 1.0):
            total = np.zeros(answer.cells)
            for term in answer.terms:
                values = sign * term.table
                for column in term.columns:
                    values = np.tensordot(laws[column], values, axes=(1, 0)).max(axis=0)
                total += values
            ends.append(sign * answer.records * total)
        return ends[0], ends[1]

    def cells(self, answer: Additive | ColumnAnswer) -> FloatArray:
        belief, table = self.belief, self.belief.table
        if not isinstance(answer, ColumnAnswer) or table is None:
            raise Unsupported(f"{belief.describe()} gives no mean here", fix="write what is expected: [expect]")
        total = np.zeros(len(answer.labels))
        for row, mass in zip(table.rows, masses_of(table), strict=True):
            total += mass * means_of_record(belief, answer, row)
        return answer.records * total


def means_of_record(belief: Parameters, answer: ColumnAnswer, row: Sequence[Hashable]) -> FloatArray:
    """Return what one record adds to each cell on average, given the values of all parameters."""
    total = np.zeros(answer.cells)
    for term in answer.terms:
        values = term.table.astype(np.float64)
        for column in map(belief.described.__getitem__, term.columns):
            law = column.laws[belief.alphabet(column.entry).index(row[column.entry])]
            values = np.tensordot(np.array(law, dtype=np.float64), values, axes=(0, 0))
        total += values
    return total


class OfCounted(OfParameters):
    """Counted parameters have the mean of what was counted, and any that their values allow."""

    def means(self, answer: Additive | ColumnAnswer) -> tuple[FloatArray, FloatArray]:
        return self.extremes(answer)
