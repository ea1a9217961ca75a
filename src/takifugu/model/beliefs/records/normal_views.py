"""A normal belief as a secret about its columns reads it: what is compared, and the moments of what is hidden.

What is hidden is g = sum over columns j of weights[j] times the sum of column j over the records, a vector of such, one
value, or a parameter. The normal law gives every value of g some density, so that a secret says which are compared: all
up to a difference, some pairs, or some sets. Of a Gaussian process it is each single value, up to a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from typing import ClassVar

import numpy as np

from takifugu.core.errors import InputError, Unsupported
from takifugu.core.rules import check_known
from takifugu.model.beliefs.records.normal import MultivariateNormal
from takifugu.model.queries.resolving.real_columns import ColumnSums
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import View
from takifugu.model.secrets.of_entries import EveryEntry
from takifugu.model.secrets.properties import DatasetProperty, DistributionParameter, NamedFunction
from takifugu.model.secrets.value_sets import Intervals, ValueSet, described, number
from takifugu.numbers.normal.matrices import Matrix, Vector, dot, form, solved, unit
from takifugu.numbers.rationals import as_fractions, to_text


@dataclass(frozen=True, eq=False)
class ColumnsView(View):
    """One entry, what a secret says of the columns of a normal belief."""

    whole: MultivariateNormal
    secret: Secret

    def describe(self) -> str:
        return f"{self.secret.describe()} under {self.whole.describe()}"

    def change_by(self, answer: ColumnSums, column: int, reach: Fraction) -> Fraction:
        """Bound the L1 change of the answer by one number of a column that moves by `reach`, in answer units."""
        farthest = reach + (self.whole.resolution or Fraction(0))  # rounded, a number may move one step more
        return sum((abs(cell[column]) for cell in answer.coefficients), Fraction(0)) * farthest


@dataclass(frozen=True, eq=False)
class NormalView(ColumnsView):
    """One entry, the hypothesis about g: the `values` are words, of which some `pairs` are compared (None: all)."""

    values: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...] | None
    #: They make g of the columns, a row per number, over all records, or with `single` over one record.
    weights: Matrix
    single: bool = False
    #: Of g from an unnamed value, a vector per hypothesis. Exactly one of these and the next two is given.
    differences: tuple[Vector, ...] = ()
    #: Of values of g.
    sets: tuple[ValueSet, ...] = ()
    #: Values of the mean or of the variance (`of`) of a column.
    parameters: tuple[Fraction, ...] = ()
    of: str = ""

    answers: ClassVar = {
        "the distribution of the answer": "analysis.answer_laws.normal:ShiftLaw",
        "the normal distribution of the answer": "analysis.answer_laws.normal:ViewLaw",
        "the density that the audit looks at": "audit.normal_columns:of_normal_view",
    }

    @property
    def column(self) -> int:
        """The column that a parameter or one record's value is of."""
        return next(column for column, weight in enumerate(self.weights[0]) if weight)

    @property
    def variance(self) -> Matrix:
        """The covariance of the numbers in g."""
        scale = 1 if self.single else self.whole.records
        return _forms(self.weights, self.whole.covariance, self.weights, scale)

    def difference(self, a: int, b: int) -> Vector:
        """Return how much the numbers in g differ between two hypotheses."""
        return tuple(y - x for x, y in zip(self.differences[a], self.differences[b], strict=True))

    def shared(self, answer: ColumnSums) -> Matrix:
        """Return the covariance of the answer's cells and the numbers in g."""
        scale = 1 if self.single else self.whole.records
        return _forms(answer.coefficients, self.whole.covariance, self.weights, scale)

    def column_moves(self, a: int, b: int) -> Vector | None:
        """Return how far the mean total of each column moves; None where the laws are not one and its translate."""
        if self.of == "variance":
            return None
        if self.of == "mean":
            farther = self.whole.records * (self.parameters[b] - self.parameters[a])
            return tuple(weight * farther for weight in self.weights[0])
        if self.sets:
            left, right = self.sets[a], self.sets[b]
            if isinstance(left, Intervals) or isinstance(right, Intervals):
                return None
            change: Vector = (max(max(right) - min(left), max(left) - min(right)),)  # finite sets move value by value
        else:
            change = self.difference(a, b)
        scale, factors = 1 if self.single else self.whole.records, solved(self.variance, change)
        assert factors is not None, "no number in g follows from the others"
        mixed = np.array(factors, dtype=object) @ np.array(self.weights, dtype=object)
        return tuple(scale * dot(row, mixed) for row in self.whole.covariance)

    def spread(self, answer: ColumnSums) -> Matrix:
        """Return the covariance of the answer's cells."""
        return _forms(answer.coefficients, self.whole.covariance, answer.coefficients, self.whole.records)

    def pivots(self, read: Sequence[int]) -> Vector:
        """Return the least variance of each column that is read, given those before it, under any hypothesis."""
        if self.of != "variance":
            return self.whole.pivots(read)
        # the others that are read do not vary with the column whose variance is hidden
        others = [column for column in read if column != self.column]
        return (*self.whole.pivots(others), min(self.parameters)) if self.column in read else self.whole.pivots(read)

    def law_of(self, answer: ColumnSums, a: int, b: int) -> tuple[NormalView, int, int]:
        """Return two hypotheses under the law that they share."""
        return self, a, b

    def entry_change(self, answer: ColumnSums) -> Fraction:
        """Bound the L1 change of the answer by one record's hidden value, in answer units."""
        if not self.single:
            raise Unsupported("a property of whole columns is no entry that changes by itself")
        # it moves by its largest difference
        (difference,) = self.differences[-1]
        return self.change_by(answer, self.column, abs(difference))


