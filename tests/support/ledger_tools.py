"""For composition and the ledger: calibrations without the registry, and the true joint loss by listing everything."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.support.joint_losses import Law, largest_loss, log_densities, log_ratio

from takifugu.accounting.composition import Charge, charge_of
from takifugu.accounting.composition.views import View
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Covers, Guarantee
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace, Randomiser, RoundedNormal
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.beliefs.table import JointTable
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Count, Query
from takifugu.model.secrets.of_entries import attribute, every_entry


@dataclass(frozen=True, eq=False)
class Promised:
    """What `compose` and the ledger need of a calibration."""

    framework: Framework
    query: Query
    randomiser: Randomiser
    guarantee: Guarantee


def promised(framework: Framework, query: Query, mechanism: Any, epsilon: Any = 1) -> Promised:
    """Return what a mechanism promises, without the registry's rules about too little noise."""
    bound = mechanism.bound(Problem(framework, query, Fraction(epsilon)))
    assert isinstance(bound, Bound), bound
    return made(framework, query, bound.randomiser, bound.covers, bound.epsilon, bound.delta)


def made(
    framework: Framework, query: Query, noise: Randomiser, kind: Covers, epsilon: Any = 1, delta: Any = 0
) -> Promised:
    """Return a promise as a test needs it."""
    promise = Guarantee(
        Fraction(epsilon), Fraction(delta), kind, framework.definition, framework.fingerprint(),
        framework.assumptions(), hides_facts=framework.hides_facts,
    )  # fmt: skip
    return Promised(framework, query, noise, promise)


def with_delta(framework: Framework, epsilon: Any) -> Charge:
    """Return a charge of normal noise: of everything, with delta 1/1000."""
    noise = RoundedNormal(Fraction(30), Fraction(1))
    return charge_of(made(framework, Count(1), noise, Covers.EVERYTHING, epsilon, "1/1000"))


def laplace(framework: Framework, query: Query, units: Any, kind: Covers, epsilon: Any = 1) -> Promised:
    """Return a promise of a given kind with discrete Laplace noise of scale `units` in grid units."""
    answer = query.resolve(framework.beliefs[0])
    return made(framework, query, DiscreteLaplace(Fraction(units), answer.grid, answer.cells), kind, epsilon)


FAIR = [[0.5, 0.5], [0.5, 0.5]]


def users(count: int = 3, secrets: Any = None, names: Any = None) -> Framework:
    return Pufferfish(secrets or every_entry(), IndependentUsers([{0: 0.5, 1: 0.5}] * count, names=names))


def steps(
    length: int, secrets: Any = None, initial: Any = "stationary", states: Any = None, rows: Any = FAIR
) -> Framework:
    return Pufferfish(secrets or every_entry(), MarkovChain(rows, length, initial, states))


def pieces(
    *lengths: int, secrets: Any = None, initial: Any = "stationary", states: Any = None, rows: Any = FAIR
) -> Framework:
    chain = MarkovChain(rows, 1, initial, states)
    return Pufferfish(secrets or every_entry(), IndependentPieces(chain, lengths))


def view(framework: Framework) -> View:
    return View(framework, framework.fingerprint())


def chain(length: int = 10, stay: float = 0.8, **options: Any) -> MarkovChain:
    return MarkovChain([[stay, 1 - stay], [1 - stay, stay]], length, **options)


def chain_framework(length: int = 10, stay: float = 0.8) -> Framework:
    return Pufferfish(every_entry(), chain(length, stay))


def one_thing(length: int = 7) -> Framework:
    """Return entries that all have one value: a change of one is a change of all, and epsilons add up exactly."""
    return Pufferfish(every_entry(), JointTable([(0,) * length, (1,) * length], [Fraction(1, 2)] * 2))


def table_framework(rows: Sequence[Sequence[int]], names: Sequence[str], secret: str) -> Framework:
    """Return a uniform table whose column `secret` is hidden."""
    table = JointTable(rows, [Fraction(1, len(rows))] * len(rows), names)
    values = sorted({row[names.index(secret)] for row in rows})
    return Pufferfish([attribute(secret, a, b) for i, a in enumerate(values) for b in values[:i]], table)


#: What each value of each entry adds, a number or a tuple of numbers, and the scale of the noise (none for 0).
Release = tuple[Sequence[Sequence[Any]], Any]

#: errata E12: each of two answers hides s, both together give it away.
TWO_BITS = ([(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)], ["s", "u", "v"])
TWO_NUMBERS = ([(0, 0, 0), (0, 10, 10), (1, 1, 11), (1, 11, 1)], ["s", "u", "v"])


def joint_loss(law: Law, releases: Sequence[Release], entry: int, a: int, b: int) -> float:
    """Return sup over transcripts of log P(transcript | X_entry = a) / P(transcript | X_entry = b)."""
    densities = log_densities(law, *_answers(law, releases), entry)
    return log_ratio(densities[a], densities[b])


def worst_joint_loss(law: Law, releases: Sequence[Release], size: int) -> float:
    """Return the largest joint loss over all entries and ordered pairs of their possible values."""
    return largest_loss(law, *_answers(law, releases), range(size))


def _answers(law: Law, releases: Sequence[Release]) -> tuple[npt.NDArray[np.float64], list[Any]]:
    """Return what each state of a law answers, number by number, and the scale of each number."""
    columns, scales = [], []
    for contributions, scale in releases:
        sums = [np.sum([np.atleast_1d(contributions[i][x]) for i, x in enumerate(path)], axis=0) for path in law]
        columns.append(np.array(sums, dtype=float))
        scales += [scale] * columns[-1].shape[1]
    return np.hstack(columns), scales


def contributions_of(framework: Framework, query: Query) -> list[list[Any]]:
    """Return what each value of each entry adds to a query's answer, in grid units, as the oracle needs it."""
    belief = framework.beliefs[0]
    answer = query.resolve(belief)
    rows = []
    for i in range(answer.size):
        table = np.resize(answer.contribution(i), (len(belief.alphabet(i)), answer.cells))  # unread: one row of zeros
        rows.append([int(r[0]) if len(r) == 1 else tuple(int(v) for v in r) for r in table])
    return rows


def charge(framework: Framework, query: Query, units: Any, kind: Covers, **options: Any) -> Charge:
    return charge_of(laplace(framework, query, units, kind), **{"reading": "the same entries", **options})
