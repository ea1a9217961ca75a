"""Every mechanism says beforehand what its bound will cost, and it costs not much more: on larger problems."""

import time
from dataclasses import dataclass
from fractions import Fraction

import pytest
from tests.conformance.corpus import DELTAS, larger
from tests.conformance.suite import check_cost

from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Bound, Cost, Problem, Refusal, Witness
from takifugu.analysis.randomisers import Exact
from takifugu.calibration.registry import REGISTRY, Line

#: Problems that are predicted to take longer, in seconds, are not run here.
LONGEST = 1.0


@pytest.mark.sampled(4)
@pytest.mark.parametrize("line", tuple(REGISTRY), ids=lambda line: line.name)
def test_it_costs_not_much_more_than_it_says(line: Line) -> None:
    delta = DELTAS[-1] if line.takes_delta else DELTAS[0]
    for case in larger():
        check_cost(line.load(), Problem(case.framework, case.query, Fraction(1), delta), LONGEST)


@dataclass(frozen=True)
class Slow:
    """A mechanism that takes a second and says what it is given to say."""

    says: Cost
    name: str = "slow"
    source: str = "a test"

    def cost(self, problem: Problem) -> Cost:
        return self.says

    def bound(self, problem: Problem) -> Bound | Refusal:
        end = time.process_time() + 1
        while time.process_time() < end:
            pass
        noise = Exact(problem.grid, problem.cells)
        return Bound(noise, problem.epsilon, Fraction(0), Covers.OUTPUT, Witness("", "none was found"))


def test_one_that_costs_more_is_noticed() -> None:
    case = larger()[0]
    problem = Problem(case.framework, case.query, Fraction(1))
    with pytest.raises(AssertionError, match=r"slow predicts 0\.01 s"):
        check_cost(Slow(Cost(3e6)), problem, LONGEST)
