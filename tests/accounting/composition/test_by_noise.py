"""Joint costs over quilts by hand: users and steps that are independent, so that one entry tells of itself alone."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.ledger_tools import FAIR, laplace, made, steps, users, view

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of
from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import CompositionRefused
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.frameworks import Framework, Pufferfish

WHOLE, DATA, QUILT, SINGLE = Covers
HALF, LITTLE, TENTH = Fraction(1, 2), Fraction(1, 1000), Fraction(1, 10)


def noisy(about: Framework, weights: list[Any], scale: Any = 1, **changes: Any) -> Charge:
    made_so = laplace(about, tf.Linear(weights), 1, QUILT, LITTLE)
    return replace(charge_of(made_so), scale=Fraction(scale), **changes)


def normal(about: Framework, weights: list[Any], kind: Covers = WHOLE, **changes: Any) -> Charge:
    noise = RoundedNormal(Fraction(9), Fraction(1))
    return replace(charge_of(made(about, tf.Linear(weights), noise, kind, HALF, LITTLE)), **changes)


def joint_of(about: Framework, charges: Sequence[Charge]) -> Fraction:
    return cost_by_noise(view(about), charges)


def in_pieces(*lengths: int) -> Framework:
    return Pufferfish(tf.every_entry(), IndependentPieces(tf.MarkovChain(FAIR, 1), lengths))


def cost(about: Framework, *charges: Charge) -> Fraction:
    """Return the cost as a short decimal; what is found by a search is rounded up, by next to nothing."""
    exact = joint_of(about, charges)
    short = round(exact, 6)
    assert 0 <= exact - short <= Fraction(1, 10**9)
    return short


def test_the_entry_that_all_releases_together_tell_most_about_decides() -> None:
    for about in (users(3), users(3, names=list("abc")), steps(3)):
        first, second = noisy(about, [2, 0, 1]), noisy(about, [1, 4, 3], 2)
        assert cost(about, first) == 2
        assert cost(about, second) == 2
        assert cost(about, first, second) == Fraction(5, 2)  # 2 + 1/2, or 4/2, or 1 + 3/2: the first or the last
        assert cost(about, first, first, noisy(about, [0, 9, 0])) == 9
    hidden = users(3, tf.entry(1, 0, 1))
    assert cost(hidden, noisy(hidden, [2, 0, 1]), noisy(hidden, [1, 4, 3], 2)) == 2


def test_a_release_that_says_nothing_about_single_entries_costs_its_whole_change() -> None:
    about, others = users(3), users(4)
    foreign = noisy(others, [1, 1, 1, 2], 10)
    assert cost(about, foreign) == HALF
    assert cost(about, foreign, foreign, noisy(about, [1, 0, 3])) == 4
    silent = Pufferfish(tf.every_entry(), [about.beliefs[0], about.beliefs[0]])
    assert cost(silent, foreign, noisy(silent, [1, 0, 3])) == 3 + HALF


def test_other_noise_has_no_cost_of_its_own() -> None:
    about = users(2)
    for kind in (QUILT, SINGLE):
        with pytest.raises(CompositionRefused, match="no cost by its noise alone"):
            joint_of(about, [normal(about, [1, 1], kind)])
    for kind in (WHOLE, DATA):
        assert cost(about, normal(about, [1, 1], kind)) == HALF
        assert cost(about, normal(about, [1, 0], kind), noisy(about, [0, 2])) == 2  # nobody is read by both
        assert cost(about, normal(about, [1, 1], kind), noisy(about, [0, 2], delta=Fraction(0))) == HALF + 2


def test_a_release_chosen_after_a_delta_costs_its_whole_component() -> None:
    for about in (steps(3), in_pieces(3, 1)):
        more = [0] * (about.beliefs[0].size - 3)
        late, other = normal(about, [1, 1, 1, *more]), noisy(about, [1, 2, 4, *more], 10)
        assert cost(about, other, late) == HALF + Fraction(4, 10)
        assert cost(about, late, other) == HALF + Fraction(7, 10)
        assert cost(about, other, late, other) == HALF + Fraction(4 + 7, 10)


def test_a_release_without_noise_counts_where_it_reads() -> None:
    """Of a sequence nothing is without loss: the curve takes no noise of scale 0, and no step shields another."""
    about = steps(4, tf.entry(3, 0, 1))
    exact, other = noisy(about, [1, 0, 0, 0], 0), noisy(about, [0, 0, 0, 1], 10)
    for hopeless in (steps(4), about, steps(4, tf.entry(0, 0, 1))):
        for order in ([exact, other], [other, exact], [exact]):
            with pytest.raises(CompositionRefused, match="without any noise"):
                joint_of(hopeless, order)
    apart = users(3, tf.entry(0, 0, 1))
    assert cost(apart, noisy(apart, [0, 1, 0], 0), noisy(apart, [1, 1, 0], 10)) == TENTH
    clique = Pufferfish(tf.every_entry(), tf.CliqueInfection([list("ab")], {2: [0.5, 0, 0.5]}))  # the trivial quilt
    assert cost(clique, noisy(clique, [1, 2], 10)) == Fraction(3, 10)
    with pytest.raises(CompositionRefused, match="without any noise"):
        joint_of(clique, [noisy(clique, [1, 0], 0), noisy(clique, [0, 1], 10)])


def test_a_window_that_is_not_counted_step_by_step_still_says_where_the_recording_starts() -> None:
    """Its start is given there, three steps before the window that is counted, which is one of the whole recording."""
    stay = [[0.9, 0.1], [0.4, 0.6]]
    for initial in ((0.01, 0.99), (0.3, 0.7)):
        about, whole = (Pufferfish(tf.every_entry(), tf.MarkovChain(stay, size, initial)) for size in (2, 5))
        window, same = noisy(about, [1, 1], 1, framework="another"), noisy(whole, [0, 0, 0, 1, 1], 1)
        expected = joint_of(whole, [replace(same, framework="another")])
        assert expected < 2
        for first, more in ((noisy(about, [0, 0]), 0), (normal(about, [1, 1]), HALF)):
            together = joint_of(about, [replace(window, at=3), replace(first, at=0)])
            assert float(together - more) == pytest.approx(float(expected), rel=1e-9)
        shorter = joint_of(about, [replace(noisy(about, [0, 0]), at=1), replace(window, at=3)])
        assert float(shorter) != pytest.approx(float(expected), rel=1e-3)


def test_sequences_that_are_not_known_to_lie_in_one_recording_cost_their_dearest_pieces() -> None:
    """Their pieces differ, or nothing says where the recording starts: all of a piece of each may have changed."""
    about = in_pieces(2, 3)
    one, other = noisy(about, [1, 5, 1, 2, 2], 10), noisy(in_pieces(4, 2), [1] * 4 + [0, 9], 20, framework="another")
    assert cost(about, one, other) == Fraction(6, 10) + Fraction(9, 20)
    assert cost(steps(5), one, other) == Fraction(11, 10) + Fraction(13, 20)  # how they lie in one is unknown
    assert cost(about, normal(about, [1] * 5), one, other) == HALF + Fraction(6, 10) + Fraction(9, 20)
    given = steps(2, initial=(0.5, 0.5))
    late = noisy(given, [3, 4], 10, framework="another")
    assert cost(given, replace(late, at=0), replace(late, at=1)) == Fraction(14, 10)
    sure = tf.MarkovChain([[1, 0], [1, 0]], 2, initial=[1, 0])
    both = Pufferfish(tf.entry(1, 0, 1), [given.beliefs[0], sure])
    assert cost(both, replace(late, at=0), replace(late, at=1)) == Fraction(14, 10)  # the second has nothing to hide
    with pytest.raises(CompositionRefused, match="without any noise"):
        joint_of(about, [one, replace(other, scale=Fraction(0))])
    with pytest.raises(CompositionRefused, match="no cost for a change of the whole data"):
        joint_of(about, [normal(about, [1] * 5, DATA), one, other])


def test_the_longest_of_some_recordings_stands_for_them_only_where_all_is_known_value_by_value() -> None:
    about = in_pieces(1, 2)
    even, of_first = noisy(about, [1, 1, 1]), noisy(about, [5, 0, 0])
    assert cost(about, even) == 1
    foreign = replace(of_first, framework="another", answers=())
    assert cost(about, even, of_first) == cost(about, even, foreign) == 6
