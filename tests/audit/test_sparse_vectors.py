"""The audit of a sparse vector, whose cells are drawn together: its promise on data sets, and its law against ours."""

import math
from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.support import asymmetric as oracle

from takifugu import extending
from takifugu.analysis.randomisers import PARTS, Base, Direction
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric
from takifugu.audit import exact_delta, exact_loss
from takifugu.audit.sparse_masses import sparse_mass, sparse_outputs
from takifugu.mechanisms.one_sided import Asymmetric, Policy, none_of
from takifugu.model.beliefs.domain import Domain


@dataclass(frozen=True)
class TwoPlaces(extending.Query):
    """How many people were at A, and how many at B: the words of a record are the places where somebody was."""

    def resolve(self, entries: Any) -> Any:
        table = np.array([["a" in word, "b" in word] for word in entries.alphabet(0)], dtype=np.int64)
        return extending.Additive(F(1), ("A", "B"), (table,), np.ones(entries.size, dtype=np.int64))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "test-two-places"}

    def describe(self) -> str:
        return "how many people were at each place"


@dataclass(frozen=True)
class Vector(Base):
    """What the audit reads of a sparse vector."""

    units: F
    thresholds: tuple[int, ...]
    limit: int | None
    cells: int = 2
    grid = F(1)
    kind = "sparse"
    output = PARTS

    @property
    def scale(self) -> F:
        return self.units * self.grid


def framework(people: int = 2) -> Any:
    policy = Policy.of(none_of("a", "ab"), none_of("b", "ab"))
    return Asymmetric(policy, Domain.of(people, ["nowhere", "a", "b", "ab"]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("thresholds", "limit", "loss"), [
    ((0,), None, 2), ((0,), 1, 1), ((0,), 2, 2), ((1, 0), None, 2), ((1,), 1, 1), ((2, 2), None, 2),
])  # fmt: skip
def test_the_loss_is_epsilon_times_the_smaller_of_c_and_m(thresholds: Any, limit: Any, loss: int) -> None:
    audit = exact_loss(framework(), TwoPlaces(), Vector(F(2), thresholds, limit))
    assert audit.loss == pytest.approx(loss / 2, rel=1e-12)


@pytest.mark.slow
def test_what_is_wrong_is_seen() -> None:
    """Half the scale, and a limit that does not stop, against what is promised: epsilon = 1/2 and c = 1."""
    assert exact_loss(framework(), TwoPlaces(), Vector(F(1), (0,), 1)).loss == pytest.approx(1)
    assert exact_loss(framework(), TwoPlaces(), Vector(F(2), (0,), None)).loss == pytest.approx(1)
    assert exact_delta(framework(), "1/2", TwoPlaces(), Vector(F(1), (0,), 1)).loss > 0.05
    assert exact_delta(framework(), "1/2", TwoPlaces(), Vector(F(2), (0,), 1)).upper < 1e-15


def test_together_with_other_noise() -> None:
    """A sparse vector and noisy counts of the same data: their losses add along the move that both see."""
    from takifugu.audit.exact import joint_loss

    both = [(TwoPlaces(), Vector(F(2), (0,), 1)), (TwoPlaces(), OneSidedGeometric(F(4), F(1), 2, (Direction.DOWN,)))]
    assert joint_loss(framework(1), both).loss == pytest.approx(1 / 2 + 2 / 4)


def test_the_law_is_that_of_the_steps() -> None:
    decay = F(1, 2)
    noise = Vector(F(1 / math.log(2)), (1, 0), 1)
    answers = [(F(0), F(2)), (F(2), F(1))]
    mass, outputs = sparse_mass(noise), sparse_outputs(noise, answers, more=3)
    with mpmath.workdps(50):
        for answer in answers:
            true = oracle.sparse([int(x) for x in answer], lambda past: (1, 0)[len(past)], 1, decay, 9)
            for output in outputs:
                assert float(mass(output, answer)) == pytest.approx(float(true.get(output, 0)), rel=1e-12)
            assert sum(float(mass(output, answer)) for output in outputs) > 0.9
