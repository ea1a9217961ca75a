"""What long sequences of many people cost: one law for each different piece, and a predicted time in words."""

from dataclasses import replace
from fractions import Fraction

import pytest

import takifugu as tf
from takifugu.analysis.bounds import Cost
from takifugu.analysis.problem import Problem
from takifugu.calibration.alternatives import POSSIBLE, SKIPPED
from takifugu.calibration.trials import attempt, attempt_all, choose
from takifugu.core.errors import CalibrationRefused
from takifugu.mechanisms.influence import MECHANISM as INFLUENCE
from takifugu.model.beliefs import Belief

STICKY = [[0.9, 0.1], [0.1, 0.9]]


def pieces(count: int, length: int) -> Problem:
    belief = tf.IndependentPieces(tf.MarkovChain(STICKY, length), [length] * count)
    return Problem(tf.Pufferfish(tf.every_entry(), belief), tf.Count(1), Fraction(1), work_limit=1e5)


def exact_scale(belief: Belief) -> float:
    framework = tf.Pufferfish(tf.every_entry(), belief)
    return float(tf.calibrate(framework, tf.Count(1), 1, mechanism="laplace-exact", allow_zero_noise=True).scale)


def test_the_only_release_waits_for_the_quickest_law_beyond_the_limit() -> None:
    problem = pieces(50, 60)
    ordinary = {t.line.name: t for t in attempt_all(problem, True, alone=False)}
    patient = {t.line.name: t for t in attempt_all(problem, True, alone=True)}
    assert ordinary["laplace-exact"].status == SKIPPED
    assert ordinary["laplace-exact"].reason == "it would take about 1 s: by name only"
    assert patient["influence"].status == POSSIBLE
    assert patient["laplace-exact"].status == patient["wasserstein"].status == SKIPPED  # costlier
    choice = choose(list(patient.values()))
    assert choice is not None
    assert choice.taken(True).line.name == "influence"
    bound = choice.taken(True).bound
    assert bound is not None
    assert float(bound.randomiser.scale) == pytest.approx(exact_scale(tf.MarkovChain(STICKY, 60)), rel=1e-9)


def test_pieces_of_many_lengths_are_searched_once() -> None:
    """The longest decides the scale, and others are beginnings of it."""

    def cost(lengths: list[int]) -> float:
        belief = tf.IndependentPieces(tf.MarkovChain([[0.9, 0.1], [0.3, 0.7]], 100), lengths)
        framework = tf.Pufferfish(tf.every_entry(), belief)
        return INFLUENCE.cost(Problem(framework, tf.Count(1), Fraction(1))).operations

    assert cost([*range(51, 101)]) == cost([100])


@pytest.mark.mutants
def test_the_only_release_does_not_wait_for_what_needs_no_less_noise() -> None:
    """The relaxed Kantorovich mechanism takes 200 times as long as the exact Laplace scale, which is never above it."""
    problem = replace(pieces(1, 60), work_limit=1e7)
    patient = {t.line.name: t for t in attempt_all(problem, True, alone=True)}
    assert patient["laplace-exact"].status == POSSIBLE
    assert patient["kantorovich-relaxed"].status == SKIPPED
    unlimited = attempt(patient["kantorovich-relaxed"].line, problem, True, limited=False)
    exact, relaxed = patient["laplace-exact"].bound, unlimited.bound
    assert exact is not None
    assert relaxed is not None
    assert exact.randomiser.scale <= relaxed.randomiser.scale
    choices = choose([*patient.values()]), choose([*patient.values(), unlimited])
    assert len({choice.taken(True).line.name for choice in choices if choice is not None}) == 1


def test_the_longest_piece_need_not_be_the_worst() -> None:
    chain = tf.MarkovChain([[0.3, 0.7], [0.9, 0.1]], 20)
    scales = [exact_scale(tf.IndependentPieces(chain, lengths)) for lengths in ([20] * 3, [1], [20, 1, 20])]
    assert scales[0] < scales[1] == 1.0 == pytest.approx(scales[2], rel=1e-9)


@pytest.mark.parametrize(("cost", "words"), [
    (Cost(1.0), "about 1 s"),
    (Cost(1.2e10), "about 40 s"),
    (Cost(6e10), "about 3 minutes"),
    (Cost(3e12), "about 3 hours"),
    (Cost(1e40), "too long to wait for"),
    (Cost(3e8, 5e9), "about 1 s and 5,000 MB"),
])  # fmt: skip
def test_predicted_work_is_told_in_seconds(cost: Cost, words: str) -> None:
    assert cost.describe() == words


def test_a_mechanism_by_name_is_refused_beforehand_where_memory_is_too_small() -> None:
    """A code of 2**30 took 24 GB before anything was said."""
    chain = tf.MarkovChain([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]], 3, states=["a", "b", "c"])
    framework, query = tf.Pufferfish(tf.every_entry(), chain), tf.Sum(codes={"a": 0, "b": 1, "c": 2**30})
    with pytest.raises(CalibrationRefused, match=r"does not apply: it would take .* and [\d,]+ MB$") as refused:
        tf.calibrate(framework, query, epsilon=1, mechanism="laplace-exact")
    assert refused.value.where == ("mechanism",)
    skipped = {row.name: row.reason for row in tf.compare(framework, query, epsilon=1)}
    assert skipped["laplace-exact"].removesuffix(": by name only") in str(refused.value), "the same words"
