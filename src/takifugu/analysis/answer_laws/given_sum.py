"""Exact laws of an answer given a sum of scores of independent records: what they take, and in which order they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from takifugu.analysis.bounds import Cost
from takifugu.model.secrets.properties import DatasetProperty
from takifugu.numbers.distributions.exact_ratio import lattice_step, likelihood_ratio_ordered, log_concave
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.distributions.record_sums import RecordLaw, Sum, given_count, given_sum

#: A value of the property, an integer proportional to its probability, and the law of the answer given it.
Laws = dict[int, tuple[int, Pmf]]


def products_of(law: RecordLaw[Sum], records: int, sums: int, width: float, digits: float) -> float:
    """Return the number of integer products in so many exact laws."""
    if len(law.levels) == 2:
        return float((records + 1) * width**2 / 6 * (1 + digits / 2000))
    return float(records * sum(map(len, law.masses.values())) * sums * width / 3)


def laws_of_sums(law: RecordLaw[Sum], records: int, keys: Sequence[Sum], places: Sequence[int]) -> Laws:
    """Return the exact laws given the sums of scores at `places`."""
    if len(law.levels) != 2:
        given_laws = given_sum(law, records)
        return {v: given_laws[keys[v]] for v in places}
    low, high = map(law.given, law.levels)
    w, u = law.weights
    laws = given_count(low, high, records, places)
    return {a: (math.comb(records, a) * u**a * w ** (records - a), laws[a]) for a in places}


def no_bound(secret: DatasetProperty, products: float) -> str:
    """Return why sums of scores with costly laws have no bound."""
    return (
        f"the exact distributions of the answer given {secret.what} would take "
        f"{Cost(100 * products, 100 * products).describe()}, and a bound from single records is proved "
        "for a property of two levels, or of evenly spaced ones with log-concave probabilities: hide a share, use "
        "coarser values or fewer records"
    )


def is_tight(low: Pmf, high: Pmf) -> bool:
    """Return whether two laws are in likelihood-ratio order.

    Then one record's loss decides that of many records exactly.
    """
    return likelihood_ratio_ordered(low, high) or likelihood_ratio_ordered(high, low)


def is_ordered(low: Pmf, high: Pmf) -> bool:
    """Return whether two laws are log-concave and in likelihood-ratio order.

    Laws on two lattices count as unordered. Under this order, laws of sums of copies are ordered by the number of
    copies of one, even after any log-concave noise, so the outermost comparison is the worst
    (docs/theory/attributes.md#orders).
    """
    step = lattice_step(low, high)
    if (int(high.values[0]) - int(low.values[0])) % step or not (log_concave(low, step) and log_concave(high, step)):
        return False
    return is_tight(low, high)
