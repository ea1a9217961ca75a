"""The recursion on chains against a linear program over all likelihoods, against brute force, and at its edges."""

import numpy as np
import pytest
from tests.support import influence_oracle as oracle

import takifugu as tf
from takifugu.influence.chains import chains, remembered, sweeps
from takifugu.influence.chains.chains import chain_loss
from takifugu.influence.profiles.profile import Profile
from takifugu.model.secrets.families import Family

STAY = [[0.9, 0.1], [0.4, 0.6]]
CYCLE = [[0.3, 0.7, 0], [0, 0.3, 0.7], [0.7, 0, 0.3]]
THREE = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]


def distances(weights, scale):
    rows = np.array(weights, dtype=float).reshape(len(weights), -1)
    return np.abs(rows[:, None] - rows[None]).sum(axis=2) / scale


def loss(matrix, tables, start="stationary", jumps=None, is_anywhere=False):
    chain = tf.MarkovChain(matrix, len(tables), initial=start)
    profile, family = Profile.by_entry(tables), Family(range(len(tables)))
    return chain_loss(chain, profile, family, jumps, is_anywhere=is_anywhere).epsilon


def constant(weights, scale, length):
    return [distances(weights, scale)] * length


GOLDEN = {
    "five steps": (STAY, constant([0, 1], 3, 5), "stationary", 0.8735130179727886),
    "given start": (STAY, constant([0, 1], 2, 6), [0.2, 0.8], 1.377503442770543),
    "histogram": (STAY, constant(np.eye(2), 4, 20), "stationary", 1.7260226856838733),
    "weights by step": (STAY, [distances([0, w], 3) for w in (0, 1, 2, 3, 1, 0.5)], "stationary", 1.6797664166521113),
    "windows that overlap": (
        STAY, [distances([0, 1], 3) * (t < 10) + distances([0, 1], 5) * (t >= 5) for t in range(15)], "stationary",
        1.6143283741780057,
    ),
    "a gap": (STAY, [distances([0, 1], 3) * (t < 5 or t >= 20) for t in range(25)], "stationary", 0.87351683039344227),
    "three states": (THREE, constant([0, 0, 1], 3, 12), "stationary", 1.1977237736191643),
    "three states, small": (THREE, constant(np.eye(3), 2, 4), "stationary", 2.7025279873899567),
    "impossible transitions": (
        [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]], constant([0, 0, 1], 3, 10), "stationary", 0.77582101195855237
    ),
    "a gap that is jumped over": (
        CYCLE, [distances(np.eye(3), 1) * (t < 2 or t >= 6) for t in range(8)], "stationary", 3.9114474882503764
    ),
    "totally positive": (
        [[0.7, 0.3, 0, 0, 0], [0.2, 0.6, 0.2, 0, 0], [0, 0.2, 0.6, 0.2, 0], [0, 0, 0.2, 0.6, 0.2], [0, 0, 0, 0.3, 0.7]],
        constant([0, 1, 2, 3, 4], 8, 10), "stationary", 3.5981828365031361,
    ),
    "any start": (STAY, constant([0, 1], 1 / 0.3, 5), "any", 0.81041516400625468),
}  # fmt: skip


@pytest.mark.parametrize("name", GOLDEN)
def test_values_that_were_computed_elsewhere(name):
    matrix, tables, start, expected = GOLDEN[name]
    computed = loss(matrix, tables, start)
    assert expected * (1 - 1e-12) <= computed <= expected * (1 + 1e-11)


def random_chain(rng, states, start):
    matrix = rng.dirichlet(np.full(states, rng.choice([0.3, 1.0])), size=states)
    if rng.random() < 0.3 and states > 2:
        matrix[0, -1] = 0.0
        matrix /= matrix.sum(axis=1, keepdims=True)
    initial = rng.dirichlet(np.ones(states)) if start == "given" else start
    return matrix, initial


def worst_by_program(matrix, start, tables):
    chain = tf.MarkovChain(matrix, len(tables), initial=start)
    law = oracle.chain_law(chain.marginal(0), [np.array(matrix)] * (len(tables) - 1))
    return max(float(oracle.worst_pairs(law, tables, entry).max()) for entry in range(len(tables)))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(24))
def test_two_states_attain_the_worst_mechanism_with_the_profile(seed):
    rng = np.random.default_rng(seed)
    matrix, start = random_chain(rng, 2, ["stationary", "given"][seed % 2])
    tables = oracle.random_tables(rng, 2, int(rng.integers(2, 6)), 0.1)
    worst = worst_by_program(matrix, start, tables)
    assert loss(matrix, tables, start) == pytest.approx(worst, rel=1e-6, abs=1e-7)


