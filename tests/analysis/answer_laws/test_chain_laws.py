"""Laws of an answer given an entry of a chain, or of a block of entries, against all joint states."""

from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import answer_law_given, answer_laws_by_recurrence, as_mpf, largest_laplace_loss
from tests.support.chain_strategies import chains, contributions, joint_laws, linear, weights

import takifugu as tf
from takifugu.analysis.answer_laws import chain as chain_laws
from takifugu.analysis.answer_laws import forward_backward as chain_blocks
from takifugu.analysis.answer_laws.minimax_start import over_all_starts
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import Unsupported
from takifugu.model.queries import Additive, Count, Histogram, Sum
from takifugu.model.secrets.families import Family
from takifugu.model.secrets.of_entries import entry
from takifugu.numbers.extended import convolution as windows


def dense(chain: tf.MarkovChain, answer: Additive, family: Family | None = None):
    return list(chain_laws.ChainLaw(chain, answer, family or Family(range(chain.length))).families())


@settings(max_examples=60)
@given(st.data(), chains(length=(1, 6)))
def test_every_law_agrees_with_all_joint_states(data: st.DataObject, chain: tf.MarkovChain) -> None:
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
def test_hulls_name_their_start_states(chain: tf.MarkovChain) -> None:
    joints = joint_laws(chain)
    for family in dense(chain, Count(1).resolve(chain)):
        for value in family.rows:
            held = tuple(u for u, j in enumerate(joints) if any(path[family.entry] == value for path in j))
            assert chain_laws.starts_of(chain, family.entry, value) == held


@settings(max_examples=20)
@given(st.data(), chains(length=(1, 4)), st.sampled_from([Fraction(1, 50), Fraction(1, 3), Fraction(2), Fraction(30)]))
def test_losses_bound_the_loss_closely(data: st.DataObject, chain: tf.MarkovChain, scale: Fraction) -> None:
    answer = linear(chain, data.draw(weights(chain.length)))
    joints, table = joint_laws(chain), contributions(answer)
    for family in dense(chain, answer):
        losses, without = family.losses(scale), family.losses(Fraction(0))
        for index, (a, i, b, j) in enumerate((*compared.left, *compared.right) for compared in family.compared):
            p, q = (
                [law for law in (answer_law_given(joint, table, family.entry, v) for joint in joints) if law][n]
                for v, n in ((a, i), (b, j))
            )
            loss = largest_laplace_loss(p, q, scale)
            assert loss <= losses[index] <= loss * (1 + 1e-11) + 1e-11
            exact = largest_laplace_loss(p, q, 0)
            assert exact <= without[index] <= exact + 1e-11


@settings(max_examples=20)
@given(chains(states=(2, 3), length=(1, 4), starts=("any",)), st.sampled_from(["1/9", "1", "6"]))
def test_losses_over_all_start_laws_are_those_of_the_audit(chain: tf.MarkovChain, scale: str) -> None:
    noise = DiscreteLaplace(Fraction(scale), Fraction(1))
    for family in dense(chain, Count(1).resolve(chain)):
        merged = over_all_starts(family)
        losses = merged.losses(Fraction(scale))
        for compared, loss in zip(merged.compared, losses, strict=True):
            (a, _), (b, _) = compared.left, compared.right
            audit = tf.exact_loss(tf.Pufferfish(entry(family.entry, a, b), chain), Count(1), noise)
            assert audit.loss - 1e-15 <= loss <= audit.loss + 1e-10 * (1 + audit.loss)
        hull = max(family.losses(Fraction(scale)))
        assert max(losses) <= hull + 1e-10 * (1 + hull)


def test_common_units_are_divided_out() -> None:
    chain = tf.MarkovChain([[0.2, 0.8], [0.5, 0.5]], 50)
    shape = chain_laws.steps(linear(chain, [1000 * (i % 3) for i in range(50)]))
    assert shape.unit == 1000
    assert int(shape.widths[-1]) == 1 + sum(i % 3 for i in range(50))


