"""How much noise: every mechanism as strong as a promise about populations allows.

Every mechanism has one strength that makes it noisier as it falls; its largest value that keeps the promise is found by
bisection, in floating point where the mechanism is a matrix, and what is returned is measured at that value in exact
masses: a measured number that is not monotone, or rounded, can cost use and never privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import CalibrationRefused, InputError, TakifuguError
from takifugu.core.text.tables import number
from takifugu.mechanisms.local import planar, weights
from takifugu.mechanisms.local.optimal import optimal
from takifugu.mechanisms.local.over_classes import about_ends
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.promises import Promise, hides_population
from takifugu.mechanisms.local.rappor import permanent
from takifugu.mechanisms.local.robust import optimal_over
from takifugu.mechanisms.local.senders import Bits, Sender, Values
from takifugu.numbers.distributions.channel import from_weights
from takifugu.numbers.distributions.positive_part import mean_positive_part
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.numbers.search import geometric_mean, halved

Floats = npt.NDArray[np.float64]
Make = Callable[[Populations, float], Sender]


@dataclass(frozen=True, eq=False)
class Mechanism:
    """How to make a sender of some strength; `weights` are its channel's rows before they are divided by their sums.

    What the channel gives is sent among `dummies`. Without `weights` each strength that is tried is made and measured.
    A strength is a number per unit of distance, or, where not `of_distance`, a number like epsilon.
    """

    make: Make
    weights: Callable[[float], Floats] | None = None
    dummies: int = 0
    of_distance: bool = True


#: The strengths that are tried, times the diameter where they are per unit of distance; how near the best one is met.
_WEAKEST, _STRONGEST, _FINE = 2.0**-30, 2.0**12, 2.0**-12
#: The relative width of an enclosure that proposes a strength.
_ROUGH = 2.0**-10
#: So often a strength that floating point proposes is reduced until exact masses keep the promise.
_TRIES = 8


@dataclass(frozen=True, eq=False)
class Option:
    """One mechanism at the strength that keeps the promise: what is sent, what it is measured to give away, its loss.

    `measured` is epsilon where delta is 0, else delta at epsilon. The linear program has no strength: 0.
    """

    name: str
    sender: Sender
    strength: float
    measured: float
    expected_loss: float


def strongest(
    populations: Populations, epsilon: Fraction, delta: Fraction, name: str, dummies: int = 10,
    radius: Number | None = None,
) -> Option:  # fmt: skip
    """Return a mechanism as strong as (epsilon, delta)-distribution privacy of every two populations allows.

    `dummies` is the k of tupling; with a `radius` no value is moved farther before it. Raises CalibrationRefused where
    nothing keeps the promise.

    >>> from takifugu.mechanisms.local.populations import populations_of
    >>> from takifugu.model.beliefs.populations import FromPopulations
    >>> home = populations_of(FromPopulations({"home": {"a": "0.8", "b": "0.2"}, "out": {"a": "0.3", "b": "0.7"}}))
    >>> best, bits = (strongest(home, Fraction(1, 2), Fraction(0), name) for name in ("optimal", "rappor"))
    >>> best.measured <= 0.5 and best.expected_loss < bits.expected_loss
    True
    """
    try:
        way = mechanisms(populations, dummies, radius)[name]
        strength = 0.0 if way is None else largest_strength(way, populations, epsilon, delta)
        if strength is not None:
            sender = optimum(populations, epsilon, delta) if way is None else way.make(populations, strength)
            measured = _measured(sender, populations, epsilon, delta)
            return Option(name, sender, strength, measured, sender.expected_loss(populations))
        why = "no strength that was tried keeps the promise"
    except TakifuguError as reason:
        why = str(reason)
    what = f"{name} does not keep epsilon {number(float(epsilon))}"
    raise CalibrationRefused(what, rule=f"{name}: {why}").at("mechanism")


def mechanisms(
    populations: Populations, dummies: int = 10, radius: Number | None = None
) -> dict[str, Mechanism | None]:
    """Return the mechanisms that these populations may use, by name; None stands for the linear program.

    Inside tupling is noise that decays with distance, cut off beyond `radius` where one is given (Kawamoto19 §6.4).
    """
    values, apart = populations.values, populations.distances
    reach = math.inf if radius is None else float(as_fraction(radius, "the radius", "radius"))
    if not reach >= 0:
        raise InputError(f"the radius is {radius!r}", rule="it must not be negative").at("radius")

    def of(rows: Callable[[float], Floats], of_distance: bool = True) -> Mechanism:
        return Mechanism(lambda p, s: Values(from_weights(values, values, rows(s))), rows, 0, of_distance)

    def inside(strength: float) -> Floats:
        return weights.restricted(apart, strength, reach)

    def by_dummies(p: Populations, strength: float) -> Sender:
        return Values(from_weights(values, values, inside(strength)), dummies)

    def by_bits(p: Populations, strength: float) -> Sender:
        return Bits(permanent(values, repr(weights.flipped_bits(strength))))

    mechanisms: dict[str, Mechanism | None] = {
        "randomised-response": of(lambda s: weights.same_or_other(len(values), s), of_distance=False),
        "rappor": Mechanism(by_bits, of_distance=False),
        "exponential": of(lambda s: weights.decaying(apart, s / 2)),
    }
    if _planar(populations.places):
        mechanisms["planar-laplace"] = of(lambda s: weights.decaying(apart, s))
        mechanisms["planar-normal"] = of(lambda s: weights.normal(apart, s))
        if (cells := planar.cells_of(populations.places)) is not None:
            mechanisms["planar-laplace-remapped"] = of(lambda s: planar.laplace_masses(cells, s))
            mechanisms["planar-normal-remapped"] = of(lambda s: planar.normal_masses(cells, s))
    mechanisms["tupling"] = Mechanism(by_dummies, inside, dummies)
    mechanisms["optimal"] = None
    return mechanisms


def optimum(populations: Populations, epsilon: Fraction, delta: Fraction) -> Sender:
    """Return the channel of least expected loss that keeps the promise (`local.optimal`): the floor for one value.

    Of counted populations: over their class (`local.robust`), where it may be a little above the floor.
    """
    if populations.regions is not None:
        weights = np.array([[float(populations.prior.get(x, 0))] for x in populations.values])
        cost = weights * populations.distances
        channel = optimal_over(populations.values, cost, populations.regions, epsilon, delta)
        return Values(channel)
    laws = populations.laws
    promises = [hides_population(laws[a], laws[b], epsilon, delta) for a, b in populations.pairs]
    return least_loss(populations, promises)


def least_loss(populations: Populations, promises: Sequence[Promise]) -> Sender:
    """Return the channel of least expected loss among those that keep every promise."""
    values = populations.values
    solution = optimal(values, values, populations.prior, populations.distance, promises)
    return Values(solution.channel)


def largest_strength(way: Mechanism, populations: Populations, epsilon: Fraction, delta: Fraction) -> float | None:
    """Return the largest strength that keeps the promise for every two populations, by bisection of its logarithm.

    None where no strength that is tried keeps it; delta 0 asks for pure epsilon.
    """
    unit = 1 / float(populations.distances.max()) if way.of_distance else 1.0

    def keeps(strength: float) -> bool:
        sender = way.make(populations, strength)
        return _measured(sender, populations, epsilon, delta) <= (delta or epsilon)

    def about(strength: float) -> bool:
        if way.weights is None:
            return keeps(strength)
        return _about(way.weights(strength), way.dummies, populations, epsilon, delta) <= (delta or epsilon)

    low, high = _WEAKEST * unit, _STRONGEST * unit
    if not about(low):
        return low if keeps(low) else None
    low = halved(about, low, high, lambda good, bad: bad / good <= 1 + _FINE, geometric_mean)
    for _ in range(_TRIES):
        if keeps(low):
            return low
        low *= 1 - _FINE
    return None


def _about(rows: Floats, dummies: int, populations: Populations, epsilon: Fraction, delta: Fraction) -> float:
    """Return about what the rows of a channel give away of each two populations: epsilon, or delta at epsilon."""
    divided = rows / rows.sum(axis=1, keepdims=True)
    if populations.regions is None:
        ends = {name: (sent, sent) for name, sent in zip(populations.laws, populations.table @ divided, strict=True)}
    else:
        ends = about_ends(divided, populations.regions)
    pairs = [(ends[a][1], ends[b][0]) for a, b in permutations(ends, 2)]
    if delta:
        factor = math.exp(min(float(epsilon), 700.0))
        return max(_excess(one - factor * two, dummies) for one, two in pairs)
    with np.errstate(divide="ignore", invalid="ignore"):
        return max(float(np.log(np.where(one > 0, one / np.maximum(two, 0), 1.0)).max()) for one, two in pairs)


def _excess(differences: Floats, dummies: int) -> float:
    """Return delta of one value with these p(y) - e^epsilon q(y), or of one among uniform dummies, from above."""
    count, even = dummies + 1, np.full(len(differences), 1 / len(differences))
    if not dummies:
        return float(np.maximum(differences, 0).sum())
    return mean_positive_part(differences * len(differences), even, count, _ROUGH).high / count


def _measured(sender: Sender, populations: Populations, epsilon: Fraction, delta: Fraction) -> float:
    return sender.delta(populations, epsilon) if delta else sender.epsilon(populations)


def _planar(values: Iterable[Hashable]) -> bool:
    return all(isinstance(v, tuple) and len(v) == 2 and np.isfinite(np.array(v, dtype=float)).all() for v in values)
