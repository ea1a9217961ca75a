"""What users' queries are resolved from and to: whichever is accepted has noise for what it adds to the answer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.registries import restored

import takifugu as tf
from takifugu import extending
from takifugu.core.errors import InputError
from takifugu.model.queries import resolved

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 3)
ONES = np.ones(3, dtype=np.int64)


@dataclass(frozen=True)
class Made(tf.Query):
    """A query of a user, whose answer is made by a function of the entries."""

    answer: Callable[[Any], Any]

    def resolve(self, entries: Any) -> Any:
        return self.answer(entries)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "made for a test"}

    @staticmethod
    def from_dict(data: Any) -> "Made":
        raise LookupError

    def describe(self) -> str:
        return "a query made for a test"


def added(table: Any, weights: Any = ONES, labels: Any = ("x",), table_of: Any = None, grid: Any = 1) -> Made:
    return Made(lambda entries: extending.Additive(grid, labels, (table,), weights, table_of))


def noise_for(query: Made, *beliefs: Any) -> Any:
    """Return the noise of `group-dp`, whose scale is how far the answer moves."""
    framework = tf.Pufferfish(tf.every_entry(), beliefs or (CHAIN,))
    return tf.calibrate(framework, query, 1, mechanism="group-dp", allow_zero_noise=True)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    with restored():
        extending.register_query("made for a test", Made)
        yield


@pytest.mark.mutants
@pytest.mark.parametrize(("kind", "rows"), [
    *((kind, [[-128, 0], [127, 0]]) for kind in (np.int8, np.int16, ">i2", np.int32, np.int64)),
    (np.int8, [[-128], [127]]), (np.int8, [[0, 100], [100, 0]]),
])  # fmt: skip
def test_narrow_words_have_the_noise_of_wide_ones(kind: Any, rows: list[list[int]]) -> None:
    """In 8 bits 127 - (-128) is -1: noise of scale 3 was added to answers 765 apart."""
    labels = ("x", "y")[: len(rows[0])]
    calibration = noise_for(added(np.array(rows, dtype=kind), labels=labels))
    assert calibration.scale == 3 * sum(abs(a - b) for a, b in zip(*rows, strict=True))
    assert tf.exact_loss(calibration).loss <= 1


@pytest.mark.parametrize("kind", [bool, np.uint8, np.uint64])
def test_words_without_a_sign_have_one(kind: Any) -> None:
    table = np.array([[0, 1], [1, 0]], dtype=kind)
    assert noise_for(added(table, labels=("x", "y"))).scale == 6
    assert noise_for(added(np.array([[0], [-1]]), ONES.astype(kind))).scale == 3


@pytest.mark.parametrize(("query", "words"), [
    (added(np.array([[0], [0.9]])), "tables is an array of float64 of the shape"),
    (added(np.array([[0], [np.nan]])), "tables is an array of float64"),
    (added(np.array([[0], [2**63]], dtype=np.uint64)), "tables is an array of uint64"),
    (added(np.array([[0], [Fraction(1, 2)]])), "tables is an array of object"),
    (added(np.array([0, 1])), "in the shape .any, 1.; round them"),
    (added(np.array([[0], [1]]), labels=("x", "y")), "in the shape .any, 2."),
    (added(np.array([[0], [1]]), np.full(3, 0.9)), "weights is an array of float64"),
    (added(np.array([[0], [1]]), np.ones((3, 1), dtype=int)), "weights is an array of int64 of the shape .3, 1."),
    (added(np.array([[0], [1]]), np.ones(4, dtype=int)), "an Additive with one weight per entry"),
    (added(np.array([[0], [1]]), table_of=np.array([0, 0])), "3 entries name 2 tables"),
    (added(np.array([[0], [1]]), table_of=np.array([0, 0, 1])), "names the tables 0 to 1 of 1"),
    (added(np.array([[0], [1]]), table_of=np.array([0, 0, -1])), "names the tables -1 to 0 of 1"),
    (added(np.array([[0]])), "has 1 rows, for entries of 2 values"),
    (added(np.array([[0], [1], [9]])), "has 3 rows, for entries of 2 values"),
    (added(np.array([[0, 1], [1, 0]]), labels=("x", "x")), "labels are different texts"),
    (added(np.array([[0, 1], [1, 0]]), labels=(1, 2)), "labels are different texts"),
    (added(np.array([[0], [1]]), grid=0), "the grid is 0: it must be above 0"),
    (Made(lambda entries: None), "Made.resolve returned None"),
])  # fmt: skip
def test_what_is_no_sum_is_refused(query: Made, words: str) -> None:
    with pytest.raises(InputError, match=words):
        noise_for(query)


def test_a_table_of_nobody_may_have_any_rows() -> None:
    unread = np.zeros(3, dtype=np.int64)
    assert noise_for(added(np.zeros((1, 1), dtype=np.int64), unread)).scale == 0


class Doubled(extending.Additive):
    """Says one thing by its tables, and another of the data."""

    def evaluate(self, values: Any) -> tuple[int, ...]:
        return tuple(2 * cell for cell in super().evaluate(values))


def test_a_type_that_may_evaluate_otherwise_is_refused() -> None:
    """Noise was made for what the tables say, and what the method says was published."""
    with pytest.raises(InputError, match="a query is resolved to an Additive"):
        noise_for(Made(lambda entries: Doubled(Fraction(1), ("x",), (np.array([[0], [1]]),), ONES)))


def rarity(entries: Any) -> extending.Additive:
    """The sum of how rare the states are, which is another one under each belief."""
    weights = np.full(3, round(1 / entries.marginal(0)[1]))
    return extending.Additive(Fraction(1), ("x",), (np.array([[0], [1]]),), weights)


def test_a_query_reads_nothing_of_what_is_believed() -> None:
    """The answer was that under the first belief, and the noise for the second one that of the second answer."""
    rare = tf.MarkovChain([[0.99, 0.01], [0.99, 0.01]], 3)
    sticky = tf.MarkovChain([[0.99, 0.01], [0.01, 0.99]], 3)
    for beliefs in ((rare, sticky), (sticky, rare), (rare,)):
        with pytest.raises(InputError, match=r"Made.resolve reads 'marginal' of a belief: its answer must be the same"):
            noise_for(Made(rarity), *beliefs)


@pytest.mark.parametrize("belief", [
    CHAIN,
    tf.JointTable([("a", 0), ("b", 1)], [0.5, 0.5], names=["x", "y"]),
    tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 2, presence=0.5, absence="removed", names=["ann", "bob"]),
])  # fmt: skip
def test_it_reads_the_entries_as_they_are(belief: Any) -> None:
    seen: dict[str, Any] = {}

    def look(entries: Any) -> extending.Additive:
        seen["values"] = [entries.alphabet(entry) for entry in range(entries.size)]
        seen["names"] = entries.names
        return tf.Count(1).resolve(entries)

    answer = resolved(Made(look), belief)
    assert answer.key == resolved(tf.Count(1), belief).key
    assert seen == {"values": [belief.alphabet(entry) for entry in range(belief.size)], "names": belief.names}


def test_beliefs_are_about_as_many_records() -> None:
    """Data of 5 records had the noise that one record needs under the second belief."""
    prior = tf.JointTable([("few",), ("many",)], [0.5, 0.5], names=["ill"])

    def town(records: int, chance: str) -> tf.Parameters:
        chances = {"few": {1: "1/2", 0: "1/2"}, "many": {1: chance, 0: str(1 - Fraction(chance))}}
        return tf.Parameters(prior, {"ill": chances}, records)

    with pytest.raises(InputError, match="the beliefs are about 5 and 1 records"):
        tf.Pufferfish(tf.distribution_parameter("ill"), [town(5, "1/2"), town(1, "9/10")])
    tf.Pufferfish(tf.distribution_parameter("ill"), [town(5, "1/2"), town(5, "9/10")])


@dataclass(frozen=True)
class Unreadable(Made):
    """A query that cannot be read back."""

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "unreadable"}

    @staticmethod
    def from_dict(data: Any) -> "Unreadable":
        raise RuntimeError


def test_a_query_that_is_not_read_back_is_its_own_key() -> None:
    """What its `from_dict` raised came out of the calibration."""
    extending.register_query("unreadable", Unreadable)
    assert noise_for(Unreadable(tf.Count(1).resolve)).scale == 3


@pytest.mark.parametrize("answers", [[1, 100], [1, None]])
def test_a_query_answers_alike_whenever_it_is_asked(answers: list[Any]) -> None:
    """Noise of scale 3 was made for one answer, and another one published."""
    weights = iter(answers)

    def answer(entries: Any) -> Any:
        weight = next(weights)
        return weight and extending.Additive(Fraction(1), ("x",), (np.array([[0], [1]]),), weight * ONES)

    with pytest.raises(InputError, match=r"Made.resolve returned (two different answers|None)"):
        noise_for(Made(answer))


@dataclass(frozen=True)
class OverRows(Made):
    """A query of a user over records."""

    def over_records(self, entries: Any) -> Any:
        return self.answer(entries)


def test_a_query_over_records_reads_the_entries_only() -> None:
    people = tf.Records(tf.JointTable([(0,), (1,)], [0.9, 0.1], names=["ill"]), 3)
    with pytest.raises(InputError, match=r"OverRows.over_records reads 'table' of a belief"):
        people.resolve(OverRows(lambda entries: entries.table))
    assert people.resolve(OverRows(lambda entries: entries.resolve(tf.Sum("ill")))).size == 3
