"""Laws of a scalar answer given an entry of a joint table: direct sums over its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain

import numpy as np

from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.questions.answer_law import AnswerLaw
from takifugu.core.arrays import IntArray
from takifugu.model.beliefs.table import JointTable
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import compared_values
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import UNIT

#: Relative error of a mass of `law_given` for a table of floats: two sums, one division, one division in Pmf.
ROUNDED = 6 * UNIT


def row_answers(belief: JointTable, answer: Additive) -> IntArray:
    """Return the answer of every row of the table, in grid units."""
    total = np.zeros(len(belief.rows), dtype=np.int64)
    for entry in range(belief.size):
        if answer.weights[entry]:
            total += answer.contribution(entry)[belief.indices[:, entry], 0]
    return total


def law_given(belief: JointTable, answers: IntArray, entry: int, value: int) -> Pmf:
    """Return the law of the answer given a value of an entry.

    The value, by its index, has positive probability. Exact (integer masses) when the table is; otherwise each mass is
    a correctly rounded sum divided by another.
    """
    groups: dict[int, list[int | float]] = {}
    for row in np.flatnonzero(belief.indices[:, entry] == value).tolist():
        groups.setdefault(int(answers[row]), []).append(belief.masses[row])
    values = sorted(groups)
    if belief.total is not None:
        return Pmf.from_counts(values, [int(sum(groups[v])) for v in values])
    total = math.fsum(chain.from_iterable(groups.values()))
    return Pmf(values, [math.fsum(groups[v]) / total for v in values])


class TableLaw(AnswerLaw[JointTable]):
    """The laws given each value of each secret entry, in order: sums over the rows."""

    def families(self) -> Iterator[ListedFamily]:
        belief, answers = self.belief, row_answers(self.belief, self.answer)
        for entry in self.family.entries:
            pairs = self.family.value_pairs(belief, entry)
            if pairs:
                laws = {v: (law_given(belief, answers, entry, v),) for v in compared_values(pairs)}
                yield ListedFamily(entry, pairs, laws, 0.0 if belief.total is not None else ROUNDED)

    def work(self, laplace: bool = False) -> tuple[float, float]:
        return 100.0 * self.atoms() * len(self.family.entries), 100.0 * self.atoms()

    def atoms(self) -> float:
        return float(len(self.belief.rows))
