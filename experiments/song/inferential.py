"""Inferential privacy (Ghosh and Kleinberg 2016; Song17 Appendix B.10), the baseline of Song17's experiments.

Let gamma_ij = max of 1/2 log P(X_i = s | x_-i)/P(X_i = s | x'_-i) over values s and x_-i, x'_-i that differ at entry
j only (for sets of values the ratio is no larger than for the best single one). Where Gamma = (gamma_ij) has spectral
norm below 1, a release that is e-differentially private for each single entry, secret or not, moves the log-odds of
X_i = a against X_i = b by at most 2 e max_i sum_j phi_ij, (phi_ij) = (I - Gamma)^-1. So e = D_1/b with D_1 over all
entries of the secret's component. By Bayes' rule posterior odds over prior odds are
P(y | a)/P(y | b): that is the Pufferfish promise for every entry. A matrix that is larger entry by entry is safe too,
because (I - Gamma)^-1 is the sum of the powers of Gamma.

For a chain all gamma_ij of neighbours are replaced by their maximum, as in Song17; it comes from the conditional laws,
the first node with its initial law: the printed closed form has 1 - p0 for p0, and knows no start (errata X6).

The theorem is cited and not proved here, and bounds one release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.analysis.bounds import Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace, Exact, laplace_or_exact
from takifugu.core.arrays import BoolArray, FloatArray
from takifugu.core.errors import Unsupported
from takifugu.core.escaping import number
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.outward_rounding import TRUSTED
from takifugu.numbers.rationals import round_up

#: Entries of a network beyond which the matrix is not inverted.
MOST_ENTRIES = 3_000
#: States of an entry's neighbourhood beyond which its conditional laws are not listed.
MOST_CELLS = 10**6
#: Relative allowance for rounding in Gamma and its inverse, times the condition of I - Gamma.
SLACK = 1e-13


def inferential_noise(problem: Problem) -> DiscreteLaplace | Exact | Refusal:
    """Return Laplace noise of scale 2 D_1 max row sum of (I - Gamma)^-1 / epsilon, or a refusal of the theorem.

    >>> from takifugu import Count, MarkovChain, Pufferfish, every_entry
    >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10))
    >>> inferential_noise(Problem(framework, Count(1), Fraction(1))).reason
    'the influence matrix has spectral norm 2.05338, and inferential privacy requires less than 1'
    """
    if problem.is_pair:
        return Refusal("two distributions of the answer have no values that influence each other")
    problem.check_adds()
    worst = 0.0
    for part in problem.parts:
        spread = spread_of(part.belief)
        if isinstance(spread, Refusal):
            return spread
        if not spread.norm < 1:
            return Refusal(
                f"the influence matrix has spectral norm {number(spread.norm)}, and inferential privacy requires "
                "less than 1"
            )
        worst = max(worst, spread.row_sum)
    change = max((int(part.answer.entry_changes().max(initial=0)) for part in problem.parts), default=0)
    return laplace_or_exact(round_up(2 * change * Fraction(worst) / problem.epsilon), problem.grid, problem.cells)


@dataclass(frozen=True)
class Spread:
    """The spectral norm of Gamma, and the largest row sum of (I - Gamma)^-1 (infinite where the norm is 1 or more)."""

    norm: float
    row_sum: float


def spread_of(belief: Belief) -> Spread | Refusal:
    """Return the spread of one entry's change, or a refusal."""
    if isinstance(belief, MarkovChain):
        if belief.initial == "any":
            return Refusal("with an unknown initial distribution the first value has no conditional one: state it")
        return chain_spread(chain_gamma(belief), belief.length)
    if isinstance(belief, BayesianNetwork):
        gamma = network_gamma(belief)
        return gamma if isinstance(gamma, Refusal) else matrix_spread(gamma)
    return Refusal(
        f"a value's conditional distribution is known for chains and networks, not for {belief.describe()}"
    )


def matrix_spread(gamma: FloatArray) -> Spread:
    """Return the spread of any Gamma; rounding errors are charged upwards."""
    if not np.isfinite(gamma).all():
        return Spread(math.inf, math.inf)
    norm = float(np.linalg.norm(gamma, 2))
    if norm >= 1:
        return Spread(norm, math.inf)
    solved = np.linalg.solve(np.eye(len(gamma)) - gamma, np.ones(len(gamma)))
    return Spread(norm, float(solved.max()) * (1 + SLACK * len(gamma) / (1 - norm)))


