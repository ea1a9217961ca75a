"""Every registered mechanism on every small problem: it keeps what it promises, or refuses with a reason."""

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import pytest
from tests.conformance.claims import CLAIMS
from tests.conformance.corpus import DELTAS, EPSILONS, Case, corpus, larger, shrunk
from tests.conformance.suite import (
    audited,
    bound_of,
    check_cost,
    check_mechanism,
    check_on_corpus,
    check_witness,
    halved,
)

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Exact
from takifugu.calibration import calibrate
from takifugu.calibration.registry import REGISTRY, Line
from takifugu.calibration.trials import attempt_all, choose
from takifugu.mechanisms.kantorovich_exponential import largest_rate
from takifugu.numbers.rationals import round_up

#: Of how many promises each mechanism is held to every day.
BY_DAY = 8

by_name = pytest.mark.parametrize("line", tuple(REGISTRY), ids=lambda line: line.name)


@by_name
def test_it_keeps_its_promise_or_says_why_it_makes_none(line: Line) -> None:
    """By day some promises, each for one delta, of other cases than the mechanism before it; by night all of them."""
    promises, cases, first = list[Covers](), shrunk(corpus()), 5 * tuple(REGISTRY).index(line)
    for n in range(len(cases)):
        case, deltas = cases[(first + n) % len(cases)], DELTAS[: 1 + line.takes_delta]
        asked = (check_mechanism(line.load(), case, EPSILONS[1], delta) for delta in deltas[:: 1 - 2 * (n % 2)])
        verdict = next((verdict for verdict in asked if verdict is not None), None)
        if verdict is not None:
            promises.append(verdict.bound.covers)
        if len(promises) == BY_DAY:
            break
    assert promises
    assert not line.alone or set(promises) == {Covers.OUTPUT}, f"{line.name} composes, and is registered as alone"


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", shrunk(corpus()), ids=lambda case: case.name)
def test_what_may_be_followed_is_chosen_as_if_every_mechanism_were_asked(case: Case) -> None:
    delta = DELTAS[case.name.startswith("densities")]  # only normal noise serves these
    choice = choose(attempt_all(Problem(case.framework, case.query, EPSILONS[1], delta), True, alone=False))
    calibration = calibrate(case.framework, case.query, EPSILONS[1], delta, allow_zero_noise=True)
    assert choice is not None
    best = choice.taken(case.framework.is_pair)
    assert (calibration.mechanism, calibration.randomiser) == (best.line.name, best.bound and best.bound.randomiser)


@pytest.mark.mutants
@by_name
def test_it_keeps_its_promise_on_every_case(line: Line) -> None:
    check_on_corpus(line.load(), line.takes_delta, EPSILONS[1:2])


@pytest.mark.slow
@by_name
def test_it_keeps_its_promise_at_small_and_large_epsilons(line: Line) -> None:
    check_on_corpus(line.load(), line.takes_delta, EPSILONS[::2])


@by_name
def test_half_of_its_noise_is_noticed(line: Line) -> None:
    for case, delta in product(corpus(), DELTAS if line.takes_delta else DELTAS[:1]):
        bound = halved(line.load(), Problem(case.framework, case.query, EPSILONS[1], delta))
        if isinstance(bound, str):
            continue
        try:
            audited(line.name, case, bound)
        except AssertionError:
            return
    pytest.fail(f"half of the noise of {line.name} breaks no promise of the corpus: add a tighter case")


def claims_seen(name: str) -> int:
    """Check what a mechanism says of its noise on the corpus; return on how many cases that could be looked at."""
    seen, line = 0, next(line for line in REGISTRY if line.name == name)
    for case in corpus():
        problem = Problem(case.framework, case.query, EPSILONS[1])
        bound = bound_of(line.load(), problem)
        seen += not isinstance(bound, str) and CLAIMS[name](problem, bound)
    return seen


@pytest.mark.parametrize("name", CLAIMS)
def test_its_noise_is_what_it_says(name: str) -> None:
    assert claims_seen(name) >= 5


def test_half_of_the_noise_of_an_entry_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takifugu.mechanisms.record_dp.round_up", lambda units: round_up(units) / 2)
    with pytest.raises(AssertionError, match="entry: the scale is"):
        claims_seen("record-dp")


def test_twice_the_rate_of_a_choice_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "takifugu.mechanisms.kantorovich_exponential.largest_rate", lambda *args: 2 * largest_rate(*args)
    )
    with pytest.raises(AssertionError, match=r"other masses|above what its theorem allows"):
        claims_seen("kantorovich-exponential")


@pytest.mark.parametrize("comparison", [
    "step 1 = 0 against step 1 = 7", "step 0 = 0 against step 1 = 0", "step 9 = 0 against step 9 = 1", "",
    "any values of steps 7 to 9 against any others", "no comparison: nothing was found", "it was a hard problem",
])  # fmt: skip
def test_a_witness_that_is_no_comparison_is_noticed(comparison: str) -> None:
    case = corpus()[0]
    bound = bound_of(next(iter(REGISTRY)).load(), Problem(case.framework, case.query, Fraction(1)))
    assert isinstance(bound, Bound)
    check_witness("it", case.framework, replace(bound, witness=Witness("step 1 = 0 against step 1 = 1")))
    with pytest.raises(AssertionError, match=r"^it: "):
        check_witness("it", case.framework, replace(bound, witness=Witness(comparison)))


#: Problems that are predicted to take longer, in seconds, are not run here.
LONGEST = 1.0


@pytest.mark.sampled(8)
@pytest.mark.parametrize("line", tuple(REGISTRY), ids=lambda line: line.name)
def test_it_costs_not_much_more_than_it_says(line: Line) -> None:
    delta = DELTAS[-1] if line.takes_delta else DELTAS[0]
    for case in larger():
        check_cost(line.load(), Problem(case.framework, case.query, Fraction(1), delta), LONGEST)


@dataclass(frozen=True)
class Slow:
    """A mechanism that takes a second by the clock of its test, and says what it is given to say."""

    says: Cost
    name: str = "slow"
    source: str = "a test"

    def cost(self, problem: Problem) -> Cost:
        return self.says

    def bound(self, problem: Problem) -> Bound | Refusal:
        noise = Exact(problem.grid, problem.cells)
        return Bound(noise, problem.epsilon, Fraction(0), Covers.OUTPUT, Witness("", "none was found"))


def test_one_that_costs_more_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0.0, 1.0))
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    case = larger()[0]
    problem = Problem(case.framework, case.query, Fraction(1))
    with pytest.raises(AssertionError, match=r"slow predicts 0\.01 s"):
        check_cost(Slow(Cost(3e6)), problem, LONGEST)
