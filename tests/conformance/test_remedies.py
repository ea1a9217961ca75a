"""Each mechanism that a refusal advises can be tried on the problem that was refused, on the whole corpus."""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from tests.conformance.corpus import DELTAS, Case, corpus, shrunk
from tests.support import urn
from tests.support.registries import restored

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.calibration import remedies
from takifugu.calibration.alternatives import INAPPLICABLE
from takifugu.calibration.registry import REGISTRY, find
from takifugu.calibration.trials import Trial, attempt

NAMES = {line.name for line in REGISTRY}


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    with restored():
        urn.register()
        yield


def of_an_urn() -> list[Case]:
    """Return problems of a belief from outside, of which nothing is known but the distribution of the answer."""
    framework = tf.Pufferfish(tf.every_entry(), urn.Urn(6, 10, 4))
    queries = (tf.Count(1), tf.Histogram(), tf.Mode(), tf.Median())
    return [Case(f"urn, {query.describe()}", framework, query) for query in queries]


def trial(name: str, problem: Problem) -> Trial:
    """Return what a mechanism answers."""
    return attempt(find(name, problem.framework.definition), problem, allow_zero_noise=True, limited=False)


def unfit(case: Case, delta: Fraction) -> Iterator[tuple[str, str, str]]:
    """Yield a mechanism, its advice, and its reason, wherever what it advises does not apply either."""
    definition = case.framework.definition
    problem = Problem(case.framework, case.query, Fraction(1), delta)
    with_delta = Problem(case.framework, case.query, Fraction(1), DELTAS[1])
    for line in REGISTRY:
        if definition not in line.definitions:
            continue
        answer = trial(line.name, problem)
        if answer.status != INAPPLICABLE:
            continue
        unquoted = re.findall(r"\buse ([a-z-]+)", answer.reason)
        for advised in NAMES & {*re.findall(r'"([a-z-]+)"', answer.reason), *unquoted}:
            of_advice = with_delta if "delta above 0" in answer.reason else problem
            tried = trial(advised, of_advice)
            if tried.status == INAPPLICABLE:
                yield line.name, advised, answer.reason


@pytest.mark.mutants
@pytest.mark.parametrize("case", shrunk(corpus()), ids=lambda case: case.name)
def test_what_a_refusal_advises_applies(case: Case) -> None:
    assert [*unfit(case, DELTAS[0]), *unfit(case, DELTAS[1])] == []


@pytest.mark.mutants
def test_what_a_refusal_advises_applies_to_a_belief_from_outside() -> None:
    """It was told to use "quilt-exact", and nothing is known of its quilts."""
    for case in of_an_urn():
        assert [*unfit(case, DELTAS[0]), *unfit(case, DELTAS[1])] == []
    for mechanism, query in (("influence", tf.Histogram()), ("wasserstein", tf.Mode())):
        with pytest.raises(tf.errors.CalibrationRefused) as refused:
            tf.calibrate(of_an_urn()[0].framework, query, 1, mechanism=mechanism)
        assert 'use mechanism="group-dp"' in str(refused.value)
        assert "quilt" not in str(refused.value)


def test_without_the_check_advice_does_not_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a reason as the question to the belief words it."""
    monkeypatch.setattr(remedies, "can_be_tried", lambda name, problem: True)
    assert [*unfit(of_an_urn()[2], DELTAS[0])]


COIN = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5))
TEXTS = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5, states=["0", "1"]))


@pytest.mark.parametrize(("ask", "words"), [
    (lambda: tf.calibrate(COIN, tf.Count("1"), 1), "the value is the number 1, and not the text '1'; write 1"),
    (lambda: tf.calibrate(TEXTS, tf.Count(1), 1), "the value is the text '1', and not the number 1; write '1'"),
    (lambda: tf.Pufferfish(tf.entry(0, "0", "1"), COIN.beliefs), "is the number 0, and not the text '0'; write 0"),
    (lambda: tf.entry("smoke", "yes", "no"), "write attribute('smoke', 'yes', 'no')"),
    (lambda: tf.entry(-1, "yes", "no"), "write a whole number, counted from 0"),
    (lambda: tf.attribute(3, "yes", "no"), "an entry by its number is entry(3, 'yes', 'no')"),  # type: ignore[arg-type]
])  # fmt: skip
def test_what_a_message_says_to_write_is_what_is_meant(ask: Any, words: str) -> None:
    """Count("1") on the states 0 and 1 was told to write one of ['0', '1'], and of_advice whether '1' was meant."""
    with pytest.raises(tf.errors.InputError) as refused:
        ask()
    assert str(refused.value).endswith(words)
    assert "did you mean" not in str(refused.value)


@pytest.mark.parametrize(("reason", "words"), [
    ('use mechanism="quilt-exact", "quilt-approx" or "group-dp"', 'use mechanism="group-dp"'),
    ('use mechanism="quilt-exact" or "wasserstein"', 'use mechanism="wasserstein"'),
    ('use mechanism="quilt-exact", a smaller network', 'use mechanism="auto", a smaller network'),
    ('or mechanism="gaussian-exact" or "wasserstein"', 'or mechanism="wasserstein"'),
    ('mechanism="laplace-exact", or "gaussian-exact" with a delta above 0',
     'mechanism="laplace-exact" or "gaussian-exact" with a delta above 0'),
    ("no advice", "no advice"),
])  # fmt: skip
def test_advice_is_rewritten(reason: str, words: str) -> None:
    problem: Any = Problem(of_an_urn()[0].framework, tf.Count(1), Fraction(1))
    assert remedies.applicable(reason, problem) == words
