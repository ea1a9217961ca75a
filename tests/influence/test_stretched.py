"""A long history of windows: what is put together first bounds the loss of every stretch, and misses none of it."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.influence import stretched
from takifugu.influence.chains import remembered
from takifugu.influence.curves import CURVES
from takifugu.influence.profiles.profile import Profile
from takifugu.numbers.outward_rounding import floats_above
from takifugu.numbers.rationals import decimal_up
from takifugu.numbers.runs import Runs

UNIT = Fraction(1, 2**20)


def history(random: np.random.Generator, size: int, gap: int) -> Runs:
    """Return so many windows in a row, each with a loss of its own, and between them steps that nothing reads."""
    values, lengths = list[int](), list[int]()
    for _ in range(size):
        values += [int(random.integers(1, 2**19)), 0]
        lengths += [int(random.integers(1, 40)), gap]
    kept = [(value, length) for value, length in zip(values, lengths, strict=True) if length]
    return Runs(np.array([value for value, _ in kept]), np.cumsum([length for _, length in kept]))


def chains(random: np.random.Generator) -> list[Any]:
    """Return a chain that forgets at once, one that forgets slowly, and one of three states, of any start."""
    rows = random.dirichlet(np.ones(3), size=3) * 0.7 + 0.1
    return [
        tf.MarkovChain([[0.7, 0.3], [0.3, 0.7]], 2), tf.MarkovChain([[0.98, 0.02], [0.05, 0.95]], 2),
        tf.MarkovChain((rows / rows.sum(axis=1, keepdims=True)).tolist(), 2, "any"),
    ]  # fmt: skip


def one_by_one(belief: Any, steps: Runs) -> float:
    """Return the loss of all stretches, none put together."""
    remembered.forget()
    tables = tuple(rate * (1 - np.eye(len(belief.states))) for rate in floats_above(steps.values, UNIT).tolist())
    profile = Profile(tables, steps.lengths, np.arange(len(tables)))
    family = stretched._EveryStep(range(steps.size), ())
    return float(CURVES.of(belief).anywhere(belief, profile, family).epsilon)


@pytest.mark.mutants
@pytest.mark.parametrize("seed", range(6))
def test_stretches_put_together_lose_what_they_lose_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretched, "FEW", 6)
    random = np.random.default_rng(seed)
    for belief in chains(random):
        for gap in (0, 3):
            steps = history(random, int(random.integers(4, 30)), gap)
            exact = one_by_one(belief, steps)
            remembered.forget()
            loss = stretched.stretched_loss(belief.with_length(steps.size), (), steps, UNIT, True)
            assert loss is not None
            assert exact <= loss[0] <= decimal_up(Fraction(exact) * (1 + Fraction(2, 10**12))), (seed, belief, gap)


def test_of_a_long_history_few_stretches_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    belief = chains(np.random.default_rng(1))[0]
    steps, asked = history(np.random.default_rng(2), 3000, 0), list[int]()
    steps = Runs(steps.values, 40 * np.arange(1, 3001))
    curve = CURVES.of(belief)

    def counted(belief: Any, profile: Any, family: Any) -> Any:
        asked.append(len(profile.lengths))
        return curve.loss(belief, profile, family)

    monkeypatch.setattr(stretched.CURVES, "of", lambda _: replace(curve, anywhere=counted))
    assert stretched.stretched_loss(belief.with_length(steps.size), (), steps, UNIT, True) is not None
    assert len(asked) == 2
    assert max(asked) < 200


def test_a_state_that_is_never_entered_loses_nothing() -> None:
    two, steps = [[0.5, 0.5], [0.3, 0.7]], Runs(np.array([0, 2**18, 0]), np.array([9, 15, 30]))
    three = tf.MarkovChain([[*two[0], 0], [*two[1], 0], [0.9, 0.1, 0]], 30, [0.5, 0.5, 0])
    losses = list[float]()
    for belief in (tf.MarkovChain(two, 30, [0.5, 0.5]), three):
        remembered.forget()
        loss = stretched.stretched_loss(belief, (), steps, UNIT, False)
        assert loss is not None
        losses.append(float(loss[0]))
    assert losses[1] == pytest.approx(losses[0], rel=1e-9)
