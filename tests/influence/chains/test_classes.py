"""Losses over classes of chains against linear programs over the chains inside them, quilts and group-dp."""

from fractions import Fraction
from itertools import permutations, product

import mpmath
import numpy as np
import pytest
from tests.support import influence_oracle as oracle
from tests.support.chain_oracles import as_mpf
from tests.support.class_oracles import matrix_in_box, random_box
from tests.support.sweep_oracles import DIGITS, by_tanh, times

import takifugu as tf
from takifugu.core.errors import Unsupported
from takifugu.influence.chains import class_chains
from takifugu.influence.chains.class_chains import (
    RowsOfRegion,
    class_loss,
    class_sweep,
    jumps,
    sides_of_class,
    sides_of_region,
)
from takifugu.influence.profiles.profile import Profile
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import UNIT


def lost(belief, tables):
    return class_loss(belief, Profile.by_entry(tables), Family(range(len(tables)))).epsilon


def worst_of(start, steps, tables):
    """The loss of the worst mechanism with a profile, by a linear program for each secret."""
    law = oracle.chain_law(start, steps)
    return max(float(oracle.worst_pairs(law, tables, entry).max()) for entry in range(len(tables)))


def random_start(rng, states):
    """Any law, mostly one that is nearly certain."""
    start = rng.dirichlet(np.full(states, rng.choice([0.01, 0.1, 1.0])))
    return (start + 1e-6) / (start + 1e-6).sum()


def corner_in_box(rng, lower, upper):
    """A matrix whose rows are extreme points: all but one entry at an end of its interval."""
    rows = []
    for low, high in zip(lower, upper, strict=True):
        row, left = low.copy(), 1 - low.sum()
        for place in rng.permutation(len(row)):
            added = min(left, high[place] - low[place])
            row[place], left = row[place] + added, left - added
        rows.append(row)
    return np.array(rows)


@pytest.mark.sampled(29)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("states", "length"), [(2, 5), (3, 3)])
def test_no_chain_of_a_region_loses_more(states, length, seed):
    rng = np.random.default_rng(100 * states + seed)
    lower, upper = random_box(rng, states, float(rng.choice([0.02, 0.2, 0.5])), zeros=seed % 4 == 0)
    region = tf.IntervalMarkovChain(lower, upper, length)
    tables = oracle.random_tables(rng, states, length, 0.2)
    bound = lost(region, tables)
    for _ in range(4):
        draw = corner_in_box if rng.random() < 0.6 else matrix_in_box
        steps = [draw(rng, region.lower, region.upper) for _ in range(length - 1)]  # each step has its own matrix
        steps = steps if rng.random() < 0.5 else [steps[0]] * (length - 1)
        assert worst_of(random_start(rng, states), steps, tables) <= bound * (1 + 1e-7) + 1e-9


@pytest.mark.mutants
@pytest.mark.parametrize("seed", range(6))
def test_all_extreme_matrices_of_a_binary_region_and_all_starts_lose_no_more(seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0.05, 0.6, 2)
    high = np.minimum(low + rng.uniform(0, 0.35, 2), 0.95)
    lower = [[low[0], 1 - high[0]], [1 - high[1], low[1]]]
    region = tf.IntervalMarkovChain(lower, [[high[0], 1 - low[0]], [1 - low[1], high[1]]], 4)
    tables = oracle.random_tables(rng, 2, 4, 0.2)
    bound, worst = lost(region, tables), 0.0
    for stays in product(*zip(low, high, strict=True)):
        matrix = np.array([[stays[0], 1 - stays[0]], [1 - stays[1], stays[1]]])
        for p in (1e-4, 0.03, 0.3, 0.7, 0.97, 1 - 1e-4):
            worst = max(worst, worst_of(np.array([p, 1 - p]), [matrix] * 3, tables))
    assert worst <= bound * (1 + 1e-7)
    assert bound <= 1.6 * worst


def reversible(rng, states):
    """A random reversible chain, its stationary law and its eigengap."""
    flows = rng.exponential(size=(states, states)) ** 2 + rng.choice([0.0, 3.0]) * np.eye(states)
    flows = flows + flows.T
    mass = flows.sum(axis=1)
    moduli = np.sort(np.abs(np.linalg.eigvals(flows / mass[:, None])))
    return flows / mass[:, None], mass / mass.sum(), 1 - float(moduli[-2])


