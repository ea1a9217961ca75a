"""Sweeps against the recursion followed plainly: every position, over gaps and runs, to the end of long ones."""

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from tests.support.sweep_oracles import closed, float_suprema, losses

import takifugu as tf
from takifugu.core.errors import Unsupported
from takifugu.influence.chains import remembered, sides, sweeps
from takifugu.influence.chains.any_start import MOST_FOLLOWED
from takifugu.influence.chains.chains import backward_side, chain_loss
from takifugu.influence.chains.remembered import Memory
from takifugu.influence.chains.sides import Forward
from takifugu.influence.chains.sweeps import Track, sweep
from takifugu.influence.profiles.profile import Profile
from takifugu.model.secrets.families import Family


@pytest.fixture(autouse=True)
def _afresh():
    remembered.forget()


def matrices_of(states, period, sticky, seed=4):
    random = np.random.default_rng(seed)
    if sticky < 0:  # nearly a cycle: products of some steps are nearer to what they see than steps
        return 0.7 * np.roll(np.eye(states), 1, axis=1) + 0.3 * random.dirichlet(np.ones(states), size=(period, states))
    return sticky * np.eye(states) + (1 - sticky) * random.dirichlet(np.full(states, 2.0), size=(period, states))


def both_ways(matrices, start, length):
    """Each direction of a chain, and what a step does there by products of matrices and Bayes, in floats."""
    chain, period, states = tf.PeriodicChain(list(matrices), length, initial=start), len(matrices), len(matrices[0])

    def product(first, last):
        return reduce(np.matmul, [matrices[t % period] for t in range(first, last)])

    def ahead(position, distance, ratio):
        entry = length - 1 - position
        return float_suprema(product(entry, entry + distance), ratio)

    laws = [chain.marginal(t) for t in range(length)] if isinstance(start, list) or start == "stationary" else None

    def behind(position, distance, ratio):
        steps = product(position - distance, position)
        if laws is None:
            logs = np.log(steps)
            apart = logs[:, :, None] - logs[:, None, :]
            height = apart.max(axis=0) - apart.min(axis=0)
            lemma = 4 * np.arctanh(np.tanh(height / 4) * np.tanh(ratio.max() / 4))
            node = position - distance
            from_starts = product(max(0, node - MOST_FOLLOWED), node) if node else np.eye(states)
            return np.minimum(lemma, under_mean(from_starts, steps, ratio))
        rows = (laws[position - distance][:, None] * steps).T
        return float_suprema(rows / rows.sum(axis=1, keepdims=True), ratio)

    return (Forward(chain.step_matrices, length), ahead), (backward_side(chain), behind)


def under_mean(from_starts, steps, ratio):
    """Theorem 12 of a jump, of laws without zeros, or of the first entry itself, where any ratio may be."""
    mean = from_starts.mean(axis=0)
    joint = (mean[:, None] * steps).T
    total = joint.sum(axis=1)
    rows = joint / total[:, None]
    logs = np.log(from_starts @ steps / total)
    added = (logs[:, None, :] - logs[:, :, None]).max(axis=0)
    if not from_starts.all():
        return (np.log(rows)[:, None] - np.log(rows)[None]).max(axis=2) + added
    shares = np.log(from_starts / mean)
    apart = (shares[:, :, None] - shares[:, None, :]).max(axis=0)
    return float_suprema(rows, closed(ratio + apart)) + added


def profile_of(states, runs):
    """Runs (length, size): tables that are no multiples of each other, and none in a gap."""
    pattern = np.abs(np.subtract.outer(np.arange(states) ** 1.3, np.arange(states) ** 1.3))
    tables = tuple(size * (pattern + (number % 2) * (1 - np.eye(states))) for number, (_, size) in enumerate(runs))
    return Profile(tables, np.array([length for length, _ in runs]), np.arange(len(runs)))


