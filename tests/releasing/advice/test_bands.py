"""Bands of adjusted values, set against tables that are drawn and adjusted one by one, in rational numbers."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.releases import judged, put

from takifugu.analysis.randomisers import DiscreteLaplace, RoundedLaplace, RoundedNormal
from takifugu.analysis.randomisers.additive import Exact
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.advice.bands import adjusted_bands, cell_band, difference_band
from takifugu.releasing.postprocess.adjust import nearest
from takifugu.releasing.postprocess.intervals import LEVEL

TOTALS = [(None,), (Fraction(600),), (Fraction(100), Fraction(500)), (None, Fraction(500))]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("totals", TOTALS, ids=str)
@pytest.mark.parametrize("law", [DiscreteLaplace, RoundedNormal])
def test_adjusted_draws_lie_inside_as_often_as_stated(law: type, totals: tuple[Fraction | None, ...]) -> None:
    """The worst cell and the worst pair lie inside as often as stated, the others at least as often."""
    cells = (Fraction(90), Fraction(10), Fraction(450), Fraction(50))
    noise = law(Fraction(60), Fraction(1), len(cells))
    cell, difference = adjusted_bands(noise, tuple(map(float, cells)), totals)
    assert difference is not None
    entropy, runs, size = InsecureSeededEntropyForTests(7), 1500, len(cells) // len(totals)
    tables = []
    for errors in noise.draw_column(np.zeros(runs * len(cells), dtype=np.int64), entropy).reshape(runs, -1).tolist():
        drawn = [c + z for c, z in zip(cells, errors, strict=True)]
        blocks = [drawn[n * size : (n + 1) * size] for n in range(len(totals))]
        tables.append([float(v) for b, t in zip(blocks, totals, strict=True) for v in nearest(b, Fraction(1), t)])
    errors = np.array(tables) - np.array(cells, dtype=float)
    pairs = [errors[:, one] - errors[:, other] for one in range(4) for other in range(one)]
    for columns, band in ((list(errors.T), cell), (pairs, difference)):
        rates = [float(np.mean(np.abs(column) <= band.width)) for column in columns]
        assert abs(min(rates) - band.coverage) <= 4 * math.sqrt(band.coverage * (1 - band.coverage) / runs) + 0.01
        assert band.coverage >= LEVEL


def test_cells_far_from_0_without_a_total_have_the_bands_of_the_noise() -> None:
    noise = DiscreteLaplace(Fraction(10), Fraction(1), 3)
    cell, difference = adjusted_bands(noise, (1e6, 2e6, 3e6), (None,))
    assert cell.width == pytest.approx(cell_band(noise).width, rel=0.05)
    assert difference.width == pytest.approx(difference_band(noise).width, rel=0.05)


def test_one_cell_that_has_the_total_is_exact_and_no_noise_has_no_band() -> None:
    cell, difference = adjusted_bands(DiscreteLaplace(Fraction(10), Fraction(1)), (50.0,), (Fraction(50),))
    assert (cell.width, difference) == (0.0, None)
    none = Exact(Fraction(1), 2)
    for cell, difference in (adjusted_bands(none, (50.0, 0.0), (None,)), (cell_band(none), difference_band(none))):
        assert cell.width == difference.width == 0


@pytest.mark.slow
def test_many_cells_are_drawn_less_often_and_compared_with_their_neighbours() -> None:
    cell, difference = adjusted_bands(DiscreteLaplace(Fraction(10), Fraction(1), 3000), (100.0,) * 3000, (None,))
    assert 25 < cell.width < difference.width < 60


def test_a_release_file_is_judged_by_what_it_publishes(tmp_path: Path) -> None:
    rows = "".join(f"Ana,{n},{'still' if n % 5 else 'walking'}\n" for n in range(600))
    text = release_text(
        read_from("a", "a.csv", unit="who", order="minute", step=1, value="doing"),
        believe("markov-chain", states=["still", "walking"], matrix=[[0.7, 0.3], [0.4, 0.6]], source="assumed",
                units_independent=True),
        publish("table", "histogram", epsilon=0.05),
    )  # fmt: skip
    file = put(tmp_path, {"release.toml": text, "a.csv": f"who,minute,doing\n{rows}"})
    (raw,) = judged(file)
    file.write_text(text + "adjust = true\n")
    (adjusted,) = judged(file)
    assert "differences of adjusted values" in adjusted.sentence
    assert "adjusted" not in raw.sentence
    # The sum is known, so that each of the two cells is off by half of what their difference is off by.
    before, after = raw.worth, adjusted.worth
    assert after.cell.width == pytest.approx(after.difference.width / 2, abs=1)
    assert after.cell.width < 0.75 * before.cell.width


# Bands of errors, set against sums over the noise's law and against draws.
SCALES = [Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(40)]


def difference_by_sums(scale: Fraction, grid: Fraction) -> tuple[float, float]:
    """The least multiple of the grid that holds the difference of two discrete Laplace noises, by a double sum."""
    q, most = math.exp(-grid / scale), math.ceil(60 * scale / grid)
    masses = [(1 - q) / (1 + q) * q ** abs(j) for j in range(-most, most + 1)]
    law = np.convolve(masses, masses)
    middle = len(law) // 2
    reach = next(k for k in range(middle) if law[middle - k : middle + k + 1].sum() >= LEVEL)
    return float(reach * grid), float(law[middle - reach : middle + reach + 1].sum())


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("grid", [Fraction(1), Fraction(1, 4), Fraction(5)], ids=str)
def test_discrete_laplace_noise(scale: Fraction, grid: Fraction) -> None:
    noise = DiscreteLaplace(scale / grid, grid)
    cell, difference = cell_band(noise), difference_band(noise)
    q = math.exp(-grid / scale)
    steps = round(cell.width / grid)
    assert cell.coverage == pytest.approx(1 - 2 * q ** (steps + 1) / (1 + q), rel=1e-12)
    assert cell.coverage >= LEVEL > (1 - 2 * q**steps / (1 + q) if steps else 0)
    width, coverage = difference_by_sums(scale, grid)
    assert (difference.width, difference.coverage) == (width, pytest.approx(coverage, abs=1e-7))


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("law", "one", "two"), [(RoundedLaplace, 2.9957, 4.1133), (RoundedNormal, 1.96, 2.7718)], ids=["laplace", "normal"]
)
@pytest.mark.parametrize("fineness", [1000, 10**6, 10**9])
def test_fine_grids_have_the_bands_of_the_continuous_law(law: type, one: float, two: float, fineness: int) -> None:
    noise = law(Fraction(3), Fraction(1, fineness))
    assert cell_band(noise).width == pytest.approx(3 * one, rel=1e-3)
    assert difference_band(noise).width == pytest.approx(3 * two, rel=2e-3)
