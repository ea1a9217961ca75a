"""`tf.release`: what comes back, what the ledger sees, and that a refusal releases and spends nothing."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

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

    def bytes(self, n: int) -> bytes:
        raise RuntimeError("the generator is gone")


def test_a_count_is_a_number_with_an_interval_and_a_certificate(tmp_path: Path) -> None:
    noisy = tf.release(count(), DATA, ledger=tmp_path / "ledger.db", source="study")
    assert isinstance(noisy.value, int)
    assert noisy.values == (Fraction(noisy.value),)
    low, high = noisy.interval(0.95)  # type: ignore[misc]
    assert low < noisy.value < high
    certificate = noisy.certificate
    assert (certificate.source, certificate.scope, certificate.units) == ("study", "all", ())
    assert certificate.private
    entry = Ledger.open(tmp_path / "ledger.db").history("study")[0]
    assert (entry.state, entry.id) == ("published", certificate.release_id)


def test_a_histogram_maps_cells_and_becomes_a_frame() -> None:
    noisy = tf.release(count(query=tf.Histogram()), DATA)
    assert isinstance(noisy.value, dict)
    assert list(noisy.value) == ["still", "walking"]
    assert set(noisy.interval()) == {"still", "walking"}  # type: ignore[arg-type]
    for library in ("pandas", "polars", "pyarrow"):
        frame = noisy.to_frame(library)
        assert type(frame).__module__.split(".")[0] == library
        columns = {
            c: list(frame[c].to_pylist() if library == "pyarrow" else frame[c]) for c in ("cell", "value", "low")
        }
        assert columns["cell"] == ["still", "walking"]
        assert columns["value"] == list(noisy.value.values())
    with pytest.raises(InputError, match="did you mean 'polars'"):
        noisy.to_frame("polar")


def test_relative_frequencies_are_multiples_of_the_grid() -> None:
    noisy = tf.release(count(query=tf.Histogram(total=100)), DATA)
    assert all((v * 100).denominator == 1 for v in noisy.values)
    assert json.loads(noisy.to_json())["values"][0]["cell"] == "still"


def test_what_is_printed_fits_and_reads(tmp_path: Path) -> None:
    noisy = tf.release(count(query=tf.Histogram()), DATA)
    assert all(len(line) <= 80 for line in str(noisy).splitlines())
    assert "not sampling error" in " ".join(str(noisy).split())
    assert noisy._repr_html_().count("<tr>") == 3
    assert "61" not in repr(noisy.randomiser)


def test_short_sequences_fit_quilts_and_not_output_laws() -> None:
    assert isinstance(tf.release(count(), DATA[:40]).value, int)
    with pytest.raises(DataError, match="calibrate at the actual length"):
        tf.release(count(mechanism="wasserstein"), DATA[:40])


def test_the_ledger_is_debited_before_anything_is_drawn(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    with pytest.raises(Fault, match=r"RuntimeError at test_release.py:\d+.*paid, not drawn"):
        tf.release(count(), DATA, ledger=where, source="study", budget=1.5, entropy=NoEntropy())
    book = Ledger.open(where)
    assert book.history("study")[0].state == "reserved"
    assert book.spent("study").spent.epsilon >= 1
    with pytest.raises(BudgetExceeded, match=r"has spent epsilon 1[, ]"):
        tf.release(count(), ["still"] * len(DATA), ledger=book, source="study")
    assert tf.release(count(), DATA, ledger=book, source="study").completed is not None
    with pytest.raises(BudgetExceeded, match=r"has spent epsilon 1[, ]"):
        tf.release(count(), DATA, ledger=book, source="study")


@pytest.mark.parametrize("data", [[], ["still"] * 101, ["still", "SENTINEL"], "SENTINEL", None])
def test_bad_data_leave_no_trace(tmp_path: Path, data: Any) -> None:
    where = tmp_path / "ledger.db"
    with pytest.raises(DataError) as caught:
        tf.release(count(), data, ledger=where, entropy=NoEntropy())
    assert "SENTINEL" not in str(caught.value)
    assert not where.exists()


def test_refusals_spend_nothing_and_draw_nothing(tmp_path: Path) -> None:
    book = Ledger.open(tmp_path / "ledger.db")
    tf.release(count(mechanism="laplace-exact"), DATA, ledger=book, source="study", budget=10)
    before = book.show()
    with pytest.raises(CompositionRefused, match="would begin after another release"):
        tf.release(count(), DATA, ledger=book, source="study", entropy=NoEntropy(), begins_series=True)
    with pytest.raises(BudgetExceeded, match="spent"):
        tf.release(count(20), DATA, ledger=book, source="study", entropy=NoEntropy())
    with pytest.raises(LedgerError, match="budget"):
        tf.release(count(mechanism="group"), DATA, ledger=book, source="study", budget=3, entropy=NoEntropy())
    assert book.show() == before


def test_ledgers_that_cannot_be_used(tmp_path: Path) -> None:
    for name, content in (
        ("truncated.db", b"SQLite format 3\0" + b"\0" * 100),
        ("empty.db", b""),
        ("text.db", b"x" * 999),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(LedgerError):
            tf.release(count(), DATA, ledger=tmp_path / name, entropy=NoEntropy())
        assert (tmp_path / name).read_bytes() == content
    with pytest.raises(LedgerError):
        tf.release(count(), DATA, ledger=tmp_path, entropy=NoEntropy())
    where = tmp_path / "locked.db"
    book = Ledger.open(where, timeout=0.1)
    other = sqlite3.connect(where, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError):
        tf.release(count(), DATA, ledger=book, entropy=NoEntropy())
    other.close()
    assert book.show() == ()


def test_arguments_are_checked() -> None:
    with pytest.raises(InputError, match="a budget needs a ledger"):
        tf.release(count(), DATA, budget=1)
    with pytest.raises(InputError, match="the person's name is ''"):
        tf.release(count(), DATA, unit="")


def test_units_are_accounted_apart(tmp_path: Path) -> None:
    book = Ledger.open(tmp_path / "ledger.db")
    for unit in ("Ana", "Ben"):
        noisy = tf.release(count(), DATA, ledger=book, source="study", unit=unit, budget=1)
        assert (noisy.certificate.scope, noisy.certificate.units) == ("unit", (unit,))
    assert book.spent("study").spent.epsilon == 1
    with pytest.raises(BudgetExceeded):
        tf.release(count(), DATA, ledger=book, source="study", unit="Ana")


def test_equal_data_under_another_name_are_nobodys_business(tmp_path: Path) -> None:
    """A refusal would tell that two people's data are equal (U11, L1)."""
    book = Ledger.open(tmp_path / "ledger.db")
    for source in ("study", "copy"):
        tf.release(count(), DATA, ledger=book, source=source)
    for unit in ("ana", "bob"):
        tf.release(count(), DATA, ledger=book, source="people", unit=unit)
    assert [row.spent.epsilon for row in book.show()] == [1, 1, 1]


