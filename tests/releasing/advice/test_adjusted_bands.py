"""Bands of adjusted values, set against tables that are drawn and adjusted one by one, in rational numbers."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace, RoundedNormal
from takifugu.analysis.randomisers.additive import Exact
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.advice.adjusted_bands import adjusted_bands
from takifugu.releasing.advice.bands import LEVEL, cell_band, difference_band
from takifugu.releasing.postprocess.adjust import nearest

TOTALS = [(None,), (Fraction(600),), (Fraction(100), Fraction(500)), (None, Fraction(500))]


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
    assert difference is not None
    assert cell.width == pytest.approx(cell_band(noise).width, rel=0.05)
    assert difference.width == pytest.approx(difference_band(noise).width, rel=0.05)


def test_one_cell_that_has_the_total_is_exact_and_no_noise_has_no_band() -> None:
    cell, difference = adjusted_bands(DiscreteLaplace(Fraction(10), Fraction(1)), (50.0,), (Fraction(50),))
    assert (cell.width, difference) == (0.0, None)
    cell, difference = adjusted_bands(Exact(Fraction(1), 2), (50.0, 0.0), (None,))
    assert cell.width == difference.width == 0  # type: ignore[union-attr]


def test_many_cells_are_drawn_less_often_and_compared_with_their_neighbours() -> None:
    cell, difference = adjusted_bands(DiscreteLaplace(Fraction(10), Fraction(1), 3000), (100.0,) * 3000, (None,))
    assert difference is not None
    assert 25 < cell.width < difference.width < 60


def test_a_release_file_is_judged_by_what_it_publishes(tmp_path: Path) -> None:
    rows = ["who,minute,doing", *(f"Ana,{n},{'still' if n % 5 else 'walking'}" for n in range(600))]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
    file = tmp_path / "release.toml"
    text = """
        ledger = "ledger.db"
        [source]
        file = "a.csv"
        name = "a"
        unit = "who"
        order = "minute"
        step = 1
        value = "doing"
        [belief]
        kind = "markov-chain"
        states = ["still", "walking"]
        matrix = [[0.7, 0.3], [0.4, 0.6]]
        source = "assumed"
        units_independent = true
        [[release]]
        name = "table"
        query = "histogram"
        epsilon = 0.05
    """
    file.write_text(text)
    (raw,) = tf.advise(file).tables
    file.write_text(text + "adjust = true\n")
    (adjusted,) = tf.advise(file).tables
    assert "differences of adjusted values" in adjusted.sentence
    assert "adjusted" not in raw.sentence
    # The sum is known, so that each of the two cells is off by half of what their difference is off by.
    before, after = raw.worth, adjusted.worth
    assert before is not None
    assert after is not None
    assert after.difference is not None
    assert after.cell.width == pytest.approx(after.difference.width / 2, abs=1)
    assert after.cell.width < 0.75 * before.cell.width
