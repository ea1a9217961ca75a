"""Intervals: what they say and what they do not; ends that are no floats are rounded outward."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import InputError
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.releasing.postprocess.intervals import Interval
from takifugu.releasing.postprocess.readable import rows_of

CHAIN = tf.MarkovChain([[0.25] * 4] * 4, 12, states=["a", "b", "c", "d"])
CALIBRATION = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Histogram(), 1, mechanism="group-dp")
PATTERN = tf.release(CALIBRATION, ["a"] * 12)


def test_intervals_say_what_they_are_not() -> None:
    intervals = PATTERN.interval(0.9)
    assert all(isinstance(i, Interval) and (i.level, i.cells) == (0.9, 4) for i in intervals.values())
    for text in (str(intervals["a"]), repr(intervals["a"]), repr(intervals)):
        assert "not sampling error" in text
    assert "all 4 cells at once" in str(intervals["a"])
    low, high = intervals["a"]
    assert low in intervals["a"]
    assert high + 1 not in intervals["a"]
    assert "1" not in intervals["a"]
    single = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("a"), 1, mechanism="group-dp")
    alone = tf.release(single, ["a"] * 12).interval(0.95)
    assert isinstance(alone, Interval)
    assert "at once" not in str(alone)


@pytest.mark.parametrize("level", [0, 1, -0.1, 95, math.nan, "95", None])
def test_levels_are_checked(level: Any) -> None:
    with pytest.raises(InputError, match="the level is"):
        PATTERN.interval(level)


def test_ends_that_are_no_floats_are_rounded_outward() -> None:
    noise = DiscreteLaplace(Fraction(7), Fraction(1, 3), 40)
    values = tuple(Fraction(place, 3) for place in range(40))
    ends = noise.intervals(values, 0.95)
    rows = rows_of([str(value) for value in values], values, noise, 0.95)
    intervals = replace(PATTERN, labels=tuple(map(str, values)), values=values, randomiser=noise).interval()
    for (low, high), row, interval in zip(ends, rows, intervals.values(), strict=True):
        assert Fraction(str(row["low"])) <= low < high <= Fraction(str(row["high"]))
        assert (row["low"], row["high"]) == tuple(interval)


def test_an_upper_value_that_is_no_float_is_rounded_up() -> None:
    noise = SafeCells(Fraction(2), Fraction(1, 3), 2, (0, 0), None, Fraction(2))
    number, mark = rows_of(["gym", "bar"], [Fraction(4, 3), "safe"], noise, 0.95)
    assert Fraction(str(number["safe_or_at_most"])) > Fraction(4, 3)
    assert mark["safe_or_at_most"] == "safe"
