"""Choices among values: the loss of one entry by brute force, correlated secrets by the audit, what is refused."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from tests.support.choice_oracles import frequent_law, rank_law, worst_ratio

import takifugu as tf
from takifugu.analysis.bounds import Bound, Cost, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace, from_dict
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.audit.exact import joint_loss
from takifugu.calibration.registry import Line
from takifugu.calibration.trials import attempt
from takifugu.core.errors import CalibrationRefused, InputError, Unsupported
from takifugu.mechanisms.common.answer_noise import laplace_noise, normal_noise
from takifugu.mechanisms.one_sided import Asymmetric, Policy, none_of
from takifugu.model.beliefs.domain import Domain
from takifugu.model.queries.choices.candidates import AtRank, MostFrequent
from takifugu.numbers import Pmf

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
STAY = [[0.9, 0.1], [0.4, 0.6]]
THREE = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]

#: A goal, the number of candidates, and of entries at which what is lost comes near to the price.
GOALS = [
    (MostFrequent(1), 2, 30), (MostFrequent(1), 3, 12), (MostFrequent(2), 2, 30), (MostFrequent(2), 3, 12),
    (MostFrequent(3), 3, 12), (MostFrequent(2), 4, 7), (AtRank((HALF,)), 2, 30), (AtRank((HALF,)), 3, 12),
    (AtRank((Fraction(9, 10),)), 3, 12), (AtRank((QUARTER, HALF)), 3, 12),
]  # fmt: skip


def law_of(noise, goal):
    """Return the law of a choice by its definition, at the rate that the randomiser says it has."""
    rate = float(noise.rate)
    if isinstance(goal, MostFrequent):
        return lambda counts: frequent_law(counts, goal.count, rate)
    return lambda counts: rank_law(counts, goal.shares, rate)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("goal", "candidates", "size"), GOALS, ids=str)
def test_no_entry_loses_more_than_its_epsilon_and_the_price_is_needed(goal, candidates, size):
    """Every count of the entries, every change of one, every output; half of the noise would break the promise."""
    epsilon = 3.0
    noise = PermuteAndFlip(Fraction(2) / Fraction(epsilon), tuple("abcd"[:candidates]), goal)
    worst = worst_ratio(law_of(noise, goal), candidates, size)
    assert worst <= epsilon * (1 + 1e-12)
    assert worst > 0.6 * epsilon
    assert worst_ratio(law_of(replace(noise, units=noise.units / 2), goal), candidates, size) > epsilon


@pytest.mark.parametrize(("goal", "candidates", "size"), GOALS, ids=str)
def test_the_density_is_that_of_the_definition(goal, candidates, size):
    names = tuple("abcd"[:candidates])
    noise = PermuteAndFlip(Fraction(5, 2), names, goal)
    counts = (3, 0, 5, 1)[:candidates]
    law = law_of(noise, goal)(counts)
    for output in noise.possible():
        chance = law.get(tuple(names.index(name) for name in output), 0.0)
        assert math.exp(noise.log_density((*counts, 2), output)) == pytest.approx(chance, rel=1e-10)
    assert noise.log_density((*counts, 2), ("z",) * goal.draws) == -math.inf
    assert from_dict(json.loads(json.dumps(noise.to_dict()))) == noise


@pytest.mark.parametrize("shares", [(HALF,), (QUARTER, Fraction(9, 10)), (Fraction(1, 3), HALF, Fraction(2, 3))])
def test_how_far_a_value_is_from_a_quantile_by_listing_all_entries(shares):
    for counts in product(range(4), repeat=3):
        entries = [value for value, count in enumerate(counts) for _ in range(count)]
        for drawn, share in enumerate(shares):
            far = {
                value: max(
                    0,
                    sum(entry < value for entry in entries) - share * len(entries),
                    sum(entry > value for entry in entries) - (1 - share) * len(entries),
                )
                for value in range(3)
            }
            goal = AtRank(shares)
            assert min(far.values()) == 0
            assert goal.deficits(counts, (0,) * drawn) == far
            assert all((distance / goal.step).denominator == 1 for distance in far.values())


FRAMEWORKS = {
    "chain": tf.Pufferfish(tf.every_entry(), tf.MarkovChain(STAY, 4)),
    "any start": tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.7, 0.3], [0.2, 0.8]], 3, "any")),
    "alternating": tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.1, 0.9], [0.8, 0.2]], 4)),
    "three states": tf.Pufferfish(tf.every_entry(), tf.MarkovChain(THREE, 3)),
    "one secret": tf.Pufferfish(tf.entry(1, 0, 1), tf.MarkovChain(STAY, 4)),
    "people": tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.25, 1: 0.5, 2: 0.25}] * 3)),
    "one step": tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 1)),
}
QUERIES = {
    "mode": tf.Mode(), "top 2": tf.TopK(2), "median": tf.Median(), "quartiles": tf.Quantile([0.25, 0.75]),
    "some entries": tf.Median(entries=[0]), "of two": tf.Mode(states=[1, 0]),
}  # fmt: skip


#: Entries of each group: apart, and with some that two groups hold.
APART, OVERLAPPING = {"a": [0], "b": [1, 2]}, {"a": [0, 1], "b": [1, 2]}


@pytest.mark.sampled(17)
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("belief", FRAMEWORKS)
def test_correlated_secrets_keep_epsilon(belief, query):
    """The audit lists every joint state and every output; its law of a choice shares no code with the calibration."""
    assert keeps_epsilon(belief, QUERIES[query])


def keeps_epsilon(belief, query):
    calibrations = []
    for mechanism in ("influence", "quilt-exact", "group-dp"):
        try:
            calibrations.append(tf.calibrate(FRAMEWORKS[belief], query, 1, mechanism=mechanism))
        except CalibrationRefused:
            assert mechanism != "group-dp"
            continue
        assert tf.exact_loss(calibrations[-1]).loss <= 1 + 1e-9
    return calibrations


def test_mechanisms_that_rely_on_the_law_of_a_number_refuse():
    rows = {row.name: row for row in tf.compare(FRAMEWORKS["chain"], tf.Mode(), 1, delta=0.01)}
    assert {name for name, row in rows.items() if row.scale is not None} <= {
        "influence", "quilt-exact", "quilt-approx", "group-dp", "record-dp"
    }  # fmt: skip
    assert "one of declared values is chosen" in rows["laplace-exact"].reason


def test_it_composes_with_numbers_and_with_choices():
    framework = FRAMEWORKS["chain"]
    made = [tf.calibrate(framework, query, 1) for query in (tf.Mode(), tf.Count(1), tf.Median())]
    together = tf.compose(made)
    true = joint_loss(framework, [(one.query, one.randomiser) for one in made])
    assert true.loss <= float(together.epsilon) * (1 + 1e-9)
    count = tf.calibrate(framework, tf.Count(1), 1)
    twice = tf.compose([count, count]).epsilon
    assert float(tf.compose([made[0], made[1]]).epsilon) == pytest.approx(float(twice), rel=1e-9)
    by_group = tf.GroupBy(tf.Mode(), APART), tf.GroupBy(tf.Count(1), OVERLAPPING)
    groups = [tf.calibrate(FRAMEWORKS["people"], query, 1) for query in by_group]
    assert float(tf.compose(groups).epsilon) <= 2 + 1e-9


def test_a_median_that_no_secret_moves_is_not_published_without_noise():
    framework = tf.Pufferfish(tf.entry(0, 0, 1), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3))
    with pytest.raises(CalibrationRefused, match="nothing that is hidden moves"):
        tf.calibrate(framework, tf.Median(entries=[1, 2]), 1)


@pytest.mark.parametrize("query", [
    tf.Mode(), tf.Median(), tf.GroupBy(tf.Mode(), {"x": [0]}), tf.GroupBy(tf.Median(), {"x": [0]}),
])  # fmt: skip
def test_other_definitions_and_beliefs_refuse(query):
    people = Domain.of(3, [0, 1])
    hidden = Asymmetric(Policy.of(none_of(1)), people)
    net = tf.BayesianNetwork([("a", [0, 1], [], [0.6, 0.4]), ("b", [0, 1], ["a"], [[0.7, 0.3], [0.45, 0.55]])])
    coins = {0: {0: "0.7", 1: "0.3"}, 1: {0: "0.4", 1: "0.6"}}
    parameter = tf.Pufferfish(tf.distribution_parameter("a"), tf.Parameters(net, {"a": coins, "b": coins}, 2))
    table = tf.JointTable([(0, 0), (0, 1), (1, 1)], [0.5, 0.25, 0.25], ["a", "b"])
    share = tf.Pufferfish(tf.dataset_property("a", "mean"), tf.Records(table, 3))
    row = tf.Pufferfish(tf.every_entry("a"), tf.Records(table, 3))
    two = tf.distribution_pair(Pmf([0, 1], [0.5, 0.5]), Pmf([1], [1]))
    columns = tf.MultivariateNormal([0, 0], [[1, 0.5], [0.5, 1]], ["a", "b"], 3)
    normal = tf.Pufferfish(tf.dataset_property("a", "sum", max_difference=1), columns)
    for framework in (hidden, parameter, share, row, two, normal):
        with pytest.raises(InputError):
            tf.calibrate(framework, query, 1)


@pytest.mark.parametrize(("goal", "level"), [(MostFrequent(1), 0.5), (MostFrequent(2), 0.95), (AtRank((HALF,)), 0.9)])
def test_the_best_is_missed_by_more_than_the_shortfall_as_rarely_as_it_says(goal, level):
    noise = PermuteAndFlip(Fraction(3), tuple("abc"), goal)
    for counts in [(9, 9, 9), (12, 8, 7), (20, 15, 15), (30, 20, 3), (40, 0, 0), (30, 30, 0), (9, 1, 30)]:
        assert _within(noise, counts, noise.shortfall(level)) >= level


def _within(noise, counts, width):
    """Return the probability that no choice falls short by more than `width`."""
    total = 0.0
    for output in noise.possible():
        drawn, good = [], True
        for outcome in output:
            place = noise.outcomes.index(outcome)
            good &= noise.goal.deficits(counts, drawn)[place] <= width
            drawn.append(place)
        total += math.exp(noise.log_density((*counts, 0), output)) * good
    return total


def test_a_mechanism_written_elsewhere_cannot_publish_the_counts():
    """Noise for numbers on a choice would publish every count: it is refused wherever it comes from."""
    problem = Problem(FRAMEWORKS["chain"], tf.Mode(), Fraction(1))
    for numbers in (laplace_noise, normal_noise, lambda problem, _: problem.law_parts):
        with pytest.raises(Unsupported, match="one of declared values is chosen"):
            numbers(problem, Fraction(1))
    with pytest.raises(InputError, match="noise for numbers"):
        attempt(Line("loud", Loud()), problem, allow_zero_noise=False, limited=True)


class Loud:
    name, source = "loud", "nowhere"

    def cost(self, problem):
        return Cost(1.0)

    def bound(self, problem):
        noise = DiscreteLaplace(Fraction(100), problem.grid, problem.cells)
        return Bound(noise, problem.epsilon, Fraction(0), Covers.EVERYTHING, Witness("any"))


@pytest.mark.parametrize("made", [
    # Queries of queries do not take a choice for counts.
    lambda: tf.JointQuery([tf.Mode(), tf.Count(1)]), lambda: tf.AtMost(tf.Mode(), 2),
    lambda: tf.JointQuery([tf.GroupBy(tf.Mode(), {"a": [0]})]), lambda: tf.AtMost(tf.GroupBy(tf.Mode(), {"a": [0]}), 2),
    lambda: tf.GroupBy(tf.GroupBy(tf.Mode(), {"a": [0]}), {"a": [0]}),
    lambda: tf.Quantile(0), lambda: tf.Quantile(1.0), lambda: tf.Quantile([]), lambda: tf.Quantile([0.5, "1/2"]),
    lambda: tf.Quantile("half"), lambda: tf.Quantile(float("nan")), lambda: tf.TopK(0), lambda: tf.TopK(True),
    lambda: tf.TopK(1.5), lambda: tf.Median({0: 1}, [0, 1]), lambda: tf.Median(states=[]), lambda: tf.Mode("01"),
    lambda: tf.Mode([0, 0]), lambda: tf.CountAbove([]), lambda: tf.CountAbove([1, 1.0]), lambda: tf.CountAbove("x"),
])  # fmt: skip
def test_what_is_no_choice_is_refused(made):
    with pytest.raises(InputError):
        made()


@pytest.mark.parametrize("query", [
    tf.TopK(3), tf.Mode(states=[0, 7]), tf.Mode(states=[0]), tf.Median(states=[0, 7]), tf.Median(codes={0: 1}),
    tf.Median(codes={0: 1, 1: 1}), tf.Median(entries=[9]),
])  # fmt: skip
def test_what_the_belief_does_not_know_is_refused(query):
    with pytest.raises(InputError):
        tf.calibrate(FRAMEWORKS["chain"], query, 1)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("cells", [APART, OVERLAPPING], ids=["apart", "overlapping"])
@pytest.mark.parametrize("query", [tf.Mode(), tf.Median(), tf.Mode(states=[1, 0])])
@pytest.mark.parametrize("belief", ["chain", "three states", "people"])
def test_a_choice_for_each_group_keeps_epsilon(belief, query, cells):
    """The audit lists every joint state and every pair of choices."""
    for calibration in keeps_epsilon(belief, tf.GroupBy(query, cells)):
        assert calibration.problem.published == ("a", "b")


@pytest.mark.mutants
@pytest.mark.parametrize("query", [tf.TopK(2), tf.Quantile([0.25, 0.75])])
def test_several_choices_for_each_group_keep_epsilon(query):
    calibration = tf.calibrate(FRAMEWORKS["people"], tf.GroupBy(query, APART), 1)
    names = ("rank 1", "rank 2") if isinstance(query, tf.TopK) else ("0.25 quantile", "0.75 quantile")
    assert calibration.problem.published == tuple(f"{cell}, {name}" for cell in "ab" for name in names)
    assert tf.exact_loss(calibration).loss <= 1 + 1e-9


def test_groups_apart_need_the_noise_of_one_choice_and_an_entry_of_two_that_of_both():
    framework = FRAMEWORKS["one step"]
    once, apart, twice = (
        tf.calibrate(framework, query, 3)
        for query in (tf.Mode(), tf.GroupBy(tf.Mode(), {"a": [0]}), tf.GroupBy(tf.Mode(), {"a": [0], "b": [0]}))
    )
    assert once.scale == apart.scale == twice.scale / 2
    assert 0.5 * 3 < tf.exact_loss(twice).loss <= 3
    noise = replace(twice.randomiser, units=twice.randomiser.units / 3)
    assert tf.exact_loss(framework, twice.query, noise).loss > 3


@pytest.mark.parametrize("goal", [MostFrequent(2), AtRank((HALF,))], ids=str)
def test_choices_of_groups_are_drawn_independently_by_their_counts(goal):
    names, counts = tuple("abc"), ((3, 0, 5), (2, 2, 0))
    noise = PermuteAndFlip(Fraction(5, 2), names, goal, groups=2)
    laws = [law_of(noise, goal)(of_group) for of_group in counts]
    total = 0.0
    for output in noise.possible():
        places = [names.index(name) for name in output]
        parts = tuple(places[: goal.draws]), tuple(places[goal.draws :])
        chance = math.exp(noise.log_density((*counts[0], 2, *counts[1], 0), output))
        assert chance == pytest.approx(laws[0][parts[0]] * laws[1][parts[1]], rel=1e-10)
        total += chance
    assert total == pytest.approx(1)
    assert from_dict(json.loads(json.dumps(noise.to_dict()))) == noise
    assert noise.expected_error() == pytest.approx(2 * replace(noise, groups=1).expected_error())
    assert noise.shortfall(0.95) > replace(noise, groups=1).shortfall(0.95)
    for groups in (0, True, 1.5):
        with pytest.raises(InputError, match="groups"):
            replace(noise, groups=groups)


def test_each_group_is_chosen_by_its_entries_alone():
    chain = tf.MarkovChain(THREE, 9, states=["low", "mid", "high"])
    framework = tf.Pufferfish(tf.every_entry(), chain)
    data = ["low"] * 3 + ["high"] * 3 + ["low", "mid", "high"]
    cells = {"00": range(3), "01": range(3, 6), "02": range(6, 9)}
    median = tf.calibrate(framework, tf.GroupBy(tf.Median(states=["low", "mid", "high"]), cells, by="hour"), 400)
    rows = tf.release(median, data).rows()
    assert {row["cell"]: row["value"] for row in rows} == {"00": "low", "01": "high", "02": "mid"}
    with pytest.raises(InputError, match="do not add up"):
        tf.marginals(tf.release(median, data))
