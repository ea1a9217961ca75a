"""Releases about independent users: what data are accepted, what the certificate names, what the ledger charges."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.answers import true_answer

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.calibration import Calibration
from takifugu.core.errors import DataError
from takifugu.model.beliefs.users import IndependentUsers

ILL = {"ill": Fraction(1, 10), "well": Fraction(9, 10)}


def count(users: IndependentUsers, mechanism: str = "group") -> Calibration:
    framework = tf.Pufferfish([tf.presence(), tf.every_entry()], users)
    return tf.calibrate(framework, tf.Count("ill"), 1, mechanism=mechanism)


def test_the_answer_of_a_list_of_users() -> None:
    removed = count(IndependentUsers([ILL] * 4, 0.9, "removed", names=["a", "b", "c", "d"]))
    assert true_answer(removed, ["ill", "absent", "well", "ill"]) == (2,)
    assert true_answer(removed, np.array(["ill", "well", "well", "well"])) == (1,)
    assert true_answer(removed, {"d": "ill", "a": "ill", "c": "ill", "b": "absent"}) == (3,)


def test_users_of_different_alphabets() -> None:
    users = IndependentUsers([{0: 0.5, 1: 0.5}, {10: 0.5, 20: 0.5}, {0: 0.5, 1: 0.5}], [1, 0.5, 0.5], "removed")
    calibration = tf.calibrate(tf.Pufferfish(tf.presence(), users), tf.Sum(), 1, mechanism="group")
    assert calibration.scale == 20
    assert true_answer(calibration, [1, 20, "absent"]) == (21,)


@pytest.mark.parametrize(
    "data",
    [
        ["ill", "well"],
        ["ill", "well", "dead"],
        ["ill", "well", None],
        ["ill", "well", ["well"]],
        "ill",
        {"a": "ill"},
        [],
        3,
    ],
)
def test_data_that_the_belief_does_not_know_are_refused(data: Any, tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    for users in (IndependentUsers([ILL] * 3), IndependentUsers([ILL] * 3, 0.5, "removed", ["x", "y", "z"])):
        with pytest.raises(DataError) as raised:
            tf.release(count(users), data, ledger=path)
        assert "dead" not in str(raised.value)
    assert not path.exists()


def test_an_absent_user_is_no_value_where_it_is_counted() -> None:
    with pytest.raises(DataError, match="counted too"):
        tf.release(count(IndependentUsers([ILL] * 2)), ["ill", "absent"])
    certain = IndependentUsers([ILL] * 2, [1, 0.5], "removed")
    with pytest.raises(DataError, match="does not know"):
        tf.release(count(certain), ["absent", "ill"])


@pytest.mark.parametrize("mode", ["unknown", "removed"])
def test_the_certificate_names_the_meaning_of_absence(mode: str, tmp_path: Path) -> None:
    users = IndependentUsers([ILL] * 5, Fraction(1, 2), mode, source="a public survey")
    release = tf.release(count(users), ["ill"] * 5, ledger=tmp_path / "ledger.db")
    meaning = "an unknown value" if mode == "unknown" else "is removed and contributes nothing"
    assert meaning in release.certificate.beliefs[0]
    assert any(meaning in text for text in release.certificate.assumptions)
    assert "a public survey" in " ".join(str(release.certificate).split())
    assert release.certificate.frameworks.popitem()[1]["beliefs"][0]["absence"] == mode  # type: ignore[attr-defined]


def test_noise_for_one_user_adds_up_and_promises_about_one_answer_do_not(tmp_path: Path) -> None:
    users = IndependentUsers([{0: 0.4, 1: 0.2, 2: 0.4}] * 80)
    framework = tf.Pufferfish(tf.presence(), users)
    each = tf.calibrate(framework, tf.Sum(), 1, mechanism="group")
    assert str(each.guarantee.covers) == "component"
    assert tf.compose([each, each]).epsilon == 2
    single = tf.calibrate(framework, tf.Sum(), 1, mechanism="laplace-exact", allow_zero_noise=True)
    assert str(single.guarantee.composition) == "alone"
    ledger = tmp_path / "ledger.db"
    tf.release(each, [1] * 80, ledger=ledger)
    with pytest.raises(tf.TakifuguError):
        tf.release(single, [1] * 80, ledger=ledger)


def test_a_million_users_are_released_and_charged() -> None:
    users = IndependentUsers.groups([(600_000, ILL), (399_999, {"ill": 0.5, "well": 0.5}), (1, ILL, 0.5)], "removed")
    calibration = count(users)
    assert calibration.scale == 1
    assert true_answer(calibration, ["ill"] * 999_999 + ["absent"]) == (999_999,)
    charge = charge_of(calibration)
    assert charge.entries == 1_000_000
    assert tf.compose([calibration, calibration]).epsilon == 2
