"""Normal laws of weighted sums of columns, also of numbers that are rounded, clipped or replaced before.

What is hidden moves the mean of each column, and nothing else. What rounding, clipping and replacing change:
docs/theory/attributes.md#numbers-that-are-rounded. All is computed in rationals from the declared decimals, so that
singular covariances and correlations of 1 are no special case.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import cast

from takifugu.analysis.answer_laws.listed import ListedFamily, one_move
from takifugu.analysis.questions.answer_law import AnswerLaw
from takifugu.analysis.questions.normal_law import ComparedNormals, NormalLaw, apart, deviation_up
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.records.normal_region import RegionView
from takifugu.model.beliefs.records.normal_views import NormalView
from takifugu.model.queries.resolving.real_columns import ColumnSums
from takifugu.model.secrets.hypotheses import against
from takifugu.model.secrets.value_sets import Intervals, ValueSet
from takifugu.numbers.normal.comparisons import (
    NormalComparison,
    Shifted,
    TwoVariances,
    between_sets,
    between_values,
    one_number,
)
from takifugu.numbers.normal.matrices import Matrix, Vector, dot, solved, times
from takifugu.numbers.normal.pair import Normal
from takifugu.numbers.normal.rounded import Rounded, unevenness


def as_read(view: NormalView, answer: ColumnSums, laws: NormalComparison, moves: Vector | None) -> NormalComparison:
    """Return the laws of the answer as read, from the exact ones; raises for clipping of what is no translate."""
    # moves: of each column's total from one hypothesis to the other; None where they are no law and its translate
    belief = view.whole
    read = answer.read_columns
    if moves is not None and not any(moves[column] for column in read):
        return laws  # what is read has one law
    if belief.replaces(read) or belief.clips(read):
        return _bent(view, answer, laws, moves)
    if belief.resolution is None:
        return laws
    other_records, records = (belief.records - 1, 2) if view.single else (belief.records, 1)
    error = unevenness(view.pivots(read), belief.resolution, other_records)
    widths = [records * step for step in answer.rounding(belief.resolution)]
    if answer.cells == 1:
        blur = widths[0]
    else:
        blur = deviation_up(sum((width**2 for width in widths), Fraction(0)))
    alone = answer.cells == 1 and len(read) == 1 and not view.single and isinstance(laws, Shifted)
    return Rounded(laws, blur, error, alone)


def certain_move(view: NormalView, answer: ColumnSums, moves: Vector) -> tuple[Fraction, ...]:
    """Bound each cell's move with the columns, whatever the records are."""
    belief = view.whole
    if not any(moves[column] for column in answer.read_columns):
        return (Fraction(0),) * answer.cells
    if belief.replaces(answer.read_columns) or belief.clips(answer.read_columns):
        sizes = []
        for row in answer.coefficients:
            sizes.append(sum((abs(a * b) for a, b in zip(row, moves, strict=True)), Fraction(0)))
    else:
        sizes = list(map(abs, times(answer.coefficients, moves)))
    if belief.resolution is None:
        return tuple(sizes)
    steps = answer.rounding(belief.resolution)
    records = 1 if view.single else belief.records
    return tuple(size + records * step for size, step in zip(sizes, steps, strict=True))


def _bent(view: NormalView, answer: ColumnSums, laws: NormalComparison, moves: Vector | None) -> NormalComparison:
    belief = view.whole
    if moves is None:
        raise Unsupported(
            "values are clipped or replaced when they are read, and under these hypotheses the answer has other "
            "distributions than one and its translate",
            fix="hide a largest difference (max_difference), or leave out the range of the column",
        )
    reach = certain_move(view, answer, moves)
    is_by_column = all(sum(map(bool, row)) <= 1 for row in answer.coefficients)
    if view.single or belief.replaces(answer.read_columns) or not is_by_column or not isinstance(laws, Shifted):
        return apart(reach)
    if belief.resolution is None:
        return laws
    return Shifted(reach, laws.covariance) if answer.cells == 1 else apart(reach)


class ViewLaw(NormalLaw[NormalView | RegionView]):
    """The laws of an answer under the hypotheses of a normal view, or of one under each law of a region."""

    answer: ColumnSums

    def comparisons(self) -> Iterator[ComparedNormals]:
        view = self.belief
        for a, b in self.pairs():
            comparison = against(view.describe_hypothesis(a), view.describe_hypothesis(b))
            yield ComparedNormals(self.laws(a, b), comparison, view.secret.describe())

    def work(self) -> float:
        cells, operations = self.answer.cells, 3e8 if self.belief.sets else 1e6
        return len(self.pairs()) * float(operations + 1e4 * cells**3)

    def pairs(self) -> list[tuple[int, int]]:
        """Return the compared pairs of hypotheses, one order of each."""
        return [(a, b) for a, b in self.family.value_pairs(self.belief, 0) if a < b]

    def laws(self, a: int, b: int) -> NormalComparison:
        """Return the two laws of the answer as read, in answer units."""
        view, a, b = self.belief.law_of(self.answer, a, b)
        return as_read(view, self.answer, _exact(view, self.answer, a, b), column_moves(view, self.answer, a, b))