@pytest.mark.sampled(23)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("states", "length"), [(2, 5), (3, 3)])
def test_no_reversible_chain_with_the_constants_loses_more(states, length, seed):
    rng = np.random.default_rng(100 * states + seed)
    tables = oracle.random_tables(rng, states, length, 0.2)
    for _ in range(4):
        matrix, law, g = reversible(rng, states)
        chains = tf.ReversibleChains(law.min() * (1 - 1e-9), g * (1 - 1e-9), length, states=range(states))
        bound = lost(chains, tables)
        assert worst_of(random_start(rng, states), [matrix] * (length - 1), tables) <= bound * (1 + 1e-7) + 1e-9


@pytest.mark.parametrize("distance", [1, 2, 5])
def test_rows_of_reversible_chains_deviate_by_no_more_than_their_constants_allow(distance):
    rng = np.random.default_rng(distance)
    for _ in range(200):
        matrix, law, g = reversible(rng, int(rng.integers(2, 6)))
        deviation = np.abs(np.linalg.matrix_power(matrix, distance) / law - 1).max()
        assert deviation <= (1 - g) ** distance * (1 / law.min() - 1) * (1 + 1e-9) + 1e-13


CLASSES = [
    tf.ReversibleChains(0.1, 0.2, 60),
    tf.ReversibleChains(0.3, 0.6, 60, states=range(3)),
    tf.IntervalMarkovChain([[0.1, 0.1], [0.1, 0.1]], [[0.9, 0.9], [0.9, 0.9]], 60),
    tf.IntervalMarkovChain([[0.0, 0.1], [0.1, 0.1]], [[0.9, 1.0], [0.9, 0.9]], 60),
    tf.IntervalMarkovChain(
        [[0.6, 0.1, 0.1], [0.1, 0.5, 0.1], [0.0, 0.3, 0.5]], [[0.8, 0.3, 0.3], [0.4, 0.8, 0.2], [0.1, 0.5, 0.7]], 60
    ),
]


@pytest.mark.sampled(17)
@pytest.mark.parametrize("belief", CLASSES, ids=lambda belief: belief.describe()[:60])
@pytest.mark.parametrize("query", [tf.Count(1), tf.Histogram(), tf.Count(0, entries=(0, 30, 59))])
def test_a_class_needs_no_more_than_quilts_or_group(belief, query):
    """No quilts of a region are printed."""
    framework = tf.Pufferfish(tf.every_entry(), belief)
    for epsilon in (0.5, 3):
        intervals = isinstance(belief, tf.IntervalMarkovChain)
        names = ("influence", "group-dp") if intervals else ("influence", "quilt-approx", "group-dp")
        needed = {name: tf.calibrate(framework, query, epsilon, mechanism=name).scale for name in names}
        assert needed["influence"] <= min(needed.values()) * (1 + Fraction(1, 10**9))
        if query == tf.Count(1):
            assert needed["influence"] < 0.95 * min(scale for name, scale in needed.items() if name != "influence")


@pytest.mark.mutants
def test_a_region_of_all_stays_loses_what_the_interval_does():
    everything = tf.IntervalMarkovChain([[0.1, 0.1], [0.1, 0.1]], [[0.9, 0.9], [0.9, 0.9]], 100)
    for belief in (everything, tf.BinaryChains(0.1, 100)):
        scale = tf.calibrate(tf.Pufferfish(tf.every_entry(), belief), tf.Count(1), 1, mechanism="influence").scale
        assert float(scale) == pytest.approx(8.7779, abs=1e-4)


@pytest.mark.mutants
@pytest.mark.parametrize("belief", CLASSES, ids=lambda belief: belief.describe()[:60])
def test_a_long_stretch_is_bounded_by_what_it_settles_at(belief):
    table = 0.05 * (1 - np.eye(len(belief.states)))
    long = belief.with_length(900)
    in_one = class_loss(long, Profile.of(table, 900), Family(range(900))).epsilon
    by_step = class_loss(long, Profile.by_entry([table] * 900), Family(range(900))).epsilon
    for_ever = class_loss(belief.with_length(10**9), Profile.of(table, 10**9), Family(range(10**9))).epsilon
    assert by_step * (1 - 1e-12) <= in_one <= by_step * (1 + 1e-8)
    assert for_ever >= in_one * (1 - 1e-12)


def test_losses_that_rise_for_ever_are_given_up(monkeypatch):
    may_stay = tf.IntervalMarkovChain([[0.5, 0.0], [0.0, 0.5]], [[1.0, 0.5], [0.5, 1.0]], 10**9)
    monkeypatch.setattr(class_chains, "MOST_RISING", 64)
    with pytest.raises(Unsupported, match="still rise after 64 steps"):
        class_loss(may_stay, Profile.of(1 - np.eye(2), 10**9), Family(range(10**9)))


