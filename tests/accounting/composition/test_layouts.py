"""Which releases read the same steps, how they lie, and what n steps in a row of them cost at most: all by hand."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.ledger_tools import FAIR, laplace, pieces, steps, view

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.composition.alignment import (
    Item,
    in_one_place,
    laid_out,
    out_of_phase,
    placed,
    readings,
    unplaced_of,
    worst_alignment,
)
from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.accounting.composition.several import merged
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import CompositionRefused
from takifugu.model.frameworks import Framework, Pufferfish

STUCK = [[1.0, 0.0], [0.0, 1.0]]
WEIGHTS = [1, 5, 1, 2, 2, 2, 2, 4, 1, 1]


def charge(about: Framework, weights: Sequence[Any], scale: Any = 10, **changes: Any) -> Charge:
    made = charge_of(laplace(about, tf.Linear(list(weights)), 1, Covers.ENTRIES, "1/1000"))
    return replace(made, scale=Fraction(scale), **changes)


def items(about: Framework, *charges: Charge) -> list[Item]:
    """Return charges as the framework's belief reads them."""
    seen, listed = view(about), []
    for one in charges:
        read = seen.read(about.beliefs[0], one)
        assert read is not None
        listed.append(Item(one, read))
    return listed


def layout(about: Framework, *charges: Charge) -> tuple[Any, list[list[int]]] | None:
    placed = laid_out(view(about), about.beliefs[0], items(about, *charges))
    return None if placed is None else (placed[0], [row.tolist() for row in placed[1]])


def in_a_row(about: Framework, *groups: Sequence[Charge]) -> list[Fraction]:
    """Return what 1, 2, ... 10 and 1000 steps in a row cost at most, where each group is a reading."""
    windows = unplaced_of(view(about), about.beliefs[0], [items(about, *group) for group in groups])
    return [round(windows.exact(n), 9) for n in (*range(1, 11), 1000)]


def tenths(*values: int) -> list[Fraction]:
    """Return eleven numbers of tenths, the last one repeated."""
    return [Fraction(v, 10) for v in (*values, *[values[-1]] * (11 - len(values)))]


def test_readings() -> None:
    one = charge(steps(3), [1, 1, 1])
    a, b, here = {"reading": "a"}, {"reading": "b"}, {"at": 3}
    variants: list[dict[str, Any]] = [here, {}, a, {"at": 0}, {}, b, a, {**here, **b}]
    assert readings([replace(one, **changes) for changes in variants]) == [[0, 3, 7], [1], [2, 6], [4], [5]]


def test_releases_about_a_beliefs_own_entries_lie_as_it_has_them() -> None:
    for about in (steps(3), steps(3, initial=(0.5, 0.5)), pieces(2, 1)):
        both = [charge(about, [1, 2, 3]), charge(about, [0, 0, 1])]
        for places in (None, 0, 7):
            whole, rows = layout(about, *(replace(c, at=places) for c in both)) or (None, [])
            assert whole is about.beliefs[0]
            assert rows == [[1, 2, 3], [0, 0, 1]]


def test_a_shorter_sequence_starts_where_the_longer_one_does() -> None:
    for initial in ("stationary", (0.5, 0.5)):
        about = steps(2, initial=initial)
        for charges, expected in (([charge(steps(3), [1, 2, 3]), charge(about, [4, 5])], [[1, 2, 3], [4, 5, 0]]),
                                  ([charge(steps(1), [1])], [[1]])):  # fmt: skip
            whole, rows = layout(about, *charges) or (None, [])
            assert (whole.length, rows) == (len(expected[0]), expected)


def test_declared_places_count_from_the_first() -> None:
    about = steps(2)
    first, second = charge(about, [1, 2]), charge(about, [3, 4])
    for places, expected in (
        ((7, 5), [[0, 0, 1, 2], [3, 4, 0, 0]]), ((7, 8), [[1, 2, 0], [0, 3, 4]]), ((7, 7), [[1, 2], [3, 4]]),
        ((0, 1), [[1, 2, 0], [0, 3, 4]]),
    ):  # fmt: skip
        whole, rows = layout(about, replace(first, at=places[0]), replace(second, at=places[1])) or (None, [])
        assert (whole.length, rows) == (len(expected[0]), expected)


