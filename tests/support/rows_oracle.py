"""What randomised rows tell of a population, the slow way: every data set, every output, in rationals.

It imports nothing of the library: channels are mappings from values to mappings from outputs to masses.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Channel = Mapping[Any, Mapping[Any, Fraction]]
Law = Mapping[Any, Fraction]


def channel_of(noise: Any) -> dict[Any, dict[Any, Fraction]]:
    """Return what a randomiser of rows sends for each value, with its probability."""
    return {x: {y: noise.mass(place, y) for y in noise.outputs} for place, x in enumerate(noise.sender.values)}


def sent(law: Law, channels: Sequence[Channel]) -> dict[tuple[Any, ...], Fraction]:
    """Return the joint distribution of what all channels send of data sets (tuples of one value per channel)."""
    masses: dict[tuple[Any, ...], Fraction] = {}
    for data, mass in law.items():
        for outputs in product(*(channel[x].items() for x, channel in zip(data, channels, strict=True))):
            key = tuple(y for y, _ in outputs)
            masses[key] = masses.get(key, Fraction(0)) + mass * math.prod((p for _, p in outputs), start=Fraction(1))
    return masses


def loss(one: Mapping[Any, Fraction], other: Mapping[Any, Fraction]) -> float:
    """Return the largest log-ratio of two distributions of outputs, both ways."""
    worst = 0.0
    for a, b in ((one, other), (other, one)):
        for y, mass in a.items():
            if mass:
                worst = max(worst, math.log(mass / b[y]) if b.get(y) else math.inf)
    return worst


def excess(one: Mapping[Any, Fraction], other: Mapping[Any, Fraction], epsilon: float) -> float:
    """Return the largest delta at epsilon of two distributions of outputs, both ways."""
    factor, zero = Fraction(math.exp(epsilon)), Fraction(0)
    both = ((one, other), (other, one))
    return max(float(sum((max(m - factor * b.get(y, zero), zero) for y, m in a.items()), zero)) for a, b in both)


def independent(law: Law, rows: int) -> dict[tuple[Any, ...], Fraction]:
    """Return the distribution of so many independent rows."""
    return {
        tuple(x for x, _ in data): math.prod((p for _, p in data), start=Fraction(1))
        for data in product(law.items(), repeat=rows)
    }


def repeated(law: Law, times: int) -> dict[tuple[Any, ...], Fraction]:
    """Return the distribution of one row that is read so many times."""
    return {(x,) * times: mass for x, mass in law.items()}


def sent_of_rows(
    law: Law, readings: Sequence[Sequence[int]], channels: Sequence[Channel]
) -> dict[tuple[Any, ...], Fraction]:
    """Return the joint distribution of what releases send of independent rows; each channel has the rows it reads."""
    size = 1 + max(row for rows in readings for row in rows)
    read = [row for rows in readings for row in rows]
    each = [channel for rows, channel in zip(readings, channels, strict=True) for _ in rows]
    data: dict[tuple[Any, ...], Fraction] = {}
    for values, mass in independent(law, size).items():
        key = tuple(values[row] for row in read)
        data[key] = data.get(key, Fraction(0)) + mass
    return sent(data, each)
