"""Two laws after Gaussian noise: where one exceeds e^epsilon times the other, enclosed.

Let A, B be the densities of p*N(0,1) and q*N(0,1) (the unit of the line is sigma) and r = epsilon + log(B/A). The
derivative of log A at y is a(y) - y, where a(y) is the mean of the atoms weighted by their share in A(y); a increases,
because its derivative is a variance. So on a cell [l, r] the derivative of r lies between b(l) - a(r) and b(r) - a(l),
and the values of r at the two ends give bounds for r inside that are exact to second order.
"""

from __future__ import annotations

import math

import numpy as np

from takifugu.numbers.atoms import Array, Floats, floats, same_type
from takifugu.numbers.distributions.exact_ratio import log_masses
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.outward_rounding import UNIT

#: Beyond this many sigmas from the last atom the mass is below 1e-320.
_REACH = 38.5
#: Atoms farther than this from a point (in sigmas) weigh less than e**-1250 there, before tilting back.
_WINDOW, _OUTSIDE = 50.0, -1250.0
_POINTS_AT_ONCE, _MOST_CELLS = 128, 200_000
#: The search ends when what is unresolved is this small next to what is certain, or cells are this narrow.
_TARGET, _NARROW = 2.0**-44, 2.0**-40
#: No mixture of normal densities exceeds this logarithm, 1/sqrt(2 pi) and a little.
_DENSEST = -0.918


