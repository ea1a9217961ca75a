"""Promises that are alone count in a ledger where they are worth more than their noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.calibration import Calibration

DATA = ["still", "walking", "walking", "still"]
CHAIN = tf.MarkovChain([["0.9", "0.1"], ["0.4", "0.6"]], length=4, states=["still", "walking"])


def alone() -> Calibration:
    calibration = tf.calibrate(
        tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("walking"), 1, mechanism="laplace-exact"
    )
    assert str(calibration.guarantee.composition) == "alone"
    return calibration


@pytest.mark.filterwarnings("ignore::takifugu.releasing.planning.notices.Notice")
def test_an_alone_promise_counts_by_its_noise_beside_others(tmp_path: Path) -> None:
    account: dict[str, Any] = {"ledger": tmp_path / "l.db", "source": "walks", "budget": 9, "at": 0}
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("walking"), 1, mechanism="influence")
    made = []
    for one in (alone(), alone(), calibration):
        tf.release(one, DATA, **account)
        made.append(one)
        assert Ledger.open(tmp_path / "l.db").spent("walks").spent.epsilon == tf.compose(made).epsilon
    assert float(tf.compose(made[:2]).epsilon) == pytest.approx(2.0433, abs=1e-4)
