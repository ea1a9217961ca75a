"""Chains of any start (Theorem 12): against listing, linear programs and quilts, and without its guards."""

from fractions import Fraction

import numpy as np
import pytest
from tests.support import influence_oracle as oracle
from tests.support.any_start_oracles import extreme_rays, laplace_loss, loss_about, quilt_cost, worst_loss
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.influence.chains import any_start
from takifugu.influence.chains.any_start import BackwardFromAnyStart
from takifugu.influence.chains.chains import backward_side, chain_loss, sides_of
from takifugu.influence.chains.remembered import forget
from takifugu.influence.chains.sweeps import sweep
from takifugu.influence.curves import CURVES
from takifugu.influence.profiles.profile import Profile
from takifugu.model.secrets.families import Family

STAY = [[0.9, 0.1], [0.4, 0.6]]
#: The third state is left at once and never entered again: nothing but the first entry can have it.
LEFT_AT_ONCE = [[0.9, 0.1, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]


def bound(matrices, tables, start="any", entries=None, **more):
    chain = tf.PeriodicChain(list(matrices), len(tables), initial=start)
    family = Family(range(len(tables)) if entries is None else entries)
    return chain_loss(chain, Profile.by_entry(tables), family, **more).epsilon


def of_codes(codes, scale=1.0):
    codes = np.array(codes, dtype=float)
    return np.abs(codes[:, None] - codes) / scale


def random_rows(rng, states):
    """A stochastic matrix: even, uneven, nearly deterministic, or with zeros, some with whole columns of them."""
    rows = rng.dirichlet(np.full(states, rng.choice([0.1, 0.3, 1, 3])), size=states)
    kind = rng.random()
    if kind < 0.3:
        rows = np.where(rng.random((states, states)) < 0.4, 0.0, rows) + 0.1 * np.roll(np.eye(states), 1, axis=1)
    elif kind < 0.45:
        rows[:, int(rng.integers(states))] = 0.0
        rows += 1e-3 * (np.arange(states) == (int(rng.integers(states)) if not rows.sum(axis=1).all() else -1))
    rows[rows.sum(axis=1) == 0, 0] = 1.0
    return rows / rows.sum(axis=1, keepdims=True)


def random_tables(rng, states, length):
    tables = []
    for _ in range(length):
        if rng.random() < 0.5:
            codes = rng.integers(0, 3, states) * (rng.random() < 0.7)
            tables.append(of_codes(codes, float(np.exp(rng.uniform(-1, 2)))))
        else:
            tables.append(float(np.exp(rng.uniform(-2, 0.7))) * (1 - np.eye(states)))
    return tables


def random_case(seed, longest):
    rng = np.random.default_rng(seed)
    states = int(rng.integers(2, 5))
    length = int(rng.integers(2, longest[states] + 1))
    period = int(rng.choice([1, 1, 2]))
    matrices = np.array([random_rows(rng, states) for _ in range(period)])
    return rng, matrices, [oracle.closed(table) for table in random_tables(rng, states, length)]


def in_order(matrices, length):
    return [matrices[t % len(matrices)] for t in range(length - 1)]


def test_the_rays_that_are_listed_span_the_cone():
    table = of_codes([0, 1, 3], 2.0)
    assert len(extreme_rays(table)) == 5  # each of two differences one way or the other, and the constant
    apart = 1 - np.eye(3)
    for p, q in (([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), ([0.2, 0.2, 0.6], [0.4, 0.5, 0.1])):
        rays = extreme_rays(apart)
        assert np.log(rays @ p / (rays @ q)).max() == pytest.approx(oracle.lp_supremum(p, q, apart), abs=1e-9)


def assert_never_below(seed, longest):
    _, matrices, tables = random_case(seed, longest)
    steps, starts = in_order(matrices, len(tables)), np.eye(len(tables[0]))
    true, computed = worst_loss(steps, tables, starts), bound(matrices, tables)
    assert computed >= true * (1 - 1e-9) - 1e-14, (seed, computed, true)  # what sums of floats may miss
    assert computed <= bound(matrices, tables, is_anywhere=True) * (1 + 1e-12), seed


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", range(60))
def test_a_bound_is_never_below_what_is_attained(seed):
    assert_never_below(seed, {2: 6, 3: 4, 4: 3})


@pytest.mark.slow
def test_a_bound_is_never_below_what_is_attained_by_four_hundred_chains():
    for seed in range(1_000, 1_400):
        assert_never_below(seed, {2: 7, 3: 5, 4: 4})


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(20))
def test_a_bound_is_never_below_a_program_over_all_mechanisms(seed):
    rng, matrices, tables = random_case(seed, {2: 4, 3: 3, 4: 2})
    computed, states = bound(matrices, tables), len(tables[0])
    starts = [rng.dirichlet(np.ones(states)), 0.999 * np.eye(states)[0] + 0.001 / states]
    for start in starts:
        law = oracle.chain_law(start, in_order(matrices, len(tables)))
        for entry in range(len(tables)):
            true = float(oracle.worst_pairs(law, tables, entry).max())
            assert computed >= true - 1e-7, (seed, entry, computed, true)


def test_two_states_lose_what_the_worst_start_does():
    for matrix in (STAY, [[0.2, 0.8], [0.7, 0.3]], [[0.99, 0.01], [0.5, 0.5]]):
        tables = [0.7 * of_codes([0, 1])] * 5
        true = worst_loss([np.array(matrix)] * 4, tables, np.eye(2))
        assert true * (1 - 1e-9) <= bound([matrix], tables) <= true * 1.02
        assert bound([matrix], tables, is_anywhere=True) >= bound([matrix], tables)


def test_a_start_that_is_forgotten_costs_as_much_as_a_stationary_one():
    matrix = [[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]
    tables = [np.zeros((3, 3))] * 40 + [of_codes([0, 1, 2], 3)] * 5 + [np.zeros((3, 3))] * 5
    assert bound([matrix], tables) == pytest.approx(bound([matrix], tables, "stationary"), rel=1e-9)
    assert bound([matrix], tables, is_anywhere=True) > 1.02 * bound([matrix], tables)


# States that no start reaches -----------------------------------------------------------------------------------------


def test_states_that_no_start_reaches_leave_the_cone_before_it_is_closed():
    """With eta = 0 there the bound is 5.722, and codes 0, 7 and 5 lose 6.359."""
    nothing = np.zeros((3, 3))
    tables = [nothing, of_codes([0, 7, 5]), nothing]
    true = loss_about([np.array(LEFT_AT_ONCE)] * 2, tables, np.eye(3), 2)
    assert true == pytest.approx(6.359, abs=1e-3)
    assert bound([LEFT_AT_ONCE], tables, entries=(2,)) >= true * (1 - 1e-12)


def test_the_noise_of_states_that_no_start_reaches():
    framework = tf.Pufferfish(tf.entry(2, 0, 1), tf.MarkovChain(LEFT_AT_ONCE, length=3, initial="any"))
    query = tf.Linear([0, 1, 0], codes={0: 0, 1: 7, 2: 5}, grid=1)
    noise = tf.calibrate(framework, query, 6, mechanism="influence")
    assert tf.audit.exact_loss(framework, query, noise.randomiser).loss <= 6


# The guards -----------------------------------------------------------------------------------------------------------


def as_if_unguarded(monkeypatch):
    init = BackwardFromAnyStart.__init__
    monkeypatch.setattr(
        BackwardFromAnyStart, "__init__", lambda self, matrices, is_anywhere=False: init(self, matrices, False)
    )


def test_a_recording_that_may_start_anew_takes_lemma_2_alone():
    side, other = BackwardFromAnyStart(np.array([STAY]), True), BackwardFromAnyStart(np.array([STAY]))
    ratio = of_codes([0, 1])
    assert side.settled_from == 0
    assert side.law != other.law
    assert (side.step(9, 1, ratio) > other.step(9, 1, ratio))[[0, 1], [1, 0]].all()
    assert (side.step(9, 1, ratio) == other.step(1, 1, ratio)).all()  # W is the identity: eta is infinite


def test_the_worst_chain_of_an_interval_stands_for_it_by_lemma_2(monkeypatch):
    chains = tf.BinaryChains(0.2, length=30)
    curve, family = CURVES.of(chains), Family(range(30))
    profile = Profile.of(of_codes([0, 1], 4), 30)
    losses = [curve.loss(chains, profile, family).epsilon, curve.anywhere(chains, profile, family).epsilon]
    expected = chain_loss(chains.worst, profile, family, is_anywhere=True).epsilon
    assert losses == [expected, expected]
    as_if_unguarded(monkeypatch)
    forget()
    unproved = tf.BinaryChains(0.2, length=30)
    assert curve.loss(unproved, profile, family).epsilon < expected
    forget()


@pytest.mark.mutants
def test_a_recording_with_any_start_is_not_known_from_a_shifted_one():
    """Beyond the first steps a message repeats, and is another one where the start is nearer."""
    forget()
    chain, rates = tf.MarkovChain([[0.97, 0.03], [0.06, 0.94]], 2, "any"), np.array([0.0, 0.5, 0.0, 0.8])
    for gap in (150, 100, 90, 1):
        longer = np.array([gap, 8, 40, 5])
        size = int(longer.sum())
        profile = Profile(tuple(rate * (1 - np.eye(2)) for rate in rates), longer, np.arange(4))
        family = Family(range(size))
        loss = chain_loss(chain.with_length(size), profile, family)
        forget()
        assert loss == chain_loss(chain.with_length(size), profile, family)


def test_laws_are_followed_for_few_steps_and_then_mixed(monkeypatch):
    slow = [[0.99, 0.01], [0.02, 0.98]]
    side = BackwardFromAnyStart(np.array([slow]))
    assert side.settled_from == any_start.MOST_FOLLOWED == 64
    near, far = side.reached(63).apart, side.reached(64).apart
    assert (side.reached(500).apart == far).all()
    assert 0 < far[0, 1] < near[0, 1]
    assert backward_side(tf.MarkovChain([[0.5, 0.5], [0.4, 0.6]], 9, "any")).settled_from < 20


def test_a_step_that_forgets_everything_costs_nothing():
    matrices = np.array([STAY, [[0.3, 0.7]] * 2])
    for is_anywhere in (False, True):
        side = BackwardFromAnyStart(matrices, is_anywhere)
        assert not side.step(4, 1, of_codes([0, 1])).any()  # step 3 leads to entry 4
        assert not side.step(4, 3, of_codes([0, 1])).any()
        assert side.step(5, 1, of_codes([0, 1])).any()
    assert bound([[[0.5, 0.5]] * 2], [of_codes([0, 1])] * 10) == 1


def test_masses_that_floats_may_have_lost_leave_lemma_2():
    tiny = np.array([[[1 - 1e-200, 1e-200], [0.5, 0.5]]])
    side, guarded = BackwardFromAnyStart(tiny), BackwardFromAnyStart(tiny, True)
    ratio = of_codes([0, 1])
    assert side.jump(9, 1) is None
    assert (side.step(9, 1, ratio) == guarded.step(9, 1, ratio)).all()


# Quilts ---------------------------------------------------------------------------------------------------------------


def ratio_to_quilts(seed):
    """Return the loss of one to three releases with gaps on a random chain (zeros, any start) over the best quilts'."""
    rng = np.random.default_rng(seed)
    states, length = int(rng.integers(2, 6)), int(rng.integers(2, 40))
    rows = rng.dirichlet(np.full(states, rng.choice([0.3, 1.0])), size=states)
    if rng.random() < 0.4:
        rows = np.where(rng.random((states, states)) < 0.3, 0.0, rows) + 0.1 * np.roll(np.eye(states), 1, axis=1)
        rows /= rows.sum(axis=1, keepdims=True)
    start = ["stationary", "any", rng.dirichlet(np.ones(states))][int(rng.integers(3))]
    costs = np.zeros(length)
    for _ in range(int(rng.integers(1, 4))):
        weights = rng.integers(0, 3, size=length) * (rng.random(length) < rng.choice([0.3, 1.0]))
        scale = round(float(np.exp(rng.uniform(0.5, 4))), 3)
        costs += (weights if weights.any() and rng.random() < 0.5 else 2 * np.ones(length)) / scale
    chain = tf.MarkovChain(rows, length, start)
    matrices = [np.asarray(chain.step_matrices[0])] * (length - 1)
    law = None if chain.starts_anyhow else np.asarray(chain.marginal(0), dtype=float)
    by_quilts = min(quilt_cost(matrices, costs, law), float(costs.sum()))
    tables = [cost * (1 - np.eye(states)) for cost in costs]
    lost = chain_loss(chain, Profile.by_entry(tables), Family(range(length))).epsilon
    return lost / by_quilts if by_quilts > 1e-12 else float(lost > 1e-9) * np.inf + 0.0


@pytest.mark.parametrize("seeds", rounds(4, 40, 10_000, parts=10))
def test_no_quilt_costs_less(seeds):
    below = {seed: ratio for seed in seeds if (ratio := ratio_to_quilts(seed)) > 1 + 1e-9}
    assert not below


def test_quilts_that_are_listed_are_those_of_the_papers():
    matrix, costs = np.array(STAY), np.full(6, 0.25)
    law = np.array([0.8, 0.2])
    assert quilt_cost([matrix] * 5, costs, law) <= 1.5
    assert quilt_cost([matrix] * 5, np.full(6, 3.0), law) == pytest.approx(3 + 2 * np.log(6))


@pytest.mark.parametrize(("rows", "change"), [
    ([[0.9, 0.1], [0.2, 0.8]], 0.1), ([[0.5, 0.5], [0.4, 0.6]], 0.01), ([[0.5, 0.5], [0.4, 0.6]], 1.0),
])  # fmt: skip
def test_losses_settle_that_rounding_moves_up_and_down(rows, change):
    """Jumps of several distances go round in a cycle of a few units: its bound is a little above."""
    profile = Profile.of([[0.0, change], [change, 0.0]], 10**6)
    behind = sides_of(tf.MarkovChain(rows, 10**6, "any"), 10**6)[1]
    tracks = sweep(behind, profile, behind.jumps)
    last = tracks[-1]
    assert sum(len(track.explicit) for track in tracks) < 200
    assert (last.repeated >= last.explicit[-max(behind.jumps) :]).all()
    assert (last.repeated <= last.explicit[-1] + 1e-12).all()


# Windows --------------------------------------------------------------------------------------------------------------


def random_windows(seed):
    rng = np.random.default_rng(seed)
    states = int(rng.choice([2, 3]))
    rows = np.maximum(rng.dirichlet(np.full(states, rng.choice([0.5, 1])), size=states), 0.01)
    rows /= rows.sum(axis=1, keepdims=True)
    size, first = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    return rows, size, (first, first + int(rng.integers(0, min(size, 3)))), Fraction(str(rng.choice([0.3, 0.5, 1, 2])))


def charged(rows, size, places, scale, free_at=None):
    from takifugu.accounting.composition import charge_of, joint

    chain = tf.MarkovChain(rows, length=size, initial="any")
    framework, query = tf.Pufferfish(tf.every_entry(), chain), tf.Sum(codes={s: s for s in range(len(rows))})
    charges = [charge_of(tf.with_scale(framework, query, scale), at=place) for place in places]
    if free_at is not None:
        charges.append(charge_of(tf.with_scale(framework, query, 10**6), at=free_at))
    return float(joint(framework, charges).epsilon)


def lost_from(rows, size, places, scale, start):
    """The true loss of windows under any law at one step, of what they read from there on."""
    length = max(places) + size - start
    releases = []
    for place in places:
        read = np.array([place <= start + t < place + size for t in range(length)])
        releases.append((np.outer(read, np.arange(len(rows))), float(scale)))
    return laplace_loss([np.array(rows)] * (length - 1), releases)


def assert_windows_hold(seed):
    rows, size, places, scale = random_windows(seed)
    together = charged(rows, size, places, scale)
    for place in sorted(set(places)):
        true = lost_from(rows, size, places, scale, place)
        assert together >= true * (1 - 1e-9), (seed, place)
    for free_at in (0, places[0] - 1):
        assert charged(rows, size, places, scale, free_at) >= together * (1 - 1e-9), (seed, free_at)


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(4, 40, 2000))
def test_windows_hold_for_any_law_at_their_first_steps_and_a_nearly_free_earlier_one_lowers_nothing(seeds):
    for seed in seeds:
        assert_windows_hold(seed)


def test_without_the_guard_a_nearly_free_earlier_window_lowers_a_set_below_its_loss(monkeypatch):
    rows, size, places, scale = [[0.7, 0.3], [0.25, 0.75]], 3, (4, 5), Fraction(3, 10)
    true = lost_from(rows, size, places, scale, 4)
    assert charged(rows, size, places, scale, 0) >= charged(rows, size, places, scale) >= true
    as_if_unguarded(monkeypatch)
    forget()
    assert charged(rows, size, places, scale, 0) < true
    forget()
