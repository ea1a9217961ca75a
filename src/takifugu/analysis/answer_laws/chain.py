"""Laws of a scalar answer given an entry of a Markov chain, for all entries at once, by forward-backward convolution.

F(x) = sum_i c_i(x_i). Given X_i = s what the entries up to i add is independent of what those after it add, so the law
of the answer is that of the one sum convolved with that of the other;
neighbouring entries share the long convolutions (answer_laws/forward_backward.py). For a chain of any initial law the
sum up to i is kept for each start state u: the law given X_i = s is a mixture over u of the laws given X_0 = u, X_i =
s.

Every number is a sum of products of positive numbers. For k states, width W of the answer and r places that a block
adds, the steps through the chain make at most k W + (2 k + 6) T roundings, the convolution of both ends 2 W, what
happens inside a block 2 LONGEST (k + 2), and the last product (k**2 + 1)(r + 1). A mass is divided by a sum of weights:
up to twice that (`relative_error`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby

import numpy as np

from takifugu.analysis.answer_laws.dense import DenseFamily
from takifugu.analysis.answer_laws.forward_backward import LONGEST, block_length, each_state, laws_given
from takifugu.analysis.answer_laws.minimax_start import WHOLE
from takifugu.analysis.questions.answer_law import AnswerLaw
from takifugu.analysis.questions.marginal import Marginal, trusted
from takifugu.core.arrays import IntArray
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import compared_values
from takifugu.numbers.extended.floats import UNIT, Wide, shifted, stack


@dataclass(frozen=True, eq=False)
class Steps:
    """The contributions c_i(s) = base_i + unit * offsets[i, s] with offsets >= 0 and the least of a row 0."""

    base: int
    unit: int
    offsets: IntArray

    @property
    def widths(self) -> IntArray:
        """Return the number of places of entries 0..i, for each i."""
        return 1 + np.cumsum(self.offsets.max(axis=1))


def steps(answer: Additive) -> Steps:
    """Write all contributions over one base and the largest common unit."""
    table = np.stack([t[:, 0] for t in answer.tables])
    table_numbers = answer.table_numbers
    offsets = table[table_numbers] * answer.weights[:, None]
    lowest = offsets.min(axis=1)
    offsets = offsets - lowest[:, None]
    unit = max(1, int(np.gcd.reduce(offsets, axis=None)))
    return Steps(int(lowest.sum()), unit, offsets // unit)


def predicted_widths(answer: Additive) -> tuple[int, float]:
    """Return the answer's number of places W, and the mean of w (W - w + 1) over its first entries' w."""
    # only runs of entries that count alike, so that nothing grows with the sequence
    (weights, numbers), ends, times = answer.turn
    tables = [table[:, 0] - table[:, 0].min() for table in answer.tables]
    units = [int(np.gcd.reduce(table)) * abs(weight) for table, weight in _kinds(tables, weights, numbers)]
    unit = max(1, math.gcd(*units))
    spreads = [int(table.max()) * abs(weight) // unit for table, weight in _kinds(tables, weights, numbers)]
    counts = np.diff(ends, prepend=0).tolist()
    of_turn = sum(spread * count for spread, count in zip(spreads, counts, strict=True))
    width, before, products = 1 + times * of_turn, 1, 0
    for spread, count in zip(spreads, counts, strict=True):
        # sums of w and of w**2 over turns m < times and places 1 <= j <= count, w = before + m of_turn + j spread
        m, m2, j, j2 = (*_sums(times - 1), *_sums(count))
        total = times * count * before + count * m * of_turn + times * j * spread
        squares = times * count * before**2 + count * m2 * of_turn**2 + times * j2 * spread**2
        squares += 2 * (before * count * m * of_turn + before * times * j * spread + m * of_turn * j * spread)
        products += (width + 1) * total - squares
        before += spread * count
    return width, products / (times * sum(counts))


def _kinds(tables: Sequence[IntArray], weights: IntArray, numbers: IntArray) -> Iterator[tuple[IntArray, int]]:
    return ((tables[number], weight) for weight, number in zip(weights.tolist(), numbers.tolist(), strict=True))


def _sums(last: int) -> tuple[int, int]:
    """Return 1 + 2 + ... + last, and the sum of their squares."""
    return last * (last + 1) // 2, last * (last + 1) * (2 * last + 1) // 6


class ChainLaw(AnswerLaw[PeriodicChain]):
    """The laws given each possible value of each secret entry, in order, for any start one for each start state."""

    @cached_property
    def steps(self) -> Steps:
        return steps(self.answer)

    @cached_property
    def _predicted(self) -> tuple[int, float]:
        return predicted_widths(self.answer)

    @property
    def hull(self) -> int:
        return len(self.belief.states) ** 2 if self.belief.initial == "any" else 1

    def families(self) -> Iterator[DenseFamily]:
        chain, shape = self.belief, self.steps
        pairs = {i: self.family.value_pairs(chain, i) for i in self.family.entries}
        values = {id(several): compared_values(several) for several in pairs.values()}  # entries share their tuples
        states, error = len(chain.states), relative_error(chain, self.answer)
        first = each_state(states) if chain.initial == "any" else [chain.wide_start[:, None]]
        starts = [shifted(start, shape.offsets[0]) for start in first]
        values_by_entry = {entry: values[id(pairs[entry])] for entry in pairs}
        given_laws = laws_given(list(map(Wide.of, chain.step_matrices)), shape.offsets, starts, values_by_entry)
        for entry, several in groupby(given_laws, key=lambda given: given.entry):
            rows: dict[int, tuple[int, ...]] = {}
            origins: dict[int, tuple[int, ...]] = {}
            laws: list[Wide] = []
            for given in several:
                origins[given.state] = tuple(u for u, law in enumerate(given.laws) if law is not None)
                rows[given.state] = tuple(range(len(laws), len(laws) + len(origins[given.state])))
                laws += [law for law in given.laws if law is not None]
            yield DenseFamily(entry, pairs[entry], rows, origins, stack(laws), shape.base, shape.unit, error)

    def work(self, laplace: bool = False) -> tuple[float, float]:
        chain, entries = self.belief, len(self.family.entries)
        states, (width, products_of_widths) = len(chain.states), self._predicted
        size = block_length(chain.length, states, width)
        hull = states if chain.initial == "any" else 1
        blocks = min(chain.length / size, entries)
        range_of_block = size * width / chain.length + 1
        long = hull * states**2 * products_of_widths * blocks
        places = chain.length / size * (1 + hull) + hull * states * entries
        products = 0.1 * states**2 * range_of_block * width * places
        through = 10.0 * hull * states * width * (entries + chain.length / size)
        # k width numbers for each block of entries, and the laws of one block
        memory = 8.0 * states * width * (chain.length / size + 4 * hull * size) + 1e7
        return long + products + through, memory

    def atoms(self) -> float:
        return float(self._predicted[0])

    def describe(self, entry: int, value: int, number: int, start: int = 0) -> str:
        chain, text = self.belief, super().describe(entry, value, number, start)
        if chain.initial != "any":
            return text
        if number == WHOLE:
            return f"{text} (unknown initial distribution)"
        return f"{text} (started in {chain.states[starts_of(chain, entry, value)[number] or 0]!r})"


def starts_of(chain: PeriodicChain, entry: int, value: int) -> tuple[int | None, ...]:
    """Return the start states of `families`' laws, or (None,) if fixed."""
    if chain.initial != "any":
        return (None,)
    leads, can = np.arange(len(chain.states)) == value, chain.step_matrices > 0
    for before in reversed(range(entry)):
        leads = (can[before % len(can)] & leads).any(axis=1)
    return tuple(np.flatnonzero(leads).tolist())


