"""Slow, obviously right: every data set of a few independent records, one by one, in rational numbers."""

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import strategies as st

Row = tuple[Hashable, ...]
Laws = dict[Any, dict[Any, Fraction]]


def laws_given(
    rows: Sequence[Row],
    masses: Sequence[Any],
    records: int,
    answer: Callable[[list[Row]], Any],
    property_: Callable[[list[Row]], Any],
) -> Laws:
    """Return P(answer = x | property = a) for every a of positive probability, over all data sets."""
    laws: Laws = {}
    for chosen in product(range(len(rows)), repeat=records):
        mass = Fraction(1)
        for row in chosen:
            mass *= Fraction(masses[row])
        if mass:
            data = [rows[row] for row in chosen]
            inner = laws.setdefault(property_(data), {})
            inner[answer(data)] = inner.get(answer(data), Fraction(0)) + mass
    return {a: {x: m / sum(law.values()) for x, m in law.items()} for a, law in laws.items()}


@st.composite
def record_tables(draw: st.DrawFn, levels: int = 2, answers: int = 2) -> tuple[list[Row], list[Fraction]]:
    """Tables of two columns of numbers, (g, f), with small integer masses; each level of g has positive mass."""
    rows = [(g, f) for g in range(levels) for f in range(answers)]
    counts = draw(st.lists(st.integers(0, 6), min_size=len(rows), max_size=len(rows)))
    for g in range(levels):
        if not any(counts[g * answers : (g + 1) * answers]):
            counts[g * answers + draw(st.integers(0, answers - 1))] = 1
    return rows, [Fraction(c, sum(counts)) for c in counts]
