"""A Gaussian process as a secret about its values reads it: each is compared with others up to a largest difference."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from takifugu.core.errors import InputError
from takifugu.model.beliefs.records.normal import MultivariateNormal
from takifugu.model.queries.resolving.real_columns import ColumnSums
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import View
from takifugu.model.secrets.of_entries import EveryEntry
from takifugu.numbers.normal.matrices import Vector
from takifugu.numbers.rationals import to_text


@dataclass(frozen=True, eq=False)
class ProcessView(View):
    """One entry, the value of any of `columns`.

    Hypothesis 2n says that the n-th is any a, and 2n + 1, the only one compared with it, that it is a + `reach`.
    """

    whole: MultivariateNormal
    secret: EveryEntry
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

    def describe(self) -> str:
        return f"{self.secret.describe()} under {self.whole.describe()}"

    def moves(self, answer: ColumnSums, number: int) -> Vector:
        """Bound each cell's change between the hypotheses about the n-th column, in answer units.

        What is left of the other values beside it has one law under both. So each of them moves by its `drift`, and
        when it is rounded by a step more; reading it (clipped, or replaced) moves it no farther, and never back. So the
        terms that rise and those that fall take from each other: the larger sum bounds the cell's move.
        """
        step, changes = self.whole.resolution or Fraction(0), list[Fraction]()
        for share in self.whole.drift(self.columns[number]):
            changes.append(self.reach * share + (step if share > 0 else -step) if share else share)
        moves = []
        for row in answer.coefficients:
            terms = [weight * change for weight, change in zip(row, changes, strict=True) if weight]
            rise = sum((term for term in terms if term > 0), Fraction(0))
            moves.append(max(rise, rise - sum(terms, Fraction(0))))
        return tuple(moves)

    def entry_change(self, answer: ColumnSums) -> Fraction:
        """Bound the L1 change of the answer by one value alone, in answer units."""
        farthest = self.reach + (self.whole.resolution or Fraction(0))
        weights = []
        for column in self.columns:
            weights.append(sum((abs(row[column]) for row in answer.coefficients), Fraction(0)))
        return max(weights) * farthest


def process_view_of(belief: MultivariateNormal, secret: Secret) -> ProcessView:
    """Return the view of a process.

    Raises InputError for a secret that does not compare single values up to a largest difference.
    """
    if not isinstance(secret, EveryEntry):
        raise InputError(
            f"a Gaussian process is not asked for {secret.describe()}",
            rule="of one record single values are hidden, up to a largest difference",
            fix="hide every_entry(max_difference=...)",
        ).at("secrets")  # fmt: skip
    if secret.max_difference is None:
        raise InputError(
            f"the secret compares all values of {secret.describe()}, and a normal distribution bounds none",
            rule="some noise is too small for values far enough apart", fix="write every_entry(max_difference=...)",
        ).at("max_difference")  # fmt: skip
    named: range | tuple[int, ...] = range(len(belief.columns))
    if secret.attribute is not None:
        named = (belief.columns.index(belief.read.named(secret.attribute)),)
    columns = tuple(column for column in named if belief.varies(column))
    if not columns:
        raise InputError(
            f"under the belief {secret.describe()} takes one value only", rule="nothing about it is left to hide",
            fix="give its columns a variance above 0",
        ).at("secrets")  # fmt: skip
    return ProcessView(belief, secret, columns, secret.max_difference)
