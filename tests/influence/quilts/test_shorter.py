"""A long sequence is searched as a shorter one where that needs the same: set against the search of all its entries."""

from fractions import Fraction

import numpy as np
import pytest
from tests.support.quilt_cases import binary, problem, random_chain

from takifugu import MarkovChainClass, PeriodicChain
from takifugu.influence.quilts.chain import sides as shorter
from takifugu.influence.quilts.chain.influence import chain_influence
from takifugu.influence.quilts.chain.scale import needed_scale
from takifugu.influence.quilts.chain.search import class_influence
from takifugu.influence.quilts.chain.sides import ChainSides
from takifugu.influence.quilts.near_sets import query_change
from takifugu.model.queries import Count, Linear
from takifugu.numbers.runs import Runs

SWAP = [[0.1, 0.9], [0.8, 0.2]]


def chains(rng):
    """Yield chains of 2 and 3 states, of every start, of a period, and a class, of random lengths."""
    for k in (2, 3):
        for start in ("stationary", "any", [1.0, *[0.0] * (k - 1)], [0.3, 0.7, *[0.0] * (k - 2)]):
            yield random_chain(rng, k, int(rng.integers(60, 500)), start)
    yield PeriodicChain([SWAP, [[0.9, 0.1], [0.5, 0.5]], [[0.6, 0.4], [0.2, 0.8]]], int(rng.integers(60, 500)))
    yield binary(0.9, 0.6, int(rng.integers(60, 500)))
    yield MarkovChainClass(0.3, 0.6, int(rng.integers(60, 500)))


@pytest.fixture
def used(monkeypatch):
    """Let short sequences be tried for others that are not long, and count those that stood for one."""
    stood = []
    honest = shorter.Shorter.stands_for_longer

    def watched(self, most):
        stood.append(honest(self, most))
        return stood[-1]

    monkeypatch.setattr(shorter, "FIRST", 12)
    monkeypatch.setattr(shorter, "LONGER", 2)
    monkeypatch.setattr(shorter.Shorter, "stands_for_longer", watched)
    return stood


def entry_by_entry(monkeypatch, compute):
    with monkeypatch.context() as patch:
        patch.setattr(shorter, "FIRST", 10**9)
        return compute()


def sides_of(part):
    influence = class_influence if isinstance(part.belief, MarkovChainClass) else chain_influence
    return ChainSides(influence(part.belief, part.family.pairs), query_change(part.answer.entry_changes()))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(12))
def test_the_worst_entry_needs_the_same(used, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    for chain in chains(rng):
        epsilon = Fraction(int(rng.integers(2, 40)), 10)
        (part,) = problem(chain, Count(1), epsilon).parts
        sides = sides_of(part)
        short = needed_scale(sides, part.family, epsilon)
        whole = entry_by_entry(monkeypatch, lambda: needed_scale(sides, part.family, epsilon))  # noqa: B023
        assert short.scale == pytest.approx(whole.scale, rel=1e-12)
        assert short.scale >= whole.scale * (1 - Fraction(1, 10**12))
        assert 0 <= short.entry < chain.length
    assert used.count(True) > 5


def test_entries_that_are_not_alike_are_all_searched(used):
    chain = binary(0.9, 0.6, 300)
    (part,) = problem(chain, Linear([1, 2] * 150), 1).parts
    needed_scale(sides_of(part), part.family, Fraction(1))
    assert not used


def test_an_entry_far_from_both_ends_stays_in_the_middle(used):
    short = next(shorter.shorter(*_sides_and_family(binary(0.9, 0.6, 400))))
    length = short.sides.length
    assert [short.in_longer(entry) for entry in (0, length // 2, length - 1)] == [0, 200, 399]


def test_an_entry_stays_in_its_phase(used):
    matrices = [SWAP, [[0.9, 0.1], [0.5, 0.5]], [[0.6, 0.4], [0.2, 0.8]]]
    for length in range(300, 306):
        for short in shorter.shorter(*_sides_and_family(PeriodicChain(matrices, length))):
            assert {(short.in_longer(entry) - entry) % 3 for entry in range(short.sides.length)} == {0}


def test_a_sequence_that_is_too_short_does_not_stand_for_a_longer_one(used):
    """What needs quilts as wide as a quarter of it, or has not settled, or has other values at first."""
    short = next(shorter.shorter(*_sides_and_family(binary(0.9, 0.6, 400))))
    far = short.sides.length // 4
    assert short.stands_for_longer(far - 0.5)
    assert not short.stands_for_longer(far)
    slow, family = _sides_and_family(binary(0.999, 0.998, 400, "any"))
    assert not next(shorter.shorter(slow, family)).stands_for_longer(0.5)


def _sides_and_family(chain):
    (part,) = problem(chain, Count(1), 1).parts
    return sides_of(part), part.family


def test_a_sequence_of_any_length_takes_as_long():
    for length in (10**5, 10**9, 10**12):
        sides, family = _sides_and_family(binary(0.9, 0.6, length))
        needed = needed_scale(sides, family, Fraction(1))
        assert needed.scale == needed_scale(*_sides_and_family(binary(0.9, 0.6, 2000)), Fraction(1)).scale
        assert needed.entry < 100 or needed.entry >= length // 2 - 100
    assert shorter.entries_searched(10**9, Runs.alike(1, 10**9), 100) < 10**4
