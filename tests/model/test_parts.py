"""Parts of beliefs, secrets, policies and queries by small examples, each of which a reader can check by hand."""

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.core.sections import Key
from takifugu.data.times.calendar import Calendar
from takifugu.model.beliefs.alike import alike
from takifugu.model.beliefs.chains.chain import steady_chain
from takifugu.model.beliefs.chains.interval_chain import largest_means
from takifugu.model.beliefs.chains.matrices_by import cells_of, period_of
from takifugu.model.beliefs.chains.stays import _together, matrix_of
from takifugu.model.beliefs.counted_populations import Sample, covering, samples_of, spread
from takifugu.model.beliefs.estimate import count_transitions, interval, intervals, mixture_interval
from takifugu.model.beliefs.networks.elimination import elimination_order, plan
from takifugu.model.beliefs.one_sequence import supports_from
from takifugu.model.beliefs.population_region import WHOLE, Region, tree_of
from takifugu.model.beliefs.records.normal_fit import normality, region_of, scatter_of
from takifugu.model.beliefs.records.possible_sums import Steps
from takifugu.model.beliefs.sections import section_of
from takifugu.model.beliefs.states import as_law, first_few
from takifugu.model.beliefs.stochastic import law_after, wide_stationary_law
from takifugu.model.policies.boxes import Boxes
from takifugu.model.policies.places import Set
from takifugu.model.policies.predicates import Checked, EachOf, NoneOf
from takifugu.model.queries.coding import implied_grid
from takifugu.model.queries.resolving.columns import Record, over_columns
from takifugu.model.queries.resolving.real_columns import readable_grid
from takifugu.model.queries.resolving.summing import resolved
from takifugu.model.queries.tables.together import joined, unlike
from takifugu.model.secrets import compares_some
from takifugu.model.secrets.declared_properties import dataset_property
from takifugu.model.secrets.hypotheses import Comparison, EntryIs, RunIs
from takifugu.model.secrets.of_entries import every_entry
from takifugu.model.secrets.value_sets import Between, Intervals, near, near_in_any_order
from takifugu.numbers.extended.floats import Wide
from takifugu.numbers.rationals import root_up

F = Fraction
COIN = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=3)
BAR, BOTH, SHOP = frozenset({"bar"}), frozenset({"bar", "shop"}), frozenset({"shop"})


@dataclass(frozen=True)
class Coins:
    length: int
    heads: Annotated[float, Key("how often it is heads", 0.5)]


def test_a_section_is_made_of_the_fields_with_a_key() -> None:
    assert section_of(Coins, "coins")(kind="coins", heads=0.4).belief(None) == Coins(1, 0.4)  # type: ignore[call-arg]


def test_intervals_of_probabilities() -> None:
    assert [round(end, 4) for end in mixture_interval(90, 100, 0.005)] == [0.7428, 0.9785]
    assert [round(end, 4) for end in interval(0, 100, 0.01)] == [0, 0.0516]
    assert interval(0, 0, 0.01) == (0, 1)
    assert [[round(end, 3) for end in ends] for ends in intervals([30, 70], 0.95)] == [[0.202, 0.414], [0.586, 0.798]]
    states, counts = count_transitions([["a", "a", "b"], ["b", "a"]])
    assert states == ("a", "b")
    assert counts.tolist() == [[1, 1], [1, 0]]


@pytest.mark.parametrize(("rows", "people"), [
    ([("m", 0), ("m", -1)], None),
    ([("m", 2)], None),
    ([("m", 0.5)], None),
    ([("m",)], None),
    ([np.array(0)], None),
    ([([], 0)], None),
    ([("m", 0)], ["p", "q"]),
])  # fmt: skip
def test_rows_that_number_no_value_are_no_sample(rows: Any, people: Any) -> None:
    """The number -1 once counted as the last value."""
    with pytest.raises(InputError):
        samples_of(rows, 2, people)



