"""Losses per distance of populations, the slow way: every output, every set of values, in rationals.

It imports nothing of the library. W-infinity is the least distance at which Strassen's condition holds for every set.
"""

from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from itertools import chain, combinations, permutations
from typing import Any

from tests.support import rows_oracle

Law = Mapping[Any, Fraction]
Distance = Callable[[Any, Any], Any]


def w_infinity(p: Law, q: Law, distance: Distance) -> Any:
    """Return the least d with p(A) <= q(all within d of A) for every set A of values."""
    values = [x for x, mass in p.items() if mass]
    sets = list(chain.from_iterable(combinations(values, size) for size in range(1, len(values) + 1)))
    for level in sorted({distance(x, y) for x in p for y in q}):
        if all(_mass(p, of) <= _mass(q, _near(of, q, distance, level)) for of in sets):
            return level
    raise AssertionError("every value is within the largest distance")


def _near(of: tuple[Any, ...], q: Law, distance: Distance, level: Any) -> list[Any]:
    return [y for y in q if any(distance(x, y) <= level for x in of)]


def _mass(law: Law, of: Any) -> Fraction:
    return sum((law[x] for x in of), Fraction(0))


def loss_per_distance(
    laws: Mapping[str, Law], channel: rows_oracle.Channel, apart: Distance, rows: int = 1
) -> tuple[float, dict[tuple[str, str], float]]:
    """Return the largest loss of two populations divided by their distance, and the loss of each two."""
    sent = {}
    for name, law in laws.items():
        sent[name] = rows_oracle.sent(rows_oracle.independent(law, rows), [channel] * rows)
    losses = {(a, b): rows_oracle.loss(sent[a], sent[b]) for a, b in permutations(laws, 2)}
    return max(loss / float(apart(a, b)) for (a, b), loss in losses.items()), losses


def delta_by_distance(
    laws: Mapping[str, Law], channel: rows_oracle.Channel, apart: Distance, epsilon: float, rows: int = 1
) -> float:
    """Return the largest delta of two populations at epsilon times their distance."""
    sent = {}
    for name, law in laws.items():
        sent[name] = rows_oracle.sent(rows_oracle.independent(law, rows), [channel] * rows)
    return max(rows_oracle.excess(sent[a], sent[b], epsilon * float(apart(a, b))) for a, b in combinations(laws, 2))


def value_loss_per_distance(channel: rows_oracle.Channel, distance: Callable[[Hashable, Hashable], float]) -> float:
    """Return the largest log-ratio of two values divided by their distance."""
    return max(rows_oracle.loss(channel[x], channel[y]) / distance(x, y) for x, y in combinations(channel, 2))
