"""A number in a text is read as it is written, or its row is refused: DuckDB reads 1_000 as 1000, and 1e400 as inf."""

from pathlib import Path

import pytest

from takifugu.core.errors import DataError
from takifugu.data.relation.source import read_source
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
    with read_source(KEYS, (), tmp_path) as source:
        with pytest.raises(DataError, match=r"row 2: a text in .* that is no number"):
            source.totals([bounded])
        with pytest.raises(DataError, match="row 2: "):
            source.answers([Classes([18, 65], 0)])
    with read_source(
        {**KEYS, "bins": {"a": [-float("inf"), 0], "b": [0, float("inf")]}}, ["a", "b"], tmp_path
    ) as source, pytest.raises(DataError, match="row 2: "):
        source.answers()
    keys, fault = {"file": "a.csv", "rows": "visits", "unit": "p", "value": ["v", "w"]}, r"row 2: a coordinate in .* no"
    with read_source(keys, (), tmp_path) as source, pytest.raises(DataError, match=fault):
        source.visits(Grid((-1e9, 0.0, 1e9), (0.0, 2.0)))


def test_plain_numbers_are_read(tmp_path: Path) -> None:
    written(tmp_path, *PLAIN, "inf", "-Infinity", "NaN", "")
    bounded = Bounded("v", 0, 10, 1, missing=3)
    with read_source(KEYS, (), tmp_path) as source:
        assert source.totals([bounded]).sums.tolist() == [[7 * len(PLAIN) + 3 * 4]]
    written(tmp_path, *PLAIN, "inf", "-Infinity", "")
    keys = {**KEYS, "nulls": "unobserved"}
    with read_source(
        {**keys, "bins": {"a": [-float("inf"), 0], "b": [0, float("inf")]}}, ["a", "b"], tmp_path
    ) as source:
        counts = source.answers()
        assert dict(zip(counts.codes[:, 0].tolist(), counts.rows.tolist(), strict=True)) == {-1: 1, 0: 1, 1: 7}
