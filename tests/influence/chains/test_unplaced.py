"""What releases at unknown places cost: never less than at any places, never more than by quilts or for ever."""

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.support.sweep_oracles import float_suprema

import takifugu as tf
from takifugu.core.errors import Unsupported
from takifugu.influence.chains.chains import chain_loss, sides_of
from takifugu.influence.chains.sweeps import sweep
from takifugu.influence.chains.unplaced import (
    Direction,
    Pieces,
    Unplaced,
    _allowed,
    _settled,
    directions_of_chain,
    unplaced_loss,
)
from takifugu.influence.profiles.profile import Profile
from takifugu.influence.stretched import stretched_loss
from takifugu.model.secrets.families import Family
from takifugu.numbers.runs import Runs

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


def problems(count: int, states: tuple[int, ...] = (2, 3)):
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
        forever = stretched_loss(chain.with_length(2**40), None, Runs.alike(1, 2**40), about.exact(1))
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
    for rows, releases in problems(8):
        chain = tf.MarkovChain(rows, 40)
        costs = [charged(chain, releases[:count]) for count in range(1, len(releases) + 1)]
        assert all(after >= before * (1 - 1e-9) for before, after in pairwise(costs))


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


def test_a_stretch_loses_what_the_dearest_place_of_it_does() -> None:
    random = np.random.default_rng(2)
    rows = [random.integers(0, 9, size=length) for length in (1, 4, 9)]
    runs = tuple(np.concatenate([[0], np.cumsum(row)]) for row in rows)
    for pieces in (Pieces(runs[:1], Fraction(1, 7)), Pieces(runs[1:2], Fraction(1, 7)), Pieces(runs, Fraction(1, 7))):
        chosen = rows[: len(pieces.runs)] if len(pieces.runs) != 1 or pieces.runs[0] is runs[0] else rows[1:2]
        for length in range(1, 12):
            windows = [row[start : start + length] for row in chosen for start in range(len(row))]
            assert pieces.steps(length) == max(sum(window.tolist()) for window in windows)
        assert pieces.total == max(int(row.sum()) for row in chosen)
    both = Unplaced((Pieces(runs, Fraction(1, 7)), Pieces(runs[:1], Fraction(1, 3))), Fraction(5))
    for length in range(1, 12):
        exact = min(Fraction(both.pieces[0].steps(length), 7) + Fraction(both.pieces[1].steps(length), 3), Fraction(5))
        assert both.exact(length) == exact <= Fraction(both.loss(length)) <= exact * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("far", [2, 3, 16])
@pytest.mark.parametrize("falls", [0.0, 0.5])
def test_what_lies_behind_a_step_is_the_least_of_its_jumps(far: int, falls: float) -> None:
    """Steps forget nothing, a jump of one length leaves a share: rho = one step + what is jumped over + that share."""

    def supremum(position: int, distance: int, ratio: np.ndarray) -> np.ndarray:
        return (falls if distance == far else 1.0) * ratio.max() * (1 - np.eye(2))

    direction = Direction(supremum, _rises, (0,), 1, tuple(range(1, 20)), 2)
    for releases, total in (([[3, 1, 2, 5, 1, 1, 4] * 9], 500), ([[3, 1, 2, 5, 1, 1, 4] * 9, [2] * 70], 2)):
        about = replace(unplaced(releases), total=Fraction(total))
        between, one = float(about.exact(far - 1)), float(about.exact(1))
        limit = min((one + between) / (1 - falls), float(total), 0.1 * sum(map(sum, releases)))
        ratio = _settled(direction, about)
        assert limit * (1 - 1e-12) <= ratio.max()
        assert ratio.max() <= limit * (1 + 1e-9) or falls
        assert not ratio[0].diagonal().any()


def test_an_endless_stretch_bounds_what_lies_behind_a_step() -> None:
    """Where steps forget, what follows one profile for ever is a bound at once, of each phase its part."""
    night, day = np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([[0.5, 0.5], [0.3, 0.7]])
    chain = tf.PeriodicChain([night, day], 40, [0, 0, 1])
    about = unplaced([[1] * 300])
    for direction, side in zip(directions_of_chain(chain), sides_of(chain, 3 * 300), strict=True):
        ratio = _settled(direction, about)
        far = sweep(side, Profile.of(0.1 * (1 - np.eye(2)), 900))[-1]
        for phase in range(3):
            position = 900 - 1 - (450 + phase) if direction.sign > 0 else 450 + phase
            exact = far.at(position) + 0.1 * (1 - np.eye(2))
            assert (exact <= ratio[phase] * (1 + 1e-12)).all()
            assert (ratio[phase] <= exact * (1 + 1e-9)).all()


