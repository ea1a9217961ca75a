"""Losses on networks, trees, tables and cliques against linear programs over all likelihoods."""

import math
import tracemalloc
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from tests.support import influence_oracle as oracle
from tests.support.network_oracles import random_network
from tests.support.tree_networks import spec_of, tree
from tests.support.tree_recursion import losses_on_a_tree

import takifugu as tf
from takifugu.core.errors import Unsupported
from takifugu.influence.networks import junction
from takifugu.influence.networks.conditionals import moral_graph
from takifugu.influence.networks.elimination import loss_by_elimination
from takifugu.influence.networks.junction import Messages, block_losses, junction_tree
from takifugu.influence.networks.networks import (
    TOO_WIDE,
    along_one_tree,
    is_least,
    loss_one_by_one,
    network_loss,
    network_work,
    sum_of_what_is_read,
    sums_of_all,
)
from takifugu.influence.networks.tables import (
    TOO_LONG,
    _may_exceed,
    at_most,
    clique_losses,
    exchangeable_loss,
    supremum_of_number,
    table_loss,
    table_losses,
)
from takifugu.influence.networks.trees import NONE, losses_on_tree, plus
from takifugu.influence.profiles.profile import Profile
from takifugu.model.beliefs.contacts import Clique, CliqueInfection
from takifugu.model.secrets.families import Family
from takifugu.numbers import Pmf

PAIR = 1.0 - np.eye(2)


def law_of(network):
    return oracle.network_law([(network.parents[i], node.table) for i, node in enumerate(network.nodes)])


def random_tables(rng, shape, silent=0.2, largest=2.0):
    tables = []
    for k in shape:
        upper = np.triu(rng.uniform(0, largest, (k, k)), 1)
        tables.append(oracle.closed(upper + upper.T) * (rng.random() >= silent))
    return tables


def junction_losses(network, tables, is_whole=False):
    """The losses of all entries by the junction tree alone."""
    messages = Messages.of(junction_tree(network), tables)
    return [messages.loss(entry, is_whole) for entry in range(network.size)]


def loss_of(network, profile, entry):
    """The largest loss of one entry, by all that is tried."""
    return network_loss(network, profile, Family((entry,)))


def possible_pairs(network, entry):
    can = np.array(network.possible(entry))
    return can[:, None] & can[None, :] & ~np.eye(len(can), dtype=bool)


def binary(parents, tables):
    """A network over 0 and 1; `parents` are numbers of earlier nodes."""
    nodes = enumerate(zip(parents, tables, strict=True))
    return tf.BayesianNetwork([(f"n{i}", [0, 1], [f"n{p}" for p in above], table) for i, (above, table) in nodes])


@pytest.mark.sampled(7)
@pytest.mark.parametrize("joined", [1, 8, 32, 256])
@pytest.mark.parametrize("seed", range(8))
def test_no_bound_is_below_the_worst_mechanism_or_above_the_sum(seed, joined, monkeypatch):
    """Of bags of every width, split and whole; one bag is the supremum, of all or of what is read."""
    monkeypatch.setattr(junction, "JOINED", joined)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        network = tf.BayesianNetwork(random_network(rng, int(rng.integers(3, 6)), 3, zeros=bool(rng.random() < 0.4)))
        law = law_of(network)
        if law.size > 100:
            continue
        tables = random_tables(rng, law.shape)
        profile, entry = Profile.by_entry(tables), int(rng.integers(network.size))
        pairs, read = possible_pairs(network, entry), sum_of_what_is_read(network, profile, entry)
        truth = oracle.worst_pairs(law, tables, entry)
        split, whole = (junction_losses(network, tables, is_whole)[entry] for is_whole in (False, True))
        assert (read >= truth - 1e-9)[pairs].all()
        assert (loss_one_by_one(network, profile, entry) >= truth - 1e-9)[pairs].all()
        assert (whole >= truth - 1e-9)[pairs].all()
        assert (split >= whole - 1e-9)[pairs].all()
        assert (split <= tables[entry] + sum_without(tables, entry) + 1e-9)[pairs].all()
        one_bag = block_losses(network, tables, entry, [v for v in range(network.size) if v != entry])
        assert one_bag[pairs] == pytest.approx(truth[pairs], abs=1e-8)
        if joined == 256:
            assert along_one_tree(network, profile)[0][entry][pairs] == pytest.approx(truth[pairs], abs=1e-8)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("seed", range(12))
