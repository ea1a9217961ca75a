"""Populations behind channels by their definitions: rationals and every set of values or outputs."""

import math
from fractions import Fraction
from itertools import product

from hypothesis import strategies as st
from mpmath import mp
from tests.support.laws_oracles import as_mpf, bottleneck_by_hall, unmatched

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


def apart(x, y):
    return abs(x - y)


def marginals(plan):
    left, right = {}, {}
    for (x, y), mass in plan.items():
        left[x], right[y] = left.get(x, 0) + mass, right.get(y, 0) + mass
    return left, right


def loss(p, q):
    """Return the largest log p(y)/q(y)."""
    ratios = [math.inf if not q.get(y, 0) else mp.log(mp.mpf(a.numerator) / a.denominator / as_mpf(q[y]))
              for y, a in p.items() if a]  # fmt: skip
    return max(ratios)


def delta(p, q, epsilon):
    """Return the largest p(R) - e^epsilon q(R) over every set R of outputs, to 50 digits."""
    with mp.workdps(50):
        factor = mp.exp(as_mpf(epsilon))
        best = mp.mpf(0)
        for chosen in product((False, True), repeat=len(p)):
            inside = [y for y, taken in zip(p, chosen, strict=True) if taken]
            mass = sum((p[y] for y in inside), Fraction(0))
            other = sum((q.get(y, Fraction(0)) for y in inside), Fraction(0))
            best = max(best, as_mpf(mass) - factor * as_mpf(other))
        return best


def has_coupling(p, q, pairs):
    """Decide whether a coupling on a set of pairs exists (Strassen)."""
    return not unmatched(p, q, lambda x, y: (x, y) in pairs)


#: The least c such that a coupling on the pairs of cost at most c exists.
least_largest = bottleneck_by_hall


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