def test_tails_far_below_float64_are_right() -> None:
    chain = tf.MarkovChain([[0.999, 0.001], [0.9, 0.1]], 400, initial=[0.5, 0.5])
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


@pytest.mark.mutants
def test_transient_states_stay_possible_far_from_the_start() -> None:
    chain = tf.MarkovChain([[0.4, 0.6], [0.0, 1.0]], 2000, initial=[1.0, 0.0])
    family = dense(chain, Count(0, entries=range(3)).resolve(chain), Family((1999,)))[0]
    assert family.hulls[0][0].items().__next__() == (3, 1.0)
    assert len(family.hulls[1][0]) == 3


def test_values_of_probability_zero_are_skipped() -> None:
    chain = tf.MarkovChain([[0.0, 1.0], [0.5, 0.5]], 4, initial=[1.0, 0.0])
    families = dense(chain, Count(1).resolve(chain))
    assert [family.entry for family in families] == [2, 3]


@pytest.mark.mutants
def test_a_thousand_steps_of_four_states_hold_little_memory() -> None:
    rng = np.random.default_rng(1)
    chain = tf.MarkovChain(rng.dirichlet(np.ones(4), 4), 1000)
    share = SimpleNamespace(belief=chain, answer=Count(1).resolve(chain), family=Family(range(1000)))
    middle = next(f for f in answer_law(share).families() if f.entry == 500)
    assert abs(sum(middle.hulls[0][0].probabilities) - 1) < 1e-12
    assert answer_law(share).work()[1] < 2e7


def test_vector_answers_and_classes_are_refused_with_the_reason_and_the_fix() -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 3)
    share = SimpleNamespace(belief=chain, answer=Histogram().resolve(chain), family=Family(range(3)))
    with pytest.raises(Unsupported, match=r'2 cells.*exclusive or.*mechanism="influence"'):
        list(answer_law(share).families())
    chains = tf.ReversibleChains(0.3, 0.5, 3)
    share = SimpleNamespace(belief=chains, answer=Count(1).resolve(chains), family=Family(range(3)))
    with pytest.raises(Unsupported, match=r'initial="any".*"influence"'):
        list(answer_law(share).families())
    assert answer_law(share).work() == (0.0, 0.0)


#: Short binary fractions, so that exact masses stay short.
CHAINS = {
    "two states": [[0.875, 0.125], [0.375, 0.625]],
    "rare": [[1 - 2.0**-20, 2.0**-20], [0.25, 0.75]],
    "three states, a zero": [[0.25, 0.75, 0.0], [0.5, 0.0, 0.5], [0.125, 0.375, 0.5]],
    "alternating": [[0.0, 1.0], [1.0, 0.0]],
    "absorbing": [[0.375, 0.625], [0.0, 1.0]],
}


def starts_of(chain: tf.MarkovChain) -> list[list[Fraction]]:
    """Return the exact start laws of the hulls, from the floats that the chain holds."""
    states = len(chain.states)
    if chain.initial == "any":
        return [[Fraction(int(u == s)) for s in range(states)] for u in range(states)]
    held = chain.stationary if chain.initial == "stationary" else chain.initial
    return [[Fraction(float(p)) for p in held]]


def agree(chain: tf.MarkovChain, answer: Additive, entries: tuple[int, ...]) -> None:
    """Every mass of every law is within the stated relative error of the exact one, and nothing is left out."""
    matrix = [[Fraction(float(p)) for p in row] for row in chain.matrix]
    table = contributions(answer)
    expected = {
        entry: [answer_laws_by_recurrence(matrix, start, table, entry) for start in starts_of(chain)]
        for entry in entries
    }
    for family in chain_laws.ChainLaw(chain, answer, Family(entries)).families():
        for value, hull in family.hulls.items():
            laws = [given[value] for given in expected[family.entry] if given[value]]
            assert len(hull) == len(laws)
            for block, law in zip(hull, laws, strict=True):
                assert block.values.tolist() == list(law)
                for (_, mass), exact in zip(block.items(), law.values(), strict=True):
                    assert abs(Fraction(mass) - exact) <= Fraction(family.relative_error) * exact


