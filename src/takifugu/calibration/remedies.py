"""What a refusal advises: of the mechanisms that it names, only those that can be tried on this problem.

A question to a belief knows neither the query nor the other mechanisms, so it names all that may serve.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

from numpy.linalg import LinAlgError

from takifugu.analysis.bounds import Bound
from takifugu.analysis.problem import Problem
from takifugu.calibration.registry import find
from takifugu.core.errors import TakifuguError
from takifugu.model.frameworks import OF_ROWS

#: Mechanisms that a text proposes, one after the other.
_PROPOSED = re.compile(r'mechanism=("[a-z-]+"(?:(?:, or |, | or )(?:mechanism=)?"[a-z-]+")*)')
_NAME = re.compile(r'"([a-z-]+)"')
#: Operations up to which a mechanism is asked, and not only what it would cost.
_QUICK = 1e7
_WITH_DELTA = "delta above 0"
_SOME_DELTA = Fraction(1, 10**6)


def applicable(reason: str, problem: Problem) -> str:
    """Return a reason without the mechanisms that do not apply here, either."""
    if _WITH_DELTA in reason and not problem.delta:
        problem = replace(problem, delta=_SOME_DELTA)

    def without_unfit(match: re.Match[str]) -> str:
        names = [name for name in _NAME.findall(match[1]) if can_be_tried(name, problem)]
        return f"mechanism={_listed(names or ['auto'])}"

    return _PROPOSED.sub(without_unfit, reason)


def _listed(names: list[str]) -> str:
    """Return names as a text proposes them: "influence", "quilt-exact" or "group-dp"."""
    quoted = [f'"{name}"' for name in names]
    return " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def can_be_tried(name: str, problem: Problem) -> bool:
    """Return whether a mechanism of ours applies, as far as is known without long work."""
    return problem.cached((can_be_tried, name), lambda: _can_be_tried(name, problem))


def _can_be_tried(name: str, problem: Problem) -> bool:
    definition = problem.framework.definition
    line = find(name, definition)
    if definition not in line.definitions or (line.of_columns and not problem.framework.columns):
        return False
    if line.takes_delta and not problem.delta and definition not in OF_ROWS:
        return False  # normal noise keeps no pure promise
    mechanism = line.load()
    try:
        if mechanism.cost(problem).operations > _QUICK:
            return True
        return isinstance(mechanism.bound(problem), Bound)
    except (TakifuguError, ArithmeticError, LinAlgError):
        return False
