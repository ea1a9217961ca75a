"""The supremum over a cone of likelihoods: all rays, certified programs, linear programs, and what is no bound."""

import sys

import numpy as np
import pytest
from tests.support import influence_oracle as oracle
from tests.support.cones import over_rays
from tests.support.influence_oracle import lp_supremum

import takifugu as tf
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.rays import extreme_rays
from takifugu.influence.profiles.suprema import star_suprema, suprema
from takifugu.numbers.outward_rounding import closed

P, Q = [0.4, 0.1, 0.4, 0.1], [0.1, 0.4, 0.1, 0.4]
RHO = np.array([[0, 1.0, 1.1, 0.9], [0.9, 0, 1.0, 1.05], [1.1, 0.95, 0, 1.0], [0.9, 1.0, 1.1, 0]])


def random_case(rng, states):
    rows = rng.dirichlet(np.full(states, rng.choice([0.1, 0.5, 2.0])), size=states)
    if rng.random() < 0.3:
        rows[rows < 0.05] = 0.0
        rows /= rows.sum(axis=1, keepdims=True)
    ratio = rng.uniform(0, rng.choice([0.3, 2.0, 6.0]), (states, states))
    np.fill_diagonal(ratio, 0.0)
    return rows, closed(ratio)


def test_four_states_have_rays_that_stars_do_not():
    assert suprema(np.array([P, Q]), RHO)[0, 1] == pytest.approx(0.53114514867233964, rel=1e-12)
    stars = np.hstack([np.exp(closed(RHO)), np.exp(-closed(RHO).T)])
    simple = np.log((np.array(P) @ stars) / (np.array(Q) @ stars)).max()
    assert simple == pytest.approx(0.33552145314041268, rel=1e-12)


def test_the_example_has_nineteen_rays():
    rays = extreme_rays(closed(RHO))
    assert len(np.unique(rays.round(12), axis=1).T) == 19


@pytest.mark.parametrize("states", [2, 3, 4, 5, 6])
def test_rays_and_programs_agree(states):
    rng = np.random.default_rng(states)
    for _ in range(40):
        rows, ratio = random_case(rng, states)
        by_rays = np.clip(over_rays(rows, ratio), 0, ratio.max())
        by_programs = np.clip(Programs().bound(rows, ratio), 0, ratio.max())
        np.fill_diagonal(by_rays, 0)
        assert (by_programs >= by_rays - 1e-13).all()
        assert (by_programs <= by_rays + 1e-6).all()


@pytest.mark.sampled(9)
@pytest.mark.parametrize("states", [2, 3, 4, 7, 9])
def test_bounds_are_the_supremum_of_the_linear_program(states):
    rng = np.random.default_rng(10 + states)
    for _ in range(8):
        rows, ratio = random_case(rng, states)
        bounds = suprema(rows, ratio)
        for a, b in [(0, 1), (1, 0), (states - 1, 0)]:
            exact = lp_supremum(rows[a], rows[b], ratio)
            assert exact - 1e-6 <= bounds[a, b] <= max(exact, 0) + 1e-6


def test_one_pair_for_all_is_sound_and_loose():
    rng = np.random.default_rng(5)
    for _ in range(30):
        rows, ratio = random_case(rng, 4)
        levels = Levels(rows).bound(float(ratio.max()))
        assert (levels >= over_rays(rows, ratio) - 1e-13).all()
    rows = np.array([[0.33, 0.33, 0.33, 0.01], [0.33, 0.33, 0.33, 0.01], [0.25] * 4, [0.4, 0.2, 0.2, 0.2]])
    ratio = 0.1 * (1 - np.eye(4))
    ratio[:3, 3] = 3.0
    assert Levels(rows).bound(3.0)[3, 0] > 2 * suprema(rows, ratio)[3, 0]


