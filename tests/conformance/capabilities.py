"""What a belief tells when it is asked, set against the list of its joint states: `check_capabilities(belief)`."""

from contextlib import suppress
from fractions import Fraction
from typing import Any

from takifugu import Count, LocalValue, Pufferfish, every_entry
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.analysis.questions.joint_states import all_states
from takifugu.analysis.questions.marginal import marginal
from takifugu.core.errors import Unsupported
from takifugu.model.secrets.families import ABSENT


def check_capabilities(belief: Any) -> None:
    """Check what a belief tells when it is asked: it is what the list of its joint states says, or it says why not."""
    name = type(belief).__name__
    if not belief.alphabet(0):
        return  # real-valued: its densities are set against the audit's own, tests/audit/test_real_line.py
    counted = next(v for v, can in zip(belief.alphabet(0), belief.possible(0), strict=True) if can and v != ABSENT)
    if hasattr(belief, "record"):  # its entries are parameters: a state of a column is counted
        counted = belief.record.alphabet(0)[-1]
    query = LocalValue() if hasattr(belief, "populations") else Count(counted)  # a place would count as several states
    problem = Problem(Pufferfish(every_entry(), belief), query, Fraction(1))
    for part in problem.law_parts:
        law = answer_law(part)
        if law.reason:
            assert len(law.reason.split()) >= 3, f"{name}: knows no distribution of the answer, and not why"
            with suppress(Unsupported):
                assert not list(law.families()), f"{name}: has distributions of the answer that it denies"
            continue
        assert min(law.work()) > 0, f"{name}: predicts no work for the distributions of the answer"
        states = all_states(part.belief)
        for family in law.families():
            for value, hull in family.hulls.items():
                if len(hull) == len(states.weights) == 1 and not states.nothing:
                    _check_law(f"{name}: given entry {family.entry}", hull[0], part, states, family.entry, value)
    marginals = marginal(belief)
    if not marginals.known:
        with suppress(Unsupported):
            assert not marginals.of(0), f"{name}: has a distribution of an entry that it denies"
        return
    (weights,) = all_states(belief).weights
    for entry in range(belief.size):
        chances, error = marginals.of(entry)
        for value, chance in enumerate(chances):
            mass = Fraction(int(weights[all_states(belief).values[:, entry] == value].sum()), int(weights.sum()))
            assert abs(chance - mass) <= mass * (error + 1e-12), f"{name}: entry {entry} is distributed otherwise"


def _check_law(what: str, law: Any, part: Any, states: Any, entry: int, value: int) -> None:
    """Set a distribution of the answer given an entry's value against the sum over the joint states."""
    expected: dict[int, int] = {}
    for row, weight in zip(states.values, states.weights[0].tolist(), strict=True):
        if row[entry] == value:
            (at,) = part.answer.totals(row[None]).tolist()[0]
            expected[at] = expected.get(at, 0) + weight
    total, masses = sum(expected.values()), dict(law.items())
    assert {at for at, mass in masses.items() if mass} == {at for at, mass in expected.items() if mass}, (
        f"{what}: atoms"
    )
    for at, mass in expected.items():
        assert abs(float(masses.get(at, 0)) - mass / total) <= 1e-9 * mass / total, (
            f"{what}: P({at}) is {masses.get(at)}"
        )
