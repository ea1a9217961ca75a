"""Files that are no tables are refused by how they begin, in whatever wrapping, without a word of what they hold."""

import gzip
import io
import json
import pickle
from pathlib import Path

import pytest
from tests.support.starting import init

from takifugu.core.errors import DataError
from takifugu.data import open_frame

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


@pytest.mark.parametrize("name", ALL)
def test_init_neither_prints_nor_writes_a_word_of_it(tmp_path: Path, name: str) -> None:
    content, words = ALL[name]
    encoded = [content.decode().encode("utf-16"), content.decode().encode("cp1252", "ignore")] if name in TEXTS else []
    for number, written in enumerate([content, gzip.compress(content), *encoded]):
        data = tmp_path / f"d{number}.csv"
        data.write_bytes(written)
        done = init(str(data), "-o", str(tmp_path / "r.toml"))
        assert done.exit_code == 2, done.output
        assert words in " ".join(done.stderr.split()).replace("takifugu: ", "")
        assert "SENTINEL" not in done.output
        assert not (tmp_path / "r.toml").exists()


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
