"""Which joint promises add up, in numbers that a person can check: independent users, so that no quilt is better."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.ledger_tools import chain, laplace, made, promised, users, view

import takifugu as tf
from takifugu.accounting.composition import Charge, Joint, charge_of, joint
from takifugu.accounting.composition.losses import steady_cost
from takifugu.accounting.composition.sums import ELSEWHERE
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import CompositionRefused
from takifugu.mechanisms import wasserstein
from takifugu.model.frameworks import Framework, Pufferfish, between

WHOLE, DATA, QUILT, SINGLE = Covers
HALF, THIRD, LITTLE = Fraction(1, 2), Fraction(1, 3), Fraction(1, 1000)
WEIGHTS = tf.Linear([2, 3, 5])  # all users change it by 10, one user by at most 5


EVERYBODY = users()
ONE_USER = users(3, tf.entry(2, 0, 1))


def charge(kind: Covers, scale: Any, epsilon: Any = LITTLE, about: Framework = EVERYBODY, **changes: Any) -> Charge:
    return replace(charge_of(laplace(about, WEIGHTS, scale, kind, epsilon), reading="one"), **changes)


def normal(kind: Covers, about: Framework = EVERYBODY, **changes: Any) -> Charge:
    noise = RoundedNormal(Fraction(9), Fraction(1))
    return replace(charge_of(made(about, WEIGHTS, noise, kind, HALF, LITTLE), reading="one"), **changes)


def summary(promise: Joint) -> tuple[Fraction, str, Covers]:
    return promise.epsilon, promise.rule, promise.covers


def cost(charges: Sequence[Charge], about: Framework = EVERYBODY, **options: Any) -> tuple[Fraction, str, Covers]:
    return summary(joint(about, charges, **options))


def in_any_order(charges: Sequence[Charge], about: Framework = EVERYBODY, **options: Any) -> Any:
    (outcome,) = {cost(order, about, **options) for order in itertools.permutations(charges)}
    return outcome


# Whole, data and quilt.


def test_one_release_alone() -> None:
    foreign = {"framework": "another belief"}
    assert cost([]) == (0, "sum", WHOLE)
    assert cost([charge(WHOLE, 10)]) == (HALF, "joint loss", QUILT)  # no user moves it by more than 5
    assert cost([charge(DATA, 10)]) == (HALF, "sum", DATA)
    assert cost([charge(QUILT, 10)]) == (LITTLE, "alone", QUILT)
    assert cost([charge(SINGLE, 10)]) == (LITTLE, "alone", SINGLE)
    for kind in (QUILT, SINGLE):
        assert cost([charge(kind, 10, **foreign)]) == (HALF, "joint loss", QUILT)
    late = joint(EVERYBODY, [normal(DATA)])
    assert (summary(late), late.delta) == ((HALF, "sum", DATA), LITTLE)


def test_alone_a_release_costs_what_the_components_with_a_secret_do() -> None:
    pieces = Pufferfish(tf.entry(6, 0, 1), tf.IndependentPieces(chain(1), [5, 2]))
    one = charge_of(laplace(pieces, tf.Count(1), 10, DATA, LITTLE))
    assert steady_cost(view(pieces), one, is_placed=True) == Fraction(2, 10)
    assert Fraction(1, 10) < joint(pieces, [one]).epsilon < Fraction(2, 10)


def test_whole_and_data_add_up() -> None:
    assert in_any_order([normal(WHOLE), normal(DATA)]) == (1, "sum", DATA)
    assert in_any_order([normal(WHOLE), normal(WHOLE, delta=Fraction(0))]) == (1, "sum", WHOLE)
    assert in_any_order([normal(DATA)] * 5) == (Fraction(5, 2), "sum", DATA)
    assert joint(EVERYBODY, [normal(DATA), normal(WHOLE), normal(DATA)]).delta == 3 * LITTLE


def test_a_promise_about_one_users_component_adds_up_only_where_the_same_user_is_meant() -> None:
    both = [normal(DATA, ONE_USER)] * 2
    assert cost(both, ONE_USER) == (1, "sum", DATA)
    with pytest.raises(CompositionRefused, match="other states, values or pieces"):
        joint(ONE_USER, [both[0], replace(both[0], reading="another")])


def test_a_quilt_adds_to_whole_releases() -> None:
    dear, whole = charge(QUILT, 1), charge(WHOLE, 10)
    another = replace(whole, query=tf.Linear([5, 3, 2]).to_dict())
    assert in_any_order([dear, whole]) == (1 + LITTLE, "single and whole", QUILT)
    assert in_any_order([dear, whole, another]) == (2 + LITTLE, "single and whole", QUILT)


def test_a_quilt_adds_to_the_whole_changes_of_all_others_or_counts_by_its_noise() -> None:
    """Each user's share counts where that is less: 5 for the quilt's own noise, 1/2 for noise of scale 10."""
    dear = charge(QUILT, 1)
    assert in_any_order([dear, charge(DATA, 10)]) == (1 + LITTLE, "single and whole", QUILT)
    assert in_any_order([dear, charge(DATA, 10), charge(WHOLE, 10)]) == (2 + LITTLE, "single and whole", QUILT)
    assert in_any_order([dear, dear, charge(WHOLE, 10)]) == (Fraction(21, 2), "joint loss", QUILT)
    wide, quiet = charge(QUILT, 1), charge(QUILT, 100, 2 * LITTLE)
    assert in_any_order([wide, quiet]) == (Fraction(1, 10) + LITTLE, "single and whole", QUILT)
    foreign = charge(QUILT, 1, framework="another belief")
    assert in_any_order([foreign, charge(WHOLE, 10)]) == (Fraction(11, 2), "joint loss", QUILT)


def test_a_quilt_adds_to_whole_releases_only_if_it_was_chosen_before_their_delta() -> None:
    dear, late = charge(QUILT, 1), normal(WHOLE)
    assert cost([dear, late]) == (HALF + LITTLE, "single and whole", QUILT)
    assert cost([late, dear]) == (HALF + 5, "joint loss", QUILT)
    assert cost([late, replace(dear, fixed_in_advance=True)]) == (HALF + LITTLE, "single and whole", QUILT)
    assert joint(EVERYBODY, [dear, late, late]).delta == 2 * LITTLE


def test_a_quilt_adds_to_whole_releases_of_another_reading_only_where_its_promise_covers_whoever_is_meant() -> None:
    named = users(3, tf.entry(2, 0, 1), list("abc"))
    for about, expected in ((EVERYBODY, 1 + LITTLE), (ONE_USER, Fraction(11, 2)), (named, None)):
        both = [charge(QUILT, 1, about=about), charge(WHOLE, 10, about=about, reading="another")]
        assert joint(about, both).epsilon == (expected or 1 + LITTLE)
        assert joint(about, [replace(c, reading="one") for c in both]).epsilon == 1 + LITTLE


def test_nothing_is_proved_of_noise_that_is_none() -> None:
    exact = replace(charge(QUILT, 1), scale=Fraction(0))
    with pytest.raises(CompositionRefused, match="costs infinitely much"):
        joint(EVERYBODY, [exact, exact])
    for kind in (QUILT, DATA, WHOLE):
        assert in_any_order([exact, charge(kind, 10)]) == (1 + LITTLE, "single and whole", QUILT)


def test_a_set_costs_what_its_noise_loses_where_its_releases_promise_less_than_that() -> None:
    """Two answers that a user moves by 5, at a scale of 10 each: the ratio of densities reaches e."""
    for kind in Covers:
        assert in_any_order([charge(kind, 10, 3), charge(DATA, 10)]) == (1, "joint loss", QUILT)


# Singles.


def test_a_single_adds_to_whole_releases() -> None:
    single, whole = charge(SINGLE, 1, THIRD), charge(WHOLE, 10)
    assert in_any_order([single, whole]) == (1 + THIRD, "single and whole", SINGLE)
    assert in_any_order([single, whole, normal(WHOLE, delta=0)]) == (Fraction(11, 6), "single and whole", SINGLE)
    assert joint(EVERYBODY, [single, normal(WHOLE), whole]).delta == LITTLE


def test_the_noise_of_a_single_counts_where_that_is_less() -> None:
    loud, whole = charge(SINGLE, 10, 1), charge(WHOLE, 10)
    assert in_any_order([loud, whole]) == (1, "joint loss", QUILT)
    exact = replace(charge(SINGLE, 1, THIRD), scale=Fraction(0))
    assert in_any_order([exact, whole]) == (1 + THIRD, "single and whole", SINGLE)


@pytest.mark.parametrize("kind", [DATA, QUILT])
def test_beside_data_a_single_costs_the_others_their_whole_change(kind: Covers) -> None:
    assert in_any_order([charge(SINGLE, 1, THIRD), charge(kind, 10, 9)]) == (1 + THIRD, "single and whole", SINGLE)
    assert in_any_order([charge(SINGLE, 100, THIRD), charge(kind, 10, 9)]) == (Fraction(11, 20), "joint loss", QUILT)
    quilt = charge(QUILT, 10)
    assert in_any_order([charge(SINGLE, 100, THIRD), quilt]) == (LITTLE + Fraction(1, 10), "single and whole", QUILT)


def test_of_two_singles_one_promise_counts_or_none() -> None:
    """Their profiles are 5 and 5/2, and all data change them by 10 and 5."""
    both = [charge(SINGLE, 1, THIRD), charge(SINGLE, 2, HALF)]
    assert in_any_order(both) == (5 + THIRD, "single and whole", SINGLE)
    assert in_any_order([*both, charge(SINGLE, 1, THIRD)]) == (Fraction(25, 2), "joint loss", QUILT)
    exact = [replace(c, scale=Fraction(0)) for c in both]
    with pytest.raises(CompositionRefused, match=r"is alone.*gives no bound without the promise: .*infinitely much"):
        joint(EVERYBODY, exact)


def test_beside_noise_of_another_belief_the_promise_of_a_single_counts_where_that_is_less() -> None:
    """That one counts by its noise: 10/10 when all data change, 5/10 when one user's value does."""
    single, foreign = charge(SINGLE, 1, THIRD), charge(SINGLE, 10, framework="another belief")
    assert in_any_order([single, foreign]) == (1 + THIRD, "single and whole", SINGLE)
    loud = charge(SINGLE, 100, THIRD)
    assert in_any_order([loud, foreign]) == (Fraction(11, 20), "joint loss", QUILT)


