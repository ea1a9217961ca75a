"""What is lost to someone who knows what all other components add, where the noise counts on their randomness.

Independent components smooth the law of an answer (`shares`, `answer_laws.users`), and the people behind them know
their own data. For someone who knows all of it the answer is that of the one component, less a constant; who knows a
part of it loses no more: what is left is independent of the secret, and adding it is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from takifugu.analysis.problem import Problem
from takifugu.core.text.tables import number
from takifugu.mechanisms.common.answer_families import Located, located_families
from takifugu.mechanisms.common.shares import is_smoothed
from takifugu.model.beliefs import separate

#: A loss above epsilon by no more than this factor is epsilon: rounding.
NO_MORE = 1 + 1e-6
#: (located family, enough so far) -> an epsilon that the noise keeps for every comparison, at least enough so far.
Loss = Callable[[Located, float], float]


def conditions(problem: Problem, loss: Loss, lines: bool = False) -> tuple[str, ...]:
    """Describe the larger loss against knowledge of all other components, if any.

    For `lines` see `located_families`. The loss is rounded up to three digits.
    """
    if not (is_smoothed(problem, lines) or any(separate(belief) for belief in problem.framework.beliefs)):
        return ()
    enough = float(problem.epsilon)
    for located in located_families(problem, lines):
        if located.alone is not None:
            enough = max(enough, loss(replace(located, family=located.alone), enough))
    if enough <= float(problem.epsilon) * NO_MORE:
        return ()
    promise = f"epsilon is at most {_rounded_up(enough)}" if math.isfinite(enough) else "nothing is promised"
    return (f"nobody who sees it knows what the other components add: against someone who does, {promise}",)


def _rounded_up(loss: float) -> str:
    digits = 2 - math.floor(math.log10(loss))
    return number(math.ceil(loss * 10.0**digits) / 10.0**digits)
