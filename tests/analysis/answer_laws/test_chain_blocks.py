"""Laws of a whole block of entries at once, against dynamic programming in Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import answer_laws_by_recurrence, exact_rows, stationary_vector
from tests.support.chain_strategies import contributions, linear

from takifugu.analysis.answer_laws import chain as chain_laws
from takifugu.analysis.answer_laws import forward_backward as chain_blocks
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.queries import Additive, Count, Sum
from takifugu.model.secrets.families import Family
from takifugu.numbers.extended import convolution as windows

#: Short binary fractions, so that exact masses stay short.
CHAINS = {
    "two states": [[0.875, 0.125], [0.375, 0.625]],
    "rare": [[1 - 2.0**-20, 2.0**-20], [0.25, 0.75]],
    "three states, a zero": [[0.25, 0.75, 0.0], [0.5, 0.0, 0.5], [0.125, 0.375, 0.5]],
    "alternating": [[0.0, 1.0], [1.0, 0.0]],
    "absorbing": [[0.375, 0.625], [0.0, 1.0]],
}


def starts_of(chain: MarkovChain) -> list[list[Fraction]]:
    """Return the exact start laws of the hulls, from the floats that the chain holds."""
    states = len(chain.states)
    if chain.initial == "any":
        return [[Fraction(int(u == s)) for s in range(states)] for u in range(states)]
    held = chain.stationary if chain.initial == "stationary" else chain.initial
    return [[Fraction(float(p)) for p in held]]


def agree(chain: MarkovChain, answer: Additive, entries: tuple[int, ...]) -> None:
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


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("name", "initial"), [
    (name, initial) for name in CHAINS for initial in ("stationary", "any")
    if (name, initial) not in {("absorbing", "stationary"), ("alternating", "stationary")}
])  # fmt: skip
@pytest.mark.parametrize("size", [2, 5, 64])
def test_blocks_give_the_laws(name: str, initial: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of which the last is shorter, and one for the whole chain."""
    monkeypatch.setattr(chain_blocks, "block_length", lambda *_: size)
    chain = MarkovChain(CHAINS[name], 13, initial=initial)
    agree(chain, Count(1).resolve(chain), tuple(range(13)))
    agree(chain, linear(chain, [(-1) ** i * (i % 4) for i in range(13)]), (0, 1, 4, 5, 6, 9, 10, 12))


@settings(max_examples=15, deadline=None)
@given(st.data(), st.sampled_from(sorted(CHAINS)), st.integers(2, 9), st.integers(2, 14))
def test_any_weights_any_block_any_secrets(data: st.DataObject, name: str, size: int, length: int) -> None:
    chain = MarkovChain(CHAINS[name], length, initial="any")
    weights = data.draw(st.lists(st.integers(-3, 3), min_size=length, max_size=length).filter(any))
    secret = tuple(sorted(data.draw(st.sets(st.integers(0, length - 1), min_size=1))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain_blocks, "block_length", lambda *_: size)
        agree(chain, linear(chain, weights), secret)


@pytest.mark.slow
@pytest.mark.mutants
def test_a_long_chain_in_blocks_of_its_own_choice() -> None:
    chain = MarkovChain(CHAINS["two states"], 150)
    assert chain_blocks.block_length(150, 2, 151) > 5
    agree(chain, Count(1).resolve(chain), (0, 1, 17, 75, 149))


def test_tails_far_below_float64_in_blocks() -> None:
    """The far tails fall by 20 binary orders per place, so that blocks have to be halved, and stay right."""
    chain = MarkovChain([[1 - 2.0**-20, 2.0**-20], [1 - 2.0**-20, 2.0**-20]], 90, initial=[0.5, 0.5])
    agree(chain, Count(1).resolve(chain), (0, 45, 89))


def test_blocks_that_are_too_wide_are_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, convolve_many = [], windows.convolve_many

    def narrow(rows: object, kernels: windows.Wide) -> windows.Wide | None:
        calls.append(kernels.mantissas.shape[1])
        return convolve_many(rows, kernels) if kernels.mantissas.shape[1] <= 5 else None  # type: ignore[arg-type]

    monkeypatch.setattr(chain_blocks, "convolve_many", narrow)
    monkeypatch.setattr(chain_blocks, "block_length", lambda *_: 16)
    chain = MarkovChain(CHAINS["three states, a zero"], 40)
    agree(chain, Count(1).resolve(chain), tuple(range(0, 40, 3)))
    assert max(calls) > 5 >= min(calls)


def test_one_step_and_two() -> None:
    for length in (1, 2, 3):
        chain = MarkovChain(CHAINS["two states"], length)
        agree(chain, Count(1).resolve(chain), tuple(range(length)))


def test_a_sum_of_codes_with_gaps() -> None:
    chain = MarkovChain(CHAINS["three states, a zero"], 30, states=[0, 7, 2])
    agree(chain, Sum().resolve(chain), (0, 15, 29))


def test_a_forgotten_end_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that takes what lies after the block as if its last state did not matter."""
    original = chain_blocks._Walk.back

    def flat(self: chain_blocks._Walk, block: tuple[int, int], after: windows.Wide) -> windows.Wide:
        ends = original(self, block, after)
        return windows.Wide(ends.mantissas[[0, 0]], ends.exponents[[0, 0]])

    monkeypatch.setattr(chain_blocks._Walk, "back", flat)
    monkeypatch.setattr(chain_blocks, "block_length", lambda *_: 4)
    chain = MarkovChain(CHAINS["two states"], 12)
    with pytest.raises(AssertionError):
        agree(chain, Count(1).resolve(chain), (5, 6))


def test_exact_rows_and_the_stationary_law_of_the_oracle() -> None:
    rows = exact_rows(CHAINS["two states"])
    laws = answer_laws_by_recurrence(rows, stationary_vector(rows), [[0, 1]] * 3, 1)
    assert all(sum(law.values()) == 1 for law in laws)
    np.testing.assert_allclose([float(p) for p in laws[1].values()], [0.140625, 0.46875, 0.390625])
