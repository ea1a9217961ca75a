"""What Kawamoto19 adds up, beside what holds: against all outputs of one row, of it twice, and of two, in rationals."""

import math
from fractions import Fraction as F
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support import population_oracles as oracles
from tests.support.golden import golden
from tests.support.tuples import tuple_law

import takifugu as tf
from kawamoto.printed_sums import PairPromise, printed_sums, theorem3_delta
from takifugu.mechanisms.local.populations import populations_of
from takifugu.mechanisms.local.senders import Sender
from takifugu.numbers.distributions.channel import Channel

SAME, TWO, MADE, MAPPED = (
    "Table 1, the same row twice", "Table 1, two rows", "Table 1, made of what was sent",
    "Table 1, after a 2-stable map",
)  # fmt: skip


def rows_of(sender):
    """Return the law of all outputs for each value, by the definition of a tuple."""
    laws = {}
    for x, masses in zip(sender.channel.inputs, sender.channel.masses, strict=True):
        law = [F(mass, sender.channel.total) for mass in masses]
        laws[x] = tuple_law(law, [F(1, len(law))] * len(law), sender.dummies)
    return laws


def sent(rows, law):
    outputs = next(iter(rows.values()))
    return {y: sum((mass * rows[x][y] for x, mass in law.items()), F(0)) for y in outputs}


def twice(rows):
    return {x: {(y, z): row[y] * row[z] for y, z in product(row, repeat=2)} for x, row in rows.items()}


def both_rows(law):
    return {(y, z): law[y] * law[z] for y, z in product(law, repeat=2)}


def excess(p, q, epsilon):
    """Return the delta at epsilon of two laws, both ways, output by output."""
    factor = math.exp(epsilon)
    ways = ((p, q), (q, p))
    return max(sum(max(float(one[y]) - factor * float(other[y]), 0.0) for y in one) for one, other in ways)


def loss(p, q):
    return max(float(oracles.loss(p, q)), float(oracles.loss(q, p)))


def two_populations(p, q):
    return populations_of(tf.FromPopulations({"a": p, "b": q}, supports="align"))


ONE, NO_DELTA = F(1), F(0)


def sums_of(sender, p, q, epsilon=ONE, delta=NO_DELTA, rows_independent=True):
    lines = printed_sums(sender, two_populations(p, q), epsilon, delta, rows_independent)
    return {line.words: line for line in lines}


@given(oracles.channels(3, 2, 1), oracles.laws(3, 1), oracles.laws(3, 1))
@settings(max_examples=40)
def test_without_a_delta_every_line_is_that_of_all_outputs(channel, p, q):
    lines, rows = sums_of(Sender(channel), p, q), rows_of(Sender(channel))
    one, same = loss(sent(rows, p), sent(rows, q)), loss(sent(twice(rows), p), sent(twice(rows), q))
    two = loss(both_rows(sent(rows, p)), both_rows(sent(rows, q)))
    for words, truth, printed in ((SAME, same, 2 * one), (TWO, two, 2 * one), (MADE, one, one)):
        line = lines[words]
        assert line.is_exact
        assert truth - 1e-12 <= float(line.holds.epsilon) <= truth * (1 + 1e-9) + 1e-9, words
        assert float(line.printed.epsilon) == pytest.approx(printed, abs=1e-12)
        assert line.is_too_little == (truth > printed * (1 + 1e-8) + 1e-8) or abs(truth - printed) < 1e-7
    for theorem in ("Theorem 1, by values", "Theorem 2, by distance"):
        assert lines[theorem].printed.epsilon >= lines[theorem].holds.epsilon - F(1, 10**12)
    assert lines[MAPPED].holds == lines[MAPPED].printed


@given(
    oracles.channels(2, 2), oracles.laws(2, 1), oracles.laws(2, 1), st.integers(0, 2), st.sampled_from([F(1, 4), F(1)])
)  # fmt: skip
@settings(max_examples=40)
def test_with_a_delta_it_is_counted_over_all_pairs_of_outputs(channel, p, q, dummies, epsilon):
    sender = Sender(channel, dummies)
    lines, rows = sums_of(sender, p, q, epsilon, F(1, 10)), rows_of(sender)
    one = excess(sent(rows, p), sent(rows, q), float(epsilon))
    assert float(lines[MADE].holds.delta) == pytest.approx(one, abs=1e-12)
    if not lines[MADE].holds.delta:
        return
    same = excess(sent(twice(rows), p), sent(twice(rows), q), 2 * float(epsilon))
    two = excess(both_rows(sent(rows, p)), both_rows(sent(rows, q)), 2 * float(epsilon))
    for words, truth in ((SAME, same), (TWO, two)):
        assert lines[words].is_exact
        assert lines[words].holds.epsilon == 2 * epsilon
        assert float(lines[words].holds.delta) == pytest.approx(truth, abs=1e-12)
    assert float(lines[SAME].printed.delta) == pytest.approx(min(1, 2 * one * 4), abs=1e-12)
    assert float(lines[TWO].printed.delta) == pytest.approx(min(1, 2 * one), abs=1e-12)
    needed = one * (1 + math.exp(epsilon))
    assert float(lines[MAPPED].holds.delta) == pytest.approx(min(1, needed), abs=1e-9)
    assert lines[MAPPED].printed == PairPromise(2 * epsilon, lines[MADE].holds.delta)


