"""Profiles: runs of entries, their sums entry by entry, and what is no profile."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takifugu.core.errors import InputError
from takifugu.influence.profiles.profile import Profile

TENTHS = st.integers(0, 40).map(lambda tenths: tenths / 10)


@st.composite
def profiles(draw, size=None):
    """Runs over tables of three values each, closed already: c of each pair of the line 0, a, a + b."""
    tables = []
    for a, b in draw(st.lists(st.tuples(TENTHS, TENTHS), min_size=1, max_size=3)):
        places = np.array([0.0, a, a + b])
        tables.append(np.abs(places[:, None] - places))
    number = draw(st.integers(1, 9)) if size is None else size
    cuts = sorted(draw(st.sets(st.integers(1, number - 1), max_size=4))) if number > 1 else []
    lengths = np.diff([0, *cuts, number])
    table_of = draw(st.lists(st.integers(0, len(tables) - 1), min_size=len(lengths), max_size=len(lengths)))
    return Profile(tuple(tables), lengths, np.array(table_of))


@given(st.integers(1, 12).flatmap(lambda size: st.tuples(profiles(size), profiles(size))))
@settings(max_examples=30)
def test_a_sum_is_that_of_each_entry_rounded_up(pair):
    first, second = pair
    total = first + second
    assert total.size == first.size == int(first.ends[-1])
    for entry in range(first.size):
        listed = [np.repeat(np.arange(len(one.lengths)), one.lengths)[entry] for one in pair]
        a, b = (one.tables[one.table_of[run]] for one, run in zip(pair, listed, strict=True))
        assert (first.at(entry) == a).all()
        assert first.largest(entry) == a.max()
        for u, v in np.ndindex(3, 3):
            exact = Fraction(float(a[u, v])) + Fraction(float(b[u, v]))
            assert exact <= Fraction(float(total.at(entry)[u, v])) <= exact * (1 + Fraction(1, 2**51))


def test_a_change_by_way_of_a_third_value_is_a_change():
    assert Profile.of([[0, 5, 1], [5, 0, 1], [1, 1, 0]], 2).at(1)[0, 1] == pytest.approx(2)


GOOD = np.array([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.zeros((2, 3)), "shape"), (np.zeros(2), "shape"), (np.zeros((2, 2, 2)), "shape"),
        ([[0.0, -1e-9], [-1e-9, 0.0]], "no table of losses"), ([[0.0, np.nan], [np.nan, 0.0]], "no table of losses"),
        ([[0.0, np.inf], [np.inf, 0.0]], "no table of losses"), ([[0.0, 1.0], [1.0, 1e-9]], "no table of losses"),
        ([[0.0, 1.0], [2.0, 0.0]], "not symmetric"),
    ],
)  # fmt: skip
def test_what_is_no_profile_is_refused(table, words):
    with pytest.raises(InputError, match=words):
        Profile((GOOD, np.array(table)), np.array([1, 1]), np.array([0, 1]))


@pytest.mark.parametrize(("lengths", "table_of"), [([1, 0], [0, 0]), ([1, 2], [0]), ([-1], [0])])
def test_runs_that_do_not_fit_are_refused(lengths, table_of):
    with pytest.raises(InputError, match="do not fit"):
        Profile((GOOD,), np.array(lengths), np.array(table_of))


def test_profiles_of_different_sizes_do_not_add_up():
    with pytest.raises(InputError, match="do not add up"):
        Profile.of(GOOD, 3) + Profile.of(GOOD, 4)
    assert Profile.by_entry([np.zeros((1, 1)), GOOD]).largest(0) == 0
