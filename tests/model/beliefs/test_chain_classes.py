"""Regions of chains and binary chains in an interval: what they hold, their confidence, their text."""

import json
import math
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.support.class_oracles import matrix_in_box, mixture_excludes, most_misses, random_box, walk

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.model import beliefs
from takifugu.model.beliefs.estimate import count_transitions, is_private_source, mixture_interval

SOURCE = "estimated from walks that are public"
LOWER, UPPER = [[0.7, 0.1], [0.2, 0.4]], [[0.9, 0.3], [0.6, 0.8]]
MATRICES = [
    [[0.9, 0.1], [0.4, 0.6]],
    [[0.05, 0.95], [0.5, 0.5]],
    [[0.8, 0.15, 0.05], [0.3, 0.7, 0.0], [0.0, 0.02, 0.98]],
]


@pytest.mark.parametrize(("s", "n"), [(0, 1), (1, 1), (3, 10), (10, 10), (0, 50), (517, 1000), (999_999, 1_000_000)])
@pytest.mark.parametrize("miss", [0.2, 0.01, 1e-9])
def test_interval_holds_what_the_mixture_does_not_exclude(s: int, n: int, miss: float) -> None:
    low, high = mixture_interval(s, n, miss)
    assert 0 <= low <= s / n <= high <= 1
    width = 1e-6 * min(high, 1 - low, high - low)
    for outside in (low, high):
        assert outside in (0.0, 1.0) or mixture_excludes(s, n, outside, miss)
    assert low == 0 or not mixture_excludes(s, n, low + width, miss)
    assert high == 1 or not mixture_excludes(s, n, high - width, miss)


def test_nothing_seen_excludes_nothing() -> None:
    assert mixture_interval(0, 0, 1e-6) == (0.0, 1.0)


def ever_missed(p: float, miss: float, longest: int) -> float:
    """Return the exact probability that p leaves the interval at some n up to `longest`: an adversary stops there."""
    alive = {0: 1.0}
    missed = 0.0
    for n in range(1, longest + 1):
        after: dict[int, float] = {}
        for s, mass in alive.items():
            after[s + 1] = after.get(s + 1, 0.0) + mass * p
            after[s] = after.get(s, 0.0) + mass * (1 - p)
        alive = {}
        for s, mass in after.items():
            low, high = mixture_interval(s, n, miss)
            if low <= p <= high:
                alive[s] = mass
            else:
                missed += mass
    return missed


@pytest.mark.sampled(2)
@pytest.mark.parametrize("p", [0.03, 0.5, 0.8])
def test_whoever_chooses_when_to_count_is_covered_too(p: float) -> None:
    assert 0 < ever_missed(p, 0.1, 40) <= 0.1


def test_fit_with_confidence_counts_what_fit_counts() -> None:
    sequences = [list("aabab"), list("bba")]
    region = tf.MarkovChain.fit(sequences, 10, source=SOURCE, confidence=0.99)
    names, counts = count_transitions(sequences)
    again = tf.IntervalMarkovChain.covering(counts, 10, names, 0.99, SOURCE)
    assert isinstance(region, tf.IntervalMarkovChain)
    assert (region.states, region.length, region.confidence, region.source) == (("a", "b"), 10, 0.99, SOURCE)
    np.testing.assert_array_equal(region.lower, again.lower)
    np.testing.assert_array_equal(region.upper, again.upper)
    assert isinstance(tf.MarkovChain.fit(sequences, 10, source=SOURCE), tf.MarkovChain)
    private = tf.MarkovChain.fit(sequences, 10, source="the diaries", private=True, confidence=0.9)
    assert is_private_source(private.source)
    assert tf.MarkovChain.fit([[5, 5, 5]], 3, source=SOURCE, confidence=0.9).lower.tolist() == [[1.0]]


def test_more_data_and_less_confidence_draw_the_region_in() -> None:
    rng = np.random.default_rng(3)
    sequence = walk(rng, np.array(MATRICES[0]), 5000)
    widths = [
        (region.upper - region.lower).max()
        for region in (
            tf.MarkovChain.fit([sequence[:n]], 9, states=(0, 1), source=SOURCE, confidence=c)
            for n, c in ((200, 0.99), (2000, 0.99), (2000, 0.9))
        )
    ]
    assert widths[0] > 2 * widths[1] > 2 * widths[2]


