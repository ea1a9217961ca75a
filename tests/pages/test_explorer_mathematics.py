"""The explorer's numbers against the library, and against enumeration."""

import itertools
import math
import re
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.support.forged import random_matrix
from tests.support.javascript import Scripts
from tests.support.rounds import samples

import takifugu as tf
from takifugu.audit.step_posteriors import learnt
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query

SCRIPTS = ("engine.js", "reader.js", "settings.js", "table.js", "words.js")
WHY = Path(__file__).resolve().parents[2] / "docs" / "why.md"


@pytest.fixture(scope="module")
def scripts() -> Scripts:
    return Scripts("explorer", SCRIPTS)


def random_case(chance: Random) -> dict[str, Any]:
    k = chance.choice([2, 2, 3])
    length, query = chance.choice([24, 60, 100, 168, 336, 1000, 2016]), chance.choice(["count", "histogram"])
    return {"P": random_matrix(chance, k), "T": length, "q": query, "k": k, "n": chance.choice([1, 1, 3, 15])}


def problem_of(case: dict[str, Any]) -> tuple[Framework, Query]:
    framework = tf.Pufferfish(tf.every_run(case.get("n", 1)), tf.MarkovChain(case["P"], length=case["T"]))
    return framework, tf.Count(1) if case["q"] == "count" else tf.Histogram()


@pytest.mark.mutants
@pytest.mark.parametrize(("seed", "cases"), samples((1, 20), (1, 40), *((seed, 1000) for seed in range(2, 12))))
def test_the_loss_is_that_of_the_library(scripts: Scripts, seed: int, cases: int) -> None:
    """The library's loss is that of the page, or lies between it and that of an endless recording.

    For what is far from both ends of a recording the library may take what a sweep settles to.
    """
    chance, alike = Random(seed), 0
    for _ in range(cases):
        case, scale = random_case(chance), chance.choice([2, 5, 10, 30, 100])
        charged = float(tf.with_scale(*problem_of(case), scale).guarantee.epsilon)
        ours = endless = scripts.call("loss(P, T, changeOf(q, k, 1), b, n)", **case, b=scale)
        if charged > ours * (1 + 1e-9):
            endless = scripts.call("loss(P, T, changeOf(q, k, 1), b, n)", **{**case, "T": 10**6}, b=scale)
        assert ours * (1 - 1e-9) <= charged <= max(ours, endless) * (1 + 1e-9), (case, scale)
        assert charged == pytest.approx(ours, rel=1e-6)
        alike += abs(charged / ours - 1) <= 1e-9
    assert alike >= 0.95 * cases


@pytest.mark.parametrize(("seed", "count"), samples((4, 1), (4, 6)))
def test_the_scale_is_the_least_that_keeps_epsilon(scripts: Scripts, seed: int, count: int) -> None:
    chance = Random(seed)
    for _ in range(count):
        case, epsilon = random_case(chance), chance.choice([0.25, 0.5, 1, 1.5, 2, 3, 4])
        scale = scripts.call("leastScale(P, T, changeOf(q, k, 1), e, n)", **case, e=epsilon)
        calibration = tf.calibrate(*problem_of(case), epsilon, mechanism="influence")
        assert scale == pytest.approx(calibration.scale, rel=1e-6)
        of_less = scripts.call("loss(P, T, changeOf(q, k, 1), b, n)", **case, b=scale * (1 - 1e-8))
        assert scripts.call("loss(P, T, changeOf(q, k, 1), b, n)", **case, b=scale) <= epsilon < of_less


# What is enumerated: sequences with their probabilities, and the noised law at integers and far beyond.


def enumerated(matrix: list[list[float]], length: int) -> list[tuple[tuple[int, ...], float]]:
    leave, back = matrix[0][1], matrix[1][0]
    law, sequences = (back / (leave + back), leave / (leave + back)), []
    for states in itertools.product((0, 1), repeat=length):
        probability = law[states[0]]
        for before, after in itertools.pairwise(states):
            probability *= matrix[before][after]
        sequences.append((states, probability))
    return sequences


def loss_of_runs(matrix: list[list[float]], length: int, run: int, scale: float) -> float:
    """Return the largest log-ratio of the noised count, over runs, pairs of their values, and outputs."""
    sequences, worst = enumerated(matrix, length), 0.0
    outputs = np.arange(length + 1)
    kernel = np.exp(-np.abs(outputs[:, None] - outputs[None, :]) / scale)
    for start in range(length - run + 1):
        laws = dict[tuple[int, ...], np.ndarray]()
        for states, probability in sequences:
            law = laws.setdefault(states[start : start + run], np.zeros(length + 1))
            law[sum(states)] += probability
        noised = [kernel @ (law / law.sum()) for law in laws.values()]
        worst = max(worst, *(float(np.log(p / q).max()) for p, q in itertools.permutations(noised, 2)))
    return worst


@pytest.mark.parametrize("run", [1, 2, 3])
@pytest.mark.parametrize("stay", [(3, 5), (20, 8), (1.3, 4)])
def test_a_run_of_steps_loses_what_enumeration_says(scripts: Scripts, run: int, stay: tuple[float, float]) -> None:
    leave = [1 / steps for steps in stay]
    matrix = [[1 - leave[0], leave[0]], [leave[1], 1 - leave[1]]]
    given: dict[str, Any] = {"P": matrix, "T": 7, "b": 3.0, "n": run}
    ours = scripts.call("loss(P, T, changeOf('count', 2, 1), b, n)", **given)
    true = loss_of_runs(matrix, 7, run, 3.0)
    assert ours >= true - 1e-12
    if matrix[0][0] + matrix[1][1] >= 1:  # states last: the bound is attained
        assert ours == pytest.approx(true, rel=1e-9)


