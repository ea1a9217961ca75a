"""Mechanisms and queries written elsewhere: what registering refuses, what is refused at first use, and what works."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.registries import restored

import takifugu as tf
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Bound, Cost, Problem, Refusal, Witness
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.calibration import registry
from takifugu.core.errors import InputError
from takifugu.mechanisms.group import MECHANISM as GROUP
from takifugu.model import queries
from takifugu.model.queries import Additive, Entries

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=6, states=["still", "walking"])
FRAMEWORK = tf.Pufferfish(tf.every_entry(), CHAIN)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    with restored():
        yield


@dataclass(frozen=True)
class Twice:
    """Twice the noise that `group` adds."""

    change: Any = None
    name: str = "twice"
    source: str = "this test"

    def cost(self, problem: Problem) -> Cost:
        return GROUP.cost(problem)

    def bound(self, problem: Problem) -> Any:
        bounded = GROUP.bound(problem)
        assert isinstance(bounded, Bound)
        noise = DiscreteLaplace(2 * bounded.randomiser.scale / problem.grid, problem.grid, problem.cells)
        doubled = replace(bounded, randomiser=noise)
        return self.change(doubled) if self.change else doubled


class Ends:
    """How many of the first and the last entry are in a state."""

    def __init__(self, state: str) -> None:
        self.state = state

    def resolve(self, entries: Entries) -> Additive:
        weights = np.zeros(entries.size, dtype=np.int64)
        weights[[0, -1]] = 1
        table = np.array([[int(s == self.state)] for s in entries.alphabet(0)])
        return Additive(Fraction(1), ("ends",), (table,), weights)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "ends", "state": self.state}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Ends:
        return Ends(data["state"])

    def describe(self) -> str:
        return f"how many ends are {self.state}"


def test_a_mechanism_from_outside_is_asked_like_any_other() -> None:
    registry.register(Twice())
    assert tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, mechanism="twice").scale == 12.0
    assert tf.compare(FRAMEWORK, tf.Count("walking"), 1)[-1].name == "twice"


@pytest.mark.parametrize("name", ["auto", "group", "twice"])
def test_a_mechanism_is_registered_once(name: str) -> None:
    registry.register(Twice())
    with pytest.raises(InputError, match="registered already"):
        registry.register(Twice(name=name))


def test_a_mechanism_has_all_its_parts() -> None:
    with pytest.raises(InputError, match="lacks name, source, cost, bound"):
        registry.register(Refusal("no mechanism"))  # type: ignore[arg-type]


class Endless(DiscreteLaplace):
    @property
    def scale(self) -> Any:
        return float("inf")


@pytest.mark.parametrize(("change", "fault"), [
    (lambda bound: None, "NoneType, which is no Bound and no Refusal"),
    (lambda bound: replace(bound, witness=Witness("")), "without the comparison"),
    (lambda bound: replace(bound, randomiser=Endless(Fraction(1), Fraction(1))), "noise of scale inf"),
    (lambda bound: replace(bound, randomiser=DiscreteLaplace(Fraction(1), Fraction(1), 2)), "another number of cells"),
    (lambda bound: replace(bound, randomiser=DiscreteLaplace(Fraction(1), Fraction(1, 2))), "another grid"),
    (lambda bound: replace(bound, delta=Fraction(1)), "a promise of epsilon 1, delta 1"),
])  # fmt: skip
@pytest.mark.parametrize("mechanism", ["twice", "auto"])
def test_a_faulty_bound_is_refused_at_first_use(mechanism: str, change: Any, fault: str) -> None:
    registry.register(Twice(change))
    with pytest.raises(InputError, match=fault):
        tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, mechanism=mechanism)


@dataclass(frozen=True)
class OnTheGrid:
    """Enough noise for one number, if every answer were a multiple of the grid."""

    name: str = "on-the-grid"
    source: str = "nowhere"

    def cost(self, problem: Problem) -> Cost:
        return Cost(1)

    def bound(self, problem: Problem) -> Bound | Refusal:
        noise = DiscreteLaplace(100 / problem.grid, problem.grid)
        return Bound(noise, problem.epsilon, Fraction(0), Covers.OUTPUT, Witness("any mean against any other"))


def test_noise_on_a_grid_is_refused_for_answers_that_may_lie_between_its_multiples() -> None:
    registry.register(OnTheGrid(), definitions=("attribute",))
    belief = tf.MultivariateNormal([0, 0], [[1, 0.5], [0.5, 1]], ["income", "weight"], records=10)
    framework = tf.Pufferfish(tf.dataset_property("income", "mean", max_difference=1), belief)
    with pytest.raises(InputError, match="may lie between them"):
        tf.calibrate(framework, tf.Mean("weight"), 1, mechanism="on-the-grid")


def test_a_query_from_outside_is_calibrated_released_and_composed(tmp_path: Path) -> None:
    queries.register("ends", Ends)
    calibration = tf.calibrate(FRAMEWORK, Ends("walking"), 1, mechanism="group")
    assert calibration.scale == 2.0
    data, where = ["walking"] * 6, {"ledger": tmp_path / "ledger.db", "source": "steps", "unit": "u", "budget": 2}
    for _ in range(2):  # the second time the first one's query is read back from the ledger
        released = tf.release(calibration, data, **where)  # type: ignore[arg-type]
    assert released.certificate.query == {"kind": "ends", "state": "walking"}
    assert 1 < tf.compose([calibration, calibration]).epsilon <= 2  # by their joint cost over quilts


def test_a_query_that_no_ledger_can_read_back_is_refused() -> None:
    with pytest.raises(InputError, match="'ends' is registered by nobody"):
        tf.calibrate(FRAMEWORK, Ends("walking"), 1)
    queries.register("ends", Ends)
    with pytest.raises(InputError, match="registered already"):
        queries.register("ends", Ends)
    with pytest.raises(InputError, match="Refusal lacks resolve, to_dict, describe, from_dict"):
        queries.register("other", Refusal)


def test_a_query_that_resolves_to_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    queries.register("ends", Ends)
    monkeypatch.setattr(Ends, "resolve", lambda query, entries: 3)
    with pytest.raises(InputError, match="one weight per entry"):
        tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN.with_length(7)), Ends("walking"), 1)


class Loud(tf.Count):
    """A count that is counted a thousand times, and writes itself down as a plain one."""

    def resolve(self, entries: Entries) -> Additive:
        plain = super().resolve(entries)
        return replace(plain, weights=plain.weights * 1000)


@dataclass(frozen=True)
class Times:
    """A multiple of a count that does not write the factor down."""

    factor: int

    def resolve(self, entries: Entries) -> Additive:
        plain = tf.Count("walking").resolve(entries)
        return replace(plain, weights=plain.weights * self.factor)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "times"}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Times:
        return Times(1)

    def describe(self) -> str:
        return "a multiple"


def test_a_query_that_would_be_charged_as_another_one_is_refused() -> None:
    """Five counts with the noise of Loud were charged as one: their changes were read from the plain count."""
    with pytest.raises(InputError, match="a query of type Loud writes itself down as 'count'"):
        tf.calibrate(FRAMEWORK, Loud("walking"), 1, mechanism="group")
    queries.register("times", Times)
    made = [tf.calibrate(FRAMEWORK, Times(factor), 1, mechanism="group") for factor in (1, 1000)]
    assert [one.scale for one in made] == [6.0, 6000.0]  # what is kept for the one is not taken for the other
    assert tf.compose([made[0]] * 9).epsilon > 2 * tf.compose([made[0]] * 4).epsilon > 2
    with pytest.raises(InputError, match="reads back from its to_dict as one that adds up something else"):
        tf.compose([made[1]])
