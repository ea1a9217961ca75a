"""Classes of populations: those that a channel spreads out, and what tupling keeps for the worst two of a class.

The class of beta and a channel A (Kawamoto19 Section 6.2, with eta = 0; errata X2) holds the populations that A sends
to no output with more than beta. Three remarks of the paper:

* with beta = 1 it holds all populations: exactly from the largest A(x)[y] on, since points are
  populations, and A#(lambda)[y] is a mean of them;
* it grows with beta, and so does the worst delta of tupling (`worst_pair`);
* a channel with *less* local privacy need not have the smaller class: a constant channel keeps epsilon 0 and sends all
  to one output. What makes the class large is that the largest mass is small; randomised response makes it all
  populations once beta >= e^epsilon / (e^epsilon + k - 1), which falls to 1/k with epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.local.over_classes import largest_mass_over
from takifugu.mechanisms.local.tupling import Tupling
from takifugu.model.beliefs.population_region import Regions
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.distributions.positive_part import Enclosure
from takifugu.numbers.rationals import Number, as_fraction

#: Kinds of pairs that are tried.
MOST_PAIRS = 5_000
#: The relative width that tells which pairs are worth a closer look.
_ROUGH = 0.05

Law = tuple[Fraction, ...]


@dataclass(frozen=True)
class WorstPair:
    """Two laws of a class that a tuple tells apart with the largest delta, in this order, and this delta."""

    p: Law
    q: Law
    delta: Enclosure


def worst_pair(outputs: int, beta: Number, tupling: Tupling, epsilon: Number) -> WorstPair:
    """Return the two laws without a mass above beta whose tuples have the largest delta at epsilon."""
    most = min(as_fraction(beta, "beta", "beta"), Fraction(1))
    if most <= 0 or most * outputs < 1:
        raise InputError(
            f"beta is {beta!r}", rule=f"the masses of {outputs} outputs sum to 1", fix=f"give 1/{outputs} at least"
        ).at("beta")
    nu = _dummies(tupling, outputs)
    groups: dict[Fraction, list[int]] = {}
    for y, mass in enumerate(nu):
        groups.setdefault(mass, []).append(y)
    # Delta is jointly convex, so extreme points suffice; of these only how many outputs share which masses matters.
    pairs = list(islice(_extreme_pairs(list(groups.values()), outputs, most), MOST_PAIRS + 1))
    if len(pairs) > MOST_PAIRS:
        raise Unsupported(
            f"there are more than {MOST_PAIRS:,} kinds of pairs", fix="use uniform dummies, or a larger beta"
        )
    rough = [tupling.bracket(p, q, epsilon, _ROUGH) for p, q in pairs]
    order = sorted(range(len(pairs)), key=lambda n: -rough[n].high)
    best, least = WorstPair(*pairs[order[0]], Enclosure(0.0, 0.0)), 0.0
    for n in order:
        if rough[n].high <= best.delta.high:
            break  # nor is any that follows above the best
        fine = tupling.bracket(*pairs[n], epsilon)
        least = max(least, fine.low)
        if fine.high > best.delta.high:
            best = WorstPair(*pairs[n], Enclosure(least, fine.high))
    # `high` bounds delta for every two laws of the class, for any channel inside.
    return WorstPair(best.p, best.q, Enclosure(least, best.delta.high))


def among_spread(channel: Channel, regions: Regions, epsilon: Fraction, dummies: int) -> float:
    """Return a delta of an output among uniform dummies over a declared class, rounded up."""
    # Exact where the channel can send any laws with no larger mass (Kawamoto19 Theorem 3, errata X2).
    most = min(largest_mass_over(channel, regions), Fraction(1))
    return min(1.0, worst_pair(len(channel.outputs), most, Tupling(dummies), epsilon).delta.high)


def _dummies(tupling: Tupling, outputs: int) -> list[Fraction]:
    if tupling.law is None:
        return [Fraction(1, outputs)] * outputs
    if not isinstance(tupling.law, tuple) or len(tupling.law) != outputs:
        raise InputError(
            "the distribution of the dummies has other outputs", fix=f"give {outputs} masses, one for each output"
        ).at("law")
    return list(tupling.law)


def _extreme_pairs(groups: list[list[int]], outputs: int, most: Fraction) -> Iterator[tuple[Law, Law]]:
    """Yield extreme points of both laws, one of each kind."""
    full = math.floor(1 / most)
    left = 1 - full * most
    zero = Fraction(0)
    for fixed in _rests(groups, left, most):
        fixed_p = sum(a == most for a, _ in fixed.values())
        fixed_q = sum(b == most for _, b in fixed.values())
        free = []
        for group in groups:
            free.append([value for value in group if value not in fixed])
        for counts in _counts(list(map(len, free)), full - fixed_p, full - fixed_q):
            p, q = [zero] * outputs, [zero] * outputs
            for y, (a, b) in fixed.items():
                p[y], q[y] = a, b
            for group, (both, first, second) in zip(free, counts, strict=True):
                for place, y in enumerate(group[: both + first + second]):
                    p[y] = most if place < both + first else zero
                    q[y] = most if place < both or place >= both + first else zero
            yield tuple(p), tuple(q)


def _rests(groups: list[list[int]], left: Fraction, most: Fraction) -> Iterator[dict[int, tuple[Fraction, Fraction]]]:
    """Yield what the outputs with the rest of either law carry."""
    if not left:
        yield {}
        return
    # The rest of both, or of one beside 0 or beta of the other.
    for group in groups:
        yield {group[0]: (left, left)}
    for first, second in product(groups, repeat=2):
        is_same = first is second
        if is_same and len(first) < 2:
            continue
        for rest_p, rest_q in product((Fraction(0), most), repeat=2):
            yield {first[0]: (left, rest_p), second[is_same]: (rest_q, left)}


def _counts(sizes: list[int], first: int, second: int) -> Iterator[list[tuple[int, int, int]]]:
    """Yield each group's numbers of outputs that have beta in both laws, in the first only, and in the second only."""
    if not sizes:
        if first == second == 0:
            yield []
        return
    room = sum(sizes[1:])
    for both in range(min(first, second, sizes[0]) + 1):
        for only_p in range(min(first - both, sizes[0] - both) + 1):
            for only_q in range(min(second - both, sizes[0] - both - only_p) + 1):
                if max(first - both - only_p, second - both - only_q) <= room:
                    for rest in _counts(sizes[1:], first - both - only_p, second - both - only_q):
                        yield [(both, only_p, only_q), *rest]
