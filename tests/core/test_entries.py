"""Entries have names: whatever order a belief keeps them in, a query, a secret and data mean the same ones."""

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import pytest
from tests.support.answers import true_answer

import takifugu as tf
from takifugu.calibration import Calibration
from takifugu.core import entries
from takifugu.core.errors import InputError
from takifugu.model import beliefs, queries

BITS = [0, 1]
COPY = [[0.99, 0.01], [0.01, 0.99]]


def coin(name: str) -> tuple[Any, ...]:
    return (name, BITS, [], [0.5, 0.5])


def network(*names: str, copies: tuple[tuple[str, str], ...] = ()) -> tf.BayesianNetwork:
    """Return fair bits, listed in this order; each of `copies` (child, parent) copies its parent nearly always."""
    above = dict(copies)
    return tf.BayesianNetwork([(n, BITS, [above[n]], COPY) if n in above else coin(n) for n in names])


def table(*names: str) -> tf.JointTable:
    rows = list(itertools.product(BITS, repeat=len(names)))
    return tf.JointTable(rows, [Fraction(1, len(rows))] * len(rows), names=names)


def users(*names: str) -> tf.IndependentUsers:
    return tf.IndependentUsers([{0: 0.5, 1: 0.5}] * len(names), names=names)


def cliques(*names: str) -> Any:
    return tf.CliqueInfection([[name] for name in names], {1: [0.5, 0.5]})


NAMED = [network, table, users, cliques]


@pytest.mark.parametrize("belief", NAMED)
@pytest.mark.parametrize("order", [("hiv", "flu", "age"), ("age", "hiv", "flu")])
def test_names_mean_the_same_entry_in_every_order(belief: Any, order: tuple[str, ...]) -> None:
    made = belief(*order)
    record = {"hiv": 1, "flu": 0, "age": 1}
    framework = tf.Pufferfish(tf.every_entry(), made)
    for name in record:
        calibration = tf.calibrate(framework, tf.Count(1, entries=[name]), 1, mechanism="group-dp")
        assert true_answer(calibration, record) == (record[name],)
        numbered = tf.calibrate(framework, tf.Count(1, entries=[order.index(name)]), 1, mechanism="group-dp")
        assert true_answer(numbered, [record[n] for n in order]) == (record[name],)
        weights = [int(n == name) for n in order]
        weighted = tf.calibrate(framework, tf.Linear(weights), 1, mechanism="group-dp")
        assert true_answer(weighted, record) == (record[name],)
        (place,) = tf.entry(order.index(name), 0, 1).family(made).entries
        assert made.names[place] == name


def test_a_number_counts_nodes_as_they_were_listed() -> None:
    """Networks keep parents first; whoever lists the child first means the child by 0 (also after a file)."""
    net = network("wet", "rain", copies=(("wet", "rain"),))
    assert (net.names, net.listed) == (("rain", "wet"), ("wet", "rain"))
    again = beliefs.from_dict(json.loads(json.dumps(beliefs.to_dict(net))))
    assert tf.BayesianNetwork.from_dict(net.to_dict()).listed == net.listed
    for one in (net, again):
        assert one.names[tf.entry(0, 0, 1).family(one).entries[0]] == "wet"
        assert tf.Linear([1, 0]).resolve(one).weights.tolist() == [0, 1]
        framework = tf.Pufferfish(tf.every_entry(), one)
        calibration = tf.calibrate(framework, tf.Count(1, entries=[0]), 1, mechanism="group-dp")
        assert true_answer(calibration, [1, 0]) == true_answer(calibration, {"wet": 1, "rain": 0}) == (1,)


def test_names_of_a_query_survive_json() -> None:
    for query in (tf.Count(1, entries=["hiv", 2]), tf.Sum(entries=["hiv"]), tf.Histogram(entries="hiv")):
        assert queries.from_dict(json.loads(json.dumps(query.to_dict()))) == query
    assert tf.Count(1, entries=["hiv"]).describe().endswith("of 'hiv' alone")
    with pytest.raises(InputError, match=r"no node 'hvi': write one of .*; did you mean 'hiv'"):
        tf.Count(1, entries=["hvi"]).resolve(network("hiv", "flu"))
    with pytest.raises(InputError, match="entries are counted from 0, not named"):
        tf.Count(1, entries=["hiv"]).resolve(tf.MarkovChain(COPY, 3))
    assert tf.Mean(entries=["hiv", 0]).resolve(network("hiv", "flu")).grid == 1


