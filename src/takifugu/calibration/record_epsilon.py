"""How much an ordinary differential-privacy library may lose an entry, so that correlated secrets keep their promise.

A mechanism that loses at most c where the value of one entry is replaced, all others being what they are, has the
profile c_t(u, v) = c, and composes like any other (docs/theory/influence.md, Theorems 1 and 5). Where it fails with
probability delta, Theorem 4 turns kappa = delta/(e^c - 1) into kappa (e^loss - 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.calibration import budget_of
from takifugu.core.errors import InputError
from takifugu.core.escaping import at_least
from takifugu.influence.promise import promise_of
from takifugu.mechanisms.influence import part_scales
from takifugu.model.frameworks import Framework
from takifugu.model.queries.additive.counts import EveryChange
from takifugu.model.queries.coding import spelled
from takifugu.numbers.rationals import Number, as_delta, decimal_up, float_below, is_whole

#: What two data sets differ in that the other library calls neighbours.
NEIGHBOURS = ("replace", "add-remove")
#: What floats can miss in sums and exponentials, many times over.
SLACK = 1e-12
#: The largest exponent of which floats are within SLACK.
LARGEST = 600


@dataclass(frozen=True)
class EntryBudget:
    """Each mechanism's budget in another library, by `neighbours`, rounded down."""

    epsilon: float
    delta: float
    neighbours: str
    releases: int = 1

    def __str__(self) -> str:
        repetition = "" if self.releases == 1 else f", each of {self.releases} times"
        failing = f", delta {at_least(self.delta)}" if self.delta else ""
        change = "one entry is added or removed"
        if self.neighbours == "replace":
            change = "the value of one entry is replaced"
        return f"epsilon {at_least(self.epsilon)}{failing}{repetition}, where {change}"


def record_epsilon(
    framework: Framework, epsilon: Number, delta: Number = 0, *, neighbours: str, releases: int = 1
) -> EntryBudget:
    """Compute the largest loss per entry that another library may spend.

    Within it, the secrets keep (epsilon, delta). It covers everything that the library does with the data, or is the
    share of each of so many releases.

    Args:
        framework: The secrets and beliefs, a Pufferfish framework.
        epsilon: The privacy loss of the secrets.
        delta: Its delta.
        neighbours: Meaning of the library's epsilon: "replace" (one entry has another value) or "add-remove" (one entry
            is there or not, worth half). In OpenDP: distance 1 of change-one, or of symmetric distance, with one row an
            entry.
        releases: Number of releases that share it.

    Returns:
        Epsilon and delta of one release.

    Raises:
        InputError: For other neighbours or frameworks, and for entries that may be removed where only values are
            replaced.

    Source: docs/theory/influence.md, Theorems 1, 2, 4 and 5.

    Examples:
        >>> from takifugu import MarkovChain, Pufferfish, every_entry
        >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100))
        >>> print(record_epsilon(framework, 1, neighbours="replace"))
        epsilon 0.299723, where the value of one entry is replaced
        >>> print(record_epsilon(framework, 1, 1e-6, neighbours="add-remove", releases=4))
        epsilon 0.0374654, delta 2.49478e-8, each of 4 times, where one entry is added or removed
    """
    check_neighbours(framework, neighbours)
    if not is_whole(releases, 1):
        raise InputError(f"releases is {releases!r}", rule="it must be a whole number from 1 on").at("releases")
    budget, failing = budget_of(epsilon), as_delta(delta)
    problem = Problem(framework, EveryChange(), budget, failing)
    scale = Fraction(0)
    for part in problem.parts:
        scale = max(scale, part_scales(part, {budget: scale})[budget][0])
    loss = 1 / (scale * problem.grid) if scale else budget  # no secret reads any entry, or none that moves anything
    share = Fraction(0)
    if failing:
        ratio = math.exp(loss - budget) * math.expm1(-loss) / math.expm1(-budget)  # (e^c - 1)/(e^epsilon - 1)
        share = failing * Fraction(ratio * (1 - SLACK))
    loss, share = loss / releases, share / releases
    if neighbours == "add-remove":
        loss /= 2
        share *= Fraction(math.exp(-loss) / (1 + math.exp(-loss)) * (1 - SLACK))  # over 1 + e^c
    return EntryBudget(float_below(loss), float_below(share), neighbours, releases)


def replaced(framework: Framework, epsilon: Number, delta: Number, neighbours: str) -> tuple[Fraction, Fraction]:
    """Return a mechanism's declared loss for one replaced value, rounded up."""
    check_neighbours(framework, neighbours)
    lost, failing = budget_of(epsilon), as_delta(delta)
    if neighbours == "replace":
        return lost, failing
    return 2 * lost, failing * Fraction((1 + _exponential(lost)) * (1 + SLACK)) if failing else failing


def promise_of_entries(framework: Framework, lost: Fraction, failing: Fraction) -> tuple[Fraction, Fraction, Covers]:
    """Return the secrets' promise under a loss per entry, rounded up, and how it composes (Theorem 4)."""
    promise = promise_of(Problem(framework, EveryChange(), Fraction(1)), 1 / lost)
    if not failing:
        return promise.epsilon, failing, promise.covers
    grown = _exponential(max(promise.epsilon - lost, Fraction(0)))
    ratio = grown * math.expm1(-promise.epsilon) / math.expm1(-lost) * (1 + SLACK)  # (e^epsilon - 1)/(e^c - 1)
    return promise.epsilon, as_delta(decimal_up(failing * Fraction(ratio))), Covers.OUTPUT


def _exponential(exponent: Fraction) -> float:
    """Return e^exponent, or raise InputError where no delta could be so small."""
    if exponent > LARGEST:
        raise InputError(
            f"a secret's delta is more than e^{LARGEST} times an entry's", rule="it must be below 1",
            fix="take a mechanism of a smaller epsilon, or without a delta",
        ).at("epsilon")  # fmt: skip
    return math.exp(exponent)


def check_neighbours(framework: Framework, neighbours: str) -> None:
    """Raise InputError for neighbours unfit for the secrets."""
    if not isinstance(framework, Framework) or framework.definition != "pufferfish" or framework.is_pair:
        if isinstance(framework, Framework):
            kind = framework.definition
        else:
            kind = type(framework).__name__
        raise InputError(
            f"the framework is {kind!r}", rule="only entries of one belief or several have a loss",
            fix="write Pufferfish(secrets, beliefs)",
        ).at("framework")  # fmt: skip
    if not isinstance(neighbours, str) or neighbours not in NEIGHBOURS:
        raise InputError(
            f"neighbours is {neighbours!r}",
            rule="an epsilon means nothing without it",
            fix=f"write one of {list(NEIGHBOURS)}: what the other library says that its epsilon is about",
        ).at("neighbours")
    absences: set[str] = set()
    for belief in framework.beliefs:
        absences |= {absence for _, absence in spelled(belief)[0]}
    if "removed" in absences and neighbours == "replace":
        raise InputError(
            "entries of the belief may be removed",
            rule="a loss where a value is replaced says nothing about who is there",
            fix='take a mechanism of "add-remove"',
        ).at("neighbours")
