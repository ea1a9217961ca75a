"""Formats of files from outside the package, and files that are no tables: refused without a word of what they hold."""

import copy
import gzip
import io
import json
import pickle
import re
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.support.engines import entries

from takifugu.core.errors import DataError, InputError
from takifugu.data import Layout, Recode, SourceFormat, Written, open_frame, sniffed
from takifugu.data import register_source_format as register
from takifugu.data.files import formats

ROOT = Path(__file__).parents[2]
WIDTHS = {"who": (0, 4), "minute": (4, 7), "state": (7, 12)}
ROWS = [(who, minute, ("still", "walk")[minute % 3 == 0]) for who in ("Ana", "Ben") for minute in range(60)]
FIXED = "".join(f"{who:4}{minute:<3}{state:5}\n" for who, minute, state in ROWS)
CSV = "who,minute,state\n" + "".join(f"{who},{minute},{state}\n" for who, minute, state in ROWS)


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "FORMATS", copy.deepcopy(formats.FORMATS))


def read(file: Any, written: Written) -> dict[str, list[str | None]]:
    with file.opened() as data:
        lines = [line.decode() for line in data]
    return {name: [line[start:end].strip() or None for line in lines] for name, (start, end) in WIDTHS.items()}


def states(path: Path) -> list[tuple[Any, list[int]]]:
    layout = Layout("state", unit="who", order="minute")
    return [(piece.unit, list(piece.values)) for piece in entries(open_frame(path), layout, Recode(("still", "walk")))]


def test_its_files_hold_what_the_same_rows_hold_as_csv(tmp_path: Path) -> None:
    register(SourceFormat("fixed width", read, suffixes=(".fwf",)))
    (tmp_path / "rows.csv").write_text(CSV)
    expected = states(tmp_path / "rows.csv")
    (tmp_path / "rows.FWF").write_text(FIXED)
    (tmp_path / "rows.fwf.gz").write_bytes(gzip.compress(FIXED.encode()))
    assert states(tmp_path / "rows.FWF") == states(tmp_path / "rows.fwf.gz") == expected
    table = open_frame(tmp_path / "rows.FWF", ["still"])
    assert (table.source, table.ordered, table.missing) == ("rows.FWF", True, frozenset({"", "still"}))


@pytest.mark.parametrize("make", [polars.DataFrame, polars.LazyFrame, lambda rows: polars.DataFrame(rows).to_pandas()])
def test_it_may_return_a_frame_whose_rows_are_in_order(make: Any, tmp_path: Path) -> None:
    rows = {"who": ["a", "a", "b"], "state": ["s", "w", "s"]}
    register(SourceFormat("odd", lambda file, written: make(rows), begins=(b"ODD",)))
    (tmp_path / "rows.txt").write_bytes(b"ODD and private")
    layout = Layout("state", unit="who")  # no order column: the file's order is theirs
    read_pieces = entries(open_frame(tmp_path / "rows.txt"), layout, Recode(("s", "w")))
    assert [(piece.unit, list(piece.values)) for piece in read_pieces] == [("a", [0, 1]), ("b", [0])]


def test_a_beginning_is_surer_than_a_name(tmp_path: Path) -> None:
    def log(file: Any, written: Written) -> dict[str, list[str | None]]:
        return {"event": ["start"]}

    register(SourceFormat("fixed width", read, suffixes=(".fwf",)))
    path = tmp_path / "people.fwf"
    path.write_bytes(b"LOG1\xff")
    with pytest.raises(DataError):
        open_frame(path)
    register(SourceFormat("log", log, begins=(b"LOG1",)))
    assert open_frame(path).names == ("event",)


def test_init_gets_what_it_guesses(tmp_path: Path) -> None:
    register(SourceFormat("fixed width", read, (".fwf",), guess=lambda file: Written(encoding="latin-1")))
    (tmp_path / "rows.fwf").write_text(FIXED)
    assert sniffed(tmp_path / "rows.fwf") == Written(encoding="latin-1")
    assert sniffed(tmp_path / "not there.fwf") == Written()


