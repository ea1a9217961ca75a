"""The worst entry of a component, given a way to improve the quilts of one entry: what chains and networks share.

Every pair starts from what `quilt-exact` needs, or from the law of the whole answer (the trivial quilt) where that is
affordable and better. Entries go in falling order of that start, so the search ends as soon as no other can be worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from takifugu.analysis.problem import Part, Witness
from takifugu.analysis.questions.answer_law import AnswerFamily, answer_law
from takifugu.analysis.questions.influence import Worst
from takifugu.core import searches
from takifugu.core.errors import Unsupported
from takifugu.model.secrets.hypotheses import compared

#: The laws of the whole answer are found where their predicted operations stay below this.
TRIVIAL_WORK = 5e9
#: In components of more entries the trivial quilt's exact scale is not found for a pair that another's is enough for.
EACH_SOLVED = 200
#: Scales that differ by less than this, relatively, count as equal: no search continues for so little.
TIE = Fraction(1, 10**9)

Pair = tuple[int, int]


@dataclass(frozen=True)
class NeededScale:
    """A scale in grid units, the entry and ordered pair that need it, and their quilt in words."""

    scale: Fraction
    entry: int
    pair: Pair
    quilt: str


def whole_answers(part: Part) -> Iterator[AnswerFamily]:
    """Yield the laws of the whole answer, entry by entry; nothing where they cost too much or do not exist."""
    law = answer_law(part)
    if law.work()[0] > TRIVIAL_WORK:
        return
    try:
        yield from law.families()
    except Unsupported:
        return


def trivial_scale(family: AnswerFamily, pair: Pair, epsilon: Fraction) -> Fraction:
    """Return what the trivial quilt requires: its near law is the law of the answer, and its r is 0."""
    a, b = min(pair), max(pair)
    index = family.compared.index((a, 0, b, 0))
    if family.losses(Fraction(0))[index] <= epsilon:
        return Fraction(0)
    return family.smallest_scale(index, epsilon)


def still_dear(best: dict[Pair, NeededScale], enough: Fraction) -> list[Pair]:
    """Return the pairs that still need more than `enough`, what another entry needs anyway."""
    return [pair for pair, quilt in best.items() if quilt.scale > enough]


def as_worst(part: Part, quilt: NeededScale) -> Worst:
    """Return what was found with the comparison behind it; entries are called by their bare names."""

    def witness() -> Witness:
        name = str(part.belief.names[quilt.entry]) if part.belief.names else ""
        return Witness(compared(part.belief, quilt.entry, quilt.pair, part.start, name).label, quilt.quilt)

    return Worst(quilt.scale, witness)


def worst_needed(
    part: Part,
    epsilon: Fraction,
    ceiling: Fraction,
    improve: Callable[[int, dict[Pair, NeededScale], Fraction], Iterator[int] | None],
    most: int = 0,
    seconds: float = 0.0,
) -> NeededScale:
    """Return max over secret entries and ordered pairs of the least scale that was found.

    `improve(entry, best, enough)` replaces what it can do better, and may stop where no pair needs more than `enough`;
    it may yield how many quilts it has tried since, of `most` in all, in `seconds` at most. A search may be ended
    early: what an entry starts from is sound too. No quilt is better than the law of the whole answer,
    whose scale is the least that hides a pair at all (both ways), so that law is enough where it is known.
    """
    known: dict[int, dict[Pair, NeededScale]] = {}
    order = list(part.family.entries)
    worst: NeededScale | None = None
    with searches.running(len(order), most or len(order), seconds, "quilts" if most else "secrets") as search:
        running = Fraction(0)
        for family in whole_answers(part):
            passed = running if part.belief.size > EACH_SOLVED else None
            known[family.entry] = _started(part, family, epsilon, ceiling, passed)
            running = max(running, _dearest(known[family.entry]).scale)
        solved = set(known)
        unknown = [entry for entry in part.family.entries if entry not in known]
        order = unknown + sorted(known, key=lambda entry: -_dearest(known[entry]).scale)
        for entry in order:
            if entry not in known:
                known[entry] = _ceilings(part, entry, ceiling)
            best, enough = known[entry], worst.scale * (1 + TIE) if worst else Fraction(-1)
            if entry not in solved and still_dear(best, enough):
                for tried in improve(entry, best, enough) or ():
                    search.tell(tried)
            worst = max([*([worst] if worst else ()), *best.values()], key=lambda quilt: quilt.scale, default=None)
            search.tell(0 if most else 1)
    if search.early:
        rest = [known.get(entry) or _ceilings(part, entry, ceiling) for entry in order]
        worst = max((quilt for best in rest for quilt in best.values()), key=lambda quilt: quilt.scale)
        return replace(worst, quilt=f"{worst.quilt}; {search.note}")
    if worst is None:  # a component holds a possible pair (mechanisms.base.Problem), so this is not reached
        raise AssertionError("a component without secrets")
    return worst


def _ceilings(part: Part, entry: int, ceiling: Fraction) -> dict[Pair, NeededScale]:
    pairs = part.family.value_pairs(part.belief, entry)
    return {pair: NeededScale(ceiling, entry, pair, "the quilt of quilt-exact does best") for pair in pairs}


def _started(
    part: Part, family: AnswerFamily, epsilon: Fraction, ceiling: Fraction, passed: Fraction | None
) -> dict[Pair, NeededScale]:
    """Return the best start of each pair; with `passed` a scale that is enough for a pair is not made smaller."""
    best = _ceilings(part, family.entry, ceiling)
    easy: dict[Pair, float] = {}
    if passed:
        losses = zip(family.compared, family.losses(passed), strict=True)
        easy = {(a, b): loss for (a, _, b, _), loss in losses if loss <= epsilon}
    both: dict[Pair, Fraction] = {}
    for pair in {(min(p), max(p)) for p in best}:
        both[pair] = passed if passed and pair in easy else trivial_scale(family, pair, epsilon)
    for pair in best:
        scale = both[min(pair), max(pair)]
        if scale < ceiling:
            best[pair] = NeededScale(
                scale, family.entry, pair, "the trivial quilt does best: the answer's distribution"
            )
    return best


def _dearest(best: dict[Pair, NeededScale]) -> NeededScale:
    return max(best.values(), key=lambda quilt: quilt.scale)
