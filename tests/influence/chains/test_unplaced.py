"""What releases at unknown places cost: never less than at any places, never more than by quilts or for ever."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.influence.chains.chains import chain_loss
from takifugu.influence.chains.unplaced import Pieces, Unplaced, unplaced_loss
from takifugu.influence.profiles.profile import Profile
from takifugu.influence.stretched import stretched_loss
from takifugu.model.secrets.families import Family

Rates = list[list[int]]  # what each step of each release moves, in tenths


def unplaced(releases: Rates) -> Unplaced:
    pieces = tuple(Pieces((np.concatenate([[0], np.cumsum(row)]),), Fraction(1, 10)) for row in releases)
    return Unplaced(pieces, Fraction(sum(map(sum, releases)), 10))


def charged(chain: Any, releases: Rates, pairs: Any = None) -> float:
    return float(unplaced_loss(chain, pairs, unplaced(releases))[0])


def random_matrix(random: np.random.Generator, states: int) -> np.ndarray:
    sticky = random.choice([0.0, 0.5, 0.9]) * np.eye(states)
    rows = sticky + (1 - sticky.max()) * random.dirichlet(np.full(states, 2.0), size=states)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def problems(count: int, states: tuple[int, ...] = (2, 3)) -> Iterator[tuple[np.ndarray, Rates]]:
    random = np.random.default_rng(5)
    for _ in range(count):
        rows = random_matrix(random, int(random.choice(states)))
        lengths = random.integers(1, 8, size=int(random.integers(1, 4)))
        yield rows, [random.integers(1, 9, size=length).tolist() for length in lengths]


def dearest_placement(rows: np.ndarray, releases: Rates, size: int = 24) -> float:
    """Return the largest loss by the curve of the chain over some placements: touching, nested, apart."""
    chain, largest = tf.MarkovChain(rows, size), 0.0
    first, *others = releases
    for shift in range(-6, 7):
        moved = np.zeros(size)
        for number, row in enumerate([first, *others]):
            start = 9 + (shift * number if number else 0)
            start = min(max(start, 0), size - len(row))
            moved[start : start + len(row)] += np.array(row) / 10
        apart = 1 - np.eye(len(rows))
        profile = Profile.by_entry([change * apart for change in moved])
        largest = max(largest, chain_loss(chain, profile, Family(range(size))).epsilon)
    return largest


def by_quilts(rows: np.ndarray, about: Unplaced, any_start: bool) -> float:
    """Return the largest over pairs of values of the least over two nodes, or none, by powers alone."""
    powers = [np.linalg.matrix_power(rows, n) for n in range(1, 20)]
    law = np.linalg.matrix_power(rows, 2**12)[0]
    worst = 0.0
    for s, t in ((s, t) for s in range(len(rows)) for t in range(len(rows)) if s != t):
        after = [np.log(p[s] / p[t]).max() for p in powers]
        before = [np.log(p[:, s] / p[:, t]).max() for p in powers]
        back = [np.log(p[:, t] / p[:, s]).max() if any_start else np.log(law[t] / law[s]) for p in powers]
        costs = [
            before[a] + back[a] + after[b] + about.loss(a + b + 1)
            for a in range(len(powers))
            for b in range(len(powers))
        ]
        worst = max(worst, min(*costs, float(about.total)))
    return worst


@pytest.mark.parametrize("initial", ["stationary", "any"])
def test_never_above_quilts_or_an_endless_recording_or_everything(initial: str) -> None:
    for rows, releases in problems(20, (2, 3, 4)):
        chain, about = tf.MarkovChain(rows, 40, initial), unplaced(releases)
        cost = charged(chain, releases)
        forever = stretched_loss(chain.with_length(2**40), None, np.array([2**40]), np.array([1]), about.exact(1))
        assert cost <= by_quilts(rows, about, initial == "any") + 1e-9
        assert forever is None or cost <= float(forever[0]) + 1e-9
        assert cost <= float(about.total)


def test_never_below_any_placement() -> None:
    """For two states the loss of a placement is attained, and every one counts."""
    ratios = []
    for rows, releases in problems(12, (2,)):
        known = dearest_placement(rows, releases)
        cost = charged(tf.MarkovChain(rows, 40), releases)
        assert cost >= known - 1e-12
        ratios.append(cost / known)
    assert min(ratios) < 1.01


def test_one_more_release_never_costs_less() -> None:
    for rows, releases in problems(15):
        chain = tf.MarkovChain(rows, 40)
        costs = [charged(chain, releases[:count]) for count in range(1, len(releases) + 1)]
        assert all(after >= before * (1 - 1e-9) for before, after in pairwise(costs))


def test_mutant_a_stretch_too_short_is_below_a_placement(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Pieces.steps
    monkeypatch.setattr(Pieces, "steps", lambda self, length: steps(self, max(length - 1, 0)) if length > 1 else 0)
    rows, releases = np.array([[0.6, 0.4], [0.4, 0.6]]), [[5, 5, 5], [4, 4]]
    assert charged(tf.MarkovChain(rows, 40), releases) < dearest_placement(rows, releases)


def test_classes_cost_no_less_than_their_chains() -> None:
    low, high = [[0.7, 0.2], [0.2, 0.7]], [[0.8, 0.3], [0.3, 0.8]]
    releases = [[1] * 40, [1] * 30]
    one = charged(tf.MarkovChain([[0.8, 0.2], [0.2, 0.8]], 40), releases)
    for belief in (
        tf.ChainRegion(low, high, 40), tf.MarkovChainClass(0.5, 0.4, 40), tf.BinaryChainInterval(0.2, 40),
        tf.MarkovChain([[0.8, 0.2], [0.2, 0.8]], 40, "any"),
    ):  # fmt: skip
        assert one <= charged(belief, releases) < 7.0


def test_what_never_forgets_costs_everything_and_a_given_start_does() -> None:
    assert charged(tf.MarkovChain(np.eye(2) * 0.0 + [[0, 1], [1, 0]], 40), [[2, 2], [3]]) == pytest.approx(0.7)
    assert charged(tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 40, [1.0, 0.0]), [[2, 2], [3]]) == pytest.approx(0.7)


def test_of_a_pair_of_values_only_that_pair_counts() -> None:
    rows = [[0.98, 0.01, 0.01], [0.01, 0.98, 0.01], [0.3, 0.3, 0.4]]
    chain = tf.MarkovChain(rows, 40)
    releases = [[1] * 60] * 2
    assert charged(chain, releases, ((0, 2), (2, 0))) < charged(chain, releases) < 12


def test_phases_of_a_period_that_do_not_differ_cost_what_one_matrix_costs() -> None:
    rows = [[0.8, 0.2], [0.3, 0.7]]
    releases = [[3, 3, 3], [2, 2, 2, 2]]
    for initial in ("stationary", "any"):
        periodic = tf.PeriodicChain([rows, rows], 40, [0, 1, 1], initial=initial)
        assert charged(periodic, releases) == pytest.approx(
            charged(tf.MarkovChain(rows, 40, initial), releases), rel=1e-7
        )
