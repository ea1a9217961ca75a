"""The certificate says what is hidden, from whom, under which assumptions, with which noise; and warns."""

import csv
import dataclasses
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.releases import put

import takifugu as tf
from takifugu.analysis.randomisers import KINDS
from takifugu.core.assumptions import Kind, public
from takifugu.core.errors import InputError
from takifugu.core.escaping import visible
from takifugu.numbers import Pmf
from takifugu.releasing.certificates.cells import guarded, read_table, table_text, unguarded
from takifugu.releasing.certificates.certificate import FORMAT, Certificate
from takifugu.releasing.certificates.checksum import from_dict
from takifugu.releasing.certificates.facts import Caution, Stays, Window, checksum_of
from takifugu.releasing.planning.questions import NoisyAnswer, Question
from takifugu.releasing.publishing.certifying import certificate_of

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=60, states=["still", "walking"], source="a diary study")
FRAMEWORK = tf.Pufferfish(tf.every_entry(), CHAIN)
DATA = ["still", "walking", "still"] * 20

KEYS = [
    "format", "release", "source", "scope", "units", "statistic", "query", "grid", "answers", "definition", "hidden",
    "beliefs", "frameworks", "assumptions", "epsilon", "delta", "mechanisms", "compositions", "cautions",
    "private", "ledger", "date", "software", "stays", "window", "requested", "table", "unit_count",
    "title", "measured_in", "publisher", "contact", "person", "adjusting", "doubts", "rehearsal", "checksum",
]  # fmt: skip
LEDGER_KEYS = ["ledger", "head", "source", "ids", "reading", "entries", "lines", "same", "drawn"]
ANSWER_KEYS = [
    "unit", "values", "query", "mechanism", "noise", "scale", "expected_error", "epsilon", "delta", "composition",
    "covers", "framework", "adjusted", "complete", "half_width", "coverage", "witness",
]  # fmt: skip


def made(calibration: Any, ledger: Path | None = None) -> Certificate:
    return tf.release(calibration, DATA, entries="values", ledger=ledger, source="minutes").certificate


def test_the_keys_are_stable_and_survive_json(tmp_path: Path) -> None:
    certificate = made(tf.calibrate(FRAMEWORK, tf.Histogram(), 1), tmp_path / "ledger.db")
    plain = certificate.to_dict()
    assert list(plain) == KEYS
    assert plain["format"] == FORMAT
    assert list(plain["answers"][0]) == ANSWER_KEYS
    assert list(plain["ledger"]) == LEDGER_KEYS
    assert json.loads(certificate.to_json()) == plain
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate.source = "another"  # type: ignore[misc]


def test_it_says_everything_that_was_promised(tmp_path: Path) -> None:
    calibration = tf.calibrate(FRAMEWORK, tf.Histogram(), "0.5", mechanism="quilt-exact")
    certificate = made(calibration, tmp_path / "ledger.db")
    assert certificate.hidden == ("every single value",)
    assert certificate.beliefs == (CHAIN.describe(),)
    assert public("The length of the sequence is public.") in certificate.assumptions
    assert certificate.frameworks == {FRAMEWORK.fingerprint(): FRAMEWORK.to_dict()}
    assert (certificate.epsilon, certificate.delta, certificate.compositions) == ("0.5", "0", ("composes",))
    assert certificate.mechanisms == {"quilt-exact": calibration.source}
    (answer,) = certificate.answers
    assert (answer.noise, set(answer.values)) == (calibration.randomiser.to_dict(), {"still", "walking"})
    text = " ".join(certificate.text().split()).lower()
    for words in ("the state in any one step", "a diary study", "public", "epsilon 0.5", "quilt-exact", "song",
                  "discrete laplace", certificate.release_id, "takifugu"):  # fmt: skip
        assert words in text, words
    assert certificate.warnings == ()
    alone = made(calibration)
    assert (alone.ledger, alone.release_id, alone.ledger_id) == (None, "", "")
    assert any("No ledger" in w for w in alone.warnings)
    assert max(map(len, alone.text().splitlines())) <= 78


