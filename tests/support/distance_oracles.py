"""Losses per distance of populations, the slow way: every output, every set of values. It imports no takifugu."""

from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

from tests.support import rows_oracle
from tests.support.laws_oracles import bottleneck_by_hall

Law = Mapping[Any, Fraction]
Distance = Callable[[Any, Any], Any]

#: The least d with p(A) <= q(all within d of A) for every set A of values.
w_infinity = bottleneck_by_hall


def loss_per_distance(
    laws: Mapping[str, Law], channel: rows_oracle.Channel, apart: Distance, rows: int = 1
) -> tuple[float, dict[tuple[str, str], float]]:
    """Return the largest loss of two populations divided by their distance, and the loss of each two."""
    sent = _sent(laws, channel, rows)
    losses = {(a, b): rows_oracle.loss(sent[a], sent[b]) for a, b in permutations(laws, 2)}
    return max(loss / float(apart(a, b)) for (a, b), loss in losses.items()), losses


def delta_by_distance(laws: Mapping[str, Law], channel: rows_oracle.Channel, apart: Distance, epsilon: float) -> float:
    """Return the largest delta of two populations at epsilon times their distance."""
    sent = _sent(laws, channel, 1)
    return max(rows_oracle.excess(sent[a], sent[b], epsilon * float(apart(a, b))) for a, b in combinations(laws, 2))


def _sent(laws: Mapping[str, Law], channel: rows_oracle.Channel, rows: int) -> dict[str, Any]:
    of_rows = {name: rows_oracle.independent(law, rows) for name, law in laws.items()}
    return {name: rows_oracle.sent(law, [channel] * rows) for name, law in of_rows.items()}


def value_loss_per_distance(channel: rows_oracle.Channel, distance: Callable[[Hashable, Hashable], float]) -> float:
    """Return the largest log-ratio of two values divided by their distance."""
    return max(rows_oracle.loss(channel[x], channel[y]) / distance(x, y) for x, y in combinations(channel, 2))
