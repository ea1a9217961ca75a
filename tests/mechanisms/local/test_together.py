"""What several randomised columns tell together: along couplings, on the same rows, and where nothing is known."""

import functools
import math
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import rows_oracle as oracle

import takifugu as tf
from kawamoto.channels import randomised_response
from takifugu.accounting.composition import charge_of, joint
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.errors import CompositionRefused
from takifugu.mechanisms.local.measuring import lifted_loss
from takifugu.mechanisms.local.senders import Sender
from takifugu.mechanisms.local.sent import Sending, joint_losses
from takifugu.model.frameworks import Framework
from takifugu.numbers.distributions.channel import Channel, from_weights

LAWS = {"even": {"00": F(1, 2), "11": F(1, 2)}, "odd": {"01": F(1, 2), "10": F(1, 2)}}


def framework(laws: Any = LAWS, rows: int = 1, independent: bool = False) -> Framework:
    belief = tf.FromPopulations(laws, rows, independent, supports="align")
    return tf.Pufferfish(tf.population_membership(), belief)


def charge(
    noise: Any, about: Framework, epsilon: F = F(1), batch: str = "", reading: str = "", columns: tuple[str, ...] = ()
) -> Charge:
    """Return the charge of a channel, as calibration would make it."""
    query = tf.LocalValue(getattr(noise, "dummies", 0), batch, columns)
    return Charge(
        about.fingerprint(), "distribution", Covers.COMPONENT, epsilon, F(0), query.to_dict(), noise.to_dict(), None,
        F(3), F(3), noise.rows, (), reading=reading,
    )  # fmt: skip


def bit(number: int, about: Framework) -> Sending:
    """Return the channel that sends one bit as it is."""
    values = about.beliefs[0].alphabet(0)
    rows = [[int(value[number] == y) for y in "01"] for value in values]
    return Sending(1, 0.0, 1.0, "", Sender(Channel.of(values, ["0", "1"], rows)))


def test_two_bits_that_tell_nothing_alone_and_all_together_are_never_summed() -> None:
    """Errata E9a: each bit has loss 0, and both reveal the population for certain."""
    about = framework()
    one, two = (bit(number, about) for number in (0, 1))
    channels = [{x: noise.sender.channel.row(x) for x in about.beliefs[0].alphabet(0)} for noise in (one, two)]
    both = [oracle.sent(oracle.repeated(law, 2), channels) for law in LAWS.values()]
    for channel in channels:
        assert oracle.loss(*(oracle.sent(oracle.repeated(law, 1), [channel]) for law in LAWS.values())) == 0
    assert oracle.loss(*both) == math.inf
    assert oracle.excess(*both, 5.0) == 1
    assert lifted_loss(about.beliefs[0].laws, joint_losses([one, two])) == math.inf  # type: ignore[attr-defined]
    tiny = F(1, 10**6)
    for where in ({"reading": "same"}, {"batch": "May"}, {}):
        charges = [charge(noise, about, tiny, **where) for noise in (one, two)]
        with pytest.raises(CompositionRefused, match="may reveal together what neither does alone"):
            joint(about, charges)
        assert joint(about, charges[:1]).epsilon == tiny


def test_with_noise_the_same_two_bits_cost_what_they_tell_of_the_values() -> None:
    """Along any coupling of the two populations one bit changes, and tells log 3; both bits together tell less."""
    about = framework()
    flip = {"0": [F(3, 4), F(1, 4)], "1": [F(1, 4), F(3, 4)]}
    values = about.beliefs[0].alphabet(0)
    noises = [
        Sending(1, 0.0, 1.0, "", Sender(Channel.of(values, ["0", "1"], [flip[str(v)[number]] for v in values])))
        for number in (0, 1)
    ]
    channels = [{x: noise.sender.channel.row(x) for x in values} for noise in noises]
    exact = oracle.loss(*(oracle.sent(oracle.repeated(law, 2), channels) for law in LAWS.values()))
    cost = float(joint(about, [charge(noise, about, F(1, 100), reading="same") for noise in noises]).epsilon)
    assert exact == pytest.approx(math.log(5 / 3))  # (9 + 1)/(3 + 3)
    assert exact <= cost == pytest.approx(math.log(5 / 3), rel=1e-9)
    assert lifted_loss(about.beliefs[0].laws, joint_losses(noises)) == pytest.approx(math.log(3))  # type: ignore[attr-defined]


