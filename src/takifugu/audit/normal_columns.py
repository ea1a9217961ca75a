"""The density of a sum over normal records given a property of their columns, from means and covariances alone.

F = c . S and g = w . S for the sum S of the records, or of one record for g. F - E[F] = b (g - E[g]) + R with
b = Cov(F, g)/Var(g) and R normal, independent of g, of variance Var(F) - b Cov(F, g). So F given a value of g is
normal; given a set it is b times a normal number within the set, plus R. Only what differs between hypotheses counts,
so E[F] is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, permutations

from mpmath import mp

from takifugu.audit.compared_pairs import Pairs, are_compared
from takifugu.core.errors import Unsupported
from takifugu.core.plain import Plain
from takifugu.model.beliefs.records.normal_region import RegionView
from takifugu.model.beliefs.records.normal_views import NormalView, ProcessView
from takifugu.model.queries.resolving.real_columns import ColumnSums
from takifugu.model.secrets import Secret
from takifugu.model.secrets.value_sets import Intervals, ValueSet
from takifugu.numbers.normal.matrices import dot, form
from takifugu.numbers.rationals import as_mpf

Description = Plain


def of_normal_view(view: NormalView, secret: Secret, answer: ColumnSums) -> tuple[Sequence[Description], Pairs]:
    """Return the answer's densities by hypothesis, as plain data (`audit.curves`), and the compared pairs."""
    belief, words = view.whole, secret.to_dict()
    if answer.cells != 1 or len(view.weights) != 1:
        raise Unsupported("the audit of normal records is of one number, and of one number that is hidden")
    c, w = answer.coefficients[0], view.weights[0]
    records = belief.records
    variance = records * form(c, belief.covariance, c)
    # Of values up to a difference one and the farthest: normal densities are easier told apart the farther moved.
    numbers = _numbers(words)
    if words["kind"] == "distribution-parameter":
        if words.get("map", "mean") != "mean":
            raise Unsupported("the audit of normal records knows no other parameter than the mean")
        factor = records * dot(c, w)
        return [_normal(factor * (value - numbers[0]), variance) for value in numbers], _pairs(words, numbers)
    scale = 1 if words["kind"] == "every-entry" else records
    of_secret, shared = scale * form(w, belief.covariance, w), scale * form(c, belief.covariance, w)
    middle = scale * dot(w, belief.mean)
    slope = shared / of_secret
    remainder = variance - slope * shared
    if words.get("sets") is None:
        return [_normal(slope * value, remainder) for value in numbers], _pairs(words, numbers)
    regions = [_of_set(region, slope, middle, of_secret, remainder) for region in view.sets]
    return regions, tuple(permutations(range(len(regions)), 2))


def of_region_view(view: RegionView, secret: Secret, answer: ColumnSums) -> tuple[Sequence[Description], Pairs]:
    """Return the answer's densities, and the pairs compared, under each law that loses most."""
    view.check(answer)
    densities: list[Description] = []
    pairs: list[tuple[int, int]] = []
    for law in view.laws:
        of_law, compared = of_normal_view(law, secret, answer)
        first = len(densities)
        pairs += [(first + a, first + b) for a, b in compared]
        densities += of_law
    return densities, tuple(pairs)


def of_process_view(view: ProcessView, secret: Secret, answer: ColumnSums) -> tuple[Sequence[Description], Pairs]:
    """Return the answer's densities, two for each hidden value, with all of the process's own randomness."""
    belief, reach = view.whole, Fraction(secret.to_dict()["max_difference"])
    if answer.cells != 1 or belief.resolution is not None or belief.clips(answer.read_columns):
        raise Unsupported("the audit of a process is of one sum of values that are read as they are")
    row, covariance, densities = answer.coefficients[0], belief.covariance, list[Description]()
    variance = form(row, covariance, row)
    for column in view.columns:
        shared = dot(row, covariance[column])
        slope = shared / covariance[column][column]
        densities += [_normal(slope * value, variance - slope * shared) for value in (Fraction(0), reach)]
    places = range(0, len(densities), 2)
    return densities, tuple(chain.from_iterable(((a, a + 1), (a + 1, a)) for a in places))


def _numbers(words: Plain) -> list[Fraction]:
    """Return a secret's numbers, in its hypotheses' order."""
    if words.get("max_difference") is not None and not words.get("values"):
        most = words["max_difference"]
        farthest = Fraction(most[0] if isinstance(most, list) else most)
        if words.get("interval") is not None:
            low, high = map(Fraction, words["interval"])
            return [low, min(high, low + farthest)]
        return [Fraction(0), farthest]
    if words.get("pairs") is not None:
        return sorted(set(map(Fraction, chain.from_iterable(words["pairs"]))))
    return list(map(Fraction, map(str, words.get("interval") or words.get("values") or ())))


def _pairs(words: Plain, numbers: Sequence[Fraction]) -> Pairs:
    places = permutations(range(len(numbers)), 2)
    return tuple((a, b) for a, b in places if are_compared(words, numbers[a], numbers[b]))


def _of_set(
    region: ValueSet, slope: Fraction, middle: Fraction, variance: Fraction, remainder: Fraction
) -> Description:
    """Return b (g - E[g]) + R for g in a set."""
    if not slope:
        return _normal(Fraction(0), remainder)
    if not isinstance(region, Intervals):
        means, heights = [], []
        for value in region:
            means.append(as_mpf(slope * (value - middle)))
            heights.append(mp.exp(-as_mpf((value - middle) ** 2 / variance) / 2))
        total = mp.fsum(heights)
        weights = [height / total for height in heights]
        deviations = [mp.sqrt(as_mpf(remainder))] * len(means)
        return {"kind": "normal-mixture", "weights": weights, "means": means, "deviations": deviations}
    (part, *others), low, high = region.parts, None, None
    if others:
        raise Unsupported("the audit of normal records knows sets of one interval, or of values")
    if part.low is not None:
        low = as_mpf(slope * (part.low - middle))
    if part.high is not None:
        high = as_mpf(slope * (part.high - middle))
    if slope < 0:
        low, high = high, low
    moved = {"kind": "truncated", "whole": _normal(Fraction(0), slope**2 * variance), "low": low, "high": high}
    return {"kind": "blurred", "whole": moved, "deviation": mp.sqrt(as_mpf(remainder))}


def _normal(mean: Fraction, variance: Fraction) -> Description:
    return {"kind": "normal", "mean": as_mpf(mean), "deviation": mp.sqrt(as_mpf(variance))}
