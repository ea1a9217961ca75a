"""Which entries of one framework are those of another: by places, names, pieces; against the true joint loss."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.chain_oracles import float_law
from tests.support.ledger_tools import contributions_of, joint_loss, laplace

import takifugu as tf
from takifugu.accounting.composition import charge_of, compose, joint
from takifugu.analysis.guarantee import Covers
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Count, Linear

WHOLE, DATA, QUILT, SINGLE = Covers
def chain(rows: Sequence[Sequence[float]], length: int, initial: Any = "stationary") -> Framework:
    return Pufferfish(tf.every_entry(), tf.MarkovChain(rows, length, initial))


def test_a_day_that_two_windows_read_is_charged_twice() -> None:
    """Day 60 read twice at epsilon 1 once cost 1.00001."""
    framework = chain([[0.6, 0.4], [0.4, 0.6]], 100)
    windows = [Linear([int(i == 60 - s) for i in range(100)]) for s in (0, 50)]
    calibrations = [tf.calibrate(framework, w, 1, mechanism="quilt-exact") for w in windows]
    charges = [charge_of(c) for c in calibrations]
    assert compose(calibrations).epsilon < 1.01  # the same entries: days 60 and 10 are two days
    for second, least, most in ((50, 1.99, 2.01), (49, 1, 2), (400, 1, 1.01)):
        placed = [replace(c, at=at) for c, at in zip(charges, (0, second), strict=True)]
        assert least <= joint(framework, placed).epsilon < most


def test_pieces_of_other_lengths_are_others_where_they_are_as_many_steps_in_all() -> None:
    """The first step of a second recording, published twice, once cost 1.00148: it was the 1st step, then the 5th."""
    rows, of_lengths = [[0.6, 0.4], [0.4, 0.6]], ([1, 5], [5, 1])
    made = list[Any]()
    for lengths, entry in zip(of_lengths, (1, 5), strict=True):
        framework = Pufferfish(tf.every_entry(), tf.IndependentPieces(tf.MarkovChain(rows, 5), lengths))
        weights = [int(number == entry) for number in range(6)]
        made.append(tf.calibrate(framework, Linear(weights), 1, mechanism="influence"))
    assert compose(made).epsilon == 2
    for framework in (calibration.framework for calibration in made):
        charges = [replace(charge_of(one), covers=Covers.COMPONENT) for one in made]
        assert joint(framework, charges).epsilon >= 2


def test_a_pair_of_values_is_the_same_pair_under_a_belief_that_lists_them_otherwise() -> None:
    """Two windows at declared places make a longer belief, whose states are numbered as its own belief lists them."""
    sticky = [[0.98, 0.01, 0.01], [0.02, 0.49, 0.49], [0.02, 0.49, 0.49]]  # states z, y, x: only z tells of its like
    listed = tf.MarkovChain(sticky, 4, states=["z", "y", "x"])
    steady = tf.MarkovChain([[0.4, 0.4, 0.2]] * 3, 4, states=["x", "y", "z"])
    query = tf.Sum(codes={"x": 0, "y": 0, "z": 1})

    def cost(*beliefs: tf.MarkovChain) -> Fraction:
        framework = Pufferfish(tf.entry(1, "y", "z"), beliefs)
        return joint(framework, [charge_of(tf.with_scale(framework, query, 8), at=at) for at in (0, 2)]).epsilon

    releases = [(first, contributions_of(Pufferfish(tf.every_entry(), listed), query), 8) for first in (0, 2)]
    law = float_law(sticky, 6)
    shifted = [([adds[i - s] if 0 <= i - s < 4 else [0] * 3 for i in range(6)], b) for s, adds, b in releases]
    true = max(joint_loss(law, shifted, 1, a, b) for a, b in ((0, 1), (1, 0)))
    assert true <= cost(listed) == cost(steady, listed) == cost(listed, steady)


@pytest.mark.parametrize("kind", ["network", "table", "users", "cliques"])
def test_names_decide_what_is_the_same_entry(kind: str) -> None:
    """The same variables in another order once gave n releases for the price of one."""
    makers = {
        "network": lambda *names: tf.BayesianNetwork([(v, [0, 1], [], [0.5, 0.5]) for v in names]),
        "table": lambda *names: tf.JointTable(list(itertools.product([0, 1], repeat=2)), [Fraction(1, 4)] * 4, names),
        "users": lambda *names: tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 2, names=names),
        "cliques": lambda *names: tf.CliqueInfection([[name] for name in names], {1: [0.5, 0.5]}),
    }
    frameworks = [Pufferfish(tf.every_entry(), makers[kind](*order)) for order in (("hiv", "flu"), ("flu", "hiv"))]
    counts = [laplace(f, Count(1, entries=[n]), 1, QUILT) for n, f in enumerate(frameworks)]  # both read "hiv"
    charges = [charge_of(c) for c in counts]
    assert [joint(f, charges).epsilon for f in frameworks] == [2, 2]
    assert compose(counts).epsilon == 2
    apart = [charges[0], charge_of(laplace(frameworks[1], Linear([1, 0]), 1, QUILT))]  # hiv and flu
    alone = [float(joint(f, apart).epsilon) for f in frameworks]
    assert alone == pytest.approx([1, 1], rel=1e-10)
    assert min(alone) >= 1
    for f in frameworks:  # charges that do not say which names they count
        old = [replace(c, names=(), lengths=()) for c in apart]
        assert joint(f, old).epsilon == 2
    other = Pufferfish(tf.every_entry(), makers[kind]("hiv", "age"))
    assert joint(other, [*apart, charge_of(laplace(other, Count(1, entries=["hiv"]), 1, QUILT))]).epsilon == 3


def test_a_variable_is_no_step_of_a_sequence() -> None:
    """Somebody who believes in a sequence does not know which of its steps a variable is."""
    coins = tf.BayesianNetwork([(name, [0, 1], [], [0.5, 0.5]) for name in "abcde"])
    network, steps = Pufferfish(tf.every_entry(), coins), chain([[0.52, 0.48], [0.48, 0.52]], 5)
    one = charge_of(laplace(network, Count(1, entries=[4]), 1, QUILT))
    per_step = [charge_of(laplace(steps, Linear([int(i == j) for j in range(5)]), 1, QUILT)) for i in range(5)]
    foreign = [replace(c, framework="another belief") for c in per_step]
    row = charge_of(laplace(steps, Linear([1, 1, 0, 0, 0]), 4, QUILT))
    dearest = max(joint(steps, [c, row]).epsilon for c in foreign)
    assert joint(steps, [one, row]).epsilon >= dearest - Fraction(1, 10**9)
