"""Hypothesis strategies that several test files share."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from takifugu.numbers.distributions.pmf import Pmf

#: Budgets as a user may type them.
epsilons = st.sampled_from([Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), 1, 2, Fraction(7, 2), 5])


@st.composite
def exact_laws(draw: st.DrawFn, atoms: int = 6, largest: int = 12, count: int = 9, fractional: bool = True) -> Pmf:
    """Laws with at most `atoms` atoms in [-largest, largest] (integers or thirds) and small integer masses."""
    numbers = st.integers(-largest, largest)
    if fractional and draw(st.booleans()):
        values = draw(st.lists(numbers.map(lambda n: Fraction(n, 3)), min_size=1, max_size=atoms, unique=True))
        return Pmf.from_counts(values, draw(_counts(len(values), count)))
    values_ = draw(st.lists(numbers, min_size=1, max_size=atoms, unique=True))
    return Pmf.from_counts(values_, draw(_counts(len(values_), count)))


@st.composite
def float_laws(draw: st.DrawFn, atoms: int = 6, largest: float = 20.0) -> Pmf:
    """Laws with float atoms and float masses between about 1e-12 and 1."""
    values = draw(st.lists(st.floats(-largest, largest, width=32), min_size=1, max_size=atoms, unique=True))
    logs = draw(st.lists(st.floats(-27.0, 0.0), min_size=len(values), max_size=len(values)))
    masses = np.exp(np.array(logs))
    return Pmf(np.array(values) + 0.0, masses / masses.sum())


def _counts(size: int, count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, count), min_size=size, max_size=size)


@st.composite
def laws_off_by(draw: st.DrawFn, error: Fraction) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
    """A law as it was rounded, and a true one: each mass is 1 + error or 1 - error times the rounded one."""
    half = draw(st.lists(st.integers(1, 9), min_size=3, max_size=3))
    signs = draw(st.lists(st.sampled_from([1, -1]), min_size=3, max_size=3))
    masses = [Fraction(mass, 2 * sum(half)) for mass in half] * 2
    signs += [-sign for sign in signs]
    places = draw(st.permutations(range(6)))
    rounded = {x: masses[k] for x, k in enumerate(places)}
    return rounded, {x: masses[k] * (1 + signs[k] * error) for x, k in enumerate(places)}