@pytest.mark.parametrize("most", [0.0, 0.1, 0.3])
def test_two_levels_that_remember_the_last_prefixes_bound_as_those_that_do_not(most, monkeypatch):
    """Rising, falling and distant sizes, with impossible values and equal rows; with sums held, and made row by row."""
    rng = np.random.default_rng(12)
    for states in (2, 5, 13):
        rows = rng.dirichlet(np.full(states, 0.5), size=states)
        rows[rows < most * rows.max()] = 0.0
        rows[-1] = rows[0]
        rows /= rows.sum(axis=1, keepdims=True)
        remembering = Levels(rows)
        for size in (0.01, 0.5, 0.51, 0.52, 1.0, 5.0, 40.0, 4.0, 3.9, 250.0, 1e-6, 0.5):
            bound = remembering.bound(size)
            prefixes = np.exp(size * np.triu(np.ones((states, states))))
            for a in range(states):
                for b in range(states):
                    with np.errstate(divide="ignore", invalid="ignore"):
                        order = np.argsort(np.nan_to_num(-rows[a] / rows[b], nan=2.0, neginf=-1e300), kind="stable")
                    best = np.log((rows[a][order] @ prefixes / (rows[b][order] @ prefixes)).max())
                    assert best <= bound[a, b] <= best + 1e-12 * max(size, 1)
            with monkeypatch.context() as patch:
                patch.setattr("takifugu.influence.profiles.levels.MOST_HELD", 0)
                assert (Levels(rows).bound(size) == bound).all()


@pytest.mark.mutants
@pytest.mark.parametrize("states", [5, 40, pytest.param(130, marks=pytest.mark.mutants)])
def test_remembered_prefixes_say_bit_by_bit_what_sorting_anew_says(states, monkeypatch):
    """Nothing held: only pairs whose prefix changed are sorted again, some at a time."""
    monkeypatch.setattr("takifugu.influence.profiles.levels.MOST_HELD", 0)
    monkeypatch.setattr("takifugu.influence.profiles.levels.AT_ONCE", 7 * states)
    rng = np.random.default_rng(states)
    rows = rng.dirichlet(np.full(states, 0.5), size=states) / 2 + np.eye(states) / 2
    rows[1], rows[0, rows[0] < 0.01] = rows[2], 0.0
    remembering = Levels(rows)
    for size in (0.5, 0.6, 0.3) if states > 100 else (0.01, 0.5, 0.6, 0.61, 0.611, 40.0, 0.3):
        assert remembering.bound(size).tobytes() == Levels(rows).bound(size).tobytes()


def test_levels_sort_again_only_pairs_that_changed(monkeypatch):
    sorted_pairs = []
    right = Levels._prefixes
    monkeypatch.setattr("takifugu.influence.profiles.levels.MOST_HELD", 0)
    monkeypatch.setattr(Levels, "_prefixes", lambda self, pairs: sorted_pairs.append(len(pairs)) or right(self, pairs))
    rng = np.random.default_rng(1)
    remembering = Levels(rng.dirichlet(np.ones(60), size=60) / 2 + np.eye(60) / 2)
    remembering.bound(1.0)
    assert sum(sorted_pairs) == 3600
    sorted_pairs.clear()
    for size in (1.0, 1.001, 1.0011):
        remembering.bound(size)
    assert sum(sorted_pairs) < 360


@pytest.mark.mutants
def test_any_flow_bounds_the_supremum(monkeypatch):
    monkeypatch.setattr("takifugu.influence.profiles.certified.PIVOTS", 0)
    monkeypatch.setattr("takifugu.influence.profiles.sparse.PIVOTS", 0)
    rng = np.random.default_rng(8)
    for _ in range(40):
        rows, ratio = random_case(rng, 5)
        proved = Programs().bound(rows, ratio)
        off = ~np.eye(5, dtype=bool)
        assert (proved[off] >= over_rays(rows, ratio)[off] - 1e-13).all()