def loss_of_a_count(calibration: Calibration, n: int) -> float:
    """The true loss about "a" of counting n coins, each nearly always a copy of it."""

    def law(p: float) -> list[float]:
        return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]

    def density(y: int, a: int) -> float:
        each = enumerate(law(0.99 if a else 0.01))
        return sum(mass * math.exp(-abs(y - k) / calibration.scale) for k, mass in each)

    return max(abs(math.log(density(y, 0) / density(y, 1))) for y in range(-3, n + 4))


def test_beliefs_with_other_arcs_are_read_by_name() -> None:
    """The same list of nodes with other arcs is kept in another order; the loss was 4.88 at epsilon 1."""
    b, c = [f"b{i}" for i in range(5)], [f"c{i}" for i in range(5)]
    one = network("a", *b, *c)
    names = ["a", *(name for pair in zip(b, c, strict=True) for name in pair)]
    two = network("a", *b, *c, copies=tuple(zip(b, c, strict=True)))
    three = network("a", *b, *c, copies=tuple((name, "a") for name in b))
    assert one.names[1:6] != two.names[1:6]
    framework = tf.Pufferfish(tf.every_entry(), [one, two, three])
    assert {entries.listed(belief) for belief in framework.beliefs} == {one.names}
    chosen = [framework.beliefs[1].names[i] for i in entries.positions(framework.beliefs[1], range(1, 6))]
    assert chosen == b
    assert sorted(names) == sorted(two.names)
    query = tf.Count(1, entries=range(1, 6))
    calibration = tf.calibrate(framework, query, 1, mechanism="laplace-exact", allow_zero_noise=True)
    assert loss_of_a_count(calibration, 5) <= 1 + 1e-9
    half = tf.with_scale(framework, calibration.query, calibration.scale / 2)
    assert loss_of_a_count(half, 5) > 1.5  # the check can fail


@pytest.mark.parametrize("belief", NAMED)
def test_beliefs_are_listed_as_the_first_one(belief: Any) -> None:
    framework = tf.Pufferfish(tf.entry(0, 0, 1), [belief("hiv", "flu"), belief("flu", "hiv")])
    for one in framework.beliefs:
        (place,) = framework.secrets[0].family(one).entries
        assert one.names[place] == "hiv"
        assert tf.Linear([2, 1]).resolve(one).weights[place] == 2
    again = tf.Framework.from_dict(json.loads(json.dumps(framework.to_dict())))
    assert again.fingerprint() == framework.fingerprint()
    assert [entries.listed(one) for one in again.beliefs] == [("hiv", "flu")] * 2


def test_beliefs_of_several_kinds_are_read_by_name() -> None:
    framework = tf.Pufferfish(tf.every_entry(), [table("x", "y"), network("y", "x", copies=(("y", "x"),))])
    calibration = tf.calibrate(framework, tf.Count(1, entries=["y"]), 1, mechanism="group-dp")
    assert true_answer(calibration, {"y": 1, "x": 0}) == true_answer(calibration, [0, 1]) == (1,)


@pytest.mark.parametrize(("one", "two", "words"), [
    (network("hiv", "flu"), network("hiv", "age"), r"name different entries \(age, flu\)"),
    (table("hiv", "flu"), table("hiv"), "2 and 1 entries"),
    (table("hiv"), tf.JointTable([(0,), (2,)], [0.5, 0.5], names=["hiv"]), r"'hiv' can take \(1, 2\)"),
    (users("ann"), tf.IndependentUsers([{0: 1}], 0.5, "removed", names=["ann"]), r"'ann' can take \(1, absent\)"),
    (tf.MarkovChain(COPY, 3), tf.MarkovChain(COPY, 4), "3 and 4 entries"),
])  # fmt: skip
def test_beliefs_that_disagree_about_the_entries_are_no_framework(one: Any, two: Any, words: str) -> None:
    """The length of beliefs[0] alone was checked, and beliefs[1] needed more noise."""
    with pytest.raises(InputError, match=words):
        tf.Pufferfish(tf.every_entry(), [one, two])


def test_the_witness_names_what_has_a_name() -> None:
    net = network("wet", "rain", copies=(("wet", "rain"),))
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), net), tf.Count(1), 1, mechanism="laplace-exact")
    assert "'rain' = " in calibration.witness.comparison or "'wet' = " in calibration.witness.comparison