def test_a_given_start_is_where_the_frameworks_own_release_starts() -> None:
    about = steps(2, initial=(0.5, 0.5))
    mine, other = charge(about, [1, 2]), charge(about, [3, 4], framework="another belief")
    assert layout(about, replace(mine, at=3), replace(other, at=4)) is not None
    for places in ((4, 3), (3, 2)):
        assert layout(about, *(replace(c, at=at) for c, at in zip((mine, other), places, strict=True))) is None
    assert layout(about, replace(mine, at=3), replace(mine, at=4)) is None
    assert layout(about, replace(other, at=3), replace(other, at=4)) is None  # nobody says where it starts


def test_pieces_of_one_layout_are_that_layout() -> None:
    about = pieces(1, 4, rows=STUCK, initial=(0.5, 0.5))
    others = [charge(pieces(2, 2), w) for w in ([1, 4, 4, 1], [1, 0, 0, 0])]
    whole, rows = layout(about, *others) or (None, [])
    assert [len(run) for run in whole.components()] == [2, 2]
    assert rows == [[1, 4, 4, 1], [1, 0, 0, 0]]
    together = [replace(c, reading="one") for c in others]
    assert cost_by_noise(view(about), together).epsilon == Fraction(6, 10)  # (1 + 4 + 1)/10 in the first piece of two
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


def test_windows_in_one_place_are_those_of_the_belief_itself() -> None:
    about = steps(2)
    (belief,) = about.beliefs
    one = charge(about, [1, 2], at=3)

    def together(*charges: Charge) -> bool:
        return in_one_place(belief, items(about, *charges))  # type: ignore[arg-type]

    assert together(one, replace(one, scale=Fraction(3)))
    assert together(replace(one, at=None))
    assert not together(one, replace(one, at=4))
    assert not together(one, charge(steps(3), [1, 2, 3], at=3))
    assert not together(charge(steps(3), [1, 2, 3], at=3))
    assert not together(*merged([one, replace(one, at=5)]))


def periodic(length: int = 4) -> Framework:
    return Pufferfish(tf.every_entry(), tf.PeriodicChain([FAIR, STUCK], length, [0, 1, 1], 1, (0.5, 0.5)))


def test_windows_that_put_the_recording_elsewhere_in_the_period_are_out_of_phase() -> None:
    """The belief's own window starts at step 6 in place 1, so that step 0 has place 1 of 3."""
    about = periodic()
    mine = charge(about, [1] * 4, at=6, phases=((3, 1),))
    seen, (belief,) = view(about), about.beliefs

    def out(*charges: Charge) -> set[int]:
        return set(out_of_phase(seen, belief, charges))

    others = [replace(mine, framework="another belief", at=5, phases=phases) for phases in (
        ((3, 1),), ((3, 2),), (), ((6, 4),), ((6, 2),), ((2, 0), (2, 1)), ((3, 1), (3, 0)), ((12, 7), (9, 8)),
    )]  # fmt: skip
    assert out(mine, *others) == {2, 5, 7, 8}
    assert out(*others, mine) == {1, 4, 6, 7}
    assert out(*others) == out(replace(mine, at=None), *others) == set()
    assert out(replace(mine, at=None), mine, *others) == {3, 6, 8, 9}
    assert not out_of_phase(view(steps(4)), steps(4).beliefs[0], [charge(steps(4), [1] * 4, at=6), *others])


