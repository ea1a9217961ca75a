"""How the steps that releases read lie in one recording: all by hand."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tests.support.ledger_tools import FAIR, laplace, pieces, steps, view

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of
from takifugu.accounting.composition.alignment import (
    Item,
    laid_out,
    out_of_phase,
    placed,
)
from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.accounting.composition.several import merged
from takifugu.analysis.guarantee import Covers
from takifugu.model.frameworks import Framework, Pufferfish

STUCK = [[1.0, 0.0], [0.0, 1.0]]


def charge(about: Framework, weights: Sequence[Any], scale: Any = 10, **changes: Any) -> Charge:
    made = charge_of(laplace(about, tf.Linear(list(weights)), 1, Covers.ENTRIES, "1/1000"))
    return replace(made, scale=Fraction(scale), **changes)


def items(about: Framework, *charges: Charge) -> list[Item]:
    """Return charges as the framework's belief reads them."""
    seen, listed = view(about), []
    for one in charges:
        read = seen.read(about.beliefs[0], one)
        assert read is not None
        listed.append(Item(one, read, is_late=False))
    return listed


def layout(about: Framework, *charges: Charge) -> tuple[Any, list[list[int]]] | None:
    placed = laid_out(view(about), about.beliefs[0], items(about, *charges))
    return None if placed is None else (placed[0], [row.tolist() for row in placed[1]])


def test_pieces_of_one_layout_are_that_layout() -> None:
    about = pieces(1, 4, rows=STUCK, initial=(0.5, 0.5))
    others = [charge(pieces(2, 2), w) for w in ([1, 4, 4, 1], [1, 0, 0, 0])]
    whole, rows = layout(about, *others) or (None, [])
    assert [len(run) for run in whole.components()] == [2, 2]
    assert rows == [[1, 4, 4, 1], [1, 0, 0, 0]]
    assert cost_by_noise(view(about), others) == Fraction(6, 10)  # (1 + 4 + 1)/10 in the first piece of two
    assert layout(about, others[0]) is not None
    assert layout(about, others[0], charge(pieces(2, 1, 1), [1, 1, 1, 1])) is None
    assert layout(about, others[0], replace(others[1], lengths=())) is None
    assert layout(about, replace(others[1], lengths=())) is None
    assert layout(steps(4, rows=STUCK, initial=(0.5, 0.5)), *others, charge(steps(3), [1, 1, 1])) is None
    whole, rows = layout(about, charge(steps(2), [1, 2]), charge(steps(3), [0, 1, 0])) or (None, [])
    assert (whole.length, rows) == (3, [[1, 2, 0], [0, 1, 0]])


def places(about: Framework, *charges: Charge) -> tuple[int, list[tuple[list[int], list[int], Fraction]]] | None:
    """Return how long the recording is from the first window to the last, and of each where it starts, and its cost."""
    laid = placed(view(about), about.beliefs[0], items(about, *charges))  # type: ignore[arg-type]
    if laid is None:
        return None
    whole, runs = laid
    return whole.size, [(run.starts.tolist(), run.changes.tolist(), run.rates[0][0] * run.unit) for run in runs]


def test_windows_lie_where_it_is_declared() -> None:
    about = steps(2)
    first, second = charge(about, [1, 2], at=5), charge(steps(3), [3, 0, 4], 20, at=8)
    tenth, twentieth = Fraction(1, 10), Fraction(1, 20)
    assert places(about, first, second) == (6, [([5], [1, 2], tenth), ([8], [3, 0, 4], twentieth)])
    assert places(about, second, first) == (6, [([8], [3, 0, 4], twentieth), ([5], [1, 2], tenth)])
    assert places(about, replace(first, at=9), second) == (3, [([9], [1, 2], tenth), ([8], [3, 0, 4], twentieth)])
    (series,) = merged([replace(first, at=at) for at in (5, 9, 7)])
    assert places(about, series) == (6, [([5, 7, 9], [1, 2], tenth)])
    assert places(about, charge(about, ["1/2", 1], 5, at=0)) == (2, [([0], [1, 2], tenth)])
    silent = charge(about, [0, 0], 0, at=0)
    here = places(about, silent, first)
    assert here is not None
    assert here[0] == 7
    for wrong in (replace(first, at=None), replace(first, scale=Fraction(0)), replace(first, lengths=(1, 1))):
        assert places(about, first, wrong) is places(about, wrong, first) is None
    cut = pieces(1, 1)
    assert places(cut, replace(charge(cut, [1, 2]), at=3)) is None


