"""Every kind of belief: sizes, alphabets, components, what is possible, words, and the way to JSON and back."""

from fractions import Fraction
from typing import Any

import pytest
from tests.conformance.capabilities import check_capabilities
from tests.conformance.corpus import corpus
from tests.conformance.suite import check_belief
from tests.support import registries

import takifugu as tf
from takifugu.analysis.answer_laws.listed import TableLaw
from takifugu.analysis.questions.answer_law import ANSWER_LAW
from takifugu.model import beliefs
from takifugu.model.beliefs.pair import LawPair

BELIEFS = {
    f"{case.name}, belief {number}": (belief, case.members)
    for case in corpus()
    for number, belief in enumerate(case.framework.beliefs)
    if not isinstance(belief, LawPair)
}


@pytest.mark.parametrize("name", BELIEFS)
def test_it_is_a_belief(name: str) -> None:
    check_belief(*BELIEFS[name])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", BELIEFS)
def test_what_it_tells_is_true(name: str) -> None:
    check_capabilities(BELIEFS[name][0])


def test_every_kind_of_belief_is_in_the_corpus() -> None:
    known = set(beliefs.KINDS.names)
    assert known == {b.to_dict()["kind"] for b, _ in BELIEFS.values()} | {"law-pair"}


class Torn(tf.JointTable):
    """A table that calls its columns independent, which they are not."""

    def components(self) -> tuple[range, ...]:
        return tuple(range(i, i + 1) for i in range(self.size))

    def component(self, number: int) -> tf.JointTable:
        alphabet = self.alphabet(number)
        return tf.JointTable([(v,) for v in alphabet], [Fraction(1, len(alphabet))] * len(alphabet))


class Sure(tf.JointTable):
    """A table that calls a value impossible which it is not."""

    def possible(self, entry: int) -> tuple[bool, ...]:
        return (False, *super().possible(entry)[1:])


class Renaming(tf.JointTable):
    """A table that names its columns otherwise in its component."""

    def component(self, number: int) -> tf.JointTable:
        return tf.JointTable([(0, 0), (1, 1)], [Fraction(1, 2)] * 2, ["x1", "x2"])


class OneAlphabet(tf.JointTable):
    """A table of two alphabets that calls them one."""

    one_alphabet = True

    def alphabet(self, entry: int) -> tuple[Any, ...]:
        return super().alphabet(entry)[:: 1 - 2 * entry]


class Changing(tf.JointTable):
    """A table that writes itself down as another one."""

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "kind": "changing-table", "source": self.source.rstrip("!") + "!"}

    @staticmethod
    def from_dict(data: Any) -> tf.JointTable:
        chances = [Fraction(chance) for chance in data["probabilities"]]
        return Changing(data["rows"], chances, data["names"], data["source"])


@pytest.mark.parametrize(("kind", "message"), [
    (Torn, "its components are not independent"), (Sure, "values that are not possible"), (Changing, "reads back"),
    (Renaming, "component 0 names its entries"), (OneAlphabet, "several alphabets"),
])  # fmt: skip
def test_a_belief_that_misstates_itself_is_noticed(kind: Any, message: str) -> None:
    with registries.restored():
        beliefs.register("changing-table", Changing)
        with pytest.raises(AssertionError, match=message):
            check_belief(kind([(0, 0), (1, 1)], [Fraction(1, 2)] * 2, ["left", "right"]))


class Other(tf.JointTable):
    """A table that tells the distribution of another one's answer."""

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "kind": "other-table"}


def test_a_belief_that_tells_something_else_is_noticed() -> None:
    another = tf.JointTable([(0, 0), (1, 1)], [Fraction(1, 2)] * 2)
    here = Other([(0, 0), (0, 1), (1, 1)], [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)])
    with registries.restored():
        beliefs.register("other-table", Other)
        check_capabilities(here)
        ANSWER_LAW.register(Other, lambda belief, answer, family: TableLaw(another, answer, family))
        with pytest.raises(AssertionError, match="Other: given entry 0"):
            check_capabilities(here)
