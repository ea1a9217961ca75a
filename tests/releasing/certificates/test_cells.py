"""Published tables: no spreadsheet runs a text of theirs, and `read_table` gives the texts and numbers back."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.releasing.certificates.cells import guarded, read_table, table_text, unguarded

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "'=1", "-", "-1e", "'"]
STARTS = tuple("=+-@\t\r\n＝＋－＠")


@given(st.text(max_size=12) | st.sampled_from(FORMULAS))
def test_texts_come_back_and_none_is_run(text: str) -> None:
    written = guarded(text)
    assert unguarded(written) == text
    assert not written.startswith(STARTS) or written.lstrip("+-").replace(".", "", 1).isdigit()


@pytest.mark.parametrize("number", ["-1", "+3", "-0.5", "-10.25"])
def test_texts_that_are_numbers_stay(number: str) -> None:
    assert guarded(number) == number


def test_numbers_are_never_touched(tmp_path: Path) -> None:
    rows = [{"unit": "=ana", "cell": "-x", "value": -3, "low": -9.5, "high": 1e300}]
    file = tmp_path / "t.csv"
    file.write_text(table_text(rows), encoding="utf-8", newline="")
    assert file.read_text().splitlines()[1] == "'=ana,'-x,-3,-9.5,1e+300"
    assert list(read_table(file)) == rows


def test_a_release_of_formulas(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("who,state\n" + "".join(f'"{f}",=2\n"{f}",@x\n' for f in ("=1+1", "-x", "ana")))
    (tmp_path / "release.toml").write_text(
        'ledger = "l.db"\n[expect]\nsource = "a test"\nmatters = 1000\n'
        '[source]\nname = "s"\nfile = "data.csv"\nunit = "who"\nvalue = "state"\nbudget = 10\n'
        '[belief]\nkind = "markov-chain"\nstates = ["=2", "@x"]\nmatrix = [[0.8, 0.2], [0.3, 0.7]]\n'
        'units_independent = true\n[[release]]\nname = "t"\nquery = "histogram"\nepsilon = 1\nper = "unit"\n'
        'mechanism = "group"\n'
    )
    (table,) = tf.release_file(tmp_path / "release.toml").tables
    file = tmp_path / "release-published" / "t.csv"
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
