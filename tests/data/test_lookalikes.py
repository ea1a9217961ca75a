"""Texts that look like a declared value are one rule on every engine, and what has several spellings names nobody."""

import itertools
from collections.abc import Callable
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releasing import attribute_files
from tests.releasing.test_records import BIF, NETWORK, PATIENTS
from tests.support.engines import ENGINES, IN_ROWS
from tests.support.release_files import EXPECT, believe, hide, publish, read_from, release_text

from takifugu import release_file
from takifugu.core.errors import DataError, TakifuguError
from takifugu.data import Layout, Recode, open_frame, pieces, refuse_lookalikes
from takifugu.data.engines.sanitise import as_kind
from takifugu.data.lookalikes import Lookalikes, one_error_apart
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

DECLARED = ["bar", "Café Nord", "hospital", "ward 1", "walking"]


@pytest.mark.parametrize(("text", "meant"), [
    ("Bar", "bar"), ("bar\u00a0", "bar"), ("b\u200bar", "bar"), ("cafe nord", "Café Nord"),
    ("CAFÉNORD", "Café Nord"),
    ("hospitl", "hospital"), ("hopsital", "hospital"), ("Hospitals", "hospital"), ("hosbital", "hospital"),
    ("walkin", "walking"), ("wlaking", "walking"), ("WARD\t1", "ward 1"), ("ｂａｒ", "bar"),
    ("baz", None), ("car", None), ("ward 2", None), ("word 1", None), ("talkin", None), ("", None), ("bar", None),
    ("hospices", None), ("gym", None),
])  # fmt: skip
def test_what_is_meant(text: str, meant: str | None) -> None:
    assert Lookalikes(DECLARED)(text) == meant
    of = Lookalikes(["walked", "walker", "Bar", "bar"])  # what is declared is meant as it is
    assert [of(text) for text in ("walked", "walker", "Bar", "bar", "BAR")] == [None, None, None, None, "Bar"]


def errors_of(text: str, letters: str) -> set[str]:
    cuts = [(text[:i], text[i:]) for i in range(len(text) + 1)]
    fewer = {a + b[1:] for a, b in cuts if b}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    other = {a + x + b[1:] for a, b in cuts if b for x in letters}
    more = {a + x + b for a, b in cuts for x in letters}
    return (fewer | swapped | other | more) - {text}


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_one_error_by_making_all_of_them(one: str, other: str) -> None:
    assert one_error_apart(one, other) == (other in errors_of(one, "abc"))


def test_all_errors_of_a_word_are_noticed() -> None:
    of = Lookalikes(["walking", "sitting"])
    assert all(of(text) == "walking" for text in errors_of("walking", "aekxz"))
    apart = ["".join(letters) for letters in itertools.product("xyz", repeat=5)]
    assert not any(map(of, apart))


@pytest.mark.parametrize("engine", [*ENGINES, "csv"])
def test_the_same_row_on_every_engine(engine: str, tmp_path: Path) -> None:
    texts = ["hospital", "bar", None, "elsewhere", " hopsital", "Bar", "hopsital"]
    if engine == "csv":
        file = tmp_path / "visits.csv"
        file.write_text("where,n\n" + "".join(f"{text or ''},1\n" for text in texts), encoding="utf-8")
        table = open_frame(file)
    else:
        table = open_frame(ENGINES[engine]({"where": ("text", texts), "n": ("int", [1] * len(texts))}))
    with pytest.raises(DataError) as caught:
        refuse_lookalikes(table, "where", DECLARED, "place")
    message = str(caught.value)
    assert "a declared value up to case" in message
    assert "hopsital" not in message
    assert "hospital" not in message
    assert ("in row 5 (counted from 1 below the header)" in message) == (engine in IN_ROWS or engine == "csv")
    refuse_lookalikes(table, "where", [*DECLARED, "hopsital", "Bar", " hopsital"], "place")


VISITS = release_text(
    read_from("s", "v.csv", unit="who", value="where", where="lower(\"where\") <> 'elsewhere'", budget=9),
    believe("asymmetric", places=["bar", "gym"], most=2),
    hide(visits="all"),
    publish("t", "safe", at_most=5, epsilon=1),
    ledger="l.db",
)


