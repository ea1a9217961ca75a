"""Chains and frameworks that the tests of the quilt mechanisms share."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.support.quilt_oracles import joint_tensor

from takifugu.analysis.bounds import Bound
from takifugu.analysis.problem import Problem
from takifugu.mechanisms.quilts import EXACT as QUILT_EXACT
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.frameworks import Pufferfish
from takifugu.model.queries import Query
from takifugu.model.secrets import Secret
from takifugu.model.secrets.of_entries import every_entry


@dataclass(frozen=True)
class Case:
    """A chain with rational rows and the start laws that the oracles need; `starts` lists laws of X_0."""

    chain: MarkovChain
    rows: tuple[tuple[Fraction, ...], ...]
    start: tuple[Fraction, ...] | None

    @property
    def tensors(self) -> list[np.ndarray[Any, Any]]:
        """Return the joint law, or for any start that of each point start."""
        laws = np.eye(len(self.rows)) if self.chain.initial == "any" else [self.chain.marginal(0)]
        return [joint_tensor(self.chain.matrix, law, self.chain.length) for law in laws]


@st.composite
def cases(
    draw: st.DrawFn, states: int = 3, longest: int = 6, zeros: bool = True, starts: tuple[str, ...] = ("given",)
) -> Case:
    """Chains with small rational rows; zero transitions where `zeros`; a start of one of the kinds in `starts`."""
    k = draw(st.integers(2, states))
    row = st.lists(st.integers(0 if zeros else 1, 9), min_size=k, max_size=k).filter(lambda r: sum(r) > 0)
    rows = tuple(tuple(Fraction(n, sum(r)) for n in r) for r in draw(st.lists(row, min_size=k, max_size=k)))
    kind = draw(st.sampled_from(starts))
    start = None
    initial: Any = kind
    if kind == "given":
        counts = draw(row)
        start = tuple(Fraction(n, sum(counts)) for n in counts)
        initial = [float(p) for p in start]
    length = draw(st.integers(1, longest))
    return Case(MarkovChain([[float(p) for p in r] for r in rows], length, initial), rows, start)


def binary(p0: float, p1: float, length: int, initial: Any = "stationary") -> MarkovChain:
    """Return the two-state chain that stays in 0 with probability p0 and in 1 with probability p1."""
    return MarkovChain([[p0, 1 - p0], [1 - p1, p1]], length, initial)


def random_chain(rng: np.random.Generator, k: int, length: int, initial: Any = "stationary") -> MarkovChain:
    return MarkovChain(rng.dirichlet(np.ones(k), size=k) * 0.98 + 0.02 / k, length, initial)


def reversible_chain(rng: np.random.Generator, k: int, length: int, initial: Any = "stationary") -> MarkovChain:
    flows = rng.random((k, k)) + 0.1
    flows = flows + flows.T
    return MarkovChain(flows / flows.sum(axis=1, keepdims=True), length, initial)


def problem(belief: Belief, query: Query, epsilon: Any, secret: Secret | None = None) -> Problem:
    return Problem(Pufferfish(secret or every_entry(), belief), query, Fraction(epsilon))


def bound(belief: Belief, query: Query, epsilon: Any, mechanism: Any = QUILT_EXACT, secret: Any = None) -> Bound:
    bounded = mechanism.bound(problem(belief, query, epsilon, secret))
    assert isinstance(bounded, Bound), bounded
    return bounded


def scale(belief: Belief, query: Query, epsilon: Any, mechanism: Any = QUILT_EXACT, secret: Any = None) -> Fraction:
    """Return Laplace's scale in grid units, 0 for no noise."""
    noise = bound(belief, query, epsilon, mechanism, secret).randomiser
    return noise.scale / noise.grid