class GaussianPair:
    """Two distributions on a line, counted from the first atom in sigmas."""

    #: Names of the rows of `points`.
    Y, LOG_A, MEAN_A, RATIO, MEAN_B, MARGIN = range(6)

    def __init__(self, p: Pmf, q: Pmf, sigma: float, epsilon: float) -> None:
        x, y = same_type(p.values, q.values)
        origin = min(x[0], y[0])
        self.x, self.y = floats(x - origin) / sigma, floats(y - origin) / sigma
        self.log_p, self.log_q = log_masses(p), log_masses(q)
        self.epsilon = epsilon
        self.right = float(max(self.x[-1], self.y[-1]))

    def points(self, y: Floats) -> Floats:
        """Return rows (y, log A, a, r, b, error), y increasing."""
        blocks = np.split(y, range(_POINTS_AT_ONCE, len(y), _POINTS_AT_ONCE))
        return np.concatenate(list(map(self._points, blocks)), axis=1)

    def _points(self, y: Floats) -> Floats:
        tilt = np.clip(y, 0.0, self.right)
        span = float(tilt[0]) - _WINDOW, float(tilt[-1]) + _WINDOW
        log_a, mean_a, size_a = _tilted(self.x, self.log_p, span, y, tilt)
        log_b, mean_b, size_b = _tilted(self.y, self.log_q, span, y, tilt)
        margin = 16 * UNIT * (8 + size_a + size_b + self.epsilon + 32 * (1 + self.right + _REACH))
        density = log_a - (y - tilt) ** 2 / 2 - 0.5 * math.log(2 * math.pi)
        return np.stack((y, density, mean_a, self.epsilon + log_b - log_a, mean_b, margin))

    def positive_intervals(self) -> tuple[Floats, Floats, float]:
        """Return intervals (starts, ends) where A > e^epsilon B for certain, and a charge for the uncertain cells."""
        # The charge bounds the integral of (A - e^epsilon B)_+ over all cells of uncertain sign.
        places = self.points(np.linspace(-_REACH, self.right + _REACH, 65))
        left, right = places[:, :-1], places[:, 1:]
        starts, ends = [left[self.Y, :0]], [left[self.Y, :0]]
        charge = certain = 0.0
        while left.size:
            low, high, monotone = self._range(left, right)
            floor, ceiling = self._density(left, right)
            width = right[self.Y] - left[self.Y]
            positive, negative = high < 0, low >= 0
            starts.append(left[self.Y, positive])
            ends.append(right[self.Y, positive])
            certain += float((width * np.exp(floor) * -np.expm1(np.minimum(high, 0.0)))[positive].sum())
            charges = width * np.exp(ceiling) * -np.expm1(np.minimum(low, 0.0)) * (1 + 2.0**-30)
            doubtful = ~positive & ~negative
            count = int(np.count_nonzero(doubtful))
            margin = np.maximum(left[self.MARGIN], right[self.MARGIN])
            done = (charges <= certain * _TARGET / max(count, 1)) | (width < _NARROW) | (low > -8 * margin)
            if count > _MOST_CELLS:
                done[:] = True
            charge += float(charges[doubtful & done].sum())
            split = doubtful & ~done
            left, right = self._split(left[:, split], right[:, split], monotone[split])
        begin, finish = np.sort(np.concatenate(starts)), np.sort(np.concatenate(ends))
        return begin[~np.isin(begin, finish)], finish[~np.isin(finish, begin)], charge

    def _range(self, left: Floats, right: Floats) -> tuple[Floats, Floats, Array]:
        """Bound r over each cell, and mark monotone ones."""
        margin = np.maximum(left[self.MARGIN], right[self.MARGIN])
        blur = 256 * margin
        least = left[self.MEAN_B] - right[self.MEAN_A] - blur
        most = right[self.MEAN_B] - left[self.MEAN_A] + blur
        width = right[self.Y] - left[self.Y]
        low = _lowest(left[self.RATIO], right[self.RATIO], least, most, width) - margin
        high = -_lowest(-left[self.RATIO], -right[self.RATIO], -most, -least, width) + margin
        return low, high, (least > 0) | (most < 0)

    def _density(self, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Bound log A over each cell by its slope."""
        width = right[self.Y] - left[self.Y]
        margin = np.maximum(left[self.MARGIN], right[self.MARGIN])
        least = left[self.MEAN_A] - right[self.Y] - 256 * margin
        most = right[self.MEAN_A] - left[self.Y] + 256 * margin
        low = _lowest(left[self.LOG_A], right[self.LOG_A], least, most, width)
        high = -_lowest(-left[self.LOG_A], -right[self.LOG_A], -most, -least, width)
        return low - margin, np.minimum(high + margin, _DENSEST)

    def _split(self, left: Floats, right: Floats, monotone: Array) -> tuple[Floats, Floats]:
        """Cut each cell in two, or in three around its root."""
        if not left.size:
            return left, right
        width = right[self.Y] - left[self.Y]
        rooted = monotone & (left[self.RATIO] * right[self.RATIO] < 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(rooted, left[self.RATIO] / (left[self.RATIO] - right[self.RATIO]), 0.5)
        near = np.where(rooted, np.minimum(width / 4, width**2), 0.0)
        middle = left[self.Y] + share * width
        first = np.clip(middle - near, left[self.Y] + width / 64, right[self.Y] - width / 32)
        second = np.clip(middle + near, first + width / 128, right[self.Y] - width / 64)
        first = np.where(rooted, first, middle)
        cuts = np.stack((first, np.where(rooted, second, middle)), axis=1)
        flat = np.unique(cuts.ravel())
        places = self.points(flat)
        lower, upper = places[:, np.searchsorted(flat, cuts[:, 0])], places[:, np.searchsorted(flat, cuts[:, 1])]
        lefts = np.concatenate((left, lower[:, rooted], upper), axis=1)
        rights = np.concatenate((lower, upper[:, rooted], right), axis=1)
        order = np.argsort(lefts[self.Y], kind="stable")
        return lefts[:, order], rights[:, order]

    def integral(self, starts: Floats, ends: Floats) -> tuple[float, float]:
        """Bound the integral of A - e^epsilon B over intervals."""
        least, most = list[float](), list[float]()
        factor = math.exp(self.epsilon) * (1 + 4 * UNIT)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            p_mass, p_error = _normal_mass(self.x, self.log_p, start, end)
            q_mass, q_error = _normal_mass(self.y, self.log_q, start, end)
            part, error = p_mass - factor * q_mass, p_error + factor * (q_error + 8 * UNIT * q_mass)
            least.append(max(0.0, part - error))
            most.append(max(0.0, part + error))
        return math.fsum(least) * (1 - 2.0**-46), math.fsum(most) * (1 + 2.0**-46)


def _lowest(left: Floats, right: Floats, least: Floats, most: Floats, width: Floats) -> Floats:
    """Bound a function on a cell from below by its derivative."""
    has_minimum = (least < 0) & (most > 0)
    slopes = np.where(has_minimum, most - least, 1.0)
    crossing = (most * left - least * right + least * most * width) / slopes
    return np.where(has_minimum, np.minimum(crossing, np.minimum(left, right)), np.minimum(left, right))


def _tilted(
    atoms: Floats, logs: Floats, span: tuple[float, float], y: Floats, tilt: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the log of the sum of p e^{(x - t)(y - (x + t)/2)}, t the tilt, the mean of x, and the exponents' size."""
    near = slice(*np.searchsorted(atoms, span))
    atoms_here, masses = (atoms[near], logs[near]) if near.start < near.stop else (atoms, logs)
    offset = atoms_here - tilt[:, None]
    exponents = masses + offset * (y[:, None] - (atoms_here + tilt[:, None]) / 2)
    top = exponents.max(axis=1)
    # Atoms left out weigh at most e^_OUTSIDE each, so at least one of weight e^-1000 must stay.
    if len(atoms_here) < len(atoms) and float(top.min()) < _OUTSIDE + 250:
        return _tilted(atoms, logs, (-math.inf, math.inf), y, tilt)
    weights = np.exp(exponents - top[:, None])
    total = weights.sum(axis=1)
    mean = tilt + (weights * offset).sum(axis=1) / total
    return top + np.log(total), mean, np.abs(top) + len(atoms_here) + 60.0


def ndtr_error(z: Floats) -> Floats:
    """Return an allowance for the relative error of scipy.special.ndtr (tested against mpmath)."""
    return 16 * UNIT * (1 + np.minimum(z, 0.0) ** 2 / 2)


def normal_between(low: Floats, high: Floats, place: Floats) -> tuple[Floats, Floats]:
    """Return Phi(high) - Phi(low), the ends off by `place`, and a bound on its error."""
    from scipy.special import ndtr

    mirrored = low > 0
    low, high = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    lower, upper = ndtr(low), ndtr(high)
    of_lower = lower * (ndtr_error(low) + place * steepness(low))
    of_upper = upper * (ndtr_error(high) + place * steepness(high))
    return upper - lower, of_lower + of_upper


def _normal_mass(atoms: Floats, logs: Floats, start: float, end: float) -> tuple[float, float]:
    """Return p * N(0, 1) on an interval, and its error."""
    place = 4 * UNIT * (abs(start) + abs(end) + np.abs(atoms))
    between, error = normal_between(start - atoms, end - atoms, place)
    masses = np.exp(logs)
    parts = masses * between
    relative = 8 * UNIT * (len(atoms) + 1 + np.abs(logs))
    return float(parts.sum()), float((masses * error + relative * parts).sum())


def steepness(z: Floats) -> Floats:
    """Return a bound on the derivative of log Phi, near z."""
    return np.where(z > 0, np.exp(-np.minimum(z, 40.0) ** 2 / 2), 1.0 - z)
