"""A Markov chain whose transition matrix depends on the place of a step in a period: the hour of day, the weekday."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Self, TypeVar

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.core.assumptions import Assumption, public, world
from takifugu.core.errors import InputError, Unsupported, within
from takifugu.core.plain import VALUES, PlainForm, set_fields
from takifugu.core.rules import list_of
from takifugu.core.sections import values_by_field
from takifugu.model.beliefs.one_sequence import OneChain, Supports, checked_length, checked_states, supports_from
from takifugu.model.beliefs.states import State
from takifugu.model.beliefs.stochastic import Start, checked_start, leads, stochastic_matrix, wide_stationary_law
from takifugu.numbers.extended.floats import Wide
from takifugu.numbers.outward_rounding import TRUSTED

Matrices = TypeVar("Matrices", FloatArray, BoolArray)
ByPhase = TypeVar("ByPhase", FloatArray, tuple[Wide, ...])

#: A period has no more steps.
LONGEST_PERIOD = 2**17


@dataclass(frozen=True, eq=False)
class PeriodicChain(PlainForm, OneChain, kind="periodic-chain"):
    """Model a sequence whose transition matrix repeats with a period, such as the hours of a day.

    P(X_{t+1} = y | X_t = x) = M_t[x][y], where M_t is matrices[matrix_of[(start + t) mod period]].

    Args:
        matrices: The matrices, each k by k.
        length: Number of steps.
        matrix_of: Number of the matrix of each step of one period; None takes each matrix once.
        start: Place of X_0 in the period, from 0.
        initial: Distribution of X_0: "stationary" (the same again after the shortest period), "any" (unknown: a class
            of chains), or k probabilities.
        states: Names of the k rows; None for 0 .. k - 1.
        source: Where the numbers come from, in words; certificates print it.

    Raises:
        InputError: For matrices that are no transition matrices of one size, an unknown or unused matrix, and
            "stationary" where that distribution is not unique.

    Examples:
        >>> day, night = [[0.8, 0.2], [0.3, 0.7]], [[0.99, 0.01], [0.6, 0.4]]
        >>> chain = PeriodicChain([night, day], 48, [0] * 7 + [1] * 15 + [0] * 2, states=["still", "walking"])
        >>> chain.period, [round(float(chain.marginal(hour)[1]), 3) for hour in (3, 6, 12, 27)]
        (24, [0.02, 0.017, 0.388, 0.02])
    """

    matrices: tuple[FloatArray, ...]
    matrix_of: tuple[int, ...]
    start: int
    length: int
    initial: str | tuple[float, ...]
    states: tuple[State, ...] = field(metadata=VALUES)
    source: str = "assumed"

    answers: ClassVar = {
        "the distribution of the answer": "analysis.answer_laws.chain:ChainLaw",
        "the mean of an answer": "analysis.expectations.means:OfChain",
        "what is known of quilts": "influence.quilts.of_chains:PERIODIC",
        "the list of joint states": "audit.states:ChainStates",
        "the distribution of a cell": "analysis.cell_laws.characteristic:of_chain",
        "the moments of a count": "analysis.expectations.moments_of_chains:of_chain",
        "the moments of a count over pieces": "analysis.expectations.moments_of_chains:of_chains",
        "the distribution of an entry": "analysis.answer_laws.chain:ChainMarginal",
        "data drawn from a belief": "analysis.questions.made_up_data:of_chain",
        "what a profile costs its secrets": "influence.curves:CHAIN",
    }

    def __init__(
        self,
        matrices: Sequence[Sequence[Sequence[float]] | FloatArray],
        length: int,
        matrix_of: Iterable[int] | None = None,
        start: int = 0,
        initial: Start = "stationary",
        states: Iterable[State] | None = None,
        source: str = "assumed",
    ) -> None:
        tables = _matrices(matrices)
        numbers = _numbers(range(len(tables)) if matrix_of is None else matrix_of, len(tables))
        if isinstance(start, bool) or not isinstance(start, int):
            raise InputError(f"start is {start!r}", rule="it is the place of the first entry in a period").at("start")
        set_fields(
            self, matrices=tables, length=checked_length(length), matrix_of=numbers, start=start % len(numbers),
            initial=checked_start(initial, len(tables[0])), states=checked_states(states, len(tables[0]), "the chain"),
            source=source,
        )  # fmt: skip
        if self.initial == "stationary":
            _ = self.stationary_laws

    @property
    def period(self) -> int:  # type: ignore[override]
        """After how many steps the matrices are the same again."""
        return len(self.matrix_of)

    def phase(self, before: int) -> int:
        return (self.start - before) % self.period

    @cached_property
    def step_matrices(self) -> FloatArray:
        """Return the matrices of a period's steps, shape (period, k, k).

        The t-th matrix is that of the step from X_t to X_{t+1}.
        """
        order = np.roll(np.array(self.matrix_of), -self.start)
        matrices: FloatArray = np.array(self.matrices)[order]
        matrices.setflags(write=False)
        return matrices

    @cached_property
    def stationary_laws(self) -> tuple[Wide, ...]:
        """Return the laws of X_0, ..., X_{period-1} in the long run.

        The law of X_t is the stationary law of M_t ... M_{t+period-1}. Raises InputError where it is not unique, or
        where a period has transitions of a probability below 1e-270.
        """
        return repeating_laws(self.step_matrices)

    @property
    def has_given_start(self) -> bool:
        """Return whether the law fixes the recording's first step."""
        return not isinstance(self.initial, str)

    @property
    def wide_start(self) -> Wide:
        """Return the law of the first entry; raises Unsupported for initial="any"."""
        if self.initial == "stationary":
            return self.stationary_laws[0]
        return Wide.of(self.marginals(1)[0])

    def marginal(self, entry: int) -> FloatArray:
        """Return the distribution of one entry.

        Args:
            entry: Its number, from 0.

        Returns:
            Probabilities, shape (k,).

        Raises:
            Unsupported: For initial="any": a class has no single one.
        """
        if self.initial == "stationary":
            return self.stationary_laws[entry % self.period].floats()
        return np.asarray(self.marginals(entry + 1)[entry])

    def marginals(self, count: int | None = None) -> FloatArray:
        """Return the distributions of the first entries.

        Args:
            count: How many; None for all.

        Returns:
            Probabilities, shape (count, k).

        Raises:
            Unsupported: For initial="any": a class has no single one.
        """
        if self.initial == "any":
            raise Unsupported(
                'a chain with initial="any" is a class', rule="no single marginal distribution exists"
            ).at("initial")
        if count is None:
            count = self.length
        if self.initial == "stationary":
            repeated = np.array([law.floats() for law in self.stationary_laws])
            if self.period == 1:
                return np.broadcast_to(repeated, (count, len(self.states)))
            return np.asarray(repeated[np.arange(count) % self.period])
        laws: FloatArray = np.empty((count, len(self.states)))
        laws[0] = np.array(self.initial)
        for t in range(1, count):
            laws[t] = laws[t - 1] @ self.step_matrices[(t - 1) % self.period]
        return laws

    @property
    def starts_anyhow(self) -> bool:
        return self.initial == "any"

    @cached_property
    def supports(self) -> Supports:
        """Return the possible values of each entry, for any length."""
        if self.initial == "stationary":
            return Supports(tuple(law.support for law in self.stationary_laws), 0)
        if self.initial == "any":
            start = np.ones(len(self.states), dtype=bool)
        else:
            start = np.array(self.initial) > 0
        return supports_from(start, self.step_matrices > 0)

    @cached_property
    def followers(self) -> BoolArray | None:
        can = self.step_matrices > 0
        return None if can.all() else can

    def possible(self, entry: int) -> tuple[bool, ...]:
        return self._possible[self.supports.number(entry)]

    @cached_property
    def _possible(self) -> tuple[tuple[bool, ...], ...]:
        return tuple(tuple(map(bool, pattern)) for pattern in self.supports.patterns)

    def with_length(self, length: int) -> Self:
        """Return the same chain with another number of steps.

        Args:
            length: The number.

        Returns:
            The chain.
        """
        return self if length == self.length else self._from(0, length)

    def from_step(self, step: int, length: int) -> Self | None:
        if step % self.period == 0 and not self.has_given_start:
            return self.with_length(length)
        return None if step and self.has_given_start else self._from(step, length)

    def _from(self, step: int, length: int) -> Self:
        """Return the same chain from a step on, with all known laws."""
        turned = object.__new__(type(self))
        start = (self.start + step) % self.period
        set_fields(turned, **{**values_by_field(self), "length": checked_length(length), "start": start})
        for name in {"step_matrices", "stationary_laws"} & self.__dict__.keys():
            turned.__dict__[name] = _turned(self.__dict__[name], step % self.period)
        return turned

    def laws_of(self, steps: IntArray) -> frozenset[int]:
        if self.period == 1:
            return frozenset((0,))
        return frozenset(np.array(self.matrix_of)[(self.start + steps) % self.period].tolist())

    def assumptions(self) -> tuple[Assumption, ...]:
        starts: dict[object, str] = {"stationary": "the one that is the same a period later", "any": "unknown"}
        how = f"Its initial distribution is {starts.get(self.initial, 'given')}."
        return (
            world(
                "The sequence is a Markov chain, and each step follows the stated transition matrix of its place in a "
                f"period of {self.period} steps. {how}"
            ),
            public("The length of the sequence is public, and so is where in a period it starts."),
        )

    def _described(self, length: str) -> str:
        return (
            f"a Markov chain over {len(self.states)} states with {len(self.matrices)} matrices in a period of "
            f"{self.period} steps, from step {self.start} of it, {length}{self._start_and_source()}"
        )

    def _start_and_source(self) -> str:
        starts: dict[object, str] = {"stationary": "begun long before", "any": "unknown initial distribution"}
        return f"{starts.get(self.initial, 'given start')} ({self.source})"


