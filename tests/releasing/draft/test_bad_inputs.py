"""Bad files, answers and columns: a refusal that says what mends it, and never a value of a row."""

import gzip
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from tests.releasing.draft.exports import EXPORTS

from takifugu.core.errors import TakifuguError
from takifugu.data.relation.source import read_source
from takifugu.releasing.draft.evidence import evidence
from takifugu.releasing.draft.questions import Question, questions, unsaid
from takifugu.releasing.draft.text import draft

RIGHT = {"rows": "samples", "unit": "who", "order": "t", "step": "1", "value": "state"}
TEXT = "who,t,state\nAna,0,hidden\nBen,1,hidden\n"


def refused(given: object, **answers: str | None) -> str:
    with pytest.raises(TakifuguError) as error:
        draft(given, **{**RIGHT, **answers})
    assert "Ana" not in error.value.line
    assert "hidden" not in error.value.line
    return error.value.line


def source(given: Path, **answers: str) -> dict[str, object]:
    text = draft(given, output=given.with_name("r.toml"), **{**RIGHT, **answers})
    read: dict[str, object] = tomllib.loads(text)["source"]
    return read


@pytest.mark.parametrize(("name", "data", "words"), [
    ("a.csv", b"", "a.csv is empty; export it again"), ("a.csv", b"\n\n \n", "is empty"),
    ("a.csv", b"who,t,state\n", "a.csv has no row"), ("a.csv", b"hello world", "has no row"),
    ("a.csv", b"who,t,state," + b"a," * 100_000 + b"\nAna,0,hidden\n", "more than 10,000 columns"),
    ("a.csv", bytes(range(256)) * 20, "a.csv is no text"), ("a.csv", b"PK\x03\x04\0\0\0" * 99, "is no text"),
    ("a.csv.gz", b"\x1f\x8bnonsense", "cannot be read"), ("a.pdf", b"abc", "of no kind that is read"),
    ("a.parquet", b"abc", "file:"), ("a.xlsx", b"abc", "no workbook"), ("a.sqlite", b"abc", "no SQLite file"),
    ("a.db", b"SQLite format 3\0abc", "mv "), ("a.duckdb", b"abc", "file:"), ("a.jsonl", b"{Ana\n", "file:"),
    ("a.csv", b"who,t,state\nAna,0,hidden\nBen,1,hidden,9\n", "line 3 of a.csv"),
    ("a.csv", b'who,t,state\n"Ana,0,hidden\n', "of a.csv"),
])  # fmt: skip
def test_a_file_that_is_no_table_is_told(name: str, data: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    assert words in refused(tmp_path / name)


def test_folders_missing_files_and_frames_that_are_none_are_told(tmp_path: Path) -> None:
    assert "is a folder" in refused(tmp_path)
    assert "is not there" in refused(tmp_path / "a.csv")
    assert "no table of rows" in refused(5)
    assert "has no row" in refused(pd.DataFrame({"who": []}))


@pytest.mark.parametrize(("answers", "words"), [
    ({"unit": None}, "Whose is a row?"), ({"rows": None}, "--rows samples"), ({"unit": "whom"}, "did you mean 'who'?"),
    ({"unit": "(select 1)"}, "has a subquery"), ({"unit": "who; drop table x"}, "one expression"),
    ({"rows": "sample"}, "did you mean 'samples'?"), ({"step": "5 weeks"}, "--step 15min"), ({"step": "0"}, "--step 1"),
    ({"step": "1min"}, "strptime("), ({"order": "state"}, "strptime("), ({"where": "random() > 1"}, "calls random()"),
    ({"rows": "wide"}, "no columns are called as steps"), ({"rows": "answers"}, "What is secret?"),
    ({"kind": "users"}, "no release file of such rows"), ({"kind": "user"}, "user"),
])  # fmt: skip
def test_an_answer_that_is_none_is_told_with_the_option_that_mends_it(
    answers: dict[str, str | None], words: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(TEXT)
    assert words in refused(tmp_path / "a.csv", **answers)


def test_whose_rows_are_has_no_default_and_is_refused_without_an_answer(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,t,state\nAna,2026-01-05T10:00Z,hidden\n")
    with evidence(tmp_path / "a.csv") as opened:
        some = {question.name: question for question in questions(opened, {"rows": "samples", "order": "t"})}
        everything = str([*some.values(), unsaid([*some.values()])])
    assert some["unit"].offered is some["timezone"].offered is None
    assert some["unit"].choices[-1].name == "-"
    assert "Ana" not in everything
    assert "hidden" not in everything


def test_without_columns_of_people_nobody_is_offered_even_if_there_is_one_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,state\n0,x\n1,y\n")
    with evidence(tmp_path / "a.csv") as opened:
        offered: list[Question] = [q for q in questions(opened, {"rows": "samples"}) if q.name == "unit"]
    assert [question.offered for question in offered] == [None]


def test_a_name_that_is_there_twice_is_told_and_read_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,t,state,State\nAna,0,x,y\nAna,1,y,y\n")
    assert "names 'state' twice" in refused(tmp_path / "a.csv")
    with read_source(source(tmp_path / "a.csv", value="column 3"), ["x", "y"], tmp_path) as table:
        assert table.counts().counts.tolist() == [[1, 1]]


@pytest.mark.parametrize("names", [
    ("from", "select", "end"), ("a b", 'b "c"', "d'e"), ("who\nis", "x\\y", "état"), ("1", "-", "a,b"),
    ("line", "moment", "data"),
])  # fmt: skip
@pytest.mark.parametrize("pad", ["", " "])
def test_names_of_columns_are_quoted_whatever_they_are(names: tuple[str, str, str], pad: str, tmp_path: Path) -> None:
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    (tmp_path / "a.csv").write_text(",".join(quoted) + f"\n{pad}Ana,05.01.2026,x\nBen,25.01.2026,y\n")
    unit, order, value = names
    if pad:
        assert "are the names" in refused(tmp_path / "a.csv", unit=unit, order=order, value=value, step="1d").lower()
        unit = f"trim({quoted[0]})"
    keys = source(tmp_path / "a.csv", unit=unit, order=order, value=value, step="1d")
    with read_source(keys, ["x", "y"], tmp_path) as table:
        assert table.counts().counts.tolist() == [[1, 0], [0, 1]]


def test_wide_tables_of_thousands_of_columns_are_opened(tmp_path: Path) -> None:
    names = ["who", *(f"c{n}x" for n in range(2000))]
    (tmp_path / "a.csv").write_text(",".join(names) + "\n" + ",".join(["Ana"] + ["1"] * 2000) + "\n")
    with evidence(tmp_path / "a.csv") as opened:
        assert len(questions(opened, {})) == 2


def test_a_compressed_table_and_a_codec_that_is_said_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress("кто,t,state\nАня,0,x\n".encode("cp1251")))
    text = draft(tmp_path / "a.csv.gz", **{**RIGHT, "unit": "кто", "encoding": "cp1251"})
    assert 'encoding = "cp1251"' in text
    assert "is not written in" in refused(tmp_path / "a.csv.gz", encoding="ascii")


@pytest.mark.parametrize("name", ["plain", "german_meter", "missing", "padded"])
def test_no_value_of_a_row_is_in_a_draft(name: str, tmp_path: Path) -> None:
    made = EXPORTS[name]()
    made.write(tmp_path / made.file)
    answers = {key: made.right.get(f"{key} again", word) for key, word in made.right.items() if " " not in key}
    text = draft(tmp_path / made.file, **answers)
    assert not any(word in text for word in ("Ana", "still", "walking", "Z1"))
