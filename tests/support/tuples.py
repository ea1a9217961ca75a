"""Tupling by its definition: every tuple, every place of the sent value, and both sides of the inequality."""

from fractions import Fraction
from itertools import product
from math import prod

from mpmath import mp


def tuple_law(p, nu, dummies):
    """Return the law of the tuple: the sent value at a uniform place among independent dummies."""
    outputs, size = range(len(p)), dummies + 1
    law = {}
    for y in product(outputs, repeat=size):
        law[y] = sum(p[y[j]] * prod(nu[y[i]] for i in range(size) if i != j) for j in range(size)) / Fraction(size)
    return law


def tuple_delta(p, q, nu, dummies, epsilon):
    """Return the exact delta at epsilon, as an mpf of 50 digits."""
    with mp.workdps(50):
        factor = mp.exp(mp.mpf(epsilon.numerator) / epsilon.denominator)
        one, other = tuple_law(p, nu, dummies), tuple_law(q, nu, dummies)
        total = mp.mpf(0)
        for y, mass in one.items():
            excess = mp.mpf(mass.numerator) / mass.denominator
            excess -= factor * mp.mpf(other[y].numerator) / other[y].denominator
            total += max(excess, 0)
        return total


def mean_positive(values, masses, count):
    """Return E[(Z_1 + ... + Z_count)_+] exactly, by adding one term after the other."""
    sums = {Fraction(0): Fraction(1)}
    for _ in range(count):
        longer = {}
        for total, mass in sums.items():
            for value, share in zip(values, masses, strict=True):
                longer[total + value] = longer.get(total + value, Fraction(0)) + mass * share
        sums = longer
    return sum((total * mass for total, mass in sums.items() if total > 0), Fraction(0))