def test_a_secret_is_looked_for_in_the_entry_that_its_number_means() -> None:
    """Entry 1 is "b" for both, which is certain; under the second alone, as it was listed, it would be the coin."""
    sure, coin = ("b", [0, 1], [], [0.0, 1.0]), ("a", [0, 1], [], [0.5, 0.5])
    with pytest.raises(tf.errors.InputError, match="probability zero under every belief"):
        tf.Pufferfish(tf.entry(1, 0, 1), [tf.BayesianNetwork([coin, sure]), tf.BayesianNetwork([sure, coin])])


@pytest.mark.parametrize("belief", [network("hiv", "flu"), tf.MarkovChain(COPY, 2)])
def test_a_number_is_one_of_the_entries(belief: Any) -> None:
    assert entries.positions(belief, [1, 0]) == (1, 0)
    assert entries.position(belief, 1) == 1
    for wrong in (-1, 2):
        with pytest.raises(InputError, match=rf"the query reads entry {wrong}, and the belief has entries 0 to 1"):
            entries.positions(belief, [0, wrong])
    with pytest.raises(InputError, match="the secret is about node 2, and the belief has nodes 0 to 1") as caught:
        entries.position(belief, 2, "the secret is about node", "nodes", "node")
    assert caught.value.where == ("node",)
    with pytest.raises(InputError) as caught:
        entries.positions(belief, ["other"], key="columns")
    assert caught.value.where[0] == "columns"
    with pytest.raises(InputError):  # in Python True == 1; whoever writes it means something else
        entries.positions(belief, [True])


def test_a_truth_value_is_a_name_of_an_entry() -> None:
    named = tf.JointTable([(0, 1), (1, 1)], [0.5, 0.5], names=[True, False])
    assert entries.positions(named, [True, False, 0]) == (0, 1, 0)


def test_values_in_the_listed_order_are_arranged_in_the_beliefs_own() -> None:
    net = entries.relisted(network("a", "b", "c"), ["c", "a", "b"])
    assert entries.order(net) == (2, 0, 1)
    assert entries.arranged(net, ["C", "A", "B"]) == ["A", "B", "C"]
    with pytest.raises(ValueError, match="zip"):
        entries.arranged(net, ["C", "A", "B", "D"])
    same = network("a", "b")
    assert entries.order(same) is None
    given = (1, 2)
    assert entries.arranged(same, given) == [1, 2]
    assert entries.arranged(tf.MarkovChain(COPY, 2), given) == [1, 2]


def test_a_belief_is_relisted_by_its_own_names_only() -> None:
    net = network("a", "b")
    assert entries.relisted(net, ["a", "b"]) is net
    assert entries.listed(net) == ("a", "b")
    again = entries.relisted(net, ["b", "a"])
    assert (entries.listed(again), entries.listed(net), again.names) == (("b", "a"), ("a", "b"), net.names)
    for belief, names, words in (
        *((net, wrong, "two beliefs name different entries") for wrong in (["a"], ["a", "c"], [*"abb"], ["a", "a"])),
        (tf.MarkovChain(COPY, 2), ["a", "b"], r"different entries \(a, b\)"),
        (network(*"xyz"), [*"abcdef"], r"different entries \(a, b, c, d, e\)"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            entries.relisted(belief, names)


def test_an_entry_is_called_by_its_name_or_counted() -> None:
    chain, net = tf.MarkovChain(COPY, 3), network("a", "b")
    assert [entries.called(chain, *place) for place in ((2,), (2, 1), (0, 1))] == ["step 2", "step 3", "step 1"]
    assert [entries.called(net, 1), entries.called(net, 1, 1)] == ["'b'", "'b'"]


def test_a_query_is_resolved_again_for_entries_that_are_listed_in_another_order() -> None:
    """Also for a belief listed anew after one that is gone."""
    table, query = tf.JointTable([(0, 0), (1, 1)], [0.5, 0.5], names=["hiv", "flu"]), tf.Linear([1, 0])
    other = entries.relisted(table, ["flu", "hiv"])
    for belief, weights in ((table, [1, 0]), (other, [0, 1]), (table, [1, 0])):
        assert queries.resolved(query, belief).weights.tolist() == weights
    count = tf.Count(1, entries=[0])
    for _ in range(20):  # the memory of what is gone is used again
        table = tf.JointTable([(0, 1, 0), (1, 0, 0), (1, 1, 1)], [0.5, 0.25, 0.25], names=["a", "b", "c"])
        queries.resolved(count, table)
        other = entries.relisted(table, ["b", "c", "a"])
        del table
        third = entries.relisted(other, ["c", "a", "b"])
        assert queries.resolved(count, third).weights.tolist() == [0, 0, 1]