def test_a_seed_marks_everything_not_private() -> None:
    noisy = tf.release(count(), DATA, entropy=InsecureSeededEntropyForTests(3))
    again = tf.release(count(), DATA, entropy=InsecureSeededEntropyForTests(3))
    assert noisy.values == again.values
    assert not noisy.certificate.private
    assert "NOT PRIVATE" in noisy.certificate.text()
    assert "NOT PRIVATE" in str(noisy)
    assert "NOT PRIVATE" in noisy._repr_html_()


def test_pieces_records_and_two_laws() -> None:
    pieces = tf.IndependentPieces(CHAIN, (30, 12))
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), pieces), tf.Histogram(), 1)
    assert set(tf.release(calibration, [DATA[:30], DATA[-12:]]).value) == {"still", "walking"}  # type: ignore[arg-type]
    bits = tf.JointTable([(0, 0), (0, 1), (1, 1)], [0.5, 0.25, 0.25], names=["sick", "test"])
    hidden = tf.Pufferfish(tf.attribute("sick", 0, 1), bits)
    record = tf.calibrate(hidden, tf.Identity("test"), 1, mechanism="group")
    assert isinstance(tf.release(record, {"sick": 0, "test": 1}).value, int)
    pair = tf.calibrate(tf.between(tf.Pmf([0, 1], [0.5, 0.5]), tf.Pmf([2], [1])), tf.Identity(), 1)
    assert isinstance(tf.release(pair, 2).value, int)


def test_intervals_cover_all_cells_at_once_at_the_stated_rate() -> None:
    calibration = count(query=tf.Histogram(), mechanism="group", epsilon=20)
    entropy = InsecureSeededEntropyForTests(11)
    runs, inside = 2000, 0
    for _ in range(runs):
        noise = calibration.randomiser.draw((61, 39), entropy)
        half = calibration.randomiser.half_width(0.9)
        inside += all(abs(v - t) <= half for v, t in zip(noise, (61, 39), strict=True))
    noisy = tf.release(calibration, DATA)
    low, high = noisy.interval(0.9)["still"]  # type: ignore[index, misc]
    assert high - low == 2 * half
    assert 0.9 - 0.03 < inside / runs < 0.97
