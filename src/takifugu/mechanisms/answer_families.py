"""The answer families of a problem, for the mechanisms that look at the law of the answer and at nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from takifugu import searches
from takifugu.beliefs import separate
from takifugu.capabilities.answer_law import AnswerFamily, AnswerLaw, Compared, answer_law
from takifugu.hypotheses import against
from takifugu.mechanisms.lines import line_answers, line_parts
from takifugu.mechanisms.shares import MOST_SMOOTHED, Shares, is_smoothed, smoothed
from takifugu.problem import Cost, Part, Problem

#: What a comparison costs besides passes over its laws, as a number of extra atoms.
OVERHEAD = 300.0
#: Families are kept for the next mechanism when all of a problem's fit into this many bytes.
KEPT_BYTES = 2.0**26
#: For the predicted time: passes over each law.
_SCANS = 300.0


@dataclass(frozen=True, eq=False)
class Located:
    """An answer family with what tells it; entries inside are counted from `start`, `number` is the belief's.

    `others` says whether other components add to the answer besides what the laws are about; the laws are conditional
    on an event of these others of probability at least 1 - `spare`.
    """

    family: AnswerFamily
    law: AnswerLaw[Any]
    start: int = 0
    smoothed: bool = False
    number: int = 0
    others: bool = False
    spare: Fraction = Fraction(0)

    def describe(self, compared: Compared) -> str:
        """Name a comparison of the family."""
        a, i, b, j = compared
        one, other = (self.law.describe(self.family.entry, v, number, self.start) for v, number in ((a, i), (b, j)))
        return against(one, other)


def located_families(problem: Problem, lines: bool = False, alone: bool = False) -> Iterator[Located]:
    """Yield every answer family of a problem; those of small problems are computed once.

    With `lines`, for mechanisms of Laplace noise, answers of several cells that move along one line count as one number
    (`lines`). With `alone` the laws are those of what the component that holds the secret adds, without the others.
    Raises Unsupported where a belief or the query has no law of the answer.
    """
    parts = line_parts(problem) if lines else problem.law_parts
    if _are_kept(parts):
        of_lines = lines and problem.cells > 1
        yield from problem.kept((Located, of_lines, alone), lambda: tuple(_located(problem, parts, lines, alone)))
    else:
        secrets = sum(len(part.family.entries) for part in parts)
        seconds = predicted(problem, _SCANS, laplace=True, lines=lines).seconds
        # Some of the laws are no bound for the others: an interrupt must not end this quietly.
        with searches.running(secrets, secrets, seconds, "secrets", ends=False) as search:
            for located in _located(problem, parts, lines, alone):
                yield located
                search.tell(1)


def from_the_middle(problem: Problem, lines: bool = False) -> Iterator[Located]:
    """Yield the families of components alone: the middle one, those in the middle of both halves, and so on.

    So the worst is met soon, as a rule, and others are only tried. Families too large to keep come in their own order.
    """
    if not _are_kept(line_parts(problem) if lines else problem.law_parts):
        yield from located_families(problem, lines, alone=True)
        return
    several = tuple(located_families(problem, lines, alone=True))
    waiting = [(0, len(several))]
    for first, end in waiting:
        if first < end:
            middle = (first + end) // 2
            yield several[middle]
            waiting += [(first, middle), (middle + 1, end)]


def _are_kept(parts: Sequence[Part]) -> bool:
    return sum(answer_law(part).kept_bytes() for part in parts) <= KEPT_BYTES


def predicted(problem: Problem, scans: float, laplace: bool = False, lines: bool = False) -> Cost:
    """Predict the work on all families when every comparison is looked at by `scans` passes over its laws.

    With `laplace` a mechanism asks the families for losses, moves and scales of Laplace noise only, not for laws; for
    `lines` see `located_families`.
    """
    operations = memory = 0.0
    least = MOST_SMOOTHED if is_smoothed(problem, lines) else 0
    for part in line_parts(problem) if lines else problem.law_parts:
        law = answer_law(part)
        laws, held = law.work(laplace)
        comparisons, width = law.comparisons(laplace)
        operations += laws + scans * comparisons * (max(width, least) + OVERHEAD) if comparisons else 0.0
        memory = max(memory, held)
    return Cost(operations, memory)


def _located(problem: Problem, parts: Sequence[Part], lines: bool, alone: bool) -> Iterator[Located]:
    numbers = line_answers(problem) if not alone and is_smoothed(problem, lines) else None
    shares = [Shares(b, a) for b, a in zip(problem.framework.beliefs, numbers or (), strict=bool(numbers))]
    for part in parts:
        others = shares[part.number].others(part.start) if shares and part.is_one_of_several else None
        law = answer_law(part)
        for family in law.families():
            if alone:
                family = getattr(family, "alone", family)
            full = family if others is None else smoothed(family, *others)
            beside = part.is_one_of_several or (alone and separate(part.belief) is not None)
            yield Located(full, law, part.start, others is not None, part.number, beside and others is None)
