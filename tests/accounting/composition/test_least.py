"""The least of what is proved, in numbers that a person can check: independent users, so that one tells of itself."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.late_oracles import late_delta
from tests.support.ledger_tools import laplace, made, users

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import CompositionRefused
from takifugu.model.frameworks import Framework, Pufferfish

WHOLE, DATA, QUILT, SINGLE = Covers
HALF, THIRD, LITTLE = Fraction(1, 2), Fraction(1, 3), Fraction(1, 1000)
WEIGHTS = tf.Linear([2, 3, 5])  # all users change it by 10, one user by at most 5
EVERYBODY = users()


def charge(kind: Covers, scale: Any, epsilon: Any = LITTLE, about: Framework = EVERYBODY, **changes: Any) -> Charge:
    return replace(charge_of(laplace(about, WEIGHTS, scale, kind, epsilon)), **changes)


def normal(kind: Covers, about: Framework = EVERYBODY, **changes: Any) -> Charge:
    noise = RoundedNormal(Fraction(9), Fraction(1))
    return replace(charge_of(made(about, WEIGHTS, noise, kind, HALF, LITTLE)), **changes)


def cost(charges: Sequence[Charge], about: Framework = EVERYBODY, **options: Any) -> tuple[Fraction, str, Covers]:
    promise = joint(about, charges, **options)
    return promise.epsilon, promise.rule, promise.covers


def in_any_order(charges: Sequence[Charge], about: Framework = EVERYBODY, **options: Any) -> Any:
    (outcome,) = {cost(order, about, **options) for order in itertools.permutations(charges)}
    return outcome


def test_one_release() -> None:
    foreign = {"framework": "another belief"}
    assert cost([]) == (0, "sum", WHOLE)
    assert cost([charge(WHOLE, 10)]) == (LITTLE, "alone", WHOLE)
    assert cost([charge(WHOLE, 10, 3)]) == (HALF, "joint loss", QUILT)  # no user moves it by more than 5
    assert cost([charge(DATA, 10, 3)]) == (HALF, "joint loss", QUILT)
    for kind in (QUILT, SINGLE):
        assert cost([charge(kind, 10)]) == (LITTLE, "alone", kind)
        assert cost([charge(kind, 10, **foreign)]) == (HALF, "joint loss", QUILT)
    assert cost([normal(DATA)]) == (HALF, "alone", DATA)
    assert cost([normal(DATA)] * 2) == (1, "sum", DATA)


def test_a_promise_about_its_own_output_counts_while_nothing_else_is_known() -> None:
    single, quilt = charge(SINGLE, 10), charge(QUILT, 10)
    assert cost([single], is_alone=False) == (HALF, "joint loss", QUILT)
    assert cost([quilt], is_alone=False) == (LITTLE, "alone", QUILT)
    with pytest.raises(CompositionRefused, match=r"its own output only.*without Laplace noise.*begin a series"):
        joint(EVERYBODY, [normal(SINGLE)], is_alone=False)
    assert joint(EVERYBODY, [normal(SINGLE)]).epsilon == HALF


BROAD, TWIN = charge(WHOLE, 10), charge(WHOLE, 10, query=tf.Linear([5, 3, 2]).to_dict())
DEAR, DEAR_ABROAD = charge(QUILT, 1), charge(QUILT, 1, framework="another belief")
ALONE, QUIET = charge(SINGLE, 1, THIRD), charge(SINGLE, 100, THIRD)
POOLED = charge(SINGLE, 1, THIRD, scope="pooled")
EXACT = replace(DEAR, scale=Fraction(0))
#: What sets cost in any order, by which rule, and what that covers. Each user's share counts: 5 for the noise of the
#: dear quilt, 1/2 for noise of scale 10.
SETS = {
    "whole and data": ([normal(WHOLE), normal(DATA)], (1, "sum", DATA)),
    "whole and whole": ([normal(WHOLE), normal(WHOLE, delta=Fraction(0))], (1, "sum", WHOLE)),
    "five of data": ([normal(DATA)] * 5, (Fraction(5, 2), "sum", DATA)),
    "a quilt and a whole one": ([DEAR, BROAD], (Fraction(11, 2), "joint loss", QUILT)),
    "a quilt and two whole ones": ([DEAR, BROAD, TWIN], (Fraction(57, 10), "joint loss", QUILT)),
    "a quilt, data and a whole one": ([DEAR, charge(DATA, 10), BROAD], (6, "joint loss", QUILT)),
    "two quilts and a whole one": ([DEAR, DEAR, BROAD], (Fraction(21, 2), "joint loss", QUILT)),
    "another belief's quilt and a whole one": ([DEAR_ABROAD, BROAD], (Fraction(11, 2), "joint loss", QUILT)),
    # Two answers that a user moves by 5, at a scale of 10 each: the ratio of densities reaches e.
    **{f"{kind} that promises less than noise": ([charge(kind, 10, 3), charge(DATA, 10)], (1, "joint loss", QUILT))
       for kind in Covers},
    "a single and normal noise": ([ALONE, BROAD, normal(WHOLE, delta=0)], (6, "joint loss", QUILT)),
    "a single and data": ([QUIET, charge(DATA, 10, 9)], (Fraction(11, 20), "joint loss", QUILT)),
    "three singles": ([ALONE, charge(SINGLE, 2, HALF), ALONE], (Fraction(25, 2), "joint loss", QUILT)),
    "a pooled single and data": ([POOLED, charge(DATA, 10)], (Fraction(11, 2), "joint loss", QUILT)),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_what_a_set_costs_in_any_order(name: str) -> None:
    charges, outcome = SETS[name]
    assert in_any_order(charges) == outcome


@pytest.mark.parametrize(("charges", "words"), [
    pytest.param([EXACT] * 2, "costs infinitely much", id="no noise"),
    pytest.param([ALONE, normal(SINGLE)], "no cost by its noise alone", id="normal noise without a series"),
    pytest.param([normal(QUILT), DEAR], "no cost by its noise alone", id="what nothing bounds"),
    pytest.param([replace(DEAR, change=None, entry_change=None)] * 2, "nothing bounds how far", id="no range"),
])  # fmt: skip
def test_a_set_of_which_nothing_is_proved_is_refused(charges: list[Charge], words: str) -> None:
    with pytest.raises(CompositionRefused, match=rf"(?s)its own output only.*{words}"):
        joint(EVERYBODY, charges)


@pytest.mark.parametrize(("count", "epsilon"), [(20, "4"), (3, "1/2")])
def test_a_promise_chosen_after_another_output_counts_for_nothing(count: int, epsilon: str) -> None:
    """A histogram says which number is likely, and the next answer tells the bit for that number alone."""
    rows = [(bit, number) for bit in ("s0", "s1") for number in range(count)]
    about = Pufferfish(tf.entry(0, "s0", "s1"), tf.JointTable(rows, [Fraction(1, 2 * count)] * len(rows), ["s", "r"]))
    units, share = (count - 1) / Fraction(epsilon), Fraction(1, count)
    whole = charge_of(laplace(about, tf.Identity("r"), units, WHOLE, epsilon))
    promise = charge_of(made(about, tf.Identity("r"), RoundedNormal(Fraction(9), Fraction(1)), SINGLE, 1, share))
    assert share < late_delta(count, 1, math.exp(-1 / units))  # what its promise and the other's epsilon would charge
    for order in ([whole, promise], [promise, whole]):
        with pytest.raises(CompositionRefused, match="its own output only"):
            joint(about, order)


def test_the_remedy_fits_a_property_of_a_dataset() -> None:
    """It once named mechanisms that are proved for no property, and a series that no property has."""
    customers = tf.MultivariateNormal([70, 40], [[144, 72], [72, 100]], names=["weight", "income"], records=30)
    about = tf.Pufferfish(tf.dataset_property("income", "mean", max_difference=5), customers)
    released = charge_of(made(about, tf.Mean("weight"), RoundedNormal(Fraction(9), Fraction(1)), SINGLE, HALF, LITTLE))
    with pytest.raises(CompositionRefused, match="publish this about another source; or, before anything is") as error:
        joint(about, [released], is_alone=False)
    assert not {"'influence'", "begins_series"} & {*error.value.line.replace("(", " ").replace(")", " ").split()}
