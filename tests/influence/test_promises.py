"""What Laplace noise of a given scale promises, and what calibrations promise together: by hand."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.ledger_tools import laplace, made, one_thing
from tests.support.quilt_cases import problem, random_chain
from tests.support.scale_oracles import loss_entry_by_entry

import takifugu as tf
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.influence import quilts
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.analysis.sensitivity import part_change
from takifugu.core.errors import InputError, Unsupported
from takifugu.influence.promise import promise_of
from takifugu.mechanisms.influence import part_scales
from takifugu.model.frameworks import Framework, Pufferfish, distribution_pair
from takifugu.numbers import Pmf

WHOLE, DATA, QUILT, SINGLE = Covers
FAIR = [[0.5, 0.5], [0.5, 0.5]]
HALF, LITTLE = Fraction(1, 2), Fraction(1, 1000)


def steps(length: int, rows: Any = FAIR) -> Framework:
    return Pufferfish(tf.every_entry(), tf.MarkovChain(rows, length))


def users(count: int) -> Framework:
    return Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * count))


def promised(about: Framework, query: Any, scale: Any = 10) -> tuple[Fraction, Covers]:
    promise = promise_of(Problem(about, query, Fraction(1)), Fraction(scale))
    return round(promise.epsilon, 9), promise.covers


def test_the_smaller_of_the_components_change_and_the_quilts() -> None:
    assert promised(steps(3), tf.Linear([5, 0, 2])) == (HALF, QUILT)
    assert promised(steps(3), tf.Linear(["1/2", "3/2", 0])) == (Fraction(15, 100), QUILT)
    assert promised(steps(3), tf.Linear([5, 0, 2]), "1/2") == (10, QUILT)
    assert promised(steps(2), tf.Linear([200, 1]), 200) == (1, QUILT)  # better by half a per cent
    pieces = Pufferfish(tf.every_entry(), tf.IndependentPieces(tf.MarkovChain(FAIR, 1), [2, 1]))
    assert promised(pieces, tf.Linear([1, 4, 2])) == (Fraction(4, 10), QUILT)
    assert promised(pieces, tf.Linear([2, 3, 4])) == (Fraction(4, 10), QUILT)  # the second piece


def test_where_quilts_are_no_better_the_kind_that_composes_better_is_kept() -> None:
    assert promised(users(3), tf.Linear([5, 0, 2])) == (HALF, DATA)
    assert promised(users(3), tf.Linear([5, 0, 0])) == (HALF, WHOLE)
    twins = Pufferfish(tf.every_entry(), tf.JointTable([(0, 0, 0), (1, 1, 1)], [HALF, HALF]))
    assert promised(twins, tf.Linear([5, 0, 2])) == (Fraction(7, 10), WHOLE)
    assert promised(steps(3), tf.Linear([0, 0, 0])) == (0, WHOLE)
    clique = Pufferfish(tf.every_entry(), tf.CliqueInfection([list("ab")], {2: [0.5, 0, 0.5]}))
    assert promised(clique, tf.Linear([1, 2])) == (Fraction(3, 10), WHOLE)


def test_noise_beside_two_laws_covers_their_span() -> None:
    for unit in (1, 0.5):
        pair = distribution_pair(Pmf([0, 10 * unit], [0.5, 0.5]), Pmf([unit, 11 * unit], [0.5, 0.5]))
        assert promised(pair, tf.Identity()) == (round(Fraction(11 * unit) / 10, 9), WHOLE)


def test_together_the_strictest_framework_decides_and_says_by_which_rule() -> None:
    slow, fast = steps(3, [[0.99, 0.01], [0.01, 0.99]]), steps(3)
    both = [laplace(about, tf.Count(1), 10, QUILT, Fraction(3, 10)) for about in (slow, fast)]
    for order in (both, both[::-1]):
        together = tf.compose(order)
        assert 0.59 < together.epsilon < 0.6  # under the slow one nearly all of three steps count, twice
        assert together.covers is QUILT
        assert together.conditions == (
            "2 releases together, by the rule 'joint loss'",
            "each release's query, noise and stopping depend on the data through past outputs only",
        )
    conditioned = replace(both[0], guarantee=replace(both[0].guarantee, conditions=("a condition",)))
    assert tf.compose([conditioned]).conditions == (
        "a condition", "each release's query, noise and stopping depend on the data through past outputs only"
    )  # fmt: skip


def test_together_the_strictest_kind_of_all_frameworks_counts() -> None:
    """Where all entries have one value promises add up, and what independent steps lose is less by the noise."""
    alike, apart = one_thing(3), steps(3)
    both = [laplace(about, tf.Count(1), 10, WHOLE, Fraction(3, 10)) for about in (alike, apart)]
    assert [tf.compose([one] * 2).covers for one in both] == [WHOLE, QUILT]
    assert tf.compose(both).covers is tf.compose(both[::-1]).covers is QUILT


def test_together_deltas_add_and_the_kind_is_the_strictest() -> None:
    about = users(3)
    noise = RoundedNormal(Fraction(9), Fraction(1))
    whole, data = (made(about, tf.Count(1), noise, kind, HALF, LITTLE) for kind in (WHOLE, DATA))
    assert tf.compose([whole]).conditions == ()
    assert tf.compose([whole, data]).conditions == ("2 releases together, by the rule 'sum'",)
    together = tf.compose([whole, data, data])
    assert (together.epsilon, together.delta, together.covers) == (3 * HALF, 3 * LITTLE, DATA)
    with pytest.raises(InputError, match="nothing to compose"):
        tf.compose([])


def test_singles_count_by_their_noise_where_that_is_less() -> None:
    about = users(3)
    single, data = (laplace(about, tf.Count(1), 10, kind, HALF) for kind in (SINGLE, DATA))
    for times in (1, 5, 6, 50):  # each is 1/10 of a user, and promises 1/2
        assert tf.compose([single] * times).epsilon == Fraction(times, 10)
    assert tf.compose([single, data]).epsilon == Fraction(2, 10)


EPSILONS = ["1/10", "1", "3", "8"]


def random_problem(rng):
    """Return a problem over a chain: of any start or period, few steps or some, all read or with gaps, any weights."""
    k, length = int(rng.choice([2, 2, 2, 3, 4])), int(rng.choice([1, 2, 3, 7, 12, 25]))
    start = rng.choice(["stationary", "any", "given"])
    initial = rng.dirichlet(np.ones(k)).tolist() if start == "given" else str(start)
    chain = random_chain(rng, k, length, initial)
    if rng.random() < 0.2:
        matrices = [random_chain(rng, k, 2).matrix.tolist() for _ in range(int(rng.integers(2, 4)))]
        chain = tf.PeriodicChain(matrices, length, initial=initial)
    kind = rng.random()
    if kind < 0.4:
        query = tf.Count(1)
    elif kind < 0.6:
        query = tf.Count(0, entries=sorted(set(rng.integers(length, size=length).tolist())))
    elif kind < 0.8:
        query = tf.Histogram()
    else:
        query = tf.Linear(rng.integers(-2, 3, size=length).tolist())
    return problem(chain, query, Fraction(str(rng.choice(EPSILONS))))


def bounded_otherwise(part, epsilon):
    """Return the least scale in grid units that quilts or the change of everything need."""
    least = Fraction(part_change(part)) / epsilon
    try:
        return min(least, Fraction(quilts(part.belief).exact(part).worst(epsilon).scale))
    except Unsupported:
        return least


@pytest.mark.mutants
@pytest.mark.parametrize("seed", [
    0, pytest.param(1, marks=pytest.mark.mutants), *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 20)),
])  # fmt: skip
def test_scales_are_those_of_one_table_an_entry(seed):
    rng, strict = np.random.default_rng(seed), 0
    for _ in range(50):
        posed = random_problem(rng)
        for part in posed.parts:
            if not part_change(part):
                continue
            scale, _ = part_scales(part, {posed.epsilon: Fraction(0)})[posed.epsilon]
            otherwise = bounded_otherwise(part, posed.epsilon)
            assert scale <= otherwise * (1 + Fraction(1, 10**9))
            if scale < otherwise:
                assert loss_entry_by_entry(part, scale) <= float(posed.epsilon) * (1 + 1e-12)
            below = scale * (1 - Fraction(1, 10**9))
            if below * 10**6 * posed.epsilon > part.answer.entry_changes().max():
                assert loss_entry_by_entry(part, below) > posed.epsilon * (1 - Fraction(1, 10**12))
                strict += 1
    assert strict > 25


@pytest.mark.mutants
@pytest.mark.parametrize("stay", [0.99, 0.998])
@pytest.mark.parametrize("start", ["stationary", "any", pytest.param([0.0, 1.0], marks=pytest.mark.slow)])
def test_scales_of_runs_that_forget_slowly_are_those_of_one_table_an_entry(stay, start):
    chain = tf.MarkovChain([[stay, 1 - stay], [(1 - stay) / 3, 1 - (1 - stay) / 3]], 800, start)
    posed = problem(chain, tf.Count(1), 1)
    (part,) = posed.parts
    scale, _ = part_scales(part, {Fraction(1): Fraction(0)})[1]
    assert loss_entry_by_entry(part, scale * (1 + Fraction(1, 10**9))) <= 1
    assert loss_entry_by_entry(part, scale * (1 - Fraction(1, 10**9))) > 1


BELIEFS = {
    "stationary": lambda length: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length),
    "slow": lambda length: tf.MarkovChain([[0.998, 0.002], [0.004, 0.996]], length),
    "any start": lambda length: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length, "any"),
    "given start": lambda length: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length, [1.0, 0.0]),
    "three states": lambda length: tf.MarkovChain([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]], length),
    "period": lambda length: tf.PeriodicChain([[[0.9, 0.1], [0.4, 0.6]], [[0.5, 0.5], [0.3, 0.7]]], length),
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", BELIEFS)
def test_a_sequence_of_any_length_needs_what_a_long_one_does(name):
    def calibrated(length):
        framework = tf.Pufferfish(tf.every_entry(), [BELIEFS[name](length)])
        return tf.calibrate(framework, tf.Count(1), epsilon=1)

    one, other = calibrated(20_000), calibrated(10**9)
    assert other.scale == pytest.approx(one.scale, rel=1e-9)
    assert math.isfinite(other.scale)
    rows = [[row.name for row in calibration.alternatives] for calibration in (one, other)]
    assert rows[0] == rows[1]


def test_means_sums_and_histograms_of_any_length_are_calibrated():
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10**9)
    framework = tf.Pufferfish(tf.every_entry(), [chain])
    count = tf.calibrate(framework, tf.Count(1), epsilon=1).scale
    assert tf.calibrate(framework, tf.Mean(), epsilon=1).scale == pytest.approx(count / 10**9, rel=1e-9)
    assert tf.calibrate(framework, tf.Sum(), epsilon=1).scale == pytest.approx(count, rel=1e-9)
    assert tf.calibrate(framework, tf.Histogram(), epsilon=1).scale == pytest.approx(2 * count, rel=1e-9)
    assert tf.calibrate(framework, tf.Count(1), epsilon=1, delta=1e-6).scale <= count * (1 + 1e-9)
