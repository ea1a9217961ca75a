"""Records whose table is known within intervals only: bounds that hold for every table of the class.

Given a level of the property a record adds x with probability proportional to p_x, low <= p <= high. A mean is largest
with high above some threshold of the function, and low below it. Nothing is assumed about what intervals of other
levels allow at the same time. Source: docs/theory/attributes.md#attributes-classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import chain, pairwise, product, starmap
from operator import itemgetter, mul
from typing import NoReturn, TypeVar

from takifugu.analysis.answer_laws.repeated import copies
from takifugu.analysis.questions.answer_law import AnswerLaw
from takifugu.analysis.questions.compared import (
    BoundedFamily,
    Compared,
    LawIndex,
    Move,
    bounded,
    least_scale,
    unordered,
)
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.records.record_views import Column, RecordView, Sum
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import Family
from takifugu.model.secrets.value_sets import ends_of_sets
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import UNIT

Mean = TypeVar("Mean", float, Fraction)
Score = TypeVar("Score", bound=Hashable)

#: Most places of the sum of copies of a law.
MOST_PLACES = 2**16
#: Means below this may have lost digits: they count as zero.
_SMALLEST = 1e-290
NO_LAWS = (
    "a class of tables has no single distribution of the answer, and its corners prove nothing about the rest: "
    'use mechanism="laplace-exact", "wasserstein" or "group-dp", or believe in one table'
)


@dataclass(frozen=True)
class Level:
    """What a record may add, given its level: x with a probability proportional to one between low and high."""

    rows: tuple[tuple[int, Fraction, Fraction], ...]

    def highest(self, function: Callable[[int], Mean]) -> Mean:
        """Return the largest mean of a nonnegative function."""
        return self._extreme(function, above=True)

    def lowest(self, function: Callable[[int], Mean]) -> Mean:
        """Return the smallest mean of a nonnegative function."""
        return self._extreme(function, above=False)

    def _extreme(self, function: Callable[[int], Mean], above: bool) -> Mean:
        kind = type(function(self.rows[0][0]))
        valued = [(function(x), kind(low), kind(high)) for x, low, high in self.rows]
        columns: list[tuple[Mean, ...]] = list(zip(*sorted(valued, key=itemgetter(0), reverse=above), strict=True))
        values, lows, highs = columns
        means = list[Mean]()
        for count in range(1, len(values) + 1):
            weights = highs[:count] + lows[count:]
            total = sum(weights, kind(0))
            if total:
                means.append(sum(map(mul, weights, values), kind(0)) / total)
        return max(means) if above else min(means)

    @cached_property
    def atoms(self) -> tuple[int, ...]:
        return tuple(sorted({x for x, _, high in self.rows if high}))


#: The pairs of levels that one record may change between.
Changes = Sequence[tuple[Level, Level]]


def class_family(changes: Mapping[tuple[int, int], Changes], times: int = 1) -> BoundedFamily:
    """Return comparisons of values, each at most `times` changes of one record, under every table of a class."""
    @cache
    def between() -> Sequence[Move]:
        """Return proposals from copies of one two-level record's extreme laws."""
        if times == 1 or any(len(steps) != 1 for steps in changes.values()):
            return ()
        lowest, highest = _envelope([level for (step,) in changes.values() for level in step])
        if times * (int(highest.values[-1]) - int(lowest.values[0])) > MOST_PLACES:
            return ()
        return copies(lowest, highest, times).compared[0].moves()

    def laws() -> NoReturn:
        raise Unsupported(NO_LAWS)

    def compared(left: LawIndex, right: LawIndex) -> Compared:
        steps, distances = changes[left[0], right[0]], list[int]()
        for first, second in steps:
            distances += [first.atoms[-1] - second.atoms[0], second.atoms[-1] - first.atoms[0]]

        def loss(scale: Fraction) -> float:
            return times * max(_loss(first, second, scale) for first, second in steps)

        @cache
        def farthest() -> int:
            return times * max(_farthest_move(first, second) for first, second in steps)

        def moves() -> tuple[Move, ...]:
            return (*(move for move in between() if move < farthest()), farthest())

        def smallest_scale(epsilon: Fraction) -> Fraction:
            return least_scale(loss, farthest(), epsilon)

        return bounded((left, right), times * max(distances), loss, laws, smallest_scale, moves)

    values = dict.fromkeys(chain.from_iterable(changes), 1)
    return BoundedFamily(0, tuple(starmap(compared, unordered(changes, values))), laws)


def _envelope(levels: Sequence[Level]) -> tuple[Pmf, Pmf]:
    """Return two laws stochastically around all laws of all levels."""
    atoms = sorted(set().union(*(level.atoms for level in levels)))
    most, least = [Fraction(0)], [Fraction(0)]
    for x in atoms:
        most.append(max(level.highest(_up_to(x)) for level in levels))
        least.append(min(level.lowest(_up_to(x)) for level in levels))
    return _of_distribution(atoms, most), _of_distribution(atoms, least)


def _loss(first: Level, second: Level, scale: Fraction) -> float:
    """Return a bound on the loss of changing one record, rounded up."""
    worst, atoms = 0.0, sorted({*first.atoms, *second.atoms})
    for y in atoms:
        for left, right in ((first, second), (second, first)):
            high, low = _extremes(left, right, y, scale)
            if high:
                loss = math.log(high / low) if low > _SMALLEST else math.inf
                worst = max(worst, loss)
    if not worst and not scale:
        return 0.0
    exponents = float((atoms[-1] - atoms[0]) / scale) if scale else 0.0
    terms = len(first.rows) + len(second.rows) + 16 + exponents
    return worst * (1 + 4 * UNIT) + 8 * UNIT * terms


