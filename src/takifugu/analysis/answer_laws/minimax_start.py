"""The largest log-ratio over every initial law of a chain, after Laplace noise.

Two start states are the worst. With A_u the noised law of the answer given X_0 = u and X_i = a, B_u the same for b,
odds x of u and v given a, and odds kappa x given b,

    log ratio = log A_v/B_v + log (1 + a x)/(1 + x) + log (1 + kappa x)/(1 + kappa b x),   a = A_u/A_v, b = B_u/B_v,

whose derivative in log x vanishes where a quadratic in x does. If u cannot lead to b, or v not to a, the laws A_u and
B_v are met together in the limit; so are those of one start. Proof, and what rounding hides (`_slack`):
docs/theory/one-answer.md#one-answer-15, #one-answer-rounding.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, lru_cache, partial
from itertools import combinations, product
from typing import NoReturn

import numpy as np

from takifugu.analysis.answer_laws.dense import DenseFamily
from takifugu.analysis.questions.compared import AnswerFamily, BoundedFamily, Compared, bounded, least_scale
from takifugu.core.arrays import FloatArray
from takifugu.core.errors import Unsupported
from takifugu.numbers.extended.floats import UNIT, Wide

#: In place of a number in a hull: all laws of the hull, mixed by any initial law.
WHOLE = -1


def over_all_starts(family: AnswerFamily) -> AnswerFamily:
    """Return comparisons of whole hulls, under every initial law at once (Song17 Theorem 3.2 is not used)."""
    if not isinstance(family, DenseFamily) or all(len(rows) == 1 for rows in family.rows.values()):
        return family
    # needs never exceed the largest over pairs of laws, as `family` has it
    several = dict[tuple[int, int], list[int]]()
    for number, ((a, _), (b, _)) in enumerate(family.indices):
        several.setdefault((a, b), []).append(number)
    noised = lru_cache(maxsize=1)(lambda scale: family.noised(scale).wide())
    bare = cache(partial(family.losses, Fraction(0)))

    def compared(a: int, b: int, numbers: list[int]) -> Compared:
        reach = max(family.reaches[number] for number in numbers)

        def loss(scale: Fraction) -> float:
            """Bound sup abs log A/B over initial laws; without noise, of all pairs of point starts."""
            return _loss(family, noised(scale), a, b) if scale else max(bare()[number] for number in numbers)

        smallest_scale = partial(least_scale, loss, reach)
        return bounded(((a, WHOLE), (b, WHOLE)), reach, loss, _no_laws, smallest_scale)

    comparisons = tuple(compared(*values, numbers) for values, numbers in several.items())
    return BoundedFamily(family.entry, comparisons, lambda: family, family.whole)


def _no_laws() -> NoReturn:
    raise Unsupported("whole hulls are compared, and no two members stand for them", fix="take their members by pairs")


def _loss(family: DenseFamily, noised: Wide, a: int, b: int) -> float:
    ends: list[tuple[int, int]] = []
    row_a, row_b = (dict(zip(family.starts[v], family.rows[v], strict=True)) for v in (a, b))
    for u, v in product(row_a, row_b):
        if u == v or u not in row_b or v not in row_a:
            ends.append((row_a[u], row_b[v]))
    common = [value for value in row_a if value in row_b]
    first_ends, second_ends = np.array(ends).T
    worst = float(np.abs(_log_ratio(noised[first_ends], noised[second_ends])).max())
    if len(common) > 1:
        au, av = np.array(list(combinations(map(row_a.__getitem__, common), 2))).T
        bu, bv = np.array(list(combinations(map(row_b.__getitem__, common), 2))).T
        masses = family.log_masses
        kappa = (masses[bu] - masses[bv] + masses[av] - masses[au])[:, None]
        worst = max(worst, _largest(noised[au], noised[av], noised[bu], noised[bv], kappa))
        worst = max(worst, _largest(noised[bu], noised[bv], noised[au], noised[av], -kappa))
    return worst + 2 * family.margin + family.rounding(worst)


def _largest(au: Wide, av: Wide, bu: Wide, bv: Wide, log_kappa: FloatArray) -> float:
    """Bound the largest log-ratio inside each edge (row) per output (column)."""
    a, b, base = _log_ratio(au, av), _log_ratio(bu, bv), _log_ratio(av, bv)
    kappa, two = log_kappa + 0 * a, math.log(2)
    signs, logs = zip(
        _signed_sum([2 * kappa + b + a, kappa + a], [2 * kappa + b, kappa + a + b]),
        _signed_sum([kappa + a + two], [kappa + b + two]),
        _signed_sum([a, kappa], [0 * a, kappa + b]),
        strict=True,
    )
    with np.errstate(invalid="ignore", over="ignore"):
        middle = (logs[2] - logs[0]) / 2
        size = logs[1] + middle - logs[2]  # log of |linear| when square and constant are scaled to 1
        half = np.exp(np.minimum(size, 40.0)) / 2
        sinh = np.where(size < 40, np.arcsinh(half), size)
        cosh = np.where(size < 40, np.arccosh(np.maximum(half, 1.0)), size)
        places = [
            middle - signs[1] * signs[0] * sinh, middle + cosh, middle - cosh, logs[2] - logs[1], logs[1] - logs[0]
        ]  # fmt: skip
    largest = np.full(a.shape, -np.inf)
    for place in places:
        s = np.clip(np.nan_to_num(place), -1e5, 1e5)
        rise = np.logaddexp(0, s + a) - np.logaddexp(0, s)
        value = rise + np.logaddexp(0, s + kappa) - np.logaddexp(0, s + kappa + b)
        # A place far outside the range adds nothing but its own rounding.
        largest = np.maximum(largest, value - 8 * UNIT * np.abs(s))
    return float((base + largest + _slack(a, b, kappa)).max())


def _slack(a: FloatArray, b: FloatArray, kappa: FloatArray) -> FloatArray:
    """Bound the part of the largest value hidden by rounding: 12 roundings of logs, over their range."""
    size = np.abs(a) + np.abs(b) + np.abs(kappa)
    slack: FloatArray = 50 * UNIT * (4 + size) * (80 + size)
    return slack


def _signed_sum(plus: list[FloatArray], minus: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return sign and log size of sum e**plus - sum e**minus."""
    top = np.maximum.reduce([*plus, *minus])
    total = sum((np.exp(p - top) for p in plus), 0 * top) - sum((np.exp(m - top) for m in minus), 0 * top)
    with np.errstate(divide="ignore"):
        return np.sign(total), top + np.log(np.abs(total))


def _log_ratio(first: Wide, second: Wide) -> FloatArray:
    orders = first.exponents - second.exponents
    logs: FloatArray = np.log(first.mantissas / second.mantissas) + orders * math.log(2)
    return logs
