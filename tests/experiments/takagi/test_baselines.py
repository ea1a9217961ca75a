"""What asymmetric mechanisms are compared with: each keeps its own definition, and no more."""

import math
from fractions import Fraction

import pytest

from takagi import baselines
from takifugu.core.errors import InputError
from takifugu.numbers.after_noise.gaussian import gaussian_delta

F = Fraction


def largest(noise: object, left: int, right: int) -> float:
    ratios = [
        noise.log_density([left], [F(z)]) - noise.log_density([right], [F(z)])  # type: ignore[attr-defined]
        for z in range(-40, 50)
        if noise.log_density([left], [F(z)]) > -math.inf
    ]  # type: ignore[attr-defined]
    return max(ratios)  # fmt: skip


@pytest.mark.parametrize("make", [baselines.ordinary_geometric, baselines.ordinary_laplace])
def test_ordinary_noise_hides_both_ways_and_may_lie_below(make: object) -> None:
    noise = make(1, 2)  # type: ignore[operator]
    assert largest(noise, 5, 3) == pytest.approx(1)
    assert largest(noise, 3, 5) == pytest.approx(1)
    assert math.fsum(math.exp(noise.log_density([5], [F(z)])) for z in range(-40, 5)) > 0.3


def test_normal_noise_keeps_its_delta_tightly() -> None:
    noise = baselines.ordinary_gaussian(1, "1e-4", F(2), cells=3)
    assert gaussian_delta(2, noise.scale, 1) <= 1e-4 < gaussian_delta(2, noise.scale * F(999, 1000), 1)
    assert noise.cells == 3
    with pytest.raises(InputError, match="pure epsilon"):
        baselines.ordinary_gaussian(1, 0)


def test_osdp_for_one_place_by_enumeration() -> None:
    """(epsilon, N)-OSDP with N = not c: from every data set of two bits, replace a 1 by anything."""
    noise = baselines.osdp_laplace(1)
    worst = 0.0
    for world in [(a, b) for a in (0, 1) for b in (0, 1)]:
        for person, bit in enumerate(world):
            for other in (0, 1):
                if bit:
                    after = (*world[:person], other, *world[person + 1 :])
                    worst = max(worst, largest(noise, sum(world), sum(after)))
    assert worst == pytest.approx(1)
    assert largest(noise, 0, 1) == math.inf
