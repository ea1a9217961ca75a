"""Every joint state of a belief with its exact integer weight: the slow way to all conditional laws, for the audit.

Nothing here knows how calibration finds laws, or uses what it found.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import IntArray
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.numbers.rationals import common_denominator

B = TypeVar("B", bound=Belief, covariant=True)
Weights = npt.NDArray[np.object_]

#: Most joint states that are listed.
MOST_STATES = 2_000_000


@dataclass(frozen=True, eq=False)
class States:
    """`values` are value indices, one row per joint state; `weights` are integers, one row for each of `starts`.

    A belief with one law has one row of weights. A chain with any initial distribution has one for each state that it
    can start in, and independent pieces of it one for each combination: `starts` lists the start of every piece.
    `nothing` is, where there is one, the letter of each entry that says that a user's value is unknown. Where entries
    are parameters, the values of the records follow theirs in each row. Of a view (`secrets.view`) a row has the values
    of the belief that it reads, and last the number of the hypothesis that they fulfil, -1 for none.
    """

    values: IntArray
    weights: tuple[Weights, ...]
    starts: tuple[tuple[int, ...], ...]
    pieces: tuple[range, ...]
    relative_error: float
    nothing: tuple[int, ...] = ()

    def classes(self, entry: int) -> list[list[int]]:
        """Group the rows of weights by the starts of other pieces.

        Pieces are independent: a ratio of two masses is linear-fractional in another piece's initial law, hence largest
        at a point start of that piece; the own piece's initial laws are mixtures of a group's.
        """
        block = next(number for number, piece in enumerate(self.pieces) if entry in piece)
        groups: dict[tuple[int, ...], list[int]] = {}
        for row, start in enumerate(self.starts):
            groups.setdefault(start[:block] + start[block + 1 :], []).append(row)
        return list(groups.values())

    def occurring(self, entry: int) -> set[int]:
        """Return an entry's values that some joint state has."""
        values = set(self.values[:, entry].tolist())
        if self.nothing:  # of a user whose value is unknown
            values.add(self.nothing[entry])
        return values

    def given(self, entry: int, value: int, groups: IntArray, count: int) -> tuple[Weights, ...]:
        """Return each group's total weight with x_entry = value, by start."""
        is_seen = not self.nothing or self.nothing[entry] != value
        if is_seen:
            rows = np.flatnonzero(self.values[:, entry] == value)
        else:
            rows = np.arange(len(self.values))
        return self.of_rows(rows, groups, count)

    def of_rows(self, rows: IntArray, groups: IntArray, count: int) -> tuple[Weights, ...]:
        """Return each group's total weight in some rows, by start."""
        order = rows[np.argsort(groups[rows], kind="stable")]
        present, first = np.unique(groups[order], return_index=True)
        totals = []
        for weights in self.weights:
            total = np.zeros(count, dtype=object)
            if len(order):
                total[present] = np.add.reduceat(weights[order], first)
            totals.append(total)
        return tuple(totals)


@dataclass(frozen=True, eq=False)
class JointStates(Generic[B]):
    """How a type of belief is listed; a belief of independent components lists theirs, unless its type says otherwise.

    `is_class` says that it is a class of laws, of which some members are listed in its place (`stand_in`).
    """

    belief: B

    @property
    def is_class(self) -> bool:
        return False

    def states(self) -> States:
        """List every joint state of positive probability under some law.

        A chain of any initial distribution has several laws. Floats count as the binary fractions that they are. Raises
        Unsupported beyond two million states, and for beliefs that are not laws of the data.
        """
        runs = self.belief.components()
        if len(runs) > 1 or type(self.belief.component(0)) is not type(self.belief):  # a single clique, too
            return product(list(map(all_states, map(self.belief.component, range(len(runs))))), runs)
        raise Unsupported(
            "the audit lists the joint states of a JointTable, a MarkovChain, its independent pieces, users or a "
            f"BayesianNetwork, and {self.belief.describe()} is none of these",
            fix="for a class of chains give some of its chains, chains=[...]",
        )

    def stand_in(self, member: Any) -> Belief:
        """Return a member of a class, cut to its length.

        Raises InputError for a law outside it.
        """
        return self.belief


def joint_states(belief: Belief) -> JointStates[Belief]:
    """Return how the audit lists a belief."""
    return JOINT_STATES.of(belief)(belief)


def all_states(belief: Belief) -> States:
    """List every joint state of a belief (`JointStates.states`)."""
    return joint_states(belief).states()


def stand_ins(belief: Belief, members: Sequence[Hashable]) -> Iterator[Belief]:
    """Yield the belief itself, or members of a class in its place; raises for a law outside the class."""
    states_of = joint_states(belief)
    if not states_of.is_class:
        yield belief
        return
    for member in members:
        yield states_of.stand_in(member)


def of_one_law(
    values: IntArray, weights: Weights, size: int, error: float = 0.0, nothing: tuple[int, ...] = ()
) -> States:
    """Return the possible states of one law over `size` entries."""
    is_possible = weights > 0
    return States(values[is_possible], (weights[is_possible],), ((0,),), (range(size),), error, nothing)


def with_entry(values: IntArray, weights: Weights, masses: Weights) -> tuple[IntArray, Weights]:
    """Return the possible states with one more entry of these masses, of each state or of all alike."""
    letters = masses.shape[-1]
    check_count(len(values) * letters)
    grown = (weights[:, None] * masses).ravel()
    values = np.column_stack((np.repeat(values, letters, axis=0), np.tile(np.arange(letters), len(values))))
    is_possible = grown > 0
    return values[is_possible], grown[is_possible]


def product(pieces: Sequence[States], runs: Sequence[range]) -> States:
    """Return the joint states of independent components of these entries."""
    values, error = pieces[0].values, pieces[0].relative_error
    rows = dict(zip(pieces[0].starts, pieces[0].weights, strict=True))
    for piece in pieces[1:]:
        check_count(len(values) * len(piece.values) * len(rows) * len(piece.starts))
        rows_so_far, rows = rows, {}
        following = zip(piece.starts, piece.weights, strict=True)
        for (start, row), (other, weights) in itertools.product(rows_so_far.items(), following):
            rows[start + other] = np.multiply.outer(row, weights).ravel()
        left, right = np.repeat(values, len(piece.values), axis=0), np.tile(piece.values, (len(values), 1))
        values, error = np.concatenate((left, right), axis=1), error + piece.relative_error
    return States(values, tuple(rows.values()), tuple(rows), tuple(runs), error)


def integers(numbers: Sequence[int | float | Fraction]) -> Weights:
    """Return numbers proportional to the given ones as Python integers."""
    exact = [Fraction(number) for number in numbers]
    common = common_denominator(exact)
    result = np.empty(len(exact), dtype=object)
    result[:] = [x.numerator * (common // x.denominator) for x in exact]
    return result


def check_count(count: int, power: int = 1) -> None:
    """Raise Unsupported if count**power joint states are too many to list."""
    # the power may have more digits than there is memory for
    digits = power * math.log10(max(count, 1))
    if digits > math.log10(MOST_STATES) + 1 or count**power > MOST_STATES:
        how_many = f"{count**power:.3g}" if digits < 300 else f"about 10^{int(digits)}"
        raise Unsupported(
            f"the audit would have to list {how_many} joint states, and lists at most {MOST_STATES:,}",
            fix="audit a shorter sequence or a smaller table",
        )


#: belief -> JointStates, by type of belief.
JOINT_STATES: Question[type[JointStates[Belief]]] = Question("the list of joint states", JointStates)
