"""Distribution privacy on check-ins: the page beside the program, its numbers by an independent route."""

import csv
import gzip
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from tests.support.research import research_file

import kawamoto2019
from pages import made

NAMES = ("residence", "weekend", "night", "heavy users")


def cells(name: str) -> dict[str, list[float]]:
    """Return the rows of a table of the page, by their first cell; nan for a dash."""
    lines = made(kawamoto2019.PAGE, name).splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first: [number(cell) for cell in rest] for first, *rest in rows}


def number(cell: str) -> float:
    return math.nan if cell == "-" else float(cell.replace(",", "").removesuffix(" %"))


def counted(attribute: str) -> tuple[np.ndarray, np.ndarray]:
    """Return both smoothed populations by cell, counted from the file as its README says."""
    with gzip.open(research_file(kawamoto2019.FILE), "rt", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    heavy = {user for user, _ in Counter(row["user"] for row in rows).most_common(10)}
    has = {
        "residence": lambda row: row["category"] == "Residence",
        "weekend": lambda row: row["day"] in {"Saturday", "Sunday"},
        "night": lambda row: int(row["hour"]) in {22, 23, 0, 1, 2, 3, 4, 5},
        "heavy users": lambda row: row["user"] in heavy,
    }[attribute]
    counts = np.full((2, 225), 0.5)
    for row in rows:
        south, west = (float(row["lat"]) - 40.55) / 0.44 * 15, (float(row["lon"]) + 74.27) / 0.59 * 15
        counts[int(has(row)), int(south) * 15 + int(west)] += 1
    one, other = counts / counts.sum(axis=1, keepdims=True)
    return one, other


def test_cells_are_where_their_middles_are() -> None:
    places = kawamoto2019.places()
    assert len(set(places)) == 225
    for place, (x, y) in enumerate(places):
        assert kawamoto2019.cell(40.55 + y / 111_200, -74.27 + x / 84_400) == place
    assert kawamoto2019.cell(0.0, -180.0) == 0
    assert kawamoto2019.cell(90.0, 0.0) == 224


def test_what_the_paper_adds_up_is_what_the_page_shows() -> None:
    """A part that needs no research data; two rows of one visitor tell more than twice what one does (E9a)."""
    (page,) = kawamoto2019.of_street().values()
    assert page == made(kawamoto2019.PAGE, "table 1")
    for words in ("Table 1, the same row twice", "Theorem 1, by values", "Theorem 2, by distance"):
        assert page.count(words) == 1
    assert "printed too small" in page


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("attribute", NAMES)
def test_the_guess_from_the_place_itself(attribute: str) -> None:
    one, other = counted(attribute)
    printed = cells("guesses")["the place itself"][NAMES.index(attribute)]
    assert printed == pytest.approx(50 * (1 + abs(one - other).sum() / 2), abs=0.06)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("attribute", NAMES)
def test_randomised_response_by_its_formula(attribute: str) -> None:
    """With weight w for the value itself the law of what is sent is (w - 1) p + 1, over w + 224."""
    one, other = counted(attribute)
    places = np.array(kawamoto2019.places())
    apart = np.hypot(*(places[:, None, axis] - places[None, :, axis] for axis in (0, 1)))
    factor = math.e
    # (w - 1) p + 1 <= e ((w - 1) q + 1) for all cells, both ways: linear in w - 1.
    limits = [(factor - 1) / (a - factor * b) for a, b in (*zip(one, other), *zip(other, one)) if a > factor * b]  # noqa: B905
    more = min(limits, default=math.inf)
    loss = ((one + other) / 2 @ apart).sum() / (more + 225) if limits else 0.0
    printed = cells("losses")["randomised response"][NAMES.index(attribute)]
    assert printed == pytest.approx(loss, rel=1e-3, abs=1)


@pytest.mark.slow
def test_a_page_s_number_by_the_program() -> None:
    people = kawamoto2019.populations(research_file(kawamoto2019.FILE), "residence")
    floor = kawamoto2019.optimum(people, Fraction(1), Fraction(0))
    assert floor.expected_loss(people) == pytest.approx(cells("losses")["optimal, the floor for one cell"][0], abs=0.6)