def repeating_laws(step_matrices: FloatArray) -> tuple[Wide, ...]:
    """Return the law before each of a period's steps that is the same a period later."""
    if len(step_matrices) == 1:
        return (wide_stationary_law(step_matrices[0]),)
    products = over_period(step_matrices, np.matmul)
    can = over_period(step_matrices > 0, leads)
    if (products[can] < TRUSTED).any():
        raise InputError(
            "a transition over a whole period has a probability below 1e-270",
            rule="it is too small for the distribution that repeats after a period",
            fix='give initial=[...] or initial="any"',
        ).at("initial")
    try:
        return tuple(map(wide_stationary_law, products))
    except InputError:
        raise InputError(
            "more than one distribution of the first entry is the same a period later",
            rule="over a period the chain has several closed classes of states",
            fix='give initial=[...] or initial="any"',
        ).at("matrices") from None


def _turned(by_phase: ByPhase, step: int) -> ByPhase:
    """Return the values of each phase in the order of another start."""
    if not step:
        return by_phase
    if isinstance(by_phase, tuple):
        return by_phase[step:] + by_phase[:step]
    return np.roll(by_phase, -step, axis=0)


def over_period(steps: Matrices, multiply: Callable[[Matrices, Matrices], Matrices]) -> Matrices:
    """Return the products of a period from each step, by doubling."""
    # the t-th is steps[t] steps[t+1] ... steps[t+p-1], indices modulo p, the number of steps
    run, length, product, done = steps, 1, None, 0
    while True:
        if len(steps) & length:
            product = run if product is None else multiply(product, np.roll(run, -done, axis=0))
            done += length
        if done == len(steps):
            return np.asarray(product)
        run, length = multiply(run, np.roll(run, -length, axis=0)), 2 * length