@pytest.mark.sampled(29)
@pytest.mark.parametrize(("name", "initial"), [
    (name, initial) for name in CHAINS for initial in ("stationary", "any")
    if (name, initial) not in {("absorbing", "stationary"), ("alternating", "stationary")}
])  # fmt: skip
@pytest.mark.parametrize("size", [2, 5, 64])
def test_blocks_give_the_laws(name: str, initial: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of which the last is shorter, and one for the whole chain."""
    monkeypatch.setattr(chain_blocks, "block_length", lambda *_: size)
    chain = tf.MarkovChain(CHAINS[name], 13, initial=initial)
    agree(chain, Count(1).resolve(chain), tuple(range(13)))
    agree(chain, linear(chain, [(-1) ** i * (i % 4) for i in range(13)]), (0, 1, 4, 5, 6, 9, 10, 12))


@settings(max_examples=15, deadline=None)
@given(st.data(), st.sampled_from(sorted(CHAINS)), st.integers(2, 9), st.integers(2, 14))
def test_any_weights_any_block_any_secrets(data: st.DataObject, name: str, size: int, length: int) -> None:
    chain = tf.MarkovChain(CHAINS[name], length, initial="any")
    weights = data.draw(st.lists(st.integers(-3, 3), min_size=length, max_size=length).filter(any))
    secret = tuple(sorted(data.draw(st.sets(st.integers(0, length - 1), min_size=1))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain_blocks, "block_length", lambda *_: size)
        agree(chain, linear(chain, weights), secret)


@pytest.mark.mutants
def test_a_long_chain_in_blocks_of_its_own_choice() -> None:
    chain = tf.MarkovChain(CHAINS["two states"], 150)
    assert chain_blocks.block_length(150, 2, 151) > 5
    agree(chain, Count(1).resolve(chain), (0, 1, 17, 75, 149))


@pytest.mark.mutants
def test_tails_far_below_float64_in_blocks() -> None:
    """The far tails fall by 20 binary orders per place, so that blocks have to be halved, and stay right."""
    chain = tf.MarkovChain([[1 - 2.0**-20, 2.0**-20], [1 - 2.0**-20, 2.0**-20]], 90, initial=[0.5, 0.5])
    agree(chain, Count(1).resolve(chain), (0, 45, 89))


@pytest.mark.mutants
def test_a_mass_far_below_those_on_both_sides_of_it() -> None:
    """A sum of 39 takes 39 rare steps, one of 40 a single one: no factor 2**(j y) brings both within float64."""
    chain = tf.MarkovChain([[1 - 2.0**-29, 2.0**-30, 2.0**-30]] * 3, 45, states=[0, 1, 40])
    agree(chain, Sum().resolve(chain), (0, 22, 44))


@pytest.mark.mutants
def test_blocks_that_are_too_wide_are_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, convolve_many = [], windows.convolve_many

    def narrow(rows: object, kernels: windows.Wide) -> windows.Wide | None:
        calls.append(kernels.mantissas.shape[1])
        return convolve_many(rows, kernels) if kernels.mantissas.shape[1] <= 5 else None  # type: ignore[arg-type]

    monkeypatch.setattr(chain_blocks, "convolve_many", narrow)
    monkeypatch.setattr(chain_blocks, "block_length", lambda *_: 16)
    chain = tf.MarkovChain(CHAINS["three states, a zero"], 40)
    agree(chain, Count(1).resolve(chain), tuple(range(0, 40, 3)))
    assert max(calls) > 5 >= min(calls)


@pytest.mark.mutants
def test_a_sum_of_codes_with_gaps() -> None:
    chain = tf.MarkovChain(CHAINS["three states, a zero"], 30, states=[0, 7, 2])
    agree(chain, Sum().resolve(chain), (0, 15, 29))