@st.composite
def problems(draw: Any) -> tuple[list[list[F]], list[Channel]]:
    """Draw two populations over a few values, and two channels with full support."""
    count = draw(st.integers(2, 4))
    masses = st.lists(st.integers(0, 5), min_size=count, max_size=count).filter(lambda m: sum(x > 0 for x in m) > 1)
    laws = [[F(x, sum(m)) for x in m] for m in (draw(masses), draw(masses))]
    weights = st.lists(st.integers(1, 9), min_size=3, max_size=3)
    rows = st.lists(weights, min_size=count, max_size=count)
    tables = [np.array(draw(rows), dtype=float) for _ in range(2)]
    return laws, [from_weights(list(range(count)), ["x", "y", "z"], table) for table in tables]


@given(problems())
def test_along_a_coupling_no_more_is_lost_than_is_charged(given_: tuple[list[list[F]], list[Channel]]) -> None:
    laws, channels = given_
    noises = [Sending(1, 0.0, 1.0, "", Sender(channel)) for channel in channels]
    bound = lifted_loss(laws, joint_losses(noises))
    rows = [{x: channel.row(x) for x in channel.inputs} for channel in channels]
    populations = [{x: mass for x, mass in enumerate(law) if mass} for law in laws]
    exact = oracle.loss(*(oracle.sent(oracle.repeated(law, 2), rows) for law in populations))
    assert exact <= bound * (1 + 1e-12) + 1e-12
    assert bound <= sum(noise.local_loss() for noise in noises) * (1 + 1e-12)


