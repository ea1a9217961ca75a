"""Ding22 reproduced: printed tables, the laws of users and of Adult, and a page that says what the program finds."""

from fractions import Fraction
from itertools import accumulate

import pytest
from tests.support.research import research_file

import ding2022
from pages import made
from takifugu.numbers import Pmf, monotone_coupling, w_infinity


def test_the_tables_are_the_printed_ones() -> None:
    ding2022.check_tables()
    assert [w_infinity(*pair) for pair in (ding2022.FIRST, ding2022.SECOND)] == [1, 2]


@pytest.mark.parametrize(("corners", "masses", "pair"), [("2", "3", ding2022.FIRST), ("5", "6", ding2022.SECOND)])
def test_a_corner_of_the_printed_plan_is_the_smaller_distribution_function(
    corners: str, masses: str, pair: tuple[Pmf, Pmf]
) -> None:
    """By the definition, from Tables 1 and 4: neither the plan of the library nor its tables are asked."""
    first, second = (dict(law.items()) for law in pair)
    atoms = sorted(first.keys() | second.keys())
    below, above = (list(accumulate(law.get(x, Fraction(0)) for x in atoms)) for law in (first, second))
    smaller = [[min(f, g) for g in above] for f in below]
    printed = [[Fraction(x) for x in row.split()] for row in ding2022.PRINTED[corners]]
    assert smaller == printed
    moved = [[Fraction(x) for x in row.split()] for row in ding2022.PRINTED[masses]]
    assert [list(accumulate(column)) for column in zip(*map(accumulate, moved), strict=True)] == [
        list(column) for column in zip(*smaller, strict=True)
    ]
    lines = made(ding2022.PAGE, f"table{corners}").splitlines()[2:]
    assert [[Fraction(cell) for cell in line.split("|")[2:-1]] for line in lines] == printed


def test_a_user_moves_the_count_by_one_to_the_left_only() -> None:
    no, yes, absent = ding2022.one_user([0.7] * 24, 0.7)
    assert {x - y for x, y, _ in monotone_coupling(no, yes).items()} == {-1}
    assert {x - y for x, y, _ in monotone_coupling(no, absent).items()} == {-1, 0}
    moved = sum(abs(dict(no.items()).get(v, 0) - p) for v, p in absent.items()) / 2
    assert float(moved) == pytest.approx(0.123, abs=5e-4)
    assert dict(absent.items())[25] == Fraction(7, 10) ** 25


@pytest.mark.slow
def test_adult_is_that_of_the_paper_on_its_fourteen_codes() -> None:
    file = research_file(ding2022.FILE)
    white, asian, used = ding2022.adult(file, ding2022.LISTED)
    assert (white.total, asian.total, used) == (27_499, 1_015, 32_177)
    assert w_infinity(white, asian) == 2
    assert w_infinity(*ding2022.adult(file, 16)[:2]) == 3
    variances = [ding2022.variance((white, asian), name, 0.4) for name in ding2022.CURVES]
    assert variances == sorted(variances, reverse=True)
    row = next(line for line in made(ding2022.PAGE, "variances").splitlines() if "`kantorovich-relaxed`" in line)
    assert f"{variances[1]:.3f}" in row
