"""Registries: every place that one lists can be loaded, and what cannot be is said by its name."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from tests.support.registries import registries, restored

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.analysis import randomisers
from takifugu.analysis.questions.dispatch import Question
from takifugu.core.errors import InputError
from takifugu.core.registry import Registry, loading
from takifugu.model import beliefs, queries, secrets

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
    shapes: Registry[Any] = Registry("the shape", {"line": "core.text.picture:line", "dot": "core.text.pictures:dott"})
    for name, place in (("line", "core.text.picture:line"), ("dot", "core.text.pictures:dott")):
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
    calibration = tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, mechanism="group")
    data, where = ["walking"] * 6, {"ledger": tmp_path / "ledger.db", "source": "steps", "unit": "u", "budget": 2}
    tf.release(calibration, data, **where)  # type: ignore[arg-type]
    before = len(Ledger.open(tmp_path / "ledger.db").history("steps"))
    monkeypatch.setattr(kinds, "_built_in", {**kinds._built_in, name: "nowhere:NOTHING"})
    kinds._known.pop(name, None)
    with pytest.raises(InputError, match="cannot be loaded"):
        tf.release(calibration, data, **where)  # type: ignore[arg-type]
    kinds._known.clear()
    monkeypatch.undo()
    assert len(Ledger.open(tmp_path / "ledger.db").history("steps")) == before


def test_a_belief_from_outside_that_forgets_is_noticed_before_anything_is_paid(tmp_path: Path) -> None:
    class Forgetful(tf.MarkovChain):
        def to_dict(self) -> dict[str, Any]:
            return {**super().to_dict(), "kind": "test-forgetful", "drawn": id(self)}

        @staticmethod
        def from_dict(data: Any) -> Any:
            return Forgetful(data["matrix"], data["length"])

    beliefs.register("test-forgetful", Forgetful)
    belief = Forgetful([[0.9, 0.1], [0.4, 0.6]], 6)
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), belief), tf.Count(1), 1, mechanism="group")
    with pytest.raises(InputError, match="reads back from its to_dict as another one"):
        tf.release(calibration, [0] * 6, ledger=tmp_path / "ledger.db", source="steps", unit="u", budget=2)
    assert not Ledger.open(tmp_path / "ledger.db").show()
