"""Which joint promises add up, in numbers that a person can check: independent users, so that no quilt is better."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.ledger_tools import chain, laplace, made, promised, users, view

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
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


def cost(charges: Sequence[Charge], about: Framework = EVERYBODY, **options: Any) -> tuple[Fraction, str, Covers]:
    promise = joint(about, charges, **options)
    return promise.epsilon, promise.rule, promise.covers


def in_any_order(charges: Sequence[Charge], about: Framework = EVERYBODY, **options: Any) -> Any:
    (outcome,) = {cost(order, about, **options) for order in itertools.permutations(charges)}
    return outcome


def test_one_release_alone() -> None:
    foreign = {"framework": "another belief"}
    assert cost([]) == (0, "sum", WHOLE)
    assert cost([charge(WHOLE, 10)]) == (HALF, "joint loss", QUILT)  # no user moves it by more than 5
    assert cost([charge(DATA, 10)]) == (HALF, "sum", DATA)
    for kind in (QUILT, SINGLE):
        assert cost([charge(kind, 10)]) == (LITTLE, "alone", kind)
        assert cost([charge(kind, 10, **foreign)]) == (HALF, "joint loss", QUILT)
    assert cost([normal(DATA)]) == (HALF, "sum", DATA)


def test_alone_a_release_costs_what_the_components_with_a_secret_do() -> None:
    pieces = Pufferfish(tf.entry(6, 0, 1), tf.IndependentPieces(chain(1), [5, 2]))
    one = charge_of(laplace(pieces, tf.Count(1), 10, DATA, LITTLE))
    assert steady_cost(view(pieces), one, is_placed=True) == Fraction(2, 10)
    assert Fraction(1, 10) < joint(pieces, [one]).epsilon < Fraction(2, 10)


def test_a_promise_about_one_users_component_adds_up_only_where_the_same_user_is_meant() -> None:
    both = [normal(DATA, ONE_USER)] * 2
    assert cost(both, ONE_USER) == (1, "sum", DATA)
    with pytest.raises(CompositionRefused, match="other states, values or pieces"):
        joint(ONE_USER, [both[0], replace(both[0], reading="another")])


def test_a_quilt_adds_to_whole_releases_only_if_it_was_chosen_before_their_delta() -> None:
    dear, late = charge(QUILT, 1), normal(WHOLE)
    assert cost([dear, late]) == (HALF + LITTLE, "single and whole", QUILT)
    assert cost([late, dear]) == (HALF + 5, "joint loss", QUILT)
    assert cost([late, replace(dear, fixed_in_advance=True)]) == (HALF + LITTLE, "single and whole", QUILT)


def test_a_quilt_adds_to_whole_releases_of_another_reading_only_where_its_promise_covers_whoever_is_meant() -> None:
    named = users(3, tf.entry(2, 0, 1), list("abc"))
    for about, expected in ((EVERYBODY, 1 + LITTLE), (ONE_USER, Fraction(11, 2)), (named, None)):
        both = [charge(QUILT, 1, about=about), charge(WHOLE, 10, about=about, reading="another")]
        assert joint(about, both).epsilon == (expected or 1 + LITTLE)
        assert joint(about, [replace(c, reading="one") for c in both]).epsilon == 1 + LITTLE


MIXED = "single and whole"
BROAD, TWIN = charge(WHOLE, 10), charge(WHOLE, 10, query=tf.Linear([5, 3, 2]).to_dict())
DEAR, DEAR_ABROAD = charge(QUILT, 1), charge(QUILT, 1, framework="another belief")
ALONE, QUIET = charge(SINGLE, 1, THIRD), charge(SINGLE, 100, THIRD)
ABROAD = charge(SINGLE, 10, framework="another belief")
POOLED = charge(SINGLE, 1, THIRD, scope="pooled")
EXACT_QUILT, EXACT = replace(DEAR, scale=Fraction(0)), replace(ALONE, scale=Fraction(0))
#: What sets cost in any order, by which rule, and what that covers. Each user's share counts where that is less: 5 for
#: the dear quilt's own noise, 1/2 for noise of scale 10.
SETS = {
    "whole and data": ([normal(WHOLE), normal(DATA)], (1, "sum", DATA)),
    "whole and whole": ([normal(WHOLE), normal(WHOLE, delta=Fraction(0))], (1, "sum", WHOLE)),
    "five of data": ([normal(DATA)] * 5, (Fraction(5, 2), "sum", DATA)),
    "a quilt and a whole one": ([DEAR, BROAD], (1 + LITTLE, MIXED, QUILT)),
    "a quilt and two whole ones": ([DEAR, BROAD, TWIN], (2 + LITTLE, MIXED, QUILT)),
    "a quilt and data": ([DEAR, charge(DATA, 10)], (1 + LITTLE, MIXED, QUILT)),
    "a quilt, data and a whole one": ([DEAR, charge(DATA, 10), BROAD], (2 + LITTLE, MIXED, QUILT)),
    "two quilts and a whole one": ([DEAR, DEAR, BROAD], (Fraction(21, 2), "joint loss", QUILT)),
    "a wide quilt and a quiet one": ([DEAR, charge(QUILT, 100, 2 * LITTLE)], (Fraction(1, 10) + LITTLE, MIXED, QUILT)),
    "another belief's quilt and a whole one": ([DEAR_ABROAD, BROAD], (Fraction(11, 2), "joint loss", QUILT)),
    "a quilt without noise and a quilt": ([EXACT_QUILT, charge(QUILT, 10)], (1 + LITTLE, MIXED, QUILT)),
    "a quilt without noise and data": ([EXACT_QUILT, charge(DATA, 10)], (1 + LITTLE, MIXED, QUILT)),
    "a quilt without noise and a whole one": ([EXACT_QUILT, BROAD], (1 + LITTLE, MIXED, QUILT)),
    # Two answers that a user moves by 5, at a scale of 10 each: the ratio of densities reaches e.
    **{f"{kind} that promises less than noise": ([charge(kind, 10, 3), charge(DATA, 10)], (1, "joint loss", QUILT))
       for kind in Covers},
    "a single and a whole one": ([ALONE, BROAD], (1 + THIRD, MIXED, SINGLE)),
    "a single and two": ([ALONE, BROAD, normal(WHOLE, delta=0)], (Fraction(11, 6), MIXED, SINGLE)),
    "a loud single by its noise": ([charge(SINGLE, 10, 1), BROAD], (1, "joint loss", QUILT)),
    "a single without noise": ([EXACT, BROAD], (1 + THIRD, MIXED, SINGLE)),
    "a single and data": ([ALONE, charge(DATA, 10, 9)], (1 + THIRD, MIXED, SINGLE)),
    "a single and a quilt": ([ALONE, charge(QUILT, 10, 9)], (1 + THIRD, MIXED, SINGLE)),
    "a quiet single and data": ([QUIET, charge(DATA, 10, 9)], (Fraction(11, 20), "joint loss", QUILT)),
    "a quiet single and a quilt": ([QUIET, charge(QUILT, 10, 9)], (Fraction(11, 20), "joint loss", QUILT)),
    "a quiet single and a cheap quilt": ([QUIET, charge(QUILT, 10)], (LITTLE + Fraction(1, 10), MIXED, QUILT)),
    # Their profiles are 5 and 5/2, and all data change them by 10 and 5.
    "of two singles one promise": ([ALONE, charge(SINGLE, 2, HALF)], (5 + THIRD, MIXED, SINGLE)),
    "of three singles none": ([ALONE, charge(SINGLE, 2, HALF), ALONE], (Fraction(25, 2), "joint loss", QUILT)),
    # Another belief's counts by its noise: 10/10 when all data change, 5/10 when one user's value does.
    "a single and another belief's": ([ALONE, ABROAD], (1 + THIRD, MIXED, SINGLE)),
    "a quiet single and another belief's": ([QUIET, ABROAD], (Fraction(11, 20), "joint loss", QUILT)),
    # The promise of a pooled one links the units that it reads, so a ledger asks what they cost without it, too.
    "a pooled single and a whole one": ([POOLED, BROAD], (1 + THIRD, MIXED, SINGLE)),
    "a pooled single and data": ([POOLED, charge(DATA, 10)], (Fraction(11, 2), "joint loss", QUILT)),
    "a pooled single and a single": ([POOLED, charge(SINGLE, 1)], (10, "joint loss", QUILT)),
    "a pooled single and a quiet one": ([POOLED, charge(SINGLE, 100)], (Fraction(101, 20), "joint loss", QUILT)),
    "this unit's share of a pool": ([ALONE, charge(DATA, 10, scope="pooled")], (1 + THIRD, MIXED, SINGLE)),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_what_a_set_costs_in_any_order(name: str) -> None:
    charges, outcome = SETS[name]
    assert in_any_order(charges) == outcome


@pytest.mark.parametrize(("charges", "words"), [
    pytest.param([EXACT_QUILT] * 2, "costs infinitely much", id="no noise"),
    pytest.param([EXACT, replace(EXACT, epsilon=HALF)],
                 r"is alone.*gives no bound without the promise: .*infinitely much", id="two singles"),
    pytest.param([ALONE, normal(DATA)], r"(?s)^(?!.*without the promise).*has no cost for a change of the whole data",
                 id="what nothing bounds"),
    pytest.param([replace(POOLED, scale=Fraction(0)), EXACT], "over several people", id="pooled"),
])  # fmt: skip
def test_a_set_of_which_nothing_is_proved_is_refused(charges: list[Charge], words: str) -> None:
    with pytest.raises(CompositionRefused, match=words):
        joint(EVERYBODY, charges)


@pytest.mark.parametrize(("charges", "delta"), [
    ([normal(DATA)], LITTLE), ([normal(DATA), normal(WHOLE), normal(DATA)], 3 * LITTLE),
    ([DEAR, normal(WHOLE), normal(WHOLE)], 2 * LITTLE), ([ALONE, normal(WHOLE), BROAD], LITTLE),
])  # fmt: skip
def test_deltas_add_up(charges: list[Charge], delta: Fraction) -> None:
    assert joint(EVERYBODY, charges).delta == delta


def test_a_pooled_single_counts_by_its_noise_on_request() -> None:
    assert in_any_order([POOLED, BROAD], as_composing=True) == (Fraction(11, 2), "joint loss", QUILT)


def test_with_a_delta_a_single_is_kept_wherever_it_can_be_and_given_up_on_request_elsewhere() -> None:
    for recharge in (False, True):
        assert cost([QUIET, normal(WHOLE)], as_composing=recharge) == (HALF + THIRD, MIXED, SINGLE)
    two = [QUIET, ALONE, normal(WHOLE)]
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