@dataclass(frozen=True, eq=False)
class ProcessView(ColumnsView):
    """One entry, the value of any of `columns`."""

    #: Hypothesis 2n: the n-th is any a. Hypothesis 2n + 1, the only one compared with it: it is a + `reach`.
    columns: tuple[int, ...]
    reach: Fraction
    stacks: ClassVar[bool] = True

    answers: ClassVar = {
        "the distribution of the answer": "analysis.answer_laws.normal_process:ProcessShift",
        "the normal distribution of the answer": "analysis.answer_laws.normal_process:ProcessLaw",
        "the density that the audit looks at": "audit.normal_columns:of_process_view",
    }

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(map(self.describe_hypothesis, range(2 * len(self.columns))))

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        return tuple((2 * number, 2 * number + 1) for number in range(len(self.columns)))

    def describe_hypothesis(self, index: int) -> str:
        number, moved = divmod(index, 2)
        title = repr(self.whole.columns[self.columns[number]])
        return f"{title} is a + {to_text(self.reach)}" if moved else f"{title} is any value a"

    def moves(self, answer: ColumnSums, number: int) -> Vector:
        """Bound each cell's change between the hypotheses about the n-th column, in answer units (Theorem 16)."""
        step, changes = self.whole.resolution or Fraction(0), list[Fraction]()
        for share in self.whole.drift(self.columns[number]):
            changes.append(self.reach * share + (step if share > 0 else -step) if share else share)
        moves = []
        for row in answer.coefficients:
            # terms that rise and terms that fall take from each other: the larger sum bounds the cell's move
            terms = [weight * change for weight, change in zip(row, changes, strict=True) if weight]
            rise = sum((term for term in terms if term > 0), Fraction(0))
            moves.append(max(rise, rise - sum(terms, Fraction(0))))
        return tuple(moves)

    def entry_change(self, answer: ColumnSums) -> Fraction:
        """Bound the L1 change of the answer by one value alone, in answer units."""
        return max(self.change_by(answer, column, self.reach) for column in self.columns)


def view_of(belief: MultivariateNormal, secret: Secret) -> NormalView | ProcessView:
    """Return the view of a normal belief for a secret."""
    return process_view_of(belief, secret) if belief.is_process else records_view_of(belief, secret)


