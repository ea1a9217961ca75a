"""Files that are no table of rows and columns, told apart by how they begin; nothing of what they hold is quoted."""

from __future__ import annotations

import re

from takifugu.core.errors import DataError
from takifugu.data.files.formats import DataFile

_TO_CSV = "export the table as CSV or Parquet"
_TO_FLAT = "write one row per record, with a column for each field, as CSV or Parquet"
_UNPACK = "unpack it, or compress it with gzip"

#: How binary files begin, what they are, and what to do with them.
_BINARY = {
    b"PK\x03\x04": ("is a zip archive or an Excel workbook", "unpack it, or let a workbook's name end in .xlsx"),
    b"\xd0\xcf\x11\xe0": ("is an Excel workbook", "save it as .xlsx, with no password"),
    b"ARROW1": ("is an Arrow file", "read it with pyarrow or polars and give the frame, or save it as Parquet"),
    b"FEA1": ("is a Feather file", "read it with pyarrow and give the frame, or save it as Parquet"),
    b"Obj\x01": ("is an Avro file", "save it as Parquet"),
    b"SQLite format 3": ("is a SQLite database", "unpack it, or export the table as CSV"),
    b"\x28\xb5\x2f\xfd": ("is compressed with zstd", _UNPACK),
    b"BZh9": ("is compressed with bzip2", _UNPACK),
    b"\xfd7zXZ": ("is compressed with xz", _UNPACK),
    b"7z\xbc\xaf\x27\x1c": ("is a 7z archive", _UNPACK),
    b"Rar!": ("is a RAR archive", _UNPACK),
    b"\x93NUMPY": ("is a NumPy array", _TO_CSV),
    b"\x89HDF": ("is an HDF5 file", _TO_CSV),
    b"CDF\x01": ("is a NetCDF file", _TO_CSV),
    b"MATLAB 5.0 MAT-file": ("is a MATLAB file", _TO_CSV),
    b"RDX3\n": ("is an R data file", _TO_CSV),
    b"X\n\x00\x00": ("is an R data file", _TO_CSV),
    b"$FL": ("is an SPSS file", _TO_CSV),
    b"<stata_dta>": ("is a Stata file", _TO_CSV),
    b"%PDF": ("is a PDF document", _TO_CSV),
    b"{\\rtf": ("is a text document", _TO_CSV),
    b"\x89PNG": ("is a picture", _TO_CSV),
    b"\xff\xd8\xff": ("is a picture", _TO_CSV),
}
#: A column may be called ORC, too: then no control character follows.
_ORC = re.compile(rb"ORC[\t\r\n\x20-\xff]{0,24}[\x00-\x08\x0b\x0c\x0e-\x1f]")
#: Protocol 2 and later say so in two bytes; the texts of earlier ones are below.
_PICKLE = re.compile(rb"\x80[\x02-\x05]|[\]}]q\x00")
_UTF_16 = ("is UTF-16 text", 'save it as UTF-8, or declare encoding = "utf-16"')

_JSON = ("is JSON", f"{_TO_FLAT}; files of JSON lines end in .jsonl, and GeoJSON in .geojson")
_MARKUP = ("is XML or HTML", f"{_TO_FLAT}: GPX, KML and web pages are not read")
_PICKLED = ("is a Python pickle", "load it, if you trust it, and give the frame, or save it as Parquet")

#: How texts begin that are no tables. An array of JSON is not taken for a column name in brackets, such as [id].
_TEXTS = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r'\x1e?\{\s*(?:["\']|\}|\Z)', _JSON),
        (r'\[\s*(?:[{["]|\]\s*\Z)', _JSON),
        (r"\[\s*(?:-?[0-9.eE+-]+|true|false|null)\s*(?:,[^\]\n]*)?\]\s*(?:\n|\Z)", _JSON),
        (r"\[[ \t]*\r?\n", _JSON),
        (r"<[?!]", _MARKUP),
        (r"<(?:html|head|body|table|gpx|kml|svg|rss|feed|osm|tcx|trainingcenterdatabase)\b(?!>[ \t]*[,;\t|])", _MARKUP),
        (r"<[^\n]*</", _MARKUP),
        (r"\([dl]p?[0-9]*\r?\n", _PICKLED),
        (r"c(?:copy_?reg|pandas|numpy|polars|builtins|__builtin__|__main__|collections|datetime)[\w.]*\r?\n\w+\r?\n",
         _PICKLED),
        (r"BEGIN:V", ("is a calendar or a list of contacts", _TO_FLAT)),
        (r"(?:%YAML|---[ \t]*\r?\n)", ("is YAML", _TO_FLAT)),
        (r"@relation\b", ("is an ARFF file", _TO_CSV)),
        (r"(?:--[^\n]*dump|(?:insert\s+into|create\s+table)\s)", ("is a SQL script", _TO_CSV)),
    )
)  # fmt: skip
#: A tag, unless a separator says that it is a column name in angle brackets (<DATE>,<TIME>).
_TAG = re.compile(r"<[a-z][\w:.-]*(?:\s[^<>]*)?>(?![ \t]*[,;\t|])", re.IGNORECASE)


def other_kind(start: bytes, is_utf_16: bool = False) -> tuple[str, str] | None:
    """Return a file's other kind, by its beginning, and the remedy.

    >>> other_kind(b"SQLite format 3\\x00")
    ('is a SQLite database', 'unpack it, or export the table as CSV')
    """
    for magic, kind in _BINARY.items():
        if start.startswith(magic):
            return kind
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None if is_utf_16 else _UTF_16
    if start[8:12] == b"DUCK":
        return "is a DuckDB database", "let its name end in .duckdb"
    if _ORC.match(start):
        return "is an ORC file", "save it as Parquet"
    return _PICKLED if _PICKLE.match(start) else None


def refuse_other_kinds(file: DataFile, is_utf_16: bool = False) -> None:
    """Raise DataError for a file with another kind's first bytes."""
    kind = other_kind(file.start, is_utf_16)
    if kind is not None:
        raise DataError(f"{file.name} {kind[0]}", fix=kind[1])


def other_text(start: str) -> tuple[str, str] | None:
    """Return a text's other kind, by its beginning, and the remedy.

    >>> other_text('{"person": "Ana", "minute": 0}')[0]
    'is JSON'
    >>> other_text("[id],[name]") is other_text("<DATE>,<OPEN>") is other_text("person,minute") is None
    True
    """
    start = start.lstrip("\ufeff \t\r\n")
    for pattern, kind in _TEXTS:
        if pattern.match(start):
            return kind
    return _MARKUP if _TAG.match(start) and re.search("</|/>", start) else None