@pytest.mark.sampled(53)
@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize(("states", "length"), [(3, 4), (4, 3), (5, 3)])
def test_no_mechanism_with_the_profile_loses_more(states, length, seed):
    rng = np.random.default_rng(1000 * states + seed)
    matrix, start = random_chain(rng, states, ["stationary", "given"][seed % 2])
    tables = oracle.random_tables(rng, states, length, 0.1)
    worst, bound = worst_by_program(matrix, start, tables), loss(matrix, tables, start)
    assert worst * (1 - 1e-7) - 1e-9 <= bound <= worst * 1.5 + 1e-6


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(20))
def test_releases_together_lose_no_more_than_they_are_charged(seed):
    rng = np.random.default_rng(seed)
    states, length = int(rng.integers(2, 4)), int(rng.integers(3, 6))
    matrix, start = random_chain(rng, states, ["stationary", "given"][seed % 2])
    chain, shape = tf.MarkovChain(matrix, length, initial=start), [states] * length
    releases = []
    for _ in range(int(rng.integers(1, 4))):
        scale, window = float(rng.choice([0.7, 2.0, 5.0])), range(int(rng.integers(0, 2)), length)
        releases.append(
            oracle.count(shape, [states - 1], scale, window) if rng.random() < 0.6
            else oracle.weighted(shape, rng.integers(-2, 3, (length, states)), scale)
        )  # fmt: skip
    law = oracle.chain_law(chain.marginal(0), [np.array(matrix)] * (length - 1))
    true = max(float(oracle.joint_losses(law, releases, entry).max()) for entry in range(length))
    assert true <= loss(matrix, oracle.profile_of(releases, shape), start) * (1 + 1e-9) + 1e-12


def test_unknown_start_covers_every_start():
    tables = constant([0, 1], 2, 5)
    bound = loss(STAY, tables, "any")
    starts = [[p, 1 - p] for p in np.linspace(0.01, 0.99, 25)]
    largest = max(loss(STAY, tables, start) for start in starts)
    assert largest <= bound <= 1.17 * largest


@pytest.mark.mutants
@pytest.mark.parametrize("matrix", [[[0.0, 1.0], [0.78, 0.22]], [[0.5, 0.5], [1.0, 0.0]], [[0.2, 0.8], [1.0, 0.0]]])
def test_unknown_start_sees_through_an_impossible_step(matrix):
    """Where it may start anywhere steps alone say nothing of what lies before it; jumps do, and are below no start."""
    tables = constant([0, 1], 3, 6)
    bound = loss(matrix, tables, "any", is_anywhere=True)
    assert loss(matrix, tables, "any") <= bound
    assert max(worst_by_program(matrix, [p, 1 - p], tables) for p in (0.001, 0.1, 0.5, 0.9, 0.999)) <= bound + 1e-9
    assert bound < 0.8 * loss(matrix, tables, "any", (), is_anywhere=True)
    long = constant([0, 1], 3, 60)
    assert loss(matrix, long, "any", is_anywhere=True) < 0.25 * loss(matrix, long, "any", (), is_anywhere=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(10))
def test_a_further_release_never_makes_a_set_cheaper(seed):
    rng = np.random.default_rng(seed)
    for start in ("stationary", "given", "any"):
        matrix, initial = random_chain(rng, int(rng.integers(2, 5)), start)
        tables = oracle.random_tables(rng, len(matrix), 6, 0.1)
        more = [table.copy() for table in tables]
        more[int(rng.integers(6))] += distances(np.arange(len(matrix)), 3)
        assert loss(matrix, more, initial) >= loss(matrix, tables, initial) * (1 - 1e-12)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("matrix", [STAY, [[0.2, 0.8], [0.7, 0.3]], THREE, CYCLE])
@pytest.mark.parametrize("size", [0.05, 0.4])
def test_a_long_stretch_is_bounded_by_what_it_settles_at(matrix, size):
    states = len(matrix)
    table = size * (1 - np.eye(states))
    chain = tf.MarkovChain(matrix, 400)
    in_one = chain_loss(chain, Profile.of(table, 400), Family(range(400))).epsilon
    uneven = Profile.by_entry([table * (1 + 1e-15 * (t % 2)) for t in range(400)])
    by_step = chain_loss(chain, uneven, Family(range(400)))
    longer = chain_loss(tf.MarkovChain(matrix, 10**9), Profile.of(table, 10**9), Family(range(10**9))).epsilon
    assert in_one == pytest.approx(by_step.epsilon, rel=1e-10)
    assert longer >= in_one * (1 - 1e-12)