RUNS = {
    "a gap of one, of two and of many": [(1, 0.8), (1, 0.0), (2, 0.3), (2, 0.0), (1, 1.0), (19, 0.0), (3, 0.5)],
    "nothing at first and at last": [(5, 0.0), (2, 0.6), (1, 0.1), (6, 0.0)],
    "a long run, a gap, and one that rises from it": [(90, 0.05), (7, 0.0), (40, 0.4), (1, 0.0), (30, 0.02)],
    "a fall": [(4, 3.0), (90, 0.01)],
    "one step": [(1, 0.7)],
}
CHAINS = {
    "two states": (2, 1, 0.0, ()), "two states that alternate": (2, 2, 0.6, ()), "three states": (3, 1, 0.3, ()),
    "three states, jumps": (3, 1, 0.8, (2, 4)), "three states by a period of two": (3, 2, 0.5, (2, 3)),
    "three states by a period of three": (3, 3, 0.0, (2,)), "nearly a cycle": (3, 3, -1.0, (2, 4)),
}  # fmt: skip


@pytest.mark.sampled(11)
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("chain", CHAINS)
def test_every_position_loses_what_the_plain_recursion_says(chain, runs):
    states, period, sticky, jumps = CHAINS[chain]
    profile = profile_of(states, RUNS[runs])
    start = ["stationary", "any", [0.05, 0.95][:states] if states == 2 else [0.05, 0.15, 0.8]][len(chain + runs) % 3]
    tables = [profile.at(entry) for entry in range(profile.size)]
    for side, supremum_of in both_ways(matrices_of(states, period, sticky), start, profile.size):
        tracks = sweep(side, profile, jumps)
        expected = losses(supremum_of, tables, jumps)
        assert [track.start for track in tracks] + [profile.size] == [0] + [track.stop for track in tracks]
        for track in tracks:
            for position in range(track.start, track.stop):
                loss = track.at(position)
                assert (loss >= expected[position] * (1 - 1e-12) - 1e-13).all()
                near = 1e-10 if position < track.settled else 1e-6
                assert (loss <= expected[position] * (1 + near) + near).all()
                assert not loss.diagonal().any()


@pytest.mark.sampled(7)
@pytest.mark.parametrize("runs", ["a long run, a gap, and one that rises from it", "a fall"])
@pytest.mark.parametrize("chain", CHAINS)
def test_what_is_given_up_ends_with_a_bound_of_all_that_follows(chain, runs):
    """A run that is left after 12 steps: nothing later is below the plain recursion, nor what enters the next run."""
    states, period, sticky, jumps = CHAINS[chain]
    profile = profile_of(states, RUNS[runs])
    tables = [profile.at(entry) for entry in range(profile.size)]
    for side, supremum_of in both_ways(matrices_of(states, period, sticky), "stationary", profile.size):
        expected = losses(supremum_of, tables, jumps)
        for track in sweep(side, profile, jumps, most=12):
            largest = max(loss.max() for loss in expected[track.start : track.stop])
            for position in range(track.start, track.stop):
                assert (track.at(position) >= expected[position] * (1 - 1e-12) - 1e-13).all()
                assert track.at(position).max() <= 3 * largest + 0.1


class Damped:
    """A side whose steps leave a share of the largest ratio, by phase: losses are known without any matrix."""

    settled_from, law = 0, None

    def __init__(self, *shares):
        self.shares, self.period = shares, len(shares)

    def step(self, position, distance, ratio, needed=None):
        share = np.prod([self.shares[(position - d) % self.period] for d in range(distance)])
        return share * ratio.max(axis=(-2, -1), keepdims=True) * (1 - np.eye(ratio.shape[-1]))

    def at_least(self, position, distance, ratio):
        return np.zeros_like(ratio)

    def settled_kernels(self):
        return None


CHANGE = 0.25 * (1 - np.eye(3))


