"""Errors as data: what is wrong, the rule, the fix and the place; words are made from these, and read by nobody.

A scan of the syntax tree finds every function that compares, searches, cuts or hands on the text of an error. Printing
it, or putting it into another error or a refusal, is no reading.
"""

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import takifugu as tf
from takifugu.core.errors import BudgetExceeded, InputError, ReleaseState, SpecError, TakifuguError, within
from takifugu.core.nearest import did_you_mean, nearest
from takifugu.numbers.rationals import as_delta, as_epsilon

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10, states=["still", "walking"])
FRAMEWORK = tf.Pufferfish(tf.every_entry(), CHAIN)


def test_words_are_made_from_the_parts() -> None:
    error = InputError("the grid is -1", rule="it must be above 0", fix="write for example 0.001", where=("grid",))
    assert str(error) == error.message == "the grid is -1: it must be above 0; write for example 0.001"
    assert error.at("table", 0).line == (
        "table[0].grid: the grid is -1; it must be above 0; write for example 0.001"
    )
    assert str(InputError("a", rule="b")) == "a: b"
    assert str(InputError("a", fix="c")) == "a: c"
    assert str(InputError("a")) == InputError("a").line == "a"
    assert TakifuguError("a").at("codes", "x", 3).place == "codes.x[3]"


def test_outer_layers_put_their_steps_before() -> None:
    with pytest.raises(InputError) as caught, within("table", 1), within("query"):
        raise InputError("the grid is -1").at("grid")
    assert caught.value.where == ("table", 1, "query", "grid")
    with pytest.raises(KeyError), within("release"):
        raise KeyError("not ours")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_copies_keep_every_part(again: Callable[[Any], Any]) -> None:
    error = InputError("a", rule="b", fix="c").at("d", 1)
    error.state = ReleaseState.PAID
    other = again(error)
    assert type(other) is InputError
    assert (other.what, other.rule, other.fix, other.where, other.state) == ("a", "b", "c", ("d", 1), ReleaseState.PAID)
    assert str(other) == str(error)
    faults = [InputError("b", fix="c").at("a"), InputError("e", fix="f").at("d")]
    assert again(SpecError(faults)).problems == ("a: b; c", "d: e; f")


@pytest.mark.parametrize(("call", "where"), [
    (lambda: as_epsilon(0), ("epsilon",)),
    (lambda: as_epsilon("x", "the budget"), ("epsilon",)),
    (lambda: as_delta(1), ("delta",)),
    (lambda: tf.MarkovChain([[0.9, 0.2], [0.4, 0.6]], 10), ("matrix", 0)),
    (lambda: tf.MarkovChain([[0.9, 0.1]], 10), ("matrix",)),
    (lambda: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 0), ("length",)),
    (lambda: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 9, initial="anyone"), ("initial",)),
    (lambda: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 9, states=["a"]), ("states",)),
    (lambda: tf.ReversibleChains(0.9, 0.2, 10), ("pi",)),
    (lambda: tf.ReversibleChains(0.2, 2, 10), ("g",)),
    (lambda: tf.JointTable([(0, 1), (0, 1)], [0.5, 0.5]), ("rows",)),
    (lambda: tf.JointTable([(0, 1), (1, 1)], [0.5, 0.6]), ("probabilities",)),
    (lambda: tf.IndependentUsers([{0: 0.5, 1: 0.6}]), ("laws",)),
    (lambda: tf.IndependentUsers([{0: 0.5, 1: 0.5}], presence=2), ("presence",)),
    (lambda: tf.BayesianNetwork([("a", [0, 1], ["b"], [[0.5, 0.5]])]), ("nodes", "a")),
    (lambda: tf.Count([]), ("states",)),
    (lambda: tf.Count("running").resolve(CHAIN), ("states",)),
    (lambda: tf.Count("walking", entries=[10]).resolve(CHAIN), ("entries",)),
    (lambda: tf.Count("walking", entries=["ann"]).resolve(CHAIN), ("entries",)),
    (lambda: tf.Sum("age").resolve(CHAIN), ("attribute",)),
    (lambda: tf.Sum().resolve(CHAIN), ("codes",)),
    (lambda: tf.Sum(codes={"still": 0, "walking": "1/3000001"}).resolve(CHAIN), ("grid",)),
    (lambda: tf.Sum(grid=0), ("grid",)),
    (lambda: tf.Linear([1, "x"]), ("weights",)),
    (lambda: tf.Linear([1]).resolve(CHAIN), ("weights",)),
    (lambda: tf.Histogram(total=0), ("total",)),
    (lambda: tf.Pufferfish([], CHAIN), ("secrets",)),
    (lambda: tf.Pufferfish(tf.every_entry(), []), ("beliefs",)),
    (lambda: tf.entry(0, "still", "running").family(CHAIN), ("b",)),
    (lambda: tf.entry(10, "still", "walking").family(CHAIN), ("entry",)),
    (lambda: tf.calibrate(FRAMEWORK, tf.Count("walking"), 0), ("epsilon",)),
    (lambda: tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, mechanism="groups"), ("mechanism",)),
    (lambda: tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, delta=0.1, mechanism="group-dp"), ("delta",)),
    (lambda: tf.with_scale(FRAMEWORK, tf.Count("walking"), 0), ("scale",)),
])  # fmt: skip
def test_faults_name_the_parameter(call: Callable[[], object], where: tuple[str | int, ...]) -> None:
    with pytest.raises(TakifuguError) as caught:
        call()
    assert caught.value.where == where
    assert caught.value.rule or caught.value.fix or caught.value.what