def test_one_junction_tree_bounds_all_entries_and_is_never_above_the_sum(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(3):
        network = tf.BayesianNetwork(random_network(rng, int(rng.integers(3, 7)), 3, zeros=bool(rng.random() < 0.5)))
        law = law_of(network)
        if law.size > 100:
            continue
        tables = random_tables(rng, law.shape)
        for entry, loss in enumerate(junction_losses(network, tables)):
            pairs = possible_pairs(network, entry)
            assert (loss >= oracle.worst_pairs(law, tables, entry) - 1e-9)[pairs].all()
            assert (loss <= np.minimum(tables[entry] + sum_without(tables, entry), np.inf) + 1e-9)[pairs].all()


def sum_without(tables, entry):
    return sum(table.max() for t, table in enumerate(tables) if t != entry)


def joined_in_a_ladder(rng, rungs, zeros=False):
    """Two rows of variables, each hanging on the ones before it in both rows: separators that overlap."""
    parents = [[], [0], *([2 * n - 2, 2 * n - 1] for n in range(1, rungs) for _ in (0, 1))]
    rows = [rng.dirichlet([1, 1], size=(2,) * len(above)) for above in parents]
    if zeros:
        rows[2][0, 0], rows[3][1, 1] = [1.0, 0.0], [0.0, 1.0]
    return binary(parents, rows)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("seed", range(6))
def test_messages_that_straddle_are_split_on_the_safe_side(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(junction, "JOINED", 1)
    network = joined_in_a_ladder(rng, 3, zeros=seed % 2 == 1)
    tables = random_tables(rng, [2] * 6, silent=0.1)
    tree = junction_tree(network)
    assert any(set(tree.separator(a, b)) & set(tree.separator(b, c)) for a, b in tree.edges for _, c in tree.edges)
    ratios = []
    both = (junction_losses(network, tables, is_whole) for is_whole in (False, True))
    for entry, (split, whole) in enumerate(zip(*both, strict=True)):
        truth = oracle.worst_pairs(law_of(network), tables, entry)
        pairs = possible_pairs(network, entry)
        assert (whole >= truth - 1e-9)[pairs].all()
        assert (split >= whole - 1e-9)[pairs].all()
        ratios.append([split.max() / truth.max(), whole.max() / truth.max()])
    split, whole = np.array(ratios).T
    assert whole.sum() < split.sum() - 0.001
    assert split.max() < 2.5


@pytest.mark.sampled(5)
@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_messages_that_would_need_too_large_tables_are_never_below_the_truth(seed, is_whole, monkeypatch):
    """Separators of two variables have no table then, whatever their values are."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(junction, "JOINED", 1)
    monkeypatch.setattr(junction, "MOST_CONTEXTS", 2)
    network = joined_in_a_ladder(rng, 3, zeros=seed % 2 == 1)
    tables = random_tables(rng, [2] * 6, silent=0.1)
    sent = Messages.of(junction_tree(network), tables).sent.values()
    assert [message.loss is None for message in sent] == [len(message.variables) == 2 for message in sent]
    for entry, loss in enumerate(junction_losses(network, tables, is_whole)):
        truth, pairs = oracle.worst_pairs(law_of(network), tables, entry), possible_pairs(network, entry)
        assert (loss >= truth - 1e-9)[pairs].all()
        assert (loss <= tables[entry] + sum_without(tables, entry) + 1e-9)[pairs].all()


def test_components_of_a_network_add_nothing_to_each_other():
    rng = np.random.default_rng(1)
    rows = [rng.dirichlet([1, 1], size=(2,) * n) for n in (0, 0, 2, 0, 0, 2)]
    network = binary([[], [], [0, 1], [], [], [3, 4]], rows)
    for loss in junction_losses(network, [0.3 * PAIR] * 6):
        assert loss.max() <= 0.9 + 1e-12


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(15))
def test_binary_trees_are_exact_for_every_entry(seed):
    rng = np.random.default_rng(seed)
    network = tf.BayesianNetwork(spec_of(tree(rng, 6), rng, zeros=seed % 3 == 2, most_states=2))
    tables = random_tables(rng, [2] * 6, silent=0.1)
    losses = along_one_tree(network, Profile.by_entry(tables))[0]
    for entry, loss in enumerate(losses):
        pairs = possible_pairs(network, entry)
        assert loss[pairs] == pytest.approx(oracle.worst_pairs(law_of(network), tables, entry)[pairs], abs=1e-9)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("seed", range(4))
def test_small_trees_of_several_states_are_exact(seed):
    rng = np.random.default_rng(seed)
    network = tf.BayesianNetwork(spec_of(tree(rng, 5), rng, zeros=seed % 2 == 1, most_states=3))
    tables = random_tables(rng, [len(node.states) for node in network.nodes])
    profile = Profile.by_entry(tables)
    for entry, loss in enumerate(along_one_tree(network, profile)[0]):
        pairs = possible_pairs(network, entry)
        truth = oracle.worst_pairs(law_of(network), tables, entry)
        assert (loss >= truth - 1e-9)[pairs].all()
        assert loss[pairs] == pytest.approx(truth[pairs], abs=1e-8)


def assert_never_below_the_recursion(network, tables):
    """Check the losses of a tree against those of 60 digits: never below, and above by rounding alone."""
    parents = [above[0] if above else None for above in network.parents]
    rows = [node.table.reshape(-1, len(node.states)).tolist() for node in network.nodes]
    with mpmath.workdps(60):
        exact = losses_on_a_tree(parents, rows, [table.tolist() for table in tables])
        for loss, true in zip(losses_on_tree(network, Profile.by_entry(tables).tables), exact, strict=True):
            for pair, least in true.items():
                assert least <= mpmath.mpf(float(loss[pair])) <= least * (1 + mpmath.mpf(10) ** -12) + 1e-12


@pytest.mark.parametrize("most", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_messages_on_trees_are_never_below_those_of_sixty_digits(seed, most):
    """Long chains, stars, random forests; some values never occur, and some entries are not read."""
    rng = np.random.default_rng(seed)
    shapes = [[[], *([i] for i in range(11))], [[], *[[0]] * 7], tree(rng, 8), [*tree(rng, 5), [], [5], [5], []]]
    shape = shapes[seed % 4]
    network = tf.BayesianNetwork(spec_of(shape, rng, zeros=seed >= 3, most_states=most))
    sizes = [len(node.states) for node in network.nodes]
    assert_never_below_the_recursion(network, random_tables(rng, sizes, silent=0.2, largest=[0.1, 1.0, 5.0][seed % 3]))


def test_sums_of_two_messages_are_never_below_the_exact_ones():
    tenths = [n / 10 for n in range(30)]
    for a, b in product(tenths, repeat=2):
        up, down = plus((a, b), (b, 0.3))
        assert Fraction(a) + Fraction(b) <= Fraction(up) <= (Fraction(a) + Fraction(b)) * (1 + Fraction(1, 2**51))
        assert Fraction(b) + Fraction(0.3) <= Fraction(down)
    assert plus(NONE, (0.1, 0.2)) == plus((0.1, 0.2), NONE) == (0.1, 0.2)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("states", [2, 3])
def test_masses_that_underflow_on_a_tree_are_charged_in_full(states, turned):
    """The joint law of two rare values may have lost its digits: it tells nothing, but that is no longer known."""
    rare = [0.0, 1e-120, 1e-125][:states]
    rows = [[1.0, *(mass**power for mass in rare[1:])] for power in (1, 1.2)]
    hint = [[0.9, 0.1, 0.0][:states], *[[0.6, 0.4, 0.0][:states]] * (states - 1)]
    root, child = (row[::-1] if turned else row for row in rows)
    values = list(range(states))
    network = tf.BayesianNetwork([
        ("a", values, [], root), ("b", values, ["a"], [child] * states),
        ("c", values, ["a"], hint[::-1] if turned else hint),
    ])  # fmt: skip
    tables = [c * (1 - np.eye(states)) for c in (0.5, 0.25, 2.0)]
    alone, below, _ = along_one_tree(network, Profile.by_entry(tables))[0]
    assert 0.5 < alone.min(initial=9, where=alone > 0) < alone.max() - 0.01
    assert below == pytest.approx((0.25 + alone.max()) * (1 - np.eye(states)))  # a and c in full


@pytest.mark.parametrize("rare", [1e-130, 1e-200])
def test_no_bag_believes_masses_that_underflow(rare):
    """Below 1e-250, or 0 though possible: whatever the rows seem to say, all that is beyond them counts."""
    common = [1.0, rare]
    network = binary([[], [0], [0, 1]], [common, [common] * 2, [[[0.5, 0.5]] * 2] * 2])
    tables = [c * PAIR for c in (0.5, 0.25, 0.125)]
    for entry in (0, 1):
        for is_whole in (False, True):
            assert junction_losses(network, tables, is_whole)[entry] == pytest.approx(0.875 * PAIR)
        assert block_losses(network, tables, entry, [1 - entry]) == pytest.approx(0.75 * PAIR)


def test_rows_that_look_alike_because_digits_are_lost_are_different():
    """Of a = 1, which has the least float as its mass, b = 0 underflows: both rows seem to say that b is 1."""
    network = binary([[], [0]], [[1.0, 5e-324], [[0.0, 1.0], [0.4, 0.6]]])
    tables = [0.5 * PAIR, 0.25 * PAIR]
    assert block_losses(network, tables, 0, [1]) == pytest.approx(0.75 * PAIR)
    with pytest.raises(Unsupported):
        loss_by_elimination(network, dict(enumerate(tables)), 0, [1])


def test_releases_on_a_binary_tree_with_positive_correlation_reach_the_loss():
    rng = np.random.default_rng(8)
    for _ in range(10):
        tables = [rng.dirichlet([1, 1])]
        for _ in range(5):
            low, high = sorted(rng.uniform(0.05, 0.95, 2))
            tables.append([[1 - low, low], [1 - high, high]])
        network = binary([[], *([p] for p in rng.integers(0, range(1, 6)))], tables)
        law = law_of(network)
        releases = [oracle.count(law.shape, [1], 1.1), oracle.count(law.shape, [1], 0.9, [1, 3, 4])]
        losses = along_one_tree(network, Profile.by_entry(oracle.profile_of(releases, law.shape)))[0]
        for entry, loss in enumerate(losses):
            assert loss == pytest.approx(oracle.joint_losses(law, releases, entry), abs=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("joined", [1, 8, 256])
def test_releases_together_never_lose_more_than_their_profile(joined, monkeypatch):
    """By every joint output of two counts, in networks that are no trees."""
    monkeypatch.setattr(junction, "JOINED", joined)
    rng = np.random.default_rng(9)
    for _ in range(6):
        network = joined_in_a_ladder(rng, 2, zeros=False)
        law = law_of(network)
        releases = [oracle.count(law.shape, [1], 1.1), oracle.count(law.shape, [0], 0.7, [0, 1, 3])]
        profile = Profile.by_entry(oracle.profile_of(releases, law.shape))
        true = max(oracle.joint_losses(law, releases, entry).max() for entry in range(4))
        assert true <= network_loss(network, profile, Family(range(4))).epsilon * (1 + 1e-12)


def test_scale_of_a_tree_of_six():
    start, given_parent = [0.7, 0.3], [[0.8, 0.2], [0.4, 0.6]]
    network = binary([[], [0], [1], [2], [3], [3]], [start, *[given_parent] * 5])
    for scale, within in ((0.80246197897409541, True), (0.80246197897409541 * (1 - 1e-9), False)):
        losses = along_one_tree(network, Profile.of(PAIR / scale, 6))[0]
        assert bool(max(loss.max() for loss in losses) <= 3 + 1e-12) == within


CHILD = [[[0.95, 0.05], [0.4, 0.6]], [[0.3, 0.7], [0.05, 0.95]]]
V_STRUCTURE = binary([[], [], [0, 1]], [[0.7, 0.3], [0.6, 0.4], CHILD])


def test_v_structure_is_exact():
    truth = oracle.worst_pairs(law_of(V_STRUCTURE), [0.5 * PAIR] * 3, 0).max()
    loss = loss_of(V_STRUCTURE, Profile.of(0.5 * PAIR, 3), 0).epsilon
    assert truth - 1e-12 <= loss <= truth + 1e-9
    assert loss <= 0.84246939508722365


def test_parents_of_a_child_that_nothing_reads_are_independent():
    profile = Profile.by_entry([0.5 * PAIR, 0.7 * PAIR, 0 * PAIR])
    assert loss_of(V_STRUCTURE, profile, 0).epsilon == pytest.approx(0.5, abs=1e-12)
    assert sum_of_what_is_read(V_STRUCTURE, profile, 0).max() == 0.5
    assert moral_graph(V_STRUCTURE, [0, 1]) == {0: set(), 1: set()}


@pytest.mark.mutants
@pytest.mark.parametrize("joined", [1, 256])
def test_impossible_values_take_the_row_of_a_possible_one(joined, monkeypatch):
    monkeypatch.setattr(junction, "JOINED", joined)
    rng = np.random.default_rng(3)
    for _ in range(15):
        child = rng.dirichlet([1, 1], size=(2, 2, 2))
        child[1, 1] = [0.0, 1.0]
        equal, never = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.3, 0.7]])
        network = binary([[], [0], [1], [0, 1, 2]], [[0.6, 0.4], equal, never, child])
        tables = random_tables(rng, [2] * 4, silent=0)
        truth = oracle.worst_pairs(law_of(network), tables, 0)
        for is_whole in (False, True):
            assert (junction_losses(network, tables, is_whole)[0] >= truth - 1e-9).all()
        for order in ([3, 2, 1], [3, 1, 2], [1, 3, 2], [2, 3, 1]):
            assert (loss_by_elimination(network, dict(enumerate(tables)), 0, order) >= truth - 1e-9).all()
        assert block_losses(network, tables, 0, [1, 2, 3]) == pytest.approx(truth, abs=1e-8)


def test_more_released_never_makes_a_secret_cheaper():
    rng = np.random.default_rng(4)
    for _ in range(10):
        network = tf.BayesianNetwork(random_network(rng, 5, 2))
        shape = [len(node.states) for node in network.nodes]
        first, second = (Profile.by_entry(random_tables(rng, shape)) for _ in range(2))
        entry = int(rng.integers(5))
        less, more = (loss_of(network, profile, entry).epsilon for profile in (first, first + second))
        assert more >= less - 1e-9


def test_a_wide_network_falls_back_to_the_sum_and_says_so():
    rng = np.random.default_rng(7)
    causes = [[0.5, 0.5]] * 16
    network = binary([*[[]] * 16, list(range(16))], [*causes, rng.dirichlet([1, 1], size=(2,) * 16)])
    result = loss_of(network, Profile.of(0.1 * PAIR, 17), 0)
    assert result.note == TOO_WIDE
    assert result.epsilon == pytest.approx(0.1 * network.size)
    alone = Profile.by_entry([*[0.1 * PAIR] * 16, 0 * PAIR])  # without their effect the causes are independent
    assert loss_of(network, alone, 0).epsilon == pytest.approx(0.1)


@pytest.mark.mutants
def test_a_large_network_of_small_width_is_far_below_the_sum():
    rng = np.random.default_rng(9)
    near = [[i - 1, i - 2, max(i - 3, 0)] for i in range(2, 20)]
    above = [[], [0], *(sorted(set(rng.choice(last, 2, replace=False).tolist())) for last in near)]
    network = binary(above, [rng.dirichlet([2, 2], size=(2,) * len(parents)) for parents in above])
    result = loss_of(network, Profile.of(0.3 * PAIR, 20), 10)
    assert not result.note
    assert result.epsilon < 3  # the sum is 6


@pytest.mark.mutants
def test_long_trees_keep_rounding_on_the_safe_side_and_small():
    size = 2000
    network = binary([[], *([i] for i in range(size - 1))], [[0.8, 0.2], *[[[0.9, 0.1], [0.4, 0.6]]] * (size - 1)])
    losses = along_one_tree(network, Profile.of(PAIR / 3.33640892201531, size))[0]
    worst = max(loss.max() for loss in losses)
    assert 1 <= worst <= 1 + 1e-9


def test_the_worst_secret_of_a_family_is_named():
    network = binary([[], [0], [1]], [[0.6, 0.4], [[0.9, 0.1], [0.3, 0.7]], [[0.8, 0.2], [0.2, 0.8]]])
    profile = Profile.by_entry([PAIR, 2 * PAIR, 0 * PAIR])
    each = along_one_tree(network, profile)[0]
    worst = network_loss(network, profile, Family(range(3)))
    assert worst.epsilon == max(loss.max() for loss in each) == each[worst.entry][worst.left, worst.right]
    assert network_loss(network, profile, Family((2,), ((0, 1),))).epsilon == each[2].max()


@pytest.mark.mutants
def test_tables_are_exact():
    rng = np.random.default_rng(10)
    for _ in range(10):
        shape = tuple(rng.integers(2, 4, size=3).tolist())
        law = rng.dirichlet(np.ones(math.prod(shape))).reshape(shape) * (rng.random(shape) < 0.8)
        law /= law.sum()
        tables = random_tables(rng, shape)
        cells = list(np.ndindex(*shape))
        belief = tf.JointTable(cells, [float(law[cell]) for cell in cells])
        for entry in range(3):
            truth = oracle.worst_pairs(law, tables, entry)
            can = law.sum(axis=tuple({0, 1, 2} - {entry})) > 0
            loss = table_losses(belief, Profile.by_entry(tables), entry)
            assert loss[np.ix_(can, can)] == pytest.approx(truth[np.ix_(can, can)], abs=1e-8)


@pytest.mark.parametrize("kept", [1.0, 0.7])
def test_tables_of_many_values_are_exact_too(kept):
    """More than 16 joint values of the others: programs of the pairs that no third state implies."""
    rng = np.random.default_rng(13)
    for shape in ((2,) * 6, (3, 3, 2, 3)):
        law = rng.dirichlet(np.full(math.prod(shape), 0.5)).reshape(shape) * (rng.random(shape) < kept)
        law /= law.sum()
        belief, tables = table_of(law), random_tables(rng, shape)
        for entry in (0, len(shape) - 1):
            loss = table_losses(belief, Profile.by_entry(tables), entry)
            assert loss == pytest.approx(oracle.worst_pairs(law, tables, entry), abs=1e-8)


def table_of(law):
    cells = list(np.ndindex(*law.shape))
    return tf.JointTable(cells, [float(law[cell]) for cell in cells])


@pytest.mark.mutants
def test_a_table_loses_the_same_whatever_was_asked_of_it_before():
    """What the last profile lost bounds what the next one does, so that few entries are computed again."""
    rng = np.random.default_rng(14)
    law = rng.dirichlet(np.full(32, 0.5)).reshape((2,) * 5)
    asked, family = table_of(law), Family(range(5))
    for _ in range(6):
        tables = random_tables(rng, law.shape)
        for factor in (1.0, 1.1, 0.8):
            profile = Profile.by_entry([factor * table for table in tables])
            bounds = [at_most(asked, profile, entry) for entry in range(5)]
            truth = [table_losses(table_of(law), profile, entry) for entry in range(5)]
            for bound, loss in zip(bounds, truth, strict=True):
                assert (bound >= loss - 1e-12).all()
            worst = table_loss(asked, profile, family)
            assert worst.epsilon == pytest.approx(max(loss.max() for loss in truth), rel=1e-9)
            assert not worst.note


def test_a_large_table_is_charged_in_full():
    rng = np.random.default_rng(11)
    rows = np.unique(rng.integers(0, 2, size=(3000, 14)), axis=0)
    belief = tf.JointTable(rows.tolist(), rng.dirichlet(np.ones(len(rows))).tolist())
    profile = Profile.of(0.3 * PAIR, 14)
    assert table_losses(belief, profile, 0) == pytest.approx(14 * 0.3 * PAIR)
    assert table_loss(belief, profile, Family(range(14))).note == TOO_LONG


def test_household_of_four():
    household = Clique(4, Pmf(range(5), [0.5, 0.1, 0.1, 0.1, 0.2]))
    loss = clique_losses(household, Profile.of(0.5 * PAIR, 4), 1)
    assert loss.max() == pytest.approx(1.4451241311941222, abs=1e-12)
    assert loss.max() >= 1.4451241311941222


@pytest.mark.mutants
def test_exchangeable_people_are_exact_and_different_losses_are_bounded():
    rng = np.random.default_rng(12)
    for _ in range(20):
        number = rng.dirichlet(np.ones(6) * 0.5) * (rng.random(6) < 0.7)
        if not number[1:].any() or not number[:-1].any():
            continue
        number /= number.sum()
        mine, others = rng.uniform(0, 3, 2)
        truth = oracle.worst_pairs(oracle.exchangeable_law(number), [mine * PAIR, *[others * PAIR] * 4], 0)
        loss = exchangeable_loss(number, mine, others)
        assert (loss >= truth - 1e-12).all()
        assert loss == pytest.approx(truth, abs=1e-9)
        tables = [mine * PAIR, *(others * PAIR * share for share in (1, 0.2, 0.7, 0.4))]
        mixed = clique_losses(Clique(5, Pmf(range(6), number.tolist())), Profile.by_entry(tables), 0)
        assert (mixed >= oracle.worst_pairs(oracle.exchangeable_law(number), tables, 0) - 1e-12).all()


def test_the_loss_among_alike_people_is_never_below_that_of_all_likelihoods_that_rise_or_fall_as_they_may():
    """Of 60 digits, with no tolerance; and the proof says no to every smaller ratio."""
    rng = np.random.default_rng(2)
    with mpmath.workdps(60):
        for c in (1e-3, 0.3, 2.0, 40.0):
            for _ in range(2):
                laws = rng.dirichlet(np.full(6, 0.5), size=2) * (rng.random((2, 6)) < 0.8) + 1e-9
                p, q = laws / laws.sum(axis=1, keepdims=True)
                best = mpmath.mpf(0)
                for steps in product((-1, 1), repeat=5):
                    likelihood = [mpmath.exp(mpmath.mpf(c) * int(e)) for e in np.cumsum([0, *steps])]
                    best = max(best, mpmath.fdot(p.tolist(), likelihood) / mpmath.fdot(q.tolist(), likelihood))
                loss = mpmath.mpf(supremum_of_number(p, q, c))
                assert mpmath.log(best) <= loss
                assert _may_exceed(p, q, c, float(best * (1 - mpmath.mpf(10) ** -12)))
                if c < 40:
                    assert loss <= mpmath.log(best) + 1e-11
                    assert not _may_exceed(p, q, c, float(best * (1 + mpmath.mpf(10) ** -11)))


def test_the_sum_of_all_is_rounded_up_and_nothing_is_lost_between_equal_values():
    tables = [c * (1 - np.eye(k)) for c, k in ((0.1, 2), (0.2, 3), (0.7, 2), (0.0, 2))]
    largest = [Fraction(float(table.max())) for table in tables]
    for entry, loss in enumerate(sums_of_all(tables)):
        k, total = len(tables[entry]), sum(largest)
        assert not loss.diagonal().any()
        exact = [Fraction(float(loss[u, v])) for u, v in product(range(k), repeat=2) if u != v]
        assert all(total <= each <= total * (1 + Fraction(1, 2**50)) for each in exact)


def test_cliques_are_read_by_their_own_people():
    belief = CliqueInfection([["a"], ["b", "c"]], {1: [0.9, 0.1], 2: [0.5, 0.0, 0.5]}, ["well", "ill"])
    profile = Profile.by_entry([0.3 * PAIR, 0.5 * PAIR, 0.7 * PAIR])
    assert clique_losses(belief, profile, 0) == pytest.approx(0.3 * PAIR)
    assert clique_losses(belief, profile, 2) == pytest.approx(1.2 * PAIR)  # both are ill or none


def test_extreme_losses_of_a_household_stay_finite():
    number = [0.5, *[0.0] * 99, 0.5]
    assert exchangeable_loss(number, 1.0, 20.0).max() == pytest.approx(1 + 99 * 20)
    assert exchangeable_loss([1.0, 0.0, 0.0], 1.0, 1.0).max() == 0


def risen(rng, size, smallest, largest, shares):
    """A network in which each variable hangs on the last and the one before the last two, read ever more."""
    above = [sorted({max(i - 1, 0), max(i - 3, 0)} - {i}) for i in range(size)]
    network = binary(above, [rng.dirichlet([1, 1], size=(2,) * len(parents)) for parents in above])
    tables = [float(rng.uniform(smallest, largest)) * PAIR for _ in range(size)]
    last = int(rng.integers(size))
    return network, [Profile.by_entry([*tables[:last], tables[last] * x, *tables[last + 1 :]]) for x in shares]


@pytest.mark.mutants
@pytest.mark.parametrize("size", [8, 10])
@pytest.mark.parametrize(("smallest", "largest", "shares"), [
    (0.1, 2, (0.0, 1e-15, 1e-9, 1e-6)), (3, 12, (0.0, 1e-9, 0.5, 1.0, 1.01, 1.2)), (6, 20, (1.0, 1.01)),
])  # fmt: skip
def test_reading_one_more_variable_or_the_same_more_never_lowers_a_loss(size, smallest, largest, shares):
    """One tree, whatever is read, and suprema: also where a variable is hardly read, and where all gains are large."""
    for seed in range(2 if size == 8 else 1):
        network, profiles = risen(np.random.default_rng(seed), size, smallest, largest, shares)
        worst = [network_loss(network, profile, Family(range(size))).epsilon for profile in profiles]
        each = [np.array(along_one_tree(network, profile)[0]) for profile in profiles]
        for less, more in pairwise(worst):
            assert less <= more * (1 + 1e-9)
        for less, more in pairwise(each):
            assert (less <= more * (1 + 1e-9) + 1e-12).all()


def grid(size, rng):
    """Binary variables, each of which hangs on the one above and the one to its left."""
    places = [(i, j) for i in range(size) for j in range(size)]
    above = [[size * a + b for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0] for i, j in places]
    return binary(above, [rng.dirichlet([2, 2], size=(2,) * len(parents)) for parents in above])


@pytest.mark.mutants
def test_a_grid_of_any_size_is_bounded_or_said_to_take_long_beforehand():
    """What is predicted takes no memory that grows with the work."""
    rng = np.random.default_rng(0)
    small, large = grid(3, rng), grid(25, rng)
    assert network_loss(small, Profile.of(0.2 * PAIR, 9), Family(range(9))).epsilon < 0.5 * 9 * 0.2
    assert network_loss(large, Profile.of(0.2 * PAIR, 625), Family(range(625))).note == TOO_WIDE
    for size in (4, 10, 15, 20, 25):
        network = grid(size, rng)
        tracemalloc.start()
        assert network_work(network) < 3e9
        assert tracemalloc.get_traced_memory()[1] < 5e6
        tracemalloc.stop()


@pytest.mark.mutants
@pytest.mark.parametrize("size", [4_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_trees_of_many_thousand_variables_are_predicted_and_bounded(size):
    rng = np.random.default_rng(1)
    rows = [[[0.9, 0.1], [0.4, 0.6]], [[0.7, 0.3], [0.2, 0.8]]]
    above = [[], *([(i - 1) // 2] for i in range(1, size))]
    network = binary(above, [[0.6, 0.4], *(rows[k] for k in rng.integers(0, 2, size - 1))])
    assert network_work(network) < 1e9
    assert network_loss(network, Profile.of(0.01 * PAIR, size), Family(range(size))).epsilon < 0.3


def test_one_bag_and_binary_trees_are_the_least_of_all_bounds():
    assert is_least(V_STRUCTURE)
    assert is_least(binary([[], [0], *([i] for i in range(1, 19))], [[0.5, 0.5], *[[[0.9, 0.1], [0.4, 0.6]]] * 19]))
    assert not is_least(grid(3, np.random.default_rng(0)))


@pytest.mark.parametrize("power", [20, 400])
def test_people_who_are_almost_never_ill_are_not_taken_for_always_well(power):
    """Nobody is ill, or one, or all: given that somebody is, it matters how likely each is, not how seldom."""
    seldom = Fraction(1, 10**power)
    number = [1 - 4 * seldom, 3 * seldom, 0, seldom]
    loss = clique_losses(Clique(3, Pmf(range(4), number)), Profile.of(0.5 * PAIR, 3), 1)
    assert loss == pytest.approx(exchangeable_loss([1 - 4e-20, 3e-20, 0.0, 1e-20], 0.5, 0.5), rel=1e-12)
    assert loss[1, 0] > 0.9


@pytest.mark.parametrize("power", [20, 400])
def test_rows_that_are_almost_never_there_are_rows(power):
    """The first value is 1 only where the second is."""
    seldom = Fraction(1, 10**power)
    table = tf.JointTable([(0, 0), (1, 1)], [1 - seldom, seldom])
    assert table_losses(table, Profile.of(0.5 * PAIR, 2), 0) == pytest.approx(PAIR)