def relative_error(chain: PeriodicChain, answer: Additive) -> float:
    """Return a bound on the relative error of every mass of `families`."""
    shape, states = steps(answer), len(chain.states)
    longest = int(shape.offsets.max()) * block_length(chain.length, states, int(shape.widths[-1]))
    roundings = states * int(shape.widths[-1]) + (2 * states + 6) * chain.length
    within = (states**2 + 1) * (longest + 1) + 2 * LONGEST * (states + 2)
    if chain.period > 1:  # the stationary law of products over a period (quilts.chain.initial.stationary_term)
        roundings += states**3 + 15 * states**2 + 10 + 2 * states * (3 * states + 4) * chain.period
    return 2.02 * (roundings + 2 * int(shape.widths[-1]) + within + 64) * UNIT


class ChainMarginal(Marginal[PeriodicChain]):
    """The law of one step, where the initial law is known."""

    @property
    def known(self) -> bool:
        return self.belief.initial != "any"

    def of(self, entry: int) -> tuple[list[Fraction], float]:
        chain = self.belief
        if not self.known:
            raise Unsupported(
                "a choice among outputs sees the whole answer, and with an unknown initial distribution what the other "
                "pieces add has no single distribution",
                fix='state it, or use additive noise, mechanism="laplace-exact"',
            )
        rounded = 1.01 * (len(chain.states) + 1) * (entry + 1) * UNIT
        if chain.initial == "stationary":
            law = chain.stationary_laws[entry % chain.period]
            if chain.period > 1:  # of a product over a period
                rounded += 2.02 * len(chain.states) * (3 * len(chain.states) + 4) * chain.period * UNIT
            shares = []
            for mantissa, exponent in zip(law.mantissas.tolist(), law.exponents.tolist(), strict=True):
                shares.append(Fraction(mantissa) * Fraction(2) ** exponent if mantissa else Fraction(0))
            return shares, rounded
        return trusted(chain.marginal(entry), np.asarray(chain.possible(entry))), rounded
