"""p-sensitivity: which way, and how far, each cell of an answer moves along one allowed move of a policy.

Decreasing (counts of what is hidden, under p = not c): f(X') <= f(X), so noise that only adds is never wrong on the
dangerous side. Increasing the other way; neither where moves go both ways, and then only two-sided noise is allowed.
All of it follows from what is declared: the values, the policy and the query. Source: Takagi21 Definitions V.1 and V.2.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import permutations
from typing import Protocol, runtime_checkable

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.escaping import number
from takifugu.core.rules import check_type
from takifugu.model.beliefs.domain import Data
from takifugu.model.policies.policy import Policy
from takifugu.model.queries import Additive, Query, resolved

#: No data, a policy and a query for which nothing is monotone, in words.
ORDINARY = "no cell is monotone: every move of one record is allowed, which is ordinary differential privacy"


class Monotone(StrEnum):
    """Tell which way a cell of the answer moves along allowed moves, if it moves.

    Examples:
        >>> str(Monotone.of(rises=False, falls=True))
        'decreasing'
    """

    DECREASING = "decreasing"
    INCREASING = "increasing"
    NONE = "none"
    CONSTANT = "constant"

    @staticmethod
    def of(rises: bool, falls: bool) -> Monotone:
        """Return the direction of a cell.

        Args:
            rises: Whether it can rise.
            falls: Whether it can fall.

        Returns:
            The direction.
        """
        if rises and falls:
            return Monotone.NONE
        if rises:
            return Monotone.INCREASING
        if falls:
            return Monotone.DECREASING
        return Monotone.CONSTANT


@dataclass(frozen=True)
class Change:
    """Bound the move of one cell along an allowed move.

    Args:
        direction: Whether the cell rises, falls, or both.
        amount: The largest move, in answer units.

    Examples:
        >>> Change(Monotone.DECREASING, Fraction(1)).amount
        Fraction(1, 1)
    """

    direction: Monotone
    amount: Fraction


@dataclass(frozen=True)
class Sensitivity:
    """Bound the moves of an answer along one allowed move: of each cell, and of all together.

    Args:
        changes: The bound of each cell.
        total: The largest L1 move of all cells, in answer units.
        is_ordinary: Whether every move is allowed.
        worst: A move that reaches the total, as (record, value before, value after); None where nothing moves.

    Examples:
        >>> Sensitivity((Change(Monotone.DECREASING, Fraction(1)),), Fraction(1)).direction.value
        'decreasing'
    """

    changes: tuple[Change, ...]
    total: Fraction
    is_ordinary: bool = False
    worst: tuple[int, Hashable, Hashable] | None = None

    @property
    def direction(self) -> Monotone:
        """Return the common direction of all moving cells, or NONE."""
        directions = {change.direction for change in set(self.changes)} - {Monotone.CONSTANT}
        if not directions:
            return Monotone.CONSTANT
        if len(directions) > 1:
            return Monotone.NONE
        return directions.pop()

    def describe(self) -> str:
        """Say the direction and the length of the cells' moves."""
        if self.is_ordinary:
            return f"{ORDINARY}; the answer moves by up to {number(self.total)}"
        if self.direction is Monotone.CONSTANT:
            return "no allowed move changes the answer"
        if self.direction is not Monotone.NONE:
            verb = "fall" if self.direction is Monotone.DECREASING else "rise"
            return f"along an allowed move cells can only {verb}, by up to {number(self.total)} in all"
        odd = sum(change.direction is Monotone.NONE for change in self.changes)
        if odd:
            words = f"{odd} of {len(self.changes)} cells can rise and fall"
        else:
            words = "some cells rise while others fall"
        return f"along an allowed move {words}, by up to {number(self.total)} in all"


@runtime_checkable
class Moved(Protocol):
    """A domain that knows from its structure how an answer moves along what a policy allows."""

    def moves(self, policy: Policy, answer: Additive) -> Sensitivity: ...


