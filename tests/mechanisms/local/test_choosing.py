"""Choosing a mechanism for populations: the promise is measured, what is sent follows it, bad input draws nothing."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from takifugu.core.errors import CalibrationRefused, DataError, InputError
from takifugu.mechanisms.local.choosing import choose, mechanisms
from takifugu.mechanisms.local.populations import Populations, estimated
from takifugu.mechanisms.local.senders import Tuple
from takifugu.mechanisms.local.tupling import Tupling
from takifugu.numbers.noise import InsecureSeededEntropyForTests

F = Fraction
HOME = Populations({"home": {"a": "0.8", "b": "0.1", "c": "0.1"}, "out": {"a": "0.2", "b": "0.3", "c": "0.5"}})
PLACES = [(float(i), float(j)) for i in range(2) for j in range(2)]
WALK = Populations(
    {
        "week": dict(zip(PLACES, [F(1, 2), F(1, 4), F(1, 8), F(1, 8)], strict=True)),
        "rest": dict(zip(PLACES, [F(1, 8), F(1, 8), F(1, 4), F(1, 2)], strict=True)),
        "trip": dict(zip(PLACES, [F(1, 4)] * 4, strict=True)),
    }
)


@pytest.mark.parametrize("populations", [HOME, WALK], ids=["labels", "places"])
@pytest.mark.parametrize("delta", [0, "0.02"])
def test_every_mechanism_keeps_what_it_promises_or_says_why_not(populations, delta):
    found = choose(populations, 1, delta)
    assert {option.name for option in found.options} == set(mechanisms(populations))
    for option in found.options:
        if option.sender is None:
            assert option.reason
            continue
        if delta:
            assert option.sender.delta(populations, F(1)) <= float(F(delta)) + 1e-12
        else:
            assert option.sender.epsilon(populations) <= 1 + 1e-12
    of_one = [o for o in found.options if o.sender is not None and o.sender.cost == 1]
    assert found.expected_loss == min(o.expected_loss for o in of_one)
    assert "hides which of" in str(found)


def test_a_twentieth_more_strength_breaks_the_promise():
    for name, way in mechanisms(HOME).items():
        if way is not None:
            taken = choose(HOME, "0.5", mechanism=name)
            assert taken.measured <= 0.5
            assert way.make(HOME, taken.strength * 1.05).epsilon(HOME) > 0.5


@pytest.mark.parametrize("name", list(mechanisms(WALK)))
def test_what_is_sent_follows_the_sender(name):
    chosen = choose(WALK, 1, "0.02", mechanism=name, dummies=1)
    column = [PLACES[1]] * 40_000
    sent = chosen.apply(column, InsecureSeededEntropyForTests(11))
    assert len(sent) == len(column)
    sender = chosen.sender
    if isinstance(sender, Tuple):
        row, expected = sender.channel.row(PLACES[1]), {}
        for s, r in product(PLACES, repeat=2):
            for pair in permutations((s, r)):
                expected[pair] = expected.get(pair, 0) + float(row.get(s, 0)) / len(PLACES) / 2
    elif name == "rappor":
        expected = {}
        for bits in product((0, 1), repeat=4):
            chances = [sender.rappor.present if y == 1 else sender.rappor.other for y in range(4)]
            mass = np.prod([float(c if bit else 1 - c) for c, bit in zip(chances, bits, strict=True)])
            expected[tuple(PLACES[y] for y in range(4) if bits[y])] = mass
    else:
        expected = {y: float(mass) for y, mass in sender.channel.row(PLACES[1]).items()}
    seen = Counter(sent)
    assert set(seen) <= set(expected)
    common = [y for y, mass in expected.items() if mass * len(column) > 5]
    rest = len(column) - sum(seen[y] for y in common)
    counts = [*(seen[y] for y in common), rest]
    masses = [*(expected[y] for y in common), max(1 - sum(expected[y] for y in common), 1e-9)]
    if masses[-1] * len(column) < 1:
        counts, masses = counts[:-1], masses[:-1]
    wanted = np.array(masses) / sum(masses) * sum(counts)
    assert len(counts) == 1 or stats.chisquare(counts, wanted).pvalue > 1e-6


def test_dummies_alone_decide_where_the_channel_hides_nothing():
    chosen = choose(HOME, 1, "0.5", mechanism="tupling", dummies=4)
    lifted = [[chosen.populations.laws[name].get(x, F(0)) for x in HOME.values] for name in ("home", "out")]
    assert Tupling(4).delta(*lifted, 1) <= 0.5
    assert chosen.sender.cost == 5


def test_populations_from_a_reference_file():
    rows = [("m", 1), ("m", 1), ("f", 2)]
    found = estimated(rows, [1, 2, 3], smoothing="1/2", source="a public survey")
    assert found.laws["m"] == {1: F(5, 7), 2: F(1, 7), 3: F(1, 7)}
    assert not found.from_private_data
    assert estimated(rows, [1, 2], 1, source="the column itself", private=True).from_private_data


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (lambda: Populations({"a": {0: 1}}), InputError),
        (lambda: Populations({"a": {0: 1}, "b": {0: 0.5, 1: 0.5}}), InputError),
        (lambda: Populations({"a": {0: 0.5, 1: 0.4}, "b": {0: 0.5, 1: 0.5}}), InputError),
        (lambda: Populations({"a": {0: 0.5, 1: 0.5}, "b": {0: 0.5, 1: 0.5}}, metric=lambda x, y: -1), InputError),
        (lambda: Populations({"a": {0: 0.5, 1: 0.5}, "b": {0: 0.5, 1: 0.5}}, prior={7: 1}), InputError),
        (lambda: estimated([("a", 3)], [1, 2], 1, source="x"), InputError),
        (lambda: estimated([("a", 1)], [1, 2], -1, source="x"), InputError),
        (lambda: estimated([("a", 1)], [1, 2], 1, source=""), InputError),
        (lambda: choose(HOME, 1, mechanism="laplace"), InputError),
        (lambda: choose(HOME, 0), InputError),
        (lambda: choose(HOME, 1).apply(["a", "z"]), DataError),
        (lambda: choose(HOME, 1).apply(["a", None]), DataError),
        (lambda: choose(HOME, 1).apply([float("nan")]), DataError),
    ],
)
def test_bad_input(wrong, kind):
    with pytest.raises(kind):
        wrong()


def test_supports_that_differ_are_refused_where_nothing_can_hide_them():
    apart = Populations({"a": {0: "0.5", 1: "0.5"}, "b": {2: "0.5", 3: "0.5"}})
    assert choose(apart, "0.1").measured <= 0.1
    with pytest.raises(CalibrationRefused):
        choose(Populations({"a": {0: "0.5", 1: "0.5"}, "b": {9: "0.5", 1: "0.5"}}), "1e-12", mechanism="exponential")
