"""How many rounds a test that draws its cases has: few by day, more for `make mutants`, and thousands by night."""

from typing import Any

import pytest


def rounds(by_day: int, of_mutants: int, by_night: int = 0, parts: int = 1) -> list[Any]:
    """Return the seeds of a test's cases as ranges; those by night are cut into parts."""
    cases: list[Any] = [range(by_day), pytest.param(range(by_day, of_mutants), marks=pytest.mark.mutants)]
    size = max(-(-(by_night - of_mutants) // parts), 1)
    for first in range(of_mutants, by_night, size):
        cases.append(pytest.param(range(first, min(first + size, by_night)), marks=pytest.mark.slow))
    return cases


def samples(by_day: Any, of_mutants: Any, *by_night: Any) -> list[Any]:
    """Return the arguments of every day, those for `make mutants`, and those by night."""
    others = [pytest.param(*arguments, marks=pytest.mark.slow) for arguments in by_night]
    return [by_day, pytest.param(*of_mutants, marks=pytest.mark.mutants), *others]
