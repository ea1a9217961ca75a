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

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Protocol, runtime_checkable

from mpmath import mp, mpf

from takifugu.analysis.calibrated import Calibrated
from takifugu.analysis.questions.joint_states import joint_states, stand_ins
from takifugu.analysis.randomisers import Randomiser, RoundedLaplace
from takifugu.audit import real_line
from takifugu.audit.any_start import is_limit, largest_ratio
from takifugu.audit.chain_sweeps import Sweep, sweep_of
from takifugu.audit.compared_pairs import left_out
from takifugu.audit.noise_masses import DIGITS, Finite, is_joint
from takifugu.audit.populations import largest_over_class
from takifugu.audit.releases import Hypotheses, Release, hypotheses
from takifugu.audit.results import Audit, largest
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.rules import check_any, check_type, pairs_of
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.model.secrets.of_populations import WhichPopulation
from takifugu.numbers.rationals import Number, as_epsilon, as_mpf


@runtime_checkable
class OnCells(Protocol):
    """The least that every kind of noise has."""

    @property
    def kind(self) -> str: ...

    @property
    def cells(self) -> int: ...


#: What an audit is given.
CALIBRATION = ("a calibration", "give what calibrate(...) or Pufferfish(...) returns")
#: What is left open of a class of laws, and of a real-valued answer.
CLASS = "it is a class of distributions, of which the audit lists the given members only"
REAL = "the answer is a real number, of which the audit encloses the loss after Laplace noise, and the delta"


def exact_loss(
    subject: Calibrated | Framework,
    query: Query | None = None,
    randomiser: Randomiser | None = None,
    chains: Sequence[MarkovChain] = (),
) -> Audit:
    """Compute the true privacy loss of a calibration or a release.

    It is exact for tables, for chains with any initial distribution (the supremum over all), and for counted
    populations whose rows are sent one by one. For another class it is a lower bound, over the given members; `upper`
    is then infinite. For a real-valued answer, `lower` and `upper` enclose the loss of Laplace noise before rounding,
    which can only hide more; with other noise `upper` is infinite. They are of numbers before these are rounded,
    clipped or replaced when they are read.

    Args:
        subject: A calibration, a release, or a framework.
        query: The query, with a framework.
        randomiser: The noise, with a framework.
        chains: Members of a class of chains, or of another class.

    Returns:
        The loss, the comparison and output that have it, and bounds.

    Raises:
        Unsupported: Beyond two million joint states or too many outputs, and for normal noise.
        InputError: For a member outside its class.

    Examples:
        >>> from fractions import Fraction
        >>> from takifugu import Count, MarkovChain, Pufferfish, every_entry
        >>> from takifugu.analysis.randomisers import DiscreteLaplace
        >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=1)
        >>> audit = exact_loss(Pufferfish(every_entry(), chain), Count(1), DiscreteLaplace(Fraction(2), Fraction(1)))
        >>> round(audit.loss, 12), audit.comparison
        (0.5, 'step 0 = 0 against step 0 = 1')
    """
    framework, query, randomiser = _parts(subject, query, randomiser)
    return joint_loss(framework, [(query, randomiser)], chains)


def joint_loss(framework: Framework, releases: Sequence[Release], chains: Sequence[MarkovChain] = ()) -> Audit:
    """Compute the true loss of several releases with independent noise about the same data.

    Args:
        framework: The secrets and beliefs.
        releases: A query and its noise, for each release.
        chains: Members of a class of chains, or of another class.

    Returns:
        The loss, the comparison and outputs that have it, and bounds.

    Raises:
        InputError: Where the framework compares nothing.
        Unsupported: As `exact_loss`.

    Examples:
        >>> from fractions import Fraction
        >>> from takifugu import Count, MarkovChain, Pufferfish, every_entry
        >>> from takifugu.analysis.randomisers import DiscreteLaplace
        >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=1))
        >>> noise = DiscreteLaplace(Fraction(2), Fraction(1))
        >>> round(joint_loss(framework, [(Count(1), noise), (Count(1), noise)]).loss, 9)
        1.0
    """
    check_type(framework, Framework, "a framework", "write Pufferfish(secrets, beliefs)", "framework")
    releases = pairs_of(releases, "the releases", "releases", "[(query, noise)]")
    check_any(releases, "nothing is audited", "releases")
    noises: list[Randomiser] = []
    for _, noise in releases:
        _check_noise(noise)
        count = 1 if is_joint(noise) else noise.cells
        noises += [noise] * count
    if real_line.is_real(framework):
        if len(releases) == 1 and isinstance(noises[0], RoundedLaplace):
            return largest(real_line.losses(framework, releases[0][0], noises[0]))
        return Audit(math.inf, "", (), 0.0, math.inf, REAL)
    if _has_class(framework) and not chains:
        return _over_class(framework, releases)
    every, listed = _answered(framework, releases, chains, Sweep.loss)
    every += _listed_loss(hypotheses(framework, releases, listed), noises)
    if not every:
        raise _compares_nothing()
    audit = largest(every)
    open_words = _left_open(framework)
    return replace(audit, upper=math.inf, left_open=open_words) if open_words else audit