def test_it_warns_of_noise_that_hides_no_single_entry() -> None:
    short = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=2, states=[0, 1])
    calibration = tf.calibrate(
        tf.Pufferfish(tf.every_entry(), short), tf.Count(1), 1, mechanism="laplace-exact", allow_zero_noise=True
    )
    certificate = tf.release(calibration, [0, 1]).certificate
    assert calibration.hides_one_entry == (not any("would not hide one value" in w for w in certificate.warnings))
    parity = tf.JointTable([(0, 0), (0, 1), (1, 0), (1, 1)], [0.25] * 4, names=["x1", "x2"])
    nothing = tf.calibrate(
        tf.Pufferfish(tf.attribute("x1", 0, 1), parity), tf.Identity("x2"), 1, mechanism="wasserstein",
        allow_zero_noise=True,
    )  # fmt: skip
    assert nothing.randomiser.kind == "none"
    assert any("No noise was added" in w for w in tf.release(nothing, (0, 1)).certificate.warnings)


@pytest.mark.parametrize(("lasting", "cells", "words"), [
    ({"off": "for ever", "on": "for ever"}, "hour 03", "Hour 03: 'off', 'on' do not end then."),
    ({"off": "about 2 hours", "on": "for ever"}, "weekday Monday-Friday",
     "Weekday Monday-Friday: 'on' does not end then; on average 'off' lasts about 2 hours at a time."),
    ({"off": "for ever", "on": "about 2 hours"}, "", "On average 'off' lasts for ever at a time, 'on' about 2 hours."),
])  # fmt: skip
def test_what_hours_never_leave_ends_at_other_hours(lasting: dict[str, str], cells: str, words: str) -> None:
    assert Stays(lasting, cells).words == words


def test_facts_are_typed_in_the_file_and_words_on_the_page() -> None:
    calibration = tf.calibrate(FRAMEWORK, tf.Count("walking"), 1, mechanism="record-dp")
    assert calibration.epsilon > 1
    plain = made(calibration)
    assert any("weaker than requested" in w for w in plain.warnings)
    assert any("correlated" in words for words in plain.of_kind(Kind.LIMIT))
    assert plain.cautions == (Caution.WEAKER, Caution.NO_LEDGER)
    window = Window("2026-01-05 to 2026-01-12", "1 hour", "Europe/Vienna", {"one day": "2.5"})
    stays = tuple(Stays({"still": "for ever", "walking": "about 2 hours"}, f"hour {hour:02}") for hour in range(9))
    certificate = dataclasses.replace(plain, window=window, stays=stays)
    again = from_dict(json.loads(certificate.to_json()))
    assert (again.window, again.stays, again.cautions) == (window, stays, plain.cautions)
    assert json.loads(certificate.to_json())["window"]["costs"] == {"one day": "2.5"}
    page = " ".join(certificate.text().split())
    for words in (
        "Hour 06: 'still' does not end then; on average 'walking' lasts about 2 hours at a time.",
        "and 2 more matrices, which the belief lists",
        "The window is 2026-01-05 to 2026-01-12, its end not included, in steps of 1 hour, by clocks in Europe/Vienna.",
        "A whole day: against someone who knows all other steps, the noise alone gives epsilon 2.5.",
        "The promise is weaker than requested: epsilon",
    ):
        assert words in page, words
    for key, odd in (("cautions", ["fine"]), ("window", {"span": 3}), ("stays", [{"lasting": ["still"]}]),
                     ("stays", [{"lasting": {}, "cells": ""}]), ("requested", "-1")):  # fmt: skip
        data = {**certificate.to_dict(), key: odd}
        with pytest.raises(InputError):
            from_dict({**data, "checksum": checksum_of(data)})