def test_errors_of_the_ratios_only_add():
    rng = np.random.default_rng(3)
    for _ in range(20):
        rows, ratio = random_case(rng, int(rng.integers(2, 6)))
        wider = ratio + 0.01 * (1 - np.eye(len(ratio)))
        assert (suprema(rows, wider) <= suprema(rows, ratio) + 0.01 + 1e-12).all()
        assert (suprema(rows, wider) >= suprema(rows, ratio) - 1e-12).all()


def test_equal_rows_and_impossible_values():
    assert suprema(np.full((3, 3), 1 / 3), 5 * (1 - np.eye(3))).max() < 1e-13
    certain = np.eye(3)
    assert suprema(certain, 2 * (1 - np.eye(3))).max() == pytest.approx(2, rel=1e-12)
    assert suprema(certain, 900 * (1 - np.eye(3))).max() == 900


def test_a_power_too_large_for_a_float_still_leaves_the_largest_ratio_of_masses():
    rows = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.0, 0.5, 0.5]])
    bound = suprema(rows, 1000.0 * (1 - np.eye(3)))
    assert np.log(5) <= bound[0, 1] == pytest.approx(np.log(5), rel=1e-12)
    assert bound[2, 0] == pytest.approx(np.log(2.5), rel=1e-12)
    assert bound[0, 2] == 1000.0


@pytest.mark.parametrize("states", [3, 5, 8])
def test_the_stars_are_below_the_supremum_and_unwanted_pairs_change_no_other(states):
    random = np.random.default_rng(states)
    for _ in range(20):
        rows = random.dirichlet(np.ones(states), size=states)
        ratio = closed(random.uniform(0.1, 3, (states, states)) * (1 - np.eye(states)))
        best = suprema(rows, ratio)
        assert (star_suprema(rows, ratio) <= best * (1 + 1e-12) + 1e-14).all()
        wanted = random.random((states, states)) < 0.3
        some = suprema(rows, ratio, programs=Programs(), needed=wanted)
        assert np.allclose(some[wanted], best[wanted], rtol=1e-9)
        assert (some >= best * (1 - 1e-9)).all()


def test_three_states_have_no_rays_but_stars():
    random = np.random.default_rng(3)
    rows = random.dirichlet(np.ones(3), size=3)
    ratio = closed(random.uniform(0.1, 3, (3, 3)) * (1 - np.eye(3)))
    assert np.allclose(star_suprema(rows, ratio), suprema(rows, ratio), rtol=1e-9)


STAY = np.array([[0.9, 0.1], [0.4, 0.6]])


def exact_loss(law, scale):
    """The largest loss of any entry from one noisy count of ones."""
    release = oracle.count(law.shape, [1], scale)
    return max(float(oracle.joint_losses(law, [release], entry).max()) for entry in range(law.ndim))


def cases():
    """A belief, and its joint law by enumeration."""
    chain = tf.MarkovChain(STAY, 6)
    yield "chain", chain, oracle.chain_law(chain.marginal(0), [STAY] * 5)
    start, table = [0.7, 0.3], [[0.8, 0.2], [0.4, 0.6]]
    above = [None, 0, 1, 2, 3, 3]
    nodes = [("n0", [0, 1], [], start), *((f"n{i}", [0, 1], [f"n{above[i]}"], table) for i in range(1, 6))]
    law = oracle.network_law([((), start) if p is None else ((p,), table) for p in above])
    yield "tree", tf.BayesianNetwork(nodes), law
    number = [0.5, 0.1, 0.1, 0.1, 0.2]
    yield "household", tf.CliqueInfection([list("abcd")], {4: number}), oracle.exchangeable_law(number)
    region = tf.IntervalMarkovChain(STAY, STAY, 6)
    yield "region of one chain", region, oracle.chain_law(np.array([0.02, 0.98]), [STAY] * 5)


@pytest.mark.parametrize(("belief", "law"), [case[1:] for case in cases()], ids=[case[0] for case in cases()])
@pytest.mark.parametrize("epsilon", [0.7, 2])
def test_the_scale_keeps_epsilon_and_half_of_it_does_not(belief, law, epsilon):
    framework = tf.Pufferfish(tf.every_entry(), belief)
    scale = float(tf.calibrate(framework, tf.Count(1), epsilon, mechanism="influence").scale)
    assert exact_loss(law, scale) <= epsilon * (1 + 1e-9)
    assert exact_loss(law, scale / 2) > epsilon * 1.1


