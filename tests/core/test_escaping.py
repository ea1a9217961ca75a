"""What is printed: no controls for a terminal, bounds on the safe side, and commands that no line breaks."""

import math
import shlex
import sys
import unicodedata
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.commands import invoke

import takifugu as tf
from takifugu.cli.output import heading
from takifugu.core.errors import InputError
from takifugu.core.escaping import (
    at_least,
    at_most,
    command,
    float_at_least,
    float_at_most,
    number,
    power_at_most,
    visible,
)
from takifugu.core.text.bars import bars
from takifugu.core.text.tables import filled, fitting, labelled, name_of, paragraph, text_table

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


def test_a_certificate_of_hostile_words() -> None:
    with pytest.raises(tf.errors.InputError, match="holds a control character"):
        tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 4, states=["still", HOSTILE])
    chain = tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 4, states=["still", "evil"], source=HOSTILE)
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("evil"), 1, mechanism="group-dp")
    release = tf.release(calibration, ["still"] * 4)
    for text in (str(calibration), str(release), release.certificate.text(), str(tf.compare(
        calibration.framework, tf.Histogram(), 1
    ))):  # fmt: skip
        assert raw(text) == []
    assert "evil" in release.certificate.text()
    assert raw(replace(release.certificate, source=HOSTILE, units=(HOSTILE,)).text()) == []


@pytest.mark.parametrize("arguments", [["release"], ["verify"], ["ledger", "show"], ["init"], []])
def test_hostile_arguments_at_the_command_line(arguments: list[str], tmp_path: Path) -> None:
    done = invoke(*arguments, HOSTILE)
    assert done.exit_code == 2
    assert raw(done.output + done.stderr) == []


RATIONALS = st.fractions(max_denominator=10**9) | st.builds(
    lambda p, q, tens: Fraction(p, q) * Fraction(10) ** tens,
    st.integers(-(10**30), 10**30), st.integers(1, 10**30), st.integers(-400, 400),
)  # fmt: skip
DECIMALS = st.builds(lambda n, tens: n * Fraction(10) ** tens, st.integers(-999_999, 999_999), st.integers(-12, 12))


def read(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


@given(RATIONALS, st.integers(1, 9))
def test_a_bound_read_back_is_on_the_safe_side(value: Fraction, digits: int) -> None:
    above, below = read(at_most(value, digits)), read(at_least(value, digits))
    assert below <= value <= above
    assert above - below <= abs(value) * Fraction(10) ** (1 - digits)


@given(DECIMALS)
def test_a_short_decimal_is_written_exactly(value: Fraction) -> None:
    assert read(at_most(value)) == read(at_least(value)) == value
    assert at_most(value) == at_least(value) == number(value)


@given(st.integers(-999_999, 999_999), st.integers(-12, 0))
def test_a_float_is_its_shortest_decimal(whole: int, tens: int) -> None:
    value = float(f"{whole}e{tens}")
    assert at_most(value) == at_least(value) == number(value)


@given(st.fractions(0, 99), st.integers(2, 9))
def test_a_power_of_e_is_below_what_is_written(exponent: Fraction, digits: int) -> None:
    power, _, above = power_at_most(exponent, digits).partition(" < ")
    written = read(power.removeprefix("e^").removesuffix(" = 1"))
    assert written >= exponent
    if not above:
        assert written == 0
        return
    fine = Context(prec=80)
    quotient = fine.divide(Decimal(written.numerator), Decimal(written.denominator))
    assert fine.exp(quotient) < Decimal(above.replace(",", ""))


def test_powers_of_e_that_certificates_tell() -> None:
    assert [power_at_most(e) for e in (Fraction(1, 2), 1, 2, 3)] == [
        "e^0.5 < 1.649", "e^1 < 2.719", "e^2 < 7.39", "e^3 < 20.09"
    ]  # fmt: skip
    assert power_at_most(1000) == "e^1,000"
    assert at_most(Fraction(1, 10**400)) == "1e-400"
    assert (at_most(float("inf")), at_least(float("inf"))) == ("inf", "inf")


@given(st.fractions(-(10**300), 10**300, max_denominator=10**9))
def test_a_float_of_a_bound_is_written_on_the_safe_side(value: Fraction) -> None:
    above, below = float_at_most(value), float_at_least(value)
    assert Fraction(str(below)) <= value <= Fraction(str(above))
    assert float(value) in (above, below)
    assert above in (below, math.nextafter(below, math.inf))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_bound_that_is_a_float_stays_as_it_is(value: float) -> None:
    exact = Fraction(str(value))
    assert float_at_most(exact) == float_at_least(exact) == value


WORDS = ("release", "a study/c.toml", "--replace", "both", "--idempotency-key", 2)


def test_a_command_is_what_a_shell_reads() -> None:
    assert shlex.split(command(*WORDS).strip("`")) == ["takifugu", *map(str, WORDS)]


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_command_is_broken_nowhere(columns: int) -> None:
    text = f"it lies elsewhere, which is a long story: take it, or run {command(*WORDS)} now, 50 % of it"
    with fitting(columns):
        for lines in (filled(text).splitlines(), labelled([("note", text)]).splitlines()):
            assert any(command(*WORDS) in line for line in lines)
            assert all(len(line) <= columns for line in lines if "takifugu" not in line)