def test_every_noise_has_a_name() -> None:
    for kind in map(KINDS.find, KINDS.names):
        assert kind.name
        assert kind.sentence, kind.name
    law = tf.distribution_pair(Pmf([0, 1], [0.9, 0.1]), Pmf([0, 1], [0.1, 0.9]))
    said = {"optimal": "with the probabilities tabulated", "kantorovich-exponential": "more probable the"}
    for mechanism, words in said.items():
        calibration = tf.calibrate(law, tf.Identity(), 1, mechanism=mechanism, allow_zero_noise=True)
        text = " ".join(tf.release(calibration, 1).certificate.text().split())
        assert f"ne of finitely many values, {words}" in text
        assert ("scale" in text.split("ne of finitely")[1].split(";")[1]) == (mechanism != "optimal")


@pytest.mark.parametrize(("secrets", "count"), [(tf.presence(), None), (tf.every_entry(), 3)])
def test_no_count_where_presence_is_the_secret(secrets: Any, count: int | None) -> None:
    """How many there are would tell who is there; a declared size stands in the belief."""
    users = tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3, 0.5, "removed")
    calibration = tf.calibrate(tf.Pufferfish(secrets, users), tf.Sum(), 1, mechanism="group-dp")
    answer = NoisyAnswer(Question("r", None, calibration, None, {}), (Fraction(1),), True, None)
    about = ([answer], "s", "pooled", ["Ana", "Ben", "Chi"])
    certificate = certificate_of(*about)
    assert (certificate.units, certificate.unit_count) == ((), count)
    assert ("over all 3 people together" in " ".join(certificate.text().split())) == (count == 3)
    assert "Ana" not in certificate.to_json()


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "'=1", "-", "-1e", "'"]
STARTS = tuple("=+-@\t\r\n＝＋－＠")


@given(st.text(max_size=12) | st.sampled_from(FORMULAS))
def test_texts_come_back_and_none_is_run(text: str) -> None:
    """A text comes back as it is printed: control characters, which no name may have, as escapes."""
    written = guarded(text)
    assert unguarded(written) == visible(text)
    assert not written.startswith(STARTS) or written.lstrip("+-").replace(".", "", 1).isdigit()


def test_numbers_are_never_touched(tmp_path: Path) -> None:
    for number in ("-1", "+3", "-0.5", "-10.25"):
        assert guarded(number) == number
    rows = [{"unit": "=ana", "cell": "-x", "value": -3, "low": -9.5, "high": 1e300}]
    file = tmp_path / "t.csv"
    file.write_text(table_text(rows), encoding="utf-8", newline="")
    assert file.read_text().splitlines()[1] == "'=ana,'-x,-3,-9.5,1e+300"
    assert list(read_table(file)) == rows


def test_a_release_of_formulas(tmp_path: Path) -> None:
    spec = release_text(
        read_from("s", "data.csv", unit="who", order="n", step=1, value="state", budget=10),
        believe("markov-chain", states=["=2", "@x"], matrix=[[0.8, 0.2], [0.3, 0.7]], units_independent=True),
        publish("t", "histogram", epsilon=1, per="unit", mechanism="group-dp"), expect=EXPECT, output="out",
    )  # fmt: skip
    rows = "who,n,state\n" + "".join(f'"{f}",0,=2\n"{f}",1,@x\n' for f in ("=1+1", "-x", "ana"))
    (table,) = tf.release_file(put(tmp_path, {"release.toml": spec, "data.csv": rows})).tables
    file = tmp_path / "out" / "t.csv"
    with open(file, newline="") as lines:
        for row in csv.DictReader(lines):
            assert not row["unit"].startswith(STARTS)
            assert not row["cell"].startswith(STARTS)
    assert tf.read_table(file) == tuple(dict(row) for row in table.rows)
    assert {row["unit"] for row in tf.read_table(file)} == {"=1+1", "-x", "ana"}


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "cell,value\nx,y\n", "cell,value\nx\n", "cell,value\nx,1,2\n", '"'])
def test_other_files_are_no_tables(tmp_path: Path, text: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text)
    if text:
        with pytest.raises(InputError, match="not a table that Takifugu published"):
            read_table(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_table(tmp_path / "none.csv")