def _matrices(matrices: Iterable[Sequence[Sequence[float]] | FloatArray]) -> tuple[FloatArray, ...]:
    tables = []
    try:
        squares = list(matrices)
    except TypeError:
        raise InputError("the matrices are no list", fix="give a list of k by k tables").at("matrices") from None
    for number, matrix in enumerate(squares):
        with within("matrices", number):
            tables.append(stochastic_matrix(matrix))
    if not tables or len({table.shape for table in tables}) != 1:
        raise InputError(
            f"the matrices have the sizes {list(map(len, tables))}",
            rule="there is at least one, and all are about the same states",
        ).at("matrices")
    return tuple(tables)


def _numbers(matrix_of: Iterable[int], count: int) -> tuple[int, ...]:
    """Return the matrix number of each step of the shortest period."""
    numbers = tuple(list_of(matrix_of, "matrix_of", "matrix_of", "[0, 0, 1]"))
    if not 1 <= len(numbers) <= LONGEST_PERIOD:
        raise InputError(
            f"the period has {len(numbers)} steps", rule=f"it has at least 1 and at most {LONGEST_PERIOD:,}"
        ).at("matrix_of")
    choices = set(range(count))
    if any(isinstance(n, bool) or not isinstance(n, Hashable) or n not in choices for n in numbers):
        raise InputError(
            "matrix_of names a matrix that there is not", rule=f"it holds numbers from 0 to {count - 1}"
        ).at("matrix_of")
    numbers = tuple(map(int, numbers))
    unused = set(range(count)) - set(numbers)
    if unused:
        raise InputError(
            f"no step has matrix {min(unused)}", fix="leave it out, or name it in matrix_of"
        ).at("matrices")
    return numbers[: _shortest_period(numbers)]


def _shortest_period(numbers: tuple[int, ...]) -> int:
    """Return the shortest period of numbers, a divisor of their length."""
    border, borders = 0, [0]  # the longest proper border of each prefix (Knuth, Morris and Pratt 1977)
    for n in range(1, len(numbers)):
        while border and numbers[n] != numbers[border]:
            border = borders[border - 1]
        border += numbers[n] == numbers[border]
        borders.append(border)
    p = len(numbers) - borders[-1]
    return p if len(numbers) % p == 0 else len(numbers)
