"""`tf.release`: what comes back, what the ledger sees, and that a refusal releases and spends nothing."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.failing import raising

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import BudgetExceeded, CompositionRefused, DataError, Fault, InputError, LedgerError
from takifugu.numbers.noise import InsecureSeededEntropyForTests

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100, states=["still", "walking"])
FRAMEWORK = tf.Pufferfish(tf.every_entry(), CHAIN)
DATA = ["still"] * 61 + ["walking"] * 39


def count(epsilon: float = 1.0, mechanism: str = "influence", query: Any = None) -> Any:
    return tf.calibrate(FRAMEWORK, query or tf.Count("walking"), epsilon, mechanism=mechanism)


class NoEntropy:
    """Randomness that fails when it is drawn: a crash between the reservation and the draw."""

    private = True
    bytes = staticmethod(raising(RuntimeError("the generator is gone")))


def test_a_count_is_a_number_with_an_interval_and_a_certificate(tmp_path: Path) -> None:
    noisy = tf.release(count(), DATA, entries="v", ledger=tmp_path / "ledger.db", source="study")
    assert isinstance(noisy.value, int)
    assert noisy.values == (Fraction(noisy.value),)
    low, high = noisy.interval(0.95)  # type: ignore[misc]
    assert low < noisy.value < high
    certificate = noisy.certificate
    assert (certificate.source, certificate.scope, certificate.units) == ("study", "all", ())
    assert certificate.private
    (paid,) = Ledger.open(tmp_path / "ledger.db").payments("study")
    assert (paid.fate, [*paid.ids.values()]) == ("published", [certificate.release_id])


def test_a_histogram_maps_cells_is_printed_and_becomes_a_frame() -> None:
    noisy = tf.release(count(query=tf.Histogram()), DATA)
    assert isinstance(noisy.value, dict)
    assert list(noisy.value) == ["still", "walking"]
    assert set(noisy.interval()) == {"still", "walking"}  # type: ignore[arg-type]
    low, high = noisy.interval(0.9)["still"]  # type: ignore[index, misc]
    assert high - low == 2 * noisy.randomiser.half_width(0.9)
    assert all(len(line) <= 80 for line in str(noisy).splitlines())
    assert "not sampling error" in " ".join(str(noisy).split())
    assert noisy._repr_html_().count("<tr>") == 3
    assert "61" not in repr(noisy.randomiser)
    for library in ("pandas", "polars", "pyarrow"):
        frame = noisy.to_frame(library)
        assert type(frame).__module__.split(".")[0] == library
        cells, values = (frame[c].to_pylist() if library == "pyarrow" else [*frame[c]] for c in ("cell", "value"))
        assert (cells, values) == (["still", "walking"], list(noisy.value.values()))
    with pytest.raises(InputError, match="did you mean 'polars'"):
        noisy.to_frame("polar")
    shares = tf.release(count(query=tf.Histogram(total=100)), DATA)
    assert all((v * 100).denominator == 1 for v in shares.values)
    assert json.loads(shares.to_json())["values"][0]["cell"] == "still"


def test_the_ledger_is_debited_before_anything_is_drawn(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    with pytest.raises(Fault, match=r"RuntimeError at failing.py:\d+.*paid, not drawn"):
        tf.release(count(), DATA, entries="v", ledger=where, source="study", budget=1.5, entropy=NoEntropy())
    book = Ledger.open(where)
    assert book.payments("study")[0].fate == "reserved"
    assert book.spent("study").epsilon >= 1
    with pytest.raises(BudgetExceeded, match=r"has epsilon 0\.5 left of"):
        tf.release(count(), ["still"] * len(DATA), entries="v", ledger=book, source="study")
    assert tf.release(count(), DATA, entries="v", ledger=book, source="study").completed is not None
    with pytest.raises(BudgetExceeded, match=r"has epsilon 0\.5 left of"):
        tf.release(count(), DATA, entries="v", ledger=book, source="study")


def test_refusals_spend_nothing_and_draw_nothing(tmp_path: Path) -> None:
    book = Ledger.open(tmp_path / "ledger.db")
    tf.release(count(mechanism="laplace-exact"), DATA, entries="v", ledger=book, source="study", budget=10)
    before = book.show()
    with pytest.raises(CompositionRefused, match="would begin after another release"):
        tf.release(count(), DATA, entries="v", ledger=book, source="study", entropy=NoEntropy(), begins_series=True)
    with pytest.raises(BudgetExceeded, match="would cost"):
        tf.release(count(20), DATA, entries="v", ledger=book, source="study", entropy=NoEntropy())
    with pytest.raises(LedgerError, match="budget"):
        tf.release(count(mechanism="group"), DATA,
            entries="v", ledger=book, source="study", budget=3, entropy=NoEntropy())  # fmt: skip
    for wrong in (["still", "SENTINEL"], ["still"] * 101):
        with pytest.raises(DataError):
            tf.release(count(mechanism="group"), wrong, entries="v", ledger=book, source="study", entropy=NoEntropy())
    assert book.show() == before


def test_arguments_are_checked() -> None:
    with pytest.raises(InputError, match="a budget needs a ledger"):
        tf.release(count(), DATA, budget=1)
    with pytest.raises(InputError, match="the person's name is ''"):
        tf.release(count(), DATA, unit="")


def test_equal_data_under_another_name_are_nobodys_business(tmp_path: Path) -> None:
    """A refusal would tell that two people's data are equal."""
    book = Ledger.open(tmp_path / "ledger.db")
    for source in ("study", "copy"):
        tf.release(count(), DATA, entries="v", ledger=tmp_path / f"{source}.db", source=source)
    for unit in ("ana", "bob"):
        tf.release(count(), DATA, entries="v", ledger=book, source="people", unit=unit)
    assert [row.spent.epsilon for row in book.show()] == [1]


def test_a_seed_marks_everything_not_private() -> None:
    noisy = tf.release(count(), DATA, entropy=InsecureSeededEntropyForTests(3))
    assert noisy.values == tf.release(count(), DATA, entropy=InsecureSeededEntropyForTests(3)).values
    assert not noisy.certificate.private
    for text in (noisy.certificate.text(), str(noisy), noisy._repr_html_()):
        assert "NOT PRIVATE" in text


@pytest.mark.parametrize("code", [4e306, 1e280, 1e-300])
def test_an_answer_that_no_certificate_holds_is_refused_before_it_is_paid_for(code: float, tmp_path: Path) -> None:
    """Little noise and a large answer: it was paid for, and the ledger could not be read any more."""
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 100))
    path, data = tmp_path / "ledger.db", [1] * 100
    query = tf.Sum(codes={0: 0, 1: code}, grid=None if code > 1 else code)
    if code > 1:
        with pytest.raises(tf.errors.CalibrationRefused, match="which no certificate holds"):
            tf.calibrate(framework, query, epsilon=20)
        for scale in (1, 1e280):
            with pytest.raises((tf.errors.CalibrationRefused, tf.errors.InputError)):
                tf.with_scale(framework, query, scale)
        return
    tf.release(tf.calibrate(framework, query, epsilon=20), data, entries="v", ledger=path, budget=50)
    assert Ledger.open(path).payments("data")[0].fate == "published"
    assert Ledger.open(path).check() == ()