def test_releases_by_the_hour_cost_no_less_than_at_any_hour() -> None:
    """Two matrices in turn: every phase and place of the releases, of which each loss is attained."""
    random, ratios = np.random.default_rng(0), []
    for start in range(3):
        matrices = [random_matrix(random, 2) for _ in range(2)]
        releases = [random.integers(1, 9, size=length).tolist() for length in random.integers(1, 5, size=2)]
        chain = tf.PeriodicChain(matrices, 16, [0, 1, 1], start=start)
        known = max(_placed(chain, releases, first, second) for first in (6, 7, 8) for second in (first - 2, first))
        cost = charged(chain, releases)
        assert cost >= known - 1e-12
        ratios.append(cost / known)
    assert min(ratios) < 1.2


def _placed(chain: Any, releases: Rates, *starts: int) -> float:
    moved = np.zeros(chain.length)
    for start, row in zip(starts, releases, strict=True):
        moved[start : start + len(row)] += np.array(row) / 10
    profile = Profile.by_entry([change * (1 - np.eye(2)) for change in moved])
    return chain_loss(chain, profile, Family(range(chain.length))).epsilon


def test_directions_are_those_of_the_chain_at_every_phase() -> None:
    """S of a step so many steps before or behind, by the phase of a step: products of the matrices, and Bayes."""
    random = np.random.default_rng(7)
    matrices = [random_matrix(random, 3) for _ in range(3)]
    chain = tf.PeriodicChain(matrices, 40)
    ahead, behind = directions_of_chain(chain)
    size = 0.7 * (1 - np.eye(3))
    for distance in (1, 2, 5):
        ratio = np.array([size * (phase + 1) for phase in range(3)])
        after, before = ahead.after(distance, ratio), behind.after(distance, ratio)
        for phase in range(3):
            steps = reduce(np.matmul, [matrices[(phase + t) % 3] for t in range(distance)])
            assert after[phase] == pytest.approx(float_suprema(steps, size * ((phase + distance) % 3 + 1)), rel=1e-9)
            first = (phase - distance) % 3
            steps = reduce(np.matmul, [matrices[(first + t) % 3] for t in range(distance)])
            joint = (chain.marginal(first)[:, None] * steps).T
            rows = joint / joint.sum(axis=1, keepdims=True)
            assert before[phase] == pytest.approx(float_suprema(rows, size * (first + 1)), rel=1e-9)


def test_only_what_a_step_may_be_is_compared() -> None:
    """A value that is left for ever is no value of a stationary recording; where any step may be the first, it is."""
    matrix = [[0.5, 0.25, 0.25], [0.0, 0.6, 0.4], [0.0, 0.4, 0.6]]
    left, free = np.zeros((3, 3), dtype=bool), ~np.eye(3, dtype=bool)
    left[1, 2] = left[2, 1] = True
    assert (_allowed(tf.MarkovChain(matrix, 40), None, 1) == [left]).all()
    assert (_allowed(tf.MarkovChain(matrix, 40, "any"), None, 2) == [free, free]).all()
    assert not _allowed(tf.MarkovChain(matrix, 40), ((0, 1), (1, 0)), 1).any()
    some = _allowed(tf.MarkovChain(matrix, 40, "any"), ((0, 1), (1, 0)), 1)
    assert some[0, 0, 1] and some[0, 1, 0] and some.sum() == 2  # noqa: PT018


def test_steps_alone_fall_to_where_they_stay() -> None:
    """A step leaves half of what is behind it: rho = c + rho / 2, however much everything is."""
    direction = Direction(
        lambda position, distance, ratio: 0.5**distance * ratio.max() * (1 - np.eye(2)), _rises, (0,), -1, (1,), 2
    )
    ratio = _settled(direction, unplaced([[3] * 10**4]))
    assert 0.6 <= ratio.max() <= 0.6 * (1 + 1e-9)


def _rises(profile: Profile) -> Any:
    raise Unsupported("it rises for ever")
