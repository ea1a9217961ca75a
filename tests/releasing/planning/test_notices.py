"""Notices: who counts, and whose line they show."""

import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import pytest

import takifugu as tf
from takifugu.accounting.ledger.previewing import Charged
from takifugu.accounting.ledger.values import Amount
from takifugu.releasing.planning.notices import NOBODY_COUNTS, Notice, by_reason

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
DATA = ["still", "walking", "walking", "still"]
PROGRAM = f"""
import takifugu as tf
chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
noise = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("walking"), 1, mechanism="group")
tf.release(noise, {DATA!r})
tf.release(noise, {DATA!r}, ledger="ledger.db")
"""


def test_without_a_ledger_nobody_is_counting_and_that_is_said(tmp_path: Path) -> None:
    noise = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("walking"), 1, mechanism="group")
    with pytest.warns(Notice) as seen:
        tf.release(noise, DATA)
    assert [str(one.message) for one in seen] == [NOBODY_COUNTS]
    assert seen[0].filename == __file__
    with warnings.catch_warnings(record=True) as seen_with_ledger:
        warnings.simplefilter("always")
        tf.release(noise, DATA, ledger=tmp_path / "ledger.db", budget=5)
    assert NOBODY_COUNTS not in [str(one.message) for one in seen_with_ledger]


@pytest.mark.slow
def test_a_notice_shows_the_callers_line_and_no_file_of_ours(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PROGRAM, encoding="utf-8")
    made = subprocess.run([sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "mine.py:5: Notice: no ledger is given" in made.stderr
    assert "mine.py:6: Notice: new ledger at" in made.stderr
    assert str(Path(tf.__file__).parent) not in made.stderr


def test_charges_are_told_once_for_each_reason() -> None:
    """People of fifty lengths have fifty charges."""
    least, middle, most = (Amount(Fraction(epsilon), Fraction(0)) for epsilon in ("1", "1.25", "1.5"))
    charges = [Charged(2, least, most, "together"), Charged(7, least, least, "added")]
    charges.append(Charged(1, least, middle, "together"))
    assert [*by_reason(charges)] == [
        ("together", 3, "epsilon 1.25 to epsilon 1.5", "epsilon 1"), ("added", 7, "epsilon 1", "epsilon 1"),
    ]  # fmt: skip