def test_counted_populations() -> None:
    assert samples_of([("m", 0), ("m", 1), ("m", 1)], 2, ["p", "p", "q"])["m"] == Sample((F(1, 2), F(3, 2)), 2, True)
    found = covering(samples_of([("m", 0)] * 90 + [("m", 1)] * 10 + [("f", 0)], 2), ["a", "b"], 0.99)
    assert [round(float(found.by_name[name].largest([0, 1])[0]), 3) for name in ("m", "f")] == [0.222, 0.999]
    assert spread(["m", "f"], ["a", "b", "c"], "1/2").by_name["m"].largest([3, 2, 1]) == [F(5, 2)]
    assert [block.values for block in tree_of([1, 2, 3]).all] == [(0, 1, 2), (0, 1), (0,), (1,), (2,)]
    region = Region(tree_of(["a", "b", "c"]), (WHOLE, 0, 0, 0), (WHOLE, WHOLE // 4, WHOLE // 2, WHOLE))
    assert region.largest([3, 2, 1]) == [2]
    assert not Region(tree_of(["a", "b"]), (WHOLE, 0, 0), (WHOLE, WHOLE // 4, WHOLE)).contains([F(1, 2)] * 2)


def test_normal_columns() -> None:
    ends = region_of(scatter_of({"x": [1, 2, 3, 4], "y": [1, 3, 2, 4]}, None), 0.95)
    assert [round(float(end), 2) for end in ends.slopes[0][1]] == [-3.82, 5.42]
    assert scatter_of({"x": [0.1, 0.2, 0.3]}, None).products == ((F(1, 50),),)
    assert [(name, round(chance, 2)) for name, *_, chance in normality({"x": [1, 2, 3, 4, 10]})] == [("'x'", 0.58)]
    assert (readable_grid(0.57), readable_grid(25.0)) == (F(1, 10000), F(1, 100))


def test_stationary_distributions_beyond_floats() -> None:
    matrix = np.array([[1, 1e-200, 0], [0.5, 0.5, 1e-200], [0.5, 0, 0.5]])
    assert wide_stationary_law(matrix).logs.round().tolist() == [0, -460, -920]
    assert law_after(Wide.of([1e-200, 1]), np.array([[1e-200, 1], [0, 1]])).logs.round(1).tolist() == [-921, 0]


def test_chains() -> None:
    assert steady_chain(tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10, initial="any")) is None
    assert supports_from(np.array([True, False]), [np.array([[False, True], [True, False]])]).at(7).tolist() == [0, 1]
    low, high = np.array([[0.5, 0.25], [0.25, 0.5]]), np.array([[0.75, 0.5], [0.5, 0.75]])
    assert largest_means(low, high, np.eye(2)).tolist() == [[0.75, 0.5], [0.5, 0.75]]
    pieces = tf.IndependentPieces(tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=9), [2, 3, 2, 2])
    assert [(one.number, one.count) for one in alike(pieces, tf.Count(1).resolve(pieces))] == [(0, 3), (1, 1)]
    rows = matrix_of(("still", "walking"), {"still": "10 min", "walking": 4}, {}, timedelta(minutes=1))
    assert rows == [[0.9, 0.1], [0.25, 0.75]]


def test_cells_of_a_period() -> None:
    hours = period_of("hour", Calendar.read("2026-01-05T22:00", None, timedelta(minutes=30)))
    assert (len(hours.cells), hours.cells[:5], hours.start) == (48, (0, 0, 1, 1, 2), 44)
    assert cells_of("22-01", "hour") == (22, 23, 0, 1)
    assert cells_of("Mon-Wed, sunday", "weekday") == (0, 1, 2, 6)


def test_elimination() -> None:
    scopes, sizes = [(0,), (0, 1), (1, 2)], {0: 2, 1: 3, 2: 4}
    assert elimination_order(scopes, sizes) == [0, 1, 2]
    assert plan(scopes, sizes, keep=[2]).order == (0, 1)


def test_words_of_lists() -> None:
    assert first_few(["a", "b"]) == "'a', 'b'"
    assert first_few("abcdefgh", " or ").endswith("'e' or 'f', ...")
    assert _together(["a"]) == "'a'"
    assert _together(["a", "b", "c"]) == "'a', 'b' and 'c'"
    assert _together([f"s{number}" for number in range(33)]) == "'s0', 's1', 's2' and 30 more"
    assert unlike(["mean", "sum", "mean"]) == ("mean", "sum", "mean 2")


def test_numbers_of_beliefs() -> None:
    assert as_law({"a": F(1, 3), "b": F(2, 3)}, "the table") == {"a": F(1, 3), "b": F(2, 3)}
    assert Steps(F(1), F(1, 2), 3)[2] == 2
    assert len(Steps(0, 2, 10**6)) == 10**6
    assert Steps(0, 2, 5).index(4) == 2
    assert implied_grid([0, 0.5, 1.25]) == F(1, 4)
    assert implied_grid([0, 50]) == 50
    assert root_up(4) == 2
    assert float(root_up(2)) > 2**0.5


def test_answers() -> None:
    assert resolved(tf.Count(1), COIN) is resolved(tf.Count(1), COIN)
    answer = over_columns(tf.Count(1, entries=["a"]), Record(("a", "b"), ((0, 1), (0, 1))), 10, (0, 1), 2)
    assert [answer.change(entries) for entries in ([0], [1], [0, 1])] == [10, 0, 10]
    both = joined([tf.Count(1).resolve(COIN), tf.Mean(entries=[0, 1]).resolve(COIN)])
    assert (both.labels, both.grid, both.evaluate(np.array([1, 0, 1]))) == (("count", "mean"), F(1, 2), (4, 1))


def test_predicates_and_places() -> None:
    assert EachOf(None).allows(BOTH, SHOP)
    assert not EachOf(None).allows(BAR, SHOP)
    assert NoneOf(("ill",))("well")
    assert not NoneOf(("bar",))(BOTH)
    assert not Checked("is-even", 1, lambda record: record % 2 == 0)(3)  # type: ignore[operator]
    assert (repr(Set(["bar"])), repr(Set())) == ("'bar'", "nowhere")


def test_boxes() -> None:
    town = Boxes.of((0, 10), (0, 4), columns=5, rows=2)
    assert (town.place(F(10), F(1)), town.place(F(11), F(1)), len(town.names())) == ("r0c4", None, 10)
    assert town.box("r1c4") == (8, 2, 10, 4)
    assert Boxes.of((0, 3), (0, 1), columns=3, rows=1).from_outside() == ("r0c0", "r0c2", "r0c1")
    assert Boxes.of((0, 1), (0, 4), columns=4, rows=2).edges() == ((0, 0.25, 0.5, 0.75, 1), (0, 2, 4))


def test_sets_of_values() -> None:
    tails = Intervals((Between(None, F(20)), Between(F(80), None)))
    assert tails.describe() == "below 20 or at least 80"
    assert not tails.holds(F(50))
    assert Between(F(1), F(2)).describe() == "from 1 to below 2"
    assert near([F(0), F(1), F(3)], F(2)) == ((0, 1), (1, 2))
    assert near_in_any_order([F(3), F(0), F(1)], F(2)) == ((0, 2), (1, 2))


@pytest.mark.parametrize(("most", "some"), [(None, False), (5, True)])
def test_a_largest_difference_leaves_values_uncompared(most: int | None, some: bool) -> None:
    assert compares_some(every_entry("age", max_difference=most).to_dict()) is some


def test_hypotheses_in_words() -> None:
    assert Comparison(None, EntryIs(1, "ill"), EntryIs(1, "well")).label == "row 1 = 'ill' against row 1 = 'well'"
    assert EntryIs(3, "ill", "'flu'", " (started in 0)").describe() == "'flu' = 'ill' (started in 0)"
    assert RunIs(3, ("ill", "ill", "well")).describe() == "rows 3 to 5 = 2 x 'ill', 'well'"
    assert dataset_property("race", "share", of="Black").what == "the share of 'Black' in 'race'"
