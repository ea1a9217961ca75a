"""The true delta, and the true loss, of noise on a real-valued answer, enclosed over the real line.

The loss after Laplace noise is the largest log-ratio (`noisy_ratios`), the delta the hockey-stick divergence.

For densities p, q of the noisy answer given two hypotheses it is the integral of (p - e^epsilon q)_+. On a cell of mass
P and Q it is at least (P - e^epsilon Q)_+, and just that, or 0, where bounds of the densities decide the sign;
elsewhere at most P, at most the length of the cell times a bound of p - e^epsilon q, and at most what P - e^epsilon Q
lacks where it is negative. Cells that leave most open are halved. No peak is missed: what is not decided counts.

The published value is the noisy one rounded to a grid, which can only hide more: the upper end holds for it, too, and
is nearly reached where the grid is fine beside the noise. Densities are those of the numbers before they are read: of
what reading rounds, clips or replaces neither end is proved.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mpmath import mp, mpf

from takifugu.analysis.randomisers import Exact, Randomiser, RoundedLaplace, RoundedNormal
from takifugu.audit.compared_pairs import Pairs, of_view
from takifugu.audit.curves import curve, range_of, with_laplace
from takifugu.audit.hills import Curve
from takifugu.audit.noisy_ratios import Noisy, largest_log_ratio
from takifugu.audit.results import Audit
from takifugu.core.errors import Unsupported
from takifugu.core.plain import Plain
from takifugu.core.registry import Question
from takifugu.model import secrets
from takifugu.model.beliefs import Belief
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query, resolved
from takifugu.model.queries.answer import Additive
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import View
from takifugu.numbers.rationals import as_mpf

#: Digits of the densities, how much may be left open, and how many cells are halved at most.
DIGITS, OPEN, MOST_HALVED = 25, 1e-12, 800
#: What arithmetic in so many digits, and the mass beyond all cells, leave open.
SLACK = 1e-14
#: Digits of ratios of densities, far out; what arithmetic in so many leaves open, relatively.
LOSS_DIGITS, LOSS_SLACK, MOST_DIGITS = 50, 1e-13, 1000

#: (belief, answer) -> the density given each hypothesis, as plain data (`curves`), and the pairs that are compared.
Described = tuple[Sequence[Plain], Pairs]


def is_real(framework: Framework) -> bool:
    """Whether some belief has densities and no joint states."""
    return any(DENSITIES.of(view) is not None for view, _, _ in _views(framework))


def deltas(framework: Framework, query: Query, noise: Randomiser, epsilon: Fraction) -> list[Audit]:
    """Return the delta of every ordered comparison, before rounding."""
    if not isinstance(noise, RoundedNormal | RoundedLaplace | Exact):
        raise Unsupported("the audit of a real-valued answer knows normal and Laplace noise")
    noisy, every = with_laplace if isinstance(noise, RoundedLaplace) else curve, list[Audit]()
    with mp.workdps(DIGITS):
        scale, factor = as_mpf(noise.scale), mp.exp(as_mpf(epsilon))
        for view, densities, pairs in _described(framework, query):
            curves = {value: noisy(plain, scale) for value, plain in densities.items()}
            for a, b in pairs:
                low, high, place = divergence(curves[a], curves[b], factor)
                every.append(_audit(view, a, b, float(low), float(high), SLACK, place))
    return every


def losses(framework: Framework, query: Query, noise: RoundedLaplace) -> list[Audit]:
    """Return the largest log-ratio of every ordered comparison after Laplace noise, before rounding."""
    every: list[Audit] = []
    for view, densities, pairs in _described(framework, query):
        ends = list(filter(mp.isfinite, itertools.chain(*map(range_of, densities.values()))))
        widest = float(max(ends, default=0) - min(ends, default=0))
        digits = LOSS_DIGITS + int(1.4 * widest / float(noise.scale))  # e^(-3 widest/b): no density is smaller
        if digits > MOST_DIGITS:
            raise Unsupported("the noise is so small beside the densities that the audit would take too long")
        with mp.workdps(digits):
            scale = as_mpf(noise.scale)
            noisy = {}
            for value, plain in densities.items():
                noisy[value] = Noisy(plain, with_laplace(plain, scale), scale)
            for a, b in pairs:
                low, high, place = largest_log_ratio(noisy[a], noisy[b])
                every.append(_audit(view, a, b, float(low), float(high), LOSS_SLACK * (1 + float(high)), place))
    return every


def _described(framework: Framework, query: Query) -> Iterator[tuple[View, dict[int, Plain], Pairs]]:
    """Yield each view with the densities of its compared hypotheses, and the pairs."""
    for view, secret, belief in _views(framework):
        describe = DENSITIES.of(view)
        if describe is None:
            raise Unsupported(f"the audit knows no density of the answer under {view.describe()}")
        plain, pairs = describe(view, secret, resolved(query, belief))
        yield view, {value: plain[value] for value in {*itertools.chain(*pairs)}}, pairs


def _audit(view: View, a: int, b: int, low: float, high: float, slack: float, place: mpf) -> Audit:
    comparison = f"{view.describe_hypothesis(a)} against {view.describe_hypothesis(b)}"
    return Audit(high, comparison, (float(place),), max(0.0, low - slack), high + slack)


def divergence(p: Curve, q: Curve, factor: mpf) -> tuple[mpf, mpf, mpf]:
    """Enclose the integral of (p - factor q)_+, with a place."""
    if p.shape is not None and p.shape == q.shape:
        return _of_moved(p, q, factor)
    ends = sorted({*p.ends, *q.ends})
    cells = [_cell(p, q, factor, low, high) for low, high in itertools.pairwise(ends)]
    heapq.heapify(cells)
    left_open = mp.fsum(cell.high - cell.low for cell in cells)
    for _ in range(MOST_HALVED):
        if left_open <= OPEN:
            break
        widest = heapq.heappop(cells)
        middle = (widest.left + widest.right) / 2
        halves = _cell(p, q, factor, widest.left, middle), _cell(p, q, factor, middle, widest.right)
        left_open += mp.fsum(half.high - half.low for half in halves) - (widest.high - widest.low)
        for half in halves:
            heapq.heappush(cells, half)
    most = max(cells, key=lambda cell: cell.low / (cell.right - cell.left))
    return mp.fsum(cell.low for cell in cells), mp.fsum(cell.high for cell in cells), (most.left + most.right) / 2


@dataclass(frozen=True)
class Cell:
    """A part of the line, and both ends of its addition."""

    left: mpf
    right: mpf
    low: mpf
    high: mpf

    def __lt__(self, other: Cell) -> bool:
        return bool(self.high - self.low > other.high - other.low)


def _cell(p: Curve, q: Curve, factor: mpf, left: mpf, right: mpf) -> Cell:
    (p_least, p_most), (q_least, q_most) = p.bounds(left, right), q.bounds(left, right)
    mass = p.mass(left, right)
    excess = mass - factor * q.mass(left, right)
    low = max(mp.mpf(0), excess)
    if p_least >= factor * q_most or p_most <= factor * q_least:
        return Cell(left, right, low, low)
    above = (right - left) * (p_most - factor * q_least)
    below = (right - left) * (factor * q_most - p_least)
    return Cell(left, right, low, max(low, min(above, mass, excess + below)))


def _of_moved(p: Curve, q: Curve, factor: mpf) -> tuple[mpf, mpf, mpf]:
    """Enclose a log-concave density's divergence from its translate."""
    # The ratio is monotone, so that the excess is that of a half-line, which begins between two places of other signs.
    first, last = min(*p.ends, *q.ends), max(*p.ends, *q.ends)
    # In a mirror p lies above q.
    is_above = bool(p.centre >= q.centre)  # type: ignore[operator]

    def excess(low: mpf, high: mpf) -> mpf:
        return p.mass(low, high) - factor * q.mass(low, high)

    def is_more(place: mpf) -> bool:
        return bool(p.at(place) > factor * q.at(place))

    low, high = first, last
    for _ in range(4 * DIGITS):
        middle = (low + high) / 2
        if is_more(middle) == is_above:
            high = middle
        else:
            low = middle
    if is_above:
        beyond, place = excess(high, last), high
    else:
        beyond, place = excess(first, low), low
    sure = max(mp.mpf(0), beyond)
    return sure, sure + p.mass(low, high), place


def _views(framework: Framework) -> Iterator[tuple[View, Secret, Belief]]:
    """Yield a belief by each secret, the secret, and the belief."""
    for belief in framework.beliefs:
        for secret in framework.secrets:
            view = secrets.view(secret, belief)
            if view is not None:
                yield view, secret, belief


def of_density(view: View, secret: Secret, answer: Additive) -> Described:
    """Return a Density belief's densities as plain data, one per value."""
    densities, values = [row[1] for row in view.to_dict()["given"]], view.alphabet(0)
    pairs = of_view(secret, view, range(len(densities)))
    return densities, tuple((a, b) for a, b in pairs if values[a] != values[b])  # a value may have several densities


#: (view, secret, answer) -> the density of the answer given each value of the view's entry, and what is compared.
DENSITIES: Question[Callable[[Belief, Secret, Additive], Described] | None] = Question(
    "the density that the audit looks at", None
)