def test_a_single_beside_what_nothing_bounds_says_what_has_no_bound() -> None:
    with pytest.raises(CompositionRefused, match="has no cost for a change of the whole data") as refused:
        joint(EVERYBODY, [charge(SINGLE, 1, THIRD), normal(DATA)])
    assert "without the promise" not in str(refused.value)


def test_a_pooled_single_counts_beside_what_covers_every_change_or_by_its_noise() -> None:
    """Its promise links the units that it reads, so a ledger asks what they cost without it, too."""
    pooled, whole, data = charge(SINGLE, 1, THIRD, scope="pooled"), charge(WHOLE, 10), charge(DATA, 10)
    assert in_any_order([pooled, whole]) == (1 + THIRD, "single and whole", SINGLE)
    assert in_any_order([pooled, whole], as_composing=True) == (Fraction(11, 2), "joint loss", QUILT)
    assert in_any_order([pooled, data]) == (Fraction(11, 2), "joint loss", QUILT)
    assert in_any_order([pooled, charge(SINGLE, 1)]) == (10, "joint loss", QUILT)
    assert in_any_order([pooled, charge(SINGLE, 100)]) == (Fraction(101, 20), "joint loss", QUILT)
    exact = [replace(c, scale=Fraction(0)) for c in (pooled, charge(SINGLE, 1))]
    with pytest.raises(CompositionRefused, match="over several people"):
        joint(EVERYBODY, exact)
    read_by_both = [charge(SINGLE, 1, THIRD), charge(DATA, 10, scope="pooled")]
    assert in_any_order(read_by_both) == (1 + THIRD, "single and whole", SINGLE)  # for this unit's share of the pool


