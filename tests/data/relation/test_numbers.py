"""A number in a text is read as it is written, or its row is refused: DuckDB reads 1_000 as 1000, and 1e400 as inf."""

from pathlib import Path

import pytest

from takifugu.core.errors import DataError
from takifugu.data.relation.source import opened_table
from takifugu.data.relation.visits import Grid
from takifugu.data.values.bins import Classes
from takifugu.data.values.bounded import Bounded

#: Texts that are no plain numbers, and some that are.
ODD, PLAIN = ("1_000", "1e400", "-1e400", "1e4_0", "1,5", "0x10"), ("7", "+7", "7.", ".7e1", "7e0", "0.7E+1")
KEYS = {"file": "a.csv", "rows": "answers", "value": "v"}


def written(folder: Path, *values: str) -> None:
    lines = ["p,v,w", *(f'{number},"{value}",1' for number, value in enumerate(values))]
    (folder / "a.csv").write_text("\n".join(lines))


@pytest.mark.parametrize("text", ODD)
def test_a_text_that_is_no_plain_number_is_refused_with_its_row(text: str, tmp_path: Path) -> None:
    written(tmp_path, "1", text)
    bounded = Bounded("v", -10_000, 10_000, 1, missing=0)
    of_text = pytest.raises(DataError, match=r"row 2: a text in .* that is no number")
    with opened_table(KEYS, (), tmp_path) as source, of_text:
        source.totals([bounded])
    with (
        opened_table(KEYS, (), tmp_path, known=[Classes([18, 65], 0)]) as source,
        pytest.raises(DataError, match="row 2: "),
    ):
        source.answers()
    with opened_table(
        {**KEYS, "bins": {"a": [-float("inf"), 0], "b": [0, float("inf")]}}, ["a", "b"], tmp_path
    ) as source, pytest.raises(DataError, match="row 2: "):
        source.answers()
    keys, fault = {"file": "a.csv", "rows": "visits", "unit": "p", "value": ["v", "w"]}, r"row 2: a coordinate in .* no"
    with opened_table(keys, (), tmp_path) as source, pytest.raises(DataError, match=fault):
        source.visits(Grid((-1e9, 0.0, 1e9), (0.0, 2.0)))


def test_plain_numbers_are_read(tmp_path: Path) -> None:
    written(tmp_path, *PLAIN, "inf", "-Infinity", "NaN", "")
    bounded = Bounded("v", 0, 10, 1, missing=3)
    with opened_table(KEYS, (), tmp_path) as source:
        assert source.totals([bounded]).sums.tolist() == [[7 * len(PLAIN) + 3 * 4]]
    written(tmp_path, *PLAIN, "inf", "-Infinity", "")
    keys = {**KEYS, "nulls": "unobserved"}
    with opened_table(
        {**keys, "bins": {"a": [-float("inf"), 0], "b": [0, float("inf")]}}, ["a", "b"], tmp_path
    ) as source:
        counts = source.answers()
        assert dict(zip(counts.codes[:, 0].tolist(), counts.rows.tolist(), strict=True)) == {-1: 1, 0: 1, 1: 7}


@pytest.mark.parametrize("text", ["1_000", "1e400", "1e4_0"])
@pytest.mark.parametrize("cast", ["cast(v AS double)", "try_cast(v AS double)", "try_cast(trim(v) as real)"])
def test_a_cast_of_such_a_text_is_refused_wherever_it_is_pasted(cast: str, text: str, tmp_path: Path) -> None:
    rows = {"rows": "answers", "bins": {"a": [-float("inf"), 0], "b": [0, float("inf")]}}
    sql = {"sql": f"select {cast} as v from read_csv('a.csv')", "value": "v"}
    for keys in ({**KEYS, **rows, "value": cast}, sql | rows):
        written(tmp_path, "1", "2.5", "_", "x_y", "e") if "try" in cast else written(tmp_path, "1", "-2.5", "1e3")
        with opened_table({**keys, "nulls": "unobserved"}, ["a", "b"], tmp_path) as source:
            assert source.answers()
        written(tmp_path, "1", text)
        with pytest.raises(DataError, match="reads as another number") as error:  # noqa: SIM117
            with opened_table(keys, ["a", "b"], tmp_path) as source:
                source.answers()
        assert text not in error.value.line.replace("such as 1_000, 0x1F or 1e400", "")


def test_try_cast_of_a_text_file_gives_nothing_and_a_cast_is_told_as_one(tmp_path: Path) -> None:
    """The CSV reader does not cast: it failed in both, with a message about lines of other columns."""
    written(tmp_path, "1", "-")
    keys = {**KEYS, "bins": {"a": [0, 2]}, "nulls": "unobserved"}
    with opened_table({**keys, "value": "try_cast(v AS double)"}, ["a"], tmp_path) as source:
        assert source.answers().rows.tolist() == [1, 1]
    for key, value in (("value", {"value": "cast(v AS double)"}), ("sql", {"file": None, "sql":
            "select cast(v as double) as v from read_csv('a.csv')"})):  # fmt: skip
        with opened_table({**keys, **value}, ["a"], tmp_path) as source, pytest.raises(DataError) as error:
            source.answers()
        assert f"{key}: {key} casts a value that is not of that type" in error.value.line


@pytest.mark.parametrize("kind", ["bigint", "integer", "hugeint", "decimal(9, 2)", "utinyint"])
def test_whole_numbers_are_cast_as_they_are_written(kind: str, tmp_path: Path) -> None:
    keys = {**KEYS, "value": f"try_cast(v AS {kind})", "nulls": "unobserved"}
    for text in ("1_0", "0x1F", "0b11", "2.5", "0.05", "1E+1", "1.85E1"):
        written(tmp_path, "1", text)
        if "decimal" in kind and text != "1_0":
            continue  # which DuckDB does not read, or as it is written
        with pytest.raises(DataError, match="reads as another number"), opened_table(keys, ["1"], tmp_path):
            pass
    written(tmp_path, "1.00", "x_1", "", "_")
    with opened_table({**keys, "bins": {"1": [0, 2]}}, ["1"], tmp_path) as source:
        assert source.answers().rows.tolist() == [3, 1]


def test_what_is_proposed_for_such_a_text_reads_no_other_number(tmp_path: Path) -> None:
    """Pasted as it is printed, with the text in its place, it makes one text missing, and no other."""
    bounded = Bounded("v", -10_000, 10_000, 1, missing=0)
    written(tmp_path, "1", "-")
    with opened_table(KEYS, (), tmp_path) as source, pytest.raises(DataError) as error:
        source.totals([bounded])
    fix = (
        r'''value = "nullif(\"v\", 'NA')", with the text that stands for a missing value; where commas are decimal, '''
        r'''as in 1,5, replace("v", ',', '.') instead of nullif("v", 'NA')'''
    )
    assert error.value.fix == fix
    for other, is_read in (("2", True), ("1_000", False)):
        written(tmp_path, "1", "-", other)
        with opened_table({**KEYS, "value": "nullif(v, '-')"}, (), tmp_path) as source:
            if is_read:
                assert source.totals([bounded]).sums.tolist() == [[3]]
                continue
            with pytest.raises(DataError, match=r"row 3: a text in .* that is no number"):
                source.totals([bounded])
