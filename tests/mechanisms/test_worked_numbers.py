"""Small examples with their numbers: two bits, coins that differ, an epidemic of four people."""

import math
from fractions import Fraction

import numpy as np
import pytest

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Direction
from takifugu.mechanisms import kantorovich_exponential, optimal, quilts, wasserstein, wasserstein_delta
from takifugu.mechanisms.attribute import gaussian, gaussian_approx
from takifugu.mechanisms.common.channel_program import ratio_limits, solved
from takifugu.mechanisms.common.lines import along_line
from takifugu.mechanisms.common.shares import most_answers, share_law
from takifugu.mechanisms.kantorovich_exponential import exponential_rows, largest_rate
from takifugu.mechanisms.local.held_out import halves_of
from takifugu.mechanisms.local.measuring import distribution_loss, lifted_loss, metric_loss
from takifugu.mechanisms.local.over_classes import value_loss
from takifugu.mechanisms.local.populations import populations_of
from takifugu.mechanisms.local.senders import randomised
from takifugu.mechanisms.local.weights import decaying
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.mechanisms.one_sided.sparse import SparseAnswers
from takifugu.model.beliefs.contacts import Clique
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.numbers import Pmf
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.noise import SystemEntropy

HALF = Fraction(1, 2)
BITS = tf.distribution_pair(Pmf([0], [1]), Pmf([1], [1]))
WELL, ILL = Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1])
FLU = tf.distribution_pair(WELL, ILL)
#: What the best channel of one bit errs on average at epsilon 1: 1 / (1 + e).
ERROR = 1 / (1 + math.e)
TWO = {"home": {"a": "0.8", "b": "0.2"}, "out": {"a": "0.3", "b": "0.7"}}


def test_one_bit_is_flipped_as_often_by_every_best_channel() -> None:
    problem = Problem(BITS, tf.Identity(), Fraction(1))
    exponential = kantorovich_exponential.MECHANISM.bound(problem).randomiser
    assert (exponential.rate, exponential.expected_error()) == pytest.approx((1.0, ERROR), abs=1e-6)
    assert optimal.MECHANISM.bound(problem).randomiser.mean_error() == pytest.approx(ERROR, abs=1e-6)
    expected = np.array([[1 - ERROR, ERROR], [ERROR, 1 - ERROR]])
    assert exponential_rows([0, 1], [0, 1], lambda x, y: abs(x - y), 1.0) == pytest.approx(expected)
    limits = ratio_limits(np.array([[1.0, -math.e], [-math.e, 1.0]]), 2)
    assert solved(np.array([[0.0, 0.5], [0.5, 0.0]]), limits).matrix == pytest.approx(expected, abs=1e-6)


def test_the_flu_example() -> None:
    bound = wasserstein.MECHANISM.bound(Problem(FLU, tf.Identity(), HALF))
    assert (bound.randomiser.scale, bound.witness.numbers) == (4, (("w_infinity", 2.0),))
    with_delta = wasserstein_delta.MECHANISM.bound(Problem(FLU, tf.Identity(), Fraction(1), Fraction(1, 4)))
    assert with_delta.randomiser.scale == 1


def test_columns() -> None:
    coins = {"low": {1: "0.4", 0: "0.6"}, "high": {1: "0.6", 0: "0.4"}}
    states = ["low", "high"]
    net = tf.BayesianNetwork([("h", states, [], [0.5, 0.5]), ("i", states, ["h"], [[0.6, 0.4], [0.4, 0.6]])])
    belief = tf.Parameters(net, {"h": coins, "i": coins}, records=500)
    framework = tf.Pufferfish(tf.distribution_parameter("i"), belief)
    own = quilts.OF_COLUMNS.bound(Problem(framework, tf.Count(1, entries=["i"]), Fraction(1)))
    other = quilts.OF_COLUMNS.bound(Problem(framework, tf.Sum("h"), Fraction(1)))
    assert (own.randomiser.scale, other.randomiser.kind) == (500, "none")


