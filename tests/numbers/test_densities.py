"""Continuous distributions: bounds against many digits, divergences against quadrature and the definition."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support import density_oracles as oracle

import takifugu as tf
from takifugu.core.errors import InputError, Unsupported
from takifugu.numbers import Bates, PiecewiseLinear, Pmf
from takifugu.numbers.after_noise.gaussian import gaussian_delta
from takifugu.numbers.densities import from_dict
from takifugu.numbers.densities.excess import charge_at, density_hockey_stick, distance_from, max_divergence
from takifugu.numbers.densities.moves import farthest_move

Normal, NormalMixture, Truncated, Bates = tf.Normal, tf.NormalMixture, tf.Truncated, Bates
SHARES = st.floats(0, 1, allow_subnormal=False)


@given(oracle.densities, SHARES, SHARES)
@settings(max_examples=50)
def test_heights_and_masses_are_enclosed(density, one, other):
    first, last = density.edges[0], density.edges[-1]
    low, high = sorted(first + (last - first) * share for share in (one, other))
    if low == high:
        return
    described = density.to_dict()
    with mp.workdps(30):
        function = oracle.height(described)
        least, most = (float(bound[0]) for bound in density.bounds(np.array([low]), np.array([high])))
        nudge = (high - low) * 1e-6
        for x in (low + nudge, (low + high) / 2, high - nudge):
            assert least <= function(x) <= most
            assert math.isclose(density.pdf(np.array([x]))[0], function(x), rel_tol=1e-9, abs_tol=1e-290)
    with mp.workdps(20):
        at_least, at_most = (float(bound[0]) for bound in density.mass(np.array([low]), np.array([high])))
        exact = oracle.mass(described, low, high)
        assert at_least <= exact * (1 + mp.mpf(10) ** -12) + 1e-14
        assert exact * (1 - mp.mpf(10) ** -12) - 1e-14 <= at_most <= at_least + 1e-11


@pytest.mark.parametrize(("count", "place"), [(3, 1e-3), (12, 0.02), (40, 0.1), (100, 0.2), (12, 1 - 2**-20)])
def test_tails_of_uniform_means_keep_their_digits(count, place):
    density, x = Bates(count, 0, 1), place
    with mp.workdps(60):
        exact = oracle.height(density.to_dict())(x)
        assert math.isclose(density.pdf(np.array([x]))[0], exact, rel_tol=1e-11)
        u = count * mp.mpf(min(x, 1 - x))
        tail = sum((-1) ** k * mp.binomial(count, k) * (u - k) ** count for k in range(count) if u > k)
        ends = (0.0, x) if x < 0.5 else (x, 1.0)
        least, most = (bound[0] for bound in density.mass(*(np.array([end]) for end in ends)))
        assert least <= tail / mp.factorial(count) <= most <= least * (1 + 1e-10)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_middle_of_uniform_means_lies_between_two_floats(count):
    """The float next to the middle is a sixth of the range away from it: halves are no bounds there."""
    step = 2.0**-22
    density = Bates(count, 2.0**30, 2.0**30 + 3 * step)
    described = density.to_dict()
    for first, last in itertools.combinations(range(4), 2):
        low, high = density.low + first * step, density.low + last * step
        least, most = (float(bound[0]) for bound in density.mass(np.array([low]), np.array([high])))
        lowest, highest = (float(bound[0]) for bound in density.bounds(np.array([low]), np.array([high])))
        with mp.workdps(60):
            assert least <= oracle.mass(described, mp.mpf(low), mp.mpf(high)) <= most
            for share in (0.001, 0.5, 0.999):
                assert lowest <= oracle.height(described)(mp.mpf(low) + share * (mp.mpf(high) - low)) <= highest


def test_a_half_without_the_other_density_counts_by_what_it_holds():
    """Two thirds of the first density lie below the second one, though its float middle is where that begins."""
    step = 2.0**-22
    first = Bates(1, 2.0**30, 2.0**30 + 3 * step)
    assert first.mean == first.low + 2 * step
    assert density_hockey_stick(first, Bates(1, first.mean, first.mean + 1), 20.0) >= 2 / 3 - 1e-9


def test_tails_of_normals_keep_their_digits():
    with mp.workdps(40):
        for z in (5, 20, 36):
            least, most = (float(b[0]) for b in Normal(1, 2).mass(np.array([1.0 + 2 * z]), np.array([math.inf])))
            exact = mp.erfc(z / mp.sqrt(2)) / 2
            assert least <= exact <= most <= least * (1 + 1e-10)


@pytest.mark.mutants
@given(oracle.densities, oracle.densities, st.floats(-0.5, 2))
@settings(max_examples=15)
def test_the_hockey_stick_against_quadrature(p, q, epsilon):
    computed, expected = density_hockey_stick(p, q, epsilon), oracle.hockey_stick(p, q, epsilon)
    assert expected - 1e-8 <= computed <= expected + 5e-3  # two forms of one distribution, at 0, are the loosest


@pytest.mark.mutants
def test_the_hockey_stick_is_tight_where_densities_cross():
    mixed = NormalMixture([0.25, 0.75], [-1, 1], [1, 0.5])
    for p, q in itertools.permutations([Normal(0, 1), mixed, Bates(5, -2, 3), Truncated(mixed, -1.5, 1)], 2):
        for epsilon in (0.0, 0.7):
            computed, expected = density_hockey_stick(p, q, epsilon), oracle.hockey_stick(p, q, epsilon)
            assert expected - 1e-9 <= computed <= expected + 1e-9


@pytest.mark.mutants
@given(oracle.densities, oracle.densities, st.sampled_from([0.3, 0.1, 0.02]))
@settings(max_examples=10)
def test_the_max_divergence_against_its_definition(p, q, eta):
    divergence = max_divergence(p, q, eta)
    below = oracle.max_divergence(p, q, eta)
    assert divergence >= min(below, 600) - 0.02  # the oracle's cells have a width
    if math.isfinite(divergence):
        assert density_hockey_stick(p, q, divergence) <= eta
        if divergence > math.log1p(-eta) + 1e-6:
            assert density_hockey_stick(p, q, divergence - 1e-6) > eta * (1 - 1e-9) or oracle.hockey_stick(
                p, q, divergence - 1e-4
            ) > eta - 1e-8  # fmt: skip
    else:
        assert oracle.hockey_stick(p, q, 40) > eta - 1e-8


@given(oracle.densities)
@settings(max_examples=15)
def test_a_distribution_is_at_no_distance_from_itself(density):
    assert max_divergence(density, density) == 0.0
    assert max_divergence(density, density, 0.25) <= math.log(0.75) + 1e-9
    assert density_hockey_stick(density, density, 0) == 0.0


def test_a_normal_shift_has_the_closed_form():
    for shift, sigma, epsilon in ((1, 2, 0.5), (1, 1, 1), (3, 2, 2), (1, 5, 0.01)):
        exact = gaussian_delta(shift, sigma, epsilon)
        delta = density_hockey_stick(Normal(0, sigma), Normal(shift, sigma), epsilon)
        assert exact - 1e-16 <= delta <= exact * (1 + 1e-8)


def test_unequal_variances_have_one_side_only():
    wide, narrow = Normal(0, 2), Normal(0, 1)
    assert round(density_hockey_stick(wide, narrow, 1), 4) == 0.1967
    assert density_hockey_stick(narrow, wide, 1) < 1e-250


@pytest.mark.mutants
def test_what_is_cut_away_is_what_eta_must_cover():
    whole, cut = Normal(0, 1), Truncated(Normal(0, 1), high=1.6448536269514722)
    assert math.isclose(max_divergence(cut, whole), -math.log(0.95), rel_tol=1e-12)
    assert max_divergence(whole, cut) == math.inf
    assert max_divergence(whole, cut, 0.0499) == math.inf
    assert distance_from(whole, cut, 0.0501) < 0.001
    assert math.isclose(charge_at(whole, cut, 0.0), 0.05, rel_tol=1e-9)


def test_the_pure_divergence_of_bounded_densities():
    low, high = Bates(1, 0, 1), Bates(1, 0, 4)
    assert math.isclose(max_divergence(low, high), math.log(4), rel_tol=1e-9)
    assert max_divergence(high, low) == math.inf
    triangle = Bates(2, 0, 4)
    assert math.isclose(max_divergence(triangle, high), math.log(2), rel_tol=1e-6)
    assert max_divergence(Normal(0, 1), Normal(1, 1)) == math.inf


@given(oracle.densities)
def test_a_density_reads_back_as_itself(density):
    assert from_dict(json.loads(json.dumps(density.to_dict()))) == density
    assert density.describe()


@pytest.mark.parametrize(("make", "key"), [
    (lambda: Normal(0, 0), "deviation"), (lambda: Normal(math.nan, 1), "mean"), (lambda: Normal("x", 1), "mean"),
    (lambda: NormalMixture([0.5, 0.4], [0, 1], [1, 1]), "weights"),
    (lambda: NormalMixture([1], [0, 1], [1]), "weights"),
    (lambda: NormalMixture([1.5, -0.5], [0, 1], [1, 1]), "weights"), (lambda: Bates(0, 0, 1), "count"),
    (lambda: Bates(2, 1, 1), "low"), (lambda: Bates(101, 0, 1), "count"),
    (lambda: Truncated(Normal(0, 1), 3, 2), "low"), (lambda: Truncated(Normal(0, 1), 40), "low"),
    (lambda: max_divergence(Normal(0, 1), Normal(0, 1), 1), "eta"), (lambda: from_dict({"kind": "cauchy"}), "kind"),
    (lambda: density_hockey_stick(Normal(0, 1), Normal(0, 1), 601), "epsilon"),
])  # fmt: skip
def test_what_is_refused(make, key):
    with pytest.raises(InputError) as refusal:
        make()
    assert key in refusal.value.where


def test_a_discrete_distribution_has_no_divergence_from_a_normal_one():
    with pytest.raises(InputError, match="single values"):
        max_divergence(Pmf([0, 1], [0.5, 0.5]), Normal(0, 1), 0.5)


@st.composite
def tables(draw: st.DrawFn) -> PiecewiseLinear:
    count = draw(st.integers(2, 6))
    steps = draw(st.lists(st.integers(1, 40), min_size=count, max_size=count))
    points = [sum(steps[: k + 1]) / 10 for k in range(count)]
    heights = draw(st.lists(st.integers(0, 9), min_size=count, max_size=count).filter(any))
    integral = sum((b - a) * (y + z) / 2 for a, b, y, z in zip(points, points[1:], heights, heights[1:], strict=False))
    return PiecewiseLinear(points, [height / integral for height in heights])


@given(tables(), st.floats(-1, 25), st.floats(0, 10))
def test_masses_and_bounds_hold_what_they_say(table, low, width):
    high = low + width
    least, most = (float(end[0]) for end in table.mass(np.array([low]), np.array([high])))
    with mp.workdps(30):
        exact = oracle.mass(table.to_dict(), mp.mpf(low), mp.mpf(high))
        assert least <= exact <= most
        assert most - least <= 1e-12
    lowest, highest = (float(end[0]) for end in table.bounds(np.array([low]), np.array([high])))
    for share in (0.001, 0.3, 0.7, 0.999):
        place = low + width * share
        if low < place < high:
            assert lowest <= oracle.height(table.to_dict())(place) <= highest


@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9, 1e-12])
def test_heights_where_a_line_falls_to_nothing_keep_their_digits(share):
    """Of a difference of two larger numbers only few digits would be left."""
    table = PiecewiseLinear([0.3, 1.7, 3.1], [0, 1 / 1.4, 0])
    exact = oracle.height(table.to_dict())
    with mp.workdps(60):
        for step in range(1, 40):
            high = 3.1 - 2.8 * share * step / 40
            low = high - 0.1 * share
            least, most = (float(bound[0]) for bound in table.bounds(np.array([low]), np.array([high])))
            assert least <= exact(mp.mpf(high)) <= exact(mp.mpf(low)) <= most


def test_a_ratio_is_largest_where_both_lines_fall_to_nothing():
    low, knot, high = 1.7088723822176035, 3.677493386553628, 3.6774933865540715
    p = PiecewiseLinear([low, knot, high], [1.0159395818669061, 2.9936359298764284e-10, 0])
    q = PiecewiseLinear([low, high], [1.0159395818669061, 1.494528460572969e-10])
    with mp.workdps(60):
        heights = [oracle.height(density.to_dict())(mp.mpf(knot)) for density in (p, q)]
        assert mp.log(heights[0] / heights[1]) <= max_divergence(p, q) <= 0.70


@pytest.mark.mutants
@given(tables())
def test_mean_and_deviation_are_the_integrals(table):
    height, points = oracle.height(table.to_dict()), list(table.points)
    mean = mp.quad(lambda x: x * height(x), points)
    square = mp.quad(lambda x: (x - mean) ** 2 * height(x), points)
    assert math.isclose(table.mean, mean, rel_tol=1e-9)
    assert math.isclose(table.deviation, mp.sqrt(square), rel_tol=1e-9)
    assert from_dict(table.to_dict()) == table


@given(tables(), tables(), st.sampled_from([0.1, 1.0]))
def test_divergences_are_those_of_quadrature(p, q, epsilon):
    assert density_hockey_stick(p, q, epsilon) == pytest.approx(oracle.hockey_stick(p, q, epsilon), abs=1e-8)


@pytest.mark.parametrize(("points", "heights", "key", "words"), [
    ([0, 1], [1.0000011, 1.0000011], "heights", "integrates to 1.0000011"), ([0, 1], [2, -1], "heights", "below 0"),
    ([0, 1], [math.nan, 1], "heights", "finite"), ([0, math.inf], [1, 1], "points", "finite"),
    ([1, 1], [1, 1], "points", "points rise"), ([0], [1], "points", "two or more"),
    ([0, 1, 2], [1, 1], "points", "one height"), ([0, 1], [0, 0], "heights", "integrates to 0"),
])  # fmt: skip
def test_what_is_no_density_is_refused(points, heights, key, words):
    with pytest.raises(InputError, match=words) as refusal:
        PiecewiseLinear(points, heights)
    assert refusal.value.where == (key,)


def test_a_little_is_scaled():
    table = PiecewiseLinear([0, 1], [1.0000009, 1.0000009])
    assert table.mass(np.array([0.0]), np.array([1.0]))[1][0] == 1.0


def quantile(density, level):
    """Return the quantile by halving a wide interval, to 1e-19."""
    below, low, high = oracle.distribution(density), mp.mpf(-60), mp.mpf(60)
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < level else (low, middle)
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
    "other weights": (NormalMixture([0.5, 0.5], [0, 1], [1, 3]), NormalMixture([0.9, 0.1], [0, 1], [1, 3])),
    "far apart": (NormalMixture([0.5, 0.5], [0, 10], [0.5, 0.5]), NormalMixture([0.4, 0.6], [0, 10], [0.5, 0.5])),
    "parts that move": (NormalMixture([0.5, 0.5], [0, 5], [1, 2]), NormalMixture([0.2, 0.8], [0, 6], [1.5, 2])),
    "two uniforms": (Bates(1, 0, 1), Bates(1, 0.5, 3)),
    "uniform sums": (Bates(3, 0, 1), Bates(2, 0, 2)),
    "cut on both sides": (Truncated(Normal(0, 1), -1, 2), Truncated(Normal(0, 2), -1, 2)),
    "cut on one side": (Truncated(Normal(0, 1), 0), Truncated(Normal(0, 1), 0.5)),
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
    (Normal(0, 2), Normal(-3, 2), 3.0),
    (Normal(0.1, 2), Normal(0.3, 2), math.nextafter(0.2, 0)),
    (NormalMixture([0.25, 0.75], [0, 1], [1, 2]), NormalMixture([0.25, 0.75], [2, 3], [1, 2]), 2.0),
    (Bates(4, 0, 1), Bates(4, 5, 6), 5.0), (Truncated(Normal(0, 1), 0), Truncated(Normal(0, 1), 0), 0.0),
])  # fmt: skip
def test_what_is_only_moved_moves_by_just_that(p, q, exact):
    assert farthest_move(p, q) == pytest.approx(exact, rel=1e-15)


@pytest.mark.mutants
def test_a_tail_counts_beyond_all_cells():
    """Both fall like N(m, 2), so that the difference tends to that of the means: nothing in the middle exceeds it."""
    p, q = NormalMixture([0.5, 0.5], [0, 4], [1, 2]), NormalMixture([0.5, 0.5], [0, 5], [1, 2])
    assert 1 <= farthest_move(p, q) <= largest_difference(p, q, 16) * 1.02


@pytest.mark.parametrize(("p", "q", "reason"), [
    (Normal(0, 1), Normal(1, 2), "deviations 1 and 2"),
    (Normal(0, 1), Truncated(Normal(0, 1), 0), "one has an end"),
    (NormalMixture([0.5, 0.5], [0, 1], [1, 2]), Normal(0, 1), "deviations 2 and 1"),
    (Truncated(Normal(0, 1), 0), Truncated(Normal(0, 2), 0), "deviations 1 and 2"),
])  # fmt: skip
def test_where_it_is_infinite_it_says_why(p, q, reason):
    with pytest.raises(Unsupported, match=reason):
        farthest_move(p, q)
