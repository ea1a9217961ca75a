"""Sides of pictures: what is measured along them, where a number lies, and the round numbers that are written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from takifugu.core.escaping import number
from takifugu.core.text.marks import FAINT, LETTER, RULE, rule, words

#: What is nearer to 0, or to another number, is not told from it.
_LEAST = 1e-300
#: How many digits a number has in a picture.
_DIGITS = 4


@dataclass(frozen=True)
class Axis:
    """The quantity along one side of a picture, maybe by powers (`log`)."""

    label: str
    log: bool = False
    #: Places with what is written there, in place of round numbers.
    names: Sequence[tuple[float, str]] = ()
    #: The least and the largest number that a true value can be, where that is known.
    possible: tuple[float, float] | None = None


@dataclass(frozen=True)
class Scale:
    """Numbers from `low` to `high` as pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        low, high, position = self.low, self.high, value
        if self.log:
            low, high, position = math.log10(low), math.log10(high), math.log10(position)
        return self.start + (self.end - self.start) * (position - low) / (high - low)

    @property
    def ticks(self) -> list[float]:
        if self.log:
            return _log_ticks(self.low, self.high)
        return _ticks(self.low, self.high)

    def impossible(self, axis: Axis) -> Iterator[tuple[float, float]]:
        """Yield the ends, in pixels, of the impossible numbers."""
        if axis.possible is None:
            return
        low, high = axis.possible
        if self.low < low:
            yield self.start, self.at(min(low, self.high))
        if self.high > high:
            yield self.at(max(high, self.low)), self.end


def _log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten from `low` to `high`, with 2 and 5 between few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    ticks = [float(f"{m}e{k}") for k, m in product(range(first, last + 1), steps)]
    ticks_inside = [t for t in ticks if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]
    return ticks_inside if len(ticks_inside) > 1 else [low, high]


def fits(value: float, log: bool) -> bool:
    """Return whether a number has a place on an axis."""
    return math.isfinite(value) and (value >= _LEAST or not log)


def ends_of(values: Sequence[float], log: bool, from_zero: bool) -> tuple[float, float]:
    """Return the ends of an axis for these numbers."""
    low, high = min(values), max(values)
    if log:
        if high > low * 1.05:
            return low, high
        return low / 2, high * 2
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= max(1e-12 * max(abs(low), abs(high)), _LEAST):
        return low - 1, high + 1
    ticks = _ticks(low, high)
    return min(low, ticks[0]), max(high, ticks[-1])


def upright(flat: Scale, top: float, bottom: float, names: Sequence[tuple[float, str]] = ()) -> Iterator[str]:
    """Yield upright rules where there is room for their names, by default at round numbers."""
    after = -math.inf
    for tick, name in names or [(tick, number(tick, digits=_DIGITS)) for tick in flat.ticks]:
        place, half = flat.at(tick), LETTER * (len(name) + 1) / 2
        if place - half < after:
            continue
        after = place + half
        yield rule(place, top, place, bottom, RULE)
        yield words(place, bottom + 16, name, "middle", FAINT)


def level(flat: Scale, tall: Scale) -> Iterator[str]:
    """Yield level rules with their round numbers."""
    for tick in tall.ticks:
        yield rule(flat.start, tall.at(tick), flat.end, tall.at(tick), RULE)
        yield words(flat.start - 8, tall.at(tick) + 4, number(tick, digits=_DIGITS), "end", FAINT)


def room_for_numbers(low: float, high: float, log: bool = False) -> int:
    """Return the width of the round numbers along a side."""
    return round(LETTER * max(len(number(tick, digits=_DIGITS)) for tick in Scale(low, high, 0, 1, log).ticks))


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers from `low` to `high`."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]