def test_the_posterior_of_steps_is_that_of_enumeration(scripts: Scripts) -> None:
    matrix, blocks, noisy, scale = [[0.8, 0.2], [0.3, 0.7]], [[0, 3], [3, 8]], [2.5, -1.0], 1.7
    given: dict[str, Any] = {"P": matrix, "blocks": blocks, "noisy": noisy, "b": scale}
    likelihoods = "blocks.map(([f, l], i) => likelihoodOf([noisy[i]], l - f, b))"
    ours = scripts.call(f"Array.from(posteriorOfSteps(P, stationary(P), blocks, {likelihoods}))", **given)
    joint, total = np.zeros(8), 0.0
    for states, probability in enumerated(matrix, 8):
        distance = abs(noisy[0] - sum(states[:3])) + abs(noisy[1] - sum(states[3:]))
        weight = probability * math.exp(-distance / scale)
        joint += weight * np.array(states)
        total += weight
    assert ours == pytest.approx(joint / total, rel=1e-12)


@pytest.mark.mutants
@pytest.mark.parametrize("cases", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_posterior_never_leaves_the_guarantee_and_reaches_it(scripts: Scripts, cases: int) -> None:
    chance, nearest, outside_with_ordinary = Random(5), 0.0, 0
    for number in range(cases):
        leave = [1 / (1.2 + 40 * chance.random()) for _ in range(2)]
        matrix = [[1 - leave[0], leave[0]], [leave[1], 1 - leave[1]]]
        length, epsilon = chance.choice([24, 60, 120]), 0.2 + 3 * chance.random()
        size = chance.choice([length, 12, 6])
        blocks = [[first, first + size] for first in range(0, length, size)]
        middle = [round(size * chance.random()) for _ in blocks]
        noisy = [[1e3] * len(blocks), [-1e3] * len(blocks), middle][number % 3]
        given: dict[str, Any] = {"P": matrix, "T": length, "e": epsilon, "blocks": blocks, "noisy": noisy}
        scale = scripts.call("leastScale(P, T, changeOf('count', 2, 1), e)", **given)
        for noise in (scale, 1 / epsilon):
            likelihoods = "blocks.map(([f, l], i) => likelihoodOf([noisy[i]], l - f, b))"
            thoughts = scripts.call(
                f"Array.from(posteriorOfSteps(P, stationary(P), blocks, {likelihoods}))", **given, b=noise
            )
            prior = math.log(leave[0] / leave[1])
            gains = [abs(math.log(p / (1 - p)) - prior) / epsilon for p in thoughts]
            if noise == scale:
                assert max(gains) <= 1 + 1e-9
                nearest = max(nearest, *gains)
            else:
                outside_with_ordinary += sum(gain > 1 + 1e-9 for gain in gains)
    assert nearest > 1 - 1e-9
    assert outside_with_ordinary > 500


def test_the_table_of_the_page_why_comes_out(scripts: Scripts) -> None:
    rows = re.findall(r"^\| in (\d+) % \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", WHY.read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 5
    for stay, surest, guess, needed, group in rows:
        same = int(stay) / 100
        given: dict[str, Any] = {"P": [[same, 1 - same], [1 - same, same]], "c": [[0, 1], [1, 0]]}
        bound = scripts.call("posteriorBound(.5, loss(P, 100, c, 1))", **given)
        digits = len(surest.rstrip(" %").partition(".")[2])
        assert f"{100 * bound:.{digits}f} %" == surest
        assert f"{100 * scripts.call('rightGuesses(P, 100, 1, .5)', **given):.0f} %" == guess
        assert f"{scripts.call('leastScale(P, 100, c, 1)', **given):.1f}" == needed
        assert group == "100"


def test_the_better_guess_is_that_of_enumeration(scripts: Scripts) -> None:
    matrix, scale, prior, length = [[0.9, 0.1], [0.3, 0.7]], 1.4, 0.3, 9
    outputs = np.arange(-80, 90)
    laws = np.zeros((2, length + 1))
    for states, probability in enumerated(matrix, length):
        laws[states[length // 2], sum(states)] += probability
    laws /= laws.sum(axis=1, keepdims=True)
    noise = np.exp(-np.abs(outputs[:, None] - np.arange(length + 1)) / scale) * math.tanh(0.5 / scale)
    right = np.maximum(prior * noise @ laws[1], (1 - prior) * noise @ laws[0]).sum()
    ours = scripts.call("rightGuesses(P, T, b, p)", P=matrix, T=length, b=scale, p=prior)
    assert ours == pytest.approx(right, rel=1e-9)


def test_the_truth_on_average_is_that_of_the_audit(scripts: Scripts) -> None:
    probabilities, path = [0.9, 0.4, 0.25, 1.0], [1, 0, 1, 1]
    law = np.array([[1 - p, p] for p in probabilities])
    found = learnt(law, law, np.array(path), dict.fromkeys(range(4), ((0, 1), (1, 0))), 1.0)
    assert scripts.call("truthOnAverage(p, x)", p=probabilities, x=path) == pytest.approx(found.truth, rel=1e-12)