def sensitivity(policy: Policy, about: Data, query: Query) -> Sensitivity:
    """Bound the moves of a query's answer along one allowed move, cell by cell.

    It is exact for a sum over records of listed values: all allowed pairs of values are examined. A domain with `moves`
    of its own, such as `Visits`, derives it from its structure.

    Args:
        policy: The allowed moves.
        about: The possible records.
        query: The query.

    Returns:
        The bound on each cell, and on all together.

    Raises:
        InputError: For a query that does not fit the domain, and where a predicate raises it.

    Examples:
        >>> from takifugu import Count, Histogram
        >>> from takifugu.model.beliefs.domain import Domain
        >>> from takifugu.model.policies.predicates import NoneOf
        >>> people, hidden = Domain.of(3, ["ill", "well"]), Policy.of(NoneOf(("ill",)))
        >>> sensitivity(hidden, people, Count("ill")).changes
        (Change(direction=<Monotone.DECREASING: 'decreasing'>, amount=Fraction(1, 1)),)
        >>> [str(change.direction) for change in sensitivity(hidden, people, Histogram()).changes]
        ['decreasing', 'increasing']
    """
    check_type(policy, Policy, "a policy", "write visits(), or Policy.of(none_of('ill'), ...)", "policy")
    check_type(about, Data, "a domain", "write Visits.of(places), or Domain.of(count, values)", "about")
    answer = resolved(query, about)
    if isinstance(about, Moved):
        return about.moves(policy, answer)
    return of_sum(policy, about, answer)


def of_sum(policy: Policy, about: Data, answer: Additive) -> Sensitivity:
    """Return the sensitivity of a sum over records, from every allowed pair of listed values."""
    up, down = np.zeros(answer.cells, dtype=np.int64), np.zeros(answer.cells, dtype=np.int64)
    total, is_ordinary, kinds = 0, True, _kinds(about, answer)
    worst: tuple[int, Hashable, Hashable] | None = None
    for alphabet, table, lowest, highest, heaviest in kinds:
        before, after, everything = _allowed(policy, alphabet)
        is_ordinary = is_ordinary and everything
        if not len(before) or lowest == highest:  # no move, or no record that is read
            continue
        moves = table[after] - table[before]
        rise, fall = moves.max(axis=0).clip(0), (-moves).max(axis=0).clip(0)
        up = np.maximum(up, np.maximum(highest * rise, -lowest * fall))
        down = np.maximum(down, np.maximum(highest * fall, -lowest * rise))
        reach = np.abs(moves).sum(axis=1) * max(highest, -lowest)
        if int(reach.max()) > total:
            total, farthest = int(reach.max()), int(reach.argmax())
            worst = heaviest, alphabet[before[farthest]], alphabet[after[farthest]]
    changes = tuple(
        Change(Monotone.of(bool(rise), bool(fall)), max(rise, fall) * answer.grid)
        for rise, fall in zip(up.tolist(), down.tolist(), strict=True)
    )
    return Sensitivity(changes, total * answer.grid, is_ordinary and bool(kinds), worst)


def _kinds(data: Data, answer: Additive) -> list[tuple[Sequence[Hashable], IntArray, int, int, int]]:
    """Group the records by values and table: these, the least and the largest weight, and the heaviest record."""
    is_uniform = data.one_alphabet and answer.table_of is None
    groups: dict[tuple[tuple[Hashable, ...], int], list[int]] = {}
    table_numbers = answer.table_numbers
    for record in range(1 if is_uniform else answer.size):
        key = (data.alphabet(record), int(table_numbers[record]))
        groups.setdefault(key, []).append(record)
    kinds = list[tuple[Sequence[Hashable], IntArray, int, int, int]]()
    for (alphabet, table_number), records in groups.items():
        weights = answer.weights if is_uniform else answer.weights[records]
        heaviest = int(np.abs(weights).argmax())
        # 0 is one of the weights: a record that is not read
        ends = min(0, int(weights.min())), max(0, int(weights.max()))
        kinds.append((alphabet, answer.tables[table_number], *ends, heaviest if is_uniform else records[heaviest]))
    return kinds


def _allowed(policy: Policy, alphabet: Sequence[Hashable]) -> tuple[list[int], list[int], bool]:
    """Return the allowed moves between different values, and whether all are."""
    before, after = list[int](), list[int]()
    for i, j in permutations(range(len(alphabet)), 2):
        if policy.allows(alphabet[i], alphabet[j]):
            before.append(i)
            after.append(j)
    return before, after, len(before) == len(alphabet) * (len(alphabet) - 1)