def _extremes(left: Level, right: Level, y: int, scale: Fraction) -> tuple[Fraction | float, Fraction | float]:
    """Return one level's most and another's least mass near an output."""
    if not scale:
        return left.highest(lambda x: Fraction(x == y)), right.lowest(lambda x: Fraction(x == y))

    def density(x: int) -> float:
        return math.exp(-abs(y - x) / float(scale))

    return left.highest(density), right.lowest(density)


def _farthest_move(first: Level, second: Level) -> int:
    """Return the least w with F(x) <= G(x + w), both ways, for all distribution functions of the levels."""
    gaps = sorted({abs(x - y) for x, y in product(first.atoms, second.atoms)} | {0})
    return next(w for w in gaps if _moves_at_most(first, second, w) and _moves_at_most(second, first, w))


def _moves_at_most(left: Level, right: Level, move: int) -> bool:
    return all(left.highest(_up_to(x)) <= right.lowest(_up_to(x + move)) for x in left.atoms)


def _of_distribution(atoms: Sequence[int], passed: Sequence[Fraction]) -> Pmf:
    return Pmf(atoms, [below - before for before, below in pairwise(passed)])


def _up_to(end: int) -> Callable[[int], Fraction]:
    return lambda x: Fraction(x <= end)


class ClassLaw(AnswerLaw[RecordView]):
    """Bounds for a property of records with a table in a class; there are no laws."""

    def families(self) -> Iterator[BoundedFamily]:
        if self.reason:
            raise Unsupported(self.reason)
        adds = list(map(int, self.answer.contribution(0)[:, 0].tolist()))
        yield from _families(self.belief, adds, self.family)

    @property
    def note(self) -> str:
        return "; this is a bound for every table of the class, and each of them may need less"

    def work(self, laplace: bool = False) -> tuple[float, float]:
        return 1e5, 1e5

    def atoms(self) -> float:
        return float(len(self.belief.whole.table.rows)) ** 3

    def comparisons(self, laplace: bool = False) -> tuple[float, float]:
        return 1.0, self.atoms()


def class_law(belief: RecordView, answer: Additive, family: Family) -> AnswerLaw[RecordView]:
    """Return bounds for a table within intervals, or the reason against."""
    law = ClassLaw(belief, answer, family)
    try:
        next(iter(law.families()), None)
    except Unsupported as why:
        return ClassLaw(belief, answer, family, str(why))
    return law


def _families(view: RecordView, adds: Sequence[int], family: Family) -> Iterator[BoundedFamily]:
    shown = view.shown
    if isinstance(shown, Column):
        levels = _levels(view, adds, shown.levels)
        yield class_family({(a, b): [(levels[a], levels[b])] for a, b in family.value_pairs(view, 0)})
        return
    if not isinstance(shown, Sum):
        raise Unsupported("bounds for a class of tables are known for one sum, mean or share of the records")
    sorted_levels = dict(sorted(_levels(view, adds, shown.levels).items()))
    _check_levels(sorted_levels)
    steps = list(pairwise(sorted_levels.values()))
    low, high, *_ = sorted_levels
    for pair, gap in _gaps(view, shown.keys, family):
        yield class_family({pair: steps}, gap // (high - low))


def _levels(view: RecordView, adds: Sequence[int], scores: Sequence[Score]) -> dict[Score, Level]:
    """Return the addends of a record by score, from the table's rows."""
    intervals: dict[Score, list[tuple[int, Fraction, Fraction]]] = {}
    for score, x, (low, high) in zip(scores, adds, view.whole.within or (), strict=True):
        if high:
            intervals.setdefault(score, []).append((x, low, high))
    return {score: Level(tuple(rows)) for score, rows in intervals.items()}


def _gaps(view: RecordView, keys: Sequence[int], family: Family) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield comparisons for all, and how far apart the sums are."""
    sets = view.members
    if sets is None:
        pairs = family.pairs or ((0, len(keys) - 1),)
        worst = max(pairs, key=lambda pair: keys[pair[1]] - keys[pair[0]])
        yield (min(worst), max(worst)), keys[max(worst)] - keys[min(worst)]
        return
    for pair, ends in ends_of_sets(sets):
        yield pair, max(abs(keys[a] - keys[b]) for a, b in ends)


def _check_levels(levels: Mapping[int, Level]) -> None:
    """Raise Unsupported unless there are two levels, or evenly spaced ones, log-concave for every table."""
    if len(levels) == 2:
        return
    lows, highs = [], []
    for level in levels.values():
        _, low, high = zip(*level.rows, strict=True)
        lows.append(sum(low, Fraction(0)))
        highs.append(sum(high, Fraction(0)))
    is_even = len({b - a for a, b in pairwise(levels)}) == 1
    neighbours = zip(highs, lows[1:], highs[2:], strict=False)
    if not is_even or any(middle**2 < first * last for first, middle, last in neighbours):
        raise Unsupported(
            "bounds for a class of tables are proved for a property of two levels, or of evenly spaced ones with "
            "log-concave probabilities for every table of the class: hide a share, or use narrower intervals"
        )
