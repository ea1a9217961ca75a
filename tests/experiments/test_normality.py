"""The check of a fitted normal: moments in fractions, gaps by enumeration with many digits, and the page's numbers."""

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import mp
from tests.support.research import research_file

import adult_attributes as adult
import zhang2022
from normality import gap_of_mean, largest_gap, linear_parts, normality
from pages import made

SMALL = (0, 0, 0, 1, 1, 5)


def moment(law: Mapping[Fraction, Fraction], power: int) -> Fraction:
    mean = sum(v * p for v, p in law.items())
    return sum(((v - mean) ** power * p for v, p in law.items()), Fraction(0))


def enumerated_gap(law: Mapping[Fraction, Fraction]) -> float:
    """Return the largest gap to the normal of the same mean and variance, just before and at every atom."""
    mean, deviation = sum(v * p for v, p in law.items()), mp.sqrt(mp.mpf(float(moment(law, 2))))
    gaps, below = [], Fraction(0)
    for value in sorted(law):
        normal = mp.ncdf((mp.mpf(value.numerator) / value.denominator - float(mean)) / deviation)
        gaps += [abs(float(side) - normal) for side in (below, below + law[value])]
        below += law[value]
    return float(max(gaps))


def mean_of(records: int) -> Mapping[Fraction, Fraction]:
    """Return the distribution of the mean of some draws from SMALL, by all outcomes."""
    law: Counter[Fraction] = Counter()
    for outcome in product(SMALL, repeat=records):
        law[Fraction(sum(outcome), records)] += Fraction(1, len(SMALL) ** records)  # type: ignore[assignment]
    return law  # type: ignore[return-value]


def test_the_gap_of_one_record_and_the_bound_for_a_mean_by_enumeration() -> None:
    numbers = np.array(SMALL, dtype=np.float64)
    assert largest_gap(numbers) == pytest.approx(enumerated_gap(mean_of(1)), rel=1e-12)
    law = mean_of(1)
    third = sum(abs(v - sum(w * p for w, p in law.items())) ** 3 * p for v, p in law.items())
    assert gap_of_mean(numbers, 1) == pytest.approx(0.469 * float(third) / float(moment(law, 2)) ** 1.5, rel=1e-12)
    for records in (1, 2, 3, 4, 5):
        assert enumerated_gap(mean_of(records)) <= gap_of_mean(numbers, records)


def test_the_page_has_the_moments_of_adult_in_fractions() -> None:
    numbers = adult.numbers(adult.people(research_file(adult.OTHERS)))
    parts = linear_parts(numbers, "hours", "education")
    assert made(zhang2022.PAGE, "normality") == normality(parts, adult.RECORDS)
    for name, values in numbers.items():
        law = {Fraction(v): Fraction(c, len(values)) for v, c in Counter(values).items()}
        variance = float(moment(law, 2))
        skewness, excess = float(moment(law, 3)) / variance**1.5, float(moment(law, 4)) / variance**2 - 3
        statistic = len(values) / 6 * (skewness**2 + excess**2 / 4)
        row = next(line for line in made(zhang2022.PAGE, "normality").splitlines() if line.startswith(f"| {name} |"))
        cells = [cell.strip() for cell in row.split("|")[2:-1]]
        assert cells[:3] == [f"{skewness:.2f}", f"{excess:.2f}", f"{statistic:,.0f}"]
        assert float(cells[3]) == pytest.approx(enumerated_gap(law), abs=6e-5)
    # A chi-squared variable with two degrees of freedom exceeds x with probability exp(-x/2).
    assert math.exp(-13.8 / 2) == pytest.approx(0.001, rel=0.01)
