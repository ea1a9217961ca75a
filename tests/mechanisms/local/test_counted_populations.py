"""Populations that were counted: regions that hold the truth as often as they say, and promises over all of them."""

import math
import random
from fractions import Fraction as F
from itertools import chain, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.support import region_oracles as oracle

import takifugu as tf
from kawamoto.channels import randomised_response
from kawamoto.composing import on_one_value
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import InputError
from takifugu.mechanisms.local.choosing import mechanisms, strongest
from takifugu.mechanisms.local.measuring import distribution_loss
from takifugu.mechanisms.local.optimal import optimal_over
from takifugu.mechanisms.local.over_classes import delta_over, loss_over
from takifugu.mechanisms.local.populations import populations_of
from takifugu.model import beliefs
from takifugu.model.beliefs.counted_populations import covering, samples_of
from takifugu.model.beliefs.estimate import interval, mixture_interval
from takifugu.model.beliefs.population_region import Regions, tree_of
from takifugu.numbers.distributions.channel import Channel

SQUARE = [(x, y) for x in (0.0, 1.0) for y in (0.0, 1.0)]
KINDS: dict[str, list[Any]] = {"labels": ["a", "b", "c"], "numbers": [3, 1, 2, 7], "places": SQUARE}


def rows_of(chance: random.Random, values: int, count: int) -> list[tuple[str, int]]:
    """Return rows of two populations that differ, so skewed that some values never occur."""
    weights = {name: [chance.random() ** 4 for _ in range(values)] for name in ("m", "f")}
    return [(name, chance.choices(range(values), weights[name])[0]) for name in ("m", "f") for _ in range(count)]


