"""Chains whose matrices repeat after a period, drawn for tests, with the exact joint laws that belong to them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from tests.support.chain_oracles import Joint
from tests.support.periodic_oracles import joint_of_steps, periodic_law, steps_of, tensor_of

from takifugu.core.errors import InputError
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain


@dataclass(frozen=True)
class Case:
    """A chain and what was drawn for it: rational matrices, which of them each step has, and the law of X_0."""

    chain: PeriodicChain
    matrices: tuple[tuple[tuple[Fraction, ...], ...], ...]
    matrix_of: tuple[int, ...]
    start: int
    initial: Any

    @property
    def steps(self) -> list[Any]:
        return steps_of(self.matrices, self.matrix_of, self.start, self.chain.length - 1)

    @property
    def laws(self) -> list[list[Fraction]]:
        """Return the law of X_0, or every point start of any."""
        k = len(self.chain.states)
        if self.initial == "any":
            return [[Fraction(int(u == v)) for v in range(k)] for u in range(k)]
        if self.initial == "stationary":
            shortest = self.matrix_of[: self.chain.period]  # a longer one may have several laws that repeat
            return [periodic_law(self.matrices, shortest, self.start)]
        return [list(self.initial)]

    @property
    def joints(self) -> list[Joint]:
        return [joint_of_steps(self.steps, law) for law in self.laws]

    @property
    def tensors(self) -> list[np.ndarray[Any, Any]]:
        return [tensor_of(joint, len(self.chain.states)) for joint in self.joints]


@st.composite
def periodic(
    draw: st.DrawFn,
    states: int = 3,
    length: tuple[int, int] = (1, 6),
    periods: tuple[int, int] = (1, 4),
    zeros: bool = True,
    starts: tuple[str, ...] = ("stationary", "given", "any"),
) -> Case:
    """Chains of 1 to 3 matrices over a short period; zero transitions where `zeros`."""
    k = draw(st.integers(2, states))
    row = st.lists(st.integers(0 if zeros else 1, 9), min_size=k, max_size=k).filter(lambda r: sum(r) > 0)
    law = row.map(lambda r: tuple(Fraction(n, sum(r)) for n in r))
    numbers = draw(st.lists(st.integers(0, 2), min_size=periods[0], max_size=periods[1]))
    used = sorted(set(numbers))
    numbers = [used.index(n) for n in numbers]
    matrices = tuple(tuple(draw(law) for _ in range(k)) for _ in used)
    start, kind = draw(st.integers(0, 5)), draw(st.sampled_from(starts))
    initial: Any = draw(law) if kind == "given" else kind
    given = [[[float(p) for p in r] for r in m] for m in matrices]
    first_law = [float(p) for p in initial] if kind == "given" else kind
    try:
        chain = PeriodicChain(given, draw(st.integers(*length)), numbers, start, first_law)
    except InputError as error:
        assume(error.where != ("matrices",))  # several laws repeat
        raise
    return Case(chain, matrices, tuple(numbers), start, initial)
