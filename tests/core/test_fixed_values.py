"""Values: nobody writes into one, what is kept with it is in none of its copies, and its plain form has its fields."""

import copy
import gc
import json
import pickle
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tf
from takifugu.core.cache import MOST, cached
from takifugu.core.errors import InputError
from takifugu.core.plain import LEFT_OUT, VALUES, PlainForm, form, indented, set_fields, to_plain, writes_all
from takifugu.influence.quilts.network.influence import influences_of
from takifugu.model.queries.answer import Additive

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
    tf.IntervalMarkovChain([[0.8, 0.05], [0.3, 0.5]], [[0.95, 0.2], [0.5, 0.7]], length=6),
    tf.IndependentPieces(CHAIN, [6, 3]),
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


@pytest.mark.parametrize("value", [
    *QUERIES, *BELIEFS, *CALIBRATIONS, CALIBRATIONS[0].guarantee, CALIBRATIONS[0].framework,
    tf.compare(CALIBRATIONS[0].framework, tf.Count(1), 1), tf.IndependentPieces(CHAIN, [6] * 5000),
    tf.PeriodicChain([[[0.9, 0.1], [0.4, 0.6]]] * 24, length=100), tf.Histogram(entries=range(0, 5000, 7)),
    tf.BayesianNetwork([(f"v{number}", [0, 1], [], [0.5, 0.5]) for number in range(100)]),
    tf.Pufferfish(tf.every_entry(), [CHAIN, *(tf.MarkovChain([[p, 1 - p]] * 2, length=6) for p in (0.1, 0.2, 0.3))]),
], ids=lambda value: type(value).__name__)  # fmt: skip
def test_a_value_shows_itself_in_three_lines(value: Any) -> None:
    assert len(repr(value)) <= 240
    assert "\n" not in repr(value)
    assert type(value).__name__ in repr(value)


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


NETWORK = [("a", [0, 1], [], [0.5, 0.5]), ("b", [0, 1], ["a"], [[0.75, 0.25], [0.25, 0.75]])]


def test_a_copy_keeps_its_own() -> None:
    network = tf.BayesianNetwork(NETWORK)
    influences_of(network)
    other = copy.copy(network)
    del network
    gc.collect(1)  # what was made just now
    assert influences_of(other).network is other


def test_threads_keep_things_at_once() -> None:
    owner, errors = SimpleNamespace(), []

    def work(first: int) -> None:
        try:
            for key in range(first, first + 3_000):
                assert cached(owner, key % 97, lambda key=key: key % 97) == key % 97
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(13 * number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(owner._cached) <= MOST + len(threads)


class Side(StrEnum):
    LEFT = "left"


@dataclass(frozen=True)
class Part(PlainForm):
    share: Fraction = field(metadata=form(read=Fraction))


@dataclass(frozen=True)
class Whole(PlainForm, kind="whole"):
    parts: tuple[Part, ...] = field(metadata=form(read=lambda parts: tuple(map(Part.from_dict, parts))))
    states: tuple[object, ...] | None = field(default=None, metadata=VALUES)
    side: Side = field(default=Side.LEFT, metadata=form(read=Side))
    note: str = field(default="", metadata=LEFT_OUT)
    size: int = field(default=1, metadata=form(key="size"))


@dataclass(frozen=True)
class Hidden(PlainForm, kind="hidden"):
    name: str
    secret: int = field(default=0, metadata=form(is_private=True))


WHOLE = Whole((Part(Fraction(1, 3)), Part(Fraction(2, 3))), ("a", 2), note="odd")


def test_a_form_reads_back_through_json() -> None:
    data = WHOLE.to_dict()
    assert data == {
        "kind": "whole", "parts": [{"share": "1/3"}, {"share": "2/3"}], "states": ["a", 2], "side": "left",
        "note": "odd", "size": 1,
    }  # fmt: skip
    again = Whole.from_dict(json.loads(json.dumps(data)))
    assert again.parts == WHOLE.parts
    assert (again.side, again.note) == (Side.LEFT, "odd")


def test_what_is_written_and_read() -> None:
    """None only where the type allows it, no field that has its default, and never a private one."""
    assert "note" not in Whole((), None).to_dict()
    assert Hidden("x", 3).to_dict() == {"kind": "hidden", "name": "x"}
    assert Whole((), None).to_dict()["states"] is None
    assert Whole.from_dict({"parts": [], "states": None}).states is None
    with pytest.raises(TypeError):
        Whole.from_dict({"parts": None})
    with pytest.raises(InputError) as caught:
        Whole.from_dict({"kind": "whole"})
    assert "parts" in caught.value.what


@pytest.mark.parametrize(("kind", "does"), [(Whole, True), (Part, True), (Hidden, False), (int, False)])
def test_which_forms_write_everything(kind: type, does: bool) -> None:
    assert writes_all(kind) is does


def test_plain_values() -> None:
    values = (Fraction(1, 4), [Side.LEFT], np.array([[1.5, 2.0]]), None)
    assert to_plain(values) == ["0.25", ["left"], [[1.5, 2.0]], None]
    part = Part(Fraction(1))
    set_fields(part, share=Fraction(2))  # while a value is made
    assert part.share == 2


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
JSON = st.recursive(LEAVES, lambda part: st.lists(part) | st.dictionaries(st.text(), part), max_leaves=30)


@pytest.mark.mutants
@given(JSON | st.lists(st.integers()) | st.lists(st.booleans() | st.integers()))
def test_data_are_indented_as_the_standard_library_does(data: object) -> None:
    assert indented(data) == json.dumps(data, indent=2, ensure_ascii=False)
    assert indented({"in": [data]}) == json.dumps({"in": [data]}, indent=2, ensure_ascii=False)