def class_of(seed: int, kind: str, count: int = 60, people: bool = False) -> Regions:
    chance = random.Random(seed)
    rows = rows_of(chance, len(KINDS[kind]), count)
    whose = [chance.randrange(count // 2) for _ in rows] if people else None
    return covering(samples_of(rows, len(KINDS[kind]), whose), KINDS[kind], 0.9)


def table(values: list[Any]) -> Any:
    size = len(values)
    return np.array([[abs(x - y) / size for y in range(size)] for x in range(size)], dtype=float)


@pytest.mark.sampled(29)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("people", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("seed", range(4))
def test_ends_over_a_region_are_those_of_its_vertices(kind: str, people: bool, seed: int) -> None:
    chance, size = random.Random(seed), len(KINDS[kind])
    for region in class_of(seed, kind, people=people).by_name.values():
        corners = oracle.corners(region, size)
        assert corners
        for _ in range(5):
            column = [chance.randint(-9, 9) for _ in range(size)]
            sums = [sum((p * v for p, v in zip(corner, column, strict=True)), F(0)) for corner in corners]
            assert region.largest(column) == [max(sums)]
            assert region.least(column) == [min(sums)]
            table_of = np.array(column, dtype=float)[:, None]
            assert region.about(table_of)[0] == pytest.approx(float(max(sums)), abs=1e-12)
            assert region.about(table_of, -1)[0] == pytest.approx(float(min(sums)), abs=1e-12)


def missed(ends: Any, total: int, p: F) -> F:
    """Return how often intervals of so many trials miss p, exactly."""
    return sum(
        (math.comb(total, k) * p**k * (1 - p) ** (total - k) for k in range(total + 1)
         if not ends(k, total)[0] <= p <= ends(k, total)[1]), F(0),
    )  # fmt: skip


def test_an_interval_misses_as_seldom_as_it_says_and_one_quantile_less_does_not() -> None:
    miss = 0.05

    def too_small(count: int, total: int) -> tuple[float, float]:
        return interval(count, total, miss)[0], interval(max(count - 1, 0), total, miss)[1]

    worst = {"right": F(0), "small": F(0)}
    for total in (1, 7, 30):
        for step in range(1, 40):
            p = F(step, 40)
            worst["right"] = max(worst["right"], missed(lambda k, n: interval(k, n, miss), total, p))
            worst["small"] = max(worst["small"], missed(too_small, total, p))
    assert F(1, 100) < worst["right"] <= F(1, 20)
    assert worst["small"] > F(1, 20)


def test_shares_of_people_are_covered_by_a_mixture_interval_by_enumeration() -> None:
    """Two rows of a person: shares 0, 1/2 and 1. Every sequence of shares is a point of a trinomial."""
    miss, people = 0.1, 12
    for chances in ((F(1, 4), F(1, 2), F(1, 4)), (F(9, 10), F(1, 10), F(0)), (F(1, 10), F(1, 5), F(7, 10))):
        mean, out = chances[1] / 2 + chances[2], F(0)
        for halves in range(people + 1):
            for ones in range(people + 1 - halves):
                low, high = mixture_interval(halves / 2 + ones, people, miss)
                if not low <= mean <= high:
                    none = people - halves - ones
                    ways = math.comb(people, halves) * math.comb(people - halves, ones)
                    out += ways * chances[0] ** none * chances[1] ** halves * chances[2] ** ones
        assert out <= F(1, 10)


def test_the_tree_divides_places_and_numbers_by_halves_and_leaves_labels_alone() -> None:
    assert [block.values for block in tree_of(["x", "y", "z"]).all] == [(0, 1, 2), (0,), (1,), (2,)]
    assert [block.values for block in tree_of([5, 1, 3]).all] == [(0, 1, 2), (1, 2), (1,), (2,), (0,)]
    places = tree_of([(x, y) for x in range(4) for y in range(4)])
    assert [len(block.values) for block in places.parts] == [4, 4, 4, 4]
    assert sorted(x for block in places.all if not block.parts for x in block.values) == list(range(16))


@pytest.mark.mutants
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(KINDS)), st.booleans(), st.sampled_from([20, 100, 2000]))
def test_a_channel_over_a_class_loses_what_its_worst_vertices_do(seed: int, kind: str, people: bool, n: int) -> None:
    regions, size, chance = class_of(seed, kind, n, people), len(KINDS[kind]), random.Random(seed)
    rows = []
    for _ in range(size):
        weights = [chance.randint(0, 3) for _ in range(size)]
        weights[chance.randrange(size)] += 1
        rows.append([F(w, sum(weights)) for w in weights])
    channel = Channel.of(list(range(size)), list(range(size)), rows)
    wanted, computed = oracle.worst(channel, regions, size), loss_over(channel, regions)
    assert computed == pytest.approx(wanted, rel=1e-9) or math.isinf(wanted)
    assert math.isinf(wanted) == math.isinf(computed)
    most = oracle.worst(channel, regions, size, lambda a, b: oracle.delta(a, b, 0.3))
    assert delta_over(channel, regions, F(3, 10)) >= most - 1e-12


@pytest.mark.mutants
@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["labels", "numbers"]), st.sampled_from([20, 400]))
def test_tuples_over_a_class_lose_at_most_what_is_said(seed: int, kind: str, count: int) -> None:
    from takifugu.mechanisms.local.tupling import Tupling

    values = KINDS[kind]
    regions = class_of(seed, kind, count)
    channel = randomised_response(list(range(len(values))), 2)
    laws = {name: random.Random(seed).choices(oracle.corners(of, len(values)), k=3)
            for name, of in regions.by_name.items()}  # fmt: skip
    of_tuples = delta_over(channel, regions, F(1, 5), 2)
    assert of_tuples <= delta_over(channel, regions, F(1, 5)) * (1 + 1e-5) <= 1 + 1e-5  # dummies only hide
    for p, q in product(laws["m"], laws["f"]):
        lifted = [oracle.sent(channel, law) for law in (p, q)]
        assert Tupling(2).delta(*lifted, F(1, 5)) <= of_tuples + 1e-12


