"""The best-first search over quilts of a network: against a plain one, and ended early at any moment."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import network_oracles
from tests.support import network_search_oracles as oracle

import takifugu as tf
from takifugu.analysis.problem import Part, Problem
from takifugu.calibration import Calibration, calibrate, compare, with_scale
from takifugu.core import searches
from takifugu.influence.quilts.network import candidates as network_quilts
from takifugu.influence.quilts.network.near import NearSets
from takifugu.influence.quilts.network.search import NetworkSearch
from takifugu.model.frameworks import Pufferfish
from takifugu.model.secrets.of_entries import every_entry


class Stops:
    """Interrupts searches a given number of times, after a given number of quilts, and records its messages."""

    def __init__(self, after: int, times: int = 1) -> None:
        self.after, self.times, self.begun = after, times, list[searches.Search]()

    def begins(self, search: searches.Search) -> None:
        self.begun.append(search)

    def goes(self, search: searches.Search) -> None:
        if search.done >= self.after and self.times:
            self.times -= 1
            raise KeyboardInterrupt

    def over(self, search: searches.Search) -> None: ...


def made(seed: int, size: int, weights: list[int] | None = None) -> tuple[Part, network_oracles.Law, list[int]]:
    """Return a random connected part of one secret family, its joint law, and what each node adds."""
    spec = network_oracles.random_network(np.random.default_rng(seed), size)
    net = tf.BayesianNetwork(spec)
    weights = weights or np.random.default_rng(seed).integers(0, 4, size=size).tolist()
    query = tf.Linear(network_oracles.as_listed(weights, net.names, net.listed), grid=1)
    part = max(Problem(Pufferfish(every_entry(), net), query, Fraction(2)).parts, key=lambda part: part.belief.size)
    belief = part.belief
    assert isinstance(belief, tf.BayesianNetwork)
    inside = [node for node in spec if node[0] in belief.names]
    steps = [int(s) for s in part.answer.entry_changes()]
    return part, network_oracles.joint_law(inside, [str(name) for name in belief.names]), steps


def tried_quilts(network: tf.BayesianNetwork, entry: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the nodes of about `most` quilts, near ones first."""
    nearest: list[int] = []
    for layer in network_quilts.layers(network, entry):
        if len(nearest) < network_quilts.NEAREST:
            nearest += layer
        if network.size > network_quilts.ALL_SUBSETS:
            yield layer
    for size, count in network_quilts.choices(network, len(nearest), most):
        yield from itertools.combinations(nearest[:count], size)


def families(part: Part, most: int) -> dict[int, list[tuple[int, ...]]]:
    """Return the quilts that are tried for each entry; of layers only the nodes that are needed."""
    net = part.belief
    assert isinstance(net, tf.BayesianNetwork)
    by_entry = {}
    for entry in part.family.entries:
        tried = list(tried_quilts(net, entry, most))
        by_entry[entry] = tried + [oracle.needed_nodes(net.parents, entry, q) for q in tried]
    return by_entry


def each_entry(part: Part, law: network_oracles.Law, steps: list[int]):
    net = part.belief
    assert isinstance(net, tf.BayesianNetwork)
    sizes = [len(net.alphabet(v)) for v in range(net.size)]
    return [
        list(oracle.choices(law, net.parents, sizes, entry, family, steps))
        for entry, family in families(part, network_quilts.share(part)).items()
    ]


@contextmanager
def small_families(subsets: int, nearest: int):
    """Search small networks the way that large ones are searched."""
    before = network_quilts.ALL_SUBSETS, network_quilts.NEAREST
    network_quilts.ALL_SUBSETS, network_quilts.NEAREST = subsets, nearest
    try:
        yield
    finally:
        network_quilts.ALL_SUBSETS, network_quilts.NEAREST = before


@pytest.mark.mutants
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.sampled_from([0.5, 2.0, 5.0]), st.booleans())
def test_the_search_finds_what_a_plain_one_finds(seed: int, size: int, epsilon: float, restricted: bool) -> None:
    part, law, steps = made(seed, size)
    with small_families(2, 4) if restricted else small_families(10, 60):
        each = each_entry(part, law, steps)
        scale = float(NetworkSearch(part).worst(Fraction(epsilon)).scale)
    assert scale == pytest.approx(max(oracle.scale(near_sets, epsilon) for near_sets in each), rel=1e-9, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(0, 2))
