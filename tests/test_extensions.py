"""What is written outside the package works everywhere; what is written badly is refused before any release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import registries, urn
from tests.support.urn import Urn

import takifugu as tf
from takifugu.errors import BudgetExceeded


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    with registries.restored():
        urn.register()
        yield


DRAWS = [0, 1, 0, 0, 1, 1]


def test_releases_under_a_belief_of_unknown_influence_cost_their_sum(tmp_path: Path) -> None:
    """Nothing is known of an urn's quilts, and draws have no names: every release may read all of them."""
    framework = tf.Pufferfish(tf.every_entry(), Urn(6, 10, 4))
    calibration = tf.calibrate(framework, tf.Count(1), 1)
    told = {"ledger": tmp_path / "ledger.db", "source": "draws", "budget": 2}
    first = tf.release(calibration, DRAWS, **told)
    tf.release(calibration, DRAWS, **told)
    with pytest.raises(BudgetExceeded, match="has spent epsilon 2, of a budget of epsilon 2"):
        tf.release(calibration, DRAWS, **told)
    assert tf.compose([calibration, calibration]).epsilon == 2
    assert "from an urn" in str(first.certificate)
