"""What windows of a recording lose, asked again and again: what is remembered changes no bit of a loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.support import messages

import takifugu as tf
from takifugu.influence.chains import recordings
from takifugu.influence.chains.chains import Loss, chain_loss
from takifugu.influence.chains.recordings import recording_loss
from takifugu.influence.profiles.patience import most_steps
from takifugu.influence.profiles.profile import Profile
from takifugu.influence.stretched import _EveryStep
from takifugu.model.secrets.families import Family

RATES = [0.0, 0.01, 0.2, 0.5, 1.5]


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    messages.forget()
    yield
    messages.forget()


def drawn_chain(random: np.random.Generator, states: int) -> Any:
    """Return a chain or one by a period, of any, stationary or given start; some never forget a state at once."""
    matrices = random.dirichlet(np.full(states, 0.7), size=(int(random.integers(1, 4)), states)) * 0.9
    matrices[..., 0] += 1 - matrices.sum(axis=2)
    start: Any = ["any", "stationary", random.dirichlet(np.ones(states))][int(random.integers(3))]
    if len(matrices) == 1:
        return tf.MarkovChain(matrices[0], 1, start)
    return tf.PeriodicChain(list(matrices), 1, initial=start)


def stretches(windows: list[tuple[int, int, float]]) -> tuple[Any, Any]:
    """Return lengths and rates of the stretches of windows (start, length, rate) that may overlap, gaps included."""
    steps = np.zeros(max(start + length for start, length, _ in windows))
    for start, length, rate in windows:
        steps[start : start + length] += rate
    steps = steps[min(start for start, _, _ in windows) :]
    new = np.flatnonzero(np.diff(steps, prepend=steps[0] - 1))
    return np.diff(np.append(new, len(steps))), steps[new]


def from_scratch(chain: Any, lengths: Any, rates: Any, family: Family) -> Loss:
    """Return the loss of the whole profile by one sweep, with nothing remembered."""
    messages.forget()
    states = len(chain.states)
    profile = Profile(tuple(rate * (1 - np.eye(states)) for rate in rates), lengths, np.arange(len(lengths)))
    return chain_loss(chain, profile, family, most=most_steps(states))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(15))
def test_windows_in_any_order_lose_what_a_sweep_from_scratch_says(seed: int) -> None:
    """Windows come before, between, behind and over others; some go again, as where a release was only looked at."""
    random = np.random.default_rng(seed)
    states = 2 + seed % 3
    chain = drawn_chain(random, states)
    pairs = [None, ((0, 1),)][int(random.integers(2))]
    windows: list[tuple[int, int, float]] = []
    arguments = []
    for _ in range(12 if states == 2 else 6):
        if len(windows) > 2 and random.random() < 0.2:
            windows.pop(int(random.integers(len(windows))))
        rate = float(random.choice(RATES) * random.choice([1.0, 1.0, 1.37]))
        windows.append((int(random.integers(0, 400)), int(random.integers(1, 90)), rate))
        lengths, rates = stretches(windows)
        size = int(lengths.sum())
        arguments.append((chain.with_length(size), lengths, rates, _EveryStep(range(size), pairs)))
    losses = [recording_loss(*one, most_steps(states)) for one in arguments]
    assert losses == [from_scratch(*one) for one in arguments]


def test_one_law_of_another_start_is_another_recording() -> None:
    lengths, rates = np.array([30, 30]), np.array([0.5, 0.1])
    for start in ("any", "stationary", [0.5, 0.5], [0.01, 0.99]):
        chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 60, start)
        for pairs in (None, ((0, 1),)):
            family = _EveryStep(range(60), pairs)
            assert recording_loss(chain, lengths, rates, family, 10**6) == _alone(chain, lengths, rates, family)


def _alone(chain: Any, lengths: Any, rates: Any, family: Family) -> Loss:
    profile = Profile(tuple(rate * (1 - np.eye(2)) for rate in rates), lengths, np.arange(len(lengths)))
    return chain_loss(chain, profile, family, most=10**6)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", ["behind all others", "before them", "between them"])
def test_few_stretches_are_followed_for_a_window_more(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: messages far from a new one are what they were."""
    random = np.random.default_rng(1)
    lengths, rates = np.full(30, 168), random.uniform(0.01, 0.1, size=30)
    chain = tf.MarkovChain([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]], 1)
    followed: list[int] = []
    before = recordings.along

    def counting(*given: Any) -> Any:
        followed.append(1)
        return before(*given)

    def ask(lengths: Any, rates: Any) -> Loss:
        size = int(lengths.sum())
        return recording_loss(chain.with_length(size), lengths, rates, _EveryStep(range(size)), 10**4)

    monkeypatch.setattr(recordings, "along", counting)
    ask(lengths, rates)
    assert len(followed) == 60
    at = {"behind all others": 30, "before them": 0, "between them": 15}[place]
    more, with_one = np.insert(lengths, at, 168), np.insert(rates, at, 0.05)
    followed.clear()
    loss = ask(more, with_one)
    assert len(followed) <= 12
    followed.clear()
    assert ask(more, with_one) == loss
    assert not followed
    monkeypatch.undo()
    size = int(more.sum())
    assert loss == from_scratch(chain.with_length(size), more, with_one, _EveryStep(range(size)))


def test_no_more_is_remembered_than_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "MOST", 2**16)
    for number in range(40):
        chain = tf.MarkovChain([[0.9, 0.1], [0.4 + number / 100, 0.6 - number / 100]], 20)
        lengths = np.full(4, 5)
        recording_loss(chain, lengths, np.array([0.1, 0.2, 0.3, 0.4]), _EveryStep(range(20)), 10**4)
    taken = sum(one.size for known in recordings._KNOWN.values() for one in known)
    assert 0 < taken <= 2**16
    assert 1 < len(recordings._KNOWN) < 40
