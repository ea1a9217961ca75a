"""Every public value: it equals its copies and what is read back of it through JSON, hashes alike, and shows itself."""

import copy
import json
import pickle
from collections.abc import Callable, Sequence
from inspect import isclass
from typing import Any

import pytest

import takifugu as tf
from takifugu.model import beliefs, frameworks, queries, secrets
from takifugu.numbers import densities

MATRIX = [[0.9, 0.1], [0.4, 0.6]]
CHAIN = tf.MarkovChain(MATRIX, length=6)
CODES = {0: 0, 1: 1}
TABLE = tf.JointTable([("a", 0), ("b", 1)], [0.5, 0.5], names=["group", "ill"])
COLUMNS = {"p": {0: {0: 0.5, 1: 0.5}, 1: {0: 0.2, 1: 0.8}}}
NORMALS = (tf.Normal(0, 1), tf.NormalMixture([0.5, 0.5], [0, 1], [1, 1]), tf.Truncated(tf.Normal(0, 1), -1, 1))
BELIEFS = (
    CHAIN, tf.PeriodicChain([MATRIX, [[0.5, 0.5]] * 2], length=6), tf.BinaryChains(0.3, 6),
    tf.IntervalMarkovChain([[0.8, 0.05], [0.3, 0.5]], [[0.95, 0.2], [0.5, 0.7]], length=6),
    tf.ReversibleChains(0.2, 0.5, 6, ["a", "b"]), tf.IndependentPieces(CHAIN, [6, 3]), TABLE,
    tf.IndependentUsers([{"a": 0.5, "b": 0.5}] * 4),
    tf.CliqueInfection([["ann", "bob"], ["cem"]], {1: [0.9, 0.1], 2: [0.8, 0.1, 0.1]}),
    tf.hidden_markov_chain(MATRIX, MATRIX, 3, states=["well", "ill"], observations=["quiet", "cough"]),
    tf.Density("size", "mean", {0: NORMALS[0], 1: NORMALS[2]}), tf.AutoregressiveNormal(0.8, 1, 20),
    tf.MultivariateNormal([0, 0], [[1, 0.5], [0.5, 1]], ["a", "b"], 10), tf.Records(TABLE, 10),
    tf.NormalRegion.fit({"x": [1, 2, 3, 4], "y": [1, 3, 2, 4]}, source="public"),
    tf.FromPopulations({"a": {"x": 0.5, "y": 0.5}, "b": {"x": 0.2, "y": 0.8}}),
    tf.Parameters(tf.JointTable([(0,), (1,)], [0.5, 0.5], names=["p"]), COLUMNS, 10),
    tf.CountedParameters([(0,), (1,)], [50, 50], ["p"], COLUMNS, 10, source="public"),
)  # fmt: skip
QUERIES = (
    tf.Sum(codes=CODES), tf.Mean(codes=CODES), tf.Linear([1, 2, 3, 4, 5, 6], codes=CODES), tf.Histogram(),
    tf.Count([1]), tf.Quantile("0.25", codes=CODES), tf.TopK(2), tf.CountAbove([0], codes=CODES),
    tf.Identity(codes=CODES), tf.CountRows({"group": "a"}), tf.CrossTable(["group", "ill"]),
    tf.GroupBy(tf.Count("a"), [("night", range(6))]), tf.JointQuery([tf.Count(0), tf.Count(1)]), tf.LocalValue(),
    tf.Statistic("spread of a test", 1, ["a"], None, 1, 1), tf.Visitors(), tf.AtMost(tf.Count(1), 3),
)  # fmt: skip
SECRETS = (
    tf.every_entry(), tf.entry(2, 0, 1), tf.presence(), tf.every_run(2), tf.attribute("ill", 0, 1),
    tf.population_membership(), tf.dataset_property("group", "share", of="a"), tf.distribution_parameter("group"),
)  # fmt: skip
FRAMEWORKS = (tf.Pufferfish(tf.every_entry(), CHAIN),)
CALIBRATIONS = (tf.calibrate(FRAMEWORKS[0], tf.Count(1), 1),)
#: What is written in what it belongs to, if at all.
PARTS = (
    CALIBRATIONS[0].guarantee, *tf.cost(FRAMEWORKS[0], tf.Count(1), [1]), tf.NamedFunction("largest of a test", 1, max),
    tf.compare(FRAMEWORKS[0], tf.Count(1), 1, "1e-6"),
)  # fmt: skip
#: Those that nobody makes: protocols, and what a ledger or a table on a disk stands behind.
NO_VALUES = {"Belief", "Ledger", "Mechanism", "Query", "Release", "Session", "TakifuguError"}
READ: tuple[tuple[Sequence[Any], Callable[[Any], object]], ...] = (
    (BELIEFS, beliefs.from_dict), (QUERIES, queries.from_dict), (SECRETS, secrets.from_dict),
    (NORMALS, densities.from_dict), (FRAMEWORKS, frameworks.from_dict), (CALIBRATIONS, tf.Calibration.from_dict),
)  # fmt: skip
WRITTEN = [(value, read) for values, read in READ for value in values]


def test_every_public_type_is_here() -> None:
    examined = {type(value).__name__ for value in (*(value for value, _ in WRITTEN), *PARTS)}
    public = {name for name in tf.__all__ if isclass(getattr(tf, name))}
    assert public - examined <= NO_VALUES


@pytest.mark.parametrize("value", [*(value for value, _ in WRITTEN), *PARTS], ids=lambda value: type(value).__name__)
def test_a_value_equals_its_copies_and_shows_itself_in_three_lines(value: Any) -> None:
    for same in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert (same == value, hash(same) == hash(value)) == (True, True)
    assert len(repr(value)) <= 240
    assert repr(value).count("\n") < 3


@pytest.mark.parametrize(("value", "read"), WRITTEN, ids=lambda part: type(part).__name__)
def test_a_value_is_read_back_through_json(value: Any, read: Any) -> None:
    assert read(json.loads(json.dumps(value.to_dict()))) == value
