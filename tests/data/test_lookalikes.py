"""Texts that look like a declared value: one rule, the same on every engine and in every kind of file."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releasing import attribute_files
from tests.support.engines import ENGINES, IN_ROWS
from tests.support.release_files import EXPECT, believe, hide, publish, read_from, release_text

from takifugu import release_file
from takifugu.core.errors import DataError
from takifugu.data import open_frame, refuse_lookalikes
from takifugu.data.lookalikes import Lookalikes, one_error_apart

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


def test_what_is_declared_is_meant_as_it_is() -> None:
    of = Lookalikes(["walked", "walker", "Bar", "bar"])
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
    read_from("s", "v.csv", person="who", place="where", elsewhere="ignore", budget=9),
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
    with pytest.raises(DataError, match=r"source\.place: column 'where' holds in row 2 .* a declared value") as caught:
        release_file(tmp_path / "v.toml")
    assert "bar" not in str(caught.value).lower()
    assert not (tmp_path / "l.db").exists()
    (tmp_path / "v.csv").write_text(rows.replace("Bar", "bar"), encoding="utf-8")
    assert len(release_file(tmp_path / "v.toml").tables) == 1


def test_records_with_a_typing_error(tmp_path: Path) -> None:
    rows = attribute_files.FILES["records"][2]
    assert "no,b,0.5,4" in rows
    file = attribute_files.written(tmp_path, "records", data=rows.replace("no,b,0.5,4", "No,b,0.5,4", 1))
    with pytest.raises(DataError, match=r"source\.file: column 'smokes' holds in row \d+ .* declared value") as caught:
        release_file(file)
    assert "'no'" not in str(caught.value).lower()


ACTIVITY = release_text(
    read_from("s", "v.csv", value="state", budget=9),
    believe("markov-chain", states=["calm", "walking"], matrix=[[0.5, 0.5], [0.5, 0.5]]),
    publish("t", "count", states=["walking"], epsilon=1, mechanism="group"),
    ledger="l.db",
    expect=EXPECT,
)


@pytest.mark.parametrize("state", ["Walking", "walkign", "walkin\u200bg", " WALKING"])
def test_states_of_a_sequence(tmp_path: Path, state: str) -> None:
    (tmp_path / "v.toml").write_text(ACTIVITY, encoding="utf-8")
    (tmp_path / "v.csv").write_text(f"state\ncalm\nwalking\n{state}\ncalm\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"column 'state' holds in row 3 .* a declared value") as caught:
        release_file(tmp_path / "v.toml")
    assert repr(state) not in str(caught.value)
    assert "walking" not in str(caught.value)
    assert not (tmp_path / "l.db").exists()