def test_a_given_start_is_that_of_the_first_window() -> None:
    about = steps(2, initial=(0.5, 0.5))
    mine, other = charge(about, [1, 2], at=3), charge(about, [3, 4], at=3, framework="another belief")
    assert places(about, mine, other) is not None
    assert places(about, mine, replace(other, at=5)) is not None
    for charges in ([replace(mine, at=4), other], [mine, replace(mine, at=5)], [other, other]):
        assert places(about, *charges) is None
    assert places(about, *merged([mine, replace(mine, at=7)])) is None


def periodic(length: int = 4) -> Framework:
    return Pufferfish(tf.every_entry(), tf.PeriodicChain([FAIR, STUCK], length, [0, 1, 1], 1, (0.5, 0.5)))


def test_windows_that_put_the_recording_elsewhere_in_the_period_are_out_of_phase() -> None:
    """The belief's own window starts at step 6 in place 1, so that step 0 has place 1 of 3."""
    about = periodic()
    mine = charge(about, [1] * 4, at=6, phases=((3, 1),))
    seen, (belief,) = view(about), about.beliefs

    def out(*charges: Charge) -> set[int]:
        (numbers,) = out_of_phase(seen, belief, charges)
        return numbers

    others = [replace(mine, framework="another belief", at=5, phases=phases) for phases in (
        ((3, 1),), ((3, 2),), (), ((6, 4),), ((6, 2),), ((2, 0), (2, 1)), ((3, 1), (3, 0)), ((12, 7), (9, 8)),
    )]  # fmt: skip
    assert out(mine, *others) == {2, 5, 7, 8}
    assert out(*others, mine) == {1, 4, 6, 7}
    assert out(*others) == out(replace(mine, at=None), *others) == set()
    assert out(replace(mine, at=None), mine, *others) == {3, 6, 8, 9}
    twice = [mine, replace(mine, at=9), replace(mine, at=7, phases=((3, 0),)), *others[:2]]
    assert out_of_phase(seen, belief, twice) == [{2, 4}, {0, 1, 3, 4}]  # for each phase of its own windows
    assert out_of_phase(view(steps(4)), steps(4).beliefs[0], [charge(steps(4), [1] * 4, at=6), *others]) == [set()]


def test_a_longer_run_of_a_periodic_belief_starts_in_the_place_that_its_own_windows_say() -> None:
    about = periodic()
    mine = charge(about, [1, 2, 3, 4], at=6)
    other = replace(mine, framework="another belief")
    loose = Pufferfish(tf.every_entry(), tf.PeriodicChain([FAIR, STUCK], 4, [0, 1, 1], 1))
    native = charge(loose, [1, 2, 3, 4], at=6)
    for at, start in ((5, 0), (4, 2), (7, 1), (8, 1)):
        charges = [native, replace(other, at=at)]
        for order in (charges, charges[::-1]):
            known = placed(view(loose), loose.beliefs[0], items(loose, *order))  # type: ignore[arg-type]
            assert known is not None
            assert (known[0].start % 3, known[0].size) == (start, 4 + abs(at - 6))
    assert places(loose, native, replace(native, at=9)) is not None  # three steps later it has the same place
    for apart in ([native, replace(native, at=7)], [replace(other, at=5), other]):
        assert places(loose, *apart) is None
    assert layout(loose, replace(other, at=5), replace(other, at=5)) is None  # nobody says in which place that is
    assert places(about, replace(mine, at=5), replace(other, at=6)) is not None
    assert places(about, mine, replace(other, at=5)) is None  # what is given is the start of step 6
    whole, _ = layout(loose, replace(native, at=None), replace(native, at=None)) or (None, [])
    assert whole is loose.beliefs[0]
