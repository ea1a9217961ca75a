"""The smallest Laplace scale: never too small, never more than needed, for two laws or for rounded ones."""

import math
import re
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
from takifugu.analysis.bounds import Mechanism
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem, pair_grid
from takifugu.analysis.questions.compared import Compared, TwoLaws
from takifugu.analysis.randomisers import DiscreteLaplace, Exact, RoundedLaplace
from takifugu.mechanisms import gaussian_exact, kantorovich_relaxed, normal_by_rule, wasserstein_delta
from takifugu.mechanisms.group_dp import MECHANISM as GROUP
from takifugu.mechanisms.laplace_exact import MECHANISM
from takifugu.mechanisms.wasserstein import MECHANISM as WASSERSTEIN
from takifugu.model.beliefs.pair import LawPair
from takifugu.model.frameworks import Framework, Pufferfish, distribution_pair
from takifugu.model.secrets import WhichLaw
from takifugu.model.secrets.of_entries import entry, every_entry
from takifugu.numbers import Pmf
from takifugu.numbers.transport.on_the_line import w_infinity

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


@pytest.mark.mutants
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


@settings(max_examples=40)
@given(chains(length=(1, 6)), budgets)
def test_never_above_wasserstein_never_above_group(chain: tf.MarkovChain, epsilon: Fraction) -> None:
    framework = with_secrets(chain)
    smallest, wasserstein, group = (
        bound_by(m, framework, tf.Count(1), epsilon).randomiser.scale for m in (MECHANISM, WASSERSTEIN, GROUP)
    )
    assert smallest <= wasserstein * (1 + Fraction(1, 10**10))
    assert wasserstein <= group


def test_zero_noise_where_the_belief_hides_the_secret() -> None:
    chain = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 3)
    framework = Pufferfish(entry(0, 0, 1), chain)
    bounded = bound(framework, tf.Count(1, entries=[1, 2]))
    assert bounded.randomiser == Exact(Fraction(1))
    assert bounded.covers is Covers.OUTPUT
    assert tf.exact_loss(framework, tf.Count(1, entries=[1, 2]), bounded.randomiser).loss == pytest.approx(0, abs=1e-12)


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


@pytest.mark.parametrize("mechanism", [WASSERSTEIN, MECHANISM])
@pytest.mark.parametrize("atoms", [[0, 20, 10, 30], [0.105, 0.2, 0.3, 0.4], [0.0, 1.0, 0.3333333333, 2.0]])
def test_the_noise_keeps_the_promise_in_answer_units(mechanism: Mechanism, atoms: list[Any]) -> None:
    posed = problem(atoms, "0.01" if isinstance(atoms[0], float) else None)
    noise = bound_by(mechanism, posed.framework, posed.query).randomiser
    assert isinstance(noise, DiscreteLaplace if isinstance(atoms[0], int) else RoundedLaplace)
    audit = tf.exact_loss(posed.framework, posed.query, noise)
    assert audit.upper <= 1 + 1e-12
    # Rounding is post-processing: it may only lose a little of what the continuous noise needs.
    assert mechanism is WASSERSTEIN or audit.loss > 0.9


@pytest.mark.parametrize("mechanism", [WASSERSTEIN, MECHANISM])
@pytest.mark.parametrize("order", [1, -1])
def test_the_belief_that_needs_a_little_more_noise_decides(mechanism: Mechanism, order: int) -> None:
    q = Pmf([1, 2], [0.5, 0.5])
    pairs = [LawPair(Pmf([0, 1], [0.5, 0.5]), q), LawPair(Pmf([0, 1], [0.501, 0.499]), q)]
    scales = [
        bound_by(mechanism, Framework((WhichLaw(),), tuple(beliefs)), None, 2).randomiser.scale
        for beliefs in (pairs[:1], pairs[1:], pairs[::order])
    ]
    assert scales[0] < scales[1] or mechanism is WASSERSTEIN
    assert max(scales[:2]) <= scales[2] <= max(scales[:2]) * (1 + Fraction(1, 10**10))


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


def far(mass: Fraction) -> tuple[Pmf, Pmf]:
    """Return two laws of which this mass lies 10 away from anything of the other."""
    return Pmf([0, 10], [1 - mass, mass]), Pmf([0], [1])


@pytest.mark.parametrize("error", [0.0, 0.01])
def test_mass_that_stays_where_it_is_leaves_room_for_the_error(error: float) -> None:
    delta = Fraction(1, 10)
    most = delta - 2 * Fraction(error)

    def need(mass: Fraction, at: Fraction = Fraction(0)) -> Fraction:
        return wasserstein_delta._needed(compared(*far(mass), error), at, Fraction(2), delta)

    assert need(most * (1 - Fraction(1, 10**9))) == 0
    assert need(most * (1 + Fraction(1, 10**9))) == 5 == need(most * 2)
    assert need(most * 2, Fraction(5)) == 5
    assert need(most * 2, Fraction(7)) == 7
    assert need(most * 2, Fraction(4)) == 5


def test_no_mass_may_stay_where_the_error_is_half_of_delta() -> None:
    delta = Fraction(1, 10)
    for error in (0.05, 0.06):
        needed = wasserstein_delta._needed(compared(*far(Fraction(1, 100)), error), Fraction(0), ONE, delta)
        assert needed == STRICT


