"""What is sent for a value, by the law of everything that may be sent: shares, losses, and how it is read back."""

import json
import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.local.rappor import permanent
from takifugu.mechanisms.local.senders import Bits, Sender, Values
from takifugu.mechanisms.local.sent import read_sender
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.noise import InsecureSeededEntropyForTests


@st.composite
def senders(draw: st.DrawFn) -> Sender:
    size = draw(st.integers(2, 4))
    if draw(st.booleans()):
        return Bits(permanent("abcd"[:size], draw(st.fractions("0.1", "0.9", max_denominator=10))))
    outputs, row = draw(st.integers(1, 3)), st.integers(1, 5)
    rows = [draw(st.lists(row, min_size=outputs, max_size=outputs)) for _ in range(size)]
    exact = [[F(mass, sum(masses)) for mass in masses] for masses in rows]
    return Values(Channel.of("abcd"[:size], [(0, n) for n in range(outputs)], exact), draw(st.integers(0, 2)))


def law(sender: Sender, place: int) -> dict[Any, F]:
    return {output: sender.mass(place, output) for output in sender.outputs}


def each(sender: Sender, output: Any) -> tuple[Any, ...]:
    """Return the values that are sent with an output."""
    return output if isinstance(sender, Bits) or sender.only_channel is None else (output,)


@settings(max_examples=25)
@given(senders())
def test_shares_are_those_of_everything_that_may_be_sent(sender: Sender) -> None:
    values = sender.values if isinstance(sender, Bits) else sender.channel.outputs  # type: ignore[attr-defined]
    for place in range(len(sender.values)):
        masses = law(sender, place)
        assert sum(masses.values()) == 1
        for value, share in zip(values, sender.shares(place), strict=True):
            sent = [(each(sender, output), mass) for output, mass in masses.items()]
            counted = sum(mass * parts.count(value) for parts, mass in sent)
            exact = counted if isinstance(sender, Bits) else counted / len(sent[0][0])
            assert share == pytest.approx(float(exact), abs=1e-12)


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


@settings(max_examples=25)
@given(senders())
def test_it_reads_back_as_it_was_written(sender: Sender) -> None:
    written = json.loads(json.dumps({**sender.to_dict(), "kind": sender.kind}))
    assert read_sender(written) == sender
    assert read_sender(written).kind == sender.kind


CHANNEL = Channel.of("ab", ["x", "y"], [[F(1, 4), F(3, 4)], [F(1, 2), F(1, 2)]])


@pytest.mark.parametrize("masses", [
    [["1", "3"]], [["1", "3"], ["2", "2"], ["2", "2"]], [["1", "3"], ["4"]], [["4"], ["4"]],
    [["1", "3"], ["2", "2", "0"]], [["1", "3"], ["2", "3"]], [["1", "3"], ["-1", "5"]],
])  # fmt: skip
def test_a_channel_that_was_edited_is_refused(masses: list[list[str]]) -> None:
    written = {**Values(CHANNEL).to_dict(), "kind": "sent-value"}
    assert read_sender(written) == Values(CHANNEL)
    with pytest.raises(InputError, match="no distributions"):
        read_sender({**written, "masses": masses})


def test_so_many_outputs_are_listed_and_not_one_more() -> None:
    ten = Channel.of([0, 1], range(10), [[F(1, 10)] * 10] * 2)
    assert len(Values(ten, 4).outputs) == 100_000
    assert len(Bits(permanent(range(16), "1/2")).outputs) == 2**16
    for sender in (Values(ten, 5), Bits(permanent(range(17), "1/2"))):
        with pytest.raises(Unsupported, match="at most 100,000 are listed"):
            assert sender.outputs
