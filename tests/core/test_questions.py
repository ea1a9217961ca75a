"""Questions to a belief: the nearest type answers, nobody answers twice, and no namesake answers."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support import registries
from tests.support.sources import parsed

import takifugu as tf
from takifugu import extending
from takifugu.accounting.composition import charge_of, joint
from takifugu.analysis.questions.answer_law import ANSWER_LAW
from takifugu.analysis.questions.influence import QUILTS
from takifugu.analysis.questions.joint_states import JOINT_STATES
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.registry import Question
from takifugu.influence.curves import CURVES
from takifugu.model import beliefs, secrets
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.one_sequence import AnySequence
from takifugu.model.frameworks import Framework


class Animal: ...


class Fish(Animal): ...


class Puffer(Fish): ...


def test_the_nearest_type_answers() -> None:
    question = Question("what it eats", "nothing")
    question.register(Animal, "plants")
    assert question.of(Puffer()) == "plants"
    question.register(Fish, "shells")  # known answers of derived types are asked again
    answers = [question.of(belief) for belief in (Animal(), Fish(), Puffer(), 3)]
    assert answers == ["plants", "shells", "shells", "nothing"]


@pytest.mark.parametrize(("register", "words"), [
    (lambda: ANSWER_LAW.register(MarkovChain, lambda *about: None), "registered"),
    (lambda: ANSWER_LAW.register("a name", lambda *about: None), "registered"),
    (lambda: beliefs.register("markov-chain", MarkovChain), "'markov-chain' is registered already"),
    (lambda: beliefs.register("", MarkovChain), "a type is registered under a name"),
    (lambda: beliefs.register(3, MarkovChain), "a type is registered under a name"),
    (lambda: beliefs.register("chain", 3), "a type is registered under a name"),
    (lambda: beliefs.from_dict({"kind": None}), "the belief's kind is"),
    (lambda: beliefs.from_dict({"kind": []}), "the belief's kind is"),
    (lambda: beliefs.from_dict({"kind": "no such"}), "the belief's kind is"),
])  # fmt: skip
def test_a_type_is_registered_once_under_a_name_that_is_known(register: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        register()


# A kind of belief is registered once, whole, and then read back.


def test_what_lacks_something_that_every_belief_has_is_refused_at_once() -> None:
    class Half:
        source: str

        def alphabet(self, entry: int) -> tuple[int, ...]:
            return (0, 1)

    class Mute(AnySequence):
        def with_length(self, length: int) -> Mute:
            return self

    for kind, lacks in ((Half, "Half lacks assumptions, component, components, describe, from_dict.*to_dict"),
                        (Mute, "Mute lacks assumptions, describe, from_dict, to_dict")):  # fmt: skip
        with pytest.raises(InputError, match=lacks):
            beliefs.register("half", kind)
        with pytest.raises(InputError, match="'half'"):
            beliefs.from_dict({"kind": "half"})


def test_what_is_registered_is_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loop(MarkovChain): ...

    monkeypatch.setattr(beliefs.KINDS, "_known", dict(beliefs.KINDS._known))
    beliefs.register("loop", Loop)
    assert beliefs.KINDS.find("loop") is Loop
    described = MarkovChain([[0.5, 0.5], [0.5, 0.5]], 2).to_dict()
    assert beliefs.from_dict({**described, "kind": "loop"}).to_dict() == described  # Loop.from_dict is inherited


# What is proved for one type of belief is proved for no other: no namesake, none that derives from it.


ROWS, CHANCES = [("a",), ("b",), ("c",)], [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
MATRIX = [[0.9, 0.1], [0.4, 0.6]]


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    with registries.restored():
        yield


class Sure(tf.JointTable):
    """A table that says less is possible, and writes itself down as the plain one."""

    def possible(self, entry: int) -> tuple[bool, ...]:
        return (False, *super().possible(entry)[1:])


class Sticky(tf.MarkovChain):
    """A chain of another law, with a kind of its own."""

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "kind": "sticky"}


@pytest.mark.parametrize("module", ["beliefs.chain", "chain"])
def test_a_class_of_another_package_with_the_same_path_is_not_ours(module: str) -> None:
    namesake = type("MarkovChain", (tf.MarkovChain,), {"__module__": module})
    alone = type("MarkovChain", (), {"__module__": module})
    assert ANSWER_LAW.of(alone()) is ANSWER_LAW.default
    assert QUILTS.of(alone()) is QUILTS.default
    with pytest.raises(InputError, match="is registered by nobody"):
        tf.Pufferfish(tf.every_entry(), namesake(MATRIX, 3))


def test_what_derives_from_a_belief_is_not_charged_as_that_belief() -> None:
    sure = Sure(ROWS, CHANCES, ["x"])
    with pytest.raises(InputError, match="is registered by nobody"):
        tf.Pufferfish(tf.every_entry(), sure)
    beliefs.register("sure", Sure)
    with pytest.raises(InputError, match="writes itself down as 'joint-table'"):
        Framework((tf.every_entry(),), (sure,)).fingerprint()
    with pytest.raises(InputError, match="is registered by nobody"):
        tf.IndependentPieces(type("Odd", (tf.MarkovChain,), {})(MATRIX, 3), [3, 2])


def test_a_derived_type_without_answers_of_its_own_has_none() -> None:
    extending.register_belief("sticky", Sticky)
    framework = tf.Pufferfish(tf.every_entry(), Sticky(MATRIX, 6))
    for question in (ANSWER_LAW, QUILTS, CURVES, JOINT_STATES):
        assert question.of(framework.beliefs[0]) is question.default
    assert tf.calibrate(framework, tf.Count(1), epsilon=1).mechanism == "group"
    with pytest.raises(Unsupported):
        JOINT_STATES.of(framework.beliefs[0])(framework.beliefs[0]).states()
    # It is not made longer as the one that it derives from: a shorter reading would be charged under another length.
    charges = [charge_of(tf.with_scale(framework, tf.Count(1), 12), at=at) for at in (0, 100)]
    assert joint(framework, charges).epsilon == 1


def test_a_type_may_register_its_answers_one_by_one() -> None:
    extending.register_belief("sticky", Sticky, answer_law=ANSWER_LAW.of(tf.MarkovChain(MATRIX, 2)))
    assert ANSWER_LAW.of(Sticky(MATRIX, 2)) is ANSWER_LAW.of(tf.MarkovChain(MATRIX, 2))


# Outside of beliefs nothing asks which type a belief has.


SRC = Path(__file__).parents[2] / "src" / "takifugu"

#: Where a belief's type is still asked for, how often, and why: a list that only ever shrinks. Two given distributions
#: of an answer (LawPair) are no distribution of data: they have no entries, and no joint states.
LEFT = {
    "model/frameworks.py": (2, "secrets of entries do not fit two given distributions, nor the other way round"),
    "audit/exact.py": (1, "the audit lists the laws of a class by itself, and asks nothing of what it examines"),
    "audit/partial_sums.py": (3, "the audit sweeps a chain by itself, and asks nothing of what it examines"),
    "releasing/auditing.py": (3, "data are made up in the shape that each belief is about"),
}


def belief_types() -> set[str]:
    """Return the names of the classes of beliefs, of what derives from them, and of unions of them."""
    files = (SRC / "model" / "beliefs").rglob("*.py")
    nodes = [node for path in files for node in parsed(path).body]
    types = {"OneSequence", "Undivided"}
    for _ in range(5):  # what derives from what derives
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.name != "Belief":  # the protocol may be asked for
                defined = {inside.name for inside in node.body if isinstance(inside, ast.FunctionDef)}
                if {"components", "possible"} <= defined or set().union(*map(_names, node.bases)) & {"View", *types}:
                    types.add(node.name)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and _names(node.value) & types:
                types |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return types


def _names(node: ast.AST) -> set[str]:
    return {inside.id for inside in ast.walk(node) if isinstance(inside, ast.Name)}


def checks(tree: ast.AST, types: set[str]) -> Iterator[str]:
    """Yield every isinstance() or issubclass() check, and every `type(x) is`, that names a type of belief."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
            asks_type = node.func.id in ("isinstance", "issubclass") and _names(node.args[1]) & types
        elif isinstance(node, ast.Compare):
            asks_type = "type(" in ast.unparse(node.left) and set().union(*map(_names, node.comparators)) & types
        elif isinstance(node, ast.MatchClass):
            asks_type = _names(node.cls) & types
        else:
            continue
        if asks_type:
            yield ast.unparse(node)


