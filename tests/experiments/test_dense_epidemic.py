"""An epidemic as dense as the paper's: the fewest people that make it so, and the expected numbers by closed forms."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.research import research_file

import dense_epidemic
import epidemic
import takagi2021 as experiment
from epidemic import Epidemic
from pages import made


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=25), st.integers(1, 3), st.integers(1, 3))
def test_the_fewest_of_the_first_make_so_many_places_dangerous(at: list[int], least: int, wanted: int) -> None:
    everybody = Epidemic(np.array(at)[:, None])

    def dangerous(number: int) -> int:
        return sum(at[:number].count(place) >= least for place in range(4))

    if dangerous(len(at)) < wanted:
        return
    fewest = next(n for n in range(len(at) + 1) if dangerous(n) >= wanted)
    assert len(epidemic.as_dense(everybody, 0, least, wanted).at) == fewest


@cache
def hour() -> np.ndarray:
    research_file(epidemic.FILE)
    return dense_epidemic.dense(experiment.MAP_HOUR).hour(experiment.MAP_HOUR)


@pytest.mark.slow
def test_it_is_as_dense_as_the_paper_and_begins_as_the_other_one() -> None:
    assert (hour() >= 3).sum() == 492 == 5_835 - 5_343
    at = dense_epidemic.dense(experiment.MAP_HOUR).at
    assert (Epidemic(at[:-1]).hour(experiment.MAP_HOUR) >= 3).sum() == 491
    weeks = epidemic.Weeks.read(research_file(epidemic.FILE))
    assert (at[: epidemic.INFECTED] == epidemic.simulate(weeks).at).all()


@pytest.mark.slow
def test_the_expected_numbers_of_the_page_by_closed_forms() -> None:
    """Noise that only adds is below k with probability 1 - e^-k; the virtual coin is delta (1 + e + ... + e^(k-1))."""
    missing = [3 - m for m in hour().tolist() if m < 3]
    safe_places = math.fsum(1 - math.exp(-k) for k in missing)
    coins = math.fsum(1e-4 * sum(math.exp(i) for i in range(k)) for k in missing)
    lines = [line.split("|")[1:-1] for line in made(experiment.PAGE, "dense").splitlines()[2:]]
    cells = {name.strip(): here.strip() for name, _, here in lines}
    assert cells == {
        "ε-DP (virtual)": "0.0 of 5,343", "(ε, δ)-DP (virtual)": f"{coins:,.1f} of 5,343",
        "asymmetric": f"{safe_places:,.1f} of 5,343",
    }  # fmt: skip
    # One drawing of the paper's is within three deviations of what is expected here.
    spread = math.sqrt(math.fsum(math.exp(-k) * (1 - math.exp(-k)) for k in missing))
    assert abs(safe_places - 5_031) < 3 * spread
    assert abs(coins - 4) < 3 * math.sqrt(coins)
