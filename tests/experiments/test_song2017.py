"""Song17 reproduced: the beliefs are those of the paper and of the data's description."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.golden import golden
from tests.support.quilt_oracles import basic_markov_quilt
from tests.support.research import research_file

import song2017
import takifugu as tf
from pages import made


def test_the_class_of_figure_1_needs_the_reference_scales() -> None:
    for low in (0.1, 0.2, 0.3):
        for epsilon in song2017.EPSILONS:
            case = golden()["quilt_class_pi_g"][f"l={low:g},eps={epsilon:g}"]
            belief = tf.MarkovChainClass(low, 2 * low, song2017.LENGTH)
            scale = song2017.needed(belief, tf.Count(1), epsilon, "quilt-approx")
            assert scale == pytest.approx(case["basic"], rel=1e-9)


def test_the_interval_never_needs_more_than_the_paper_and_covers_its_chains() -> None:
    for low in (0.1, 0.3):
        interval_scale = song2017.needed(
            tf.MarkovChainClass(low, 2 * low, song2017.LENGTH), tf.Count(1), 1, "quilt-approx"
        )
        ours = song2017.needed(tf.BinaryChainInterval(low, song2017.LENGTH), tf.Count(1), 1, "quilt-approx")
        assert interval_scale is not None
        assert ours is not None
        assert ours <= interval_scale
        for p0 in (low, 0.5, 1 - low):
            for p1 in (low, 0.5, 1 - low):
                one = song2017.needed(song2017.binary(p0, p1, "any"), tf.Count(1), 1, "quilt-exact")
                assert one is not None
                assert one <= ours * (1 + 1e-9)


@pytest.mark.parametrize(("low", "epsilon", "plotted"), [
    (0.1, 1, 49.22), (0.1, 5, 5.55), (0.1, 10, 1.847), (0.3, 10, 0.5156), (0.4, 10, 0.3758),
])  # fmt: skip
def test_the_grid_of_figure_1_by_the_literal_algorithm(low: float, epsilon: float, plotted: float) -> None:
    """Each chain has pi and g of its own: where it stays longest they are 1/2 and 2 low, not low and 2 low."""
    scale_over_grid = song2017.over_a_grid(low, epsilon)
    assert scale_over_grid == pytest.approx(plotted, rel=1e-3)
    if low < 0.4:
        assert scale_over_grid == pytest.approx(basic_markov_quilt(song2017.LENGTH, 0.5, 2 * low, epsilon), rel=1e-9)
    belief = tf.MarkovChainClass(low, 2 * low, song2017.LENGTH)
    of_the_class = song2017.needed(belief, tf.Count(1), epsilon, "quilt-approx")
    assert of_the_class is not None
    assert scale_over_grid < of_the_class


def test_noise_of_a_scale_has_that_error() -> None:
    assert song2017.expected_error(20.0) == pytest.approx(20, rel=1e-3)


def test_the_household_is_that_of_the_description() -> None:
    chain = song2017.watts(research_file(song2017.POWER))
    assert chain.length == 47_960
    assert float(chain.matrix.min()) == pytest.approx(1 / 11_837, rel=1e-9)
    moduli = np.sort(np.abs(np.linalg.eigvals(chain.matrix)))[::-1]
    assert moduli[1] == pytest.approx(0.9510, abs=5e-5)


def test_the_page_holds_what_the_flu_example_needs() -> None:
    assert song2017.flu() == made(song2017.PAGE, "flu")
