"""Chains as beliefs: stationary laws, marginals, what is possible, bad input, and texts that read back unchanged."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.chain_oracles import exact_rows, joint_law, marginal_mass, stationary_vector
from tests.support.chain_strategies import chains, joint_laws

from takifugu.core.errors import InputError, Unsupported
from takifugu.model import beliefs
from takifugu.model.beliefs.chains.chain import MarkovChain, MarkovChainClass
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.beliefs.stochastic import normalised, wide_stationary_law

GOOD = [[0.9, 0.1], [0.4, 0.6]]


@given(chains(states=(2, 4), starts=("stationary",)))
def test_stationary_laws_keep_relative_accuracy(chain: MarkovChain) -> None:
    if chain.initial == "any":  # no unique stationary law was drawn
        return
    exact = stationary_vector(exact_rows(chain.matrix.tolist()))
    np.testing.assert_allclose(chain.stationary, [float(p) for p in exact], rtol=1e-13)


@given(chains(states=(1, 5), starts=("stationary",)))
def test_the_oracles_stationary_law_is_one(chain: MarkovChain) -> None:
    if chain.initial == "any":
        return
    rows = exact_rows(chain.matrix.tolist())
    law = stationary_vector(rows)
    assert sum(law) == 1
    assert law == [sum(p * row[j] for p, row in zip(law, rows, strict=True)) for j in range(len(rows))]


def test_a_stationary_mass_of_1e_20_is_right() -> None:
    law = wide_stationary_law(np.array([[1 - 1e-20, 1e-20], [1.0, 0.0]])).floats()
    assert law[1] == pytest.approx(1e-20, rel=1e-14)


@given(chains(states=(2, 3), length=(1, 6), starts=("stationary", "given")))
def test_marginals_and_possible_values(chain: MarkovChain) -> None:
    if chain.initial == "any":
        return
    (joint,) = joint_laws(chain)
    for i in range(chain.length):
        exact = [marginal_mass(joint, i, s) for s in range(len(chain.states))]
        np.testing.assert_allclose(chain.marginal(i), [float(p) for p in exact], rtol=1e-12)
        np.testing.assert_allclose(chain.marginals()[i], [float(p) for p in exact], rtol=1e-12)
        assert chain.possible(i) == tuple(p > 0 for p in exact)


@given(chains(states=(2, 3), length=(1, 6), starts=("any",)))
def test_any_start_can_do_what_some_start_can(chain: MarkovChain) -> None:
    joints = joint_laws(chain)
    for i in range(chain.length):
        assert chain.possible(i) == tuple(
            any(marginal_mass(joint, i, s) > 0 for joint in joints) for s in range(len(chain.states))
        )
    with pytest.raises(Unsupported, match="no single marginal distribution"):
        chain.marginal(0)


def test_possible_values_of_a_periodic_chain_far_out() -> None:
    ring = MarkovChain([[0, 1, 0], [0, 0, 1], [1, 0, 0]], 1000, initial=[1, 0, 0])
    for i in (0, 1, 2, 3, 500, 998, 999):
        assert ring.possible(i) == tuple(s == i % 3 for s in range(3))
    slow = MarkovChain([[0.4, 0.6], [0.0, 1.0]], 5000, initial=[1, 0])
    assert slow.possible(4999) == (True, True)


@given(st.lists(st.lists(st.floats(1e-9, 1.0), min_size=3, max_size=3), min_size=3, max_size=3), st.integers(1, 4))
def test_texts_read_back_without_change(rows: list[list[float]], length: int) -> None:
    matrix = [[p / sum(row) for p in row] for row in rows]
    for initial in ("stationary", "any", matrix[0]):
        chain = MarkovChain(matrix, length, initial, ["a", "b", 3], source="a paper")
        text = json.dumps(chain.to_dict())
        again = beliefs.from_dict(json.loads(text))
        assert isinstance(again, MarkovChain)
        assert json.dumps(again.to_dict()) == text
        assert np.array_equal(again.matrix, chain.matrix)
    pieces = IndependentPieces(MarkovChain(matrix, length), [length, 1])
    assert beliefs.from_dict(json.loads(json.dumps(pieces.to_dict()))).to_dict() == pieces.to_dict()


def test_normalising_twice_is_normalising_once() -> None:
    rows = np.random.default_rng(0).dirichlet(np.ones(7), 2000) * (1 + 1e-10)
    once = normalised(rows)
    assert np.array_equal(normalised(once), once)
    assert np.abs(once.sum(axis=1) - 1).max() < 1e-14


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrix": [[0.9, 0.2], [0.4, 0.6]]}, r"row 0 of the matrix sums to 1\.1"),
        ({"matrix": [[0.9, 0.1]]}, "must be square"),
        ({"matrix": [[0.9, 0.1], [1.0]]}, "not a square table"),
        ({"matrix": [[1.1, -0.1], [0.4, 0.6]]}, "negative, NaN or infinite"),
        ({"matrix": [[float("nan"), 0.1], [0.4, 0.6]]}, "negative, NaN or infinite"),
        ({"matrix": [[1, 0], [0, 1]]}, r'2 closed classes.*initial="any"'),
        ({"length": 0}, "length is 0"),
        ({"length": 2.5}, r"length is 2\.5"),
        ({"initial": "stationery"}, "did you mean 'stationary'"),
        ({"initial": [0.5, 0.6]}, "2 probabilities that sum to 1"),
        ({"initial": [1.0]}, "2 probabilities that sum to 1"),
        ({"states": ["a"]}, "2 rows and 1 states"),
        ({"states": ["a", "a"]}, "repeat a name"),
    ],
)
def test_bad_chains_name_the_value_the_rule_and_the_fix(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MarkovChain(**{"matrix": GOOD, "length": 3, **arguments})


@pytest.mark.parametrize(("pi", "g"), [(0.0, 0.5), (0.6, 0.5), (0.3, 0.0), (0.3, 1.5), (float("nan"), 0.5)])
def test_bad_classes(pi: float, g: float) -> None:
    with pytest.raises(InputError):
        MarkovChainClass(pi, g, 10)


def test_pieces_have_the_chain_cut_to_their_length() -> None:
    pieces = IndependentPieces(MarkovChain([[0.4, 0.6], [0.0, 1.0]], 9, initial=[1, 0]), [3, 1, 3])
    assert (pieces.size, tuple(pieces.components())) == (7, (range(3), range(3, 4), range(4, 7)))
    assert pieces.component(0) is pieces.component(2)
    assert [pieces.possible(i) for i in (0, 1, 3, 4)] == [(True, False), (True, True), (True, False), (True, False)]
    assert "independent of each other" in " ".join(pieces.assumptions())


def test_the_oracle_agrees_with_itself() -> None:
    matrix = exact_rows([[Fraction(9, 10), Fraction(1, 10)], [Fraction(2, 5), Fraction(3, 5)]])
    start = stationary_vector(matrix)
    assert start == [Fraction(4, 5), Fraction(1, 5)]
    joint = joint_law(matrix, 4, start)
    assert sum(joint.values()) == 1
    assert marginal_mass(joint, 3, 0) == Fraction(4, 5)
