"""How often the exact answer can be read off what is published: the law of the drawn noise, output by output.

Somebody knows all entries but one, and takes the value of that one whose answer is nearest to what is published.
"""

import functools
import itertools
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


def outputs_of(noise: Mapping[str, Any], true: Answer, others: Sequence[Answer]) -> tuple[Any, Any, list[Any]]:
    """Return the outputs' probabilities, their distance from the true answer, and from each other one.

    Answers differ in few cells; the others tell nothing of which it is.
    """
    norm = 2 if noise["kind"] == "rounded-normal" else 1
    moved = [cell for cell in range(len(true)) if any(other[cell] != true[cell] for other in others)]
    laws = [cell_law(noise, true[cell]) for cell in moved]
    masses = functools.reduce(np.multiply.outer, [np.array(list(law.values())) for law in laws])
    outputs = np.meshgrid(*([float(y) for y in law] for law in laws), indexing="ij")

    def distance(answer: Answer) -> Any:
        return sum(abs(y - float(answer[cell])) ** norm for y, cell in zip(outputs, moved, strict=True))

    return masses, distance(true), [distance(other) for other in others]


def alone_nearest(noise: Mapping[str, Any], true: Answer, others: Sequence[Answer]) -> float:
    """Return how often the true answer is nearer to what is published than each of the others."""
    masses, mine, theirs = outputs_of(noise, true, others)
    is_nearest = np.all([mine < distance - 1e-9 for distance in theirs], axis=0)
    return LEFT_OUT + float(masses[is_nearest].sum())


def read_off(noise: Mapping[str, Any], answers: Sequence[Answer]) -> float:
    """Return how often a true answer alone is the nearest of all possible ones, for the answer read most often."""
    possible = sorted(set(answers))
    return max(alone_nearest(noise, true, [other for other in possible if other != true]) for true in possible)


def rounded_to(noise: Mapping[str, Any], answers: Sequence[Answer]) -> float:
    """Return how often the output, rounded to steps of the longest change from the true answer, is the true answer.

    In one cell that is P(|N| < d/2), d being the distance of the two answers that lie farthest apart.
    """
    norm = 2 if noise["kind"] == "rounded-normal" else 1

    def length(pair: tuple[Answer, Answer]) -> Fraction:
        return sum((abs(x - y) ** norm for x, y in zip(*pair, strict=True)), Fraction(0))

    true, other = max(itertools.combinations(sorted(set(answers)), 2), key=length)
    mirrored = tuple(2 * x - y for x, y in zip(true, other, strict=True))
    return alone_nearest(noise, true, [other, mirrored])


def guessed(noise: Mapping[str, Any], one: Answer, other: Answer) -> float:
    """Return how often the nearer of two equally likely answers is the true one; half-way outputs are a coin's."""
    masses, mine, (theirs,) = outputs_of(noise, one, [other])
    half_way = np.abs(mine - theirs) <= 1e-9
    return LEFT_OUT + float(masses[mine < theirs - 1e-9].sum() + masses[half_way].sum() / 2)