def test_a_billion_steps_and_for_ever():
    chain = tf.MarkovChain(STAY, 10**9)
    profile = Profile.of([[0, 0.3], [0.3, 0]], 10**9)
    assert chain_loss(chain, profile, Family(range(10**9))).epsilon == pytest.approx(1.0009988768218644, rel=1e-12)


def test_periodic_matrices_with_one_matrix_are_a_chain():
    tables = constant([0, 1], 2, 9)
    periodic = tf.PeriodicChain([STAY, STAY], 9, [0, 1])
    computed = chain_loss(periodic, Profile.by_entry(tables), Family(range(9))).epsilon
    assert computed == pytest.approx(loss(STAY, tables), rel=1e-12)


@pytest.mark.parametrize("start", ["stationary", [0.3, 0.7], "any"])
def test_periodic_matrices_against_the_program(start):
    night, day = [[0.95, 0.05], [0.5, 0.5]], [[0.3, 0.7], [0.6, 0.4]]
    chain = tf.PeriodicChain([night, day], 5, [0, 0, 1], start=1, initial=start)
    tables = constant([0, 1], 1.5, 5)
    computed = chain_loss(chain, Profile.by_entry(tables), Family(range(5))).epsilon
    steps = [chain.step_matrices[t % 3] for t in range(4)]
    laws = [chain.marginal(0)] if start != "any" else [np.array([p, 1 - p]) for p in (0.01, 0.3, 0.5, 0.9)]
    joint = [oracle.chain_law(law, steps) for law in laws]
    worst = max(float(oracle.worst_pairs(law, tables, entry).max()) for law in joint for entry in range(5))
    assert worst <= computed * (1 + 1e-7)
    if start != "any":
        assert computed == pytest.approx(worst, rel=1e-6)


@pytest.mark.mutants
def test_a_jump_too_far_is_below_what_a_mechanism_attains(monkeypatch):
    tables = constant(np.eye(3), 1, 5)
    worst = worst_by_program(CYCLE, "stationary", tables)
    assert loss(CYCLE, tables) >= worst * (1 - 1e-7)
    remembered.forget()
    monkeypatch.setattr(sweeps, "_jumped_over", lambda memory, behind: range(0))
    assert loss(CYCLE, tables) < worst * (1 - 1e-3)


@pytest.mark.parametrize("table", [
    [[0, -0.1], [-0.1, 0]], [[0, np.nan], [np.nan, 0]], [[0, np.inf], [np.inf, 0]], [[0, 0.1], [0.2, 0]], [[1.0]],
])  # fmt: skip
def test_profiles_that_are_none(table):
    with pytest.raises(tf.TakifuguError, match="profile"):
        Profile.of(table, 3)


@pytest.mark.mutants
@pytest.mark.parametrize("initial", ["stationary", "any"])
@pytest.mark.parametrize("states", [3, 4])
def test_a_slow_rise_that_is_given_up_ends_with_a_bound_from_above(states: int, initial: str) -> None:
    mixing = np.random.default_rng(3).dirichlet(np.ones(states), size=states)
    stationary = tf.MarkovChain(0.98 * np.eye(states) + 0.02 * mixing, 1500)
    profile = Profile.of(0.002 * (1 - np.eye(states)), 1500)
    followed = chain_loss(stationary, profile, Family(range(1500))).epsilon
    chain = tf.MarkovChain(stationary.matrix, 1500, initial)
    bounded = chain_loss(chain, profile, Family(range(1500)), most=100).epsilon
    assert followed <= bounded < 2.5 * followed