def test_with_a_delta_a_single_is_kept_wherever_it_can_be_and_given_up_on_request_elsewhere() -> None:
    late, single = normal(WHOLE), charge(SINGLE, 100, THIRD)
    for recharge in (False, True):
        assert cost([single, late], as_composing=recharge) == (HALF + THIRD, "single and whole", SINGLE)
    two = [single, charge(SINGLE, 1, THIRD), late]
    with pytest.raises(CompositionRefused, match=r"alone about the same data.*would cost epsilon 5\.55 in all"):
        joint(EVERYBODY, two)
    assert cost(two, as_composing=True) == (Fraction(111, 20), "joint loss", QUILT)


def test_a_single_chosen_after_a_delta_is_charged_by_its_noise() -> None:
    late, single = normal(WHOLE), charge(SINGLE, 1, THIRD)
    assert cost([single, late]) == (HALF + THIRD, "single and whole", SINGLE)
    with pytest.raises(CompositionRefused, match="its query and noise were fixed before"):
        joint(EVERYBODY, [late, single])
    assert cost([late, single], as_composing=True) == (HALF + 5, "joint loss", QUILT)
    early = replace(single, fixed_in_advance=True)
    assert cost([late, early]) == (HALF + THIRD, "single and whole", SINGLE)
    assert cost([late, early, charge(DATA, 10)], as_composing=True)[0] == HALF + THIRD + 1


