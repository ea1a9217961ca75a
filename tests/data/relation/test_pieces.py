"""Pieces in the order of their names: each step has the state of its run, or the state of all others."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.counting import counts_of

from takifugu.core.errors import DataError
from takifugu.data.relation import pieces
from takifugu.data.relation.cells import Cells
from takifugu.data.relation.transitions import States


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=4), st.data())
def test_a_step_has_the_state_of_its_run_and_others_that_are_observed_the_default(
    observed: list[list[bool]], data: st.DataObject
) -> None:
    runs, expected, default = [], list[list[int]](), data.draw(st.sampled_from([-1, 0, 1, 2]))
    for piece, steps in enumerate(observed):
        values = [default if seen else -1 for seen in steps]
        for step in data.draw(st.lists(st.sampled_from(range(len(steps))), unique=True)):
            runs.append((piece, step, step + 1, data.draw(st.sampled_from([-1, 0, 1, 2]))))
            values[step] = runs[-1][3]
        expected.append(values)
    columns = np.array(runs, dtype=np.int64).reshape(-1, 4).T
    walks = [[0 if seen else None for seen in steps] for steps in observed]
    made = pieces.pieces_of(counts_of(walks, 2), None, None, States(*columns, default))
    assert made.values is not None
    assert [values.tolist() for values in made.values] == expected


def test_a_piece_has_so_many_steps_and_not_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "LONGEST_PIECE", 3)
    assert len(pieces.pieces_of(counts_of([[0] * 3], 2), None, None)) == 1
    with pytest.raises(DataError, match="more than 3 steps"):
        pieces.pieces_of(counts_of([[0] * 3, [0] * 4], 2), None, None)


@example([2**53 + 1, 0], [1, 1])
@given(st.lists(st.integers(0, 2**40), min_size=2, max_size=4), st.lists(st.integers(0, 2**20), min_size=2, max_size=4))
def test_sums_of_repeated_stretches_are_exact(ends: list[int], steps: list[int]) -> None:
    """Products above 2**53 are no floats: they are added up as whole numbers."""

    class Repeated(Cells):
        _repeats = 1  # type: ignore[assignment]

        def __init__(self) -> None: ...

    size = min(len(ends), len(steps))
    table, before = np.array([ends[:size]]), np.array(steps[:size])[:, None]
    unused: Any = np.zeros(0, dtype=np.int64)
    exact = sum(a * b for a, b in zip(ends, steps, strict=False))
    assert Repeated()._before(table, before, unused).tolist() == [[exact]]
