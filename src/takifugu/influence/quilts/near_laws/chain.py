"""The least noise over quilts with near laws on a Markov chain of a stationary or given start (`quilt_local`).

All quilts with nodes at most `REACH` entries away are tried, those that reach to an end of the sequence within it, and,
where all entries add alike, some with nodes farther away; beyond, what `quilt-exact` finds and, where it is affordable,
the law of the whole answer. Quilts of two nodes are shared by all entries with the same contributions around them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from takifugu.analysis.answer_laws.chain import steps
from takifugu.analysis.problem import Cost, Part
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.analysis.questions.influence import Search, Worst, one_number
from takifugu.influence.quilts.chain.influence import chain_influence
from takifugu.influence.quilts.chain.scale import needed_scale
from takifugu.influence.quilts.chain.sides import ChainSides
from takifugu.influence.quilts.near_laws.chain_laws import REACH, LocalChain, Share, Side, distances
from takifugu.influence.quilts.near_laws.needed_scales import (
    TIE,
    TRIVIAL_WORK,
    NeededScale,
    Pair,
    as_worst,
    still_dear,
    worst_needed,
)
from takifugu.influence.quilts.near_laws.scores import NearLaws, quilt_scale
from takifugu.influence.quilts.near_sets import query_change
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.log_ratios import UNIT, FloatArray

#: Predicted operations of one look at one value of a quilt's nodes.
PER_LOOK = 1e5


@dataclass(frozen=True, eq=False)
class _Quilt:
    """Two sides of an entry, with the log-ratios of both nodes together, shape (x, y, a, b)."""

    sides: tuple[Side, Side]
    before: Share
    after: Share
    ratios: FloatArray


@dataclass(frozen=True, eq=False)
class _Search:
    """One part, and the quilts that were tried: scale, or None with the bound that it is not below.

    `winners` are the quilts that were best before, by their sides: entries inside the sequence share them.
    """

    model: LocalChain
    epsilon: Fraction
    unit: int
    start: int
    tried: dict[object, tuple[Fraction | None, Fraction]]
    winners: dict[tuple[Side, Side], None]

    def quilts(self, entry: int) -> Iterator[tuple[Side, Side]]:
        """Yield the quilts of an entry: those that were best for another one, then the smallest near sets first."""
        before, after = (tuple(self.model.sides(entry, late)) for late in (False, True))
        yield from [sides for sides in self.winners if sides[0] in before and sides[1] in after][::-1]
        yield from _by_size(before, after)

    def made(self, entry: int, sides: tuple[Side, Side]) -> _Quilt | None:
        before, after = (self.model.share(entry, side, late) for side, late in zip(sides, (False, True), strict=True))
        if before is None or after is None:
            return None
        left, right = (self.model.ratios(entry, side, late) for side, late in zip(sides, (False, True), strict=True))
        return _Quilt(sides, before, after, left[:, None] + right[None])

    def improve(self, entry: int, sides: tuple[Side, Side], best: dict[Pair, NeededScale], enough: Fraction) -> None:
        """Try one quilt on the pairs that still need more than enough."""
        start = entry if isinstance(self.model.chain.initial, tuple) else None
        offsets_key = self.model.offsets[entry].tobytes()
        before, after = sides
        key = (start, offsets_key, self.model.key(entry, before, False), self.model.key(entry, after, True))
        quilt: _Quilt | None = None
        for pair in still_dear(best, enough):
            limit = best[pair].scale / self.unit * (1 - TIE)
            scale, bound = self.tried.get((key, pair), (None, Fraction(-1)))
            if scale is None and bound < limit:
                quilt = quilt or self.made(entry, sides)
                scale = None if quilt is None else self.scale(entry, quilt, pair, limit)
                self.tried[(key, pair)] = scale, limit
            if scale is not None and scale < limit:
                best[pair] = NeededScale(scale * self.unit, entry, pair, _words(self.start + entry, sides))
                self.winners[sides] = None

    def scale(self, entry: int, quilt: _Quilt, pair: Pair, limit: Fraction) -> Fraction | None:
        a, b = pair
        ratios = quilt.ratios[:, :, a, b]
        adds = self.model.offsets[entry]
        columns = ratios.shape[1]

        def laws(place: int) -> NearLaws:
            x, y = divmod(place, columns)
            rows = [np.convolve(quilt.before.laws[x, s], quilt.after.laws[y, s]) for s in pair]
            error = 1.01 * (quilt.before.error + quilt.after.error + 4 * UNIT * (len(rows[0]) + 8))
            p, q = (Pmf.on_integers(int(adds[s]), row / row.sum()) for s, row in zip(pair, rows, strict=True))
            return NearLaws(p, q, error)

        return quilt_scale(ratios.ravel(), laws, self.epsilon, limit)


@dataclass(frozen=True, eq=False)
class LocalSearch(Search):
    """The largest over secret entries and ordered pairs of the least over quilts, by the laws of their near sets."""

    def cost(self, epsilon: Fraction) -> Cost:
        """Predict the looks at quilts: those of one entry where all share them, else those of every entry."""
        part, shape = self.part, steps(self.part.answer)
        chain: Any = part.belief
        k, model = len(chain.states), LocalChain(chain, shape)
        different = 1 if model.uniform and not isinstance(chain.initial, tuple) else len(part.family.entries)
        entries, inside = len(part.family.entries), len(distances(min(model.reach, chain.length)))
        quilts = different * inside**2 + 4 * REACH * min(entries, 2 * REACH)
        pairs = k * (k - 1) if part.family.pairs is None else len(part.family.pairs)
        width = float(shape.widths[-1])
        looks = quilts * pairs * (1 + k * k / 4) * (PER_LOOK + 300 * min(width, 2 * model.reach * width / chain.length))
        laws, held = answer_law(part).work()
        whole = (laws + len(part.family.entries) * pairs * 1000 * (width + 300)) if laws <= TRIVIAL_WORK else 0.0
        return Cost(looks + whole + 3e4 * len(part.family.entries), held + 8.0 * k * k * REACH * width)

    def worst(self, epsilon: Fraction) -> Worst:
        part = self.part
        chain: Any = part.belief
        known = needed_scale(
            ChainSides(chain_influence(chain, part.family.pairs), query_change(part.answer.entry_changes())),
            part.family,
            epsilon,
        )
        shape = steps(part.answer)
        search = _Search(LocalChain(chain, shape), epsilon, shape.unit, part.start, {}, {})

        def improve(entry: int, best: dict[Pair, NeededScale], enough: Fraction) -> None:
            for sides in search.quilts(entry):
                if not still_dear(best, enough):
                    return
                search.improve(entry, sides, best, enough)

        return as_worst(part, worst_needed(part, epsilon, known.scale, improve))


@lru_cache(maxsize=64)
def _by_size(before: tuple[Side, ...], after: tuple[Side, ...]) -> list[tuple[Side, Side]]:
    return sorted(product(before, after), key=lambda sides: sides[0].size + sides[1].size)


def local_search(part: Part) -> Search:
    """Return the search on a chain of a stationary or given start, for one number."""
    unknown = part.belief.initial == "any"  # type: ignore[attr-defined]
    reason = one_number(part) or (_ANY_START if unknown else "")
    return Search(part, reason) if reason else LocalSearch(part)


_ANY_START = (
    "with an unknown initial distribution near sets have no single distribution: state it, or use "
    'mechanism="quilt-exact"'
)


def _words(entry: int, sides: tuple[Side, Side]) -> str:
    before, after = (side.distance for side in sides)
    nodes = [] if before is None else [f"step {entry - before}"]
    nodes += [] if after is None else [f"step {entry + after}"]
    count = sides[0].size + sides[1].size + 1
    return f"the best quilt is {' and '.join(nodes) or 'nothing'}; the distribution of its {count} near steps is used"
