"""A channel's exact loss by enumeration, and metrics from graphs. Nothing of takifugu is used but values."""

import math
from fractions import Fraction
from itertools import product
from typing import Any


def enumerated_loss(noise: Any, p: Any, q: Any) -> float:
    """Return the largest |log-ratio| of the outputs' exact probabilities, output by output, for two laws."""
    channel, laws, largest = noise.channel, [dict(law.items()) for law in (p, q)], 0.0
    for output in range(len(channel.outputs)):
        seen = []
        for law in laws:
            masses = zip(channel.inputs, channel.masses, strict=True)
            shares = {x * noise.grid: Fraction(row[output], channel.total) for x, row in masses}
            seen.append(sum(Fraction(mass) * shares[x] for x, mass in law.items()))
        if any(seen):
            largest = max(largest, abs(math.log(seen[0] / seen[1])) if all(seen) else math.inf)
    return largest


def shortest_paths(far: list[list[int]]) -> list[list[int]]:
    """Return the lengths of the shortest paths in a graph, a metric (Floyd and Warshall)."""
    size = len(far)
    table = [[0 if i == j else min(far[i][j], far[j][i]) for j in range(size)] for i in range(size)]
    for middle, i, j in product(range(size), repeat=3):
        table[i][j] = min(table[i][j], table[i][middle] + table[middle][j])
    return table