def test_a_longer_run_of_a_periodic_belief_starts_in_the_place_that_its_own_windows_say() -> None:
    about = periodic()
    mine = charge(about, [1, 2, 3, 4], at=6)
    other = replace(mine, framework="another belief")
    loose = Pufferfish(tf.every_entry(), tf.PeriodicChain([FAIR, STUCK], 4, [0, 1, 1], 1))
    native = charge(loose, [1, 2, 3, 4], at=6)
    for at, start in ((5, 0), (4, 2), (7, 1), (8, 1)):
        charges = [native, replace(other, at=at)]
        for order in (charges, charges[::-1]):
            whole, rows = layout(loose, *order) or (None, [])
            assert (whole.start % 3, whole.size) == (start, 4 + abs(at - 6))
            assert sorted(row.index(1) for row in rows) == [0, abs(at - 6)]
            known = placed(view(loose), loose.beliefs[0], items(loose, *order))  # type: ignore[arg-type]
            assert known is not None
            assert (known[0].start % 3, known[0].size) == (start, 4 + abs(at - 6))
    assert layout(loose, native, replace(native, at=9)) is not None  # three steps later it has the same place
    for apart in ([native, replace(native, at=7)], [replace(other, at=5), other]):
        assert layout(loose, *apart) is places(loose, *apart) is None
    assert layout(about, replace(mine, at=5), replace(other, at=6)) is not None
    assert layout(about, mine, replace(other, at=5)) is None  # what is given is the start of step 6
    whole, rows = layout(loose, replace(native, at=None), replace(native, at=None)) or (None, [])
    assert whole is loose.beliefs[0]


def test_sequences_that_may_lie_anywhere_in_one_recording_have_their_dearest_steps_together() -> None:
    one = charge(pieces(3, 4, 3), WEIGHTS)
    assert in_a_row(steps(10), [one]) == tenths(5, 9, 11, 13, 15, 17, 18, 19, 20, 21)
    assert in_a_row(pieces(3, 4, 3), [one]) == tenths(6 - 1, 6, 7, 8)  # the dearest run of n in any one of them
    assert in_a_row(pieces(3, 4, 3), [replace(one, lengths=(), framework="another belief")])[:2] == tenths(5, 9)[:2]


def test_equal_readings_add_up_and_different_ones_have_their_dearest_steps_at_once() -> None:
    about = steps(3)
    first, second = charge(about, [4, 0, 1]), charge(about, [0, 1, 2])
    assert in_a_row(about, [first]) == tenths(4, 4, 5)
    assert in_a_row(about, [first], [first], [replace(first, scale=Fraction(5))]) == tenths(16, 16, 20)
    assert in_a_row(about, [first], [second]) == tenths(6, 7, 8)
    assert in_a_row(about, [first, second]) == tenths(4, 5, 8)
    assert in_a_row(about, [first, second], [first, second]) == tenths(8, 10, 16)
    assert in_a_row(about, [first, second], [second], [first]) == tenths(10, 12, 16)
    halves = charge(about, ["1/2", "3/2", 0], 5)
    assert in_a_row(about, [first, halves]) == tenths(5, 8, 9)
    assert in_a_row(about, [first], [halves]) == tenths(7, 8, 9)


def test_one_reading_of_several_pieces() -> None:
    about, other = pieces(3, 4, 3), pieces(4, 6)
    first = charge(about, WEIGHTS)
    flat = charge(about, [1] * 10)
    assert in_a_row(about, [first, flat]) == tenths(6, 8, 10, 12)
    elsewhere = [charge(other, WEIGHTS), charge(other, [1] * 10)]
    assert in_a_row(about, elsewhere) == tenths(6, 8, 11, 14, 16, 18)  # 2 6 2 3 | 3 3 3 5 2 2
    apart = [first, replace(flat, lengths=(10,), framework="another belief")]
    assert in_a_row(about, apart)[:3] == tenths(6, 11, 14)[:3]  # in sorted order: nobody says how they lie


def test_releases_that_fit_no_layout_lie_as_they_like() -> None:
    about = steps(2, initial=(0.5, 0.5))
    other = charge(about, [3, 4], framework="another belief")
    both = [replace(other, at=0), replace(other, at=1)]
    assert in_a_row(about, both) == tenths(8, 14)
    assert in_a_row(steps(2), both) == tenths(7, 11, 14)