def damped_limit(side, change):
    """What the losses of each phase end at: x = share (change + x of the phase before)."""
    limit = 0.0
    for position in range(10_000 - 10_000 % side.period):
        limit = side.shares[position % side.period] * (change + limit)
    values = []
    for position in range(side.period):
        limit = side.shares[position] * (change + limit)
        values.append(limit)
    return np.array(values)


@pytest.mark.parametrize("shares", [(0.5,), (0.9, 0.2), (0.99, 0.5, 0.8)])
def test_a_bound_of_all_that_follows_is_recognised(shares):
    side, period = Damped(*shares), len(shares)
    apart = 1 - np.eye(3)
    limits = damped_limit(side, 0.25)
    position = 20 * period
    explicit = [limits[p % period] * (1 - 0.5 ** (p + 1)) * apart for p in range(position)]
    bound = limits[:, None, None] * apart

    def is_upper(bound, explicit, jumps=()):
        # Beside it one that bounds nothing: it changes no answer.
        bounds, tables = np.stack([bound, 0 * bound], axis=1), np.stack([CHANGE, CHANGE])
        recent = [np.stack([loss, loss]) for loss in explicit]
        its_own, of_none = sweeps._are_upper(side, bounds, recent, tables, position, jumps).tolist()
        assert not of_none
        return its_own

    assert is_upper(bound * (1 + 1e-12), explicit)
    assert is_upper(2 * bound, explicit)
    assert not is_upper(bound * (1 - 1e-9), [0 * loss for loss in explicit])
    for phase in range(period):
        lower = bound * (1 + 1e-12)
        lower[phase] *= 1 - 1e-6
        assert not is_upper(lower, [0 * loss for loss in explicit])
    if period > 1:  # the phases are not alike
        assert not is_upper(np.roll(bound, 1, axis=0) * (1 + 1e-12), [0 * loss for loss in explicit])
    for back in range(1, 5):
        above = [loss.copy() for loss in explicit]
        above[-back] = bound[-back % period] * (1 + 1e-6)
        assert is_upper(bound * (1 + 1e-12), above, (4,)) == is_upper(bound * (1 + 1e-12), above, (2, 4)) == False  # noqa: E712
        assert is_upper(bound * (1 + 1e-12), above) == (back > 1)


class OnlyFar(Damped):
    """Steps forget nothing; jumps of one length forget nearly all."""

    def __init__(self, distance):
        super().__init__(1.0)
        self.distance = distance

    def step(self, position, distance, ratio, needed=None):
        share = 2.0**-10 if distance == self.distance else 1.0
        return share * ratio.max(axis=(-2, -1), keepdims=True) * (1 - np.eye(ratio.shape[-1]))


@pytest.mark.parametrize("far", [2, 3, 5])
def test_what_a_jump_leaves_out_is_charged(far):
    """The loss far from the ends: 2^-10 (c + R) + (far - 1) c, and no more than the steps so far."""
    tracks = sweep(OnlyFar(far), Profile.of(CHANGE, 200), (2, 3, 5))
    limit = (2.0**-10 * 0.25 + (far - 1) * 0.25) / (1 - 2.0**-10)
    losses = [tracks[-1].at(position).max() for position in range(1, 200)]
    for position, loss in enumerate(losses, start=1):
        assert loss >= min(position * 0.25, limit) * (1 - 1e-3)
        assert loss <= min(position * 0.25, limit) * (1 + 1e-12)
    assert losses[-1] == pytest.approx(limit, rel=1e-12)
    assert losses[-1] >= limit * (1 - 1e-15)
    stepped = sweeps._stepped(OnlyFar(far), np.full((1, 1, 3, 3), limit) * (1 - np.eye(3)), CHANGE[None], 50, (2, 3, 5))
    assert limit * (1 - 1e-15) <= stepped.max() <= limit * (1 + 1e-14)


