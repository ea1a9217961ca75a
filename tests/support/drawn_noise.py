"""How often the exact answer can be read off what is published: the law of the drawn noise, output by output.

Somebody knows all entries but one, and takes the value of that one whose answer is nearest to what is published.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

#: Mass of the tails that are left out, which are counted as read off.
LEFT_OUT = 1e-7

Answer = tuple[Fraction, ...]


def upper(kind: str, x: float, size: float) -> float:
    """Return P(Z > x) of Laplace noise of a scale, or normal noise of a deviation."""
    if kind == "rounded-normal":
        return math.erfc(x / size / math.sqrt(2)) / 2
    return math.exp(-x / size) / 2 if x > 0 else 1 - math.exp(x / size) / 2


def cell_law(noise: Mapping[str, Any], answer: Fraction) -> dict[Fraction, float]:
    """Return the probability of every output of one cell, but for LEFT_OUT in all."""
    kind, grid = noise["kind"], Fraction(noise["grid"])
    if kind == "none":
        return {round(answer / grid) * grid: 1.0}
    at = answer / grid
    if kind == "discrete-laplace":
        units = float(Fraction(noise["units"]))
        far, a = math.ceil(units * math.log(4 / LEFT_OUT)) + 1, math.exp(-1 / units)
        return {(at + k) * grid: (1 - a) / (1 + a) * a ** abs(k) for k in range(-far, far + 1)}
    size = float(Fraction(noise["sigma" if kind == "rounded-normal" else "scale"]) / grid)
    far = math.ceil(size * (7 if kind == "rounded-normal" else math.log(4 / LEFT_OUT))) + 2
    law = {}
    for k in range(round(at) - far, round(at) + far + 1):
        low, high = float(k - at) - 0.5, float(k - at) + 0.5
        if low > 0:
            mass = upper(kind, low, size) - upper(kind, high, size)
        else:  # from the left, where the upper tails are near 1
            mass = upper(kind, -high, size) - upper(kind, -low, size)
        law[k * grid] = mass
    return law


def read_off(noise: Mapping[str, Any], answers: Sequence[Answer]) -> list[float]:
    """Return for each true answer how often it alone is the nearest to what is published.

    Answers differ in few cells; the others tell nothing of which it is.
    """
    norm = 2 if noise["kind"] == "rounded-normal" else 1
    moved = [cell for cell in range(len(answers[0])) if len({answer[cell] for answer in answers}) > 1]
    possible = sorted({tuple(answer[cell] for cell in moved) for answer in answers})
    chances = []
    for true in possible:
        laws = [cell_law(noise, cell) for cell in true]
        masses = functools.reduce(np.multiply.outer, [np.array(list(law.values())) for law in laws])
        outputs = np.meshgrid(*([float(y) for y in law] for law in laws), indexing="ij")
        distances = [
            sum(abs(y - float(x)) ** norm for y, x in zip(outputs, other, strict=True)) for other in possible
        ]
        mine = distances[possible.index(true)]
        others = [distance for other, distance in zip(possible, distances, strict=True) if other != true]
        is_nearest = np.all([mine < distance - 1e-9 for distance in others], axis=0)
        chances.append(LEFT_OUT + float(masses[is_nearest].sum()))
    return chances
