"""The answer families of a problem, for the mechanisms that look at the law of the answer and at nothing else.

Independent components smooth the law of an answer (`shares`, `answer_laws.users`), and the people behind them know
their own data. For someone who knows all of it the answer is that of the one component, less a constant; who knows a
part of it loses no more: what is left is independent of the secret, and adding it is post-processing. That loss is a
condition of the promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from takifugu.analysis.bounds import MEMORY_LIMIT, Cost
from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.answer_law import AnswerLaw, answer_law
from takifugu.analysis.questions.compared import AnswerFamily, Compared
from takifugu.core import searches
from takifugu.core.errors import Unsupported
from takifugu.core.escaping import at_most
from takifugu.mechanisms.common.lines import line_answers, line_parts
from takifugu.mechanisms.common.shares import MOST_SMOOTHED, Shares, is_smoothed, smoothed
from takifugu.model.beliefs import Belief, separate
from takifugu.model.secrets.hypotheses import against

#: What a comparison costs besides passes over its laws, as a number of extra atoms.
OVERHEAD = 300.0
#: Families are kept for the next mechanism when all of a problem's fit into this many bytes.
CACHED_BYTES = 2.0**26
#: For the predicted time: passes over each law.
_SCANS = 300.0


@dataclass(frozen=True, eq=False)
class Located:
    """An answer family with what tells it; entries inside are counted from `start`."""

    family: AnswerFamily
    law: AnswerLaw[Belief]
    start: int = 0
    smoothed: bool = False
    #: Of what the component that holds the secret adds, where `family` counts the others as well.
    alone: AnswerFamily | None = None

    def describe(self, compared: Compared) -> str:
        """Name a comparison of the family."""
        left = self.law.describe(self.family.entry, *compared.left, self.start)
        return against(left, self.law.describe(self.family.entry, *compared.right, self.start))
#: A loss above epsilon by no more than this factor is epsilon: losses are rounded up by 2**-36 of themselves.
NO_MORE = 1 + 2.0**-34
#: (located family, enough so far) -> an epsilon that the noise keeps for every comparison, at least enough so far.
Loss = Callable[[Located, float], float]


def located_families(problem: Problem, lines: bool = False) -> Iterator[Located]:
    """Yield every answer family of a problem; Unsupported where there is no law of the answer, or no memory."""
    # With `lines`, for Laplace noise, answers of several cells that move along one line count as one number.
    parts = line_parts(problem) if lines else problem.law_parts
    # Families of small problems are computed once, for all epsilons.
    if _are_few(parts):
        yield from _at_once(problem, parts, lines)
    else:
        secrets = sum(len(part.family.entries) for part in parts)
        cost = predicted(problem, _SCANS, laplace=True, lines=lines)
        if cost.memory > MEMORY_LIMIT:
            raise Unsupported(f"it would take {cost.describe()}")
        # Some of the laws are no bound for the others: an interrupt must not end this quietly.
        with searches.running(secrets, secrets, cost.seconds, "secrets", ends=False) as search:
            for located in _located(problem, parts, lines):
                yield located
                search.tell(1)


def families_at_hand(problem: Problem, lines: bool = False) -> tuple[Located, ...]:
    """Return every family of a small problem; none of a large one."""
    parts = line_parts(problem) if lines else problem.law_parts
    return _at_once(problem, parts, lines) if _are_few(parts) else ()


def _are_few(parts: Sequence[Part]) -> bool:
    return sum(answer_law(part).cached_bytes() for part in parts) <= CACHED_BYTES


def _at_once(problem: Problem, parts: Sequence[Part], lines: bool) -> tuple[Located, ...]:
    of_lines = lines and problem.cells > 1
    return problem.kept((Located, of_lines), lambda: tuple(_located(problem, parts, lines)))


def predicted(problem: Problem, scans: float, laplace: bool = False, lines: bool = False) -> Cost:
    """Predict the work on all families for `scans` passes over their laws."""
    # `laplace`: only losses, moves and scales of Laplace noise are needed, not laws.
    operations = memory = 0.0
    least = MOST_SMOOTHED if is_smoothed(problem, lines) else 0
    parts = line_parts(problem) if lines else problem.law_parts
    for part in parts:
        law = answer_law(part)
        work_of_laws, memory_of_laws = law.work(laplace)
        comparisons, width = law.comparisons(laplace)
        if comparisons:
            operations += work_of_laws + scans * comparisons * (max(width, least) + OVERHEAD)
        memory = max(memory, memory_of_laws)
    return Cost(operations, memory)


def _located(problem: Problem, parts: Sequence[Part], lines: bool) -> Iterator[Located]:
    numbers = line_answers(problem) if is_smoothed(problem, lines) else None
    shares = [Shares(b, a) for b, a in zip(problem.framework.beliefs, numbers or (), strict=bool(numbers))]
    for part in parts:
        added_by_others = None
        if shares and part.is_one_of_several:
            added_by_others = shares[part.number].others(part.start)
        law = answer_law(part)
        for family in law.families():
            if added_by_others is None:
                yield Located(family, law, part.start, alone=family.alone)
            else:
                yield Located(smoothed(family, *added_by_others), law, part.start, smoothed=True, alone=family)


def knowledge_conditions(problem: Problem, loss: Loss, lines: bool = False) -> tuple[str, ...]:
    """Describe the larger loss against someone who knows all other components, if any."""
    if not (is_smoothed(problem, lines) or any(map(separate, problem.framework.beliefs))):
        return ()
    enough = float(problem.epsilon)
    for located in located_families(problem, lines):
        if located.alone is not None:
            enough = max(enough, loss(replace(located, family=located.alone), enough))
    if enough <= float(problem.epsilon) * NO_MORE:
        return ()
    if math.isfinite(enough):
        promise = f"epsilon is at most {at_most(enough, digits=3)}"
    else:
        promise = "nothing is promised"
    return (f"nobody who sees it knows what the other components add: against someone who does, {promise}",)