@pytest.mark.parametrize("seed", range(8))
def test_a_further_release_never_makes_a_set_cheaper(seed):
    rng = np.random.default_rng(seed)
    belief = CLASSES[seed % len(CLASSES)].with_length(9)
    tables = oracle.random_tables(rng, len(belief.states), 9, 0.2)
    more = [table.copy() for table in tables]
    more[int(rng.integers(9))] += 0.3 * (1 - np.eye(len(belief.states)))
    assert lost(belief, more) >= lost(belief, tables) * (1 - 1e-12)


def test_jumps_see_through_zeros_and_over_gaps():
    zeros = tf.IntervalMarkovChain([[0.0, 0.98], [0.7, 0.26]], [[0.02, 1.0], [0.74, 0.3]], 40)
    count = np.array([[0, 1.0], [1.0, 0]])
    ahead, _ = sides_of_region(zeros)
    steps = RowsOfRegion(ahead.distances[:1], ahead.most[:1], ahead.tanh[:1], ahead.odds[:1], ahead.spread[:1])
    by_steps, by_jumps = (class_sweep(side, Profile.of(count, 40))[0].explicit[-1].max() for side in (steps, ahead))
    assert by_jumps < 0.1 * by_steps
    near = [count] * 3 + [0 * count] * 30 + [count] * 3
    assert lost(zeros.with_length(36), near) < lost(zeros.with_length(6), [count] * 6)


def test_jumps_are_dense_near_and_sparse_far():
    tried = jumps(4096)
    assert tried[:16].tolist() == list(range(1, 17))
    assert (tried[1:] <= tried[:-1] * 1.1 + 1).all()
    assert jumps(1).tolist() == [1]
    assert len(sides_of_class(tf.ReversibleChains(0.5, 1.0, 9))[0].distances) == len(tried)


class Halving:
    """A side that leaves a known share of the largest size, by the distance."""

    states = 2

    def __init__(self, distances, shares):
        self.distances, self.shares = np.array(distances), np.array(shares)

    def after(self, sizes):
        return np.nextafter(self.shares[: len(sizes)] * sizes, np.inf)[:, None, None] * (1 - np.eye(2))


def followed(side, moved):
    """The recursion by sizes, position by position: the least over the jumps, never above the sum of all."""
    losses = [Fraction(0)]
    for position in range(1, len(moved)):
        bounds = [sum(moved[:position])] + [
            Fraction(share) * (moved[position - d] + losses[position - d]) + sum(moved[position - d + 1 : position])
            for d, share in zip(side.distances.tolist(), side.shares.tolist(), strict=True) if d <= position
        ]  # fmt: skip
        losses.append(min(bounds))
    return losses


@pytest.mark.mutants
@pytest.mark.parametrize("side", [
    Halving([1], [0.5]), Halving([1, 2, 3], [0.875, 0.5, 2**-7]), Halving([1, 4, 16], [1.0, 1.0, 0.0]),
    Halving([1, 2, 7], [1 - 2**-7, 1 - 2**-6, 0.25]),
])  # fmt: skip
@pytest.mark.parametrize("seed", range(4))
def test_a_sweep_is_the_recursion_by_sizes_at_every_position(side, seed):
    """Runs of all lengths, gaps, runs that are cut short and what comes after them."""
    random = np.random.default_rng(seed)
    lengths = random.permutation([1, 2, 5, 9, 33, 70, 1, 260])
    rates = random.permutation([0.0, 0.0, 0.01, 0.1, 0.2, 1.0, 3.0, 0.7])
    tables = tuple(rate * (1 - np.eye(2)) for rate in rates)
    exact = followed(side, [Fraction(rate) for rate in np.repeat(rates, lengths).tolist()])
    is_short = False
    for track in class_sweep(side, Profile(tables, lengths, np.arange(8))):
        is_short = is_short or len(track.repeated) > 0
        for position in range(track.start, track.stop):
            loss = track.at(position)[0, 1]
            assert exact[position] <= Fraction(loss)
            assert loss <= float(exact[position]) * (1 + 1e-9) + 1e-9 or position >= track.settled or is_short
            assert loss <= 1.1 * float(max(exact[: track.stop])) + 1e-9
    assert is_short


