"""The smallest Laplace scale: never too small, never more than needed, for two laws or for rounded ones."""

import math
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import laplace_loss, largest_over_pairs
from tests.support.chain_strategies import chains, contributions, joint_laws, table_joint, tables, weights, with_secrets
from tests.support.pair_cases import bound_by

import takifugu as tf
from takifugu.analysis.problem import Problem, pair_grid
from takifugu.analysis.questions.compared import Compared, TwoLaws
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.mechanisms import gaussian_exact
from takifugu.mechanisms.laplace_exact import MECHANISM
from takifugu.model.frameworks import Framework, Pufferfish, distribution_pair
from takifugu.model.secrets.of_entries import every_entry
from takifugu.numbers import Pmf

LENGTHS = [[0.3, 0.7], [0.9, 0.1]]
budgets = st.sampled_from([Fraction(1, 5), Fraction(1), Fraction(5)])
one_law = ("stationary", "given")
bound = partial(bound_by, MECHANISM)


def hide(belief: tf.MarkovChain | tf.JointTable | tf.IndependentPieces) -> Framework:
    return Pufferfish(every_entry(), belief)


def largest_loss(joint: dict[tuple[int, ...], Fraction], table: list[list[int]], scale: Fraction) -> Any:
    """The largest loss over every entry and pair of values of one joint law, by enumeration."""
    return largest_over_pairs(joint, table, lambda p, q: laplace_loss(p, q, scale))


def needs_no_less(scale: Fraction, loss_at: object, epsilon: Fraction) -> bool:
    """Whether 0.1 % less noise than `scale` (taken before rounding, 1e-9 below) loses more than epsilon."""
    return scale == 0 or loss_at(scale * Fraction(999, 1000)) > epsilon  # type: ignore[operator]


@settings(max_examples=30)
@given(st.data(), chains(length=(1, 5), starts=one_law), budgets)
def test_enough_and_no_more_on_chains(data: st.DataObject, chain: tf.MarkovChain, epsilon: Fraction) -> None:
    query = tf.Linear(data.draw(weights(chain.length)), grid=1)
    framework = with_secrets(chain)
    noise = bound(framework, query, epsilon).randomiser
    (joint,), table = joint_laws(chain), contributions(query.resolve(chain))
    assert largest_loss(joint, table, noise.scale) <= epsilon + mpmath.mpf(10) ** -12
    assert tf.exact_loss(framework, query, noise).upper <= epsilon + 1e-12
    assert needs_no_less(noise.scale, lambda b: largest_loss(joint, table, b), epsilon)


@settings(max_examples=50)
@given(st.booleans().flatmap(tables), budgets)
def test_enough_and_no_more_on_tables(table: tf.JointTable, epsilon: Fraction) -> None:
    framework = with_secrets(table)
    noise = bound(framework, tf.Sum(), epsilon).randomiser
    joint, contribution = table_joint(table), contributions(tf.Sum().resolve(table))
    units = noise.scale / noise.grid
    assert largest_loss(joint, contribution, units) <= epsilon
    assert tf.exact_loss(framework, tf.Sum(), noise).upper <= epsilon + 1e-12
    assert needs_no_less(units, lambda b: largest_loss(joint, contribution, b), epsilon)


@settings(max_examples=20)
@given(st.data(), chains(length=(1, 4), starts=("any",)), budgets)
def test_enough_and_no_more_for_any_start(data: st.DataObject, chain: tf.MarkovChain, epsilon: Fraction) -> None:
    query = tf.Linear(data.draw(weights(chain.length)), grid=1)
    framework = with_secrets(chain)
    noise = bound(framework, query, epsilon).randomiser
    assert tf.exact_loss(framework, query, noise).upper <= epsilon + 1e-12
    if isinstance(noise, DiscreteLaplace) and noise.units > Fraction(1, 50):
        less = DiscreteLaplace(noise.units * Fraction(999, 1000), noise.grid)
        assert tf.exact_loss(framework, query, less).lower > epsilon


def test_pieces_that_are_shorter_are_looked_at_too() -> None:
    pieces = tf.IndependentPieces(tf.MarkovChain(LENGTHS, 20), [20, 1])
    assert bound(hide(pieces), tf.Count(1, entries=[20])).randomiser.scale == 1
    short = tf.IndependentPieces(tf.MarkovChain(LENGTHS, 3), [3, 1])
    assert 0.9 < tf.exact_loss(hide(short), tf.Count(1), bound(hide(short), tf.Count(1)).randomiser).upper <= 1 + 1e-12
    for start in ("stationary", "any"):
        alone = tf.IndependentPieces(tf.MarkovChain(LENGTHS, 4, initial=start), [4, 3])
        noise = bound(hide(alone), tf.Count(1)).randomiser
        assert 0.9 < tf.exact_loss(hide(alone), tf.Count(1), noise).upper <= 1 + 1e-12


