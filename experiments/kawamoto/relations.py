"""Relations between values and between populations: how sensitive, how stable, and what one says of the other.

Kawamoto19 Definitions 2, 3 and 10, and Sections 3.5 and 4. A relation of values is a function of two values; a relation
Psi of populations is a list of ordered pairs of laws, compared by their exact masses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.transport.bottleneck import Metric, Population, Related, support, w_infinity

Pairs = Sequence[tuple[Population, Population]]
Key = frozenset[tuple[Hashable, Fraction]]


def utility_distance(utility: Callable[[Any, Any], float], outputs: Sequence[Any]) -> Metric:
    """Return d(x, x') = max over outputs y of |u(x, y) - u(x', y)| (Definition 2): a distance, 0 for equal utilities.

    >>> utility_distance(lambda x, y: -abs(x - y), range(4))(0, 3)
    3
    """

    def distance(x: Any, z: Any) -> float:
        return max(abs(utility(x, y) - utility(z, y)) for y in outputs)

    return distance


def largest_distance(metric: Metric, values: Sequence[Any], related: Related) -> Any:
    """Return the largest distance of two related values: the sensitivity of a utility (Definition 3); 0 for none.

    >>> largest_distance(lambda x, y: abs(x - y), range(4), lambda x, y: y == x + 2)
    2
    """
    return max((metric(x, z) for x in values for z in values if related(x, z)), default=0)


def steps_between(pairs: Pairs, start: Population, end: Population) -> int | None:
    """Return the least number of pairs of a relation that lead from one population to another; None where none do.

    >>> a, b, c = ({x: 1} for x in "abc")
    >>> steps_between([(a, b), (b, c)], a, c), steps_between([(a, b), (b, c)], c, a)
    (2, None)
    """
    following: dict[Key, list[Key]] = {}
    for p, q in pairs:
        following.setdefault(_key(p), []).append(_key(q))
    target, seen, layer, steps = _key(end), {_key(start)}, [_key(start)], 0
    while layer:
        if target in layer:
            return steps
        layer = list(dict.fromkeys(q for p in layer for q in following.get(p, ()) if q not in seen))
        seen.update(layer)
        steps += 1
    return None


def stability(transformation: Callable[[Population], Population], pairs: Pairs) -> int | None:
    """Return the least c for which a map of populations is (c, Psi)-stable (Definition 10); None where it is for none.

    Related populations p and q become T(p) and T(q), which c pairs at most connect, from T(p) to T(q). What a channel
    then keeps after T is `composing.after_stable`.

    >>> line = [({x: 1}, {x + 1: 1}) for x in range(2)]
    >>> stability(lambda p: {min(2 * x, 2): mass for x, mass in p.items()}, line)
    2
    """
    step_counts = [steps_between(pairs, transformation(p), transformation(q)) for p, q in pairs]
    steps = [n for n in step_counts if n is not None]
    return None if len(steps) < len(step_counts) else max(steps, default=0)


def metric_stability(channel: Channel, metric: Metric) -> float:
    """Return the least c for which a channel's lifting is (c, W-infinity)-stable, over all populations (Definition 10).

    The largest W-infinity(T(x), T(x')) / d(x, x') over pairs of *values*: points are populations, and plans of the
    values that a plan pairs make up a plan of the whole. Rounded up; infinite where two values at distance 0 part.

    >>> metric_stability(Channel.of([0, 1], [0, 2], [[1, 0], [0, 1]]), lambda x, y: abs(x - y))
    2.0
    """
    worst = Fraction(0)
    for number, x in enumerate(channel.inputs):
        for z in channel.inputs[:number]:
            moved, apart = w_infinity(channel.row(x), channel.row(z), metric), metric(x, z)
            if moved and not apart:
                return math.inf
            if moved:
                worst = max(worst, Fraction(moved) / Fraction(apart))
    value = float(worst)
    return value if Fraction(value) >= worst else math.nextafter(value, math.inf)


def points_of(pairs: Pairs) -> set[tuple[Hashable, Hashable]]:
    """Return the ordered pairs of values whose point laws are related: for them distribution privacy is local privacy.

    >>> points_of([({0: 1}, {1: 1}), ({0: 1}, {1: Fraction(1, 2), 2: Fraction(1, 2)})])
    {(0, 1)}
    """
    ends = [(support(p), support(q)) for p, q in pairs]
    return {(left[0], right[0]) for left, right in ends if len(left) == len(right) == 1}


def implies_local(pairs: Pairs, values: Iterable[Any], related: Related) -> bool:
    """Decide whether distribution privacy for Psi implies differential privacy for a relation of values (Section 4).

    It does where the point laws of all related values are in Psi; without them it may not: tupling hides flat
    populations and no point.

    >>> implies_local([({0: 1}, {1: 1})], [0, 1], lambda x, y: x < y)
    True
    """
    listed, points = list(values), points_of(pairs)
    return all((x, z) in points for x in listed for z in listed if related(x, z))


def differ_in_one(x: Sequence[Any], z: Sequence[Any]) -> bool:
    """Decide whether two data sets of one length differ in exactly one record: whom private histograms protect."""
    return len(x) == len(z) and sum(a != b for a, b in zip(x, z, strict=True)) == 1


def records(population: Mapping[Hashable, Any], count: int) -> dict[tuple[Hashable, ...], Any]:
    """Return the law of data sets of `count` independent records of one population (Section 3.5).

    >>> records({0: Fraction(1, 3), 1: Fraction(2, 3)}, 2)[0, 1]
    Fraction(2, 9)
    """
    return {xs: math.prod(population[x] for x in xs) for xs in product(population, repeat=count)}


def _key(population: Population) -> Key:
    return frozenset((x, Fraction(mass)) for x, mass in population.items() if mass)
