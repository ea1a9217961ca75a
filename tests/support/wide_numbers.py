"""Wide numbers as Fractions."""

from fractions import Fraction

import numpy as np

from takifugu.numbers.extended.floats import LOWEST, UNIT, Wide


def fractions(array: Wide) -> list[Fraction]:
    pairs = zip(array.mantissas.ravel().tolist(), array.exponents.ravel().tolist(), strict=True)
    return [Fraction(m) * Fraction(2) ** e if m else Fraction(0) for m, e in pairs]


def wide(values: list[Fraction]) -> Wide:
    """Return odd numbers below 2**53 times powers of two, exactly."""
    numbers = Wide.zeros(len(values))
    for place, value in enumerate(values):
        if value:
            order = value.numerator.bit_length() - value.denominator.bit_length()
            numbers[place] = Wide.of(float(value / Fraction(2) ** order), order)
    return numbers


def close(computed: Wide, expected: list[Fraction], roundings: int) -> bool:
    return all(abs(a - b) <= roundings * Fraction(UNIT) * b for a, b in zip(fractions(computed), expected, strict=True))


def random_wide(seed: int, shape: tuple[int, ...], orders: int) -> Wide:
    """Return random numbers spread over so many binary orders, and some zeros."""
    rng = np.random.default_rng(seed)
    held = rng.random(shape) < 0.8
    numbers = np.where(held, rng.uniform(0.5, 1.0, shape), 0.0)
    return Wide.of(numbers, np.where(held, rng.integers(-orders, 1, shape), LOWEST))