def test_a_relaxed_plan_keeps_the_smaller_budget_or_falls_to_the_strict_one() -> None:
    p, q = QUARTERS
    scales = [kantorovich_relaxed._needed(compared(p, q, error), Fraction(0), ONE) for error in (0.0, 0.01, 0.1)]
    assert scales == sorted(set(scales)), "more noise, the less is known of the laws"
    smaller = compared(p, q, 0.1).laws().budget(ONE)
    assert scales[2] == kantorovich_relaxed._needed(compared(p, q, 0.0), Fraction(0), smaller)
    assert kantorovich_relaxed._needed(compared(p, q, 0.5), Fraction(0), ONE) == STRICT
    assert kantorovich_relaxed._needed(compared(p, q, 0.1), STRICT, ONE) == STRICT


@pytest.mark.mutants
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


def test_rules_of_normal_noise_spare_what_the_error_may_hide() -> None:
    delta = Fraction(1, 10)
    assert normal_by_rule._move(compared(*far(Fraction(1, 1000)), 0.0), delta) == (10, 0)
    error, most = 1 / 512, Fraction(4, 512)
    least = most - Fraction(2, 512)
    near, spared = normal_by_rule._move(compared(*far(least * Fraction(9, 10)), error), delta)
    assert (near, spared) == (0, most)
    beyond, _ = normal_by_rule._move(compared(*far(least * Fraction(11, 10)), error), delta)
    assert beyond == 10 == w_infinity(*far(ONE / 2))
    assert normal_by_rule._move(compared(*far(ONE / 2), float(delta) / 4), delta) == (FARTHEST, 0)
    tiny = compared(*far(ONE / 2), 2.0**-60)
    assert normal_by_rule._move(tiny, delta) == (10, delta * normal_by_rule.SPARE)
    assert normal_by_rule._move(compared(*far(ONE / 2), 1 / 64), Fraction(1, 4)) == (10, Fraction(1, 16))
    assert normal_by_rule._move(compared(*far(ONE / 2), 1 / 64 + 1e-6), Fraction(1, 4)) == (FARTHEST, 0)


# Ten thousand steps, against laws worked out in the long range of 80-bit floats.

Floats = npt.NDArray[np.longdouble]

LENGTH = 10_000
MATRIX = [[0.9, 0.1], [0.4, 0.6]]
CHANCES, STATIONARY = np.array(MATRIX, dtype=np.longdouble), np.array([0.8, 0.2], dtype=np.longdouble)


def same(masses: Floats) -> Floats:
    return np.concatenate((masses, [0]))


def larger(masses: Floats) -> Floats:
    """Return the law of a count that is one larger."""
    return np.concatenate(([0], masses))


def laws_at(entry: int) -> tuple[Floats, Floats]:
    """Return P(count = n | X_entry = s) for s = 0 and 1, by two recurrences and a sum over where they meet."""
    before = same(STATIONARY[:1]), larger(STATIONARY[1:])
    for _ in range(entry):
        out, into = (before[0] * CHANCES[0, s] + before[1] * CHANCES[1, s] for s in (0, 1))
        before = same(out), larger(into)
    behind = np.ones(1, dtype=np.longdouble), np.ones(1, dtype=np.longdouble)
    for _ in range(LENGTH - 1 - entry):
        out, into = same(behind[0]), larger(behind[1])
        behind = out * CHANCES[0, 0] + into * CHANCES[0, 1], out * CHANCES[1, 0] + into * CHANCES[1, 1]
    laws = []
    for s in (0, 1):
        total = np.zeros(LENGTH + 1, dtype=np.longdouble)
        for count, mass in enumerate(before[s]):
            total[count : count + len(behind[s])] += mass * behind[s]
        laws.append(total / total.sum())
    return laws[0], laws[1]


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


def tails(masses: Floats) -> Floats:
    """Return P(count >= n)."""
    return np.cumsum(masses[::-1])[::-1]


@pytest.mark.slow
def test_ten_thousand_steps() -> None:
    assert np.finfo(np.longdouble).minexp < -16_000
    framework = hide(tf.MarkovChain(MATRIX, LENGTH))
    exact, moving = (bound_by(mechanism, framework, tf.Count(1)) for mechanism in (MECHANISM, WASSERSTEIN))
    scale, farthest = float(exact.randomiser.scale), round(float(moving.randomiser.scale))
    named = re.match(r"step (\d+) ", exact.witness.comparison)
    assert named
    for step in {0, LENGTH // 2, int(named[1])}:
        laws = laws_at(step)
        assert loss(laws, scale) <= 1 + 1e-9
        at_least = tails(laws[0]), tails(laws[1])
        # A plan without a move longer than w: P(count >= n | 1) <= P(count >= n - w | 0), and the other way round.
        for one, other in (at_least, at_least[::-1]):
            assert (one[farthest:] <= other[:-farthest] + 1e-9).all()
        if step == int(named[1]):
            assert loss(laws, scale * (1 - 1e-7)) > 1
        if step == LENGTH // 2:
            assert (at_least[1][farthest - 1 :] > at_least[0][: 1 - farthest] + 1e-6).any()
    assert scale < farthest
