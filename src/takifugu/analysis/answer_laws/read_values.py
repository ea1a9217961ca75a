"""What becomes of normal laws where numbers are rounded, clipped or replaced before they are added.

What is hidden moves the mean of each column, and nothing else (docs/theory/attributes.md#numbers-that-are-rounded).

* Rounded: `normal.rounded`.
* Clipped: a record moves no farther than before, but columns that would move the answer in two directions no longer
  cancel. One column by itself keeps the credit for its own randomness; several do not.
* Replaced: some records, nobody says which, hold a constant. No credit is given for a column's own randomness.
* Rounded and one of these: each record may add a whole step of the resolution.
"""

from __future__ import annotations

from fractions import Fraction

from takifugu.analysis.questions.normal_law import deviation_up
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.records.normal_views import NormalView
from takifugu.model.queries.real_columns import ColumnSums
from takifugu.numbers.normal.comparisons import NormalComparison, Shifted
from takifugu.numbers.normal.matrices import Vector, times
from takifugu.numbers.normal.rounded import Rounded, unevenness


def as_read(view: NormalView, answer: ColumnSums, laws: NormalComparison, moves: Vector | None) -> NormalComparison:
    """Return the laws of the answer as read, from the exact ones.

    `moves` say how far the total of each column moves from one hypothesis to the other, at most; None where they are no
    law and its translate. Raises Unsupported for these where values are clipped or replaced.
    """
    belief = view.whole
    read = answer.read_columns
    if moves is not None and not any(moves[j] for j in read):
        return laws  # what is read has one law
    if belief.replaces(read) or belief.clips(read):
        return _bent(view, answer, laws, moves)
    if belief.resolution is None:
        return laws
    other_records, records = (belief.records - 1, 2) if view.single else (belief.records, 1)
    error = unevenness(belief.pivots(read), belief.resolution, other_records)
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
    if not any(moves[j] for j in answer.read_columns):
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
            "values are clipped or replaced when they are read, and under these hypotheses the answer has other laws "
            "than one and its translate",
            fix="hide a largest difference (max_difference), or read the values as they are",
        )
    reach = certain_move(view, answer, moves)
    is_by_column = all(sum(map(bool, row)) <= 1 for row in answer.coefficients)
    if view.single or belief.replaces(answer.read_columns) or not is_by_column or not isinstance(laws, Shifted):
        return Shifted(reach, _nothing(answer.cells))
    if belief.resolution is None:
        return laws
    return Shifted(reach, laws.covariance if answer.cells == 1 else _nothing(answer.cells))


def _nothing(cells: int) -> tuple[Vector, ...]:
    return ((Fraction(0),) * cells,) * cells