def test_no_more_is_charged_than_everything_moves_the_answer() -> None:
    """A foreign query counts at every step with its largest change, and in all with its own."""
    about = steps(4)
    foreign = charge(about, [5, 0, 0, 1], answers=("unknown",), framework="another")
    (item,) = items(about, foreign)
    assert (item.read.changes.tolist(), item.read.total) == ([5, 0, 0, 5], 6)
    (item,) = items(about, replace(foreign, change=Fraction(7), entry_change=Fraction(6)))
    assert (item.read.changes.tolist(), item.read.total) == ([6, 0, 0, 6], 7)
    wide = replace(charge(about, [5, 1, 1, 1], answers=("unknown",)), framework="another")
    assert in_a_row(about, [wide]) == tenths(5, 8)
    assert in_a_row(about, [wide], [wide]) == tenths(10, 16)
    assert in_a_row(about, [wide, wide]) == tenths(10, 16)


def test_without_nodes_a_reading_costs_everything() -> None:
    family, nearly_stuck = tf.every_entry().family(tf.MarkovChain(FAIR, 3)), [[0.99, 0.01], [0.01, 0.99]]
    for about, weights, tenths_of_cost in (
        (steps(3), [4, 0, 1], 4), (steps(3, initial=(0.5, 0.5)), [4, 0, 1], 5),
        (steps(3, rows=nearly_stuck), [4, 0, 1], 5),
        (pieces(3, 4, 3, rows=nearly_stuck), WEIGHTS, 8),  # a step lies in one of the pieces
    ):  # fmt: skip
        cost, witness = worst_alignment(view(about), about.beliefs[0], family, items(about, charge(about, weights)))
        assert round(cost, 9) == Fraction(tenths_of_cost, 10)
        assert witness.comparison == "one step of the recording"


@pytest.mark.parametrize("secrets", [tf.every_entry(), tf.entry(0, 0, 1)])
def test_a_secret_may_be_about_any_step(secrets: Any) -> None:
    about = steps(3, secrets=secrets)
    both = charge(about, [0, 4, 1]), charge(about, [0, 1, 0])
    assert round(cost_by_noise(view(about), both).epsilon, 9) == Fraction(5, 10)


def test_charges_of_several_readings_cost_a_change_of_all_that_they_read() -> None:
    """A step of the one may be every step of the other, or ten steps of it: no quilt bounds both together."""
    about = steps(10, rows=[[0.9, 0.1], [0.1, 0.9]])
    hours, beds = (charge(about, [1] * 10, 2, read_as=rule) for rule in ("hours", "beds"))
    assert all(joint(about, [one]).epsilon < 5 for one in (hours, beds))
    together = joint(about, [hours, beds])
    assert together.epsilon == 10 > joint(about, [hours, hours]).epsilon
    assert (together.rule, together.covers) == ("sum over readings", Covers.EVERYTHING)
    assert joint(about, [hours, beds, replace(hours, read_as="")]).epsilon == 15
    assert joint(about, [replace(one, delta=Fraction(3, 4)) for one in (hours, beds)]).delta == 1
    elsewhere = replace(
        hours, covers=Covers.EVERYTHING, epsilon=Fraction(1), scale=None, entries=0, answers=(),
        lengths=(), query={"kind": "about another source"}, read_as="",
    )  # fmt: skip
    assert joint(about, [hours, elsewhere]).epsilon == joint(about, [hours]).epsilon + 1  # of every reading
    for other, words in (
        (replace(beds, covers=Covers.OUTPUT, scale=None, delta=Fraction(1, 1000)),
         r"as other entries.*no cost for such a change"),
        (replace(beds, scope="pooled"), "charged to a person for that person's share alone"),
        (replace(beds, change=None), "as other entries"),
    ):  # fmt: skip
        with pytest.raises(CompositionRefused, match=words):
            joint(about, [hours, other])