def test_nearly_normal_answers() -> None:
    incomes = {40: tf.NormalMixture([0.5, 0.5], [1, 2], [2, 2]), 50: tf.NormalMixture([0.5, 0.5], [2, 3], [2, 2])}
    framework = tf.Pufferfish(tf.dataset_property("income", "mean"), tf.Density("income", "mean", incomes))
    problem = Problem(framework, tf.Identity(), Fraction(1), Fraction(1, 1000))
    assert gaussian_approx.MECHANISM.bound(problem).randomiser.scale == pytest.approx(1.646, abs=1e-3)
    split = gaussian_approx.Split.at(0.1, 1e-7, Fraction(1), Fraction(1, 10**5))
    assert split is not None
    assert split.epsilon == Fraction(14411518807585587, 18014398509481984)
    words = "in each number the noise stays below 3.92 with probability 95 % (Zhang22 Theorem 2)"
    assert gaussian.accurate(Fraction(4)) == words


def test_rates_on_a_circle_and_on_a_line() -> None:
    def around(x: int, y: int) -> int:
        return min((x - y) % 6, (y - x) % 6)

    assert largest_rate([(0, 2), (1, 1)], range(6), around, 1) == pytest.approx(0.5)
    assert 0.25 <= largest_rate([(0, 2)], range(6), lambda x, y: abs(x - y), 1) < 0.5


def test_shares_of_an_answer() -> None:
    users = tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 25)
    assert most_answers(users, tf.Count(1).resolve(users)) == 26
    clique = Clique(2, Pmf([0, 1, 2], [HALF, Fraction(1, 4), Fraction(1, 4)]))
    law, _ = share_law(clique, tf.Count(1).resolve(clique))
    assert [str(mass) for _, mass in law.items()] == ["1/2", "1/4", "1/4"]
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=3)
    line = along_line(tf.Histogram().resolve(chain))
    assert line is not None
    assert line.tables[0].tolist() == [[0], [2]]


def test_populations_of_two_values() -> None:
    two = populations_of(FromPopulations(TWO))
    assert (two.values, two.pairs) == (("a", "b"), (("home", "out"),))
    assert two.distances.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert value_loss(two) == pytest.approx(math.log(3.5))
    halves = halves_of([("m", 1), ("m", 2), ("f", 1)], ["p", "q", "p"])
    assert halves[1] == ([("m", 2)], ["q"])


def test_channels() -> None:
    flip = Channel.of([0, 2], [0, 2], [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    assert metric_loss(flip, lambda x, y: abs(x - y)) == pytest.approx(math.log(3) / 2)
    keep = Channel.of([0, 1], [0, 1], [[1, 0], [0, 1]])
    told = distribution_loss(keep, {0: HALF, 1: HALF}, {0: Fraction(1, 4), 1: Fraction(3, 4)})
    assert told == pytest.approx(math.log(2))
    assert randomised(keep, np.array([1, 0, 1])).tolist() == [1, 0, 1]
    assert lifted_loss([[HALF, HALF, 0], [0, HALF, HALF]], np.array([[0, 1, 5], [1, 0, 1], [5, 1, 0.0]])) == 1.0
    assert decaying(np.array([[0.0, 1.0]]), math.log(2)).tolist() == [[1.0, 0.5]]


def test_safe_cells() -> None:
    three = SafeCells(Fraction(2), Fraction(1), 3, (5,), 1, Fraction(2))
    assert three.loss(Fraction(1), Direction.DOWN) == HALF
    assert SafeCells(Fraction(2), Fraction(1), 1, (5,), None, Fraction(2), Fraction(1, 1000)).beyond == 14
    one = SafeCells(Fraction(1), Fraction(1), 1, (5,), None, Fraction(1))
    assert one.chance(5, 5) == pytest.approx(1 - math.exp(-1))
    asking = SparseAnswers(1000, limit=1).session(SystemEntropy())
    assert (asking.ask(2, 5), asking.ask(7, 5), asking.ask(2, 5)) == ("safe", 7, None)