def _left_open(framework: Framework) -> str:
    """Say what was not examined: other members of a class, or paths of secret runs; "" where all was."""
    if _has_class(framework):
        return CLASS
    beliefs = () if framework.is_pair else framework.beliefs
    return next(filter(None, (left_out(framework.secrets, belief) for belief in beliefs)), "")


def _answered(
    framework: Framework, releases: Sequence[Release], chains: Sequence[MarkovChain], ask: Callable[[Sweep], Audit]
) -> tuple[list[Audit], list[Belief]]:
    """Return what long chains are found to lose, and the beliefs to list."""
    swept, listed = list[Audit](), list[Belief]()
    beliefs = () if framework.is_pair else framework.beliefs
    for belief in itertools.chain.from_iterable(stand_ins(belief, chains) for belief in beliefs):
        sweep = sweep_of(belief, framework.secrets, releases)
        if sweep is None:
            listed.append(belief)
            continue
        try:
            swept.append(ask(sweep))
        except Unsupported:
            if not sweep.can_be_listed:
                raise
            listed.append(belief)
    return [audit for audit in swept if audit.comparison], listed


def _compares_nothing() -> InputError:
    return InputError("the framework compares nothing", rule="every secret has probability zero").at("framework")


def _listed_loss(cases: Iterable[Hypotheses], noises: Sequence[Randomiser]) -> list[Audit]:
    """Return the largest loss of listed joint states, if any."""
    with mp.workdps(DIGITS):
        best: tuple[mpf, str, tuple[int, ...], float] = (mp.mpf(0), "", (), 0.0)
        for case in cases:
            outputs, masses = case.channel.bounded
            sides = case.sides(masses)
            for a, b in case.pairs:
                weight = case.weight(a, b)
                for place, output in enumerate(outputs):
                    ratio = _weighed(largest_ratio(sides[a], sides[b], place), weight)
                    if ratio > best[0]:
                        best = ratio, case.describe(a, b), output, case.relative_error
        ratio, comparison, output, error = best
        if not comparison:
            return []
        loss, slack = math.inf, 0.0
        if mp.isfinite(ratio):
            loss = float(mp.log(ratio))
            slack = 4 * error + abs(loss) * 2.0**-50
        return [Audit(loss, comparison, tuple(map(_published, output, noises)), loss - slack, loss + slack)]


def _weighed(ratio: mpf, weight: Fraction) -> mpf:
    """Return a ratio to the power of 1 / weight: e^loss per unit of it."""
    if weight == 1:
        return ratio
    if weight == 0 and ratio > 1 + mp.mpf(10) ** -20:
        return mp.inf
    if weight == 0:
        return mp.mpf(1)
    return ratio ** as_mpf(1 / weight)


def _over_class(framework: Framework, releases: Sequence[Release]) -> Audit:
    """Return the largest loss over a class, unbounded but for populations."""
    unbounded = Audit(math.inf, "", (), 0.0, math.inf, CLASS)
    (belief, *more), (secret, *more_secrets) = framework.beliefs, framework.secrets
    if more or more_secrets or not isinstance(belief, FromPopulations) or not isinstance(secret, WhichPopulation):
        return unbounded
    noises = []
    for query, noise in releases:
        if query.to_dict()["kind"] != "each-value" or not isinstance(noise, Finite):
            return unbounded
        noises.append(noise)
    return largest_over_class(belief, noises, secret.distance) or unbounded