@pytest.mark.parametrize("states", [2, 3, 4])
def test_each_ray_is_the_supremum_of_some_rows(states):
    """So that one too few is below it."""
    rng = np.random.default_rng(states)
    ratio = closed(rng.uniform(0.5, 1, (states, states)))
    rays = extreme_rays(ratio)
    different = np.unique(np.round(rays / rays.max(axis=0), 9), axis=1)
    best = set()
    for _ in range(400 * states):
        p, q = rng.dirichlet(np.full(states, 0.3), size=2)
        values = (p @ different) / (q @ different)
        best.add(int(values.argmax()))
    assert len(best) == different.shape[1]


def test_one_number_for_all_pairs_can_be_more_than_twelve_times_too_much():
    rows = np.array([[0.4, 0.1, 0.5], [0.1, 0.4, 0.5]])
    ratio = np.array([[0, 0.1, 3], [0.1, 0, 3], [3, 3, 0]])
    exact, scalar = suprema(rows, ratio)[0, 1], Levels(rows).bound(3.0)[0, 1]
    assert exact == pytest.approx(oracle.lp_supremum(*rows, ratio), rel=1e-6)
    assert scalar > 12 * exact


@pytest.mark.parametrize("states", [3, 4, 5, 6])
def test_rays_may_be_off_by_the_rounding_of_their_paths(states, monkeypatch) -> None:
    """Each is a sum along a tree, of fewer additions than states, whose partial sums may be above the largest ratio."""
    module = sys.modules[suprema.__module__]
    ratio = closed(np.random.default_rng(states).uniform(100.0, 200.0, (states, states)))
    rows = np.full((2, states), 1e-100)
    rows[0, 0] = rows[1, 1] = 1.0  # the supremum is that of two values of a ray
    rounding = ((states - 2) * (states // 2) + 1) * 2.0**-53 * ratio.max()
    rows_off = np.where(rows[0] > rows[1], 1 - rounding, 1 + rounding)
    right, exact = suprema(rows, ratio)[0, 1], over_rays(rows, ratio, is_raised=False)[0, 1]
    module._cones.cache_clear()
    monkeypatch.setattr(module, "extreme_rays", lambda cones: extreme_rays(cones) * rows_off[:, None])
    off = suprema(rows, ratio)[0, 1]
    module._cones.cache_clear()
    assert exact < off < right < exact + 1e-11


def test_a_cone_is_listed_once_for_all_rows(monkeypatch) -> None:
    """Every jump to a position asks for the same cone; what is kept is what a new listing would be."""
    module, chance, listed = sys.modules[suprema.__module__], np.random.default_rng(3), list[int]()

    def counted(ratio: np.ndarray) -> np.ndarray:
        listed.append(len(ratio))
        return extreme_rays(ratio)

    monkeypatch.setattr(module, "extreme_rays", counted)
    for states in (2, 3, 4):
        ratio, listed[:] = chance.uniform(0, 2, (states, states)), []
        for _ in range(5):
            rows = chance.dirichlet([1.0] * states, 4)
            bound = np.clip(over_rays(rows, closed(ratio)), 0, closed(ratio).max())
            np.fill_diagonal(bound, 0)
            assert (suprema(rows, ratio) == bound).all()
        assert listed == [states]


def test_whole_ratios_are_read_as_numbers() -> None:
    rows = np.array([P, Q])
    whole = np.array([[0, 1, 2, 3], [1, 0, 3, 1], [2, 1, 0, 2], [1, 1, 2, 0]])
    assert (suprema(rows, whole) == suprema(rows, whole.astype(float))).all()
    assert (suprema(rows, whole.T) == suprema(rows, np.ascontiguousarray(whole.T).astype(float))).all()