#: Sends a middle value as either end, at even chances.
SPREAD = Channel.of([0, 1, 2], ["low", "high"], [[F(9, 10), F(1, 10)], [F(1, 2), F(1, 2)], [F(1, 10), F(9, 10)]])
ENDS, MIDDLE = {0: F(49, 100), 1: F(2, 100), 2: F(49, 100)}, {0: F(1, 100), 1: F(98, 100), 2: F(1, 100)}


def test_the_printed_sum_of_one_row_twice_fails_where_two_outputs_tell_what_neither_does():
    """Errata E9a, with one channel twice: an output is low or high alike, and two are alike at the ends."""
    line = sums_of(Sender(SPREAD), ENDS, MIDDLE)[SAME]
    assert line.printed == PairPromise(0)
    apart = F(49, 50) * F(9, 50) + F(1, 50) * F(1, 2), F(1, 50) * F(9, 50) + F(49, 50) * F(1, 2)
    assert float(line.holds.epsilon) == pytest.approx(math.log(apart[1] / apart[0]), abs=1e-9)
    assert line.is_too_little
    assert line.cells[-1] == "printed too small"


@pytest.mark.parametrize("name", list(golden()["tupling_exact"]))
def test_the_printed_delta_of_a_tuple_is_no_less_than_the_exact_one(name):
    which, dummies = name.split(",k=")
    p, q = ([F(x) for x in row] for row in golden()["tupling_laws"][which])
    for key, value in golden()["tupling_exact"][name].items():
        if key.startswith("thm3_delta@"):
            printed = theorem3_delta(int(dummies), len(p), max(*p, *q), F(key[11:]))
            assert printed == pytest.approx(value, abs=1e-9)
            assert tf.local.Tupling(int(dummies)).delta(p, q, key[11:]) <= printed


@pytest.mark.parametrize("name", list(golden()["tupling_theorem3"]))
def test_theorem_3_at_the_epsilon_that_it_prints(name):
    beta, expected = F(name.split("beta=")[1].split("/")[0]) / 64, golden()["tupling_theorem3"][name]
    if expected["feasible"]:
        assert theorem3_delta(10, 64, beta, F(expected["eps"])) == pytest.approx(expected["delta"], rel=1e-9)
    else:
        assert theorem3_delta(10, 64, beta, F(600)) > expected["delta"]


@pytest.mark.parametrize("beta", [F(1, 64), F(1, 10**5), F(1, 10**7)])
@pytest.mark.parametrize("dummies", [7, 1000, 10**6])
def test_theorem_3_is_rounded_up(beta, dummies):
    outputs = int(1 / beta)
    with mp.workdps(50):
        spread = mp.mpf(beta.numerator) / beta.denominator
        for budget in (F(1, 1000), F(1, 3), F(2)):
            rate = mp.mpf(budget.numerator) / budget.denominator
            alpha = (dummies * mp.expm1(rate) - spread * outputs) / (outputs * (1 + mp.exp(rate)))
            printed = min(1, 2 * mp.exp(-2 * alpha**2 / (dummies * spread**2))) if alpha > 0 else 1
            computed = theorem3_delta(dummies, outputs, beta, budget)
            assert printed <= computed <= printed * (1 + mp.mpf(10) ** -9) or printed < 1e-300


def test_theorem_3_is_printed_beside_the_exact_delta():
    channel = Channel.of([0, 1, 2, 3], [0, 1, 2, 3], [[F(int(x == y)) for y in range(4)] for x in range(4)])
    p, q = {x: F(4 - x, 10) for x in range(4)}, {x: F(1 + x, 10) for x in range(4)}
    lines = sums_of(Sender(channel, 4), p, q, F(1, 2), F(1, 10))
    line = lines["Theorem 3, 4 dummies"]
    assert float(line.printed.delta) == pytest.approx(theorem3_delta(4, 4, F(4, 10), F(1, 2)))
    assert float(line.holds.delta) == pytest.approx(tf.local.Tupling(4).delta(p.values(), q.values(), F(1, 2)))
    assert lines["Theorem 1, by values"].printed is None
    assert lines["Theorem 1, by values"].cells[1] == "no bound"
    assert not lines[SAME].is_exact  # 1024 tuples are too many to list in pairs


def test_rows_that_may_depend_on_each_other_tell_what_their_values_tell():
    channel = Channel.of([0, 1], [0, 1], [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    half = {0: F(1, 2), 1: F(1, 2)}
    line = sums_of(Sender(channel), half, half, rows_independent=False)[TWO]
    assert float(line.holds.epsilon) == pytest.approx(2 * math.log(3))
    assert not line.is_exact
    assert not line.is_too_little


def test_a_class_is_counted_over_all_of_it_and_its_delta_is_a_bound():
    rows = [("a", 0)] * 60 + [("a", 1)] * 40 + [("b", 0)] * 40 + [("b", 1)] * 60
    from takifugu.model.beliefs.counted_populations import samples_of

    people = populations_of(tf.FromPopulations.counted(samples_of(rows, 2), [0, 1], confidence=0.9, source="made up"))
    channel = Channel.of([0, 1], [0, 1], [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    pure = {line.words: line for line in printed_sums(Sender(channel), people, F(1), F(0))}
    with_delta = {line.words: line for line in printed_sums(Sender(channel), people, F(1, 8), F(1, 10))}
    assert pure[SAME].is_exact
    assert "Theorem 2, by the diameter" in pure
    assert not any(with_delta[words].is_exact for words in (SAME, TWO, MADE))
    p, q = {0: F(6, 10), 1: F(4, 10)}, {0: F(4, 10), 1: F(6, 10)}
    assert pure[MADE].holds.epsilon > sums_of(Sender(channel), p, q)[MADE].holds.epsilon
