"""Release files that hide runs of steps: their length, their words, their budget and their certificate."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import json_of, succeed, words_of
from tests.support.release_files import believe, changed, hide, publish, read_from, release_text
from tests.support.releases import put, refusal_of

import takifugu as tf

RUN = hide(kind="every-run", length="30min")
BOILERS = release_text(
    read_from("boilers", "boilers.csv", rows="samples", unit="home", order="time", value="boiler", step="5min",
              from_="2026-01-05", until="2026-01-07", nulls="unobserved", budget=6.0),
    believe("markov-chain", states=["off", "on"], mean_duration={"off": "3 h", "on": "25 min"},
            units_independent=True),
    RUN,
    publish("hot", "count", states=["on"], epsilon=2, from_="2026-01-05", to="2026-01-06"),
    expect={"source": "a test", "matters": 1000},
)  # fmt: skip
WARD = release_text(
    read_from("ward", "ward.csv", value="state", order="hour", step=1, budget=10),
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]]),
    hide(kind="every-run", length=3),
    publish("busy", "count", states=["busy"], epsilon=1),
    expect={"source": "last year", "matters": 1000},
)  # fmt: skip


@pytest.fixture
def boilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = (f"home-1,2026-01-05T{hour:02}:00,{'on' if hour % 3 else 'off'}\n" for hour in range(24))
    return put(tmp_path, {"boilers.toml": BOILERS, "boilers.csv": "home,time,boiler\n" + "".join(rows)})


@pytest.fixture
def ward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = (f"{n},{'busy' if n % 3 else 'calm'}\n" for n in range(12))
    return put(tmp_path, {"ward.toml": WARD, "ward.csv": "hour,state\n" + "".join(rows)})


def scale_of(*arguments: Any) -> float:
    (priced,) = json_of("cost", *arguments)["files"][0]["tables"][0]["answers"]
    return float(Fraction(priced["scale"]))


def text_of(path: str) -> str:
    return " ".join(Path(path).read_text("utf-8").split())


def test_a_file_hides_what_python_does(ward: Path) -> None:
    framework = tf.Pufferfish(tf.every_run(3), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 12, states=["calm", "busy"]))
    assert scale_of(ward) == pytest.approx(float(tf.calibrate(framework, tf.Count("busy"), 1).scale), rel=1e-12)


@pytest.mark.parametrize(
    ("length", "problem"),
    [
        (6, 'hide.length: is 6; steps of 5min have a length in time; write length = "30min"'),
        ('"7min"', "hide.length: is '7min'; a run is a whole number of steps of 5min; write length = \"10min\""),
        ('"1s"', "hide.length: is '1s'; a run is a whole number of steps of 5min; write length = \"5min\""),
        ('"soon"', "hide.length: the length of a run is 'soon'; write a number above 0, or a time such as"),
        (0, "hide.length: the length of a run is 0; write a number above 0"),
    ],
)
def test_a_length_that_is_none_is_refused_with_one_that_is(boilers: Path, length: Any, problem: str) -> None:
    boilers.write_text(changed(BOILERS, ('"30min"', str(length))), "utf-8")
    assert refusal_of(boilers).problems[0].startswith(problem)


def test_without_times_a_length_is_a_number_of_steps(ward: Path) -> None:
    for length, words in (('"1h"', "write a number of steps, such as length = 4"), ('"2.5"', "write a number above 0")):
        ward.write_text(changed(WARD, ("length = 3", f"length = {length}")), "utf-8")
        assert words in refusal_of(ward).problems[0]
    ward.write_text(changed(WARD, ("length = 3", "")), "utf-8")
    assert 'hide.length: is missing; write length = "1h"' in refusal_of(ward).problems[0]


def test_four_lines_say_what_is_hidden_and_what_is_not(boilers: Path) -> None:
    words = words_of(succeed("release", boilers, "--allow-useless"))
    assert "Secret the states of one home in any 6 steps of 5 minutes in a row, together" in words
    assert "Not that a stay of more than 6 steps of 5 minutes in a row took place; a home's whole day" in words
    certificate = text_of("boilers-published/hot.certificate.txt")
    assert "Secret: the states of one home in any 6 steps of 5 minutes in a row, together." in certificate
    limit = "That a stay of more than 6 steps of 5 minutes in a row took place: of it any 6 steps are hidden."
    assert limit in certificate
    assert "the certificate is unchanged" in words_of(succeed("verify", "boilers-published"))
    report = text_of("boilers-published/hot.report.html")
    assert "the states of one home in any 6 steps of 5 minutes in a row, together" in report


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("changes", "The secret is the state in any 6 steps of 5 minutes in a row, together: all of a change "
         "that lasts no longer, not of others."),
        ("events", "The secret is the state in any 6 steps of 5 minutes in a row, together: which event, if any."),
    ],
)  # fmt: skip
def test_what_is_hidden_of_a_row_is_said(boilers: Path, rows: str, sentence: str) -> None:
    lasting = f'rows = "{rows}"\ndefault_state = "off"\nroster = ["home-1"]'
    text = changed(BOILERS, ('rows = "samples"', lasting), ("nulls", "# nulls"))
    boilers.write_text(text, "utf-8")
    succeed("release", boilers, "--allow-useless")
    assert sentence in text_of("boilers-published/hot.certificate.txt")


@pytest.mark.mutants
def test_a_file_of_single_steps_cannot_take_its_place(boilers: Path) -> None:
    """Releases under each secret are charged to both: noise for steps hides runs at a larger epsilon."""
    boilers.write_text(changed(BOILERS, (RUN, hide(kind="every-entry"))), "utf-8")
    succeed("release", boilers, "--allow-useless")
    boilers.write_text(changed(BOILERS, ('"hot"', '"again"')), "utf-8")
    succeed("release", boilers, "--allow-useless")
    spent = float(json_of("ledger", "show", "ledger.db")["sources"][0]["spent"]["epsilon"])
    assert 4.5 < spent < 6


@pytest.mark.mutants
def test_a_certificate_of_runs_has_no_pair_of_values(ward: Path) -> None:
    """Its loss is that of runs (Theorem 18), its step the first of one, and its bounds are those of single steps."""
    succeed("release", ward, "--allow-useless")
    (answer,) = json.loads(Path("ward-published/busy.certificate.json").read_text("utf-8"))["answers"]
    assert (answer["witness"]["curve"], answer["witness"]["pair"]) == ("recursion", None)
    assert Fraction(answer["witness"]["loss"]) <= Fraction(answer["epsilon"])
    ward.write_text(changed(WARD, ('kind = "every-run"\nlength = 3', 'kind = "every-entry"'), ('"busy"\nq', '"b"\nq')))
    succeed("release", ward, "--allow-useless")
    (answer,) = json.loads(Path("ward-published/b.certificate.json").read_text("utf-8"))["answers"]
    assert answer["witness"]["curve"] == "recursion"
    assert len(answer["witness"]["pair"]) == 2