def misses(matrix: list[list[float]], runs: int, confidence: float, shrink: float = 1.0) -> int:
    """Return how often the region misses the matrix; each run walks until a time that depends on what it saw."""
    rng = np.random.default_rng(11)
    table, missed = np.array(matrix), 0
    for _ in range(runs):
        sequence = walk(rng, table, 120)
        if sequence.count(1) < 30:  # looks again where it saw little
            sequence += walk(rng, table, 60, sequence[-1])[1:]
        counts = np.zeros(table.shape, dtype=np.int64)
        for x, y in pairwise(sequence):
            counts[x, y] += 1
        region = tf.IntervalMarkovChain.covering(counts, 9, range(len(table)), confidence, SOURCE)
        middle, half = (region.lower + region.upper) / 2, (region.upper - region.lower) / 2
        missed += bool((np.abs(table - middle) > shrink * half + 1e-12).any())
    return missed


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("matrix", MATRICES)
def test_region_covers_the_true_matrix_at_the_stated_rate(matrix: list[list[float]]) -> None:
    runs = 250
    assert misses(matrix, runs, 0.8) <= most_misses(runs, 0.2)
    assert misses(matrix, runs, 0.8, shrink=0.3) > most_misses(runs, 0.2)  # a region that is too small is seen


@pytest.mark.slow
@pytest.mark.parametrize("matrix", MATRICES)
def test_region_covers_in_many_runs(matrix: list[list[float]]) -> None:
    assert misses(matrix, 4000, 0.95) <= most_misses(4000, 0.05)


@pytest.mark.mutants
def test_reachable_ends() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        k = int(rng.integers(1, 5))
        lower, upper = random_box(rng, k, 0.3)
        region = tf.IntervalMarkovChain(lower, upper, 4)
        low, high = region.reachable
        for _ in range(20):
            matrix = matrix_in_box(rng, lower, upper)
            assert region.contains(tf.MarkovChain(matrix, 4, "any"))
            assert (low - 1e-12 <= matrix).all()
            assert (matrix <= high + 1e-12).all()
    wide = tf.IntervalMarkovChain([[0.6, 0.0], [0.5, 0.5]], [[1.0, 1.0], [0.5, 0.5]], 3)
    np.testing.assert_allclose(wide.reachable[1], [[1.0, 0.4], [0.5, 0.5]], atol=1e-14)
    assert not wide.contains(tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 3))
    assert not wide.contains(tf.MarkovChain([[0.7, 0.3], [0.5, 0.5]], 3, states=list("ab")))
    point = tf.IntervalMarkovChain([[0.1, 0.2, 0.7]] * 3, [[0.1, 0.2, 0.7]] * 3, 3)
    assert point.contains(tf.MarkovChain([[0.1, 0.2, 0.7]] * 3, 3))


REGION = partial(tf.IntervalMarkovChain, lower=LOWER, upper=UPPER, length=5)
INTERVAL = partial(tf.BinaryChains, low=0.2, length=5)


@pytest.mark.parametrize(("maker", "arguments", "message"), [
    (REGION, {"lower": UPPER, "upper": LOWER}, "at most the upper end"),
    (REGION, {"lower": [[0.7, 0.1]]}, "must be square"),
    (REGION, {"upper": [[0.9, 0.3], [0.6, "x"]]}, "upper ends is no square table"),
    (REGION, {"upper": [[0.9, 1.3], [0.6, 0.8]]}, r"must lie in \[0, 1\]"),
    (REGION, {"lower": [[0.7, math.nan], [0.6, 0.8]]}, r"must lie in \[0, 1\]"),
    (REGION, {"lower": [[0.9, 0.3], [0.2, 0.4]]}, "row 0 of the region holds no distribution"),
    (REGION, {"upper": [[0.7, 0.1], [0.6, 0.8]]}, "row 0 of the region holds no distribution"),
    (REGION, {"length": 0}, "length is 0"),
    (REGION, {"states": list("abc")}, "3 states and 2 rows"),
    (REGION, {"states": ["a", "a"]}, "repeat a name"),
    (REGION, {"confidence": 1}, "confidence is 1"),
    (REGION, {"lower": [[1, 0], [1, 0]], "upper": [[1, 0.4], [1, 0]]}, "cannot be entered"),
    (INTERVAL, {"low": 0.6}, "from 0 to 1/2"),
    (INTERVAL, {"low": -0.1}, "from 0 to 1/2"),
    (INTERVAL, {"states": list("abc")}, "3 states and 2 rows"),
    (INTERVAL, {"length": 1.5}, "whole number"),
])  # fmt: skip
def test_bad_regions_and_intervals(maker, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        maker(**arguments)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1, "0.99999999", "0.99999999999999999"])
def test_bad_confidence(confidence: float) -> None:
    """Nearer to 1 than that a float would say 1, or leave few digits of what may fail."""
    with pytest.raises(InputError, match="confidence is"):
        tf.MarkovChain.fit([["a", "b"]], 5, source=SOURCE, confidence=confidence)


