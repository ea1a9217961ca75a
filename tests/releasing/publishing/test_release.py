"""`tf.release`: what comes back, what the ledger sees, and that a refusal releases and spends nothing."""

import json
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.answers import true_answer
from tests.support.failing import raising

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Ledger
from takifugu.calibration import Calibration
from takifugu.core.errors import BudgetExceeded, CompositionRefused, DataError, Fault, InputError, LedgerError
from takifugu.numbers import Pmf
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.planning import truth

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


def test_short_sequences_fit_quilts_and_not_output_laws() -> None:
    assert isinstance(tf.release(count(), DATA[:40]).value, int)
    with pytest.raises(DataError, match="calibrate at the actual length"):
        tf.release(count(mechanism="wasserstein"), DATA[:40])


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
        tf.release(count(mechanism="group-dp"), DATA,
            entries="v", ledger=book, source="study", budget=3, entropy=NoEntropy())  # fmt: skip
    assert book.show() == before


def test_ledgers_that_cannot_be_used(tmp_path: Path) -> None:
    broken = {"truncated.db": b"SQLite format 3\0" + b"\0" * 100, "empty.db": b"", "text.db": b"x" * 999}
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(LedgerError):
            tf.release(count(), DATA, entries="v", ledger=tmp_path / name, entropy=NoEntropy())
        assert (tmp_path / name).read_bytes() == content
    with pytest.raises(LedgerError):
        tf.release(count(), DATA, entries="v", ledger=tmp_path, entropy=NoEntropy())
    where = tmp_path / "locked.db"
    book = Ledger.open(where, timeout=0.1)
    other = sqlite3.connect(where, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError):
        tf.release(count(), DATA, entries="v", ledger=book, entropy=NoEntropy())
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
        noisy = tf.release(count(), DATA, entries="v", ledger=book, source="study", unit=unit, budget=1)
        assert (noisy.certificate.scope, noisy.certificate.units) == ("unit", (unit,))
    assert book.spent("study").epsilon == 1
    with pytest.raises(BudgetExceeded):
        tf.release(count(), DATA, entries="v", ledger=book, source="study", unit="Ana")


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


def test_pieces_records_and_two_laws() -> None:
    pieces = tf.IndependentPieces(CHAIN, (30, 12))
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), pieces), tf.Histogram(), 1)
    assert set(tf.release(calibration, [DATA[:30], DATA[-12:]]).value) == {"still", "walking"}  # type: ignore[arg-type]
    bits = tf.JointTable([(0, 0), (0, 1), (1, 1)], [0.5, 0.25, 0.25], names=["sick", "test"])
    hidden = tf.Pufferfish(tf.attribute("sick", 0, 1), bits)
    record = tf.calibrate(hidden, tf.Identity("test"), 1, mechanism="group-dp")
    assert isinstance(tf.release(record, {"sick": 0, "test": 1}).value, int)
    pair = tf.calibrate(tf.distribution_pair(Pmf([0, 1], [0.5, 0.5]), Pmf([2], [1])), tf.Identity(), 1)
    assert isinstance(tf.release(pair, 2).value, int)


# Releases about independent users: what data are accepted, what the certificate names, what the ledger charges.
ILL = {"ill": Fraction(1, 10), "well": Fraction(9, 10)}


def count_of_ill(users: tf.IndependentUsers, mechanism: str = "group-dp") -> Calibration:
    framework = tf.Pufferfish([tf.presence(), tf.every_entry()], users)
    return tf.calibrate(framework, tf.Count("ill"), 1, mechanism=mechanism)


