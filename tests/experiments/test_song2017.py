"""Song17 reproduced: the beliefs are those of the paper and of the data's description."""

import math

import numpy as np
import pytest
from tests.support.golden import golden
from tests.support.quilt_oracles import basic_markov_quilt
from tests.support.research import research_file

import song2017
import takifugu as tf
from pages import made
from takifugu.numbers import Pmf


def test_the_class_of_figure_1_needs_the_reference_scales() -> None:
    for low in (0.1, 0.2, 0.3):
        for epsilon in song2017.EPSILONS:
            case = golden()["quilt_class_pi_g"][f"l={low:g},eps={epsilon:g}"]
            belief = tf.ReversibleChains(low, 2 * low, song2017.LENGTH)
            scale = song2017.needed(belief, tf.Count(1), epsilon, "quilt-approx")
            assert scale == pytest.approx(case["basic"], rel=1e-9)


#: The scales of Song17's Figure 1 by ℓ and ε, each the largest over a grid of chains (page 11, Algorithm 3).
PLOTTED = {
    (0.1, 1): 49.22, (0.1, 5): 5.552, (0.1, 10): 1.847, (0.2, 1): 23.98, (0.2, 5): 2.637, (0.2, 10): 0.859,
    (0.3, 1): 15.57, (0.3, 5): 1.676, (0.3, 10): 0.516, (0.4, 1): 11.54, (0.4, 5): 1.173, (0.4, 10): 0.376,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("low", "epsilon"), PLOTTED)
def test_the_grid_of_figure_1_by_the_literal_algorithm(low: float, epsilon: float) -> None:
    """Each chain has pi and g of its own: where it stays longest they are 1/2 and 2 low, not low and 2 low."""
    plotted, scale_over_grid = PLOTTED[low, epsilon], song2017.over_a_grid(low, epsilon)
    assert scale_over_grid == pytest.approx(plotted, abs=0.6 * 10 ** -(3 if plotted < 10 else 2))
    if low < 0.4:
        assert scale_over_grid == pytest.approx(basic_markov_quilt(song2017.LENGTH, 0.5, 2 * low, epsilon), rel=1e-9)
    belief = tf.ReversibleChains(low, 2 * low, song2017.LENGTH)
    of_the_class = song2017.needed(belief, tf.Count(1), epsilon, "quilt-approx")
    assert of_the_class is not None
    assert scale_over_grid < of_the_class


def test_the_household_is_that_of_the_description() -> None:
    chain = song2017.watts(research_file(song2017.POWER))
    assert chain.length == 47_960
    assert float(chain.matrix.min()) == pytest.approx(1 / 11_837, rel=1e-9)
    moduli = np.sort(np.abs(np.linalg.eigvals(chain.matrix)))[::-1]
    assert moduli[1] == pytest.approx(0.9510, abs=5e-5)


def test_the_page_holds_what_the_flu_example_needs() -> None:
    assert song2017.flu() == made(song2017.PAGE, "flu")


@pytest.mark.parametrize(("far", "share", "epsilon", "printed"), [(100, 0.1, 1, 34.477)])
def test_the_least_noise_of_appendix_a3(far: int, share: float, epsilon: float, printed: float) -> None:
    """Moved with probability d, the answer needs b with 1 - d + d e^(far/b) = e^epsilon, however far W-infinity is."""
    by_hand = far / math.log(1 + (math.exp(epsilon) - 1) / share)
    assert by_hand == pytest.approx(printed, abs=5e-4)
    apart = tf.distribution_pair(Pmf([0], [1]), Pmf.from_counts([0, far], [9, 1]))
    scale = tf.calibrate(apart, tf.Identity(), epsilon, mechanism="laplace-exact", allow_zero_noise=True).scale
    assert scale == pytest.approx(by_hand, rel=1e-9)
    assert f"{by_hand:.3f}" in made(song2017.PAGE, "text")


@pytest.mark.parametrize("length", [10**2, 10**3, 10**4, 10**5])
def test_theorem_44_needs_the_same_noise_for_every_length(length: int) -> None:
    """At pi = .4, g = .8 and epsilon = 1: Algorithm 3 by hand where it can be enumerated, and the same beyond."""
    belief = tf.ReversibleChains(0.4, 0.8, length)
    scale = song2017.needed(belief, tf.Count(1), 1, "quilt-approx")
    assert scale == pytest.approx(12.106, abs=5e-4)
    if length == 100:
        assert scale == pytest.approx(basic_markov_quilt(length, 0.4, 0.8, 1), rel=1e-9)
