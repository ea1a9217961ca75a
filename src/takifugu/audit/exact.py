"""The true loss of a release, found the slow way: every joint state, every answer, every output that matters.

For an ordered comparison a -> b the loss is sup over outputs y of log P(y | a) / P(y | b), and the true delta at
epsilon is the sum over y of the positive part of P(y | a) - e^epsilon P(y | b). All conditional laws come from one list
of joint states with integer weights, the noise from the definition of its law with 60 digits; nothing of the
calibration is used. Several releases on the same data are one release of a longer vector.

Laplace noise: in each coordinate, the others fixed, the ratio is monotone between neighbouring atoms and constant
beyond them, so the supremum lies in the grid of all coordinates' places from one below the lowest atom to one above
the highest. For a chain with any initial distribution see `any_start`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from mpmath import mp, mpf

from takifugu.analysis.questions.joint_states import joint_states
from takifugu.analysis.randomisers import Randomiser
from takifugu.audit import real_line
from takifugu.audit.any_start import Side, largest_ratio
from takifugu.audit.noise_masses import DIGITS, is_joint
from takifugu.audit.releases import Release, hypotheses
from takifugu.core.errors import InputError
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers.rationals import Number, as_epsilon


class Calibrated(Protocol):
    """What is audited of a calibration: what it hides, what is published, and the noise."""

    @property
    def framework(self) -> Framework: ...

    @property
    def query(self) -> Query: ...

    @property
    def randomiser(self) -> Randomiser: ...


@dataclass(frozen=True)
class Audit:
    """The true loss (or delta), where it is reached, and bounds that take the rounding of the belief into account.

    `output` is in answer units, one number (or label) per cell of every release. `upper` is infinite (for a delta: 1)
    when chains stood for a class.
    """

    loss: float
    comparison: str
    output: tuple[Hashable, ...]
    lower: float
    upper: float


def true_loss(
    subject: Calibrated | Framework,
    query: Query | None = None,
    randomiser: Randomiser | None = None,
    chains: Sequence[MarkovChain] = (),
) -> Audit:
    """Return the true loss of a calibration, or of a framework, a query and a randomiser.

    Exact for tables, chains of a stationary or given start, and chains with any initial distribution (the supremum over
    all initial laws). For a class of chains it is the loss over the given `chains` of that class, a lower bound.

    Raises Unsupported beyond two million joint states or too many outputs, for normal noise, and for a class without
    chains; InputError for a chain outside its class.

    >>> from fractions import Fraction
    >>> from takifugu import Count, MarkovChain, Pufferfish, every_entry
    >>> from takifugu.analysis.randomisers import DiscreteLaplace
    >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=1)
    >>> audit = true_loss(Pufferfish(every_entry(), chain), Count(1), DiscreteLaplace(Fraction(2), Fraction(1)))
    >>> round(audit.loss, 12), audit.comparison
    (0.5, 'step 0 = 0 against step 0 = 1')
    """
    framework, query, randomiser = _parts(subject, query, randomiser)
    return joint_loss(framework, [(query, randomiser)], chains)


def joint_loss(framework: Framework, releases: Sequence[Release], chains: Sequence[MarkovChain] = ()) -> Audit:
    """Return the true loss of several releases on the same data, their noises independent (see `true_loss`)."""
    noises = [noise for _, noise in releases for _ in range(1 if is_joint(noise) else noise.cells)]
    with mp.workdps(DIGITS):
        best: tuple[mpf, str, tuple[int, ...], float] = (mp.mpf(0), "", (), 0.0)
        for case in hypotheses(framework, releases, chains):
            outputs, masses = case.channel.bounded
            sides = case.sides(masses)
            for a, b in case.pairs:
                for place, output in enumerate(outputs):
                    ratio = largest_ratio(sides[a], sides[b], place)
                    if ratio > best[0]:
                        best = ratio, case.describe(a, b), output, case.relative_error
        ratio, comparison, output, error = best
        if not comparison:
            raise InputError("the framework compares nothing", rule="every secret has probability zero").at("framework")
        loss = float(mp.log(ratio)) if mp.isfinite(ratio) else math.inf
        slack = 4 * error + abs(loss) * 2.0**-50 if math.isfinite(loss) else 0.0
        upper = math.inf if _has_class(framework) else loss + slack
        where = tuple(map(_published, output, noises))
        return Audit(loss, comparison, where, loss - slack, upper)


def true_delta(
    subject: Calibrated | Framework,
    epsilon: Number,
    query: Query | None = None,
    randomiser: Randomiser | None = None,
    chains: Sequence[MarkovChain] = (),
) -> Audit:
    """Return the true delta at `epsilon` (as the `loss` of an Audit; its `output` is the one that adds most).

    The sum runs over all outputs but a set of mass 1e-25 per cell. With any initial distribution `loss` and `lower` are
    over point starts and `upper` over all pairs of point starts, one per side: the supremum lies between them. For a
    real-valued answer it is the delta before rounding to the grid, of which the published value has at most as much.

    Raises what `true_loss` raises, except that normal noise is fine.

    >>> from fractions import Fraction
    >>> from takifugu import Count, MarkovChain, Pufferfish, every_entry
    >>> from takifugu.analysis.randomisers import DiscreteLaplace
    >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=1))
    >>> round(true_delta(framework, 0.5, Count(1), DiscreteLaplace(Fraction(1), Fraction(1))).loss, 9)
    0.287649137
    """
    framework, query, randomiser = _parts(subject, query, randomiser)
    budget = as_epsilon(epsilon)
    if real_line.is_real(framework):
        return _on_the_real_line(framework, query, randomiser, budget)
    with mp.workdps(DIGITS):
        factor = mp.exp(mp.mpf(budget.numerator) / budget.denominator)
        low = high = mp.mpf(0)
        comparison, error = "", 0.0
        where: tuple[int, ...] = ()
        for case in hypotheses(framework, [(query, randomiser)], chains):
            outputs, masses = case.channel.spread
            sides = case.sides(masses)
            error = max(error, case.relative_error)
            for a, b in case.pairs:
                for same_start, excess in _excesses(sides[a], sides[b], factor):
                    delta = mp.fsum(x for x in excess if x > 0)
                    high = max(high, delta)
                    if same_start and (delta > low or not comparison):
                        low, comparison = max(low, delta), case.describe(a, b)
                        where = outputs[max(range(len(outputs)), key=excess.__getitem__)]
        slack = 1e-24 * randomiser.cells + 4 * error
        upper = 1.0 if _has_class(framework) else min(1.0, float(high) + slack)
        output = tuple(_published(y, randomiser) for y in where)
        return Audit(min(1.0, float(low)), comparison, output, max(0.0, float(low) - slack), upper)


def _on_the_real_line(framework: Framework, query: Query, randomiser: Randomiser, epsilon: Fraction) -> Audit:
    """Return the true delta before the noisy answer is rounded: what is published has at most that."""
    with mp.workdps(real_line.DIGITS):
        exponent = mp.mpf(epsilon.numerator) / epsilon.denominator
        worst = max(real_line.divergences(framework, query, randomiser, exponent), key=lambda one: one.delta)
        delta = min(1.0, float(worst.delta))
        slack = real_line.SLACK
        return Audit(delta, worst.comparison, (worst.place,), max(0.0, delta - slack), min(1.0, delta + slack))


def _published(output: int, noise: Randomiser) -> Hashable:
    """Return an output as it is published: in answer units where it is a number."""
    return output * noise.grid if noise.output.is_number else output


def _excesses(left: Side, right: Side, factor: mpf) -> list[tuple[bool, list[mpf]]]:
    """Return P(y | a) - factor P(y | b) at all outputs for each start on either side, and whether both are the same."""
    excesses = []
    for i, mass in enumerate(left.masses):
        for j, other in enumerate(right.masses):
            if mass and other:
                pairs = zip(left.outputs[i], right.outputs[j], strict=True)
                excesses.append((i == j, [n / mass - factor * k / other for n, k in pairs]))
    return excesses


def _parts(
    subject: Calibrated | Framework, query: Query | None, randomiser: Randomiser | None
) -> tuple[Framework, Query, Randomiser]:
    if not isinstance(subject, Framework):
        return subject.framework, subject.query, subject.randomiser
    if query is None or randomiser is None:
        raise InputError(
            "an audit of a framework needs the query and the noise", fix="true_loss(framework, query, noise)"
        ).at("query")
    return subject, query, randomiser


def _has_class(framework: Framework) -> bool:
    return any(joint_states(belief).is_class for belief in framework.beliefs)
