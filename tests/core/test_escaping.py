"""Nothing that is printed commands a terminal: errors, tables, sentences and certificates write controls out."""

import sys
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.commands import invoke

import takifugu as tf
from takifugu.cli.output import heading
from takifugu.core.errors import InputError
from takifugu.core.escaping import visible
from takifugu.core.text.bars import bars
from takifugu.core.text.tables import labelled, name_of, paragraph, text_table

HOSTILE = "\x1b]0;own\x07\x1b[2J\r\u202eevil\u2066\x9b31m\u2028"


def raw(text: str) -> list[str]:
    """Return the characters of a text that command something, by Python's own tables of Unicode."""
    return [c for c in text if c != "\n" and (unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or _turns(c))]


def _turns(c: str) -> bool:
    turning = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    return c in "\u200e\u200f\u061c" or unicodedata.bidirectional(c) in turning


@pytest.mark.slow
def test_every_control_of_unicode_is_written_out() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert len(raw(everything)) > 2000
    assert raw(visible(everything)) == []


@pytest.mark.slow
@given(st.text(max_size=30))
def test_what_commands_nothing_stays(text: str) -> None:
    assert raw(visible(text)) == []
    if not raw(text):
        assert visible(text) in (text, text.translate({0xFFF9: "\\ufff9", 0xFFFA: "\\ufffa", 0xFFFB: "\\ufffb"}))


def test_what_prints(capsys: pytest.CaptureFixture[str]) -> None:
    heading(HOSTILE)
    rows = [{"cell": HOSTILE, "value": 6, "low": 4, "high": 8}]
    printed = [
        str(InputError(HOSTILE)), paragraph(HOSTILE), name_of(HOSTILE), text_table([HOSTILE], [[HOSTILE]]),
        labelled([(HOSTILE, HOSTILE)]), *bars(rows), capsys.readouterr().out,
    ]  # fmt: skip
    for text in printed:
        assert raw(text) == [], text
        assert "evil" in text or "…" in text


def test_a_certificate_of_hostile_states() -> None:
    chain = tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 4, states=["still", HOSTILE], source=HOSTILE)
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count(HOSTILE), 1, mechanism="group")
    release = tf.release(calibration, ["still"] * 4)
    for text in (str(calibration), str(release), release.certificate.text(), str(tf.compare(
        calibration.framework, tf.Histogram(), 1
    ))):  # fmt: skip
        assert raw(text) == []
    assert "evil" in release.certificate.text()
    assert raw(replace(release.certificate, source=HOSTILE, units=(HOSTILE,)).text()) == []


@pytest.mark.parametrize("arguments", [["release"], ["certificate", "show"], ["ledger", "show"], ["init"], []])
def test_hostile_arguments_at_the_command_line(arguments: list[str], tmp_path: Path) -> None:
    done = invoke(*arguments, HOSTILE)
    assert done.exit_code == 2
    assert raw(done.output + done.stderr) == []
