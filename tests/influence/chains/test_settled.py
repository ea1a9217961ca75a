"""The bounds at which the sweeps of a chain settle: one step of the oracle keeps them, and no step exceeds them."""

from fractions import Fraction
from random import Random

import mpmath
import numpy as np
import pytest
from tests.support.forged import random_matrix
from tests.support.rounds import samples
from tests.support.step_losses import after_jump, backwards, closed, losses, times

import takifugu as tf
from takifugu.influence.chains.chains import chain_loss
from takifugu.influence.chains.settled import ROWS_OFF, settled
from takifugu.influence.profiles.profile import Profile
from takifugu.model.secrets.families import Family


def check_bound(matrix: list[list[float]], change: float, length: int) -> None:
    """One step of the oracle keeps the settled bounds of a histogram, and its twentieth step is below them."""
    states, chain = len(matrix), tf.MarkovChain(matrix, length)
    profile, family = Profile.of(change * (1 - np.eye(states)), length), Family(range(length))
    bounds = settled(chain, profile, family, 10**6)
    assert bounds.loss == chain_loss(chain, profile, family)
    said = bounds.to_dict()
    with mpmath.workdps(60):
        exact = [[mpmath.mpf(x) / sum(map(mpmath.mpf, row)) for x in row] for row in chain.matrix.tolist()]
        c = [[mpmath.mpf(change) * (u != v) for v in range(states)] for u in range(states)]
        for side, direction in (("after", exact), ("before", backwards(exact))):
            if said[side] is None:
                continue
            bound = [list(map(mpmath.mpf, row)) for row in said[side]]
            for row, more in zip(stepped(direction, c, bound, bounds.jumps), bound, strict=True):
                assert all(loss <= most for loss, most in zip(row, more, strict=True))
            last = losses(direction, c, 20, bounds.jumps)[-1]
            assert all(last[u][v] <= bound[u][v] for u in range(states) for v in range(states))


def stepped(chain: list, c: list, bound: list, jumps: tuple[int, ...]) -> list:
    """Return what one step, with all its jumps, makes of a bound of all steps."""
    power, best, most = chain, None, max(map(max, c))
    for distance in range(1, max(jumps) + 1):
        if distance > 1:
            power = times(power, chain)
        if distance in jumps:
            jumped = after_jump(power, c, bound)
            cost = (distance - 1) * most
            added = [[x + cost * (u != v) for v, x in enumerate(row)] for u, row in enumerate(jumped)]
            best = added if best is None else [list(map(min, a, b)) for a, b in zip(best, added, strict=True)]
    return closed(best)


@pytest.mark.mutants
@pytest.mark.parametrize(("seed", "cases"), samples((1, 3), (1, 6), (2, 150)))
def test_one_step_keeps_the_settled_bounds(seed: int, cases: int) -> None:
    chance = Random(seed)
    for _ in range(cases):
        states = chance.choice([2, 3])
        check_bound(random_matrix(chance, states), chance.uniform(0.01, 0.5), chance.choice([200, 2000]))


def test_numbers_of_a_witness_are_decimals_that_are_not_below() -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.2, 0.8]], 1000)
    bounds = settled(chain, Profile.of([[0, 0.3], [0.3, 0]], 1000), Family(range(1000)), 10**6)
    said = bounds.to_dict()
    assert set(said) == {"loss", "step", "pair", "jumps", "after", "before"}
    assert Fraction(said["loss"]) >= Fraction(bounds.loss.epsilon)
    assert bounds.after is not None
    for row, texts in zip(bounds.after.tolist(), said["after"], strict=True):
        for loss, text in zip(row, texts, strict=True):
            assert Fraction(loss) <= Fraction(text) < Fraction(loss) + ROWS_OFF + Fraction(1, 10**23)


def test_rows_that_sum_to_less_than_1_keep_their_bounds() -> None:
    """Rows that are divided by their exact sums made steps larger than the bound, by 6e-18."""
    matrix = [[0.3174731855042704, 0.6825268144957296], [0.3236712589869523, 0.6763287410130476]]
    check_bound(matrix, 0.9, 336)


def test_of_a_run_there_is_no_pair() -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.2, 0.8]], 1000)
    profile = Profile.of([[0, 0.3], [0.3, 0]], 1000)
    assert settled(chain, profile, Family(range(1000)), 10**6).to_dict()["pair"] in ([0, 1], [1, 0])
    assert settled(chain, profile, Family(range(1000), run=3), 10**6).to_dict()["pair"] is None
