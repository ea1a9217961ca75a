"""What one query costs at several epsilons: all that depends on none of them is found once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.calibration import of_problem, problem_of
from takifugu.calibration.result import Calibration
from takifugu.core import searches
from takifugu.core.cache import forget
from takifugu.core.errors import CalibrationRefused
from takifugu.core.lists import list_of
from takifugu.core.rules import check_any, check_type
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers.rationals import Number

if TYPE_CHECKING:
    from takifugu.numbers.transport.metrics import Declared


@dataclass(frozen=True, eq=False)
class AtEpsilon:
    """The noise at one epsilon; `calibration` is None where `reason` says why it is refused."""

    epsilon: Fraction
    calibration: Calibration | None
    reason: str = ""


@searches.stopping()
def cost(
    framework: Framework,
    query: Query,
    epsilons: Iterable[Number],
    delta: Number = 0.0,
    mechanism: str = "auto",
    single_release: bool = False,
    allow_zero_noise: bool = False,
    allow_private_belief: bool = False,
    metric: Declared | None = None,
) -> tuple[AtEpsilon, ...]:
    """Return the noise of one release of `query` at each of several epsilons.

    Each is what `calibrate` returns; together they take less time.

    Args:
        framework: what is secret under which beliefs.
        query: what is published.
        epsilons: at least one; each as `calibrate` takes it.
        delta: As in `calibrate`.
        mechanism: As in `calibrate`.
        single_release: As in `calibrate`.
        allow_zero_noise: As in `calibrate`.
        allow_private_belief: As in `calibrate`.
        metric: As in `calibrate`.

    Returns:
        The costs in the order of the epsilons. Where noise is refused its calibration is None.

    Raises:
        InputError: for no epsilon, and what `calibrate` does not take.

    Examples:
        >>> from takifugu import Count, MarkovChain, Pufferfish, every_entry
        >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100, states=["still", "walking"])
        >>> costs = cost(Pufferfish(every_entry(), chain), Count("walking"), [0.5, 1, 2])
        >>> [round(one.calibration.scale, 2) for one in costs]
        [6.37, 3.34, 1.74]
    """
    check_type(mechanism, str, "the name of a mechanism", 'write mechanism="auto"', "mechanism")
    budgets = list_of(epsilons, "the epsilons", "epsilons", "[0.5, 1, 2]")
    check_any(budgets, "there is no epsilon", "epsilons")
    problems = [problem_of(framework, query, epsilon, delta, metric) for epsilon in budgets]
    first, costs = problems[0], list[AtEpsilon]()
    for problem in problems:
        alike = first.at(problem.epsilon)
        try:
            calibration = of_problem(alike, mechanism, single_release, allow_zero_noise, allow_private_belief)
            costs.append(AtEpsilon(problem.epsilon, calibration))
        except CalibrationRefused as refusal:
            costs.append(AtEpsilon(problem.epsilon, None, str(refusal)))
    forget(first)
    return tuple(costs)
