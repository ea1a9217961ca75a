"""Counted parameters: intervals that cover, influences over the class, and noise for its worst member, in rationals."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from tests.support import column_oracles as oracle

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.influence.quilts.network.counted_columns import influences_over
from takifugu.model import beliefs
from takifugu.model.beliefs.estimate import is_private_source
from takifugu.model.queries import resolved

F = Fraction
LEVELS = ("few", "many")
COINS = {"few": {0: "0.9", 1: "0.1"}, "many": {0: "0.6", 1: "0.4"}}
#: Log-ratios of the class are at most this much above those of its worst distribution in a cell.
TIGHT = 1e-9


def towns(counts: Any, columns: str = "c", confidence: float = 0.99, records: int = 2) -> tf.CountedParameters:
    """Return a belief about two or three parameters of two levels, by the counts of all combinations."""
    names = list("sct"[: int(math.log2(len(counts)))])
    rows = list(itertools.product(LEVELS, repeat=len(names)))
    chances = dict.fromkeys(columns, COINS)
    return tf.CountedParameters(rows, counts, names, chances, records, source="towns", confidence=confidence)


def member(belief: tf.CountedParameters, masses: Any) -> tf.Parameters:
    table = tf.JointTable(belief.table.rows, list(masses), belief.names)
    return tf.Parameters(table, dict.fromkeys(belief.columns, COINS), belief.records)


def given(masses: Any, entry: int, nodes: tuple[int, ...], size: int) -> dict[int, dict[Any, F]]:
    """Return P(phi_Q = x | phi_i = a) of a law on the combinations of `size` parameters."""
    laws: dict[int, dict[Any, F]] = {0: {}, 1: {}}
    for levels, mass in zip(itertools.product((0, 1), repeat=size), masses, strict=True):
        x = tuple(levels[n] for n in nodes)
        laws[levels[entry]][x] = laws[levels[entry]].get(x, F(0)) + F(mass)
    return {a: {x: p / sum(law.values()) for x, p in law.items()} for a, law in laws.items()}


def multinomial(counts: Any, masses: Any) -> F:
    ways = math.factorial(sum(counts))
    chance = F(1)
    for count, mass in zip(counts, masses, strict=True):
        ways //= math.factorial(count)
        chance *= mass**count
    return ways * chance


def covers(belief: tf.CountedParameters, masses: Any) -> bool:
    for entry in range(belief.size):
        for nodes, (low, high) in belief.chances(entry).items():
            for a, law in given(masses, entry, nodes, belief.size).items():
                for place, x in enumerate(itertools.product((0, 1), repeat=len(nodes))):
                    if not low[a, place] <= law[x] <= high[a, place]:
                        return False
    return True


@pytest.mark.parametrize("tenths", [(4, 1, 1, 4), (7, 1, 1, 1), (3, 2, 2, 3)])
def test_the_class_has_the_true_distribution_as_often_as_it_says(tenths: Any) -> None:
    """Over all counts of eight populations, in rationals."""
    confidence, total, masses = 0.6, 8, [F(n, 10) for n in tenths]
    covered = F(0)
    for counts in itertools.product(range(total + 1), repeat=4):
        if sum(counts) == total and covers(towns(counts, confidence=confidence), masses):
            covered += multinomial(counts, masses)
    assert covered >= F(confidence)
    assert covered < 1  # else nothing was tried


def test_ends_are_those_of_clopper_and_pearson_and_share_what_may_fail() -> None:
    belief = towns([30, 10, 15, 25], confidence=0.9)
    low, high = belief.chances(0)[1,]
    miss = F(1, 10) / 8  # two entries, two values of each, two of the other
    for a, row in enumerate(((30, 10), (15, 25))):
        for place, count in enumerate(row):
            above = mp.betainc(count, sum(row) - count + 1, 0, low[a, place], regularized=True)
            below = mp.betainc(count + 1, sum(row) - count, high[a, place], 1, regularized=True)
            for tail in (above, below):
                assert float(miss / 2) * (1 - 1e-6) <= tail <= float(miss / 2) * (1 + 1e-12)


def extreme(belief: tf.CountedParameters) -> list[float]:
    """Return a distribution of two parameters with the largest influence of the second: both chances at their ends."""
    low, high = belief.chances(0)[1,]
    return [high[0, 0] / 2, (1 - high[0, 0]) / 2, low[1, 0] / 2, (1 - low[1, 0]) / 2]


def test_the_influence_is_that_of_the_worst_distribution_and_no_more() -> None:
    belief = towns([300, 200, 200, 300])
    masses = extreme(belief)
    laws = given(list(map(F, masses)), 0, (1,), 2)
    assert influences_over(belief, 0)[1,][0, 1] == pytest.approx(float(mp.log(laws[0][0,] / laws[1][0,])), abs=TIGHT)
    rng = np.random.default_rng(2)
    for _ in range(200):
        shares = [F(int(n)) for n in rng.multinomial(2000, [0.3, 0.2, 0.2, 0.3])]
        shares = [share / sum(shares) for share in shares]
        if not covers(belief, shares):
            continue
        for entry in range(2):
            for nodes, table in influences_over(belief, entry).items():
                laws = given(shares, entry, nodes, 2)
                for a, b in ((0, 1), (1, 0)):
                    assert max(math.log(laws[a][x] / laws[b][x]) for x in laws[a]) <= table[a, b]


def scales(belief: tf.CountedParameters, query: Any, epsilon: float, masses: Any) -> tuple[float, float]:
    """Return the noise over the class, and what Algorithm 3 needs for one of it, over every quilt by enumeration."""
    framework = tf.Pufferfish(tf.distribution_parameter("s"), belief)
    least = tf.calibrate(framework, query, epsilon, mechanism="attribute-quilt").scale
    law = {x: F(p) for x, p in zip(itertools.product((0, 1), repeat=belief.size), masses, strict=True)}
    answer: Any = resolved(query, belief)
    return float(least or 0), oracle.quilt_scale(law, belief.size, 0, answer.change, epsilon)


def test_the_noise_is_that_of_the_worst_distribution() -> None:
    belief = towns([300, 200, 200, 300], columns="sc", records=3)
    least, needed = scales(belief, tf.Count(1), 2.0, extreme(belief))
    assert needed * (1 - 1e-9) <= least <= needed * (1 + 1e-9)
    point = [F(3, 10), F(1, 5), F(1, 5), F(3, 10)]
    assert least > scales(belief, tf.Count(1), 2.0, point)[1] * 1.1


@pytest.mark.parametrize("query", [tf.Sum("c"), tf.Count(1), tf.CountRows({"c": 1, "s": 1})], ids=str)
def test_no_member_loses_more_than_is_promised(query: Any) -> None:
    belief = towns([300, 200, 200, 300], columns="sc")
    shares = [F(count, sum(belief.counts)) for count in belief.counts]
    members = (member(belief, shares), member(belief, extreme(belief)))
    framework = tf.Pufferfish([tf.distribution_parameter(name) for name in "sc"], belief)
    for epsilon in (0.5, 1, 2):
        for mechanism in ("attribute-quilt", "group-dp"):
            noise = tf.calibrate(framework, query, epsilon, mechanism=mechanism, allow_zero_noise=True)
            assert tf.exact_loss(noise, chains=members).loss <= epsilon * (1 + 1e-9)


def test_releases_together_cost_the_best_quilt_of_the_class() -> None:
    belief = towns([300, 200, 200, 300], columns="sc")
    framework = tf.Pufferfish(tf.distribution_parameter("s"), belief)
    sums = [tf.Count(1), tf.Linear([1, 1], grid=1)]
    several = [tf.calibrate(framework, query, 2, mechanism="attribute-quilt") for query in sums]
    both = float(tf.compose(several).epsilon)
    influence = float(influences_over(belief, 0)[1,][[0, 1], [1, 0]].max())
    near = sum(2 / float(noise.scale or 1) for noise in several)
    assert both == pytest.approx(influence + near, rel=1e-9)
    assert both < 3.6


def test_three_parameters_and_sets_that_were_never_counted_together() -> None:
    belief = towns([50, 40, 45, 60, 30, 0, 40, 70], columns="sct", records=3)
    table = influences_over(belief, 0)
    assert {*table} == {(1,), (2,), (1, 2)}
    assert table[1, 2][0, 1] > 1e99  # (few, many) was never seen beside "many"
    assert table[1,].max() < 2
    shares = [F(n, 335) for n in (50, 40, 45, 60, 30, 0, 40, 70)]
    least, needed = scales(belief, tf.Count(1), 4.0, shares)
    assert least >= needed * (1 - 1e-9)


def test_large_sets_are_left_out_by_their_number_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from takifugu.model.beliefs.records import counted_parameters

    monkeypatch.setattr(counted_parameters, "MOST_INTERVALS", 24)
    assert {*towns([9] * 8).chances(0)} == {(1,), (2,)}


def test_what_is_assumed_is_said_and_reads_back() -> None:
    belief = towns([30, 20, 20, 30], confidence=0.95)
    again: Any = beliefs.from_dict(belief.to_dict())
    assert again.to_dict() == belief.to_dict()
    assert "confidence 0.95" in belief.describe()
    assert "100 counted populations" in belief.describe()
    assert any("covers the true one with confidence 0.95" in words for words in map(str, belief.assumptions()))
    assert belief.possible(0) == (True, True)
    assert not is_private_source(belief.source)
    rows = list(itertools.product(LEVELS, repeat=2))
    private = tf.CountedParameters(rows, [1] * 4, ["s", "c"], {"c": COINS}, 2, source="these", private=True)
    assert is_private_source(private.source)


@pytest.mark.parametrize(("wrong", "words"), [
    ({"confidence": 1.0}, "confidence"), ({"confidence": 0}, "confidence"), ({"counts": [1, 2, 3, -1]}, "counts"),
    ({"columns": {"x": COINS}}, "there is none 'x'"),
])  # fmt: skip
def test_bad_input(wrong: Any, words: str) -> None:
    rows = list(itertools.product(LEVELS, repeat=2))
    right = {"rows": rows, "counts": [1, 2, 3, 4], "names": ["s", "c"], "columns": {"c": COINS}, "records": 2}
    with pytest.raises(InputError, match=words):
        tf.CountedParameters(**{**right, "source": "towns", **wrong})


def test_what_stands_in_must_be_of_the_class() -> None:
    belief = towns([300, 200, 200, 300])
    framework = tf.Pufferfish(tf.distribution_parameter("s"), belief)
    noise = tf.calibrate(framework, tf.Sum("c"), 1, mechanism="group-dp")
    outside = member(belief, [F(2, 5), F(1, 10), F(1, 10), F(2, 5)])
    assert not belief.contains(outside)
    with pytest.raises(InputError, match="does not stand for"):
        tf.exact_loss(noise, chains=(outside,))