@given(problems())
def test_the_threshold_is_the_least_of_all_couplings(given_: tuple[list[list[F]], list[Channel]]) -> None:
    """By a linear program over couplings: feasible at the threshold, and not at the level below it."""
    from scipy.optimize import linprog

    laws, channels = given_
    losses = joint_losses([Sending(1, 0.0, 1.0, "", Sender(channel)) for channel in channels])
    threshold = lifted_loss(laws, losses)
    size = len(laws[0])
    sums = np.array([[float(cell // size == x) for cell in range(size**2)] for x in range(size)]
                    + [[float(cell % size == y) for cell in range(size**2)] for y in range(size)])  # fmt: skip
    totals = np.array([float(mass) for law in laws for mass in law])

    def feasible(level: float) -> bool:
        ends = [(0, 1 if losses[cell // size, cell % size] <= level else 0) for cell in range(size**2)]
        return bool(linprog(np.zeros(size**2), A_eq=sums, b_eq=totals, bounds=ends).status == 0)

    levels = sorted({float(x) for x in losses.ravel()})
    assert threshold in levels
    assert feasible(threshold)
    below = [level for level in levels if level < threshold]
    assert not below or not feasible(below[-1])  # who may use more cells can do what others can


LAW = {"home": {"a": F(3, 4), "b": F(1, 4)}, "out": {"a": F(1, 4), "b": F(3, 4)}}
RESPONSE = randomised_response(["a", "b"], 1)


def test_other_rows_add_up_where_they_are_independent_and_named() -> None:
    about = framework(LAW, rows=2, independent=True)
    noise = Sending(2, 0.0, 1.0, "", Sender(RESPONSE))
    may, june = (charge(noise, about, batch=name) for name in ("May", "June"))
    local, e = 2 * F(noise.local_loss()), math.e
    once, twice = math.log((3 * e + 1) / (e + 3)), math.log((3 * e**2 + 1) / (e**2 + 3))  # of a row, from e and 1
    assert float(joint(about, [may, june]).epsilon) == pytest.approx(4 * once)
    assert float(joint(about, [may, charge(noise, about)]).epsilon) == pytest.approx(2 * once + local)  # of any rows
    assert float(joint(about, [may, may]).epsilon) == pytest.approx(2 * twice)
    assert 1 < 4 * once < 2
    assert 2 * twice < 2 * math.log(3)
    again = framework(LAW, rows=2)
    assert joint(again, [charge(noise, again, batch=name) for name in ("May", "June")]).epsilon == 1 + local


def test_what_a_release_costs_under_another_belief_is_measured_there() -> None:
    calibrated = tf.calibrate(framework(LAW), tf.LocalValue(), epsilon="1/2", mechanism="randomised-response")
    stored = charge_of(calibrated)
    stronger = {"home": {"a": F(9, 10), "b": F(1, 10)}, "out": {"a": F(1, 10), "b": F(9, 10)}}
    other = framework(stronger)
    channel = calibrated.randomiser.sender.channel  # type: ignore[attr-defined]
    lifted = [channel.lift(law) for law in stronger.values()]
    assert float(joint(other, [stored]).epsilon) == pytest.approx(oracle.loss(*lifted), rel=1e-9)
    assert joint(other, [stored]).epsilon > F(1, 2)
    renamed = framework({name: {f"{x}!": m for x, m in law.items()} for name, law in LAW.items()})
    assert joint(renamed, [stored]).epsilon == F(calibrated.randomiser.local_loss())  # type: ignore[attr-defined]


def test_a_tuple_around_a_channel_without_a_bound_composes_with_nothing_else() -> None:
    about = framework(LAW)
    keeps = Channel.of(["a", "b"], ["a", "b"], [[1, 0], [0, 1]])
    hidden = Sending(1, 0.0, 1.0, "", Sender(keeps, 3))
    assert hidden.local_loss() == math.inf
    with pytest.raises(CompositionRefused, match="name the batch"):
        joint(about, [charge(hidden, about), charge(hidden, about)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kinds", list(product(("May", "June", ""), repeat=3)))
def test_adding_a_release_never_makes_a_set_cheaper(kinds: tuple[str, ...]) -> None:
    about = framework(LAW, rows=2, independent=True)
    noise = Sending(2, 0.0, 1.0, "", Sender(RESPONSE))
    charges = [charge(noise, about, F(3, 5), batch=name) for name in kinds]
    costs = [joint(about, charges[:count]).epsilon for count in (1, 2, 3)]
    assert costs == sorted(costs)


def test_releases_of_other_definitions_count_at_what_their_noise_loses() -> None:
    chain = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 4))
    counted = charge_of(tf.calibrate(chain, tf.Count(1), 1, mechanism="group-dp"))
    noise = Sending(1, 0.0, 1.0, "", Sender(RESPONSE))
    about = framework(LAW)
    assert joint(about, [charge(noise, about), counted]).epsilon == 2  # each of them promises 1
    alone = joint(chain, [replace(counted, framework="another")]).epsilon
    assert joint(chain, [counted, charge(noise, about)]).epsilon == alone + F(noise.local_loss()) < 2


def test_deltas_of_other_batches_add_up_beside_a_batch_that_is_read_twice() -> None:
    about, each = framework(LAW, rows=2, independent=True), F(1, 10)
    noise = Sending(2, 0.0, 1.0, "", Sender(RESPONSE))
    may, june, july = (charge(noise, about, batch=name) for name in ("May", "June", "July"))
    counted = replace(may, query=tf.Count(1).to_dict(), delta=each)
    others = [replace(june, delta=each), replace(july, delta=each)]
    assert joint(about, [may, may, *others]).delta == 2 * each
    assert joint(about, [may, may, *others, counted]).delta == 3 * each
    assert joint(about, [may, *others]).delta == 2 * each


@pytest.mark.parametrize("name", [" May ", "M\u200bay"])
def test_a_batch_in_another_spelling_is_the_same_rows(name: str) -> None:
    about = framework(LAW, rows=2, independent=True)
    noise = Sending(2, 0.0, 1.0, "", Sender(RESPONSE))
    one, other = charge(noise, about, batch="May"), charge(noise, about, batch=name)
    assert joint(about, [one, other]).epsilon == joint(about, [one, one]).epsilon > F(3, 2)


def test_two_columns_are_two_values_of_a_row_however_alike_they_are() -> None:
    """Each bit alone says nothing, both say which population: they are equal in the one and differ in the other."""
    law = {name: {"0": F(1, 2), "1": F(1, 2)} for name in ("home", "out")}
    about, noise = framework(law), Sending(1, 0.0, 1.0, "", Sender(randomised_response(["0", "1"], 1)))
    pairs = {"home": {"00": F(1, 2), "11": F(1, 2)}, "out": {"01": F(1, 2), "10": F(1, 2)}}
    channels = [{x: noise.sender.channel.row(x[place]) for x in ("00", "01", "10", "11")} for place in (0, 1)]
    exact = oracle.loss(*(oracle.sent(oracle.repeated(pair, 2), channels) for pair in pairs.values()))
    named = [charge(noise, about, F(1, 100), batch="May", columns=(name,)) for name in ("a", "b")]
    assert joint(about, [named[0]] * 2).epsilon == 0  # of one value
    for other in (named[1], charge(noise, about, F(1, 100), batch="June", columns=("b",)), charge(noise, about)):
        together = joint(about, [named[0], other])
        assert together.epsilon == F(noise.local_loss()) >= F(exact)  # one value alone tells nothing at all


def test_losses_add_up_and_are_rounded_up() -> None:
    class Tenth:
        @property
        def sender(self) -> Any:
            return self

        def pointwise(self) -> Any:
            return np.array([[0.0, 0.1], [0.1, 0.0]])

    losses = joint_losses([Tenth() for _ in range(10)])
    assert functools.reduce(float.__add__, [0.1] * 10) < 1 < 10 * F(0.1) <= F(losses[0, 1]) < F(1) + F(1, 2**45)
    assert losses[0, 0] == 0
