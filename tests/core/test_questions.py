"""Questions to a belief: the nearest type answers, nobody answers twice, and no namesake answers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from tests.support import registries

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
    assert tf.calibrate(framework, tf.Count(1), epsilon=1).mechanism == "group-dp"
    with pytest.raises(Unsupported):
        JOINT_STATES.of(framework.beliefs[0])(framework.beliefs[0]).states()
    # It is not made longer as the one that it derives from: a shorter reading would be charged under another length.
    charges = [charge_of(tf.with_scale(framework, tf.Count(1), 12), at=at) for at in (0, 100)]
    assert joint(framework, charges).epsilon == 1


def test_a_type_may_register_its_answers_one_by_one() -> None:
    extending.register_belief("sticky", Sticky, answer_law=ANSWER_LAW.of(tf.MarkovChain(MATRIX, 2)))
    assert ANSWER_LAW.of(Sticky(MATRIX, 2)) is ANSWER_LAW.of(tf.MarkovChain(MATRIX, 2))


# Outside of beliefs nothing asks which type a belief has.


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