@pytest.mark.parametrize("stay", [0.7, 0.95, 0.99])
def test_the_work_that_is_predicted_is_that_of_the_steps_that_are_followed(stay: float) -> None:
    """Of a long run as many as it takes to settle; of a short one all of them; of three states the same steps."""
    chain = tf.MarkovChain([[stay, 1 - stay], [1 - stay, stay]], 10**9)
    side = chains.sides_of(chain, 10**9)[1]
    followed = sum(len(track.explicit) for track in sweeps.sweep(side, Profile.of([[0, 0.01], [0.01, 0]], 10**9)))
    predicted = chains.chain_work(chain) / (2 * chains.PER_STEP[0][1])
    assert followed / 3 <= predicted <= 3 * followed
    assert chains.chain_work(chain.with_length(8)) / (2 * chains.PER_STEP[0][1]) == 8
    assert chains.chain_work(tf.MarkovChain([[1.0]], 3, states=["a"])) == 3 * 2 * chains.PER_STEP[0][1]
    three = tf.MarkovChain(stay * np.eye(3) + (1 - stay) / 2 * (1 - np.eye(3)), 8)
    assert chains.chain_work(three) == 8 * 2 * chains.PER_STEP[1][1]
    assert 1 <= chains.chain_work(tf.MarkovChain([[0.5, 0.5]] * 2, 10**9)) / (2 * chains.PER_STEP[0][1]) < 10
    by_hour = tf.PeriodicChain([chain.matrix, [[0.6, 0.4], [0.4, 0.6]]], 10**9, [0, 1, 0, 0, 0])
    assert chains.chain_work(by_hour) == pytest.approx(5 * chains.chain_work(chain), rel=1e-9)


@pytest.mark.mutants
def test_a_gap_of_thousands_of_steps_is_jumped_over() -> None:
    mixing = np.random.default_rng(3).dirichlet(np.ones(3), size=3)
    matrix = 0.99 * np.eye(3) + 0.01 * mixing
    change = 0.5 * (1 - np.eye(3))
    profile = Profile((change, np.zeros((3, 3))), np.array([1, 3000, 1]), np.array([0, 1, 0]))
    alone = chain_loss(tf.MarkovChain(matrix, 1), Profile.of(change, 1), Family(range(1))).epsilon
    both = chain_loss(tf.MarkovChain(matrix, 3002), profile, Family(range(3002))).epsilon
    beyond = chains.sides_of(tf.MarkovChain(matrix, 3002), 3002)[0].step(3001, 3001, change)
    assert both == pytest.approx(alone + beyond.max(), rel=1e-9)


def test_the_work_foretold_grows_with_all_pairs_of_rows_where_their_sums_are_not_held():
    """Each step then sorts the rows again: 200 states that forget at once took three times what was foretold."""

    def work(states):
        matrix = np.full((states, states), 0.7 / states) + 0.3 * np.eye(states)
        return chains.chain_work(tf.MarkovChain(matrix / matrix.sum(axis=1, keepdims=True), 10_000))

    assert work(252) >= 8 * work(126) * (1 - 1e-9)
    assert work(126) > work(125)


#: How a third state goes on, which no start reaches: to the others, to itself for ever, and to one of them.
UNREACHED = [[0.3, 0.3, 0.4], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


@pytest.mark.mutants
@pytest.mark.parametrize("row", UNREACHED, ids=str)
@pytest.mark.parametrize("length", [4, 5000, 10**9])
def test_a_state_that_no_start_reaches_costs_nothing(row, length):
    """No law of a step came near one with all states, so a long recording had noise for any change of it: 10^9."""
    start, matrix = [0.5, 0.5], [[0.9, 0.1], [0.4, 0.6]]
    beliefs = (
        tf.MarkovChain(matrix, length, start),
        tf.MarkovChain([[*matrix[0], 0.0], [*matrix[1], 0.0], row], length, [*start, 0.0]),
        tf.PeriodicChain([[[*matrix[0], 0.0], [*matrix[1], 0.0], last] for last in (row, [0, 0, 1])], length,
                         initial=[*start, 0.0]),
    )  # fmt: skip
    scales = [
        tf.calibrate(tf.Pufferfish(tf.every_entry(), belief), tf.Count(1), 1, mechanism="influence").scale
        for belief in beliefs
    ]
    assert scales[1:] == pytest.approx([scales[0]] * 2, rel=1e-8)


@pytest.mark.mutants
@pytest.mark.parametrize("row", UNREACHED, ids=str)
def test_nor_do_the_others_lose_more_than_the_worst_mechanism(row):
    matrix = np.array([[0.7, 0.1, 0.0, 0.2], [0.3, 0.5, 0.0, 0.2], [*row, 0.0], [0.0, 0.4, 0.0, 0.6]])
    start = np.array([0.2, 0.0, 0.0, 0.8])
    change = np.abs(np.subtract.outer([0.0, 1.0, 5.0, 0.3], [0.0, 1.0, 5.0, 0.3]))
    loss = chain_loss(tf.MarkovChain(matrix, 4, start), Profile.of(change, 4), Family(range(4))).epsilon
    law = oracle.chain_law(start, [matrix] * 3)
    of_all = [oracle.worst_pairs(law, [change] * 4, entry).max() for entry in range(4)]
    assert max(of_all) - 1e-6 <= loss <= 1.1 * max(of_all)