@pytest.mark.parametrize("epsilon", [1, 150, 400, 10**4])
def test_the_scale_is_rounded_up_by_at_most_one_part_in_ten_billion(epsilon: int) -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5)
    (joint,), table = joint_laws(chain), contributions(tf.Count(1).resolve(chain))
    scale = bound(hide(chain), tf.Count(1), Fraction(epsilon)).randomiser.scale
    less = scale * (1 - Fraction(1, 10**10))
    assert largest_loss(joint, table, scale) <= epsilon < largest_loss(joint, table, less)


# The noise for two laws of the answer: discrete where the atoms share a grid, else continuous and rounded once.


def problem(atoms: list[Any], grid: str | None = None) -> Problem:
    half = [Fraction(1, 2)] * 2
    return Problem(distribution_pair(Pmf(atoms[:2], half), Pmf(atoms[2:], half)), tf.Identity(grid=grid), Fraction(1))


@pytest.mark.parametrize(("atoms", "declared", "grid", "common"), [
    ([0, 20, 10, 30], None, Fraction(10), True),
    ([0.0, 2.0, 1.0, 3.0], None, Fraction(1), True),
    ([Fraction(1, 3), Fraction(1, 2), 0, 1], None, Fraction(1, 6), True),
    ([0.5, 1.5, 0.25, 2.0], None, Fraction(1, 4), True),
    ([0.1, 0.2, 0.3, 0.4], None, Fraction(1, 10), True),
    ([0.1234567, 0.2, 0.3, 0.4], None, Fraction(1, 10**7), False),
    ([0.1234567, 10.2, 0.3, 0.4], None, Fraction(1, 10**5), False),
    ([0, 1, Fraction(1, 10**7), 2], None, Fraction(1, 10**6), False),
    ([0, 20, 10, 30], "5", Fraction(5), True),
    ([0, 20, 10, 30], "7", Fraction(7), False),
    ([0, 1, 2, 3], "1/2", Fraction(1, 2), True),
    ([0, 1, 0, 1], None, Fraction(1), True),
])  # fmt: skip
def test_the_grid_of_two_laws(atoms: list[Any], declared: str | None, grid: Fraction, common: bool) -> None:
    assert pair_grid(problem(atoms, declared)) == (grid, common)


# Laws whose masses are known up to a relative error: each promise is for all laws that may be the true ones.

ONE = Fraction(1)
#: What is enough however the masses were rounded, and what no move exceeds.
STRICT, FARTHEST = Fraction(77), 99
QUARTERS = Pmf([0, 1], [ONE / 4, 3 * ONE / 4]), Pmf([0, 1], [3 * ONE / 4, ONE / 4])


def compared(p: Pmf, q: Pmf, error: float) -> Compared:
    return Compared(
        (0, 0), (1, 0), FARTHEST, lambda scale: math.inf, lambda: (1, FARTHEST), lambda: TwoLaws(p, q, error),
        lambda epsilon: STRICT, lambda epsilon: (FARTHEST, STRICT),
    )  # fmt: skip


def test_normal_noise_keeps_the_smaller_budget_and_share_or_falls_to_the_farthest_move() -> None:
    p, q = QUARTERS
    delta = Fraction(1, 100)

    def need(error: float, epsilon: Fraction = ONE, share: Fraction = delta) -> Fraction:
        return gaussian_exact._needed(compared(p, q, error), Fraction(0), epsilon, share)

    one = compared(p, q, 0.1).laws()
    assert need(0.0) < need(0.01) < need(0.1) == need(0.0, one.budget(ONE), one.share(delta))
    assert need(0.5) > FARTHEST, "the move of all mass at the whole budget"
    assert not gaussian_exact._keeps(compared(p, q, 0.5).laws(), Fraction(10**9), 1.0, delta)
    assert gaussian_exact._keeps(one, need(0.1) * (1 + Fraction(1, 10**6)), 1.0, delta)
    assert not gaussian_exact._keeps(one, need(0.0), 1.0, delta)


# Ten thousand steps, against laws worked out in the long range of 80-bit floats.

Floats = npt.NDArray[np.longdouble]

MATRIX = [[0.9, 0.1], [0.4, 0.6]]
CHANCES, STATIONARY = np.array(MATRIX, dtype=np.longdouble), np.array([0.8, 0.2], dtype=np.longdouble)


def noised(masses: Floats, scale: float) -> Floats:
    """Return the density of the count plus Laplace noise, up to a factor."""
    left, right, reach = masses.copy(), masses.copy(), 1
    decay = np.longdouble(1) / np.longdouble(scale)
    while reach < len(masses):
        left[reach:] += left[:-reach] * np.exp(-reach * decay)
        right[:-reach] += right[reach:] * np.exp(-reach * decay)
        reach *= 2
    left[:-1] += right[1:] * np.exp(-decay)
    return left


def loss(laws: tuple[Floats, Floats], scale: float) -> float:
    return float(np.abs(np.log(noised(laws[0], scale) / noised(laws[1], scale))).max())
