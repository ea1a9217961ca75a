"""Every public value: it equals its copies and what is read back of it through JSON, hashes alike, and shows itself."""

import copy
import json
import math
import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from inspect import isclass
from typing import Any

import pytest

import takifugu as tf
from takifugu.calibration.alternatives import Comparisons
from takifugu.core.errors import InputError
from takifugu.model import beliefs, queries, secrets
from takifugu.numbers import densities

MATRIX = [[0.9, 0.1], [0.4, 0.6]]
CHAIN = tf.MarkovChain(MATRIX, length=6)
CODES = {0: 0, 1: 1}
TABLE = tf.JointTable([("a", 0), ("b", 1)], [0.5, 0.5], names=["group", "ill"])
COLUMNS = {"p": {0: {0: 0.5, 1: 0.5}, 1: {0: 0.2, 1: 0.8}}}
NORMALS = (tf.Normal(0, 1), tf.NormalMixture([0.5, 0.5], [0, 1], [1, 1]), tf.Truncated(tf.Normal(0, 1), -1, 1))
CURVES = (tf.numbers.Bates(3, 0, 1), tf.numbers.PiecewiseLinear([0, 1, 2], [0, 1, 0]))
BELIEFS = (
    CHAIN, tf.PeriodicChain([MATRIX, [[0.5, 0.5]] * 2], length=6), tf.BinaryChains(0.3, 6),
    tf.IntervalMarkovChain([[0.8, 0.05], [0.3, 0.5]], [[0.95, 0.2], [0.5, 0.7]], length=6),
    tf.ReversibleChains(0.2, 0.5, 6, ["a", "b"]), tf.IndependentPieces(CHAIN, [6, 3]), TABLE,
    tf.IndependentUsers([{"a": 0.5, "b": 0.5}] * 4),
    tf.CliqueInfection([["ann", "bob"], ["cem"]], {1: [0.9, 0.1], 2: [0.8, 0.1, 0.1]}),
    tf.hidden_markov_chain(MATRIX, MATRIX, 3, states=["well", "ill"], observations=["quiet", "cough"]),
    tf.Density("size", "mean", {0: NORMALS[0], 1: NORMALS[2]}), tf.AutoregressiveNormal(0.8, 1, 20),
    tf.MultivariateNormal([0, 0], [[1, 0.5], [0.5, 1]], ["a", "b"], 10), tf.Records(TABLE, 10),
    tf.MultivariateNormal.fit({"x": [1, 2, 3, 4], "y": [1, 3, 2, 4]}, source="public", confidence=0.99),
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
FRAMEWORKS = (
    tf.Pufferfish(tf.every_entry(), CHAIN),
    tf.distribution_pair(tf.numbers.Pmf([0, 1], [0.5, 0.5]), tf.numbers.Pmf([1], [1])),
)  # fmt: skip
CALIBRATIONS = (tf.calibrate(FRAMEWORKS[0], tf.Count(1), 1), tf.calibrate(FRAMEWORKS[1], tf.Identity(), 1))
FLOATS = tf.numbers.Pmf([k / 10 for k in range(7)], [1 / 7] * 7)
COMPARED = tf.compare(FRAMEWORKS[0], tf.Count(1), 1, "1e-6")
#: Results: each is read back by its own class.
RESULTS = (
    *FRAMEWORKS, *CALIBRATIONS, CALIBRATIONS[0].guarantee, CALIBRATIONS[0].witness,
    *tf.cost(FRAMEWORKS[0], tf.Count(1), [1, "1/3"]), COMPARED,
    tf.exact_loss(CALIBRATIONS[0]),
    tf.audit.Audit(math.inf, "a against b", ("b", (1, "c"), 2), 0.0, math.inf, "a class"),
    tf.audit.LowerBound(0.9, 0.999, 2.0, is_below=False, runs=1000), tf.NamedFunction("largest of a test", 1, max),
    tf.local.Tupling(3), tf.local.Tupling(3, ["1/3", "2/3"]), tf.local.Tupling(1, tf.numbers.Pmf([0, 1], [0.5, 0.5])),
    tf.numbers.Pmf([0, Fraction(1, 3)], [Fraction(1, 7), Fraction(6, 7)]), FLOATS, FLOATS.convolve(FLOATS),
)  # fmt: skip
#: Those without a JSON form: protocols, an error, and what a ledger or a table on a disk stands behind.
NO_VALUES = {"Belief", "Ledger", "Mechanism", "Query", "Release", "Session", "TakifuguError"}
READ: tuple[tuple[Sequence[Any], Callable[[Any], object]], ...] = (
    (BELIEFS, beliefs.from_dict), (QUERIES, queries.from_dict), (SECRETS, secrets.from_dict),
    ((*NORMALS, *CURVES), densities.from_dict),
)  # fmt: skip
WRITTEN = [(value, read) for values, read in READ for value in values]
WRITTEN += [(value, type(value).from_dict) for value in RESULTS]
VALUES = [value for value, _ in WRITTEN]


def test_every_public_type_is_here() -> None:
    examined, public = {type(value).__name__ for value in VALUES}, set[str]()
    for room in (tf, tf.audit, tf.local, tf.numbers):
        public |= {name for name in room.__all__ if isclass(getattr(room, name))}
    assert public - examined == NO_VALUES


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_equals_its_copies_and_shows_itself_in_three_lines(value: Any) -> None:
    for same in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert (same == value, hash(same) == hash(value)) == (True, True)
    assert len(repr(value)) <= 240
    assert repr(value).count("\n") < 3


@pytest.mark.parametrize(("value", "read"), WRITTEN, ids=lambda part: type(part).__name__)
def test_a_value_is_read_back_through_json(value: Any, read: Any) -> None:
    text = json.dumps(value.to_dict())
    assert read(json.loads(text)) == value
    assert json.dumps(read(json.loads(text)).to_dict()) == text
    if value in RESULTS:
        json.dumps(value.to_dict(), allow_nan=False)


def changed(data: Any) -> Iterator[Any]:
    """Yield plain data with one part at a time left out, added, or replaced by one of another type."""
    yield from (wrong for wrong in (None, True, -1.5, "", "x", [], [None], {}, {"kind": "x"}) if wrong != data)
    if isinstance(data, dict):
        yield {**data, "odd": 1}
        for key in data:
            yield {name: part for name, part in data.items() if name != key}
            yield from ({**data, key: other} for other in changed(data[key]))
    if isinstance(data, list):
        yield [*data, *data[:1]]
        for part in data[:1]:
            yield data[1:]
            yield from ([other, *data[1:]] for other in changed(part))


@pytest.mark.parametrize("value", RESULTS, ids=lambda value: type(value).__name__)
def test_what_was_not_written_so_is_refused_or_is_another_value(value: Any) -> None:
    for data in changed(value.to_dict()):
        with suppress(tf.TakifuguError):  # and no other error: no file of a stranger ends in a traceback
            type(value).from_dict(data).to_dict()


@pytest.mark.parametrize(("path", "part", "place", "words"), [
    (("rows", 0, "scale"), "x", "rows[0].scale", "this is 'x': it must be a number; write for example 0.5"),
    (("rows", 1), 3, "rows[1]", "this is 3: it must be an object"),
    (("epsilon",), 0.5, "epsilon", "this is 0.5: it must be a fraction, which is a text; write for example \"1/3\""),
    (("epsilon",), "1/0", "epsilon", "this is '1/0': it must be a fraction"),
    (("rows",), {}, "rows", "this is {}: it must be a list"),
    (("if_belief_off", 0, "epsilon_overall"), True, "if_belief_off[0].epsilon_overall", "this is True"),
    (("error_word",), "", "error_word", "has no 'error_word': leave it out"),
])  # fmt: skip
def test_a_wrong_part_is_named_with_its_place_and_a_fix(path: Any, part: Any, place: str, words: str) -> None:
    data = COMPARED.to_dict()
    outer = data
    for step in path[:-1]:
        outer = outer[step]
    outer[path[-1]] = part
    with pytest.raises(InputError, match=re.escape(words)) as error:
        Comparisons.from_dict(data)
    assert error.value.place == place


def test_a_calibration_that_was_saved_before_reads_what_it_hides_in_its_framework() -> None:
    for calibration in CALIBRATIONS:
        data = calibration.to_dict()
        del data["guarantee"]["hides_facts"], data["allow_zero_noise"]
        assert tf.Calibration.from_dict(data) == calibration


def test_a_function_is_found_where_it_was_defined_and_nowhere_else() -> None:
    with pytest.raises(InputError, match=r"'least of a test', version 1, is defined by nobody: define it"):
        tf.NamedFunction.from_dict({"name": "least of a test", "version": 1})
