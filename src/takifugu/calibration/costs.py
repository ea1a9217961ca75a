"""What one query costs at several epsilons: all that depends on none of them is found once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from takifugu.calibration import of_problem, problem_of
from takifugu.calibration.result import Calibration
from takifugu.core import searches
from takifugu.core.cache import forget
from takifugu.core.errors import CalibrationRefused
from takifugu.core.rules import check_any, check_type, list_of
from takifugu.core.typed import Typed
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers.rationals import Number

if TYPE_CHECKING:
    from takifugu.numbers.transport.metrics import Declared


@dataclass(frozen=True)
class AtEpsilon(Typed):
    """The noise at one epsilon; `calibration` is None where `reason` says why it is refused."""

    epsilon: Fraction
    calibration: Calibration | None
    reason: str = ""

    @property
    def error(self) -> float | None:
        """Return the expected error, None where it is refused or unknown."""
        return None if self.calibration is None else self.calibration.error_or_none


def at_epsilon(epsilon: Fraction, calibrate: Callable[[], Calibration]) -> AtEpsilon:
    """Return what calibrating gives, or why it is refused."""
    try:
        return AtEpsilon(epsilon, calibrate())
    except CalibrationRefused as refusal:
        return AtEpsilon(epsilon, None, str(refusal))


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
        framework: Secrets and adversaries' beliefs.
        query: The published answer.
        epsilons: At least one epsilon, each as `calibrate` takes it.
        delta: Delta of each guarantee.
        mechanism: "auto" or a name.
        single_release: Whether nothing else is ever released about these data.
        allow_zero_noise: Accept noise that would not hide one entry.
        allow_private_belief: Accept a belief estimated from the private data.
        metric: Distance by which "kantorovich-exponential" chooses.

    Returns:
        The costs in the order of the epsilons. A refused one has no calibration, and a reason.

    Raises:
        InputError: For no epsilon, and for arguments that `calibrate` refuses.

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
    first = replace(problems[0], epsilons=tuple(problem.epsilon for problem in problems))
    asked = mechanism, single_release, allow_zero_noise, allow_private_belief
    costs = tuple(at_epsilon(p.epsilon, partial(of_problem, first.at(p.epsilon), *asked)) for p in problems)
    forget(first)
    return costs
