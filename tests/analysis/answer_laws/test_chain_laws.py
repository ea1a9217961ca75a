"""Laws of an answer given an entry of a chain, against the enumeration of all joint states."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import answer_law_given, as_mpf, laplace_loss
from tests.support.chain_strategies import chains, contributions, joint_laws, linear, weights

from takifugu.analysis.answer_laws import chain as chain_laws
from takifugu.analysis.answer_laws.dense import DenseFamily
from takifugu.analysis.answer_laws.minimax_start import over_all_starts
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.audit import true_loss
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.chains.chain import MarkovChain, MarkovChainClass
from takifugu.model.frameworks import Pufferfish
from takifugu.model.queries import Additive, Count, Histogram
from takifugu.model.secrets.families import Family
from takifugu.model.secrets.of_entries import entry


def dense(chain: MarkovChain, answer: Additive, family: Family | None = None) -> list[DenseFamily]:
    return list(chain_laws.ChainLaw(chain, answer, family or Family(range(chain.length))).families())


@settings(max_examples=60)
@given(st.data(), chains(length=(1, 6)))
def test_every_law_agrees_with_all_joint_states(data: st.DataObject, chain: MarkovChain) -> None:
    answer = linear(chain, data.draw(weights(chain.length)))
    joints, table = joint_laws(chain), contributions(answer)
    for family in dense(chain, answer):
        for value, laws in family.hulls.items():
            expected = [law for law in (answer_law_given(j, table, family.entry, value) for j in joints) if law]
            assert len(laws) == len(expected)
            for computed, law in zip(laws, expected, strict=True):
                assert computed.values.tolist() == list(law)
                bound = family.relative_error + 1e-15 * len(law)
                assert all(abs(m - p) <= bound * p for m, p in zip(computed.probabilities, law.values(), strict=True))


@given(chains(starts=("any",)))
def test_hulls_name_their_start_states(chain: MarkovChain) -> None:
    joints = joint_laws(chain)
    for family in dense(chain, Count(1).resolve(chain)):
        for value in family.rows:
            held = tuple(u for u, j in enumerate(joints) if any(path[family.entry] == value for path in j))
            assert chain_laws.starts_of(chain, family.entry, value) == held


@settings(max_examples=20)
@given(st.data(), chains(length=(1, 4)), st.sampled_from([Fraction(1, 50), Fraction(1, 3), Fraction(2), Fraction(30)]))
def test_losses_bound_the_loss_closely(data: st.DataObject, chain: MarkovChain, scale: Fraction) -> None:
    answer = linear(chain, data.draw(weights(chain.length)))
    joints, table = joint_laws(chain), contributions(answer)
    for family in dense(chain, answer):
        losses, without = family.losses(scale), family.losses(Fraction(0))
        for index, (a, i, b, j) in enumerate(family.compared):
            p, q = (
                [law for law in (answer_law_given(joint, table, family.entry, v) for joint in joints) if law][n]
                for v, n in ((a, i), (b, j))
            )
            loss = max(laplace_loss(p, q, scale), laplace_loss(q, p, scale))
            assert loss <= losses[index] <= loss * (1 + 1e-11) + 1e-11
            exact = max(laplace_loss(p, q, 0), laplace_loss(q, p, 0))
            assert exact <= without[index] <= exact + 1e-11


@settings(max_examples=20)
@given(chains(states=(2, 3), length=(1, 4), starts=("any",)), st.sampled_from(["1/9", "1", "6"]))
def test_losses_over_all_start_laws_are_those_of_the_audit(chain: MarkovChain, scale: str) -> None:
    noise = DiscreteLaplace(Fraction(scale), Fraction(1))
    for family in dense(chain, Count(1).resolve(chain)):
        merged = over_all_starts(family)
        losses = merged.losses(Fraction(scale))
        for (a, _, b, _), loss in zip(merged.compared, losses, strict=True):
            audit = true_loss(Pufferfish(entry(family.entry, a, b), chain), Count(1), noise)
            assert audit.loss - 1e-15 <= loss <= audit.loss + 1e-10 * (1 + audit.loss)
        hull = max(family.losses(Fraction(scale)))
        assert max(losses) <= hull + 1e-10 * (1 + hull)


@pytest.mark.parametrize(
    "chosen", [[0, 0, 7, 0, 0, -5], [1, 0, 0, 0, 0, 0], [100, 10, 1, -100, -10, -1], [6, 0, 9, 3, 0, 0]]
)
def test_gaps_negative_and_zero_weights(chosen: list[int]) -> None:
    chain = MarkovChain([[0.2, 0.8, 0.0], [0.5, 0.0, 0.5], [0.1, 0.3, 0.6]], 6, initial=[0.3, 0.3, 0.4])
    answer = linear(chain, chosen)
    (joint,) = joint_laws(chain)
    for family in dense(chain, answer):
        for value, (law,) in family.hulls.items():
            expected = answer_law_given(joint, contributions(answer), family.entry, value)
            assert law.values.tolist() == list(expected)
            np.testing.assert_allclose(law.probabilities, [float(p) for p in expected.values()], rtol=1e-13)


def test_common_units_are_divided_out() -> None:
    chain = MarkovChain([[0.2, 0.8], [0.5, 0.5]], 50)
    shape = chain_laws.steps(linear(chain, [1000 * (i % 3) for i in range(50)]))
    assert shape.unit == 1000
    assert int(shape.widths[-1]) == 1 + sum(i % 3 for i in range(50))


def test_tails_far_below_float64_are_right() -> None:
    chain = MarkovChain([[0.999, 0.001], [0.9, 0.1]], 400, initial=[0.5, 0.5])
    family = dense(chain, Count(1).resolve(chain), Family((399,)))[0]
    law = dict(family.hulls[1][0].items())
    # All 400 steps in state 1: 0.5 * 0.1^399 against the mass of X_399 = 1, from powers of the matrix in mpmath.
    with mpmath.workdps(60):
        exact = mpmath.matrix([[mpmath.mpf(float(p)) for p in row] for row in chain.matrix])
        marginal = (mpmath.matrix([[0.5, 0.5]]) * exact**399)[0, 1]
        everything = mpmath.mpf(0.5) * exact[1, 1] ** 399 / marginal
        assert everything < mpmath.mpf(10) ** -350
        assert abs(as_mpf(law[400]) / everything - 1) < family.relative_error
    assert sum(law.values()) == 1


def test_transient_states_stay_possible_far_from_the_start() -> None:
    chain = MarkovChain([[0.4, 0.6], [0.0, 1.0]], 2000, initial=[1.0, 0.0])
    family = dense(chain, Count(0, entries=range(3)).resolve(chain), Family((1999,)))[0]
    assert family.hulls[0][0].items().__next__() == (3, 1.0)
    assert len(family.hulls[1][0]) == 3


def test_values_of_probability_zero_are_skipped() -> None:
    chain = MarkovChain([[0.0, 1.0], [0.5, 0.5]], 4, initial=[1.0, 0.0])
    families = dense(chain, Count(1).resolve(chain))
    assert [family.entry for family in families] == [2, 3]


def test_a_thousand_steps_of_four_states_hold_little_memory() -> None:
    rng = np.random.default_rng(1)
    chain = MarkovChain(rng.dirichlet(np.ones(4), 4), 1000)
    share = SimpleNamespace(belief=chain, answer=Count(1).resolve(chain), family=Family(range(1000)))
    middle = next(f for f in answer_law(share).families() if f.entry == 500)
    assert abs(sum(middle.hulls[0][0].probabilities) - 1) < 1e-12
    assert answer_law(share).work()[1] < 2e7


def test_vector_answers_and_classes_are_refused_with_the_reason_and_the_fix() -> None:
    chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], 3)
    share = SimpleNamespace(belief=chain, answer=Histogram().resolve(chain), family=Family(range(3)))
    with pytest.raises(Unsupported, match=r'2 cells.*exclusive or.*mechanism="quilt-exact"'):
        list(answer_law(share).families())
    chains = MarkovChainClass(0.3, 0.5, 3)
    share = SimpleNamespace(belief=chains, answer=Count(1).resolve(chains), family=Family(range(3)))
    with pytest.raises(Unsupported, match=r'initial="any".*"quilt-approx"'):
        list(answer_law(share).families())
    assert answer_law(share).work() == (0.0, 0.0)
