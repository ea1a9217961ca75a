"""What asymmetric mechanisms are compared with: ordinary privacy, OSDP for one place, Blowfish without an edge.

Ordinary noise hides moves in both directions, and its noisy value may lie below the count: "safe" can be wrong. OSDP
(Doudalis et al. 2020) and Blowfish (Haney et al. 2015) are one-sided only where they protect less than a policy does.
"""

from __future__ import annotations

from fractions import Fraction

from takifugu.analysis.randomisers import DiscreteLaplace, Exact, RoundedLaplace, RoundedNormal
from takifugu.analysis.randomisers.one_sided import DOWN, OneSidedGeometric
from takifugu.core.errors import InputError
from takifugu.mechanisms.one_sided.tails import positive_sensitivity
from takifugu.numbers.after_noise.gaussian import gaussian_analytic_sigma
from takifugu.numbers.rationals import Number, as_delta, as_epsilon, as_fraction, round_up


def ordinary_geometric(epsilon: Number, sensitivity: Number = 1, cells: int = 1) -> DiscreteLaplace:
    """Return the geometric mechanism: masses (1 - a)/(1 + a) a^|k|, a = e^(-epsilon/sensitivity) (erratum N5).

    `sensitivity` is the L1 change of all cells together when one record changes in any way.

    >>> round(ordinary_geometric(1).expected_error(), 6)
    0.850918
    """
    return DiscreteLaplace(round_up(positive_sensitivity(sensitivity) / as_epsilon(epsilon)), Fraction(1), cells)


def ordinary_laplace(epsilon: Number, sensitivity: Number = 1, grid: Number = 1, cells: int = 1) -> RoundedLaplace:
    """Return the Laplace mechanism, its noisy value rounded once to the grid; its mean error is b, not sqrt(2) b (E7).

    >>> round(ordinary_laplace(1, grid="1/1000").expected_error(), 6)
    1.0
    """
    scale = round_up(positive_sensitivity(sensitivity) / as_epsilon(epsilon))
    return RoundedLaplace(scale, _grid(grid), cells)


def ordinary_gaussian(
    epsilon: Number, delta: Number, sensitivity: Number = 1, grid: Number = 1, cells: int = 1
) -> RoundedNormal:
    """Return the Gaussian mechanism of least deviation (Balle and Wang 2018); `sensitivity` is the L2 change.

    A record that moves m cells by 1 each moves sqrt(m) in L2. Raises InputError for delta 0.

    >>> float(ordinary_gaussian(1, 1e-5).scale)
    3.7306316...
    """
    budget, failure = as_epsilon(epsilon), as_delta(delta)
    if failure == 0:
        raise InputError("delta is 0", rule="normal noise keeps no pure epsilon", fix="write 1e-6").at("delta")
    sigma = round_up(gaussian_analytic_sigma(positive_sensitivity(sensitivity), budget, failure))
    return RoundedNormal(sigma, _grid(grid), cells)


def osdp_laplace(epsilon: Number) -> OneSidedGeometric:
    """Return OSDP's one-sided noise for the count of one place, with N = "was not there" as what is not sensitive.

    (epsilon, N)-OSDP compares X with X' where a sensitive record x (one that was there) is replaced by any other: the
    count falls by 1 or stays, so this is `OneSidedGeometric` of scale 1/epsilon, on the side above the count. N must
    hold every record without the place: equation (11) as printed has that reversed (erratum E7). For one place only:
    who was not there keeps nothing hidden, also not where they were instead, and one N cannot serve two places.

    >>> osdp_laplace("1/2").scale
    Fraction(2, 1)
    """
    return OneSidedGeometric(round_up(1 / as_epsilon(epsilon)), Fraction(1), 1, DOWN)


def blowfish_exact(cells: int = 1) -> Exact:
    """Return no noise at all: what Blowfish allows once no edge joins "was there" and "was not there" (Prop. III.2).

    Every count is then constant along the edges, whatever epsilon; the risk is infinite for both statements.

    >>> blowfish_exact().draw([7], None)
    (Fraction(7, 1),)
    """
    return Exact(Fraction(1), cells)


def _grid(value: Number) -> Fraction:
    return as_fraction(value, "the grid", "grid")
