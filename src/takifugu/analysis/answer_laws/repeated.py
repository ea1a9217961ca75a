"""Hypotheses that differ in what k of many independent records add: bounds from one record, exact where they can be.

Given one side of a comparison the answer is X_1 + ... + X_k + R, given the other Y_1 + ... + Y_k + R, all independent,
X_i ~ p and Y_i ~ q, or more generally the law changes k times in a row from some p to some q of a few pairs (p, q).
After Laplace noise of scale b let l(p, q) be the largest |log-ratio|, and e(p, q) its larger limit far out. Then
k e(p, q) <= the loss of the comparison <= k l(p, q), with equality in likelihood-ratio order; W-infinity is at most
k W-infinity(p, q), and where p <= q stochastically at most that of k copies against k copies.

Proof: docs/theory/attributes.md#attributes-two-levels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import compress

from takifugu.analysis.answer_laws.dense import DenseFamily
from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.questions.compared import BoundedFamily, Move, bounded, laws_of
from takifugu.core.errors import Unsupported
from takifugu.numbers.distributions.exact_ratio import lattice_step
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import UNIT
from takifugu.numbers.extended.leave_one_out import NOTHING, Sums, Weights


def repeated(
    pair: tuple[int, int],
    one: ListedFamily,
    times: int,
    copies: Callable[[], DenseFamily] | None = None,
    shifts: Callable[[], DenseFamily] | None = None,
) -> BoundedFamily:
    """Return one comparison, which stands for all that change at most `times` records: see above."""
    # `one` compares p and q; `copies` serve all comparisons for every added noise, `shifts` for W-infinity
    low, high = sorted(pair)
    changes = one.compared

    def loss(scale: Fraction) -> float:
        """Bound sup abs log A/B after noise, exactly in likelihood-ratio order."""
        return times * max(changed.loss(scale) for changed in changes) * (1 + 2 * UNIT)

    def smallest_scale(epsilon: Fraction) -> Fraction:
        """Return a scale keeping epsilon, the smallest in likelihood-ratio order."""
        return max(changed.smallest_scale(epsilon / times) for changed in changes)

    @cache
    def moves() -> tuple[Move, ...]:
        farthest = times * max(Fraction(changed.moves()[-1]) for changed in changes)
        between = () if shifts is None else shifts().compared[0].moves()
        return (*(move for move in between if move < farthest), farthest)

    @cache
    def laws() -> DenseFamily:
        if copies is None:
            raise Unsupported(
                "there are too many records for the distributions of the answer under every hypothesis",
                rule="what one record may change bounds Laplace noise, and nothing else",
                fix='use mechanism="laplace-exact", fewer records, or max_difference',
            )
        of_counts = copies()
        return replace(of_counts, pairs=((low, high),), rows={low: of_counts.rows[0], high: of_counts.rows[1]})

    sides, reach = ((low, 0), (high, 0)), times * max(changed.reach for changed in changes)
    compared = bounded(sides, reach, loss, lambda: laws_of(laws(), *sides), smallest_scale, moves)
    return BoundedFamily(0, (compared,), laws)


def copies(low: Pmf, high: Pmf, times: int) -> DenseFamily:
    """Return the laws of `times` copies of either law, with tails of any size."""
    return counted(low, high, times, (0, times))


def counted(low: Pmf, high: Pmf, records: int, counts: tuple[int, int]) -> DenseFamily:
    """Return laws of sums of copies, for each a of `counts` of a of `high` and records - a of `low`."""
    step = lattice_step(low, high)
    if (counts[1] - counts[0]) * (int(high.values[0]) - int(low.values[0])) % step:
        step = 1
    laws = {}
    for number, a in enumerate(counts):
        copies = (records - a, a)
        used = [Weights.of(law, step) for law in compress((low, high), copies)]
        laws[number] = Sums(used, list(filter(None, copies)), NOTHING).inside(0, len(used))
    return DenseFamily.of(0, ((0, 1), (1, 0)), laws, step)
