"""Bad files, answers and columns: a refusal that says what mends it, and never a value of a row."""

import gzip
import io
import json
import pickle
import tomllib
from pathlib import Path

import pytest
from tests.releasing.draft.exports import EXPORTS

from takifugu.core.errors import DataError, TakifuguError
from takifugu.data.relation.source import opened_table
from takifugu.releasing.draft.evidence import evidence
from takifugu.releasing.draft.question import unsaid
from takifugu.releasing.draft.questions import questions
from takifugu.releasing.draft.text import draft

RIGHT = {"rows": "samples", "unit": "who", "order": "t", "step": "1", "value": "state"}
TEXT = "who,t,state\nAna,0,hidden\nBen,1,hidden\n"


def refused(given: object, **answers: object) -> str:
    with pytest.raises(TakifuguError) as error:
        draft(given, **{**RIGHT, **answers})
    assert "Ana" not in error.value.line
    assert "hidden" not in error.value.line
    assert "--" not in error.value.line  # of the command line
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
    ("a.csv.gz", gzip.compress(b"x" * 99)[:10] + b"\xff" * 99, "cannot be read"),
    ("a.csv.gz", b"\x1f\x8bnonsense", "cannot be read"), ("a.pdf", b"abc", "of no kind that is read"),
    ("a.parquet", b"abc", "file:"), ("a.xlsx", b"abc", "no workbook"), ("a.sqlite", b"abc", "a.sqlite is damaged"),
    ("a.db", b"SQLite format 3\0abc", "a.db is no SQLite file, or is in use"),
    ("a.duckdb", b"abc", "file:"), ("a.jsonl", b"{Ana\n", "file:"),
    ("a.csv", b"who,t,state\nAna,0,hidden\nBen,1,hidden,9\n", "line 3 of a.csv"),
    ("a.csv", b'who,t,state\n"Ana,0,hidden\n', "of a.csv"),
])  # fmt: skip
def test_a_file_that_is_no_table_is_told(name: str, data: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    assert words in refused(tmp_path / name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("answers", "words"), [
    ({"unit": None}, "Whose is a row?"), ({"rows": None}, "; rows='samples' ("),
    ({"unit": "whom"}, "did you mean 'who'?"),
    ({"unit": "7"}, "unit is '7', which names no column"), ({"order": "2"}, "order is '2', which names no column"),
    ({"value": "2026-01-05"}, "which names no column; it says something of each row; write one of ["),
    ({"unit": "(select 1)"}, "has a subquery"), ({"unit": "who; drop table x"}, "one expression"),
    ({"rows": "sample"}, "did you mean 'samples'?"),
    ({"step": "5 weeks"}, "; step='1', or step='15min', or step='1h', or step='1d'"),
    ({"step": "0"}, "; step='1', or"), ({"rows": "changes", "step": None}, "; step='1' (its numbers)"),
    ({"step": "1min"}, "; step='1', or another number"), ({"order": "state"}, "; order='datediff("),
    ({"order": "state", "step": "1min"},
     """; order='strptime("state", \\'%d.%m.%Y %H:%M\\')' (with your format, or a list of them: ['...', '...'])"""),
    ({"order": "state, who", "step": "1min"}, """; order='strptime("state" || \\' \\' || "who", \\'%d"""),
    ({"order": "strptime(state, '%d.%m.%Y')"}, "order cannot be computed for every row"),
    ({"where": "random() > 1"}, "calls random()"),
    ({"rows": "wide"}, "no columns are called as steps"), ({"rows": "answers"}, "What is secret?"),
    ({"kind": "users"}, "; rows='answers', or another kind"), ({"kind": "user"}, "user"),
])  # fmt: skip
def test_an_answer_that_is_none_is_told_with_the_option_that_mends_it(
    answers: dict[str, str | None], words: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(TEXT)
    assert words in refused(tmp_path / "a.csv", **answers)


@pytest.mark.mutants
def test_answers_in_python_are_texts_or_the_values_of_their_keys(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,day,clock,state\nAna,2026-01-05,10:00,hidden\n")
    texts = {**RIGHT, "order": "day, clock", "step": "1h", "states": "x, y", "mean_duration": "x 2 h, y 5 h"}
    values = {**texts, "order": ["day", "clock"], "states": ["x", "y"], "mean_duration": {"x": "2 h", "y": "5 h"}}
    assert draft(tmp_path / "a.csv", **texts) == draft(tmp_path / "a.csv", **values)
    (tmp_path / "a.csv").write_text(TEXT)
    assert draft(tmp_path / "a.csv", **RIGHT) == draft(tmp_path / "a.csv", **{**RIGHT, "step": 1})


def test_whose_rows_are_has_no_default_and_is_refused_without_an_answer(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,t,state\nAna,2026-01-05T10:00Z,hidden\n")
    with evidence(tmp_path / "a.csv") as opened:
        some = {question.name: question for question in questions(opened, {"rows": "samples", "order": "t"})}
        everything = str([*some.values(), unsaid([*some.values()])])
    assert some["unit"].offered is some["timezone"].offered is None
    assert some["unit"].choices[-1].name == "-"
    assert "Ana" not in everything
    assert "hidden" not in everything


def test_a_name_that_is_there_twice_is_told_and_read_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,t,state,State\nAna,0,x,y\nAna,1,y,y\n")
    assert "names 'state' twice" in refused(tmp_path / "a.csv")
    with opened_table(source(tmp_path / "a.csv", value="column 3"), ["x", "y"], tmp_path) as table:
        assert table.counts().counts.tolist() == [[1, 1]]


@pytest.mark.sampled(7)
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
    with opened_table(keys, ["x", "y"], tmp_path) as table:
        assert table.counts().counts.tolist() == [[1, 0], [0, 1]]


def test_a_compressed_table_and_a_codec_that_is_said_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress("кто,t,state\nАня,0,x\n".encode("cp1251")))
    text = draft(tmp_path / "a.csv.gz", **{**RIGHT, "unit": "кто", "encoding": "cp1251"})
    assert 'encoding = "cp1251"' in text
    assert "is not written in" in refused(tmp_path / "a.csv.gz", encoding="ascii")
    for name in ("utf-9", "rot13", "\0"):
        assert "is no encoding of text files" in refused(tmp_path / "a.csv.gz", encoding=name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["plain", "german_meter", "missing", "padded"])
def test_no_value_of_a_row_is_in_a_draft(name: str, tmp_path: Path) -> None:
    made = EXPORTS[name]()
    made.write(tmp_path / made.file)
    answers = {key: made.right.get(f"{key} again", word) for key, word in made.right.items() if " " not in key}
    text = draft(tmp_path / made.file, **answers)
    assert not any(word in text for word in ("Ana", "still", "walking", "Z1"))


PEOPLE = [{"person": "SENTINEL", "minute": 0, "state": "ill"}, {"person": "SENTINEL", "minute": 1, "state": "well"}]
GEO = {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": PEOPLE[0], "geometry": None}]}
GPX = (
    '<?xml version="1.0"?>\n<gpx version="1.1" creator="x"><trk><name>SENTINEL</name><trkseg>'
    '<trkpt lat="52.5" lon="13.4"><time>2026-01-05T10:00:00Z</time></trkpt></trkseg></trk></gpx>'
)

TEXTS = {
    "JSON lines": "\n".join(map(json.dumps, PEOPLE)),
    "JSON lines without spaces": "\n".join(json.dumps(p, separators=(",", ":")) for p in PEOPLE),
    "JSON lines of lists": '["SENTINEL", 0, "ill"]\n["SENTINEL", 1, "well"]\n',
    "JSON lines of numbers": "[0, 1.5, null]\n[1, 2.5, true]\n",
    "JSON after blank lines": "\n \n" + json.dumps(PEOPLE[0]),
    "JSON with a mark": "\ufeff" + json.dumps(PEOPLE),
    "JSON": json.dumps(PEOPLE),
    "JSON in lines": json.dumps(PEOPLE, indent=2),
    "one long line of JSON": json.dumps(PEOPLE * 3000),
    "JSON text sequence": "\x1e" + json.dumps(PEOPLE[0]),
    "GeoJSON": json.dumps(GEO),
    "GeoJSON in lines": json.dumps(GEO, indent=1),
    "Python": repr(PEOPLE[0]),
    "GPX": GPX,
    "GPX without its first line": GPX.split("\n")[1],
    "KML": '<kml xmlns="http://www.opengis.net/kml/2.2">\n<Placemark><name>SENTINEL</name></Placemark></kml>',
    "XML of our own": "<people>\n <person>SENTINEL</person>\n</people>",
    "HTML": "<!DOCTYPE html>\n<html><body><td>SENTINEL</td></body></html>",
    "a table of HTML": "<table>\n<tr><td>SENTINEL</td></tr></table>",
    "contacts": "BEGIN:VCARD\nVERSION:3.0\nFN:SENTINEL\nEND:VCARD\n",
    "YAML": "---\n- person: SENTINEL\n",
    "ARFF": "@RELATION people\n@ATTRIBUTE name STRING\n@DATA\nSENTINEL\n",
    "SQL": "INSERT INTO people VALUES ('SENTINEL', 1);\n",
    "an old pickle": pickle.dumps(PEOPLE, protocol=0).decode("latin-1"),
}


def workbook() -> bytes:
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as book:
        book.writestr("xl/worksheets/sheet1.xml", "SENTINEL")
    return packed.getvalue()


BINARY = {
    "Excel": workbook(),
    "pickle": pickle.dumps(PEOPLE),
    "pickle 2": pickle.dumps(PEOPLE, protocol=2),
    "HDF5": b"\x89HDF\r\n\x1a\nSENTINEL",
    "NumPy": b"\x93NUMPY\x01\x00SENTINEL",
    "ORC": b"ORC\n\x0b\x08SENTINEL",
    "R": b"X\n\x00\x00\x00\x03SENTINEL",
    "PDF": b"%PDF-1.7 SENTINEL",
}
ALL = {name: text.encode() for name, text in TEXTS.items()} | BINARY


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("ending", [".csv", ".txt.gz"])
def test_what_is_no_table_is_refused_without_a_word_of_it(tmp_path: Path, name: str, ending: str) -> None:
    contents = [ALL[name]]
    if name in TEXTS:
        contents += [TEXTS[name].encode("utf-16"), TEXTS[name].encode("cp1252", "ignore")]
    for content in contents:
        (tmp_path / f"d{ending}").write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
        with pytest.raises(DataError) as error:
            evidence(tmp_path / f"d{ending}")
        assert "SENTINEL" not in error.value.line
        assert error.value.fix


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "header",
    ["[id],[name]", "[id]", "<TICKER>,<DATE>", "<DATE>\t<OPEN>", "{id};{name}", "<5,5-10,>10", "[1,2)", "lp0", "ORC",
     "ORCID,name", "CDF,x", "RDX,y", "c,d", "begin,end", "---,x", "{x", "BZh,y", "# a,b", '"[""a""]",b'],
)  # fmt: skip
def test_names_in_brackets_are_names(tmp_path: Path, header: str) -> None:
    columns = 1 + header.count(",") + header.count(";") + header.count("\t")
    separator = next((sign for sign in ",;\t" if sign in header), ",")
    (tmp_path / "d.csv").write_text(f"{header}\n" + f"{separator.join(['0'] * columns)}\n" * 3)
    with evidence(tmp_path / "d.csv") as opened:
        assert len(opened.types) == columns


def test_where_no_key_names_people_each_has_one_row(tmp_path: Path) -> None:
    said: dict[str, str | None] = {"rows": "answers", "unit": "who", "kind": "users", "value": "state"}
    (tmp_path / "a.csv").write_text(TEXT)
    text = draft(tmp_path / "a.csv", **said)
    assert "unit" not in tomllib.loads(text)["source"]
    (tmp_path / "a.csv").write_text(TEXT + "Ana,2,hidden\n")
    for kind in ("users", "normal"):
        assert "3 rows have 2 names in 'who'" in refused(tmp_path / "a.csv", **{**said, "kind": kind, "order": None})


@pytest.mark.parametrize("where", ["'x'", "1", "state", "false", "who = 'nobody'"])
def test_a_wrong_answer_which_rows_count_is_its_own_error(where: str, tmp_path: Path) -> None:
    """It was once told of `sql`, which nobody wrote, or of the column of times."""
    (tmp_path / "a.csv").write_text(TEXT)
    assert refused(tmp_path / "a.csv", where=where).startswith("where: where ")
