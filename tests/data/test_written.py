"""Declared formats of times, signs of numbers and inexact clocks: the same on every engine, and as Python has them."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

import narwhals.stable.v2 as nw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.engines import ENGINES

from takifugu.data import Numerals, TimeFormat, open_frame, text_of
from takifugu.data.engines.differences import collected, settled
from takifugu.data.rows.order import with_ticks
from takifugu.data.times.clock import Clock

START = datetime(1970, 1, 1, tzinfo=UTC)
FORMATS = [
    "%d/%m/%Y %H:%M", "%d.%m.%y", "%m/%d/%Y %I:%M:%S %p", "%Y%m%d%H%M%S", "%Y-%m-%dT%H:%M:%S.%f", "[%d]^%m|%Y*%H",
]  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(FORMATS),
    st.lists(st.datetimes(datetime(1969, 1, 1), datetime(2068, 12, 31)), min_size=1, max_size=9),
    st.booleans(), st.data(),
)  # fmt: skip
def test_times_are_read_as_strptime_reads_them(
    form: str, moments: list[datetime], short: bool, data: st.DataObject
) -> None:
    texts = [moment.strftime(form) for moment in moments]
    if short and form.startswith("%d/"):  # a leading zero may be missing
        texts = [text.removeprefix("0").replace("/0", "/") for text in texts]
    expected = [datetime.strptime(text, form).replace(tzinfo=UTC) for text in texts]
    assert [TimeFormat(form).read(text) for text in texts] == [moment.replace(tzinfo=None) for moment in expected]
    ticks = [(moment - START) // (datetime.resolution) for moment in expected]
    for engine in data.draw(st.permutations(sorted(ENGINES)))[:2]:
        given_texts = [*texts, "31/02/2025 1", None]
        table = open_frame(ENGINES[engine]({"t": ("text", given_texts), "i": ("int", [*range(len(given_texts))])}))
        frame, _, _ = with_ticks(
            table.pick({"tick": "t", "i": "i"}), "t", None, nw.Datetime("us"), True, Clock(TimeFormat(form))
        )
        rows = sorted(collected(settled(frame.select("i", "tick"), ["tick"])))
        assert [tick for _, tick in rows[:-2]] == ticks, engine
        assert [text_of(tick) for _, tick in rows[-2:]] == [None, None]


@pytest.mark.parametrize("signs", [(",", "."), (",", " "), (".", ","), (".", "'"), (",", ""), (".", "")])
def test_numbers_are_read_alike_and_by_one_convention_only(signs: tuple[str, str]) -> None:
    numerals = Numerals(*signs)
    decimal, thousands = signs
    values = [Fraction(-1234567, 100), Fraction(5, 10), Fraction(999), Fraction(1000), Fraction(12345678)]
    texts = [f"{float(value):,.2f}".translate({44: thousands, 46: decimal}) for value in values]
    assert [Fraction(numerals.plain(text)) for text in texts] == values
    other = "1.5" if decimal == "," else "1,5"
    odd = [f"1{thousands or ';'}23{decimal}4", f"1{decimal}2{decimal}3", other, "n/a", "inf"]
    assert not any(numerals.plain(text).replace(".", "", 1).isdigit() for text in odd)
    for engine, make in ENGINES.items():
        frame = open_frame(make({"x": ("text", [*texts, *odd, None])})).pick({"x": "x"})
        numbers = [row[0] for row in collected(frame.select(x=numerals.plain_in_engine(nw.col("x"))))]
        assert numbers[:-1] == [numerals.plain(text) for text in [*texts, *odd]], engine
        assert text_of(numbers[-1]) is None


@settings(max_examples=200)
@given(st.integers(-(2**55), 2**55), st.integers(1, 10**11), st.integers(1, 12))
def test_clocks_are_rounded_to_the_nearest_part_of_a_step(tick: int, step: int, parts: int) -> None:
    rule = Clock(parts=parts).rounding(step)
    exact = Fraction(tick * parts, step)  # in parts
    nearest = (exact + Fraction(1, 2)).__floor__()
    assert Fraction(rule.of(tick) * parts, rule.step) == nearest