def exact_delta(
    subject: Calibrated | Framework,
    epsilon: Number | None = None,
    query: Query | None = None,
    randomiser: Randomiser | None = None,
    chains: Sequence[MarkovChain] = (),
) -> Audit:
    """Compute the true delta at an epsilon.

    The sum runs over all outputs but a set of mass 1e-25 for each cell. With any initial distribution the supremum lies
    between `lower` (point starts, and pairs of them that laws come near to) and `upper` (all pairs, one for each side).
    For a real-valued answer both enclose the delta before rounding, of which the published value has at most as much.
    They are of numbers before these are rounded, clipped or replaced when they are read.
    For a class `upper` is 1.

    Args:
        subject: A calibration, a release, or a framework.
        epsilon: The epsilon; None for that of the calibration.
        query: The query, with a framework.
        randomiser: The noise, with a framework.
        chains: Members of a class of chains, or of another class.

    Returns:
        The delta as `loss`, its comparison, the output that adds most, and bounds.

    Raises:
        Unsupported: As `exact_loss`, but not for normal noise.
        InputError: As `exact_loss`, and for a framework without epsilon.

    Examples:
        >>> from fractions import Fraction
        >>> from takifugu import Count, MarkovChain, Pufferfish, every_entry
        >>> from takifugu.analysis.randomisers import DiscreteLaplace
        >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=1))
        >>> round(exact_delta(framework, 0.5, Count(1), DiscreteLaplace(Fraction(1), Fraction(1))).loss, 9)
        0.287649137
    """
    budget = _promised(subject) if epsilon is None else as_epsilon(epsilon)
    framework, query, randomiser = _parts(subject, query, randomiser)
    if _has_class(framework) and not chains:
        return Audit(1.0, "", (), 0.0, 1.0, CLASS)
    if real_line.is_real(framework):
        return _at_most_one(largest(real_line.deltas(framework, query, randomiser, budget)))
    _check_noise(randomiser)
    releases = [(query, randomiser)]
    every, listed = _answered(framework, releases, chains, lambda sweep: sweep.delta(budget))
    if listed or not every:
        every.append(_largest_delta(hypotheses(framework, releases, listed), randomiser, budget))
    audit = largest(every)
    if not audit.comparison:
        raise _compares_nothing()
    if open_words := _left_open(framework):
        return replace(audit, upper=1.0, left_open=open_words)
    return _at_most_one(audit)


def _at_most_one(delta: Audit) -> Audit:
    return replace(delta, loss=min(1.0, delta.loss), upper=min(1.0, delta.upper))


def _promised(subject: Calibrated | Framework) -> Fraction:
    if isinstance(subject, Framework):
        raise InputError("an audit of a framework's delta needs an epsilon", fix="exact_delta(framework, 1, ...)").at(
            "epsilon"
        )
    check_type(subject, Calibrated, *CALIBRATION, "subject")
    return subject.guarantee.epsilon


def _largest_delta(cases: Iterable[Hypotheses], randomiser: Randomiser, epsilon: Fraction) -> Audit:
    """Return the largest sum of excesses, in 60 digits."""
    with mp.workdps(DIGITS):
        low = high = mp.mpf(0)
        comparison, error = "", 0.0
        place: tuple[int, ...] = ()
        for case in cases:
            outputs, _ = case.channel.spread
            error = max(error, case.relative_error)
            for a, b, is_near, excess in _excesses(case, epsilon):
                delta = mp.fsum(x for x in excess if x > 0)
                high, comparison = max(high, delta), comparison or case.describe(a, b)
                if is_near and (delta > low or not place):
                    low, comparison = max(low, delta), case.describe(a, b)
                    place = outputs[max(range(len(outputs)), key=excess.__getitem__)]
        slack = 1e-24 * randomiser.cells + 4 * error
        output = tuple(_published(y, randomiser) for y in place)
        lower, upper = max(0.0, float(low) - slack), min(1.0, float(high) + slack)
        return Audit(min(1.0, float(low)), comparison, output, lower, upper)


def _published(output: int, noise: Randomiser) -> Hashable:
    """Return an output as published, numbers in answer units."""
    if noise.output.is_number:
        return output * noise.grid
    return output


def _excesses(case: Hypotheses, epsilon: Fraction) -> Iterator[tuple[int, int, bool, list[mpf]]]:
    """Yield P(y | a) - e^epsilon P(y | b) by pair and start, and whether laws come near to both starts at once."""
    sides = case.sides(case.channel.spread[1])
    for a, b in case.pairs:
        factor = mp.exp(as_mpf(epsilon * case.weight(a, b)))
        left, right = sides[a], sides[b]
        for i, mass in enumerate(left.masses):
            for j, other in enumerate(right.masses):
                if mass and other:
                    masses = zip(left.outputs[i], right.outputs[j], strict=True)
                    excess = [n / mass - factor * k / other for n, k in masses]
                    yield a, b, is_limit(i, j, left.masses, right.masses), excess


def _parts(
    subject: Calibrated | Framework, query: Query | None, randomiser: Randomiser | None
) -> tuple[Framework, Query, Randomiser]:
    if isinstance(subject, Calibrated):
        return subject.framework, subject.query, subject.randomiser
    check_type(subject, Framework, *CALIBRATION, "subject")
    if query is None or randomiser is None:
        raise InputError(
            "an audit of a framework needs the query and the noise", fix="exact_loss(framework, query, noise)"
        ).at("query")
    _check_noise(randomiser)
    return subject, query, randomiser


def _check_noise(noise: object) -> None:
    check_type(noise, OnCells, "noise", "give for example `calibrate(...).randomiser`", "randomiser")


def _has_class(framework: Framework) -> bool:
    return any(joint_states(belief).is_class for belief in framework.beliefs)
