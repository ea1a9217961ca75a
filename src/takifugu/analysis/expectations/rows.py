"""The mean of an answer under a table, independent users and records; see `means` and `columns`."""

from __future__ import annotations

import numpy as np

from takifugu.analysis.expectations.means import of_groups
from takifugu.analysis.questions.expected_answer import ExpectedAnswer
from takifugu.core.arrays import FloatArray
from takifugu.model.beliefs.records.normal import MultivariateNormal
from takifugu.model.beliefs.records.records import Records
from takifugu.model.beliefs.table import JointTable
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.queries.answer import Additive
from takifugu.model.queries.resolving.real_columns import ColumnSums
from takifugu.model.secrets.families import ABSENT


def masses_of(table: JointTable) -> FloatArray:
    """Return the probability of each row of a table."""
    masses = np.array(table.masses, dtype=np.float64)
    return np.asarray(masses / masses.sum())


class OfTable(ExpectedAnswer[JointTable]):
    """Rows with their masses."""

    def cells(self, answer: Additive) -> FloatArray:
        table, total = self.belief, np.zeros(answer.cells)
        masses = masses_of(table)
        for column in np.flatnonzero(answer.weights).tolist():
            total += masses @ answer.contribution(column)[table.indices[:, column]]
        return total


class OfUsers(ExpectedAnswer[IndependentUsers]):
    """Users of one law are counted together; one who is absent adds what absence adds."""

    def cells(self, answer: Additive) -> FloatArray:
        return of_groups(answer, self.belief.law_of, laws_of_users(self.belief))

    @property
    def people(self) -> int:
        return self.belief.size


def laws_of_users(users: IndependentUsers) -> list[FloatArray]:
    """Return each user group's law over its values; one whose value is unknown has one all the same."""
    laws, (_, one_of_each) = list[FloatArray](), np.unique(users.law_of, return_index=True)
    for law, user in zip(users.laws, one_of_each.tolist(), strict=True):
        present = 1.0 if users.absence == "unknown" else float(law.presence)
        masses = [present * float(p) for p in law.probabilities]
        if users.alphabet(user)[-1] == ABSENT:
            masses = [*masses, 1 - present]
        laws.append(np.array(masses))
    return laws


class OfRecords(ExpectedAnswer[Records]):
    """Every record has the law of the table, also where that is one of a class."""

    def cells(self, answer: Additive) -> FloatArray:
        return of_groups(answer, np.broadcast_to(np.int64(0), answer.size), [masses_of(self.belief.table)])

    def means(self, answer: Additive) -> tuple[FloatArray, FloatArray]:
        """Take the extreme laws of a class for each cell."""
        if self.belief.within is None:
            return super().means(answer)
        values, size = answer.tables[0].astype(np.float64), int(answer.weights.sum())
        high = [size * largest_mean(self.belief, column) for column in values.T]
        low = [-size * largest_mean(self.belief, -column) for column in values.T]
        return np.array(low), np.array(high)

    @property
    def people(self) -> int:
        return self.belief.size


def largest_mean(records: Records, values: FloatArray) -> float:
    """Return the largest mean of a number of each row over the laws of a class."""
    if records.within is None:
        masses = np.array(records.table.masses, dtype=np.float64)
        return float(masses @ values / masses.sum())
    low, high = np.array(records.within, dtype=np.float64).T
    # what the least probabilities leave goes to the largest values first
    order = np.argsort(-values)
    room = (high - low)[order]
    before = np.cumsum(room) - room
    added = np.clip(1 - low.sum() - before, 0, room)
    return float(low @ values + added @ values[order])


class OfNormal(ExpectedAnswer[MultivariateNormal]):
    """Every record has the declared mean of each column."""

    def cells(self, answer: Additive | ColumnSums) -> FloatArray:
        assert isinstance(answer, ColumnSums)
        means = dict(zip(self.belief.columns, map(float, self.belief.mean), strict=True))
        column_means = np.array(list(map(means.__getitem__, answer.columns)))
        weights = np.array(answer.coefficients, dtype=np.float64)
        return np.asarray(answer.size * (weights @ column_means) / float(answer.grid))

    @property
    def people(self) -> int:
        return self.belief.size

    def ends(self, answer: object) -> tuple[FloatArray, FloatArray] | None:
        """Bound the answer by its columns' ranges, None where one lacks any."""
        assert isinstance(answer, ColumnSums)
        ranges = dict(zip(self.belief.columns, self.belief.ranges, strict=True))
        read = list(map(ranges.get, answer.columns))
        if any(read[column] is None for column in answer.read_columns):
            return None
        ends = np.array([range_or_none or (0, 0) for range_or_none in read], dtype=np.float64)
        weights = np.array(answer.coefficients, dtype=np.float64)
        shares = answer.size * weights[:, :, np.newaxis] * ends
        return shares.min(axis=2).sum(axis=1), shares.max(axis=2).sum(axis=1)
