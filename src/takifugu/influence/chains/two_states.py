"""A run of equal profiles over a chain of two states: the recursion in two numbers.

F(s) = log((P(1,0) + P(1,1) e^s)/(P(0,0) + P(0,1) e^s)) is monotone, and the extreme rays of the cone are e^rho(1,0) and
e^-rho(0,1), so R(1, 0) is the larger of F there, and R(0, 1) the larger of -F (docs/theory/influence.md#the-supremum).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.errors import Unsupported
from takifugu.influence.profiles.patience import TWO_STATES
from takifugu.numbers.outward_rounding import UNIT, log_ratio_error

#: Beyond this a ratio's exponential has lost digits beside entries below LEAST, or is 0.
WIDE, LEAST = 650.0, 1e-290
#: The two laws of what follows from 0 and from 1.
Rows = tuple[tuple[float, float], tuple[float, float]]
#: Runs that settle later are computed at once, for ratios up to this.
AT_ONCE, LARGEST = 512, 200.0
#: So many steps, or the periods that hold them, lie between two looks at whether a run has settled.
LOOKS = 16
#: After so many steps a run is given up: nothing is forgotten.
MOST = TWO_STATES.positions + 2**10


def log_ratio(far: float, near: float, other_far: float, other_near: float, size: float) -> float:
    """Return log((far + near e^-size)/(other_far + other_near e^-size)), of rows that sum to one, size >= 0."""
    # The relative error is a few units: a difference is taken only where both sums are alike.
    share = math.exp(-size)
    above, below = far + near * share, other_far + other_near * share
    if min(above, below) < LEAST:
        return _log_sum(far, near, size) - _log_sum(other_far, other_near, size)
    if above < below / 2 or above > 2 * below:
        return math.log(above / below)
    return math.log1p((near - other_near) * math.expm1(-size) / below)


def _log_sum(far: float, near: float, size: float) -> float:
    """Return log(far + near e^-size), right up to 4 units of the size."""
    logs = sorted([math.log(far) if far else -math.inf, math.log(near) - size if near else -math.inf])
    return logs[1] + math.log1p(math.exp(logs[0] - logs[1]))


def step(rows: Rows, error: float, up_ratio: float, down_ratio: float) -> tuple[float, float]:
    """Return R(1, 0) and R(0, 1) from rho(1, 0) and rho(0, 1), rounded up; `error` is relative, of the rows."""
    (stay, leave), (back, remain) = rows
    # What rounding can hide is added; no loss is more than the largest ratio, which bounds it anyway.
    largest, rounding = max(up_ratio, down_ratio), log_ratio_error(error)
    if largest > WIDE:
        if error and min(stay, leave, back, remain) < LEAST:  # these may have lost digits, too
            return largest, largest
        rounding += 16 * UNIT * largest
    high = log_ratio(remain, back, leave, stay, up_ratio)
    low = log_ratio(back, remain, stay, leave, down_ratio)
    if high < low:
        high, low = low, high
    rise = fall = rounding
    if high > 0:
        rise += high * (1 + 16 * UNIT)
    if low < 0:
        fall += -low * (1 + 16 * UNIT)
    if not rise < largest:
        rise = largest
    return (rise, fall) if fall < largest else (rise, largest)


def run(
    kernels: FloatArray, error: float, change: float, before: tuple[float, float], length: int, most: int = MOST
) -> tuple[FloatArray, FloatArray]:
    """Return a run's losses (n, 2, 2) and the bounds on the rest, a period of them in turn (period, 2, 2), or none."""
    # `kernels` (period, 2, 2) are those of the run's steps in turn; `change` is c(0, 1) of the run; `before` are
    # rho(1, 0) and rho(0, 1) at the position before it.
    phases: list[Rows] = [((stay, leave), (back, remain)) for (stay, leave), (back, remain) in kernels.tolist()]
    period = len(phases)
    if length > AT_ONCE and period == 1:
        by_formula = runs_at_once(phases[0], error, change, before, length)
        if by_formula is not None:
            return by_formula
    up_losses, down_losses = [], []
    up_ratio, down_ratio = before
    between = -(-LOOKS // period)  # periods from one look to the next
    rise = math.inf
    for position in range(length):
        up_loss, down_loss = step(phases[position % period], error, up_ratio, down_ratio)
        up_losses.append(up_loss)
        down_losses.append(down_loss)
        up_ratio, down_ratio = _sum(change, up_loss), _sum(change, down_loss)
        if position % (between * period) or not position or position == length - 1:
            continue
        if position > most:  # they rise for ever where nothing is forgotten
            raise Unsupported(f"the losses still rise after {most} steps")
        moved = up_loss - up_losses[-1 - period], down_loss - down_losses[-1 - period]
        earlier, rise = rise, max(moved)
        enough = TWO_STATES.enough(position)
        if max(rise, -min(moved)) > 4 * enough * (1 + up_loss + down_loss):
            continue
        following = [*phases[1:], phases[0]]  # a look is at the first phase
        bounds = _proved_bounds(following, error, change, (up_loss, down_loss), _left(rise, earlier, between))
        if bounds is not None and bounds[-1][0] - up_loss + bounds[-1][1] - down_loss <= enough * (2 + up_loss):
            return _matrices(up_losses, down_losses), _matrices(*zip(*bounds, strict=True))
    return _matrices(up_losses, down_losses), _matrices([], [])


def _left(rise: float, earlier: float, between: int) -> float:
    """Guess what is left of a rise from the one so many periods before."""
    if 0 < rise < earlier < math.inf:
        return rise * rise * between / (earlier - rise)
    return max(rise, 0.0)


def runs_at_once(
    rows: Rows, error: float, change: float, before: tuple[float, float], length: int
) -> tuple[FloatArray, FloatArray] | None:
    """Return `run` by formulas proved afterwards, or None."""
    (stay, leave), (back, remain) = rows
    if min(leave, back, remain - leave, stay - back, change) <= 0 or max(change, *before) > LARGEST:
        return None
    ways = _Way(remain - leave, stay, leave, remain, change), _Way(stay - back, remain, back, stay, change)
    settled = max(way.settled(start) for way, start in zip(ways, before, strict=True))
    count = min(length, TWO_STATES.positions, settled)
    if count <= AT_ONCE:
        return None
    losses = [way.losses(start, error, count) for way, start in zip(ways, before, strict=True)]
    # A step is monotone: numbers bound all losses where each is at least what a step makes of the one before.
    for way, start, loss in zip(ways, before, losses, strict=True):
        entering = np.concatenate([[start], np.nextafter(change + loss[:-1], np.inf)])
        if not (way.step(entering, error) <= loss).all():
            return None
    up_losses, down_losses = (loss.tolist() for loss in losses)
    if count == length:
        return _matrices(up_losses, down_losses), _matrices([], [])
    high, low = (max(way.limit, float(loss[-1])) for way, loss in zip(ways, losses, strict=True))
    bounds = _proved_bounds([rows], error, change, (high, low), 0.0)
    if bounds is None:
        return None
    return _matrices(up_losses, down_losses), _matrices(*zip(*bounds, strict=True))


@dataclass(frozen=True)
class _Way:
    """F(s) = log((back + remain e^s)/(stay + leave e^s)), s > 0, apart = remain - leave = stay - back > 0."""

    apart: float
    stay: float
    leave: float
    remain: float
    change: float

    @cached_property
    def high(self) -> float:
        # A step takes y = e^s - 1 to (rise + (apart + rise remain) y)/(1 + leave y): fixed points low < 0 < high.
        rise = math.expm1(self.change)
        middle = 1 - self.apart - rise * self.remain
        root = math.sqrt(middle * middle + 4 * self.leave * rise)
        if middle > 0:
            return 2 * rise / (middle + root)
        return (root - middle) / (2 * self.leave)

    @cached_property
    def low(self) -> float:
        return -math.expm1(self.change) / (self.leave * self.high)

    @cached_property
    def limit(self) -> float:
        """The limit of the losses."""
        return max(math.log1p(self.high) - self.change, 0.0)

    @cached_property
    def rate(self) -> float:
        # Each step makes (y - high)/(y - low) smaller by the factor e^-rate.
        return 2 * math.log1p(self.leave * self.high) - math.log(self.apart) - self.change

    def _share(self, start: float) -> float:
        first = math.expm1(start)
        return (first - self.high) / (first - self.low)

    def settled(self, start: float) -> int:
        """Return the number of steps until losses are near their limit."""
        distance = abs(self._share(start)) * (self.high - self.low) / (1 + self.high)
        return math.ceil(math.log(max(distance / TWO_STATES.close, 1.0)) / max(self.rate, 1e-15)) + 1

    def losses(self, start: float, error: float, count: int) -> FloatArray:
        """Return the losses of so many positions, and their rounding errors."""
        position = np.arange(1, count + 1)
        shares = self._share(start) * np.exp(-self.rate * position)
        exact = np.log1p((self.high - self.low * shares) / (1 - shares)) - self.change
        fastest = self.apart / (math.sqrt(self.remain * self.stay) + math.sqrt(self.leave * (1 - self.remain))) ** 2
        rounding = log_ratio_error(error) + 128 * UNIT * (self.change + max(self.limit, start))
        fading = 1 / max(1 - fastest, 1e-15)
        return np.asarray(np.maximum(exact, 0.0) + rounding * np.minimum(position, fading))

    def step(self, ratios: FloatArray, error: float) -> FloatArray:
        """Return F, rounded up twice as far as `step`."""
        loss = np.log1p(-self.apart * np.expm1(-ratios) / (self.leave + self.stay * np.exp(-ratios)))
        return np.minimum(loss * (1 + 32 * UNIT) + log_ratio_error(error), ratios)


def _proved_bounds(
    phases: Sequence[Rows], error: float, change: float, now: tuple[float, float], left: float
) -> list[tuple[float, float]] | None:
    """Return bounds on the losses of the next phases, the last at or above these and such that a period lowers it."""
    finest = (0.0, 2 * left + 4 * UNIT, 8 * left + 64 * UNIT, 64 * left + 1e-14)
    for slack in (*finest, *(10.0**power for power in range(-13, -2))):
        size = slack * (1 + max(now))
        bound = after = now[0] + size, now[1] + size
        bounds = []
        for rows in phases:
            after = step(rows, error, _sum(change, after[0]), _sum(change, after[1]))
            bounds.append(after)
        if after[0] <= bound[0] and after[1] <= bound[1]:
            return [*bounds[:-1], bound]
    return None


def _sum(change: float, loss: float) -> float:
    if change == 0 or loss == 0:
        return change + loss
    return math.nextafter(change + loss, math.inf)


def _matrices(up_losses: Sequence[float], down_losses: Sequence[float]) -> FloatArray:
    losses = np.zeros((len(up_losses), 2, 2))
    losses[:, 1, 0], losses[:, 0, 1] = up_losses, down_losses
    return losses
