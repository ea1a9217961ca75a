"""Joint laws of two sums over records, against every data set."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.record_oracles import laws_given, record_tables

from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.distributions.record_sums import RecordLaw, given_count, given_function, given_sum, power

SMALL = settings(max_examples=40)


def law_of(rows, chances):
    total = math.lcm(*(c.denominator for c in chances))
    return RecordLaw.of((g, f, int(c * total)) for (g, f), c in zip(rows, chances, strict=True))


def sums(data):
    return sum(row[1] for row in data)


@SMALL
@given(record_tables(levels=3, answers=3), st.integers(1, 4))
def test_given_a_sum(table, records):
    rows, chances = table
    expected = laws_given(rows, chances, records, sums, lambda data: sum(row[0] for row in data))
    laws = given_sum(law_of(rows, chances), records)
    assert {a: dict(law.items()) for a, (_, law) in laws.items()} == expected
    weights = {a: Fraction(w, sum(w for w, _ in laws.values())) for a, (w, _) in laws.items()}
    assert sum(weights.values()) == 1


@SMALL
@given(record_tables(levels=3, answers=3))
def test_one_record_whatever_its_level(table):
    rows, chances = table
    law, expected = law_of(rows, chances), {}
    for (_, answer), chance in zip(rows, chances, strict=True):
        expected[answer] = expected.get(answer, 0) + chance
    assert dict(law.whole.items()) == {answer: chance for answer, chance in expected.items() if chance}
    weights = {level: sum(c for (g, _), c in zip(rows, chances, strict=True) if g == level) for level in law.levels}
    assert [Fraction(w, sum(law.weights)) for w in law.weights] == list(weights.values())


@SMALL
@given(record_tables(levels=2, answers=3), st.integers(1, 5))
def test_given_a_count_is_given_a_sum_of_two_levels(table, records):
    law = law_of(*table)
    laws = given_count(law.given(0), law.given(1), records, range(records + 1))
    assert laws == {a: given for a, (_, given) in given_sum(law, records).items()}


@SMALL
@given(record_tables(levels=3, answers=2), st.integers(1, 3))
def test_given_any_function(table, records):
    rows, chances = table
    expected = laws_given(rows, chances, records, sums, lambda data: max(row[0] for row in data) - data[0][0])
    laws = given_function(law_of(rows, chances), records, lambda levels: max(levels) - levels[0])
    assert {a: dict(law.items()) for a, (_, law) in laws.items()} == expected


@given(st.integers(0, 9))
def test_powers(count):
    law = Pmf.from_counts([0, 2], [1, 3])
    expected = Pmf([0], [1])
    for _ in range(count):
        expected = expected.convolve(law)
    assert power(law, count) == expected


def test_vectors_add_place_by_place():
    law = RecordLaw.of([((0, 0), 0, 1), ((0, 1), 1, 1), ((1, 1), 1, 2)])
    laws = given_sum(law, 2)
    assert list(laws) == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    assert dict(laws[1, 1][1].items()) == {1: 1}


@pytest.mark.parametrize("records", [1, 3])
def test_rows_without_mass_are_left_out(records):
    law = RecordLaw.of([(0, 0, 1), (1, 5, 0), (1, 1, 1)])
    assert law.levels == (0, 1)
    assert max(given_sum(law, records)[records][1].values) == records
