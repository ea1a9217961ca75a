"""W-infinity of two densities against their quantiles at many levels, and where it is infinite."""

import math

import pytest
from mpmath import mp
from tests.support import density_oracles as oracle

import takifugu as tf
from takifugu.core.errors import Unsupported
from takifugu.numbers.densities.moves import farthest_move

NORMAL, MIXTURE, UNIFORM, CUT = tf.Normal, tf.NormalMixture, tf.UniformMean, tf.Truncated


def quantile(density, level):
    """Return the quantile by halving a wide interval, in 30 digits."""
    low, high = mp.mpf(-60), mp.mpf(60)
    for _ in range(110):
        middle = (low + high) / 2
        low, high = (middle, high) if oracle.below(density, middle) < level else (low, middle)
    return (low + high) / 2


def largest_difference(p, q, count):
    """Return the largest difference of the quantiles at some levels, nine of them in each tail."""
    one, other = p.to_dict(), q.to_dict()
    with mp.workdps(30):
        levels = [mp.mpf(k) / count for k in range(1, count)]
        for tail in (mp.mpf(10) ** -k for k in range(3, 12)):
            levels += [tail, 1 - tail]
        return float(max(abs(quantile(one, level) - quantile(other, level)) for level in levels))


CASES = {
    "other weights": (MIXTURE([0.5, 0.5], [0, 1], [1, 3]), MIXTURE([0.9, 0.1], [0, 1], [1, 3])),
    "far apart": (MIXTURE([0.5, 0.5], [0, 10], [0.5, 0.5]), MIXTURE([0.4, 0.6], [0, 10], [0.5, 0.5])),
    "parts that move": (MIXTURE([0.5, 0.5], [0, 5], [1, 2]), MIXTURE([0.2, 0.8], [0, 6], [1.5, 2])),
    "two uniforms": (UNIFORM(1, 0, 1), UNIFORM(1, 0.5, 3)),
    "uniform sums": (UNIFORM(3, 0, 1), UNIFORM(2, 0, 2)),
    "cut on both sides": (CUT(NORMAL(0, 1), -1, 2), CUT(NORMAL(0, 2), -1, 2)),
    "cut on one side": (CUT(NORMAL(0, 1), 0), CUT(NORMAL(0, 1), 0.5)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_it_covers_every_level_and_little_more(name):
    p, q = CASES[name]
    seen, bound = largest_difference(p, q, 40), farthest_move(p, q)
    assert seen <= bound
    assert farthest_move(q, p) == pytest.approx(bound, rel=3e-6)
    ends = [abs(a - b) for a, b in zip(p.range, q.range, strict=True) if math.isfinite(a)]
    assert bound <= max(seen * 1.05, *ends, 0.0) * (1 + 3e-6)  # few levels: a sharp peak lies between two of them


@pytest.mark.parametrize(("p", "q", "exact"), [
    (NORMAL(0, 2), NORMAL(-3, 2), 3.0),
    (NORMAL(0.1, 2), NORMAL(0.3, 2), math.nextafter(0.2, 0)),
    (MIXTURE([0.25, 0.75], [0, 1], [1, 2]), MIXTURE([0.25, 0.75], [2, 3], [1, 2]), 2.0),
    (UNIFORM(4, 0, 1), UNIFORM(4, 5, 6), 5.0), (CUT(NORMAL(0, 1), 0), CUT(NORMAL(0, 1), 0), 0.0),
])  # fmt: skip
def test_what_is_only_moved_moves_by_just_that(p, q, exact):
    assert farthest_move(p, q) == pytest.approx(exact, rel=1e-15)


def test_a_tail_counts_beyond_all_cells():
    """Both fall like N(m, 2), so that the difference tends to that of the means: nothing in the middle exceeds it."""
    p, q = MIXTURE([0.5, 0.5], [0, 4], [1, 2]), MIXTURE([0.5, 0.5], [0, 5], [1, 2])
    assert 1 <= farthest_move(p, q) <= largest_difference(p, q, 60) * 1.02


@pytest.mark.parametrize(("p", "q", "reason"), [
    (NORMAL(0, 1), NORMAL(1, 2), "deviations 1 and 2"),
    (NORMAL(0, 1), CUT(NORMAL(0, 1), 0), "one has an end"),
    (MIXTURE([0.5, 0.5], [0, 1], [1, 2]), NORMAL(0, 1), "deviations 2 and 1"),
    (CUT(NORMAL(0, 1), 0), CUT(NORMAL(0, 2), 0), "deviations 1 and 2"),
])  # fmt: skip
def test_where_it_is_infinite_it_says_why(p, q, reason):
    with pytest.raises(Unsupported, match=reason):
        farthest_move(p, q)


def test_quantiles_of_unequal_normals_do_part_without_bound():
    differences = [
        float(abs(quantile(NORMAL(0, 1).to_dict(), level) - quantile(NORMAL(0, 2).to_dict(), level)))
        for level in (mp.mpf("1e-3"), mp.mpf("1e-9"), mp.mpf("1e-30"))
    ]
    assert differences[0] > 3
    assert differences[1] > differences[0] + 2.5
    assert differences[2] > differences[1] + 5
