"""Releases that hide properties of whole columns, on one ledger: together, and beside releases of other definitions."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Ledger
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.errors import BudgetExceeded, CompositionRefused, TakifuguError

TABLE = tf.JointTable([("a", 0), ("a", 1), ("b", 0), ("b", 1)], [0.4, 0.2, 0.1, 0.3], names=["group", "ill"])
PEOPLE = tf.Records(TABLE, 12)
ROWS = [("a", 0), ("a", 1), ("b", 1)] * 4
SHARE = tf.dataset_property("group", "share", of="b")
HIDDEN = tf.Pufferfish(SHARE, PEOPLE)
ILL = tf.Count(1, entries=["ill"])

PRIOR = tf.JointTable(
    [("low", "short", "bad"), ("low", "tall", "good"), ("high", "tall", "good"), ("high", "short", "good")],
    [0.4, 0.1, 0.4, 0.1],
    names=["income", "height", "marks"],
)
POPULATION = tf.Parameters(
    PRIOR,
    {
        "height": {"short": {0: "0.7", 1: "0.3"}, "tall": {0: "0.4", 1: "0.6"}},
        "marks": {"bad": {1: "0.2", 2: "0.8"}, "good": {1: "0.5", 2: "0.5"}},
    },
    records=12,
)
PUPILS = [(0, 1), (1, 2), (1, 1)] * 4
GOVERNED = tf.Pufferfish(tf.distribution_parameter("height"), POPULATION)

BODIES = tf.MultivariateNormal([70, 40], [[144, 60], [60, 100]], names=["weight", "income"], records=12)
MASSES = [(60 + i, 30 + 2 * i) for i in range(12)]
INCOME = tf.Pufferfish(tf.dataset_property("income", "mean", max_difference=2), BODIES)


def made(framework: Any, query: Any, mechanism: str, epsilon: Any = 1, **options: Any) -> Any:
    return tf.calibrate(framework, query, epsilon=epsilon, mechanism=mechanism, only_release=True, **options)


def whole() -> Any:
    return made(HIDDEN, ILL, "group")


def single() -> Any:
    return made(HIDDEN, ILL, "wasserstein")


def normal() -> Any:
    return made(INCOME, tf.Mean("weight"), "attribute-gaussian-exact", delta=1e-5)


def quilt() -> Any:
    return made(GOVERNED, tf.Count(1, entries=["height"]), "attribute-quilt", 2)


@pytest.fixture
def book(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.db")


def spent(book: str, source: str = "people") -> Fraction:
    return Ledger.open(book).spent(source).spent.epsilon


def test_whole_promises_add_up(book: str) -> None:
    account: dict[str, Any] = {"entries": "v", "ledger": book, "source": "people", "budget": 2}
    for times in (1, 2):
        tf.release(whole(), ROWS, **account)
        assert spent(book) == times
    with pytest.raises(BudgetExceeded):
        tf.release(whole(), ROWS, **account)
    assert spent(book) == 2


@pytest.mark.parametrize(("first", "rows"), [(single, ROWS), (normal, MASSES)])
@pytest.mark.parametrize("again", [single, normal])
def test_single_promises_stand_alone(book: str, first: Callable[[], Any], rows: Any, again: Callable[[], Any]) -> None:
    tf.release(first(), rows, entries="v", ledger=book, source="people", budget=(3, "1e-3"))
    before = Ledger.open(book).spent("people").spent
    with pytest.raises(BudgetExceeded if first is again is single else CompositionRefused):
        tf.release(again(), ROWS if again is single else MASSES,
            entries="v", ledger=book, source="people", budget=(3, "1e-3"))  # fmt: skip
    assert Ledger.open(book).spent("people").spent == before


def test_a_single_promise_composes_with_noise_for_every_change_of_the_same_records(book: str) -> None:
    assert tf.compose([single(), whole()]).epsilon == 2
    by_noise = 12 / single().randomiser.laplace_scale
    assert tf.compose([single(), single()]).epsilon == 1 + by_noise
    for calibration in (single(), whole()):  # about other records, of other people, it may be
        tf.release(calibration, ROWS, entries="v", ledger=book, source="people", budget=9)
    assert spent(book) == 1 + by_noise


def test_a_second_promise_about_single_records_counts_by_the_noise_of_both(book: str) -> None:
    column = made(tf.Pufferfish(tf.every_entry("group"), PEOPLE), ILL, "wasserstein")
    tf.release(column, ROWS, entries="v", ledger=book, source="people", budget=9)
    for mechanism in ("wasserstein", "group"):  # by noise, since other records may be meant
        with pytest.raises(BudgetExceeded, match="would cost"):
            tf.release(made(column.framework, ILL, mechanism), ROWS,
                entries="v", ledger=book, source="people", budget=9)  # fmt: skip
    assert spent(book) == 1
    for mechanism in ("wasserstein", "group"):  # one about a parameter travels to other records of the population
        promised = made(GOVERNED, tf.Count(1, entries=["height"]), mechanism)
        tf.release(promised, PUPILS, entries="v", ledger=book, source="pupils", budget=9, same_people=False)
    assert spent(book, "pupils") == 2


def test_quilts_of_parameters_cost_one_influence_and_each_change_over_its_scale(book: str) -> None:
    calibrations = [quilt(), made(GOVERNED, tf.Count(2, entries=["marks"]), "attribute-quilt", 2)]
    together = tf.compose(calibrations)
    assert together.covers is Covers.ENTRIES
    assert together.epsilon <= sum(calibration.epsilon for calibration in calibrations)
    changes = [Fraction(12) / calibration.randomiser.laplace_scale for calibration in calibrations]
    assert together.epsilon <= sum(changes)  # the trivial quilt
    for calibration in calibrations:
        tf.release(calibration, PUPILS, entries="v", ledger=book, source="pupils", budget=9, same_people=False)
    assert spent(book, "pupils") == together.epsilon


@pytest.mark.parametrize(("first", "rows"), [
    (whole, ROWS), (lambda: made(GOVERNED, tf.Count(1, entries=["height"]), "group"), PUPILS), (single, ROWS),
])  # fmt: skip
def test_another_definition_inherits_the_history_at_the_cost_of_a_change_of_all_data(
    book: str, first: Callable[[], Any], rows: Any
) -> None:
    cost = 2 if first is not single else 1 + max(Fraction(1), Fraction(12) / single().randomiser.laplace_scale)
    assert {first().framework.definition, record().framework.definition} == {"attribute", "pufferfish"}
    for calibration, data in ((first(), rows), (record(), ROWS)):
        tf.release(calibration, data, entries="v", ledger=book, source="people", budget=99)
    assert spent(book) == cost
    assert rows is PUPILS or tf.compose([first(), record()]).epsilon == cost


def record() -> Any:
    """A release that hides the value in each record, whatever the others are: another definition."""
    return made(tf.Pufferfish(tf.every_entry("ill"), PEOPLE), tf.Count("a", entries=["group"]), "group")


def test_what_another_definition_cannot_bound_is_refused(book: str) -> None:
    account: dict[str, Any] = {"entries": "v", "ledger": book, "source": "people", "budget": (9, "1e-3")}
    tf.release(normal(), MASSES, **account)
    before = Ledger.open(book).spent("people").spent
    for ask in (lambda: tf.release(record(), ROWS, **account), lambda: tf.compose([normal(), record()])):
        with pytest.raises(CompositionRefused, match="no cost for a change of the whole data"):
            ask()
    assert Ledger.open(book).spent("people").spent == before


def test_numbers_without_a_range_have_no_change(book: str) -> None:
    charge = charge_of(normal())
    assert (charge.change, charge.entry_change, charge.scale) == (None, None, None)
    assert Charge.from_dict(charge.to_dict()) == charge
    ranged = tf.MultivariateNormal(
        [70, 40], [[144, 60], [60, 100]], ["weight", "income"], 12, ranges={"weight": (20, 200), "income": (0, 99)}
    )
    framework = tf.Pufferfish(tf.dataset_property("income", "mean", max_difference=2), ranged)
    options = {"delta": 1e-5, "allow_zero_noise": True}
    bounded = charge_of(made(framework, tf.Mean("weight"), "attribute-gaussian-exact", **options))
    assert bounded.change is not None
    assert bounded.change >= 180
    with pytest.raises(CompositionRefused, match="nothing bounds how far"):
        tf.compose([made(INCOME, tf.Mean("weight"), "laplace-exact")] * 2)


def test_single_records_of_a_unit(book: str) -> None:
    for framework, rows, query in ((tf.every_entry("group"), ROWS, ILL), (SHARE, ROWS, ILL)):
        hidden = tf.Pufferfish(framework, PEOPLE)
        published = tf.release(made(hidden, query, "group"), rows,
            entries="v", ledger=book, source="towns", unit="A", budget=9)  # fmt: skip
        assert published.certificate.units == ("A",)
    column = tf.Pufferfish(tf.every_entry("income", max_difference=9), BODIES)
    calibration = made(column, tf.Mean("weight"), "attribute-gaussian-exact", delta=1e-5, allow_zero_noise=True)
    account = {"source": "bodies", "unit": "B", "budget": (9, "0.1"), "same_people": False}
    published = tf.release(calibration, MASSES, entries="v", ledger=book, **account)  # type: ignore[arg-type]
    assert published.certificate.units == ("B",)


def test_the_same_people_in_another_source(book: str) -> None:
    town: dict[str, Any] = {"entries": "v", "ledger": book, "unit": "town", "same_people": True}
    for source in ("one", "other"):
        tf.release(whole(), ROWS, **town, source=source, budget=9)
    assert spent(book, "other") == 2
    with pytest.raises(TakifuguError, match="no cost for a change of the whole data"):
        tf.release(normal(), MASSES, **town, source="third", budget=(9, "0.1"))


def test_one_framework_is_of_one_definition() -> None:
    with pytest.raises(TakifuguError, match="entries and properties of whole columns"):
        tf.Pufferfish([SHARE, tf.every_entry("ill")], PEOPLE)
