"""Intervals: exact for the noise that was drawn, in all cells at once; 10,000 seeded draws against the level."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from scipy.special import bdtr, bdtrc

import takifugu as tf
from takifugu.analysis.randomisers import Base, DiscreteLaplace, RoundedLaplace, RoundedNormal
from takifugu.core.errors import InputError
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.postprocess.intervals import Interval
from takifugu.releasing.postprocess.readable import rows_of
from takifugu.releasing.postprocess.release import Release

DRAWS, REJECT = 10_000, 1e-6
STATES = ["a", "b", "c", "d"]
TRUTH = (61, 0, 1_000_003, 17)
CHAIN = tf.MarkovChain([[0.25] * 4] * 4, 12, states=STATES)
CALIBRATION = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Histogram(), 1, mechanism="group")
PATTERN = tf.release(CALIBRATION, ["a"] * 12)
GRID = Fraction(1, 10)
#: Scales of thousands of grid steps: what the lattice adds to the nominal level is far below what 10,000 draws can see.
NOISES = [
    DiscreteLaplace(Fraction(3000), GRID, 4),
    RoundedLaplace(Fraction(300), GRID, 4),
    RoundedNormal(Fraction(300), GRID, 4),
]


def binomial_p(successes: int, probability: float) -> float:
    """Return the two-sided exact p-value of a count of successes in DRAWS trials."""
    below, above = bdtr(successes, DRAWS, probability), bdtrc(successes - 1, DRAWS, probability)
    return min(1.0, 2 * float(min(below, above)))


@cache
def releases(noise: Any) -> list[Release]:
    """Return DRAWS releases of the truth, their noise drawn in one go."""
    true = tuple(int(t / noise.grid) for t in TRUTH)
    many = replace(noise, cells=DRAWS * len(TRUTH)).draw(true * DRAWS, InsecureSeededEntropyForTests(20))
    return [replace(PATTERN, values=many[i : i + 4], randomiser=noise) for i in range(0, len(many), 4)]


def coverage(drawn: list[Release], level: float) -> tuple[int, list[int]]:
    """Return how many releases hold the truth in all intervals at once, and how many in each cell."""
    every, each = 0, [0] * len(TRUTH)
    half = drawn[0].randomiser.half_width(level)
    cached = [replace(r, randomiser=_Remembered(half)) for r in drawn]  # type: ignore[arg-type]
    for noisy in cached:
        intervals = noisy.interval(level)
        hits = [t in intervals[state] for t, state in zip(TRUTH, STATES, strict=True)]
        each = [n + hit for n, hit in zip(each, hits, strict=True)]
        every += all(hits)
    return every, each


class _Remembered(Base):
    """The half width of a randomiser, found once: the exact search costs more than the rest of a draw."""

    def __init__(self, half: Fraction) -> None:
        self.half = half

    def half_width(self, level: float, cells: int | None = None) -> Fraction:
        return self.half


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.kind)
def test_coverage_is_nominal_in_each_cell_and_in_all_at_once(noise: Any) -> None:
    drawn = releases(noise)
    for level in (0.5, 0.95):
        every, each = coverage(drawn, level)
        assert binomial_p(every, level) > REJECT
        assert all(binomial_p(n, level ** (1 / len(TRUTH))) > REJECT for n in each)


def wrong_scale(noise: DiscreteLaplace) -> DiscreteLaplace:
    return replace(noise, units=noise.units * 95 / 100)


def one_cell_at_a_time(noise: DiscreteLaplace) -> DiscreteLaplace:
    return replace(noise, cells=1)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [wrong_scale, one_cell_at_a_time])
def test_a_wrong_interval_is_seen(mutant: Callable[[DiscreteLaplace], DiscreteLaplace]) -> None:
    """The power of the test above: a scale 5 % off, or intervals that hold in each cell alone, are rejected."""
    believed = mutant(NOISES[0])  # type: ignore[arg-type]
    every, _ = coverage([replace(r, randomiser=believed) for r in releases(NOISES[0])], 0.5)
    assert binomial_p(every, 0.5) < REJECT


def test_a_table_of_several_noises_covers_at_once() -> None:
    """Tables of units: each unit has its own noise, and the level holds over all rows of the table."""
    noises = [DiscreteLaplace(Fraction(s), Fraction(1)) for s in (400, 900, 5000)]
    entropy = InsecureSeededEntropyForTests(23)
    halves = [noise.half_width(0.8, cells=3) for noise in noises]
    drawn = zip(*(replace(noise, cells=DRAWS).draw((0,) * DRAWS, entropy) for noise in noises), strict=True)
    inside = sum(all(abs(z) <= half for z, half in zip(row, halves, strict=True)) for row in drawn)
    assert binomial_p(inside, 0.8) > REJECT


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
    single = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("a"), 1, mechanism="group")
    alone = tf.release(single, ["a"] * 12).interval(0.95)
    assert isinstance(alone, Interval)
    assert "at once" not in str(alone)


@pytest.mark.parametrize("level", [0, 1, -0.1, 95, math.nan])
def test_levels_are_checked(level: float) -> None:
    with pytest.raises(InputError, match="the level is"):
        PATTERN.interval(level)


def read_back(end: object) -> Fraction:
    return Fraction(str(end))


def test_ends_that_are_no_floats_are_rounded_outward() -> None:
    noise = DiscreteLaplace(Fraction(7), Fraction(1, 3), 40)
    values = tuple(Fraction(place, 3) for place in range(40))
    ends = noise.intervals(values, 0.95)
    rows = rows_of([str(value) for value in values], values, noise, 0.95)
    intervals = replace(PATTERN, labels=tuple(map(str, values)), values=values, randomiser=noise).interval()
    for (low, high), row, interval in zip(ends, rows, intervals.values(), strict=True):
        assert read_back(row["low"]) <= low < high <= read_back(row["high"])
        assert (row["low"], row["high"]) == tuple(interval)


def test_an_upper_value_that_is_no_float_is_rounded_up() -> None:
    noise = SafeCells(Fraction(2), Fraction(1, 3), 2, (0, 0), None, Fraction(2))
    number, mark = rows_of(["gym", "bar"], [Fraction(4, 3), "safe"], noise, 0.95)
    assert read_back(number["safe_or_at_most"]) > Fraction(4, 3)
    assert mark["safe_or_at_most"] == "safe"
