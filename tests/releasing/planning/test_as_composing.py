"""Promises that are alone are given up on request, at the cost that the refusal names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.calibration import Calibration
from takifugu.core.errors import CompositionRefused

DATA = ["still", "walking", "walking", "still"]
CHAIN = tf.MarkovChain([["0.9", "0.1"], ["0.4", "0.6"]], length=4, states=["still", "walking"])


def alone() -> Calibration:
    calibration = tf.calibrate(
        tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("walking"), 1, mechanism="laplace-exact"
    )
    assert str(calibration.guarantee.composition) == "alone"
    return calibration


@pytest.mark.filterwarnings("ignore::takifugu.releasing.planning.notices.Notice")
def test_an_alone_promise_is_given_up_on_request_only(tmp_path: Path) -> None:
    account: dict[str, Any] = {"ledger": tmp_path / "l.db", "source": "walks", "budget": 3, "at": 0}
    tf.release(alone(), DATA, **account)
    before = Ledger.open(tmp_path / "l.db").spent("walks").spent.epsilon
    with pytest.raises(CompositionRefused, match="as_composing = true") as refused:
        tf.release(alone(), DATA, **account)
    named = float(str(refused.value).rpartition("would cost epsilon ")[2].split()[0])
    tf.release(alone(), DATA, **account, as_composing=True)
    after = Ledger.open(tmp_path / "l.db").spent("walks").spent.epsilon
    assert (before, round(float(after), 3)) == (1, named)
    assert after == tf.compose([alone()] * 2, as_composing=True).epsilon


@pytest.mark.filterwarnings("ignore::takifugu.releasing.planning.notices.Notice")
def test_what_composes_is_charged_for_a_change_of_all_data_beside_one_that_is_alone(tmp_path: Path) -> None:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("walking"), 1, mechanism="quilt-exact")
    account: dict[str, Any] = {"ledger": tmp_path / "l.db", "source": "walks", "budget": 9, "at": 0}
    tf.release(alone(), DATA, **account)
    tf.release(calibration, DATA, **account)
    assert Ledger.open(tmp_path / "l.db").spent("walks").spent.epsilon == 1 + 4 / calibration.randomiser.scale