def chain_spread(gamma: float, length: int) -> Spread:
    """Return the spread of the matrix with gamma beside its diagonal.

    The norm is 2 gamma cos(pi/(length + 1)). (I - Gamma) x = 1 is solved by elimination without a full matrix.
    """
    norm = 2 * gamma * math.cos(math.pi / (length + 1)) if length > 1 else 0.0
    if not norm < 1:
        return Spread(norm, math.inf)
    factors, totals = [0.0], [0.0]
    for _ in range(length):
        pivot = 1 - gamma * factors[-1]
        factors.append(gamma / pivot)
        totals.append((1 + gamma * totals[-1]) / pivot)
    solved, largest = 0.0, 0.0
    for factor, total in zip(factors[:0:-1], totals[:0:-1], strict=True):
        solved = total + factor * solved
        largest = max(largest, solved)
    return Spread(norm, largest * (1 + SLACK * length / (1 - norm)))


def chain_gamma(chain: MarkovChain) -> float:
    """Return the largest gamma_ij of neighbours in a chain.

    >>> round(chain_gamma(MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10)), 9)
    1.070033082
    """
    if chain.length == 1:
        return 0.0
    steps = np.asarray(chain.matrix)
    start = chain.wide_start
    first = _product(start.floats()[:, None], steps, start.support[:, None])[None]  # P(X_0 = s, X_1 = y), (1, s, y)
    last = steps[_occupied(chain, chain.length - 2)][:, :, None]  # P(s | u): no node after, shape (u, s, 1)
    before = steps[_occupied(chain, chain.length - 3)][:, :, None]
    inner = _product(before, steps[None], before > 0)  # P(s, y | u)
    return max(max(_largest_half_ratio(table, 0), _largest_half_ratio(table, 2)) for table in (first, last, inner))


def _product(left: FloatArray, right: FloatArray, possible: BoolArray) -> FloatArray:
    """Multiply probabilities, refusing products too small to divide by.

    `possible` says which numbers on the left stand for positive ones. Raises Unsupported for too small a product of
    positive numbers.
    """
    product = left * right
    if ((product < TRUSTED) & possible & (right > 0)).any():
        raise Unsupported(
            "a product of probabilities of the belief is below 1e-270, too small for the conditional distributions "
            "of single values in floats",
        )
    return product


def _occupied(chain: MarkovChain, last: int) -> BoolArray:
    """Return the possible values of any entry up to `last`."""
    occupied = np.zeros(len(chain.states), dtype=bool)
    for time in range(last + 1):
        occupied |= np.array(chain.possible(time))
        if occupied.all():
            break
    return occupied


def _largest_half_ratio(table: FloatArray, axis: int) -> float:
    """Return half the largest log-ratio of P(s | x)/P(s | x')."""
    sums = table.sum(axis=1, keepdims=True)
    laws = np.moveaxis(np.divide(table, sums, out=np.full_like(table, np.nan), where=sums > 0), axis, 0)
    most, least = np.fmax.reduce(laws, initial=0.0), np.fmin.reduce(laws, initial=1.0)  # laws that exist, not NaN
    with np.errstate(divide="ignore", invalid="ignore"):
        return 0.5 * float(np.where(most > 0, np.log(most) - np.log(least), 0.0).max(initial=0.0))


def network_gamma(network: BayesianNetwork) -> FloatArray | Refusal:
    """Return Gamma of a network.

    An entry's conditional law given all others is that given its Markov blanket. Values of the blanket that are
    impossible together with the rest are looked at too: that can only raise Gamma.
    """
    if network.size > MOST_ENTRIES:
        return Refusal(
            f'the influence matrix of {network.size} values is too large to invert'
        )
    gamma = np.zeros((network.size, network.size))
    for entry in range(network.size):
        blanket = sorted(network.moral_neighbours[entry])
        scope = [entry, *blanket]
        sizes = [len(network.alphabet(v)) for v in scope]
        if math.prod(sizes) > MOST_CELLS:
            return Refusal(f"the neighbours of {network.names[entry]!r} have too many joint values to list")
        table = np.ones(sizes)
        for v in (entry, *network.children[entry]):
            factor = network.factors[v]
            order = np.argsort(list(map(scope.index, factor.scope)))
            shape = [1] * len(scope)
            for w in factor.scope:
                shape[scope.index(w)] = len(network.alphabet(w))
            table = _product(table, factor.table.transpose(order).reshape(shape), table > 0)
        for place, other in enumerate(blanket, start=1):
            moved = np.moveaxis(table, place, 0)  # (x_j, s, the rest)
            gamma[entry, other] = _largest_half_ratio(moved.reshape(sizes[place], sizes[0], -1), 0)
    return gamma
