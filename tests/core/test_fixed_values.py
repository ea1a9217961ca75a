"""What a value holds is nobody's to write into: noise is computed for it, and a certificate names it."""

import copy
import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.model.queries.additive import Additive

CODES = {0: 0, 1: 1}
CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=6)
QUERIES = (
    tf.Sum(codes=CODES), tf.Mean(codes=CODES), tf.Linear([1, 2, 3, 4, 5, 6], codes=CODES), tf.Histogram(),
    tf.Count([1]),
    tf.Median(codes=CODES), tf.Quantile(0.5, codes=CODES), tf.TopK(1), tf.CountAbove([0], codes=CODES),
    tf.Identity(codes=CODES),
)  # fmt: skip
BELIEFS = (
    CHAIN, tf.PeriodicChain([[[0.9, 0.1], [0.4, 0.6]], [[0.5, 0.5], [0.5, 0.5]]], length=6),
    tf.ChainRegion([[0.8, 0.05], [0.3, 0.5]], [[0.95, 0.2], [0.5, 0.7]], length=6), tf.IndependentPieces(CHAIN, [6, 3]),
    tf.JointTable([("a", 0), ("b", 1)], [0.5, 0.5], names=["group", "ill"]),
    tf.IndependentUsers([{"a": 0.5, "b": 0.5}] * 4),
    tf.CliqueInfection([["ann", "bob"], ["cem"]], {1: [0.9, 0.1], 2: [0.8, 0.1, 0.1]}),
    tf.BayesianNetwork([("rain", [0, 1], [], [0.5, 0.5])]),
)  # fmt: skip
CALIBRATIONS = tuple(tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), query, 1) for query in QUERIES[:5])
WRITES: tuple[Callable[[Any], object], ...] = (
    lambda codes: codes.update({0: 9}), lambda codes: codes.pop(0), lambda codes: codes.clear(),
    lambda codes: codes.setdefault(7, 1), lambda codes: codes.popitem(), lambda codes: codes.__setitem__(0, 9),
    lambda codes: codes.__delitem__(0), lambda codes: codes.__ior__({0: 9}),
)  # fmt: skip


#: What is computed when it is first read, and kept.
COMPUTED_ONCE = (
    "supports", "late", "reachable", "ends", "indices", "letters_of", "likeness", "lengths_of_pieces", "kinds",
    "changes", "starts", "lengths", "step_matrices",
)  # fmt: skip


def writable(value: object, where: str) -> Iterator[str]:
    """Yield the public parts of a value that somebody can write into."""
    is_array = isinstance(value, np.ndarray)
    if (is_array and value.flags.writeable) or type(value) in (dict, list, set):  # type: ignore[union-attr]
        yield where
    parts: dict[object, object] = {}
    if isinstance(value, tuple):
        parts = dict(enumerate(value))
    elif type(value).__module__.startswith("takifugu."):
        for name in COMPUTED_ONCE:
            getattr(value, name, None)
        parts = {name: part for name, part in getattr(value, "__dict__", {}).items() if not name.startswith("_")}
    for name, part in parts.items():
        yield from writable(part, f"{where}.{name}")


@pytest.mark.parametrize("value", [*QUERIES, *BELIEFS, *CALIBRATIONS], ids=lambda value: type(value).__name__)
def test_nobody_can_write_into_a_value(value: Any) -> None:
    if value in QUERIES[:5]:
        assert [*writable(value.resolve(CHAIN), "answer")] == []
    assert [*writable(value, type(value).__name__)] == []


@pytest.mark.parametrize("write", WRITES)
def test_codes_are_never_changed(write: Callable[[Any], object]) -> None:
    """A certificate would name another code than was added up."""
    query = tf.Linear([1, 2], codes=CODES)
    for same in (query, copy.copy(query), copy.deepcopy(query), pickle.loads(pickle.dumps(query))):
        with pytest.raises(TypeError, match="a value is never changed"):
            write(same.codes)
        assert same == query
        assert same.codes == CODES == dict(same.codes or {})


def test_an_answer_keeps_nothing_that_its_maker_changes() -> None:
    table, weights = np.array([[0], [1]]), np.array([1, 2, 3])
    answer = Additive(Fraction(1), ("sum",), (table,), weights)
    table[1], weights[2] = 9, 9
    assert answer.evaluate(np.array([1, 1, 1])) == (6,)
    assert answer.entry_changes().tolist() == [1, 2, 3]
