"""Populations behind channels by their definitions: rationals and every set of values or outputs."""

import math
from fractions import Fraction
from itertools import product

from hypothesis import strategies as st
from mpmath import mp

from takifugu.numbers.distributions.channel import Channel


def sent(channel, law):
    """Return the law of the output: sum over x of law(x) A(x)[y]."""
    rows = {
        x: [Fraction(mass, channel.total) for mass in row]
        for x, row in zip(channel.inputs, channel.masses, strict=True)
    }
    return {
        y: sum((Fraction(p) * rows[x][n] for x, p in law.items()), Fraction(0)) for n, y in enumerate(channel.outputs)
    }


def loss(p, q):
    """Return the largest log p(y)/q(y)."""
    ratios = [math.inf if not q.get(y, 0) else mp.log(mp.mpf(a.numerator) / a.denominator / _real(q[y]))
              for y, a in p.items() if a]  # fmt: skip
    return max(ratios)


def delta(p, q, epsilon):
    """Return the largest p(R) - e^epsilon q(R) over every set R of outputs, to 50 digits."""
    with mp.workdps(50):
        factor = mp.exp(_real(epsilon))
        best = mp.mpf(0)
        for chosen in product((False, True), repeat=len(p)):
            inside = [y for y, taken in zip(p, chosen, strict=True) if taken]
            mass = sum((p[y] for y in inside), Fraction(0))
            other = sum((q.get(y, Fraction(0)) for y in inside), Fraction(0))
            best = max(best, _real(mass) - factor * _real(other))
        return best


def has_coupling(p, q, pairs):
    """Decide whether a coupling on a set of pairs exists: p(A) <= q(what A reaches) for every set A (Strassen)."""
    values = [x for x, mass in p.items() if mass]
    for chosen in product((False, True), repeat=len(values)):
        inside = [x for x, taken in zip(values, chosen, strict=True) if taken]
        reached = [y for y, mass in q.items() if mass and any((x, y) in pairs for x in inside)]
        if sum((p[x] for x in inside), Fraction(0)) > sum((q[y] for y in reached), Fraction(0)):
            return False
    return True


def least_largest(p, q, cost):
    """Return the least c such that a coupling on the pairs of cost at most c exists."""
    levels = sorted({cost(x, y) for x in p for y in q})
    return next(c for c in levels if has_coupling(p, q, {(x, y) for x in p for y in q if cost(x, y) <= c}))


def _real(value):
    value = Fraction(value)
    return mp.mpf(value.numerator) / value.denominator


@st.composite
def laws(draw, values, least=0):
    """Return a law on the values with small whole weights."""
    weights = draw(st.lists(st.integers(least, 9), min_size=values, max_size=values).filter(any))
    return {x: Fraction(w, sum(weights)) for x, w in enumerate(weights)}


@st.composite
def channels(draw, inputs, outputs, least=0):
    """Return a channel from 0, ..., inputs - 1 with small whole weights."""
    rows = []
    for _ in range(inputs):
        weights = draw(st.lists(st.integers(least, 9), min_size=outputs, max_size=outputs).filter(any))
        rows.append([Fraction(w, sum(weights)) for w in weights])
    return Channel.of(list(range(inputs)), list(range(outputs)), rows)