def records_view_of(belief: MultivariateNormal, secret: Secret) -> NormalView:
    """Return the view of several records."""
    if isinstance(secret, DatasetProperty):
        return _of_records(belief, secret)
    if isinstance(secret, EveryEntry):
        return _of_one_record(belief, secret)
    if isinstance(secret, DistributionParameter):
        return _of_population(belief, secret)
    raise InputError(
        f"a normal belief is not asked for {secret.describe()}", fix="hide dataset_property(column, 'mean', ...)"
    ).at("secrets")


def process_view_of(belief: MultivariateNormal, secret: Secret) -> ProcessView:
    """Return the view of a process for a secret about single values, up to a largest difference."""
    if not isinstance(secret, EveryEntry):
        raise InputError(
            f"a Gaussian process is not asked for {secret.describe()}",
            rule="of one record single values are hidden, up to a largest difference",
            fix="hide every_entry(max_difference=...)",
        ).at("secrets")  # fmt: skip
    if secret.max_difference is None:
        raise _unbounded(secret.describe(), "write every_entry(max_difference=...)")
    named: range | tuple[int, ...] = range(len(belief.columns))
    if secret.attribute is not None:
        named = (belief.columns.index(belief.read.named(secret.attribute)),)
    columns = tuple(column for column in named if belief.varies(column))
    if not columns:
        raise _constant(secret.describe())
    return ProcessView(belief, secret, columns, secret.max_difference)


def _of_records(belief: MultivariateNormal, secret: DatasetProperty) -> NormalView:
    if isinstance(secret.function, NamedFunction) or secret.function == "share":
        name = secret.function.name if isinstance(secret.function, NamedFunction) else "share"
        raise InputError(
            f"the function is {name!r}", rule="under a normal belief what is hidden is linear in the columns",
            fix="write 'mean', 'sum' or weights; or take a belief over finite records, Records(table, n)",
        ).at("function")  # fmt: skip
    columns = list(map(belief.read.named, secret.columns))
    if isinstance(secret.function, tuple):
        weight_of = dict(zip(columns, secret.function, strict=True))
        rows: Matrix = (tuple(weight_of.get(name, Fraction(0)) / belief.records for name in belief.columns),)
    else:
        share = Fraction(1, belief.records) if secret.function == "mean" else Fraction(1)
        rows = ()
        for column in columns:
            rows += (tuple(share * (name == column) for name in belief.columns),)
    weights = tuple(tuple(map(Fraction, row)) for row in rows)
    _check_varies(belief, weights, secret.what)
    if secret.max_difference is not None:
        return _near(belief, secret, weights, secret.max_difference, secret.what)
    if secret.is_vector:
        raise InputError(
            f"the secret compares {secret.what} as a whole", rule="their values form no pairs or sets of numbers",
            fix="give max_difference, one number for each column",
        ).at("max_difference")  # fmt: skip
    if secret.pairs is not None:
        values = sorted(set(chain.from_iterable(secret.pairs)))
        place_of = {value: place for place, value in enumerate(values)}
        pairs = tuple((place_of[a], place_of[b]) for a, b in secret.pairs)
        words = tuple(f"{secret.what} is {number(value)}" for value in values)
        return NormalView(belief, secret, words, pairs, weights, differences=tuple(zip(values, strict=True)))
    if secret.sets is not None:
        words = tuple(f"{secret.what} is {_in(region)}" for region in secret.sets)
        return NormalView(belief, secret, words, None, weights, sets=secret.sets)
    raise _unbounded(secret.what, "give max_difference, pairs or sets")


def _of_one_record(belief: MultivariateNormal, secret: EveryEntry) -> NormalView:
    if secret.attribute is None:
        raise InputError(
            "the secret names no column, and a record is of several", fix=f"name one of {list(belief.columns)}"
        ).at("attribute")
    name = belief.read.named(secret.attribute)
    weights = (unit(belief.columns.index(name), len(belief.columns)),)
    title = f"{name!r} in one record"
    _check_varies(belief, weights, title)
    if secret.max_difference is None:
        raise _unbounded(title, f"write every_entry({name!r}, max_difference=...)")
    return _near(belief, secret, weights, (secret.max_difference,), title, single=True)


