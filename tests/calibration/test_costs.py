"""The costs at several epsilons are those of one after the other, to the last digit."""

from contextlib import suppress
from typing import Any

import pytest

import takifugu as tf
from takifugu.core.errors import CalibrationRefused, InputError
from takifugu.influence.chains import chains
from takifugu.mechanisms import influence
from takifugu.mechanisms.common import answer_families

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=8, states=["still", "walking"])
NETWORK = tf.BayesianNetwork([
    ("a", [0, 1], [], [0.7, 0.3]), ("b", [0, 1], ["a"], [[0.9, 0.1], [0.4, 0.6]]),
    ("c", [0, 1], ["a", "b"], [[[0.8, 0.2], [0.5, 0.5]], [[0.6, 0.4], [0.3, 0.7]]]),
])  # fmt: skip
MIXING = [[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7]]
WALK, ANYWHERE = tf.MarkovChain(MIXING, 60), tf.MarkovChain(MIXING, 60, "any")
USERS = tf.IndependentUsers([{"ill": 0.3, "well": 0.7}] * 3, 0.9, "removed")
EPSILONS = [2, "1/2", 1.0]


@pytest.mark.mutants
@pytest.mark.parametrize(("belief", "query", "arguments"), [
    (CHAIN, tf.Count("walking"), {}), (WALK, tf.Histogram(), {}), (ANYWHERE, tf.Count(1), {"mechanism": "influence"}),
    (WALK, tf.Count(1), {"delta": 1e-5, "mechanism": "influence-gaussian"}),
    (WALK, tf.Sum(), {"mechanism": "record-dp"}),
    (CHAIN, tf.Histogram(), {"mechanism": "wasserstein"}), (NETWORK, tf.Count(1), {}),
    (NETWORK, tf.Count(1), {"mechanism": "laplace-exact"}), (USERS, tf.Count("ill"), {"single_release": True}),
    (USERS, tf.Count("ill"), {"mechanism": "gaussian-exact", "delta": 1e-5}),
], ids=str)  # fmt: skip
def test_they_are_those_of_one_epsilon_after_the_other(belief: tf.Belief, query: Any, arguments: Any) -> None:
    framework = tf.Pufferfish(tf.every_entry(), belief)
    costs = tf.cost(framework, query, EPSILONS, **arguments)
    assert [one.epsilon for one in costs] == [2, 0.5, 1]
    for epsilon, one in zip(EPSILONS, costs, strict=True):
        alone = None
        with suppress(CalibrationRefused):
            alone = tf.calibrate(framework, query, epsilon, **arguments)
        assert (one.calibration is None) == (alone is None) == bool(one.reason)
        if one.calibration is not None and alone is not None:
            assert one.calibration.to_dict() == alone.to_dict()
            assert one.calibration.randomiser == alone.randomiser


def test_one_epsilon_has_one_cost() -> None:
    (one,) = tf.cost(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("walking"), [1], mechanism="group-dp")
    assert one.epsilon == 1


def test_the_distributions_of_the_answer_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list[object]()

    def counted(*arguments: Any) -> Any:
        found.append(arguments)
        return located(*arguments)

    located = answer_families._located
    monkeypatch.setattr(answer_families, "_located", counted)
    framework = tf.Pufferfish(tf.every_entry(), CHAIN)
    tf.cost(framework, tf.Count("walking"), range(1, 9), mechanism="wasserstein")
    assert len(found) == 1
    tf.calibrate(framework, tf.Count("walking"), 1, mechanism="wasserstein")
    assert len(found) == 2  # what is kept goes with the costs


@pytest.mark.mutants
def test_many_epsilons_are_swept_together(monkeypatch: pytest.MonkeyPatch) -> None:
    swept = list[int]()

    def counted(side: Any, profiles: Any, *arguments: Any) -> Any:
        swept.append(len(profiles))
        return along(side, profiles, *arguments)

    along = chains.sweeps
    monkeypatch.setattr(chains, "sweeps", counted)
    tf.cost(tf.Pufferfish(tf.every_entry(), WALK), tf.Count(1), range(1, 21), mechanism="influence")
    assert max(swept) == 20
    assert len(swept) < 2 * 20  # two sides; about 9 evaluations of all, not of each


def test_an_epsilon_out_of_range_leaves_the_others_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(part: Any, alternatives: Any) -> Any:
        if min(release.scale for (release,) in alternatives) < 1:
            raise OverflowError
        return found(part, alternatives)

    found = influence.influence_losses
    monkeypatch.setattr(influence, "influence_losses", failing)
    framework = tf.Pufferfish(tf.every_entry(), WALK)
    costs = tf.cost(framework, tf.Count(1), [1, 1000, 2], mechanism="influence")
    assert [one.calibration is None for one in costs] == [False, True, False]
    alone = tf.calibrate(framework, tf.Count(1), 2, mechanism="influence")
    assert costs[2].calibration.exact_scale == alone.exact_scale


@pytest.mark.parametrize(("epsilons", "words"), [
    ([], "there is no epsilon"), (1.0, "epsilons"), ([1, 0], "epsilon is 0"), ([1, "much"], "epsilon"),
])  # fmt: skip
def test_what_is_no_list_of_epsilons_is_refused(epsilons: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        tf.cost(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("walking"), epsilons)
