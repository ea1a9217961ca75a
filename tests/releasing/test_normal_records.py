"""Releases about normal columns: from data to a certificate, and what is refused leaves the ledger as it was."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import takifugu as tf
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.planning import truth

NAMES = ["weight", "income"]
BELIEF = tf.MultivariateNormal([70, 40], [[144, -12], [-12, 81]], NAMES, 4, {"weight": (40, 140)}, resolution="0.1")
DATA = {"weight": [61.5, 70.25, 80, 66.1], "income": [31, 44, 52.5, 30]}
SECRET = tf.dataset_property("income", "mean", max_difference=30)


def calibrated(query=None, belief=BELIEF):
    framework = tf.Pufferfish(SECRET, belief)
    return tf.calibrate(framework, query or tf.Mean("income"), epsilon=1, delta="0.01",
                        mechanism="attribute-gaussian-exact", only_release=True)  # fmt: skip


def test_the_exact_answer_goes_into_the_noise_off_the_grid():
    calibration = calibrated(tf.Together([tf.Mean("income"), tf.Sum("weight", grid="0.5")]))
    answer = truth.answer_of(calibration, truth.read(calibration, DATA))
    grid = calibration.problem.grid
    exact = (Fraction("157.5") / 4, Fraction("61.5") + Fraction("70.2") + 80 + Fraction("66.1"))
    assert [cell * grid for cell in answer] == list(exact)  # 70.25 is 70.2 in tenths (half to even)
    drawn = calibration.randomiser.draw(answer, InsecureSeededEntropyForTests(1))
    assert all((value / grid).denominator == 1 for value in drawn)


def test_noise_around_a_real_answer_has_its_deviation():
    calibration = calibrated()
    answer = truth.answer_of(calibration, truth.read(calibration, DATA))
    entropy = InsecureSeededEntropyForTests(3)
    drawn = np.array([float(calibration.randomiser.draw(answer, entropy)[0]) for _ in range(2000)])
    assert drawn.mean() == pytest.approx(39.375, abs=5 * float(calibration.scale) / 2000**0.5)
    assert drawn.std() == pytest.approx(float(calibration.scale), rel=0.1)


def test_a_certificate_says_what_is_hidden_and_assumed(tmp_path):
    released = tf.release(calibrated(), DATA, ledger=tmp_path / "l.db", source="customers")
    words = " ".join(str(released.certificate).split())
    for expected in ("the mean of 'income' of the records at hand, up to a difference of 30", "jointly normal columns",
                     "each drawn from the stated joint normal distribution", "multiples of 0.001"):  # fmt: skip
        assert expected in words
    besides = {key: value for key, value in released.certificate.to_dict().items() if key != "answers"}
    assert "52.5" not in json.dumps(besides)
    clipped = tf.MultivariateNormal([70, 40], [[144, -12], [-12, 81]], NAMES, 4, {"weight": (40, 140)}, outside="clip")
    assert 'voids "jointly normal"' in " ".join(str(tf.release(calibrated(belief=clipped), DATA).certificate).split())


@pytest.mark.parametrize(
    "wrong",
    [
        {"weight": DATA["weight"]}, {**DATA, "income": [1, 2, 3]}, {**DATA, "income": [1, 2, 3, None]},
        {**DATA, "weight": [61, 70, 80, 6]}, {**DATA, "income": [1, 2, 3, float("inf")]}, [(1, 2)], "weight", 7,
    ],
)  # fmt: skip
def test_bad_data_release_nothing_and_leave_the_ledger_as_it_was(tmp_path, wrong):
    ledger = tmp_path / "l.db"
    tf.release(calibrated(), DATA, ledger=ledger, source="others")
    before = ledger.read_bytes()
    with pytest.raises(tf.errors.DataError):
        tf.release(calibrated(), wrong, ledger=ledger, source="customers")
    assert ledger.read_bytes() == before


def test_a_second_release_about_the_same_records_is_refused(tmp_path):
    account = {"ledger": tmp_path / "l.db", "source": "customers"}
    tf.release(calibrated(), DATA, **account)
    with pytest.raises(tf.errors.CompositionRefused, match="alone"):
        tf.release(calibrated(tf.Sum("income")), DATA, **account)