@pytest.mark.parametrize("far", [2, 5, 16])
def test_sums_of_what_is_jumped_over_are_rounded_outwards(far):
    """Steps forget nothing, and a jump all: what remains are the profiles between, exactly or a little more."""
    random = np.random.default_rng(far)
    apart = 1 - np.eye(3)
    for length in (far + 3, 80):
        for change in random.random(30):
            losses = [track.at(position) for track in sweep(Forgets(far), Profile.of(change * apart, length), (far,))
                      for position in range(track.start, track.stop)]  # fmt: skip
            for loss in losses[far:]:
                exact = (far - 1) * Fraction(change)
                assert exact <= Fraction(loss.max()) <= exact * (1 + Fraction(50 * far, 2**53))
        changes = random.random(far + 1)
        tables = Profile.by_entry([change * apart for change in changes])
        loss = sweep(Forgets(far), tables, (far,))[-1].at(far).max()
        assert sum(map(Fraction, changes[1:far].tolist())) <= Fraction(loss)


class Forgets(OnlyFar):
    def step(self, position, distance, ratio, needed=None):
        return np.zeros_like(ratio) if distance == self.distance else super().step(position, distance, ratio)


def test_losses_that_rise_for_ever_are_given_up():
    with pytest.raises(Unsupported, match="still rise after 50 steps"):
        sweep(Damped(1.0), Profile.of(1e4 * CHANGE, 10**6), (), 50)
    assert sweep(Damped(1.0), Profile.of(CHANGE, 53), (), 50)[-1].at(52).max() == pytest.approx(13.0)


def test_a_track_says_what_each_position_loses():
    track = Track(7, np.arange(3.0)[:, None, None], np.array([10.0, 11.0])[:, None, None], 15)
    assert [track.at(position).item() for position in range(7, 15)] == [0, 1, 2, 10, 11, 10, 11, 10]
    assert track.settled == 10
    assert [(piece.first, piece.last) for piece in sweeps.pieces_of([track])] == [(7, 10), (10, 15)]
    for part in (Track(2, track.explicit, track.repeated[:0], 5), Track(2, track.explicit[:0], track.repeated, 5)):
        assert [(piece.first, piece.last) for piece in sweeps.pieces_of([part])] == [(2, 5)]


def test_a_memory_holds_what_the_next_positions_can_reach():
    memory, table, gap = Memory(np.zeros((2, 2))), np.ones((2, 2)), np.zeros((2, 2))
    for position in range(30):
        memory.keep(position, np.full((2, 2), float(position)), table if position % 10 == 3 else gap, 4)
        assert memory.last_moving == (position - 3) // 10 * 10 + 3 if position > 2 else -1
        assert {*range(max(0, position - 4), position + 1)} <= {*memory.losses} == {*memory.tables}
        assert memory.last_moving in {-1, *memory.losses}
    assert len(memory.losses) <= 10
    memory.forget(27)
    assert [*memory.losses] == [*memory.tables] == [23, 27, 28, 29]
    assert [*memory.since(20).losses] == [3, 7, 8, 9]
    assert memory.since(20).last_moving == 3
    assert memory.since(20).since(-20).key == memory.key


def test_the_entries_of_a_family_are_those_that_count(monkeypatch):
    """Of some entries and pairs only these, with what is possible there: the largest sum over them, by hand."""
    monkeypatch.setattr(sides, "MOST_UNSETTLED", 200)
    matrix = np.array([[0.5, 0.5, 0.0], [0.0, 0.7, 0.3], [0.0, 0.2, 0.8]])  # the first value is left for ever
    profile = profile_of(3, [(4, 0.3), (2, 0.0), (5, 0.6), (60, 0.1)])
    tables = [profile.at(entry) for entry in range(profile.size)]
    chain, length = tf.MarkovChain(matrix, profile.size, [0.5, 0.5, 0.0]), profile.size
    (_, ahead), _ = both_ways(matrix[None], [0.5, 0.5, 0.0], length)
    right = _by_entry(ahead, tables)
    left = _back_from(matrix, [0.5, 0.5, 0.0], tables)
    for entries in (range(length), range(3, 7), range(8, 9), (0, 5, 70), (2,), range(40, length), range(0)):
        for pairs in (None, ((1, 2),), ((0, 1),)):
            family = Family(entries, pairs)
            expected = max(
                (tables[t][a, b] + right[t][a, b] + left[t][a, b]
                 for t in entries for a, b in family.value_pairs(chain, t)), default=0.0
            )  # fmt: skip
            loss = chain_loss(chain, profile, family, ())
            assert expected * (1 - 1e-12) <= loss.epsilon <= expected * (1 + 1e-6) + 1e-9
            if loss.epsilon:
                t, a, b = loss.entry, loss.left, loss.right
                assert t in entries
                assert (a, b) in family.value_pairs(chain, t)
                assert tables[t][a, b] + right[t][a, b] + left[t][a, b] == pytest.approx(expected, rel=1e-6)