@pytest.mark.mutants
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [30, 300, 5000])
@pytest.mark.parametrize("epsilon", [F(1, 2), F(2)])
def test_the_robust_program_keeps_its_promise_at_every_vertex_and_is_near_the_best(
    kind: str, count: int, epsilon: F
) -> None:
    regions, cost, size = class_of(count, kind, count), table(KINDS[kind]), len(KINDS[kind])
    channel = optimal_over(tuple(range(size)), cost, regions, epsilon, F(0))
    assert oracle.worst(channel, regions, size) <= float(epsilon) + 1e-12
    mean_cost = sum(
        cost[x, y] * mass / channel.total for x, row in enumerate(channel.masses) for y, mass in enumerate(row)
    )
    best = oracle.least_cost(cost, regions, float(epsilon))
    local = 1 / (math.exp(epsilon) + size - 1)
    assert best - 1e-6 <= mean_cost <= max(1.5 * best, best + 0.05) + 1e-6
    assert mean_cost <= cost.sum() * local + 1e-6 or kind == "places"


def test_a_delta_is_kept_over_the_class_and_helps() -> None:
    regions, cost = class_of(3, "numbers", 400), table(KINDS["numbers"])
    pure = optimal_over((0, 1, 2, 3), cost, regions, F(1, 2), F(0))
    loose = optimal_over((0, 1, 2, 3), cost, regions, F(1, 2), F(1, 20))
    assert oracle.worst(loose, regions, 4, lambda a, b: oracle.delta(a, b, 0.5)) <= 0.05 + 1e-12
    costs = [sum(cost[x, y] * of.masses[x][y] / of.total for x in range(4) for y in range(4)) for of in (pure, loose)]
    assert costs[1] < costs[0]


TRUTH = {"m": [0.45, 0.3, 0.15, 0.07, 0.03], "f": [0.1, 0.15, 0.3, 0.25, 0.2]}
LEVEL, EPSILON, TRIALS = 0.9, F(1, 2), 1000


def breaks_too_often(made: Any, samples: int, size: int, seed: int, copies: int = 1) -> bool:
    """Return whether channels made from reference samples break epsilon on their populations more than they may.

    Of one person all `copies` are alike: they tell no more than one of them.
    """
    chance, count = random.Random(seed), 0
    true = [{x: F(mass).limit_denominator(100) for x, mass in enumerate(law)} for law in TRUTH.values()]
    for _ in range(samples):
        rows, whose = [], []
        for name, law in TRUTH.items():
            for person in range(size):
                rows += [(name, chance.choices(range(5), law)[0])] * copies
                whose += [person] * copies
        channel = made(rows, whose if copies > 1 else None)
        count += distribution_loss(channel, *true) > float(EPSILON) * (1 + 1e-9)
    return bool(stats.binom.sf(count - 1, samples, 1 - LEVEL) < 1e-6)


def over_the_class(rows: list[tuple[str, int]], people: Any) -> Channel:
    regions = covering(samples_of(rows, 5, people), [0, 1, 2, 3, 4], LEVEL)
    return optimal_over((0, 1, 2, 3, 4), table([0] * 5), regions, EPSILON, F(0))


@pytest.mark.mutants
def test_people_with_several_rows_are_counted_once() -> None:
    assert not breaks_too_often(over_the_class, 100, 150, 1)
    assert not breaks_too_often(over_the_class, 100, 100, 2, copies=3)


def test_every_mechanism_holds_over_the_class_and_a_declared_law_is_believed() -> None:
    chance = random.Random(5)
    class_of = tf.FromPopulations.counted(samples_of(rows_of(chance, 3, 300), 3), "abc", source="a survey")
    counted = populations_of(class_of)
    declared = populations_of(tf.FromPopulations(counted.laws, source="a survey"))
    for name, way in mechanisms(counted).items():
        strength = strongest(counted, F(1), F(0), name)
        assert strength.measured == strength.sender.epsilon(counted) <= 1
        assert strength.expected_loss >= strongest(declared, F(1), F(0), name).expected_loss
        if way is not None and name != "tupling":
            taken = strongest(counted, F(1, 2), F(0), name)
            assert way.make(taken.strength * 1.05).epsilon(counted) > 0.5