def test_near_sets_of_quilts_are_those_of_d_separation(seed: int, size: int, parents: int) -> None:
    rng = np.random.default_rng(seed)
    net = tf.BayesianNetwork(network_oracles.random_network(rng, size, most_parents=parents))
    steps = [3**v for v in range(size)]
    sets = NearSets(net, steps)
    entry = int(rng.integers(size))
    others = [v for v in range(size) if v != entry]
    layers = list(network_quilts.layers(net, entry))
    for quilt in (*layers, *(q for r in range(4) for q in itertools.combinations(others, r))):
        moved = sum(steps[v] for v in oracle.near_set(net.parents, entry, quilt))
        assert sets.moved(entry, quilt, 3**size) == (moved, oracle.needed_nodes(net.parents, entry, quilt))
        assert sets.moved(entry, quilt, moved)[0] >= moved
    assert sets.alone(entry) == steps[entry]


@pytest.mark.parametrize("restricted", [False, True])
def test_the_predicted_number_is_the_number_of_quilts(restricted: bool) -> None:
    for seed in range(12):
        part, _, _ = made(seed, 1 + seed % 7)
        with small_families(2, 4) if restricted else small_families(10, 60):
            net, most = network_quilts.network_of(part), network_quilts.share(part)
            tried = [len(list(tried_quilts(net, entry, most))) for entry in part.family.entries]
            assert network_quilts.count_quilts(part) == sum(tried)
            if not restricted:
                others = part.belief.size - 1
                assert network_quilts.count_quilts(part) == len(part.family.entries) * (2**others - 1)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(0, 40))
def test_a_search_that_is_ended_early_is_sound_and_never_below_the_whole_one(seed: int, size: int, after: int) -> None:
    net = tf.BayesianNetwork(network_oracles.random_network(np.random.default_rng(seed), size))
    weights = np.random.default_rng(seed).integers(0, 3, size=size).tolist()
    early, whole = (_calibrated(net, weights, "quilt-exact", stops) for stops in (Stops(after), None))
    assert early.scale >= whole.scale * (1 - 1e-9)
    assert tf.exact_loss(early).upper <= 2 * (1 + 1e-9)
    assert early.epsilon == whole.epsilon == 2


def _calibrated(net: tf.BayesianNetwork, weights: list[int], mechanism: str, stops: Stops | None) -> Calibration:
    framework, query = Pufferfish(every_entry(), net), tf.Linear(weights, grid=1)
    ask = lambda: calibrate(framework, query, 2, mechanism=mechanism, allow_zero_noise=True)  # noqa: E731
    if stops is None:
        return ask()
    with searches.watched(stops):
        return ask()


def chain(length: int, stay: float = 0.7) -> tf.BayesianNetwork:
    row = [[stay, 1 - stay], [1 - stay, stay]]
    nodes = [("x0", [0, 1], [], [0.5, 0.5])]
    return tf.BayesianNetwork([*nodes, *((f"x{t}", [0, 1], [f"x{t - 1}"], row) for t in range(1, length))])


def test_the_sooner_it_is_ended_the_more_noise() -> None:
    net, scales = chain(30), []
    for after in (0, 10, 31, 200, 10**9):
        calibration = _calibrated(net, [1] * 30, "quilt-exact", Stops(after))
        scales.append(calibration.scale)
        early = "the search was ended early, after " in calibration.witness.detail
        assert early == (after < 10**9)
    assert scales == sorted(scales, reverse=True)
    assert scales[0] == 15  # the trivial quilt: group noise
    assert scales[-1] < 5


def test_what_was_ended_early_is_kept_in_writing_and_adds_up_as_promised() -> None:
    early = _calibrated(chain(12), [1] * 12, "quilt-exact", Stops(20))
    again = Calibration.from_dict(early.to_dict())
    assert "ended early, after 2" in again.witness.detail
    assert again.randomiser.scale == early.randomiser.scale
    # Nothing is calibrated again: the loss and the joint cost come from the scale, and more noise promises no less.
    assert tf.exact_loss(again).upper <= 2
    assert tf.compose([early]).epsilon <= 2
    assert tf.compose([early, early]).epsilon <= 4


def test_one_interrupt_ends_one_search_and_the_next_goes_through() -> None:
    framework, stops = Pufferfish(every_entry(), chain(12)), Stops(5, times=2)
    with searches.watched(stops), searches.stopping():
        compare(framework, tf.Count(1), 2)
        with pytest.raises(KeyboardInterrupt):
            compare(framework, tf.Count(0), 2)
    assert len(stops.begun) == 2
    stops = Stops(5)
    with searches.watched(stops), searches.stopping(once=False), pytest.raises(KeyboardInterrupt):
        calibrate(framework, tf.Count(1), 2, mechanism="quilt-exact")
    assert len(stops.begun) == 1
    with searches.watched(Stops(5)):
        calibration = with_scale(framework, tf.Count(1), 4)
    assert calibration.epsilon <= 3
    assert calibration.epsilon >= with_scale(framework, tf.Count(1), 4).epsilon