def broken(file: Any, written: Written) -> Any:
    raise ValueError("the row of SENTINEL is odd")


@pytest.mark.parametrize(("reader", "words"), [
    (broken, "d.fwf cannot be read as fixed width"),
    (lambda file, written: {}, "is no table"),
    (lambda file, written: {"who": ["SENTINEL"], "state": []}, "is no table"),
    (lambda file, written: {"minute": [7]}, "something else than texts"),
    (lambda file, written: 7, "the data is a builtins int"),
])  # fmt: skip
def test_what_it_raises_or_returns_is_never_quoted(reader: Any, words: str, tmp_path: Path) -> None:
    register(SourceFormat("fixed width", reader, suffixes=(".fwf",)))
    (tmp_path / "d.fwf").write_text("SENTINEL")
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        open_frame(tmp_path / "d.fwf")
    assert b"SENTINEL" not in pickle.dumps(caught.value)


def test_bad_formats_are_refused() -> None:
    register(SourceFormat("fixed width", read, suffixes=(".fwf",)))
    for bad, rule in (
        (SourceFormat("fixed width", read, (".prn",)), "registered already"),
        (SourceFormat("other", read, (".fwf",)), "is how fixed width files are told"),
        (SourceFormat("mine", read, (".parquet",)), "is how Parquet files are told"),
        (SourceFormat("mine", read, begins=(b"PAR1",)), "is how Parquet files are told"),
        (SourceFormat("all", read, begins=(b"",)), "nothing tells"), (SourceFormat("none", read), "nothing tells"),
        (SourceFormat("odd", read, ("FWF",)), "suffixes"), (SourceFormat("odd", 3, (".odd",)), "no source format"),  # type: ignore[arg-type]
        (read, "no source format"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=rule):
            register(bad)  # type: ignore[arg-type]


EXTENSION = f"""
from takifugu import extending

WIDTHS = {WIDTHS}

def read(file, written):
    with file.opened() as data:
        lines = [line.decode() for line in data]
    return {{name: [line[start:end].strip() or None for line in lines] for name, (start, end) in WIDTHS.items()}}

extending.register_source_format(extending.SourceFormat("fixed width", read, suffixes=(".fwf",)))
"""


PEOPLE = [{"person": "SENTINEL", "minute": 0, "state": "ill"}, {"person": "SENTINEL", "minute": 1, "state": "well"}]
GEO = {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": PEOPLE[0], "geometry": None}]}
GPX = (
    '<?xml version="1.0"?>\n<gpx version="1.1" creator="x"><trk><name>SENTINEL</name><trkseg>'
    '<trkpt lat="52.5" lon="13.4"><time>2026-01-05T10:00:00Z</time></trkpt></trkseg></trk></gpx>'
)

TEXTS = {
    "JSON lines": ("\n".join(map(json.dumps, PEOPLE)), "is JSON"),
    "JSON lines without spaces": ("\n".join(json.dumps(p, separators=(",", ":")) for p in PEOPLE), "is JSON"),
    "JSON lines of lists": ('["SENTINEL", 0, "ill"]\n["SENTINEL", 1, "well"]\n', "is JSON"),
    "JSON lines of numbers": ("[0, 1.5, null]\n[1, 2.5, true]\n", "is JSON"),
    "JSON after blank lines": ("\n \n" + json.dumps(PEOPLE[0]), "is JSON"),
    "JSON with a mark": ("\ufeff" + json.dumps(PEOPLE), "is JSON"),
    "JSON": (json.dumps(PEOPLE), "is JSON"),
    "JSON in lines": (json.dumps(PEOPLE, indent=2), "is JSON"),
    "one long line of JSON": (json.dumps(PEOPLE * 3000), "is JSON"),
    "JSON text sequence": ("\x1e" + json.dumps(PEOPLE[0]), "is JSON"),
    "GeoJSON": (json.dumps(GEO), "is JSON"),
    "GeoJSON in lines": (json.dumps(GEO, indent=1), "is JSON"),
    "Python": (repr(PEOPLE[0]), "is JSON"),
    "GPX": (GPX, "is XML"),
    "GPX without its first line": (GPX.split("\n")[1], "is XML"),
    "KML": ('<kml xmlns="http://www.opengis.net/kml/2.2">\n<Placemark><name>SENTINEL</name></Placemark></kml>', "XML"),
    "XML of our own": ("<people>\n <person>SENTINEL</person>\n</people>", "is XML"),
    "HTML": ("<!DOCTYPE html>\n<html><body><td>SENTINEL</td></body></html>", "is XML or HTML"),
    "a table of HTML": ("<table>\n<tr><td>SENTINEL</td></tr></table>", "is XML or HTML"),
    "contacts": ("BEGIN:VCARD\nVERSION:3.0\nFN:SENTINEL\nEND:VCARD\n", "list of contacts"),
    "YAML": ("---\n- person: SENTINEL\n", "is YAML"),
    "ARFF": ("@RELATION people\n@ATTRIBUTE name STRING\n@DATA\nSENTINEL\n", "is an ARFF file"),
    "SQL": ("INSERT INTO people VALUES ('SENTINEL', 1);\n", "is a SQL script"),
    "an old pickle": (pickle.dumps(PEOPLE, protocol=0).decode("latin-1"), "is a Python pickle"),
}


def workbook() -> bytes:
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as book:
        book.writestr("xl/worksheets/sheet1.xml", "SENTINEL")
    return packed.getvalue()


BINARY = {
    "Excel": (workbook(), "Excel"),
    "pickle": (pickle.dumps(PEOPLE), "is a Python pickle"),
    "pickle 2": (pickle.dumps(PEOPLE, protocol=2), "is a Python pickle"),
    "HDF5": (b"\x89HDF\r\n\x1a\nSENTINEL", "is an HDF5 file"),
    "NumPy": (b"\x93NUMPY\x01\x00SENTINEL", "is a NumPy array"),
    "ORC": (b"ORC\n\x0b\x08SENTINEL", "is an ORC file"),
    "R": (b"X\n\x00\x00\x00\x03SENTINEL", "is an R data file"),
    "PDF": (b"%PDF-1.7 SENTINEL", "is a PDF"),
}
ALL = {name: (text.encode(), words) for name, (text, words) in TEXTS.items()} | BINARY


@pytest.mark.parametrize("name", ALL)
def test_what_is_no_table_is_refused_by_its_look(tmp_path: Path, reader: str, name: str) -> None:
    content, words = ALL[name]
    for called, written in (("d.csv", content), ("d.csv.gz", gzip.compress(content))):
        (tmp_path / called).write_bytes(written)
        with pytest.raises(DataError, match=words) as caught:
            open_frame(tmp_path / called)
        assert "SENTINEL" not in str(caught.value)
        assert caught.value.fix


@pytest.mark.parametrize(
    "header",
    ["[id],[name]", "[id]", "<TICKER>,<DATE>", "<DATE>\t<OPEN>", "{id};{name}", "<5,5-10,>10", "[1,2)", "lp0", "ORC",
     "ORCID,name", "CDF,x", "RDX,y", "c,d", "begin,end", "---,x", "{x", "BZh,y", "# a,b", '"[""a""]",b'],
)  # fmt: skip
def test_column_names_in_brackets_are_column_names(tmp_path: Path, reader: str, header: str) -> None:
    columns = header.count(",") + header.count(";") + header.count("\t")
    separator = next((sign for sign in ",;\t" if sign in header), ",")
    (tmp_path / "d.csv").write_text(f"{header}\n" + f"{separator.join(['1'] * (columns + 1))}\n" * 3, encoding="utf-8")
    assert len(open_frame(tmp_path / "d.csv").names) == columns + 1


def test_json_in_a_cell_is_a_cell(tmp_path: Path, reader: str) -> None:
    (tmp_path / "d.csv").write_text('"{""a"": 1}",x\n"{""a"": 2}",y\n', encoding="utf-8")
    assert len(open_frame(tmp_path / "d.csv").names) == 2