def test_nothing_asks_for_the_type_of_a_belief() -> None:
    types = belief_types()
    chains = {"MarkovChain", "IntervalMarkovChain"}
    assert chains | {"JointTable", "BayesianNetwork", "IndependentUsers"} <= types
    assert "Belief" not in types
    counts = Counter[str]()
    for path in sorted(SRC.rglob("*.py")):
        name = path.relative_to(SRC).as_posix()
        text = path.read_text(encoding="utf-8")
        if not name.startswith("model/beliefs/") and any(belief in text for belief in types):
            counts[name] += len([*checks(parsed(path), types)])
    new = counts - Counter({name: count for name, (count, _) in LEFT.items()})
    assert not new, f"types of beliefs are asked for in {+new}; ask a question of takifugu.analysis.questions"


@pytest.mark.parametrize(("line", "count"), [
    ("isinstance(belief, MarkovChain)", 1), ("isinstance(x, JointTable | MarkovChain)", 1),
    ("isinstance(x, (MarkovChain, int))", 1), ("type(x) is MarkovChain", 1), ("issubclass(kind, MarkovChain)", 1),
    ("isinstance(x, int)", 0), ("type(x) is int", 0), ("MarkovChain(x)", 0),
])  # fmt: skip
def test_a_check_is_found(line: str, count: int) -> None:
    assert len([*checks(ast.parse(line), {"MarkovChain", "JointTable"})]) == count


def test_a_belief_from_outside_has_views() -> None:
    class Survey(tf.Records):
        pass

    class WholeColumn(extending.View):
        values = ("low", "high")
        pairs = None

    secret = tf.every_entry("income")
    table = tf.JointTable([("low",), ("high",)], [0.5, 0.5], names=["income"])
    with registries.restored():
        extending.register_belief("survey", Survey, view=lambda belief, secret: WholeColumn(belief))
        view = secrets.view(secret, Survey(table, 2))
        assert isinstance(view, WholeColumn)
        assert secret.family(view).value_pairs(view, 0) == ((0, 1), (1, 0))
    assert not isinstance(secrets.view(secret, Survey(table, 2)), WholeColumn)
