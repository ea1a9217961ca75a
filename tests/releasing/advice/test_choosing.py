"""What a choice is worth, set against draws from data that are as expected."""

import math
from collections.abc import Sequence

import pytest

import takifugu as tf
from takifugu.core.errors import InputError, Unsupported
from takifugu.model.queries import Query
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.advice.advising import worth_of
from takifugu.releasing.advice.worth import Verdict
from takifugu.releasing.file.expectations import ExpectSpec
from takifugu.releasing.postprocess.readable import LEVEL

RUNS = 1500
LEVELS = [0, 10, 20, 30]
BELIEF = tf.MarkovChain(
    [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.2, 0.2, 0.4, 0.2], [0.3, 0.2, 0.2, 0.3]], length=60, states=LEVELS
)
FRAMEWORK = tf.Pufferfish(tf.every_entry(), BELIEF)


def expects(**keys: object) -> ExpectSpec:
    return ExpectSpec.model_validate({"source": "a test", **keys})


def counted(shares: Sequence[float]) -> list[int]:
    return [round(60 * share) for share in shares]


SHARES = [0.4, 0.3, 0.2, 0.1]


@pytest.mark.slow
def test_a_median_lies_inside_its_band_as_often_as_stated() -> None:
    calibration = tf.calibrate(FRAMEWORK, tf.Median(), epsilon=2)
    worth = worth_of(calibration, expects(shares=dict(zip(map(str, LEVELS), SHARES, strict=True)), matters=10))
    entropy, counts = InsecureSeededEntropyForTests(5), counted(SHARES)
    drawn = [float(calibration.randomiser.draw((*counts, 0), entropy)[0]) for _ in range(RUNS)]
    inside = sum(abs(value - 10) <= worth.cell.width for value in drawn)  # 24 rows are 0, 18 are 10: the median is 10
    coverage = worth.cell.coverage
    assert coverage >= LEVEL
    assert abs(inside - RUNS * coverage) <= 4 * math.sqrt(RUNS * coverage * (1 - coverage)) + 1e-9
    assert worth.matters == 10


@pytest.mark.slow
def test_the_most_frequent_value_falls_short_by_at_most_its_band() -> None:
    calibration = tf.calibrate(FRAMEWORK, tf.Mode(), epsilon=1)
    worth = worth_of(calibration, expects(shares=dict(zip(map(str, LEVELS), SHARES, strict=True))))
    entropy, counts = InsecureSeededEntropyForTests(6), counted(SHARES)
    often = dict(zip(LEVELS, counts, strict=True))
    missed = [max(counts) - often[int(calibration.randomiser.draw((*counts, 0), entropy)[0])] for _ in range(RUNS)]
    coverage = worth.cell.coverage
    assert coverage >= LEVEL
    inside = sum(one <= worth.cell.width for one in missed)
    assert abs(inside - RUNS * coverage) <= 4 * math.sqrt(RUNS * coverage * (1 - coverage)) + 1e-9


def test_what_is_expected_names_the_values_and_of_a_quantile_what_matters() -> None:
    with pytest.raises(Unsupported, match="matters"):
        worth_of(tf.calibrate(FRAMEWORK, tf.Median(), epsilon=1), None)
    calibration = tf.calibrate(FRAMEWORK, tf.Mode(), epsilon=1)
    with pytest.raises(InputError):
        worth_of(calibration, expects(shares={"0": 0.5, "7": 0.5}))
    with pytest.raises(InputError, match="number for each value"):
        worth_of(calibration, expects(values=3))


TIED = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], 300))


@pytest.mark.parametrize("query", [tf.Mode(), tf.TopK(2)])
def test_of_values_that_are_expected_alike_none_is_called_the_best_one(query: Query) -> None:
    """The data decide which of them occurs most: what is said is the worst case, as on the certificate."""
    calibration = tf.calibrate(TIED, query, epsilon=1)
    worth = worth_of(calibration, None)
    noise = calibration.randomiser
    assert worth.cell.width == noise.shortfall(LEVEL)
    assert worth.matters == 20  # a fifth of the mean of 100
    assert worth.verdict is Verdict.ROUGH
    assert "is the best one" not in worth.sentence()
    counts = (101, 99, 100, 0)
    entropy = InsecureSeededEntropyForTests(7)
    states = [str(outcome) for outcome in noise.outcomes]
    firsts = [counts[states.index(str(noise.draw(counts, entropy)[0]))] for _ in range(100)]
    assert len(set(firsts)) > 1  # it is one of the others that is named, too


@pytest.mark.parametrize(("lead", "is_best"), [(1, False), (1.5, True)])
def test_the_best_one_is_spoken_of_where_it_leads_by_more_than_the_choice_can_miss(lead: float, is_best: bool) -> None:
    calibration = tf.calibrate(TIED, tf.Mode(), epsilon=1)
    noise = calibration.randomiser
    first = 100 + round(lead * float(noise.shortfall(LEVEL)))
    worth = worth_of(calibration, expects(values={"0": first, "1": 100, "2": 100 - (first - 100)}))
    assert ("is the best one" in worth.sentence()) is is_best
    assert (worth.cell.width == 0) is is_best
    assert worth.cell.coverage >= LEVEL


def test_a_median_between_two_values_that_are_expected_alike_may_be_either() -> None:
    calibration = tf.calibrate(FRAMEWORK, tf.Median(), epsilon=8)
    worth = worth_of(calibration, expects(values={"0": 15, "10": 16, "20": 15, "30": 14}, matters=10))
    assert worth.cell.width >= 10