def test_nine_people_at_a_place_spelt_otherwise_are_not_safe(tmp_path: Path) -> None:
    """A row elsewhere is left out, so that nine at "Bar" would be none at "bar"."""
    (tmp_path / "v.toml").write_text(VISITS, encoding="utf-8")
    rows = "who,where\np9,gym\n" + "".join(f"p{i},Bar\n" for i in range(9))
    (tmp_path / "v.csv").write_text(rows, encoding="utf-8")
    with pytest.raises(DataError, match=r"source\.value: row 2: a place that is a declared one") as caught:
        release_file(tmp_path / "v.toml")
    assert '"bar"' not in str(caught.value).lower()
    assert not (tmp_path / "l.db").exists()
    (tmp_path / "v.csv").write_text(rows.replace("Bar", "bar"), encoding="utf-8")
    assert len(release_file(tmp_path / "v.toml").tables) == 1


def test_records_with_a_typing_error(tmp_path: Path) -> None:
    rows = attribute_files.FILES["records"][2]
    assert "no,b,0.5,4" in rows
    file = attribute_files.written(tmp_path, "records", data=rows.replace("no,b,0.5,4", "No,b,0.5,4", 1))
    with pytest.raises(DataError, match=r'source\.file: row \d+: a value in "smokes" .* declared one') as caught:
        release_file(file)
    assert "'no'" not in str(caught.value).lower()


ACTIVITY = release_text(
    read_from("s", "v.csv", value="state", order="t", step=1, budget=9),
    believe("markov-chain", states=["calm", "walking"], matrix=[[0.5, 0.5], [0.5, 0.5]]),
    publish("t", "count", states=["walking"], epsilon=1, mechanism="group"),
    ledger="l.db",
    expect=EXPECT,
)


@pytest.mark.parametrize("state", ["Walking", "walkign", "walkin\u200bg", " WALKING"])
def test_states_of_a_sequence(tmp_path: Path, state: str) -> None:
    (tmp_path / "v.toml").write_text(ACTIVITY, encoding="utf-8")
    (tmp_path / "v.csv").write_text(f"t,state\n1,calm\n2,walking\n3,{state}\n4,calm\n", encoding="utf-8")
    with pytest.raises(DataError, match=r'value: row 3: a value in "state" that is none of the states') as caught:
        release_file(tmp_path / "v.toml")
    assert repr(state) not in str(caught.value)
    assert "walking" not in str(caught.value)
    assert not (tmp_path / "l.db").exists()


STATES = Recode(("still", "walking"))
BY_PERSON = Layout("state", unit="person", order="at")
TIMES = [datetime(2026, 1, 5), datetime(2026, 1, 5, 10)]
#: How a frame of pandas becomes one of other engines, or a file.
FRAMES: dict[str, Callable[[pandas.DataFrame, Path], Any]] = {
    "pandas": lambda frame, _: frame,
    "pandas of arrow": lambda frame, _: pyarrow.Table.from_pandas(frame).to_pandas(types_mapper=pandas.ArrowDtype),
    "polars": lambda frame, _: in_polars(frame),
    "pyarrow": lambda frame, _: pyarrow.Table.from_pandas(frame),
    "parquet": lambda frame, folder: frame.to_parquet(folder / "d.parquet") or folder / "d.parquet",
}


def in_polars(frame: pandas.DataFrame) -> polars.DataFrame:
    """Return a frame of Polars, whose categories are texts; older ones read no others."""
    kind = frame["person"].dtype
    if isinstance(kind, pandas.CategoricalDtype) and kind.categories.inferred_type != "string":
        frame = frame.assign(person=frame["person"].astype(kind.categories.dtype))
    return polars.from_pandas(frame)


def frame_of(names: Any) -> pandas.DataFrame:
    """Return two rows of each of two people."""
    people = pandas.Series(names).take([0, 0, 1, 1]).reset_index(drop=True)
    return pandas.DataFrame({"person": people, "state": ["still", "walking"] * 2, "at": range(4)})


@pytest.mark.parametrize("engine", FRAMES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "Float32"])
def test_short_numbers_with_a_point_name_nobody(engine: str, dtype: str, tmp_path: Path) -> None:
    """16777217 is 16777216 in 32 bits: one of two people would be charged for both."""
    data = FRAMES[engine](frame_of(pandas.array([2049.0, 2.0], dtype=dtype)), tmp_path)
    with pytest.raises(DataError, match=r"column 'person' holds values of type Float(16|32), which name nothing"):
        pieces(open_frame(data), BY_PERSON, STATES)
    of_pieces = Layout("state", piece="person", order="at")
    assert [piece.counts.tolist() for piece in pieces(open_frame(data), of_pieces, STATES)] == [[1, 1], [1, 1]]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", FRAMES)
