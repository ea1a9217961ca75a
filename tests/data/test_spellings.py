"""One person, one name: every engine reads two spellings of a name as one, and refuses two of them in one file."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from tests.support.engines import ENGINES, IN_ROWS, Columns, entries, write_csv, write_parquet
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import DataError, InputError, SpecError
from takifugu.data import Layout, Recode, open_frame, pieces
from takifugu.releasing.file.loading import load

READERS = (*ENGINES, "csv by duckdb", "parquet by duckdb", "parquet by polars", "parquet by pyarrow")
STATES = Recode(("still", "walking"))
#: Spellings of one name: decomposed, and with a blank that only Unicode calls so, of zero width, doubled.
SPELLINGS = ["Jos\u0301e\u0301 Luis", "Jośé\u00a0Luis", "Jośé\u200b Luis", "Jośé  Luis", "\ufeffJośé Luis\u2003"]
NAME = "Jośé Luis"


def columns(names: list[str]) -> Columns:
    return {
        "person": ("text", [name for name in names for _ in range(2)]),
        "state": ("text", ["still", "walking"] * len(names)),
        "at": ("int", list(range(2 * len(names)))),
    }


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def open_by(reader: str, made: Columns) -> Any:
        only = reader.rpartition(" by ")[2]
        if reader in ENGINES:
            return open_frame(ENGINES[reader](made))
        write = write_csv if reader.startswith("csv") else write_parquet
        monkeypatch.setattr("takifugu.data.files.formats.find_spec", lambda name: name == only or None)
        return open_frame(write(tmp_path / f"{reader.replace(' ', '-')}.{reader.split()[0]}", made))

    return open_by


@pytest.mark.sampled(5)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_engine_calls_a_unit_by_its_one_name(opened: Any, reader: str, spelling: str) -> None:
    table = opened(reader, columns(["Ana", spelling]))
    layout = Layout("state", unit="person", order="at")
    recorded = pieces(table, layout, STATES)
    assert [piece.unit for piece in recorded] == ["Ana", NAME]
    assert [piece.counts.tolist() for piece in recorded] == [[1, 1], [1, 1]]
    assert recorded[1].written == spelling.strip(" \t")
    assert [one.unit for one in entries(table, layout, STATES)] == ["Ana", NAME]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("spelling", SPELLINGS[:2])
def test_every_engine_refuses_two_spellings_by_row(opened: Any, reader: str, spelling: str) -> None:
    table = opened(reader, columns(["Ana", NAME, spelling]))
    with pytest.raises(DataError, match="a person is written in two ways") as refused:
        pieces(table, Layout("state", unit="person", order="at"), STATES)
    assert "Luis" not in str(refused.value)
    in_rows = " in rows 3 and 5 (counted from 1 below the header)" in str(refused.value)
    assert in_rows == (reader in IN_ROWS or reader not in ENGINES)


@pytest.mark.parametrize("reader", READERS)
def test_every_engine_refuses_a_control_in_a_name(opened: Any, reader: str) -> None:
    for name, said in (("An\u202ea", "holds a control character"), ("\u200b", "no character that can be seen")):
        with pytest.raises(DataError, match=said) as refused:
            pieces(opened(reader, columns(["Ana", name])), Layout("state", unit="person", order="at"), STATES)
        assert "An" not in str(refused.value)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("layout", [
    Layout("state", unit="person", order="at"), Layout("state", unit="person", order="at", step=1, gaps="public"),
])  # fmt: skip
def test_numbers_with_a_fraction_name_nobody(engine: str, layout: Layout) -> None:
    """In a file of texts 1.5 may be 1.50, who would have a second budget."""
    for kind, names in (("float", [1.0, 1.5]), ("decimal", [Decimal("1.00"), Decimal("1.50")])):
        made = {**columns(["", ""]), "person": (kind, [names[0]] * 2 + [names[1]] * 2)}
        with pytest.raises(DataError, match="column 'person' has numbers with a fraction as names") as refused:
            pieces(open_frame(ENGINES[engine](made)), layout, STATES)
        assert "1.5" not in refused.value.what
        whole = {**columns(["", ""]), "person": (kind, [names[0]] * 4)}
        assert [piece.unit for piece in pieces(open_frame(ENGINES[engine](whole)), layout, STATES)] in (["1"], ["1.00"])


def test_two_spellings_of_a_piece_are_refused_inside_one_unit_only() -> None:
    frame = {
        "who": ["a", "b", "b"], "run": ["1\u00a0a", "1 a", "1\u00a0a"], "state": ["still"] * 3,
    }  # fmt: skip
    import polars

    layout = Layout("state", unit="who", piece="run")
    with pytest.raises(DataError, match="a piece is written in two ways in rows 2 and 3"):
        pieces(open_frame(polars.DataFrame(frame)), layout, STATES)
    recorded = pieces(open_frame(polars.DataFrame(frame).head(2)), layout, STATES)
    assert [(piece.unit, piece.piece) for piece in recorded] == [("a", "1 a"), ("b", "1 a")]


def test_zeros_in_front_make_another_piece_but_no_other_person() -> None:
    import polars

    frame = polars.DataFrame({"who": ["a", "a", "b"], "run": ["01", "1", "1"], "state": ["still"] * 3})
    recorded = pieces(open_frame(frame), Layout("state", unit="who", piece="run"), STATES)
    assert sorted((piece.unit, piece.piece) for piece in recorded) == [("a", "01"), ("a", "1"), ("b", "1")]
    with pytest.raises(DataError, match="a person is written in two ways"):
        pieces(open_frame(frame), Layout("state", unit="run"), STATES)


def test_row_numbers_say_what_they_leave_out() -> None:
    import polars

    frame = polars.DataFrame({"who": ["a", None, "é", "e\u0301"], "state": ["still"] * 4})
    with pytest.raises(DataError, match=r"in rows 2 and 3 .counted from 1 below the header, without the rows that are"):
        pieces(open_frame(frame), Layout("state", unit="who", null_keys="drop"), STATES)


SPEC = release_text(
    read_from("{source}", "data.csv", unit="who", value="state", budget=10),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.8, 0.2], [0.3, 0.7]], units_independent=True),
    publish("time-use", "histogram", epsilon=1, per="unit", mechanism="group"),
    expect=EXPECT,
)


def write(folder: Path, names: list[str], source: str = "study") -> Path:
    rows = [f"{name},{state}" for name in names for state in ("still", "walking", "walking")]
    (folder / "data.csv").write_text("\n".join(["who,state", *rows]) + "\n", encoding="utf-8")
    path = folder / "release.toml"
    path.write_text(SPEC.format(source=source), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_release_file_names_one_account(tmp_path: Path) -> None:
    def spent(names: list[str]) -> Fraction:
        folder = Path(mkdtemp(dir=tmp_path))
        for number, name in enumerate(names):
            anew = {"again": "time-use", "once": f"key {number}"} if number else {}
            (table,) = tf.release_file(write(folder, ["Ana", name]), anyway=True, **anew).tables
            assert [unit for unit, _ in table.releases] == ["Ana", NAME]
            assert NAME in table.certificate.text()
        return Ledger.open(folder / "ledger.db").spent("study").spent.epsilon

    assert spent([NAME, *SPELLINGS]) == spent([NAME] * 6) > spent([NAME])


def test_a_number_read_by_another_program_has_no_second_budget(tmp_path: Path) -> None:
    """In the CSV file she is 007, in a frame that was read from it 7."""
    import pandas

    path = write(tmp_path, ["007", "12"])
    (table,) = tf.release_file(path, anyway=True).tables
    assert [unit for unit, _ in table.releases] == ["007", "12"]
    again = {"output": tmp_path / "again", "once": "again"}
    tf.release_file(path, pandas.read_csv(tmp_path / "data.csv"), **again, anyway=True)
    first, second = Ledger.open(tmp_path / "ledger.db").spent("study").units
    assert first.spent.epsilon == second.spent.epsilon > 1
    with pytest.raises(DataError, match=r"written in two ways in rows 1 and 4 .*zeros in front"):
        tf.release_file(write(Path(mkdtemp(dir=tmp_path)), ["007", "7"]), anyway=True)


def test_the_library_names_one_account(tmp_path: Path) -> None:
    chain = tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 3, states=["still", "walking"])
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("still"), 1, mechanism="group")

    def spent(names: list[str]) -> list[Fraction]:
        where, costs = Path(mkdtemp(dir=tmp_path)) / "own.db", []
        for name in names:
            made = tf.release(calibration, ["still"] * 3, ledger=where, unit=name, budget=10)
            assert made.certificate.to_dict()["units"] == [NAME]
            costs.append(Ledger.open(where).spent("data").spent.epsilon)
        return costs

    one_by_one = spent([*SPELLINGS, f" {NAME} "])
    assert one_by_one == spent([NAME] * 6)
    assert one_by_one[-1] > one_by_one[0]


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u2003", "a\x1b[2Jb", "a\u202eb", 7])
def test_the_library_refuses_what_is_no_name(tmp_path: Path, name: Any) -> None:
    chain = tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 3, states=["still", "walking"])
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("still"), 1, mechanism="group")
    for given, what in (({"unit": name}, "the person's name"), ({"source": name}, "the source")):
        with pytest.raises(InputError, match=what):
            tf.release(calibration, ["still"] * 3, ledger=tmp_path / "ledger.db", **{"unit": "a", **given})
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize("name", [" ", "\\u200b", "a\\u001bb", "a\\u202eb"])
def test_a_release_file_refuses_what_is_no_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(SpecError, match=r"source\.name: "):
        load(write(tmp_path, ["Ana"], source=name))


def test_two_spellings_in_a_release_file_are_named_by_their_key(tmp_path: Path) -> None:
    path = write(tmp_path, [NAME, SPELLINGS[0]])
    with pytest.raises(DataError, match=r"source\.unit: column 'who': a person is written in two ways in rows"):
        tf.release_file(path)
    assert not (tmp_path / "ledger.db").exists()


RECORDS = release_text(
    read_from("cases", "data.csv", unit="who", budget=10),
    believe(
        "table",
        source="assumed",
        units_independent=True,
        columns=["flu"],
        rows=[["yes"], ["no"]],
        probabilities=[0.2, 0.8],
    ),
    publish("flu", "count", states=["yes"], epsilon=1),
    expect=EXPECT,
)


def test_records_have_one_name_a_unit(tmp_path: Path) -> None:
    path = tmp_path / "records.toml"
    path.write_text(RECORDS, encoding="utf-8")
    table = tmp_path / "data.csv"
    table.write_text(f"who,flu\nAna,no\n{SPELLINGS[1]},yes\n", encoding="utf-8")
    (published,) = tf.release_file(path).tables
    assert [unit for unit, _ in published.releases] == ["Ana", NAME]
    table.write_text(f"who,flu\n{NAME},no\n{SPELLINGS[1]},yes\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"source\.unit: column 'who': a person is written in two ways in rows 1 and 2"):
        tf.release_file(path, again="flu", once="K")