def scalar_supremum(p, q, size):
    """log sup p.phi/q.phi over phi in [m, e^size m]: phi has two values, and the best set is one of them all."""
    with mpmath.workdps(DIGITS):
        rise = mpmath.expm1(size)
        sets = [[a for a in range(len(p)) if chosen >> a & 1] for chosen in range(2 ** len(p))]
        return max(
            mpmath.log1p(rise * sum(p[a] for a in one)) - mpmath.log1p(rise * sum(q[a] for a in one)) for one in sets
        )


@pytest.mark.parametrize("states", [2, 3])
def test_a_region_of_one_matrix_is_never_below_its_suprema_in_any_digit(states):
    random = np.random.default_rng(states)
    above = []
    for _ in range(6):
        counts = random.multinomial(256 - states, random.dirichlet(np.ones(states)), size=states) + 1
        exact = [[Fraction(int(n), 256) for n in row] for row in counts]
        ahead, behind = sides_of_region(tf.IntervalMarkovChain(counts / 256, counts / 256, 50))
        power = exact
        for place, size in enumerate((0.01, 0.5, 3.0, 30.0)):
            losses = ahead.after(np.full(4, size))[place]
            for a, b in permutations(range(states), 2):
                true = scalar_supremum([as_mpf(x) for x in power[a]], [as_mpf(x) for x in power[b]], size)
                assert true <= losses[a, b] <= size
                above.append(float(losses[a, b] / true))
                lemma = by_tanh(mpmath.tanh(_height(power, a, b) / 4), size, 4)
                assert lemma <= behind.after(np.full(4, size))[place][a, b] <= min(size, lemma * (1 + 1e-4) + 1e-9)
            power = times(power, exact)
    assert np.median(above) < (1 + 1e-9 if states == 2 else 1.2)


def test_the_bounds_of_a_region_are_never_below_their_formulas_in_any_digit():
    """The least of three: whatever follows, Birkhoff's contraction, and Lemma 1 for the products looked at by row."""
    random = np.random.default_rng(9)
    for _ in range(8):
        tables = [random.choice([1e-3, 0.1, 1.0]) * random.random((3, 2, 2)) for _ in range(3)]
        most, odds, apart = 6 * tables[0] * random.choice([1.0, 100.0]), tables[1] * 3, tables[2]
        apart[0] *= random.random() < 0.7
        tanh = random.random(3) * random.choice([0.1, 1.0])
        side = RowsOfRegion(np.array([1, 2, 3]), most, tanh, odds[:2], apart[:2])
        for size in (1e-6, 0.4, 3.0, 40.0, 800.0):
            losses = side.after(np.full(3, size))
            for place, (a, b) in product(range(3), ((0, 1), (1, 0))):
                with mpmath.workdps(DIGITS):
                    true = min(as_mpf(most[place, a, b]), by_tanh(tanh[place], size, 4), mpmath.mpf(size))
                    if place < 2:
                        rise = mpmath.expm1(size) * as_mpf(apart[place, a, b])
                        true = min(true, mpmath.log1p(rise / (1 + rise * as_mpf(odds[place, a, b]))))
                    assert true <= losses[place, a, b] <= true * (1 + 100 * UNIT) + 100 * UNIT * (size > 30)


def _height(rows, a, b):
    shares = [row[a] / row[b] for row in rows]
    with mpmath.workdps(DIGITS):
        return mpmath.log(as_mpf(max(shares) / min(shares)))


def test_what_reversible_chains_leave_is_never_below_its_formula_in_any_digit():
    random = np.random.default_rng(1)
    drawn = zip(random.uniform(1e-3, 0.5, 6), random.random(6), strict=True)
    for pi, g in [(0.5, 0.5), (0.25, 1.0), (0.01, 0.01), *drawn]:
        for side, parts in zip(sides_of_class(tf.ReversibleChains(float(pi), float(g), 9)), (2, 4), strict=True):
            for size in (1e-6, 0.3, 2.0, 40.0):
                losses = side.after(np.full(30, size))
                for place in (0, 1, 2, 10, 29):
                    distance = int(side.distances[place])
                    with mpmath.workdps(DIGITS):
                        deviation = min((1 - mpmath.mpf(g)) ** distance * (1 / mpmath.mpf(pi) - 1), mpmath.mpf(1))
                        true = by_tanh(deviation, size, parts)
                        assert true * (1 - mpmath.mpf(10) ** -30) <= losses[place][0, 1]
                        assert losses[place][0, 1] <= min(size, true * (1 + 1e-11))
                    assert not losses[place].diagonal().any()