@pytest.mark.parametrize(("names", "said"), [
    ([1.0, 1.5], "numbers with a fraction"), ([1.0, 2.0**53 + 2], "numbers of 16 digits and more"),
    ([True, False], "true and false"), (pandas.DatetimeIndex(TIMES), "times"),
    (pandas.DatetimeIndex(TIMES).tz_localize("Europe/Berlin"), "times"),
])  # fmt: skip
def test_categories_are_what_they_are_of(engine: str, names: Any, said: str, tmp_path: Path) -> None:
    data = FRAMES[engine](frame_of(pandas.Categorical(names)), tmp_path)
    with pytest.raises(DataError, match=f"column 'person' has {said}.* as names"):
        pieces(open_frame(data), BY_PERSON, STATES)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", FRAMES)
@pytest.mark.parametrize(("names", "called"), [
    ([1, 2], ["1", "2"]), ([1.0, 2.0], ["1", "2"]), (["Ana", "Bo"], ["Ana", "Bo"]),
    ([2**62 + 1, 5], ["5", str(2**62 + 1)]),
])  # fmt: skip
def test_categories_of_texts_and_whole_numbers_are_names(
    engine: str, names: Any, called: list[str], tmp_path: Path
) -> None:
    data = FRAMES[engine](frame_of(pandas.Categorical(names)), tmp_path)
    assert [piece.unit for piece in pieces(open_frame(data), BY_PERSON, STATES)] == called


def test_missing_categories_stay_missing() -> None:
    frame = frame_of(["Ana", "Bo"]).assign(state=pandas.Categorical([True, None, True, False]))
    of_truth = Recode(("still", "walking"), {"true": "still", "false": "walking"})
    layout = Layout("state", unit="person", order="at", nulls="unobserved", step=1)
    assert [piece.counts.tolist() for piece in pieces(open_frame(frame), layout, of_truth)] == [[1, 0], [1, 1]]


@pytest.mark.parametrize(("names", "said"), [
    (pandas.array([1.0, 2.0, 3.0], dtype="float32"), "numbers with a point"),
    ([1.0, 1.5, 3.0], "numbers with a point"), ([1.0, 2.0**53 + 2, 3.0], "numbers with a point"),
    (pandas.DatetimeIndex([*TIMES, datetime(2026, 1, 6)]), "TIMESTAMP"),
])  # fmt: skip
def test_records_of_people_are_named_as_sequences_are(names: Any, said: str, tmp_path: Path) -> None:
    (tmp_path / "clinic.bif").write_text(BIF)
    (tmp_path / "r.toml").write_text(NETWORK)
    data = pandas.read_csv(StringIO(PATIENTS), keep_default_na=False)
    assert plan(load(tmp_path / "r.toml", data)).unit_names == ("p2", "p9", "p10")
    with pytest.raises(TakifuguError, match=f"source.unit: unit holds {said}"):
        plan(load(tmp_path / "r.toml", data.assign(patient=names)))


def test_periods_are_told_as_what_they_are() -> None:
    frame = frame_of(["Ana", "Bo"]).assign(at=pandas.period_range("2026-01-01", periods=4, freq="h"))
    for step in (1, "1h", None):
        layout = Layout("state", unit="person", order="at", step=step)
        with pytest.raises(DataError, match=r"'at' holds neither numbers nor dates and times: .*\.dt\.to_timestamp"):
            pieces(open_frame(frame), layout, STATES)


def test_a_number_beyond_all_floats_is_no_state_of_a_column() -> None:
    assert as_kind("1e400", nw.Float64()) is None


@pytest.mark.parametrize("engine", FRAMES)
@pytest.mark.parametrize("role", ["person", "state", "at"])
def test_whole_numbers_from_2_to_the_63_are_no_fault_of_an_engine(engine: str, role: str, tmp_path: Path) -> None:
    """Every engine but pandas was said to have failed, with the advice to install another version."""
    frame = frame_of(["a", "b"]).assign(**{role: pandas.Series([2**63 + 5, 2**63 + 6] * 2, dtype="uint64")})
    data = FRAMES[engine](frame, tmp_path)
    with pytest.raises(DataError, match=r"holds whole numbers from 2\^63 on: write .* as texts") as refused:
        pieces(open_frame(data), BY_PERSON, STATES)
    assert "9223372036854775813" not in str(refused.value)
