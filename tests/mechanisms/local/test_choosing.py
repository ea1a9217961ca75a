"""Every mechanism as strong as a promise allows, and what is sent: shares, losses, draws, and how it is read back."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import permutations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.goodness_of_fit import chi_squared_p

import takifugu as tf
from takifugu.core.errors import CalibrationRefused, InputError, Unsupported
from takifugu.mechanisms.local.choosing import Mechanism, largest_strength, mechanisms, strongest, strongest_within
from takifugu.mechanisms.local.hiding import noise_of
from takifugu.mechanisms.local.populations import populations_of
from takifugu.mechanisms.local.senders import Sender
from takifugu.mechanisms.local.sent import read_sender
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.noise import InsecureSeededEntropyForTests

HOME = tf.FromPopulations({"home": {"a": "0.8", "b": "0.1", "c": "0.1"}, "out": {"a": "0.2", "b": "0.3", "c": "0.5"}})
PLACES = [(float(i), float(j)) for i in range(2) for j in range(2)]
WALK = tf.FromPopulations(
    {
        "week": dict(zip(PLACES, [F(1, 2), F(1, 4), F(1, 8), F(1, 8)], strict=True)),
        "rest": dict(zip(PLACES, [F(1, 8), F(1, 8), F(1, 4), F(1, 2)], strict=True)),
        "trip": dict(zip(PLACES, [F(1, 4)] * 4, strict=True)),
    }
)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("belief", [HOME, WALK], ids=["labels", "places"])
@pytest.mark.parametrize("delta", [F(0), F(1, 50)])
def test_every_mechanism_keeps_what_it_promises(belief, delta):
    people, least = populations_of(belief), []
    for name in mechanisms(people):
        strength = strongest(people, F(1), delta, name)
        measured = strength.sender.delta(people, F(1)) if delta else strength.sender.epsilon(people)
        assert strength.measured == measured <= (delta or 1)
        if name != "tupling":
            least.append(strength.expected_loss)
    calibration = tf.calibrate(tf.Pufferfish(tf.population_membership(), belief), tf.LocalValue(), 1, delta)
    assert calibration.randomiser.expected_error() == pytest.approx(min(least), rel=1e-9)


def test_a_budget_is_not_rounded_up_where_it_is_compared():
    """The float 0.1 is a little above 1/10: what is measured as 0.1 keeps a tenth only if it is a tenth."""
    home = populations_of(HOME)
    for measured, expected in ((0.1, None), (0.0625, 2.0**12)):
        sender = SimpleNamespace(
            epsilon=lambda people, m=measured: m,
            delta=lambda people, epsilon, m=measured: m,
            local_epsilon=lambda m=measured: m,
        )
        way, tenth = Mechanism(lambda strength, s=sender: s, of_distance=False), F(1, 10)
        for epsilon, delta in ((tenth, F(0)), (F(1), tenth)):
            strength = largest_strength(way, home, epsilon, delta)
            assert strength is None if expected is None else strength >= expected * 0.999
        if expected is None:
            with pytest.raises(CalibrationRefused):
                strongest_within(way, home, tenth, lambda of: of.local_epsilon())
        else:
            assert strongest_within(way, home, tenth, lambda of: of.local_epsilon()) is sender


def test_a_twentieth_more_strength_breaks_the_promise():
    home = populations_of(HOME)
    for name, way in mechanisms(home).items():
        if way is not None:
            taken = strongest(home, F(1, 2), F(0), name)
            assert taken.measured <= 0.5
            assert way.make(taken.strength * 1.05).epsilon(home) > 0.5


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", list(mechanisms(populations_of(WALK))))
def test_what_is_sent_follows_the_sender(name):
    walk = populations_of(WALK)
    sender = strongest(walk, F(1), F(1, 50), name, dummies=1).sender
    noise = noise_of(sender, walk, WALK)
    drawn = noise.draw_column(np.ones(40_000, dtype=np.int64), InsecureSeededEntropyForTests(11))
    values: list[list[object]] = [[] for _ in range(drawn.count)]
    for row, value in drawn:
        values[row].append(value)
    sent = [tuple(of) if name == "tupling" else of[0] for of in values]
    if sender.dummies:
        row, expected = sender.channel.row(PLACES[1]), {}
        for s, r in product(PLACES, repeat=2):
            for pair in permutations((s, r)):
                expected[pair] = expected.get(pair, 0) + float(row.get(s, 0)) / len(PLACES) / 2
    else:
        expected = {y: float(mass) for y, mass in sender.channel.row(PLACES[1]).items()}
    seen = Counter(sent)
    assert set(seen) <= set(expected)
    counts, masses = np.array([seen[y] for y in expected]), np.array([float(mass) for mass in expected.values()])
    assert chi_squared_p(counts, masses) > 1e-6


def test_supports_that_differ_are_refused_where_nothing_can_hide_them():
    laws = {"a": {0: "0.5", 1: "0.5"}, "b": {2: "0.5", 3: "0.5"}}
    apart = populations_of(tf.FromPopulations(laws, supports="align"))
    assert strongest(apart, F(1, 10), F(0), "randomised-response").measured <= 0.1
    far = tf.FromPopulations({"a": {0: "0.5", 1: "0.5"}, "b": {9: "0.5", 1: "0.5"}}, supports="align")
    with pytest.raises(CalibrationRefused, match="exponential: no strength that was tried"):
        strongest(populations_of(far), F(1, 10**12), F(0), "exponential")
    with pytest.raises(InputError, match="radius"):
        mechanisms(populations_of(HOME), radius=-1)


@st.composite
def senders(draw: st.DrawFn) -> Sender:
    size = draw(st.integers(2, 4))
    outputs, row = draw(st.integers(1, 3)), st.integers(1, 5)
    rows = [draw(st.lists(row, min_size=outputs, max_size=outputs)) for _ in range(size)]
    exact = [[F(mass, sum(masses)) for mass in masses] for masses in rows]
    return Sender(Channel.of("abcd"[:size], [(0, n) for n in range(outputs)], exact), draw(st.integers(0, 2)))


def law(sender: Sender, place: int) -> dict[Any, F]:
    return {output: sender.mass(place, output) for output in sender.outputs}


def each(sender: Sender, output: Any) -> tuple[Any, ...]:
    """Return the values that are sent with an output."""
    return output if sender.dummies else (output,)


@settings(max_examples=25)
@given(senders())
def test_shares_are_those_of_everything_that_may_be_sent(sender: Sender) -> None:
    for place in range(len(sender.values)):
        masses = law(sender, place)
        assert sum(masses.values()) == 1
        for value, share in zip(sender.channel.outputs, sender.shares(place), strict=True):
            sent = [(each(sender, output), mass) for output, mass in masses.items()]
            counted = sum(mass * parts.count(value) for parts, mass in sent)
            assert share == pytest.approx(float(counted / len(sent[0][0])), abs=1e-12)


@settings(max_examples=25)
@given(senders())
def test_any_two_values_are_as_far_apart_as_the_laws_of_what_is_sent(sender: Sender) -> None:
    far, size = sender.pointwise(), len(sender.values)
    laws = [law(sender, place) for place in range(size)]
    for one in range(size):
        for other in range(size):
            largest = max(abs(math.log(mass / laws[other][y])) for y, mass in laws[one].items())
            assert largest - 1e-12 <= far[one, other] <= largest + 1e-9
    assert sender.local_epsilon() == pytest.approx(far.max(), abs=1e-9)


@settings(max_examples=25)
@given(senders(), st.lists(st.integers(0, 1), min_size=1, max_size=5))
def test_what_is_drawn_is_among_the_outputs_row_by_row(sender: Sender, codes: list[int]) -> None:
    sent = sender.send(np.array(codes), InsecureSeededEntropyForTests(1))
    rows = sender.of_rows(sent)
    assert len(rows) == sent.count == len(codes)
    assert all(sender.mass(code, row) > 0 for code, row in zip(codes, rows, strict=True))
    drawn = [(n, value) for n, row in enumerate(rows) for value in each(sender, row)]
    assert [*sent] == drawn


CHANNEL = Channel.of("ab", ["x", "y"], [[F(1, 4), F(3, 4)], [F(1, 2), F(1, 2)]])


@pytest.mark.parametrize("masses", [
    [["1", "3"]], [["1", "3"], ["2", "2"], ["2", "2"]], [["1", "3"], ["4"]], [["4"], ["4"]],
    [["1", "3"], ["2", "2", "0"]], [["1", "3"], ["2", "3"]], [["1", "3"], ["-1", "5"]],
])  # fmt: skip
def test_a_channel_that_was_edited_is_refused(masses: list[list[str]]) -> None:
    written = {**Sender(CHANNEL).to_dict(), "kind": "sent-value"}
    assert read_sender(written) == Sender(CHANNEL)
    with pytest.raises(InputError, match="no distributions"):
        read_sender({**written, "masses": masses})


def test_so_many_outputs_are_listed_and_not_one_more() -> None:
    ten = Channel.of([0, 1], range(10), [[F(1, 10)] * 10] * 2)
    assert len(Sender(ten, 4).outputs) == 100_000
    with pytest.raises(Unsupported, match="at most 100,000 are listed"):
        assert Sender(ten, 5).outputs