@pytest.mark.mutants
@pytest.mark.parametrize("start", ["stationary", "any"])
def test_each_entry_of_a_long_run_loses_what_is_around_it(start):
    """By its phase, and by both ends: secrets about one entry at a time, and about all."""
    profile = profile_of(2, [(130, 0.2), (3, 0.0), (110, 0.9)])
    tables, length = [profile.at(entry) for entry in range(profile.size)], profile.size
    matrices = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.3, 0.7]], [[0.6, 0.4], [0.05, 0.95]]])
    chain = tf.PeriodicChain(list(matrices), length, initial=start)
    (_, ahead), (_, behind) = both_ways(matrices, start, length)
    right, left = _by_entry(ahead, tables), losses(behind, tables)
    sums = [(one + other + table).max() for one, other, table in zip(right, left, tables, strict=True)]
    for entries in (range(length), range(60, 70), *((entry,) for entry in (0, 1, 64, 65, 66, 129, 131, 133, 180, 242))):
        expected = max(sums[entry] for entry in entries)
        loss = chain_loss(chain, profile, Family(entries))
        assert expected * (1 - 1e-12) <= loss.epsilon <= expected * (1 + 1e-8)
        assert sums[loss.entry] == pytest.approx(expected, rel=1e-8)


def _by_entry(ahead, tables):
    return losses(ahead, tables[::-1])[::-1]


def _back_from(matrix, start, tables):
    """L of each entry of three values, of which the first has a start and may become impossible: pairs of it are 0."""
    known, law = [np.zeros((3, 3))], np.array(start)
    for table in tables[:-1]:
        joint = (law[:, None] * matrix).T
        possible = joint.sum(axis=1) > 0
        rows = np.where(possible[:, None], joint, joint[possible][0])
        known.append(closed(float_suprema(rows / rows.sum(axis=1, keepdims=True), closed(table + known[-1]))))
        law = law @ matrix
    return known


def test_one_chain_answers_for_profiles_of_every_length():
    """What a chain remembers of its steps from the end is by the phase at which they end."""
    matrices = [[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.3, 0.7]], [[0.6, 0.4], [0.05, 0.95]]]
    one = tf.PeriodicChain(matrices, 9)
    for size in (9, 4, 5, 6, 7):
        lengths, rates, family = np.array([2, size - 2]), np.array([0.3, 0.7]), Family(range(size))
        fresh = tf.PeriodicChain(matrices, size)
        profile = Profile(tuple(rate * (1 - np.eye(2)) for rate in rates), lengths, np.arange(2))
        expected = chain_loss(fresh, profile, family)
        remembered.forget()
        assert chain_loss(one, profile, family) == expected


def test_a_given_start_that_settles_late_is_given_up_and_never_a_fault():
    matrix = np.full((9, 9), 0.0025) + np.eye(9) * 0.9775
    chain = tf.MarkovChain(matrix, 1_000, [1.0, *[0.0] * 8])
    with pytest.raises(Unsupported, match="still rise"):
        chain_loss(chain, Profile.of((1 - np.eye(9)) / 50, 1_000), Family(range(1_000)), most=20)