# Whose promise it is.


@pytest.mark.parametrize(("secrets", "names", "travels"), [
    (tf.every_entry(), None, True),
    (tf.entry(2, 0, 1), None, False),
    (tf.entry(2, 0, 1), list("abc"), True),
    ([tf.every_entry(), tf.entry(2, 0, 1)], None, False),
    ([tf.every_entry(), tf.every_entry()], None, True),
])  # fmt: skip
def test_a_promise_about_a_user_covers_whoever_is_meant_only_if_all_are_hidden(
    secrets: Any, names: Any, travels: bool
) -> None:
    about = users(3, secrets, names)
    single, whole = charge(SINGLE, 1, THIRD, about), charge(WHOLE, 10, about=about)
    assert joint(about, [single, whole]).epsilon == 1 + THIRD
    elsewhere = replace(whole, reading="another")
    assert joint(about, [single, elsewhere]).epsilon == (1 + THIRD if travels else Fraction(11, 2))
    unread = normal(WHOLE, about, reading="", entries=0)  # what reads no entries is about whomever the other is about
    assert joint(about, [single, unread]).epsilon == HALF + THIRD
    if not travels:
        with pytest.raises(CompositionRefused, match=ELSEWHERE[:60]):
            joint(about, [replace(single, scale=Fraction(0)), elsewhere])


@pytest.mark.parametrize(("length", "secrets", "initial", "travels"), [
    (4, tf.every_entry(), "stationary", True),
    (4, tf.every_entry(), "any", True),
    (4, tf.every_entry(), (0.5, 0.5), False),
    (4, tf.every_entry(), ("stationary", (0.5, 0.5)), False),
    (4, tf.entry(0, 0, 1), "stationary", False),
    (1, tf.entry(0, 0, 1), "stationary", False),
    (1, [tf.entry(0, 0, 1), tf.every_entry()], "stationary", True),
])  # fmt: skip
def test_a_promise_about_a_step_covers_the_step_that_is_meant_only_if_all_are_hidden_and_none_is_first(
    length: int, secrets: Any, initial: Any, travels: bool
) -> None:
    starts = initial if initial[0] == "stationary" else [initial]
    about = Pufferfish(secrets, [chain(length, initial=start) for start in starts])
    single, whole = (
        charge_of(laplace(about, tf.Count(1), scale, kind, THIRD)) for scale, kind in ((1, SINGLE), (length, WHOLE))
    )
    for places, together in (((None, None), False), ((0, 0), True), ((3, 3), True), ((0, 1), False)):
        placed = [replace(c, at=at) for c, at in zip((single, whole), places, strict=True)]
        assert (joint(about, placed).epsilon == 1 + THIRD) is (together or travels)


def test_beside_two_laws_of_an_answer_every_other_release_costs_its_whole_change() -> None:
    pair = between(tf.Pmf([0, 10], [0.5, 0.5]), tf.Pmf([1, 11], [0.5, 0.5]))
    single = charge_of(promised(pair, tf.Identity(), wasserstein.MECHANISM))
    others = [charge(DATA, 10, covers=WHOLE, reading=reading) for reading in ("one", "another")]
    assert joint(pair, [single, *others]).epsilon == single.epsilon + 2