def _of_population(belief: MultivariateNormal, secret: DistributionParameter) -> NormalView:
    name = belief.read.named(secret.column)
    of = secret.map or "mean"
    check_known([of], ("mean", "variance"), "the map is", "map")
    if secret.interval is not None and of == "variance":
        raise InputError(
            "the secret compares all variances of an interval", rule="its ends prove nothing about what lies between",
            fix="give values",
        ).at("interval")  # fmt: skip
    parameters: Sequence[object] = secret.interval if secret.interval is not None else secret.values or ()
    most, title = secret.max_difference, f"the {of} of {name!r} in the population"
    if not parameters and (most is None or of != "mean"):
        raise InputError(
            f"the secret compares all {of}s of {name!r}",
            fix="give values, or for the mean an interval or max_difference",
        ).at("values")
    weights = (unit(belief.columns.index(name), len(belief.columns)),)
    if most is not None and secret.values is None:  # the answer moves by a multiple of the difference, wherever it is
        if secret.interval is not None:
            most = min(most, secret.interval[1] - secret.interval[0])
        hypotheses = (f"{title} is any value a", f"{title} is a + {number(most)}")
        return NormalView(belief, secret, hypotheses, None, weights, parameters=(Fraction(0), most), of=of)
    values = as_fractions(parameters, "a value of the parameter", "values")
    if of == "variance" and min(values) <= 0:
        raise InputError(f"a variance of {name!r} is {number(min(values))}", rule="it must be above 0").at("values")
    words = tuple(f"{title} is {number(value)}" for value in values)
    pairs = None if most is None else secret.compared(values)
    return NormalView(belief, secret, words, pairs, weights, parameters=values, of=of)


def _constant(title: str) -> InputError:
    what = f"under the belief {title} takes one value only"
    fix = "give its columns a variance above 0"
    return InputError(what, rule="nothing about it is left to hide", fix=fix).at("secrets")


def _unbounded(title: str, fix: str) -> InputError:
    what = f"the secret compares all values of {title}, and a normal distribution bounds none"
    return InputError(what, rule="some noise is too small for values far enough apart", fix=fix).at("max_difference")


def _near(
    belief: MultivariateNormal,
    secret: Secret,
    weights: Matrix,
    reach: Sequence[Fraction],
    title: str,
    single: bool = False,
) -> NormalView:
    """Return a view of the corners of the differences' box, up to sign."""
    # a shift by v needs noise that is convex in v: no difference inside the box needs more than some corner
    corners = [(reach[0], *signed_reaches) for signed_reaches in product(*((most, -most) for most in reach[1:]))]
    words = [f"{title} is any value", *(f"{title} is {_moved(corner)}" for corner in corners)]
    if len(reach) == 1:
        words = [f"{title} is any value a", f"{title} is a + {number(reach[0])}"]
    nothing = (Fraction(0),) * len(reach)
    pairs = tuple(product([0], range(1, len(words))))
    return NormalView(belief, secret, tuple(words), pairs, weights, single, differences=(nothing, *corners))


def _moved(corner: Sequence[Fraction]) -> str:
    steps = []
    for step in corner:
        steps.append(f"+{number(step)}" if step > 0 else number(step))
    return f"another by ({', '.join(steps)})"


def _in(values: ValueSet) -> str:
    if isinstance(values, Intervals):
        return described(values)
    return f"one of {described(values)}"


def _check_varies(belief: MultivariateNormal, weights: Matrix, title: str) -> None:
    variance = _forms(weights, belief.covariance, weights, 1)
    if len(variance) == 1 and not variance[0][0]:
        raise _constant(title)
    size = len(variance)
    if any(solved(variance, unit(place, size)) is None for place in range(size)):
        raise InputError(
            f"under the belief one of the numbers in {title} follows from the others",
            rule="their differences are not free, so a box of them is not what can happen", fix="hide fewer of them",
        ).at("secrets")  # fmt: skip


def _forms(left: Matrix, covariance: Matrix, right: Matrix, scale: int) -> Matrix:
    rows: Matrix = ()
    for row in left:
        rows += (tuple(scale * form(row, covariance, column) for column in right),)
    return rows
