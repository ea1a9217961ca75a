"""How much noise: every mechanism as strong as a promise about populations allows.

Every mechanism has one strength that makes it noisier as it falls; its largest value that keeps the promise is found by
bisection, in floating point where the mechanism is a matrix, and what is returned is measured at that value in exact
masses: a measured number that is not monotone, or rounded, can cost use and never privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.core.errors import CalibrationRefused, TakifuguError
from takifugu.core.escaping import at_least, at_most
from takifugu.mechanisms.local.kinds import KINDS, Kind
from takifugu.mechanisms.local.optimal import optimal, optimal_over
from takifugu.mechanisms.local.over_classes import about_ends
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.promises import Promise, hides_population
from takifugu.mechanisms.local.senders import Sender
from takifugu.numbers.atoms import Floats, masses_at
from takifugu.numbers.distributions.channel import from_weights
from takifugu.numbers.distributions.positive_part import mean_positive_part
from takifugu.numbers.rationals import Number, as_non_negative
from takifugu.numbers.search import geometric_mean, halved


@dataclass(frozen=True, eq=False)
class Mechanism:
    """How to make a sender of some strength."""

    make: Callable[[float], Sender]
    #: Its channel's rows before they are divided by their sums; without them each strength that is tried is made.
    weights: Callable[[float], Floats] | None = None
    dummies: int = 0  # its output is sent among so many
    of_distance: bool = True  # per unit of distance; else a number like epsilon


#: The strengths that are tried, times the diameter where they are per unit of distance; how near the best one is met.
_WEAKEST, _STRONGEST, _FINE = 2.0**-30, 2.0**12, 2.0**-12
#: The relative width of an enclosure that proposes a strength.
_ROUGH = 2.0**-10
#: So often a strength that floating point proposes is reduced until exact masses keep the promise.
_TRIES = 8


@dataclass(frozen=True, eq=False)
class Option:
    """One mechanism at the strength that keeps the promise."""

    name: str
    sender: Sender
    strength: float  # 0 for the linear program
    measured: float  # epsilon where delta is 0, else delta at epsilon
    expected_loss: float


def strongest(
    populations: Populations, epsilon: Fraction, delta: Fraction, name: str, dummies: int = 10,
    radius: Number | None = None,
) -> Option:  # fmt: skip
    """Return a mechanism at its largest strength within (epsilon, delta) for every two populations."""
    # `dummies` is the k of tupling; with a `radius` no value is moved farther.
    strength = 0.0
    try:
        mechanism = mechanisms(populations, dummies, radius)[name]
        if mechanism is None:
            sender = optimum(populations, epsilon, delta)
        else:
            largest = largest_strength(mechanism, populations, epsilon, delta)
            if largest is None and radius is not None:
                raise _too_near(mechanism, populations, epsilon, delta)
            if largest is None:
                raise _refused()
            strength, sender = largest, mechanism.make(largest)
        measured = measured_loss(sender, populations, epsilon, delta)
        return Option(name, sender, strength, measured, sender.expected_loss(populations))
    except TakifuguError as reason:
        message = f"{name} does not keep epsilon {at_least(epsilon)}"
        raise CalibrationRefused(message, rule=f"{name}: {reason}").at("mechanism") from reason


def mechanisms(
    populations: Populations, dummies: int = 10, radius: Number | None = None
) -> dict[str, Mechanism | None]:
    """Return the mechanisms that these values allow by name, None for the linear program."""
    reach = math.inf if radius is None else float(as_non_negative(radius, "the radius", "radius"))
    by_name: dict[str, Mechanism | None] = {}
    for name, kind in KINDS.items():
        if kind.applies(populations):
            by_name[name] = mechanism_of(kind, populations, dummies, reach)
    return by_name


def mechanism_of(kind: Kind, populations: Populations, dummies: int, reach: float) -> Mechanism | None:
    """Return a kind of channel for these populations, None for the linear program."""
    rows, values, among = kind.rows, populations.values, dummies if kind.among_dummies else 0
    if rows is None:
        return None

    def weights(strength: float) -> Floats:
        return rows(populations, strength, reach)

    def make(strength: float) -> Sender:
        return Sender(from_weights(values, values, weights(strength)), among)

    return Mechanism(make, weights, among, kind.of_distance)


def optimum(populations: Populations, epsilon: Fraction, delta: Fraction) -> Sender:
    """Return the channel of least expected loss within a promise."""
    apart = populations.distances_apart
    # Over the class of counted populations the loss may be a little above the floor for one value.
    if populations.regions is not None:
        cost = masses_at(populations.prior, populations.values)[:, None] * populations.distances
        return Sender(optimal_over(populations.values, cost, populations.regions, epsilon, delta, apart))
    laws = populations.laws
    promises = []
    for (a, b), distance in apart.items():
        promises.append(hides_population(laws[a], laws[b], epsilon * distance, delta))
    return least_loss(populations, promises)


def least_loss(populations: Populations, promises: Sequence[Promise]) -> Sender:
    """Return the channel of least expected loss within every promise."""
    values = populations.values
    solution = optimal(values, values, populations.prior, populations.distance, promises)
    return Sender(solution.channel)


def largest_strength(
    mechanism: Mechanism, populations: Populations, epsilon: Fraction, delta: Fraction
) -> float | None:
    """Return the largest strength that keeps the promise for every two populations, None without one."""
    promised = delta or epsilon  # delta 0 asks for pure epsilon

    def keeps(strength: float) -> bool:
        return measured_loss(mechanism.make(strength), populations, epsilon, delta) <= promised

    def about(strength: float) -> bool:
        is_spread = populations.regions is not None and populations.regions.largest_mass is not None
        if mechanism.weights is None or (mechanism.dummies and is_spread):
            return keeps(strength)
        return _about(mechanism.weights(strength), mechanism.dummies, populations, epsilon, delta) <= promised

    weakest = _WEAKEST * _unit(mechanism, populations)
    if not about(weakest):
        return weakest if keeps(weakest) else None
    strength = searched(about, mechanism, populations)
    for _ in range(_TRIES):
        if keeps(strength):
            return strength
        strength *= 1 - _FINE
    return None


def strongest_within(
    mechanism: Mechanism, populations: Populations, epsilon: Fraction, loss: Callable[[Sender], float]
) -> Sender:
    """Return the sender of the largest strength that loses at most epsilon about a value."""
    # `loss` grows with the strength.
    strength = searched(lambda s: loss(mechanism.make(s)) <= epsilon, mechanism, populations)
    if strength == _WEAKEST * _unit(mechanism, populations):
        raise _refused()
    return mechanism.make(strength)


def searched(keeps: Callable[[float], bool], mechanism: Mechanism, populations: Populations) -> float:
    """Return the largest strength within a promise by bisection, or the weakest."""
    unit = _unit(mechanism, populations)
    low, high = _WEAKEST * unit, _STRONGEST * unit
    return halved(keeps, low, high, lambda good, bad: bad / good <= 1 + _FINE, geometric_mean)


def _unit(mechanism: Mechanism, populations: Populations) -> float:
    return 1 / float(populations.distances.max()) if mechanism.of_distance else 1.0


def _refused() -> CalibrationRefused:
    return CalibrationRefused("no strength that was tried keeps the promise")


def _too_near(
    mechanism: Mechanism, populations: Populations, epsilon: Fraction, delta: Fraction
) -> CalibrationRefused:
    most_noise = mechanism.make(_WEAKEST * _unit(mechanism, populations))
    least = at_most(measured_loss(most_noise, populations, epsilon, delta))
    tells = f"delta {least} at epsilon {at_most(epsilon)}" if delta else f"epsilon {least}"
    return CalibrationRefused(
        f"the most noise within the radius tells {tells}", fix="write a larger radius, or a larger epsilon or delta"
    )


def _about(rows: Floats, dummies: int, populations: Populations, epsilon: Fraction, delta: Fraction) -> float:
    """Return about the epsilon, or delta at epsilon, of a channel."""
    divided = rows / rows.sum(axis=1, keepdims=True)
    if populations.regions is None:
        sent = populations.table @ divided
        ends = dict(zip(populations.laws, zip(sent, sent, strict=True), strict=True))
    else:
        ends = about_ends(divided, populations.regions)
    losses = []
    for (a, b), distance in populations.distances_apart.items():
        for (_, most), (least, _) in ((ends[a], ends[b]), (ends[b], ends[a])):
            if delta:
                losses.append(_excess(most - math.exp(min(float(epsilon * distance), 700.0)) * least, dummies))
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                loss = float(np.log(np.where(most > 0, most / np.maximum(least, 0), 1.0)).max())
            losses.append(per_distance(loss, distance))
    return max(losses)


def _excess(differences: Floats, dummies: int) -> float:
    """Bound delta among uniform dummies from p(y) - e^epsilon q(y), from above."""
    count, even = dummies + 1, np.full(len(differences), 1 / len(differences))
    if not dummies:
        return float(np.maximum(differences, 0).sum())
    return mean_positive_part(differences * len(differences), even, count, _ROUGH).high / count


def measured_loss(sender: Sender, populations: Populations, epsilon: Fraction, delta: Fraction) -> float:
    if populations.apart is None:
        return sender.delta(populations, epsilon) if delta else sender.epsilon(populations)
    losses = []
    for pair, distance in populations.apart.items():
        two = populations.only(pair)
        at_distance = sender.delta(two, epsilon * distance) if delta else per_distance(sender.epsilon(two), distance)
        losses.append(at_distance)
    return max(losses)


def per_distance(loss: float, distance: Fraction) -> float:
    """Return a loss per unit of distance, rounded up."""
    return loss if distance == 1 else loss / float(distance) * (1 + 2.0**-50)