def test_a_budget_says_its_numbers(tmp_path: Path) -> None:
    twins = tf.JointTable([("still",) * 10, ("walking",) * 10], [0.5, 0.5])
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), twins), tf.Count("walking"), 0.3)
    walk = ("still",) * 10
    tf.release(calibration, walk, entries="values", ledger=tmp_path / "ledger.db", source="walk", budget=0.5)
    with pytest.raises(BudgetExceeded) as caught:
        tf.release(calibration, walk, entries="values", ledger=tmp_path / "ledger.db", source="walk")
    error = caught.value
    for known in (error, pickle.loads(pickle.dumps(error))):
        assert known.spent == known.requested == (Fraction(3, 10), 0)
        assert (known.left, known.total) == ((Fraction(1, 5), 0), (Fraction(3, 5), 0))
        assert known.budget == (Fraction(1, 2), 0)
        assert known.fits == "epsilon at most 0.2"
        assert known.where == ("budget",)
        assert "epsilon 0.2 left of a budget of epsilon 0.5" in str(known)


def test_of_many_names_the_three_nearest_are_listed() -> None:
    """States, mechanisms, kinds: three of thirty-three; of a few, all."""
    states = [f"ward {number}" for number in range(31)] + ["theatre", "home"]
    matrix = [[1 / 33] * 33] * 33
    chain = tf.MarkovChain(matrix, 4, states=states)
    with pytest.raises(InputError) as refused:
        tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("theater"), 1)
    assert "write one of ['theatre', " in refused.value.fix
    assert refused.value.fix.count("'") <= 2 * 3 + 2
    assert "or 30 more" in refused.value.fix
    with pytest.raises(InputError) as refused:
        tf.calibrate(FRAMEWORK, tf.Count("walkin"), 1)
    assert "['still', 'walking']" in refused.value.fix
    with pytest.raises(InputError, match="'quilt-exact'") as refused:
        tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, mechanism="quilt-exct")
    assert refused.value.fix.count("quilt") <= 4


def test_the_nearest_name_is_suggested() -> None:
    states = [f"s{number:02}" for number in range(33)]
    assert did_you_mean("s1O", states) == "; did you mean 's10'?"
    assert nearest("s1O", states).startswith("one of ['s10', ")
    assert did_you_mean("asymetric", ["parametric", "asymmetric"]) == "; did you mean 'asymmetric'?"
