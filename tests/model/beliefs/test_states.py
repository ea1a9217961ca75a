"""What may name a state, asked of every belief in the same words, and of what reads beliefs back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.model import beliefs
from takifugu.model.beliefs.chains.chain import MarkovChainClass
from takifugu.model.beliefs.chains.chain_interval import BinaryChainInterval
from takifugu.model.beliefs.chains.chain_region import ChainRegion
from takifugu.model.beliefs.contacts import Clique, CliqueInfection
from takifugu.numbers.distributions.pmf import Pmf

HALF = [[0.5, 0.5], [0.5, 0.5]]

MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "chain": lambda a, b: tf.MarkovChain(HALF, 3, states=[a, b]),
    "fitted": lambda a, b: tf.MarkovChain.fit([[a, b, a, a], [b, b]], 3, source="public"),
    "fitted with states": lambda a, b: tf.MarkovChain.fit([["x", "y"]], 3, states=[a, b, "x", "y"], source="public"),
    "class": lambda a, b: MarkovChainClass(0.3, 0.5, 4, states=[a, b]),
    "region": lambda a, b: ChainRegion([[0.2, 0.2]] * 2, [[0.8, 0.8]] * 2, 4, states=[a, b]),
    "interval": lambda a, b: BinaryChainInterval(0.2, 4, states=[a, b]),
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


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("state", NOT_OBSERVED, ids=repr)
def test_what_means_not_observed_is_no_state(maker: str, state: Any) -> None:
    with pytest.raises(InputError, match="was not observed: give the state a name"):
        MAKERS[maker](state, "a")


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("state", NO_NAME, ids=lambda state: type(state).__name__)
def test_what_does_not_read_back_is_no_state(maker: str, state: Any) -> None:
    with pytest.raises(InputError, match="write states as text, numbers, true or false"):
        MAKERS[maker](state, "a")


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("pair", [("1", 1), ("True", True), (0.5, "0.5")])
def test_states_that_are_written_alike_are_refused(maker: str, pair: tuple[Any, Any]) -> None:
    with pytest.raises(InputError, match="written alike"):
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


def test_the_data_cannot_make_a_state_look_unobserved() -> None:
    """A state called None was read as "not observed" at release: its code, 1000, was then left out of the answer."""
    with pytest.raises(InputError):
        tf.MarkovChain(HALF, length=3, states=[None, "a"])


def test_columns_that_write_different_values_alike_have_no_common_histogram() -> None:
    network = tf.BayesianNetwork([("v", ["1", "0"], [], [0.5, 0.5]), ("w", [1, 0], [], [0.5, 0.5])])
    with pytest.raises(InputError, match="two cells of the histogram are written '1'"):
        tf.Histogram().resolve(network)
    assert tf.Histogram(["1", 0]).resolve(network).labels == ("1", "0")


@pytest.mark.parametrize("query", [lambda: tf.Count({}), lambda: tf.Count([["a"]]), lambda: tf.Histogram([["a"]])])
def test_a_query_names_states_that_can_be_one(query: Callable[[], Any]) -> None:
    with pytest.raises(InputError, match="write text, a number, true or false"):
        query()


def test_a_number_is_no_list_of_states() -> None:
    with pytest.raises(InputError, match="give a list"):
        tf.MarkovChain(HALF, 3, states=2)  # type: ignore[arg-type]
