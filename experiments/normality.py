"""Whether numbers look normal, beside a normal that was fitted to them: a Q-Q picture, moments, a test statistic.

Normal records have normal linear parts, so of two columns the part of one that the other does not explain is looked at,
too: its variance is what a mechanism counts as noise. Of the mean of many records the theorem of Berry and Esseen says
how far it is from normal at most, with the constant of Shevtsova 2013: 0.469 E|x - m|^3 / (s^3 sqrt(n)).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr
from scipy.stats import jarque_bera, kurtosis, skew

from pages import pyplot, save, table

Floats = npt.NDArray[np.float64]

BERRY_ESSEEN = 0.469
#: Where quantiles are compared, in deviations from the mean.
PLACES = np.linspace(-3.75, 3.75, 151)


def linear_parts(columns: Mapping[str, Sequence[int]], secret: str, published: str) -> dict[str, Floats]:
    """Return two columns, and what is left of the published one when its regression on the secret one is taken away."""
    hidden, released = (np.asarray(columns[name], dtype=np.float64) for name in (secret, published))
    (variance, shared), _ = np.cov([hidden, released])
    rest = released - shared / variance * hidden
    return {secret: hidden, published: released, f"{published}, less what {secret} explain": rest}


def standardised(numbers: Floats) -> Floats:
    """Return numbers in deviations from their mean."""
    standard: Floats = (numbers - numbers.mean()) / numbers.std()
    return standard


def quantiles(numbers: Floats) -> Floats:
    """Return the quantiles of standardised numbers where those of N(0, 1) are PLACES."""
    return np.quantile(standardised(numbers), ndtr(PLACES), method="inverted_cdf")


def largest_gap(numbers: Floats) -> float:
    """Return the largest difference of the distribution functions of standardised numbers and of N(0, 1)."""
    values, counts = np.unique(standardised(numbers), return_counts=True)
    above, normal = np.cumsum(counts) / len(numbers), ndtr(values)
    return float(max(np.abs(above - normal).max(), np.abs(above - counts / len(numbers) - normal).max()))


def gap_of_mean(numbers: Floats, records: int) -> float:
    """Return the most that the largest gap can be for the mean of so many independent numbers like these."""
    return BERRY_ESSEEN * float((np.abs(standardised(numbers)) ** 3).mean()) / math.sqrt(records)


def normality(parts: Mapping[str, Floats], records: int) -> str:
    """Return moments, test statistic and gaps of some numbers; a normal has skewness and excess kurtosis 0."""
    rows = []
    for name, numbers in parts.items():
        moments = (float(skew(numbers)), float(kurtosis(numbers)))
        statistic = float(jarque_bera(numbers).statistic)
        gaps = (largest_gap(numbers), gap_of_mean(numbers, records))
        rows.append([name, *(f"{m:.2f}" for m in moments), f"{statistic:,.0f}", *(f"{gap:.4f}" for gap in gaps)])
    return table([
        "", "skewness", "excess kurtosis", "Jarque-Bera", "largest gap, one person",
        f"largest gap, mean of {records:,} (at most)",
    ], rows)  # fmt: skip


def draw_normality(parts: Mapping[str, Floats], name: str, command: str) -> None:
    """Draw a normal Q-Q picture of each: on the line where the numbers are normal."""
    plots = pyplot()
    figure, axes = plots.subplots(1, len(parts), figsize=(9.6, 3.4), sharex=True, sharey=True, layout="constrained")
    for axis, (title, numbers) in zip(axes, parts.items(), strict=True):
        axis.plot(PLACES[[0, -1]], PLACES[[0, -1]], color="0.8", linewidth=1, zorder=0)
        axis.plot(PLACES, quantiles(numbers), ".", color="tab:blue", markersize=3)
        axis.set(xlabel="quantile of N(0, 1)", aspect="equal")
        axis.set_title(title, fontsize=9)
    axes[0].set_ylabel("quantile, in deviations")
    save(figure, name, command)
