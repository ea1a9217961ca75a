"""Which mechanism, and how much noise: the most useful one that keeps a promise about populations.

Every mechanism has one strength that makes it noisier as it falls; its largest value that keeps the promise is found by
bisection, in floating point where the mechanism is a matrix, and what is returned is measured at that value in exact
masses: a measured number that is not monotone, or rounded, can cost use and never privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import CalibrationRefused, InputError, TakifuguError, Unsupported, did_you_mean
from takifugu.core.text.tables import number, text_table
from takifugu.mechanisms.local import planar, weights
from takifugu.mechanisms.local.optimal import optimal
from takifugu.mechanisms.local.over_classes import about_ends
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.promises import hides_population
from takifugu.mechanisms.local.rappor import permanent
from takifugu.mechanisms.local.robust import optimal_over
from takifugu.mechanisms.local.senders import Bits, OneValue, Sender, Tuple
from takifugu.numbers.distributions.channel import from_weights
from takifugu.numbers.distributions.positive_part import mean_positive_part
from takifugu.numbers.noise import Entropy
from takifugu.numbers.rationals import Number, as_delta, as_epsilon, as_fraction
from takifugu.numbers.search import geometric_mean, halved
from takifugu.numbers.transport.couplings import distances

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
    """One mechanism at the strength that keeps the promise, or why it does not apply."""

    name: str
    sender: Sender | None
    strength: float | None
    expected_loss: float | None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Local:
    """What was chosen, what it promises about each two populations, what it costs, and what the others would.

    `epsilon` and `delta` are as asked; `measured` is what the channel really gives away (epsilon where delta is 0, else
    delta at epsilon). `local_epsilon` bounds what it tells about the value itself, infinite where it has no bound.
    """

    populations: Populations
    epsilon: Fraction
    delta: Fraction
    name: str
    sender: Sender
    strength: float
    measured: float
    expected_loss: float
    worst_loss: float
    local_epsilon: float
    options: tuple[Option, ...]

    @property
    def extended(self) -> dict[tuple[str, str], float]:
        """Return the loss per unit of W-infinity of each two populations (Kawamoto19 Definition 9).

        Raises Unsupported for counted populations: how far they are apart is not known.
        """
        if self.populations.regions is not None:
            raise Unsupported("how far counted populations are apart is not known", fix="use local_epsilon")
        losses = {}
        for a, b in self.populations.pairs:
            apart = distances(self.populations.laws[a], self.populations.laws[b], self.populations.metric).w_infinity
            losses[a, b] = self.measured / apart if apart else 0.0
        return losses

    def apply(self, column: Iterable[Any], entropy: Entropy | None = None) -> list[Any]:
        """Return a randomised column, value by value: a list of what is sent for each.

        It has no certificate: nothing is charged to anybody, and randomising the same rows again is another release
        (a release file charges both). Raises DataError for a value that is not declared; nothing is drawn then.
        """
        return self.sender.send(self.populations, self.populations.indices(column), entropy)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        share = f", delta {number(float(self.delta))}" if self.delta else ""
        measured, over = number(self.measured), "" if self.populations.regions is None else " over the class"
        lines = [
            f"{self.name} hides which of {' and '.join(self.populations.laws)} a value comes from",
            f"epsilon {number(float(self.epsilon))}{share} (measured{over}: {measured}); expected loss "
            f"{number(self.expected_loss)}, at worst {number(self.worst_loss)}; {self.sender.cost} sent for one",
            f"about the value itself: epsilon {number(self.local_epsilon)}",
            "",
            text_table(["mechanism", "loss", "why"], [_row(option, self.name) for option in self.options]),
        ]
        return "\n".join(lines)


def choose(
    populations: Populations, epsilon: Number, delta: Number = 0, mechanism: str = "auto", dummies: int = 10,
    radius: Number | None = None,
) -> Local:  # fmt: skip
    """Return a mechanism that keeps (epsilon, delta)-distribution privacy for every two populations.

    "auto" takes the least expected loss among those that send one value. `dummies` is the k of tupling, which is taken
    by name only, because it sends k + 1 values; with a `radius` no value is moved farther before it. Raises InputError
    for an unknown name, CalibrationRefused where nothing keeps the promise.

    >>> home = Populations({"home": {"a": "0.8", "b": "0.2"}, "out": {"a": "0.3", "b": "0.7"}})
    >>> found = choose(home, epsilon="0.5")
    >>> found.measured <= 0.5 and found.expected_loss < choose(home, "0.5", mechanism="rappor").expected_loss
    True
    """
    budget, share = as_epsilon(epsilon), as_delta(delta)
    known = mechanisms(populations, dummies, radius)
    if mechanism != "auto" and mechanism not in known:
        raise InputError(
            f"the mechanism is {mechanism!r}",
            fix=f"write one of auto, {', '.join(known)}{did_you_mean(mechanism, known)}",
        ).at("mechanism")
    names = list(known) if mechanism == "auto" else [mechanism]
    options = tuple(_option(name, known[name], populations, budget, share) for name in names)
    usable = [o for o in options if o.sender is not None and (mechanism != "auto" or o.sender.cost == 1)]
    if not usable:
        raise CalibrationRefused(
            f"no mechanism keeps epsilon {number(float(budget))}",
            rule="; ".join(f"{o.name}: {o.reason}" for o in options),
        ).at("mechanism")
    best = min(usable, key=lambda o: math.inf if o.expected_loss is None else o.expected_loss)
    sender = best.sender
    assert sender is not None
    measured = _measured(sender, populations, budget, share)
    return Local(
        populations, budget, share, best.name, sender, best.strength or 0.0, measured, best.expected_loss or 0.0,
        sender.worst_loss(populations), sender.local_epsilon(), options,
    )  # fmt: skip


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
        return Mechanism(lambda p, s: OneValue(from_weights(values, values, rows(s)), apart), rows, 0, of_distance)

    def inside(strength: float) -> Floats:
        return weights.restricted(apart, strength, reach)

    def by_dummies(p: Populations, strength: float) -> Sender:
        return Tuple(from_weights(values, values, inside(strength)), dummies, apart)

    def by_bits(p: Populations, strength: float) -> Sender:
        return Bits(permanent(values, repr(weights.flipped_bits(strength))))

    mechanisms: dict[str, Mechanism | None] = {
        "randomised-response": of(lambda s: weights.same_or_other(len(values), s), of_distance=False),
        "rappor": Mechanism(by_bits, of_distance=False),
        "exponential": of(lambda s: weights.decaying(apart, s / 2)),
    }
    if _planar(values):
        mechanisms["planar-laplace"] = of(lambda s: weights.decaying(apart, s))
        mechanisms["planar-normal"] = of(lambda s: weights.normal(apart, s))
        if (cells := planar.cells_of(values)) is not None:
            mechanisms["planar-laplace-remapped"] = of(lambda s: planar.laplace_masses(cells, s))
            mechanisms["planar-normal-remapped"] = of(lambda s: planar.normal_masses(cells, s))
    mechanisms["tupling"] = Mechanism(by_dummies, inside, dummies)
    mechanisms["optimal"] = None
    return mechanisms


def _option(name: str, way: Mechanism | None, populations: Populations, epsilon: Fraction, delta: Fraction) -> Option:
    try:
        if way is None:
            return optimum(populations, epsilon, delta)
        strength = largest_strength(way, populations, epsilon, delta)
        if strength is None:
            return Option(name, None, None, None, "no strength that was tried keeps the promise")
        sender = way.make(populations, strength)
        return Option(name, sender, strength, sender.expected_loss(populations))
    except TakifuguError as reason:
        return Option(name, None, None, None, str(reason))


def optimum(populations: Populations, epsilon: Fraction, delta: Fraction) -> Option:
    """Return the channel of least expected loss that keeps the promise (`local.optimal`): the floor for one value.

    Of counted populations: over their class (`local.robust`), where it may be a little above the floor.
    """
    if populations.regions is not None:
        weights = np.array([[float(populations.prior.get(x, 0))] for x in populations.values])
        cost = weights * populations.distances
        channel = optimal_over(populations.values, cost, populations.regions, epsilon, delta)
        robust = OneValue(channel, populations.distances)
        return Option("optimal", robust, 0.0, robust.expected_loss(populations))
    laws, place = populations.laws, {x: n for n, x in enumerate(populations.values)}
    promises = [hides_population(laws[a], laws[b], epsilon, delta) for a, b in populations.pairs]
    solution = optimal(
        populations.values, populations.values, populations.prior,
        lambda x, y: float(populations.distances[place[x], place[y]]), promises,
    )  # fmt: skip
    return Option("optimal", OneValue(solution.channel, populations.distances), 0.0, solution.loss)


def largest_strength(way: Mechanism, populations: Populations, epsilon: Fraction, delta: Fraction) -> float | None:
    """Return the largest strength that keeps the promise for every two populations, by bisection of its logarithm.

    None where no strength that is tried keeps it; delta 0 asks for pure epsilon.
    """
    unit = 1 / float(populations.distances.max()) if way.of_distance else 1.0

    def keeps(strength: float) -> bool:
        sender = way.make(populations, strength)
        return _measured(sender, populations, epsilon, delta) <= float(delta or epsilon)

    def about(strength: float) -> bool:
        if way.weights is None:
            return keeps(strength)
        return _about(way.weights(strength), way.dummies, populations, epsilon, delta) <= float(delta or epsilon)

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


def _planar(values: Iterable[Any]) -> bool:
    return all(isinstance(v, tuple) and len(v) == 2 and np.isfinite(np.array(v, dtype=float)).all() for v in values)


def _row(option: Option, chosen: str) -> list[str]:
    why = option.reason or ("chosen" if option.name == chosen else "possible")
    return [option.name, number(option.expected_loss), why]
