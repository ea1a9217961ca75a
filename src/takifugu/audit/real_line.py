"""The true delta of noise on a real-valued answer: the hockey-stick divergence, integrated over the real line.

For densities p, q of the noisy answer given two hypotheses it is the integral of (p - e^epsilon q)_+, here by Gauss
quadrature of densities with 22 digits, in cells that end where the sign changes. The published value is the noisy one
rounded to a grid, which can only hide more: the number found is an upper bound of its delta, and nearly equal to it
where the grid is fine beside the noise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from mpmath import mp, mpf

from takifugu.analysis.questions.dispatch import Question
from takifugu.analysis.randomisers import Exact, Randomiser, RoundedLaplace, RoundedNormal
from takifugu.audit.curves import Curve, curve, with_laplace
from takifugu.core.errors import Unsupported
from takifugu.core.plain import Plain
from takifugu.model import secrets
from takifugu.model.beliefs import Belief
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query, resolved
from takifugu.model.queries.additive import Additive
from takifugu.model.secrets.families import Family, View

#: Digits of the densities, and the number of cells in which signs are looked for.
DIGITS, LEAST_CELLS, MOST_CELLS = 22, 48, 4000
#: Nodes and weights of Gauss and Legendre: exact for polynomials of degree 23.
_NODES = tuple(zip(*(column.tolist() for column in np.polynomial.legendre.leggauss(12)), strict=True))
#: What the integration leaves open: signs inside a cell, and the tails.
SLACK = 1e-12


@dataclass(frozen=True)
class Divergence:
    """The divergence from one hypothesis to another, and the place that adds most to it."""

    delta: mpf
    comparison: str
    place: mpf


def is_real(framework: Framework) -> bool:
    """Whether some belief is about a real-valued answer, whose hypotheses have densities and no joint states."""
    return any(_describe(view) is not None for view, _, _ in _views(framework))


def divergences(framework: Framework, query: Query, noise: Randomiser, epsilon: mpf) -> Iterator[Divergence]:
    """Yield the divergence of every ordered comparison; call it with `mp.dps` at DIGITS or more.

    Raises Unsupported for noise that is neither normal nor Laplace, and where a hypothesis has no density that is known
    here.
    """
    if not isinstance(noise, RoundedNormal | RoundedLaplace | Exact):
        raise Unsupported("the audit of a real-valued answer knows normal and Laplace noise")
    scale = mp.mpf(noise.scale.numerator) / noise.scale.denominator
    noisy = with_laplace if isinstance(noise, RoundedLaplace) else curve
    for view, family, belief in _views(framework):
        describe = _describe(view)
        if describe is None:
            raise Unsupported(f"the audit knows no density of the answer under {view.describe()}")
        plain = describe(view, resolved(query, belief))
        pairs = family.value_pairs(view, 0)
        curves = {value: noisy(plain[value], scale) for value in {*itertools.chain(*pairs)}}
        for a, b in pairs:
            delta, place = divergence(curves[a], curves[b], mp.exp(epsilon))
            words = (view.describe_hypothesis(value) for value in (a, b))
            yield Divergence(delta, " against ".join(words), place)


def divergence(p: Curve, q: Curve, factor: mpf) -> tuple[mpf, mpf]:
    """Return the integral of (p - factor q)_+, and a place where the integrand is largest of those looked at."""

    def excess(y: mpf) -> mpf:
        return p.at(y) - factor * q.at(y)

    total, highest, where = mp.mpf(0), mp.mpf(0), p.low
    for left, right in itertools.pairwise(_places(p, q)):
        looked = [left, (left + right) / 2, right]
        nudge = (right - left) * mp.mpf(10) ** -20  # a kink belongs to the cells on both of its sides
        excesses = [excess(y) for y in (left + nudge, looked[1], right - nudge)]
        if excesses[1] > highest:
            highest, where = excesses[1], looked[1]
        ends = [left]
        for k in (0, 1):
            if (excesses[k] > 0) != (excesses[k + 1] > 0):
                ends.append(_root(excess, looked[k], looked[k + 1], excesses[k] > 0))
        for low, high in itertools.pairwise([*ends, right]):
            if excess((low + high) / 2) > 0:
                total += _integral(excess, low, high)
    return total, where


def _integral(function: Callable[[mpf], mpf], low: mpf, high: mpf) -> mpf:
    middle, half = (low + high) / 2, (high - low) / 2
    return half * mp.fsum(weight * function(middle + half * node) for node, weight in _NODES)


def _root(function: Callable[[mpf], mpf], low: mpf, high: mpf, falls: bool) -> mpf:
    """Return where a function changes its sign between two places: false position, halving every third time."""
    ends, values = [low, high], [function(low), function(high)]
    for turn in range(200):
        if ends[1] - ends[0] <= (high - low) * mp.mpf(10) ** -14:
            break
        steep = values[0] - values[1]
        guess = (ends[0] + ends[1]) / 2 if turn % 3 == 2 or not steep else (
            ends[0] + (ends[1] - ends[0]) * values[0] / steep
        )  # fmt: skip
        at = function(guess)
        side = 0 if (at > 0) == falls else 1
        ends[side], values[side] = guess, at
    return (ends[0] + ends[1]) / 2


def _places(p: Curve, q: Curve) -> list[mpf]:
    """Return the ends of cells where p has mass, each of them smooth and short beside what it is smooth on."""
    wanted = (p.high - p.low) / min(p.length, q.length)
    count = int(min(max(wanted, LEAST_CELLS), MOST_CELLS))
    grid = [p.low + (p.high - p.low) * k / count for k in range(count + 1)]
    return sorted({*grid, *(kink for kink in (*p.kinks, *q.kinks) if p.low < kink < p.high)})


def _views(framework: Framework) -> Iterator[tuple[View, Family, Belief]]:
    """Yield a belief as each secret about its records reads it, with what is compared, and the belief itself."""
    for belief in framework.beliefs:
        for secret in framework.secrets:
            if (view := secrets.view(secret, belief)) is not None:
                yield view, secret.family(view), belief


def _describe(view: Belief) -> Callable[[Belief, Additive], Sequence[Plain]] | None:
    return DENSITIES.of(view)


def of_density(view: Belief, answer: Additive) -> Sequence[Plain]:
    """Return the densities of a Density belief as plain data, one for each value of what is hidden."""
    return [row[1] for row in view.to_dict()["given"]]


#: (view, answer) -> the density of the answer given each value of the view's entry, as plain data (`curves`).
DENSITIES: Question[Callable[[Belief, Additive], Sequence[Plain]] | None] = Question(
    "the density that the audit looks at",
    {
        "model.beliefs.density:DensityView": "audit.real_line:of_density",
        "model.beliefs.records.normal_views:NormalView": "audit.normal_columns:of_normal_view",
    },
    default=None,
)