def _exact(view: NormalView, answer: ColumnSums, a: int, b: int) -> NormalComparison:
    """Return the two laws of an exact answer."""
    if view.of == "variance":
        return _of_variances(view, answer, view.parameters[a], view.parameters[b])
    if view.of == "mean":
        return Shifted(_moved_mean(view, answer, view.parameters[b] - view.parameters[a]), view.spread(answer))
    if view.sets:
        return _of_sets(view, answer, view.sets[a], view.sets[b])
    return Shifted(*conditional(view, answer, view.difference(a, b)))


def conditional(view: NormalView, answer: ColumnSums, change: Vector) -> tuple[Vector, Matrix]:
    """Return the shift of the mean by a change of g, and the covariance given g; raises where none is so far."""
    shared, variance, spread = view.shared(answer), view.variance, view.spread(answer)
    moved = solved(variance, change)
    if moved is None:
        raise Unsupported("no two values of what is hidden differ by that much under the belief")
    left = []
    for row, of_cell in zip(spread, shared, strict=True):
        explained = times(shared, solved(variance, of_cell) or ())  # Cov(F, g) Var(g)^-1 Cov(g, F_i)
        left.append(tuple(value - part for value, part in zip(row, explained, strict=True)))
    return times(shared, moved), tuple(left)


def column_moves(view: NormalView, answer: ColumnSums, a: int, b: int) -> Vector | None:
    """Return how far each column's mean total moves between two hypotheses; None where laws differ otherwise."""
    moves = view.column_moves(a, b)
    if moves is not None:
        return moves
    covariance, read = view.whole.covariance, answer.read_columns
    follows = view.column in read
    if view.sets:
        follows = any(dot(covariance[j], weights) for j in read for weights in view.weights)
    return None if follows else (Fraction(0),) * len(covariance)


def _of_sets(view: NormalView, answer: ColumnSums, left: ValueSet, right: ValueSet) -> NormalComparison:
    (variance,), (shared,) = view.variance[0], view.shared(answer)[0] if answer.cells == 1 else (Fraction(0),)
    whole, mean = one_number(view.spread(answer)), times(view.weights, view.whole.mean)[0]
    if not view.single:
        mean *= view.whole.records
    if isinstance(left, Intervals) and isinstance(right, Intervals):
        first, second = ([(part.low, part.high) for part in region.parts] for region in (left, right))
        return between_sets(first, second, mean, variance, shared, whole)
    if isinstance(left, Intervals) or isinstance(right, Intervals):
        raise Unsupported(
            "an interval is compared with single values, which have no probability under a normal distribution",
            fix="compare intervals with intervals, or values with values",
        )
    return between_values(left, right, mean, variance, shared, whole)


def _moved_mean(view: NormalView, answer: ColumnSums, change: Fraction) -> Vector:
    place = view.column
    return tuple(answer.size * row[place] * change for row in answer.coefficients)


def _of_variances(view: NormalView, answer: ColumnSums, first: Fraction, second: Fraction) -> NormalComparison:
    """Return the answer's laws under two variances of one column only."""
    variance, place = one_number(view.spread(answer)), view.column
    (row,) = answer.coefficients
    covariance = view.whole.covariance
    is_correlated = any(weight and covariance[place][column] for column, weight in enumerate(row) if column != place)
    if is_correlated and row[place]:
        raise Unsupported(
            "the answer adds columns that are correlated with the one whose variance is compared, and nothing says how "
            "their covariance would change with it",
            fix="publish a sum of other columns, or of this one alone",
        )
    weight = answer.size * row[place] ** 2
    other_variance = variance - weight * covariance[place][place]
    first_law = Normal(Fraction(0), other_variance + weight * first)
    return TwoVariances(first_law, Normal(Fraction(0), other_variance + weight * second))


class ShiftLaw(AnswerLaw[NormalView | RegionView]):
    """The mean of an answer under each hypothesis, for mechanisms that look at finite laws."""

    def families(self) -> Iterator[ListedFamily]:
        # one of two numbers, plus a normal term that is independent of which: post-processing, without any credit
        answer = cast(ColumnSums, self.answer)
        law = ViewLaw(self.belief, answer, self.family)
        for number, (a, b) in enumerate(law.pairs()):
            view, left, right = self.belief.law_of(answer, a, b)
            if view.sets or view.of == "variance":
                raise Unsupported(
                    "under the hypotheses the answer has other distributions than one and its translate",
                    fix='use mechanism="attribute-gaussian-exact"',
                )
            shift = certain_move(view, answer, column_moves(view, answer, left, right) or ())[0]
            yield one_move(number, (a, b), shift / answer.grid)

    def work(self, laplace: bool = False) -> tuple[float, float]:
        return 1e4 * len(self.family.value_pairs(self.belief, 0)), 1e4

    def atoms(self) -> float:
        return 1.0
