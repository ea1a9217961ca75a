"""Mistakes in what a user registers that no promise survives: they are refused before anything is calibrated."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.registries import restored

import takifugu as tf
from takifugu import extending
from takifugu.core.assumptions import Assumption
from takifugu.core.errors import InputError
from takifugu.mechanisms.group_dp import MECHANISM as GROUP
from takifugu.model.secrets.families import Family
from takifugu.numbers import Pmf


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    with restored():
        yield


class Copies:
    """Three copies of one fair coin."""

    size, names, one_alphabet, source = 3, None, True, "assumed"
    runs: Any = (range(3),)

    def alphabet(self, entry: int) -> tuple[int, ...]:
        return (0, 1)

    def possible(self, entry: int) -> tuple[bool, ...]:
        return (True, True)

    def components(self) -> Any:
        return self.runs

    def component(self, number: int) -> "Copies":
        return self

    def position(self, name: object) -> int:
        raise NotImplementedError

    def assumptions(self) -> tuple[Assumption, ...]:
        return ()

    def describe(self) -> str:
        return "copies"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "copies"}

    @staticmethod
    def from_dict(data: Any) -> "Copies":
        return Copies()


def refused(words: str, **changed: Any) -> None:
    """Check that copies with something changed are refused in these words."""
    extending.register_belief("copies", Copies)
    belief = Copies()
    vars(belief).update(changed)
    with pytest.raises(InputError, match=words):
        tf.Pufferfish(tf.every_entry(), belief)


@pytest.mark.parametrize("runs", [
    (range(1), range(2, 3)), (range(2), range(1, 3)), (range(5),), (), (range(0, 3, 2), range(1, 2)), (range(2),),
    ([0, 1, 2],), iter([range(3)]), None, (range(1, 3), range(1)),
])  # fmt: skip
def test_components_divide_the_entries(runs: Any) -> None:
    """A gap had the noise of one entry, and nothing of the entry between was hidden."""
    refused("the components of Copies do not follow each other from 0 to 3", runs=runs)
    assert tf.calibrate(tf.Pufferfish(tf.every_entry(), Copies()), tf.Count(1), 1).scale == 3


@pytest.mark.parametrize("laws", [{}, {0: (Pmf([0], [1]),)}, {0: (), 1: (Pmf([1], [1]),)}])
def test_a_family_has_a_law_for_each_value(laws: Any) -> None:
    """Without a law nothing was compared, and no noise was needed."""
    with pytest.raises(InputError, match="the answer has no distribution given value"):
        extending.ListedFamily(0, ((0, 1), (1, 0)), laws)
    extending.ListedFamily(0, (), laws)


@dataclass(frozen=True)
class Changed:
    """The mechanism `group-dp` with another promise."""

    change: Callable[[Any], Any]
    name: str = "changed"
    source: str = "a test"

    def cost(self, problem: Any) -> Any:
        return GROUP.cost(problem)

    def bound(self, problem: Any) -> Any:
        return self.change(GROUP.bound(problem))


@pytest.mark.parametrize(("promise", "words"), [
    ({"epsilon": math.nan}, "epsilon nan, delta 0"), ({"epsilon": math.inf}, "epsilon inf"),
    ({"epsilon": 0.5}, "epsilon 0.5"), ({"delta": math.nan}, "delta nan"), ({"delta": 0.1}, "delta 0.1"),
    ({"epsilon": Fraction(-1)}, "epsilon -1"),
])  # fmt: skip
def test_a_promise_is_of_exact_numbers(promise: Any, words: str) -> None:
    """One of epsilon nan was calibrated, and failed as a fault of ours when it was released."""
    extending.register_mechanism(Changed(lambda bound: replace(bound, **promise)))
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 3))
    with pytest.raises(InputError, match=f"returned a promise of .*{words}"):
        tf.calibrate(framework, tf.Count(1), 1, mechanism="changed")


@dataclass(frozen=True)
class Hidden:
    """A secret about some entries, as a function lists them."""

    entries: Callable[[], Any]
    pairs: Any = ((0, 1),)

    def family(self, belief: Any) -> Family:
        return Family(self.entries(), self.pairs)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "hidden"}

    def describe(self) -> str:
        return "some entries"


def noise_for(secret: Hidden) -> Any:
    extending.register_secret("hidden", lambda data: secret)
    return calibrated(secret)


def calibrated(*secrets: Any) -> Any:
    framework = tf.Pufferfish(secrets, tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 4))
    return tf.calibrate(framework, tf.Count(1), 1, mechanism="laplace-exact", allow_zero_noise=True)


@pytest.mark.parametrize("entries", [
    lambda: iter([0, 1]), lambda: [1, 0], lambda: range(1, -1, -1), lambda: np.array([0, 1]), lambda: (0, 1, 1),
])  # fmt: skip
def test_entries_are_the_same_however_they_are_listed(entries: Callable[[], Any]) -> None:
    """A generator was used up by the first question, and a range that falls was empty: nothing was hidden."""
    calibration = noise_for(Hidden(entries))
    assert calibration.scale == calibrated(tf.entry(0, 0, 1), tf.entry(1, 0, 1)).scale > 2
    assert tf.exact_loss(calibration).loss <= 1 + 1e-9


@pytest.mark.parametrize(("secret", "words"), [
    (Hidden(lambda: (7,)), "the secret is about entry 7, and the belief has 4"),
    (Hidden(lambda: range(2, 5)), "the secret is about entry 4, and the belief has 4"),
    (Hidden(lambda: (-1,)), "a secret compares -1"), (Hidden(lambda: ("a",)), "a secret compares 'a'"),
    (Hidden(lambda: (1,), ((0, 5),)), "the secret compares value 5 of 2"),
    (Hidden(lambda: (1,), ((0, -1),)), "a secret compares -1"),
])  # fmt: skip
def test_a_secret_is_about_entries_and_values_that_there_are(secret: Hidden, words: str) -> None:
    with pytest.raises(InputError, match=words):
        noise_for(secret)


def test_a_function_of_32_bits_is_audited_by_its_value() -> None:
    """The audit read 0.33333334 where calibration read 0.3333333432674408, and looked for it in vain."""
    third = tf.NamedFunction("third of the first", 1, lambda values: np.float32(values[0]) / np.float32(3))
    people = tf.Records(tf.JointTable([(0,), (1,)], [0.5, 0.5], names=["a"]), 2)
    framework = tf.Pufferfish(tf.dataset_property("a", third), people)
    calibration = tf.calibrate(framework, tf.Sum("a"), 1, mechanism="wasserstein")
    assert 0 < tf.exact_loss(calibration).loss <= 1


def test_two_laws_near_the_smallest_floats_are_refused_in_words() -> None:
    """The grid of two answers 1e-320 apart was the logarithm of 0."""
    near = tf.distribution_pair(Pmf([0, 1e-320], [0.5, 0.5]), Pmf([0, 1e-320], [0.25, 0.75]))
    with pytest.raises(tf.errors.CalibrationRefused, match="does not apply"):
        tf.calibrate(near, tf.Identity(), 1, mechanism="wasserstein")


@pytest.mark.parametrize("size", [3.0, Fraction(3), "3", True, 0, None])
def test_a_size_is_a_whole_number(size: Any) -> None:
    """One of 3.0 was a TypeError of range()."""
    refused(r"Copies has the size .*: a size is a whole number from 1", size=size)


@pytest.mark.parametrize("other", [(0, 1, 2), (0,), (1, 0), (0, 100)])
def test_one_alphabet_is_that_of_each_entry(other: Any) -> None:
    """The second entry was read, hidden and added up as if its values were those of the first."""
    words = "Copies says that it has one alphabet, and entry 1 has another than entry 0"
    refused(words, alphabet=lambda entry: other if entry == 1 else (0, 1))


class Swapped(extending.AnySequence):
    """Three steps, the second of which has the values of the others in another order."""

    length, states, source = 3, (0, 1), "assumed"

    def with_length(self, length: int) -> "Swapped":
        return self

    def describe(self) -> str:
        return "swapped"

    def assumptions(self) -> tuple[Assumption, ...]:
        return ()

    def alphabet(self, entry: int) -> tuple[int, ...]:
        return (1, 0) if entry == 1 else (0, 1)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "swapped"}

    @staticmethod
    def from_dict(data: Any) -> "Swapped":
        return Swapped()


def test_one_alphabet_is_that_of_each_step_without_a_name() -> None:
    """A belief without names was believed, and each 1 of its second step was counted as a 0."""
    extending.register_belief("swapped", Swapped)
    with pytest.raises(InputError, match="Swapped says that it has one alphabet, and entry 1 has another than entry 0"):
        tf.Pufferfish(tf.every_entry(), Swapped())


class OneAlphabet(tf.JointTable):
    """A table of two alphabets that calls them one, and leaves all else to the package."""

    one_alphabet = True


class Halved(tf.JointTable):
    """A table in two parts, each of which is the whole table."""

    def components(self) -> tuple[range, ...]:
        return range(1), range(1, 2)


@pytest.mark.parametrize(("kind", "said"), [
    (OneAlphabet, "entry 1 has another than entry 0"), (Halved, "component 0 of Halved has other entries or values"),
])  # fmt: skip
def test_a_type_that_derives_from_one_of_the_package_is_asked_too(kind: Any, said: str) -> None:
    table = [(0, "a"), (1, "b")]
    extending.register_belief("derived", kind)
    with pytest.raises(InputError, match=said):
        tf.Pufferfish(tf.every_entry(), kind(table, [0.5, 0.5], names=["x", "y"]))


@pytest.mark.parametrize("changed", [
    {"alphabet": lambda entry: (1, 0)}, {"possible": lambda entry: (True, False)}, {"size": 2},
])  # fmt: skip
def test_a_component_has_the_values_of_its_entries(changed: dict[str, Any]) -> None:
    """What was impossible in a component alone was not hidden, and what it renamed was counted as another value."""
    piece = Copies()
    vars(piece).update(changed)
    refused("component 0 of Copies has other entries or values than entries 0 to 2", component=lambda number: piece)
