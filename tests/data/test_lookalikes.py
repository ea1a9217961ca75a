"""Texts that look like a declared value are refused, and what has several spellings names nobody."""

import itertools
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releasing.test_records import BIF, NETWORK, PATIENTS
from tests.support.release_files import EXPECT, believe, hide, publish, read_from, release_text

from takifugu import release_file
from takifugu.core.errors import DataError, TakifuguError
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
    with pytest.raises(DataError, match=r"source\.value: row 2: a value in .where. that is a declared one") as caught:
        release_file(tmp_path / "v.toml")
    assert '"bar"' not in str(caught.value).lower()
    assert not (tmp_path / "l.db").exists()
    (tmp_path / "v.csv").write_text(rows.replace("Bar", "bar"), encoding="utf-8")
    assert len(release_file(tmp_path / "v.toml").tables) == 1


ACTIVITY = release_text(
    read_from("s", "v.csv", value="state", order="t", step=1, budget=9),
    believe("markov-chain", states=["calm", "walking"], matrix=[[0.5, 0.5], [0.5, 0.5]]),
    publish("t", "count", states=["walking"], epsilon=1, mechanism="group-dp"),
    ledger="l.db",
    expect=EXPECT,
)


@pytest.mark.parametrize("state", ["Walking", "walkign", "walkin\u200bg", " WALKING"])
def test_states_of_a_sequence(tmp_path: Path, state: str) -> None:
    (tmp_path / "v.toml").write_text(ACTIVITY, encoding="utf-8")
    (tmp_path / "v.csv").write_text(f"t,state\n1,calm\n2,walking\n3,{state}\n4,calm\n", encoding="utf-8")
    with pytest.raises(DataError, match=r'value: row 3: a value in "state" that is not declared') as caught:
        release_file(tmp_path / "v.toml")
    assert repr(state) not in str(caught.value)
    assert "walking" not in str(caught.value)
    assert not (tmp_path / "l.db").exists()


TIMES = [datetime(2026, 1, 5), datetime(2026, 1, 5, 10)]


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
