"""Questions to a belief: the nearest type answers, and nobody answers twice."""

from __future__ import annotations

import pytest

from takifugu.analysis.questions.answer_law import ANSWER_LAW
from takifugu.analysis.questions.dispatch import Question
from takifugu.core.errors import InputError
from takifugu.model.beliefs.chains.chain import MarkovChain


class Animal: ...


class Fish(Animal): ...


class Puffer(Fish): ...


def test_the_nearest_type_answers() -> None:
    question = Question("what it eats", {}, default="nothing")
    question.register(Animal, "plants")
    assert question.of(Puffer()) == "plants"
    question.register(Fish, "shells")  # known answers of derived types are asked again
    answers = [question.of(belief) for belief in (Animal(), Fish(), Puffer(), 3)]
    assert answers == ["plants", "shells", "shells", "nothing"]


@pytest.mark.parametrize("kind", [MarkovChain, "a name"])
def test_nobody_answers_twice_or_for_what_is_no_type(kind: object) -> None:
    with pytest.raises(InputError, match=r"registered"):
        ANSWER_LAW.register(kind, lambda *about: None)  # type: ignore[arg-type]


def test_what_is_registered_elsewhere_is_a_type_of_its_own() -> None:
    """A class of the same name in another module is not the package's."""
    namesake = type("MarkovChain", (), {"__module__": "elsewhere"})
    assert ANSWER_LAW.of(namesake()) is ANSWER_LAW.default
    assert ANSWER_LAW.of(MarkovChain([[1.0]], 1)) is not ANSWER_LAW.default
