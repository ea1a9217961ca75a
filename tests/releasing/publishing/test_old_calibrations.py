"""A release asks the one gate of the noise that it draws, however it was found (docs/theory/zero-noise.md)."""

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.calibration.result import Calibration
from takifugu.core.errors import CalibrationRefused, InputError, ReleaseState

#: Its own randomness hides nearly everything of its first step from the later ones.
FORGETFUL = tf.Pufferfish(tf.entry(0, 0, 1), tf.MarkovChain([[0.3, 0.7], [0.9, 0.1]], length=20))
LATER = tf.Count(1, entries=range(3, 20))
DATA = [0, 1] * 10
Way = Callable[[Calibration], Any]
KEPT: dict[str, Way] = {
    "as it is": lambda made: made, "copied": copy.deepcopy, "pickled": lambda made: pickle.loads(pickle.dumps(made)),
    "saved": lambda made: Calibration.from_dict(json.loads(json.dumps(made.to_dict()))),
}  # fmt: skip


def with_little_noise() -> Calibration:
    return tf.calibrate(FORGETFUL, LATER, 1, single_release=True, allow_zero_noise=True)


def saved_before_the_gate(calibration: Calibration) -> Calibration:
    content = calibration.to_dict()
    return Calibration.from_dict({key: value for key, value in content.items() if key != "allow_zero_noise"})


def pickled_before_the_gate(calibration: Calibration) -> Calibration:
    again: Calibration = KEPT["pickled"](calibration)
    again.__dict__.pop("allow_zero_noise", None)
    return again


def with_less_noise(_: Calibration) -> Calibration:
    enough = tf.calibrate(FORGETFUL, tf.Count(1), 1, mechanism="group-dp")
    return replace(enough, randomiser=DiscreteLaplace(enough.randomiser.scale / 500, 1, 1))


@pytest.mark.parametrize("made", [saved_before_the_gate, pickled_before_the_gate, with_less_noise])
def test_what_never_passed_the_gate_is_neither_paid_nor_drawn(made: Way, tmp_path: Path) -> None:
    calibration, ledger = made(with_little_noise()), tmp_path / "ledger.db"
    with pytest.raises(CalibrationRefused, match="calibrate again") as refused:
        tf.release(calibration, DATA, entries="values", ledger=ledger, budget=2)
    assert refused.value.state is ReleaseState.NOTHING
    assert not ledger.exists()
    with pytest.raises(CalibrationRefused, match="calibrate again"):
        tf.release(calibration, DATA)


def test_a_flag_that_is_a_text_is_refused_where_it_is_read() -> None:
    with pytest.raises(InputError, match="must be true or false"):
        Calibration.from_dict({**with_little_noise().to_dict(), "allow_zero_noise": "no"})


@pytest.mark.parametrize("way", KEPT)
def test_what_the_caller_accepted_is_released_after_any_way_to_keep_it(way: str) -> None:
    assert KEPT[way](with_little_noise()).allow_zero_noise
    tf.release(KEPT[way](with_little_noise()), DATA)


@pytest.mark.mutants
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_noise_that_several_share_is_judged_and_stays_so(delta: float) -> None:
    chain = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=20))
    for calibration in tf.calibrate_jointly(chain, [tf.Count(1), tf.Histogram()], 1, delta):
        assert not calibration.allow_zero_noise
        tf.release(KEPT["saved"](calibration), DATA)


def test_without_the_question_little_noise_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    old = saved_before_the_gate(with_little_noise())
    monkeypatch.setattr(Calibration, "too_little_noise", None)
    tf.release(old, DATA)