def test_members_of_an_interval() -> None:
    chains = tf.BinaryChains(0.2, 5)
    assert chains.contains(tf.MarkovChain([[0.2, 0.8], [0.8, 0.2]], 5))
    assert chains.contains(chains.worst)
    assert not chains.contains(tf.MarkovChain([[0.5, 0.5], [0.1, 0.9]], 5))
    assert not chains.contains(tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 5, states=list("ab")))


@pytest.mark.parametrize("belief", [
    tf.IntervalMarkovChain(LOWER, UPPER, 7, ["a", "b"], 0.99, SOURCE),
    tf.IntervalMarkovChain(LOWER, UPPER, 7),
    tf.MarkovChain.fit([[0, 0, 1, 2, 1]], 7, source=SOURCE, confidence=0.9),
    tf.BinaryChains(0.15, 7, list("ab"), SOURCE),
])  # fmt: skip
def test_they_are_beliefs(belief: Any) -> None:
    text = json.dumps(belief.to_dict())
    assert beliefs.from_dict(json.loads(text)).to_dict() == belief.to_dict()
    assert belief.with_length(9).to_dict() == {**belief.to_dict(), "length": 9}
    pieces = tf.IndependentPieces(belief, [7, 3, 7])
    assert [pieces.component(n).size for n in range(3)] == [7, 3, 7]
    read = beliefs.from_dict(json.loads(json.dumps(pieces.to_dict())))
    assert read.to_dict() == pieces.to_dict()
    assert isinstance(belief, beliefs.Belief)
    assert belief.possible(3) == (True,) * len(belief.states)
    assert belief.alphabet(2) == belief.states
    assert f", {belief.length} steps, " in belief.describe()
    with pytest.raises(InputError, match="counted from 0"):
        belief.position("x")
    again = (belief, beliefs.from_dict(json.loads(text)), belief.with_length(8))
    one, two, other = (tf.Pufferfish(tf.every_entry(), b).fingerprint() for b in again)
    assert one == two != other


@pytest.mark.parametrize("chain", [
    tf.MarkovChain(MATRICES[0], 200), tf.PeriodicChain(MATRICES[:2], 200, [0, 1]), tf.ReversibleChains(0.2, 0.1, 200),
    tf.IntervalMarkovChain(LOWER, UPPER, 200), tf.BinaryChains(0.15, 200),
])  # fmt: skip
def test_pieces_say_their_length_once(chain: Any) -> None:
    law, length, start = chain.describe().rpartition("200 steps, ")
    assert length
    said = tf.IndependentPieces(chain, [200, 200]).describe()
    assert said == f"2 independent recordings of 200 steps, each {law}{start}"
    assert said.count("200 steps") == 1


def test_what_a_region_assumes_is_said() -> None:
    said = " ".join(map(str, tf.IntervalMarkovChain(LOWER, UPPER, 7, confidence=0.99).assumptions()))
    assert "confidence 0.99, and the guarantee holds only if it does" in said
    assert "confidence" not in " ".join(map(str, tf.IntervalMarkovChain(LOWER, UPPER, 7).assumptions()))
    assert "from 0.2 to 0.8" in " ".join(map(str, tf.BinaryChains(0.2, 7).assumptions()))
    # rounded to "from 1e-07 to 1" it said that a chain is covered which never leaves its state
    assert "from 1/10000000 to 0.9999999" in " ".join(map(str, tf.BinaryChains(1e-7, 7).assumptions()))
    assert "in [0.1234561, 0.8765439]" in tf.BinaryChains(0.1234561, 7).describe()
    assert "masses are at least 0.1234567 " in str(tf.ReversibleChains(0.1234567, 0.5, 7, [0, 1]).assumptions()[0])
    region = tf.IntervalMarkovChain(LOWER, UPPER, 200, confidence=0.9999999)
    assert "with confidence 0.9999999" in " ".join(map(str, region.assumptions()))
    assert any("confidence 0.99" in line.text for line in tf.IndependentPieces(
        tf.IntervalMarkovChain(LOWER, UPPER, 7, confidence=0.99), [3]).assumptions())  # fmt: skip
