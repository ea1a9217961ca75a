"""Registries: every place that one lists can be loaded, and what cannot be is said by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
from tests.support.registries import registries, restored

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.analysis import randomisers
from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.calibration import outside, registry
from takifugu.core.errors import InputError, LedgerError
from takifugu.core.plain import made_of
from takifugu.core.registry import Question, Registry, loading
from takifugu.mechanisms.group_dp import MECHANISM as GROUP
from takifugu.model import beliefs, queries, secrets
from takifugu.model.queries import Additive, Entries

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=6, states=["still", "walking"])
FRAMEWORK = tf.Pufferfish(tf.every_entry(), CHAIN)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    with restored():
        yield


def test_everything_that_is_listed_can_be_loaded() -> None:
    for module in walk_packages(tf.__path__, "takifugu."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    listed = {id(held): held for held in registries()}.values()
    lists = [held.answers if isinstance(held, Question) else held for held in listed]
    assert len(lists) > 15
    assert sum(len([*things]) for things in lists) > 150


def test_a_place_that_is_misspelt_is_named() -> None:
    places = {"line": "core.text.picture:line", "dot": "core.text.pictures:dott"}
    shapes: Registry[Any] = Registry("the shape", places)
    for name, place in places.items():
        with pytest.raises(InputError, match=f"the shape '{name}' is listed at '{place}', which cannot be loaded"):
            shapes.find(name)


@pytest.mark.parametrize("package", ["accounting.composition", "accounting.ledger", "model.queries"])
def test_names_that_load_their_modules_are_those_of_the_package(package: str) -> None:
    module = import_module(f"takifugu.{package}")
    for loaded in (name for _, name, _ in walk_packages(module.__path__, f"{module.__name__}.")):
        import_module(loaded)  # which sets the module as an attribute of its package
    assert not [name for name in module.__all__ if isinstance(getattr(module, name), type(module))]
    with pytest.raises(AttributeError, match=f"{package}' has no attribute 'absent'"):
        _ = module.absent


def test_no_name_is_that_of_a_module_which_would_hide_it() -> None:
    with pytest.raises(AssertionError, match="hides"):
        loading("takifugu.accounting.composition", {"joint": "joint"})


def test_what_may_not_be_registered_is_not() -> None:
    def check(name: str, thing: int) -> None:
        if thing < 0:
            raise InputError(f"{name} is {thing}")

    sizes = Registry("the size", {}, check)
    for name, thing in (("small", -1), ("", 1), (3, 1), (None, 1)):
        with pytest.raises(InputError):
            sizes.register(name, thing)  # type: ignore[arg-type]
    assert sizes.names == ()
    sizes.register("small", 1)
    with pytest.raises(InputError, match="registered already"):
        sizes.register("small", 2)
    assert (sizes.get("small"), sizes.get("large"), sizes.get([])) == (1, None, None)


@pytest.mark.parametrize(("kinds", "name"), [
    (randomisers.KINDS, "discrete-laplace"), (queries.registry.KINDS, "count"), (beliefs.KINDS, "markov-chain"),
    (secrets.KINDS, "every-entry"),
])  # fmt: skip
def test_what_cannot_be_read_back_is_noticed_before_anything_is_paid(
    kinds: Registry[Any], name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calibration = tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, mechanism="group-dp")
    data, where = ["walking"] * 6, {
        "entries": "v", "ledger": tmp_path / "ledger.db", "source": "steps", "unit": "u", "budget": 2}  # fmt: skip
    tf.release(calibration, data, **where)  # type: ignore[arg-type]
    before = len(Ledger.open(tmp_path / "ledger.db").payments("steps"))
    monkeypatch.setattr(kinds, "_built_in", {**kinds._built_in, name: "nowhere:NOTHING"})
    kinds._known.pop(name, None)
    with pytest.raises((InputError, LedgerError), match="cannot be loaded"):  # LedgerError: of what was released before
        tf.release(calibration, data, **where)  # type: ignore[arg-type]
    kinds._known.clear()
    monkeypatch.undo()
    assert len(Ledger.open(tmp_path / "ledger.db").payments("steps")) == before


def test_a_belief_from_outside_that_forgets_is_noticed_before_anything_is_paid(tmp_path: Path) -> None:
    class Forgetful(tf.MarkovChain):
        def to_dict(self) -> dict[str, Any]:
            return {**super().to_dict(), "kind": "test-forgetful", "drawn": id(self)}

        @staticmethod
        def from_dict(data: Any) -> Any:
            return Forgetful(data["matrix"], data["length"])

    beliefs.register("test-forgetful", Forgetful)
    belief = Forgetful([[0.9, 0.1], [0.4, 0.6]], 6)
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), belief), tf.Count(1), 1, mechanism="group-dp")
    with pytest.raises(InputError, match="reads back from its to_dict as another one"):
        tf.release(calibration, [0] * 6, entries="v", ledger=tmp_path / "ledger.db", source="steps", unit="u", budget=2)
    assert not Ledger.open(tmp_path / "ledger.db").show()


@dataclass(frozen=True)
class Twice:
    """Twice the noise that `group-dp` adds."""

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


class Ends(tf.Query):
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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["auto", "group-dp", "twice"])
def test_a_mechanism_from_outside_is_asked_like_any_other_and_registered_once(name: str) -> None:
    registry.register(Twice())
    assert tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, mechanism="twice").scale == 12.0
    assert tf.compare(FRAMEWORK, tf.Count("walking"), 1)[-1].name == "twice"
    with pytest.raises(InputError, match="registered already"):
        registry.register(Twice(name=name))
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
def test_a_faulty_bound_is_refused_at_first_use(change: Any, fault: str) -> None:
    registry.register(Twice(change))
    with pytest.raises(InputError, match=fault):
        tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, mechanism="twice")
    assert tf.calibrate(FRAMEWORK, tf.Count("walking"), 1).mechanism != "twice"  # which "auto" never asks


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


def test_a_query_from_outside_is_calibrated_released_and_composed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="'ends' is registered by nobody"):  # no ledger could read it back
        tf.calibrate(FRAMEWORK, Ends("walking"), 1)
    queries.register("ends", Ends)
    for name, kind, words in (
        ("ends", Ends, "registered already"), ("other", Refusal, "Refusal lacks resolve, describe"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            queries.register(name, kind)
    calibration = tf.calibrate(FRAMEWORK, Ends("walking"), 1, mechanism="group-dp")
    assert calibration.scale == 2.0
    data, where = ["walking"] * 6, {
        "entries": "v", "ledger": tmp_path / "ledger.db", "source": "steps", "unit": "u", "budget": 2}  # fmt: skip
    for _ in range(2):  # the second time the first one's query is read back from the ledger
        released = tf.release(calibration, data, **where)  # type: ignore[arg-type]
    assert released.certificate.query == {"kind": "ends", "state": "walking"}
    assert 1 < tf.compose([calibration, calibration]).epsilon <= 2  # by their joint cost over quilts
    monkeypatch.setattr(Ends, "resolve", lambda query, entries: 3)
    with pytest.raises(InputError, match="one weight per entry"):
        tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN.with_length(7)), Ends("walking"), 1)


class Loud(tf.Count):
    """A count that is counted a thousand times, and writes itself down as a plain one."""

    def resolve(self, entries: Entries) -> Additive:
        plain = super().resolve(entries)
        return replace(plain, weights=plain.weights * 1000)


@dataclass(frozen=True)
class Times(tf.Query):
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


def as_it_is(query: tf.Query) -> tf.Query:
    return query


def assert_forgotten(
    kind: type[Times], first: int, second: int, framework: tf.Framework, told: Callable[[Times], tf.Query] = as_it_is
) -> None:
    """Assert that what is kept for the first query is not taken for the second, and that no loud one is composed."""
    made = {factor: tf.calibrate(framework, told(kind(factor)), 1, mechanism="group-dp") for factor in (first, second)}
    size = framework.beliefs[0].size
    assert {factor: one.scale for factor, one in made.items()} == {1: 1.0 * size, 1000: 1000.0 * size}
    with pytest.raises(InputError, match="reads back from its to_dict as one that adds up something else"):
        tf.compose([made[1000]])


def test_a_query_that_would_be_charged_as_another_one_is_refused() -> None:
    """Five counts with the noise of Loud were charged as one: their changes were read from the plain count."""
    with pytest.raises(InputError, match="a query of type Loud writes itself down as 'count'"):
        tf.calibrate(FRAMEWORK, Loud("walking"), 1, mechanism="group-dp")
    queries.register("times", Times)
    assert_forgotten(Times, 1, 1000, FRAMEWORK)
    made = tf.calibrate(FRAMEWORK, Times(1), 1, mechanism="group-dp")
    assert tf.compose([made] * 9).epsilon > 2 * tf.compose([made] * 4).epsilon > 2


@dataclass(frozen=True)
class AlikeTimes(Times):
    """A multiple of a count that is equal to every other one."""

    factor: int = field(compare=False)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Times:
        return AlikeTimes(1)


def test_what_a_query_leaves_out_of_its_text_and_of_equality_is_not_taken_for_another_ones() -> None:
    """The second had the noise and the answer of the first, and was compared with itself where it is read back."""
    queries.register("times", AlikeTimes)
    assert_forgotten(AlikeTimes, 1000, 1, tf.Pufferfish(tf.every_entry(), CHAIN.with_length(8)))


@dataclass(frozen=True)
class CellTimes(AlikeTimes):
    """The same, by cells and with others."""

    is_by_cells = is_with_others = True

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Times:
        return CellTimes(1)


@pytest.mark.parametrize("told", [
    lambda query: tf.JointQuery([query]), lambda query: tf.GroupBy(query, {"all": range(8)}),
])  # fmt: skip
def test_nor_is_what_a_query_inside_another_one_leaves_out(told: Callable[[Times], tf.Query]) -> None:
    """The second had a thousandth of its noise, as texts of queries of ours were taken to say all."""
    queries.register("times", CellTimes)
    framework = tf.Pufferfish(tf.every_entry(), CHAIN.with_length(8))
    assert_forgotten(CellTimes, 1, 1000, framework, told)
    conditions = tf.calibrate(framework, told(CellTimes(1)), 1).guarantee.conditions
    assert any(words.startswith("promise of the package 'tests', by its query 'CellTimes'") for words in conditions)


@dataclass(frozen=True)
class Named(tf.Query, kind="named for tests"):
    """What another query asks, as it was named when that was asked."""

    named: Any

    def resolve(self, entries: Any) -> Additive:
        (of,) = self.parts()
        return of.resolve(entries)

    def parts(self) -> list[tf.Query]:
        return list(made_of(self, tf.Query))[1:]


@pytest.mark.parametrize("named", [
    lambda query: ("who is ill", query), lambda query: [1, ("ill", query)], lambda query: {"ill": query},
    lambda query: {query: 1}, lambda query: (frozenset([query]),), lambda query: query,
])  # fmt: skip
def test_what_lies_beside_other_values_is_a_part_of_a_query(named: Callable[[tf.Query], Any]) -> None:
    """Of a tuple the first value decided: the package of a query behind a text was not named."""
    framework = tf.Pufferfish(tf.every_entry(), CHAIN.with_length(3))
    query = Named(named(CellTimes(1)))
    assert query.parts() == [CellTimes(1)]
    marks = outside.marks(Problem(framework, query, Fraction(1)), DiscreteLaplace(Fraction(1), Fraction(1)))
    assert [words.split(": ")[0].split("its ")[1] for words in marks] == ["query 'Named'", "query 'CellTimes'"]
