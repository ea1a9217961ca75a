"""The audit of a release file and of a certificate: verdicts, why something is not audited, what is really drawn."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.corpus import Case, corpus
from tests.support.commands import ended, invoke, succeed, words_of
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.releases import put

import takifugu as tf
from takifugu.cli.group import BAD_INPUT, FAULT
from takifugu.releasing import auditing
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.file.loading import load

TABLE = release_text(
    read_from("ward", "ward.csv", value="state", order="hour", step=1),
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]]),
    publish("busy", "count", states=["busy"], epsilon=1),
    expect={"source": "last year"},
)


@pytest.fixture
def ward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = (f"{n},{'busy' if n % 3 else 'calm'}\n" for n in range(8))
    return put(tmp_path, {"ward.toml": TABLE, "ward.csv": "hour,state\n" + "".join(rows)})


@pytest.fixture
def certificate(ward: Path) -> Path:
    invoke("release", ward, "--allow-useless")
    return Path("ward-published", "busy.certificate.json")


@pytest.mark.mutants
@pytest.mark.parametrize("case", corpus(), ids=lambda case: case.name)
def test_a_release_draws_what_its_noise_declares(case: Case) -> None:
    """Every case of the corpus, by the code of a release, on data that are made up."""
    try:
        calibration = tf.calibrate(case.framework, case.query, 1, "1/50", allow_zero_noise=True, single_release=True)
    except tf.errors.CalibrationRefused:
        pytest.skip("no mechanism")
    assert auditing.drawn_fit(calibration, 150).p > auditing.UNLIKELY


@pytest.mark.slow
def test_a_file_and_its_certificate_are_kept(ward: Path) -> None:
    result = succeed("audit", ward, "--draws", 300, "--json")
    (answer,) = json.loads(result.stdout)["answers"]
    assert (answer["table"], answer["verdict"], answer["promised"]) == ("busy", "kept", "1")
    assert answer["fit"]["p"] > auditing.UNLIKELY
    assert not Path("ledger.db").exists()
    invoke("release", ward, "--allow-useless")
    certificate = Path("ward-published", "busy.certificate.json")
    words = succeed("audit", certificate, "--draws", 300)
    assert "kept" in words.stdout
    assert "300 draws follow the declared distribution" in words.stdout
    (same,) = auditing.of_certificate(read_certificate(certificate))
    assert same.audit == replace(next(auditing.of_file(load(ward))).audit)


def test_a_long_table_is_audited_and_one_that_is_too_long_says_why(ward: Path) -> None:
    def audit_of(steps: int) -> str:
        ward.with_name("ward.csv").write_text("hour,state\n" + "".join(f"{n},calm\n" for n in range(steps)))
        return words_of(succeed("audit", ward))

    assert ": kept" in audit_of(400)
    too_long = audit_of(20_000)
    assert "Not audited: the audit of this chain would take" in too_long
    assert "operations" in too_long


def with_noise(path: Path, **noise: str) -> Any:
    """Read a certificate of one answer, with other noise."""
    certificate = read_certificate(path)
    (answer,) = certificate.answers
    return replace(certificate, answers=(replace(answer, noise=noise),))


def test_a_certificate_with_too_little_noise_is_a_fault(certificate: Path) -> None:
    noise: Any = read_certificate(certificate).answers[0].noise
    weak = with_noise(certificate, **{**noise, "units" if "units" in noise else "scale": "1"})
    (broken,) = auditing.of_certificate(weak)
    assert broken.verdict == "broken"
    certificate.write_text(weak.to_json())
    result = ended(FAULT, "audit", certificate, "--json")
    assert json.loads(result.stdout)["answers"][0]["verdict"] == "broken"
    assert "gives away more than it promises" in result.stderr


def test_a_sender_of_plain_values_is_a_fault(ward: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from takifugu.releasing.planning.truth import answer_of

    monkeypatch.setattr(
        "takifugu.releasing.publishing.publish._randomised",
        lambda one, bits: [Fraction(x) for x in answer_of(one.calibration, one.seen)],
    )
    result = ended(FAULT, "audit", ward, "--draws", 200)
    assert "do not follow the declared distribution" in result.stdout
    assert "is not drawn as it declares" in result.stderr


def test_noise_from_outside_is_not_drawn_here(certificate: Path) -> None:
    elsewhere = with_noise(certificate, kind="outside", epsilon="1", delta="0", made_by="them")
    (audited,) = auditing.of_certificate(elsewhere, 10)
    assert (audited.verdict, audited.audit, audited.fit) == ("open", None, None)
    assert audited.not_audited
    assert audited.not_drawn


def test_a_class_and_a_real_number_are_left_open() -> None:
    family = tf.Pufferfish(tf.every_entry(), tf.ReversibleChains(0.3, 0.5, 4))
    audited = auditing.audited("it", None, tf.calibrate(family, tf.Count(1), 1))
    assert (audited.verdict, audited.is_faulty) == ("open", False)
    assert audited.audit is not None
    assert audited.audit.upper == math.inf
    assert json.loads(json.dumps(audited.to_dict(), allow_nan=False))["audit"]["upper"] == "inf"


@pytest.mark.parametrize("words", [["nowhere.toml"], ["nowhere.json"], ["ward.csv"]])
def test_what_is_neither_file_nor_certificate_is_bad_input(ward: Path, words: list[str]) -> None:
    ended(BAD_INPUT, "audit", *words)
    for draws in ("-1", "99999999999999999999"):
        ended(BAD_INPUT, "audit", ward, "--draws", draws)