def belief_of(rows: int = 1, independent: bool = True, count: int = 400) -> tf.FromPopulations:
    samples = samples_of(rows_of(random.Random(7), 3, count), 3)
    return tf.FromPopulations.counted(samples, "abc", rows=rows, independent=independent, source="a survey")


def test_the_certificate_says_confidence_size_and_what_holds_outside() -> None:
    about = tf.Pufferfish(tf.population_membership(), belief_of(2))
    calibration = tf.calibrate(about, tf.LocalValue(), 1)
    noise: Any = calibration.randomiser
    assert loss_over(noise.sender.channel, about.beliefs[0].regions) <= 0.5  # type: ignore[attr-defined]
    page = " ".join(str(tf.release(calibration, ["a", "b"]).certificate).split())
    for words in ("with confidence 0.99", "% of their mass", "rows: 400 of m, 400 of f", "Outside of the class of",
                  "The rows of the reference file are independent of each other"):  # fmt: skip
        assert words in page
    again = beliefs.from_dict(about.beliefs[0].to_dict())
    assert again.to_dict() == about.beliefs[0].to_dict()
    whole = tf.calibrate(tf.Pufferfish(tf.population_membership(), belief_of(2, False)), tf.LocalValue(), 1)
    assert whole.guarantee.covers is Covers.EVERYTHING
    assert not any("outside of the class" in words for words in whole.guarantee.conditions)


def test_two_releases_of_the_same_rows_cost_what_they_tell_over_the_class() -> None:
    """The largest ratio over the corners of both regions; too many outputs cost a promise and what a value tells."""
    about = tf.Pufferfish(tf.population_membership(), belief_of(1, True, 2000))
    first = tf.calibrate(about, tf.LocalValue(batch="x", columns=("c",)), 1, mechanism="randomised-response")
    second = tf.calibrate(about, tf.LocalValue(batch="x", columns=("c",)), "1/2", mechanism="randomised-response")
    together = tf.compose([first, second])
    noises: list[Any] = [first.randomiser, second.randomiser]
    most = min(1 + noises[1].local_loss(), 0.5 + noises[0].local_loss())
    belief: Any = about.beliefs[0]
    both = on_one_value(*(noise.sender.channel for noise in noises))
    corners = [oracle.corners(region, 3) for region in belief.regions.by_name.values()]
    true = max(
        oracle.loss(*(oracle.sent(both, law) for law in pair))
        for pair in chain(product(*corners), product(*reversed(corners)))
    )
    assert float(together.epsilon) == pytest.approx(float(true), rel=1e-9)
    assert together.epsilon < most


@pytest.mark.parametrize(("wrong", "what"), [
    (lambda: tf.FromPopulations.counted(samples_of([("a", 0), ("b", 1)], 2), "xy", confidence=1.0), "confidence"),
    (lambda: tf.FromPopulations.counted(samples_of([("a", 0), ("b", 1)], 2), "xy", confidence=0.0), "confidence"),
    (lambda: tf.FromPopulations.counted(samples_of([("a", 0), ("b", 1)], 2), "xy", confidence=math.nan), "confidence"),
    (lambda: covering(samples_of([("a", 0)], 1), ["x", "y"], 0.9), "one count for each value"),
    (lambda: tf.FromPopulations.counted(samples_of([("a", 0), ("b", 1)], 2), "xy", smoothing=-1), "smoothing"),
    (lambda: tf.FromPopulations({"a": {0: "1/2", 1: "1/2"}, "b": {0: "1/2", 1: "1/2"}}, regions=belief_of().regions),
     "those of other populations"),
    (lambda: Regions.from_dict({**belief_of().regions.to_dict(), "ends": {"m": [["1"], ["1"]]}}, "abc"), "other sets"),
])  # fmt: skip
def test_bad_input(wrong: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        wrong()
