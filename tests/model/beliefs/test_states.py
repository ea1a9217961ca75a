"""What may name a state, asked of every belief in the same words, and what is a list of such names."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import takifugu as tf
from takifugu.core.errors import DataError, InputError
from takifugu.model import beliefs
from takifugu.model.beliefs.contacts import Clique, CliqueInfection
from takifugu.numbers import Pmf

HALF = [[0.5, 0.5], [0.5, 0.5]]

MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "chain": lambda a, b: tf.MarkovChain(HALF, 3, states=[a, b]),
    "fitted": lambda a, b: tf.MarkovChain.fit([[a, b, a, a], [b, b]], 3, source="public"),
    "fitted with states": lambda a, b: tf.MarkovChain.fit([["x", "y"]], 3, states=[a, b, "x", "y"], source="public"),
    "class": lambda a, b: tf.ReversibleChains(0.3, 0.5, 4, states=[a, b]),
    "region": lambda a, b: tf.IntervalMarkovChain([[0.2, 0.2]] * 2, [[0.8, 0.8]] * 2, 4, states=[a, b]),
    "interval": lambda a, b: tf.BinaryChains(0.2, 4, states=[a, b]),
    "pieces": lambda a, b: tf.IndependentPieces(tf.MarkovChain(HALF, 3, states=[a, b]), [2, 3]),
    "clique": lambda a, b: Clique(2, Pmf([0, 1], [0.5, 0.5]), (a, b)),
    "cliques": lambda a, b: CliqueInfection([["ann", "bob"]], {2: [0.5, 0.25, 0.25]}, states=[a, b]),
    "table": lambda a, b: tf.JointTable([(a, 0), (b, 1)], [0.5, 0.5]),
    "network": lambda a, b: tf.BayesianNetwork([("v", [a, b], [], [0.5, 0.5])]),
    "users": lambda a, b: tf.IndependentUsers([[(a, 0.5), (b, 0.5)]] * 2),
    "groups": lambda a, b: tf.IndependentUsers.groups([(3, [(a, 0.5), (b, 0.5)])]),
}
NOT_OBSERVED = [None, math.nan, np.float64("nan"), np.float32("nan")]
NO_NAME = [["a"], {"a": 1}, {1}, ("a", "b"), b"a", 1 + 2j, object(), np.datetime64("2020-01-01")]
NO_STATES = [
    *(((state, "a"), "was not observed: give the state a name") for state in NOT_OBSERVED),
    *(((state, "a"), "text, (a number|numbers), true or false") for state in NO_NAME),
    *((pair, "written alike") for pair in [("1", 1), ("True", True), (0.5, "0.5")]),
]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(("pair", "words"), NO_STATES, ids=[type(pair[0]).__name__ for pair, _ in NO_STATES])
def test_what_is_no_state_is_refused(maker: str, pair: tuple[Any, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        MAKERS[maker](*pair)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("pair", [("a", "b"), (0, 1), (False, "z"), (np.int64(3), np.str_("b")), ("None", "nan")])
def test_names_are_plain_and_read_back(maker: str, pair: tuple[Any, Any]) -> None:
    made = MAKERS[maker](*pair)
    states = [state for state in made.alphabet(0) if state not in ("absent", "x", "y") or state in pair]
    assert set(states) == set(pair)
    assert all(type(state) in (str, int, float, bool) for state in states)
    again = beliefs.from_dict(made.to_dict())
    assert again.alphabet(0) == made.alphabet(0)


@pytest.mark.parametrize("state", [None, math.nan])
@pytest.mark.parametrize("maker", MAKERS)
def test_no_file_brings_back_such_a_state(maker: str, state: Any) -> None:
    def planted(tree: Any) -> Any:
        if isinstance(tree, dict):
            return {key: planted(value) for key, value in tree.items()}
        if isinstance(tree, list):
            return [planted(value) for value in tree]
        return state if tree == "here" else tree

    with pytest.raises(InputError):
        beliefs.from_dict(planted(MAKERS[maker]("here", "x").to_dict()))


@pytest.mark.parametrize(("make", "words"), [
    (lambda: tf.Count({}), "write text, a number, true or false"),
    (lambda: tf.Count([["a"]]), "write text, a number, true or false"),
    (lambda: tf.Histogram([["a"]]), "write text, a number, true or false"),
    (lambda: tf.MarkovChain(HALF, 3, states=2), "give a list"),  # type: ignore[arg-type]
    # Its code, 1000, was once left out of the answer at release, where None is "not observed".
    (lambda: tf.MarkovChain(HALF, length=3, states=[None, "a"]), "was not observed"),
])  # fmt: skip
def test_names_of_states_that_can_be_none(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


# A text is no list of its letters, a table none of its columns, a set no order: wherever a belief takes a list.


PUBLIC = "estimated from public recordings"
ROWS = [
    (who, minute, state)
    for who, states in {"Ana": "ssw", "Ben": "wwsw"}.items() for minute, state in enumerate(states)
]  # fmt: skip
COLUMNS = {
    "person": [who for who, _, _ in ROWS], "minute": [minute for _, minute, _ in ROWS],
    "posture": [{"s": "still", "w": "walking"}[state] for _, _, state in ROWS],
}  # fmt: skip
NAMED: dict[str, Any] = {"value": "posture", "order": "minute", "unit": "person"}
STATES = ["still", "walking"]
MATRIX = [[0.9, 0.1], [0.4, 0.6]]


def duckdb_frame() -> Any:
    import duckdb

    return duckdb.from_arrow(pyarrow.table(COLUMNS))


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pandas.DataFrame(COLUMNS), "polars": lambda: polars.DataFrame(COLUMNS),
    "lazy polars": lambda: polars.LazyFrame(COLUMNS), "pyarrow": lambda: pyarrow.table(COLUMNS),
    "duckdb": duckdb_frame,
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", FRAMES)
def test_a_chain_of_a_frame_is_the_one_of_its_sequences(engine: str) -> None:
    """Ana: still, still, walking; Ben: walking, walking, still, walking. From Ana to Ben nothing follows."""
    frame = FRAMES[engine]()
    chain = tf.MarkovChain.fit(frame, 10, STATES, smoothing=0, source=PUBLIC, **NAMED)
    assert chain.matrix.tolist() == [[1 / 3, 2 / 3], [1 / 2, 1 / 2]]
    lists = [["still", "still", "walking"], ["walking", "walking", "still", "walking"]]
    assert tf.MarkovChain.fit(lists, 10, STATES, smoothing=0, source=PUBLIC).matrix.tolist() == chain.matrix.tolist()


@pytest.mark.slow
def test_rows_of_a_frame_may_be_shuffled_and_have_gaps(tmp_path) -> None:
    shuffled = pandas.DataFrame(COLUMNS).sample(frac=1, random_state=7)
    chain = tf.MarkovChain.fit(shuffled, 10, STATES, smoothing=0, source=PUBLIC, **NAMED)
    assert chain.matrix.tolist() == [[1 / 3, 2 / 3], [1 / 2, 1 / 2]]
    gap = pandas.DataFrame({"minute": [0, 1, 3, 4], "posture": ["still", "still", "walking", "still"]})
    gap.to_csv(tmp_path / "gap.csv", index=False)
    for data in (gap, tmp_path / "gap.csv", str(tmp_path / "gap.csv")):
        named = {"value": "posture", "order": "minute"}
        every = tf.MarkovChain.fit(data, 10, STATES, smoothing=0, source=PUBLIC, **named)
        assert every.matrix.tolist() == [[1 / 2, 1 / 2], [1, 0]]
        steps = tf.MarkovChain.fit(data, 10, STATES, smoothing=0, source=PUBLIC, step=1, **named)
        assert steps.matrix.tolist() == [[1, 0], [1, 0]]
    numbers = pandas.DataFrame({"t": [0, 1, 2], "x": [1, 0, 0]})
    chain = tf.MarkovChain.fit(numbers, 10, [0, 1], smoothing=0.5, source=PUBLIC, value="x", order="t")
    assert (chain.states, chain.matrix.tolist()) == ((0, 1), [[0.75, 0.25], [0.75, 0.25]])


def test_a_region_of_a_frame() -> None:
    region = tf.MarkovChain.fit(polars.DataFrame(COLUMNS), 10, STATES, source=PUBLIC, confidence=0.9, **NAMED)
    assert isinstance(region, tf.IntervalMarkovChain)


TEXTS = ["still", "still", "walking"]


@pytest.mark.parametrize(("sequences", "words"), [
    ("still", "this is a text"), (b"still", "this is a text"), (TEXTS, "hold a text where a sequence should be"),
    (tuple(TEXTS), "hold a text"), (iter(TEXTS), "hold a text"), (np.array(TEXTS), "hold a text"),
    (pandas.Series(TEXTS), "hold a text"), (polars.Series(TEXTS), "hold a text"),
    (pyarrow.array(TEXTS), "sequence"), (pyarrow.chunked_array([TEXTS]), "sequence"),
    ([0, 1, 1], "of type int where"), (pandas.Series([0, 1]), "of type"), (np.array([0, 1]), "of type"),
    (7, "of type"),
    ({"Ana": TEXTS}, "this is a mapping"), ([{"Ana": TEXTS}], "hold a mapping"), ([set(TEXTS)], "hold a set"),
    ({"still", "walking"}, "this is a set"), (None, "of type NoneType"),
    (pandas.DataFrame(COLUMNS).groupby("person")["posture"], "a sequence holds lists"),
    (pandas.DataFrame(COLUMNS).groupby("person"), "a sequence holds lists"),
    ([("Ana", TEXTS)], "a sequence holds lists"), ([pandas.DataFrame(COLUMNS)], "hold a table"),
])  # fmt: skip
def test_what_is_no_list_of_sequences_is_refused_without_a_word_of_it(sequences: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        tf.MarkovChain.fit(sequences, 10, source=PUBLIC, private=True)
    assert caught.value.fix
    assert not any(word in str(caught.value) for word in ("Ana", "walking"))


def test_lists_of_all_kinds_of_columns_are_sequences() -> None:
    for column in (TEXTS, tuple(TEXTS), np.array(TEXTS), pandas.Series(TEXTS), polars.Series(TEXTS),
                   pyarrow.array(TEXTS), pyarrow.chunked_array([TEXTS]), iter(TEXTS)):  # fmt: skip
        assert tf.MarkovChain.fit([column], 10, source=PUBLIC).states == ("still", "walking")


@pytest.mark.parametrize("engine", FRAMES)
def test_a_frame_needs_names_of_its_columns_and_its_states(engine: str) -> None:
    frame = FRAMES[engine]()
    for left_out in ("value", "order"):
        named: dict[str, Any] = {key: column for key, column in NAMED.items() if key != left_out}
        with pytest.raises(InputError, match=r"the column of .* is not named.*value="):
            tf.MarkovChain.fit(frame, 10, STATES, source=PUBLIC, **named)
    with pytest.raises(InputError, match=r"not named.*write states="):
        tf.MarkovChain.fit(frame, 10, source=PUBLIC, **NAMED)
    with pytest.raises(InputError, match="states is not named"):
        tf.MarkovChain.fit(frame, 10, STATES, source=PUBLIC)
    with pytest.raises(InputError, match="no column"):
        tf.MarkovChain.fit(frame, 10, STATES, source=PUBLIC, **{**NAMED, "value": "state"})
    with pytest.raises(DataError):  # two people, and no column that says so: minutes repeat
        tf.MarkovChain.fit(frame, 10, STATES, source=PUBLIC, value="posture", order="minute")


def test_columns_belong_to_tables() -> None:
    with pytest.raises(InputError, match="value names a column, and the sequences are no table"):
        tf.MarkovChain.fit([TEXTS], 10, source=PUBLIC, value="posture")
    with pytest.raises(TypeError, match="smothing"):
        tf.MarkovChain.fit([TEXTS], 10, source=PUBLIC, smothing=1)  # type: ignore[call-overload]


COIN = [0.5, 0.5]
CHAIN = tf.MarkovChain(MATRIX, 3, states=STATES)
TRAPS: dict[str, Callable[[], Any]] = {
    "states of a chain": lambda: tf.MarkovChain(MATRIX, 3, states="ab"),
    "a set of states": lambda: tf.MarkovChain(MATRIX, 3, states={"still", "walking"}),
    "rows of a matrix": lambda: tf.MarkovChain(["10", "01"], 3, initial=COIN),
    "a frame as a matrix": lambda: tf.MarkovChain(pandas.DataFrame(MATRIX, columns=[(1, 0), (0, 1)]), 3, initial=COIN),
    "states of a class": lambda: tf.ReversibleChains(0.1, 0.1, 3, states="ab"),
    "states of a periodic chain": lambda: tf.PeriodicChain([MATRIX], 3, states="ab"),
    "states of an interval": lambda: tf.BinaryChains(0.1, 3, "ab"),
    "lengths of pieces": lambda: tf.IndependentPieces(CHAIN, "32"),
    "names of a table": lambda: tf.JointTable([("a", "y"), ("b", "n")], COIN, "xy"),
    "names of users": lambda: tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3, names="Ana"),
    "a set of users": lambda: tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 2, names={"Ana", "Ben"}),
    "a clique": lambda: tf.CliqueInfection(["ab"], {2: [0.5, 0.25, 0.25]}),
    "cliques": lambda: tf.CliqueInfection("ab", {1: [0.5, 0.5]}),
    "people of contacts": lambda: tf.cliques_of([], people="Ana"),
    "a contact": lambda: tf.cliques_of(["ab", "bc"]),
    "parents": lambda: tf.BayesianNetwork([("a", ["y", "n"], [], COIN), ("b", ["y", "n"], "a", [COIN, COIN])]),
    "names of columns": lambda: tf.MultivariateNormal.fit({"a": [1, 2], "b": [2, 4]}, "ab", source=PUBLIC),
    "a column": lambda: tf.MultivariateNormal.fit({"a": "123", "b": "234"}, source=PUBLIC),
    "a list as a table": lambda: tf.MultivariateNormal.fit([[1, 2], [2, 4]], source=PUBLIC),
    "a column as a table": lambda: tf.MultivariateNormal.fit(pandas.Series([1.0, 2.0]), source=PUBLIC),
    "a file as a table": lambda: tf.MultivariateNormal.fit("people.csv", source=PUBLIC),
}


@pytest.mark.parametrize("name", TRAPS)
def test_texts_tables_and_sets_are_no_lists(name: str) -> None:
    with pytest.raises(InputError, match=r"this is|is a text|of type") as caught:
        TRAPS[name]()
    assert caught.value.fix


@pytest.mark.parametrize("contact", [("Ana",), ("Ana", "Ben", "Chi")])
def test_a_contact_is_a_pair(contact: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="no pair: give pairs"):
        tf.cliques_of([contact])


@pytest.mark.parametrize("engine", FRAMES)
def test_a_frame_is_no_sequence_of_its_columns_names(engine: str, tmp_path) -> None:
    """Columns may be called as states are; what was counted was their names."""
    belief = tf.MarkovChain(MATRIX, 3, states=["person", "minute"])
    for belief_of in (belief, tf.IndependentUsers([{"person": 0.5, "minute": 0.5}] * 3)):
        calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), belief_of), tf.Count("person"), epsilon=1)
        with pytest.raises(DataError, match=r"is a table.*give one column"):
            tf.release(calibration, FRAMES[engine](), entries="values", ledger=tmp_path / "l.db", budget=9)