@pytest.mark.parametrize("data", [
    ["ill", "well"], ["ill", "well", "dead"], ["ill", "well", None], ["ill", "well", ["well"]], "ill", {"a": "ill"}, [],
    3,
])  # fmt: skip
def test_data_that_the_belief_does_not_know_are_refused(data: Any, tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    for users in (tf.IndependentUsers([ILL] * 3), tf.IndependentUsers([ILL] * 3, 0.5, "removed", ["x", "y", "z"])):
        with pytest.raises(DataError) as raised:
            tf.release(count_of_ill(users), data, entries="v", ledger=path)
        assert "dead" not in str(raised.value)
    assert not path.exists()


def test_an_absent_user_is_no_value_where_it_is_counted() -> None:
    with pytest.raises(DataError, match="counted too"):
        tf.release(count_of_ill(tf.IndependentUsers([ILL] * 2)), ["ill", "absent"])
    certain = tf.IndependentUsers([ILL] * 2, [1, 0.5], "removed")
    with pytest.raises(DataError, match="does not know"):
        tf.release(count_of_ill(certain), ["absent", "ill"])


@pytest.mark.parametrize("mode", ["unknown", "removed"])
def test_the_certificate_names_the_meaning_of_absence(mode: str, tmp_path: Path) -> None:
    users = tf.IndependentUsers([ILL] * 5, Fraction(1, 2), mode, source="a public survey")
    release = tf.release(count_of_ill(users), ["ill"] * 5, entries="v", ledger=tmp_path / "ledger.db")
    meaning = "an unknown value" if mode == "unknown" else "is removed and contributes nothing"
    assert meaning in release.certificate.beliefs[0]
    assert any(meaning in text for text in map(str, release.certificate.assumptions))
    assert "a public survey" in " ".join(str(release.certificate).split())
    assert release.certificate.frameworks.popitem()[1]["beliefs"][0]["absence"] == mode  # type: ignore[attr-defined]


def test_noise_for_one_user_adds_up_and_promises_about_one_answer_do_not(tmp_path: Path) -> None:
    users = tf.IndependentUsers([{0: 0.4, 1: 0.2, 2: 0.4}] * 80)
    framework = tf.Pufferfish(tf.presence(), users)
    each = tf.calibrate(framework, tf.Sum(), 1, mechanism="group-dp")
    assert str(each.guarantee.covers) == "component"
    assert tf.compose([each, each]).epsilon == 2
    single = tf.calibrate(framework, tf.Sum(), 1, mechanism="laplace-exact", allow_zero_noise=True)
    assert str(single.guarantee.composition) == "alone"
    ledger = tmp_path / "ledger.db"
    tf.release(each, [1] * 80, entries="v", ledger=ledger)
    with pytest.raises(tf.TakifuguError):
        tf.release(single, [1] * 80, entries="v", ledger=ledger)


@pytest.mark.slow
def test_a_million_users_are_released_and_charged() -> None:
    users = tf.IndependentUsers.groups([(600_000, ILL), (399_999, {"ill": 0.5, "well": 0.5}), (1, ILL, 0.5)], "removed")
    calibration = count_of_ill(users)
    assert calibration.scale == 1
    assert true_answer(calibration, ["ill"] * 999_999 + ["absent"]) == (999_999,)
    assert charge_of(calibration).entries == 1_000_000
    assert tf.compose([calibration, calibration]).epsilon == 2


# Releases about normal columns: from data to a certificate, and what is refused leaves the ledger as it was.
NAMES = ["weight", "income"]
BELIEF = tf.MultivariateNormal([70, 40], [[144, -12], [-12, 81]], NAMES, 4, {"weight": (40, 140)}, resolution="0.1")
BODIES = {"weight": [61.5, 70.25, 80, 66.1], "income": [31, 44, 52.5, 30]}
SECRET = tf.dataset_property("income", "mean", max_difference=30)


def calibrated(query=None, belief=BELIEF):
    framework = tf.Pufferfish(SECRET, belief)
    return tf.calibrate(framework, query or tf.Mean("income"), epsilon=1, delta="0.01",
                        mechanism="attribute-gaussian-exact", single_release=True)  # fmt: skip


@pytest.mark.slow
def test_the_exact_answer_goes_into_the_noise_off_the_grid():
    calibration = calibrated(tf.JointQuery([tf.Mean("income"), tf.Sum("weight", grid="0.5")]))
    answer = truth.answer_of(calibration, truth.read(calibration, BODIES))
    grid = calibration.problem.grid
    exact = (Fraction("157.5") / 4, Fraction("61.5") + Fraction("70.2") + 80 + Fraction("66.1"))
    assert [cell * grid for cell in answer] == list(exact)  # 70.25 is 70.2 in tenths (half to even)
    drawn = calibration.randomiser.draw(answer, InsecureSeededEntropyForTests(1))
    assert all((value / grid).denominator == 1 for value in drawn)


@pytest.mark.mutants
def test_noise_around_a_real_answer_has_its_deviation():
    calibration = calibrated()
    answer = truth.answer_of(calibration, truth.read(calibration, BODIES))
    entropy = InsecureSeededEntropyForTests(3)
    drawn = np.array([float(calibration.randomiser.draw(answer, entropy)[0]) for _ in range(2000)])
    assert drawn.mean() == pytest.approx(39.375, abs=5 * float(calibration.scale) / 2000**0.5)
    assert drawn.std() == pytest.approx(float(calibration.scale), rel=0.1)


def test_a_certificate_says_what_is_hidden_and_assumed(tmp_path):
    released = tf.release(calibrated(), BODIES, entries="v", ledger=tmp_path / "l.db", source="customers")
    words = " ".join(str(released.certificate).split())
    for expected in ("the mean of 'income' of the records at hand, up to a difference of 30", "jointly normal columns",
                     "each drawn from the stated joint normal distribution", "multiples of 0.001"):  # fmt: skip
        assert expected in words
    besides = {key: value for key, value in released.certificate.to_dict().items() if key != "answers"}
    assert "52.5" not in json.dumps(besides)
    clipped = tf.MultivariateNormal([70, 40], [[144, -12], [-12, 81]], NAMES, 4, {"weight": (40, 140)})
    said = " ".join(str(tf.release(calibrated(belief=clipped), BODIES).certificate).split())
    assert "Numbers outside of their range count as the end next to them" in said


@pytest.mark.parametrize("wrong", [
    {"weight": BODIES["weight"]}, {**BODIES, "income": [1, 2, 3]}, {**BODIES, "income": [1, 2, 3, None]},
    {**BODIES, "income": [1, 2, 3, float("inf")]}, [(1, 2)], "weight", 7,
    {**BODIES, "income": [1, 2, 3, 1e305]}, {**BODIES, "income": [1, 2, 3, -1e280]},
])  # fmt: skip
def test_bad_data_release_nothing_and_leave_the_ledger_as_it_was(tmp_path, wrong):
    ledger = tmp_path / "l.db"
    Ledger.open(ledger)
    before = ledger.read_bytes()
    with pytest.raises(tf.errors.DataError):
        tf.release(calibrated(), wrong, entries="v", ledger=ledger, source="customers")
    assert ledger.read_bytes() == before


def test_a_second_release_about_the_same_records_is_refused(tmp_path):
    account = {"entries": "v", "ledger": tmp_path / "l.db", "source": "customers"}
    tf.release(calibrated(), BODIES, **account)
    with pytest.raises(tf.errors.CompositionRefused, match="alone"):
        tf.release(calibrated(tf.Sum("income")), BODIES, **account)


@pytest.mark.parametrize("code", [1e272, 1e302, 1e307])
def test_noise_that_no_certificate_holds_is_refused_before_it_is_paid_for(code: float, tmp_path: Path) -> None:
    """It was paid for and drawn, and no certificate could be written: its values were lost."""
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.5], [0.4, 0.6]], 4))
    below = tf.calibrate(framework, tf.Mean(codes={0: 0, 1: 1e270}), 1, mechanism="group-dp")
    assert tf.release(below, [0, 1, 1, 0],
        entries="v", ledger=tmp_path / "ledger.db").certificate.answers[0].scale is not None  # fmt: skip
    with pytest.raises(tf.errors.CalibrationRefused, match="which no certificate holds: publish"):
        tf.calibrate(framework, tf.Mean(codes={0: 0, 1: code}), 1, mechanism="group-dp")


@pytest.mark.mutants
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
