"""The form of the site that re-prices an event-level epsilon: against the library, and what it says of odd numbers."""

from pathlib import Path
from random import Random

import pytest
from tests.support.javascript import Scripts

import takifugu as tf

FILE = Path(__file__).resolve().parents[2] / "docs" / "event-level.js"


@pytest.fixture(scope="module")
def script() -> Scripts:
    return Scripts(FILE.parent, [FILE.name])


def test_it_finds_the_loss_of_the_library(script: Scripts) -> None:
    chance = Random(5)
    for _ in range(1000):
        epsilon, similarity = 10 ** chance.uniform(-3, 2), 1 - 0.5 * 10 ** chance.uniform(-4, 0)
        here = script.call("eventLevelLoss(e, s)", e=epsilon, s=similarity)
        assert here == pytest.approx(tf.event_level_loss(epsilon, similarity), rel=1e-9)


def test_its_sentence_has_the_numbers_of_the_page(script: Scripts) -> None:
    words = script.call("eventLevelWords(2.64, 0.9)")
    assert words == (
        "One event loses ε = 6.89. Somebody who is 50 % sure of it can become 99.90 % sure. "
        "If events were independent, it would be ε = 2.64 and 93.34 %."
    )


def test_nobody_is_sure_of_all(script: Scripts) -> None:
    assert "can become more than 99.99 % sure" in script.call("eventLevelWords(2.64, 0.99)")


@pytest.mark.parametrize(
    ("numbers", "word"),
    [("NaN, 0.9", "ε"), ("0, 0.9", "ε"), ("1e9, 0.9", "ε"), ("1, 1", "probability"), ("1, 0.2", "probability"),
     ("1, NaN", "probability")],
)  # fmt: skip
def test_other_numbers_are_asked_for(script: Scripts, numbers: str, word: str) -> None:
    words = script.call(f"eventLevelWords({numbers})")
    assert words.startswith("Write")
    assert word in words


def test_it_is_two_kilobytes() -> None:
    assert FILE.stat().st_size <= 2048
