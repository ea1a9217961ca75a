"""Hide race, publish education: Adult from the real file, with exact integer masses (Ding22 Section 4)."""

from fractions import Fraction

import pytest
from tests.support.adult import LISTED, UNLISTED, race_and_education

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.analysis.sensitivity import component_change
from takifugu.core.errors import DataError, InputError

PAIR = tf.attribute("race", "White", "Asian-Pac-Islander")


def people(levels: tuple[str, ...]) -> tf.JointTable:
    counts = {row: n for row, n in race_and_education().items() if row[1] in levels}
    source = "the public training file of Adult (UCI)"
    return tf.JointTable.from_counts(counts, counts.values(), ["race", "education"], source=source)


def numbered(levels: tuple[str, ...]) -> tf.Identity:
    return tf.Identity("education", codes={level: number for number, level in enumerate(levels, start=1)})


@pytest.mark.parametrize(("levels", "distance"), [(LISTED, 2), ((*LISTED, *UNLISTED), 3)])
def test_the_answer_moves_two_levels_on_14_codes_and_three_on_16(levels: tuple[str, ...], distance: int) -> None:
    framework = tf.Pufferfish(PAIR, people(levels))
    query = numbered(levels)
    assert component_change(Problem(framework, query, Fraction(1))).size == len(levels) - 1
    calibration = tf.calibrate(framework, query, 1, mechanism="wasserstein", allow_zero_noise=True)
    assert calibration.scale == distance
    assert calibration.witness.numbers == (("w_infinity", float(distance)),)
    assert tf.calibrate(framework, query, 1, mechanism="group-dp").scale == len(levels) - 1
    exact = tf.calibrate(framework, query, 1, mechanism="laplace-exact", allow_zero_noise=True)
    assert exact.scale < distance
    assert tf.exact_loss(calibration).upper <= 1


@pytest.mark.mutants
def test_a_level_without_a_code_or_out_of_the_table_is_refused() -> None:
    everyone = tf.Pufferfish(PAIR, people((*LISTED, *UNLISTED)))
    with pytest.raises(InputError, match="no code"):
        tf.calibrate(everyone, numbered(LISTED), 1)
    listed = tf.Pufferfish(PAIR, people(LISTED))
    with pytest.raises(InputError, match="not a number"):
        tf.calibrate(listed, tf.Identity("education"), 1)
    calibration = tf.calibrate(listed, numbered(LISTED), 1, mechanism="wasserstein", allow_zero_noise=True)
    with pytest.raises(DataError, match="does not know") as raised:
        tf.release(calibration, {"race": "White", "education": "Preschool"})
    assert "Preschool" not in str(raised.value)
