"""Texts of whole numbers and times say a place if their form does, however DuckDB would write what it reads in them."""

import re
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest

from takifugu.data.relation.source import opened_table
from takifugu.data.sql.faults import RowFault

NUMBERS = [
    "0", "-0", "00", "007", "-12", "+5", "-5-", "--5", "5-", " 5", "5 ", "1_0", "1e3", "1.5", "7.0", "0x1F", "0b1",
    "9007199254740991", "9007199254740992", "-9007199254740991", "99999999999999999999", "abc", "\uff15", "-", "",
]  # fmt: skip
TIMES = [
    "2026-01-05", "2026-01-05 00:00:00", "2026-01-05T00:00:00", "2026-01-05T10:30", "2026-01-05 00:00:00.5",
    "2026-01-05 00:00:00.500000", "2026-01-05 00:00:00.5000000", "2026-01-05t00:00:00", "0026-01-05 00:00:00",
    "12026-01-05 00:00:00", "2026-1-5", "infinity", "0044-03-15 (BC) 00:00:00",
    "2026-02-30 00:00:00", "1899-12-31 23:59:59", "1900-01-01 00:00:00", "2099-12-31T23:59:59", "2100-01-01 00:00:00",
    " 2026-01-05 00:00:00", "2026-01-05  00:00:00", "2026-01-05 00:00:60", "abc", "",
]  # fmt: skip
ISO = r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.]\d{1,6}0*)?)?)?"


def cause_of_number(text: str) -> str:
    is_whole = re.fullmatch("-?[0-9]+", text) and abs(int(text)) < 2**53
    return "" if is_whole else "no whole number" if text else "no order"


def cause_of_time(text: str) -> str:
    try:
        year = datetime.fromisoformat(text).year if re.fullmatch(ISO, text, re.ASCII) else 0
    except ValueError:
        year = 0
    if not year:
        return "no time" if text else "no order"
    return "" if 1900 <= year < 2100 else "year"


CASES = [(1, text, cause_of_number(text)) for text in NUMBERS] + [("1s", text, cause_of_time(text)) for text in TIMES]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("step", "text", "cause"), CASES)
def test_a_text_is_a_place_by_its_form(step: object, text: str, cause: str, tmp_path: Path) -> None:
    frame = pa.table({"t": [text], "v": ["x"]})
    with opened_table({"order": "t", "step": step, "value": "v"}, ["x"], tmp_path, frame) as source:
        if cause:
            with pytest.raises(RowFault) as error:
                source.counts()
            assert error.value.cause == cause
            return
        starts = source.counts().starts
    assert starts is not None
    expected = int(text) if step == 1 else (datetime.fromisoformat(text) - datetime(1970, 1, 1)).total_seconds() * 10**6
    assert starts.tolist() == [expected]
