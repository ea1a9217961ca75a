"""Event-level losses under similar neighbours, against the recursion, the library's own and enumeration."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tf
from takifugu.calibration.event_level import event_level_loss
from takifugu.calibration.record_epsilon import promise_of_entries
from takifugu.core.errors import InputError


def by_recursion(lost: float, stay: float, events: int) -> float:
    """Return the loss of the middle one of so many events, side by side, event by event."""
    side = 0.0
    for _ in range(events // 2):
        grown = math.exp(lost + side)
        side = math.log((stay * grown + 1 - stay) / ((1 - stay) * grown + stay))
    return lost + 2 * side


@given(st.floats(0.01, 20), st.floats(0.5, 0.999))
def test_it_is_the_limit_of_the_recursion(lost: float, stay: float) -> None:
    loss, limit = event_level_loss(lost, stay), by_recursion(lost, stay, 200_000 if stay > 0.99 else 20_000)
    assert limit <= loss <= limit * (1 + 1e-9) + 1e-9
    assert loss >= by_recursion(lost, stay, 7)


@pytest.mark.parametrize("similarity", ["0.5", "0.8", "0.9", "0.95", "0.99"])
def test_a_chain_of_the_library_loses_as_much(similarity: str) -> None:
    stay = Fraction(similarity)
    chain = tf.MarkovChain([[stay, 1 - stay], [1 - stay, stay]], length=2001)
    promised, _, _ = promise_of_entries(tf.Pufferfish(tf.every_entry(), chain), Fraction("2.64"), Fraction(0))
    assert float(promised) == pytest.approx(event_level_loss("2.64", similarity), rel=1e-9)


def test_it_is_about_values_that_are_equally_likely_at_first() -> None:
    """By enumeration of eight randomised events: where the first is nearly certain, the third loses more than that."""
    stay, lost, events, hidden = 0.9, 2.64, 8, 2

    def worst(first: float) -> float:
        masses = {value: np.zeros(2**events) for value in (0, 1)}
        outputs = np.arange(2**events)
        for values in product((0, 1), repeat=events):
            mass = first if values[0] else 1 - first
            for before, after in pairwise(values):
                mass *= stay if before == after else 1 - stay
            right = sum((outputs >> place & 1) == value for place, value in enumerate(values))
            masses[values[hidden]] += mass * np.exp(lost * (right - events))
        ratio = np.log(masses[0] / masses[0].sum()) - np.log(masses[1] / masses[1].sum())
        return float(np.abs(ratio).max())

    promised = event_level_loss(lost, stay)
    assert worst(0.5) <= promised < 6.9 < 7.5 < worst(0.97)
    assert "first event has either value with probability 1/2" in " ".join((event_level_loss.__doc__ or "").split())
    chain = tf.MarkovChain([[stay, 1 - stay], [1 - stay, stay]], length=events, initial="any")
    found, _, _ = promise_of_entries(tf.Pufferfish(tf.every_entry(), chain), Fraction(str(lost)), Fraction(0))
    assert worst(0.97) <= float(found)


@pytest.mark.parametrize("similarity", [1, 0.49, "often", None, math.nan])
def test_no_similarity_is_refused(similarity: object) -> None:
    with pytest.raises(InputError) as refused:
        tf.event_level_loss(1, similarity)
    assert "similarity" in str(refused.value)


def test_large_losses_stay_finite() -> None:
    assert event_level_loss(5000, 0.9) == pytest.approx(5000 + 2 * math.log(9), rel=1e-12)
