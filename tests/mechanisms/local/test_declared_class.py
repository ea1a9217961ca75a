"""The class of populations without a mass above beta: the worst two of its extreme points, by listing them."""

import math
from fractions import Fraction as F
from itertools import permutations, product
from typing import Any

import pytest
from tests.support import rows_oracle as oracle
from tests.support.tuples import tuple_delta

import takifugu as tf
from takifugu.audit import true_loss
from takifugu.core.errors import InputError
from takifugu.mechanisms.local.populations import populations_of
from takifugu.model import frameworks

VALUES = [0, 1, 2, 3]


def framework(most: Any = "2/5", rows: int = 1, independent: bool = False) -> Any:
    names = ["home", "out"]
    belief = tf.FromPopulations.spread(names, VALUES, most, rows=rows, independent=independent, source="a guess")
    return tf.Pufferfish(tf.which_population(), belief)


def corners(most: F) -> list[dict[int, F]]:
    """Return every extreme point: as many masses of beta as fit, one of what is left, and zeros."""
    full = math.floor(1 / most)
    masses = [most] * full + ([1 - full * most] if full * most < 1 else [])
    masses += [F(0)] * (len(VALUES) - len(masses))
    return [dict(zip(VALUES, order, strict=True)) for order in sorted(set(permutations(masses)))]


def channel_of(noise: Any) -> dict[Any, dict[Any, F]]:
    channel = noise.sender.channel
    return {x: {y: F(channel.row(x).get(y, 0)) for y in channel.outputs} for x in channel.inputs}


def worst_loss(noise: Any, most: F) -> float:
    sent = [oracle.sent(oracle.independent(law, 1), [channel_of(noise)]) for law in corners(most)]
    return max(oracle.loss(p, q) for p, q in product(sent, repeat=2))


@pytest.mark.parametrize("most", [F(2, 5), F(1, 3), F(1, 2), F(1)])
@pytest.mark.parametrize("mechanism", ["exponential", "randomised-response", "optimal"])
def test_epsilon_is_that_of_the_worst_two(mechanism: str, most: F) -> None:
    calibration = tf.calibrate(framework(most), tf.EachValue(), epsilon=1, mechanism=mechanism)
    worst = worst_loss(calibration.randomiser, most)
    assert worst <= 1
    assert worst > (0.9 if mechanism == "optimal" else 0.99)
    assert true_loss(calibration).upper == pytest.approx(worst, abs=1e-6)


def test_a_class_of_all_populations_is_local_privacy() -> None:
    noise: Any = tf.calibrate(framework(1), tf.EachValue(), epsilon=1, mechanism="randomised-response").randomiser
    assert 0.99 < noise.local_loss() <= 1
    less: Any = tf.calibrate(framework("2/5"), tf.EachValue(), epsilon=1, mechanism="randomised-response").randomiser
    assert less.local_loss() > 1.2
    assert less.expected < noise.expected


def test_rows_that_are_independent_each_get_their_share() -> None:
    calibration = tf.calibrate(framework("2/5", 2, True), tf.EachValue(), epsilon=1, mechanism="exponential")
    assert 0.49 < worst_loss(calibration.randomiser, F(2, 5)) <= 0.5


def test_tuples_keep_the_delta_of_the_worst_two() -> None:
    calibration = tf.calibrate(framework("1/2"), tf.EachValue(2), 1, "1/10", mechanism="tupling")
    noise: Any = calibration.randomiser
    uniform = [F(1, 4)] * 4
    deltas = []
    for p, q in product(corners(F(1, 2)), repeat=2):
        sides = [oracle.sent(oracle.independent(law, 1), [channel_of(noise)]) for law in (p, q)]
        masses = [[side.get((y,), F(0)) for y in VALUES] for side in sides]
        deltas.append(float(tuple_delta(*masses, uniform, 2, F(1))))
    assert max(deltas) <= 0.1
    assert noise.sender.delta(populations_of(framework("1/2").beliefs[0]), F(1)) <= 0.1


def test_a_class_that_is_too_small_is_noticed() -> None:
    noise = tf.calibrate(framework("2/5"), tf.EachValue(), epsilon=1, mechanism="exponential").randomiser
    assert worst_loss(noise, F(1, 2)) > 1


@pytest.mark.parametrize("most", [0, "1/5", "6/5", -1])
def test_a_mass_that_no_population_keeps_is_refused(most: Any) -> None:
    with pytest.raises(InputError, match="write 1/4 at least, and 1 at most"):
        framework(most)


def test_a_class_reads_back() -> None:
    about = framework()
    again = frameworks.from_dict(about.to_dict())
    assert again.fingerprint() == about.fingerprint()
    assert again.beliefs[0].regions.largest_mass == F(2, 5)  # type: ignore[attr-defined]
    assert "in no population a value is likelier than 0.4" in " ".join(again.assumptions())
