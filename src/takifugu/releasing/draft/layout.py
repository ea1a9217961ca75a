"""How a text file is written: its codec, the sign between fields, and the line that names the columns.

Only what the whole file bears out is said: that its bytes are of the codec, and that its lines have these columns.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.errors import DataError
from takifugu.data.relation.text_file import LONGEST_LINE, SIGNS, Form, first_record
from takifugu.data.relation.words import literal

#: So much of a file is looked at for its line of names.
_START, _LINES = 2_000_000, 300
#: The codecs that are tried, the strictest first; the last one reads any byte.
_CODECS = ("utf-8", "cp1252", "shift_jis", "gb18030", "cp437")
#: Control signs that no text has.
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True)
class Layout:
    """A text file's codec, where it is not UTF-8, and what read_csv() must be told; `line` names its columns."""

    encoding: str | None
    delim: str = ","
    skip: int = 0
    names: tuple[str, ...] = ()
    has_header: bool = True
    pads: bool = False
    line: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Return whether the file needs no more than its name and codec."""
        return not (self.skip or self.names or self.pads)

    def select(self, path: str) -> str:
        """Return the SELECT of the file."""
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.names)
        said = {
            f"delim = {literal(self.delim)}": self.delim != ",", f"skip = {self.skip}": self.skip,
            f"header = {str(self.has_header).lower()}, columns = {{{columns}}}": self.names,
            "null_padding = true": self.pads, f"encoding = {literal(self.encoding or '')}": self.encoding,
        }  # fmt: skip
        return f"FROM read_csv({', '.join([literal(path), *(text for text, is_said in said.items() if is_said)])})"


def layout_of(path: str, encoding: str | None = None) -> Layout:
    """Return how a text file is written; DataError for a file that is empty, or no text."""
    name = Path(path).name
    try:
        codec = encoding or _codec(path)
        with _text(path, codec) as text:
            start = (text.read(_START) + text.readline(LONGEST_LINE)).removeprefix("\ufeff")
    except (UnicodeError, LookupError):
        fix = 'encoding = "cp1252", or the codec that it was saved with'
        raise DataError(f"{name} is not written in {str(encoding)[:40]}", fix=fix).at("encoding") from None
    except (OSError, EOFError):
        raise DataError(f"{name} cannot be read", fix="look at the file and who may read it").at("file") from None
    if not start.strip():
        raise DataError(f"{name} is empty", fix="export it again, with its rows").at("file")
    if _BINARY.search(start):
        raise DataError(f"{name} is no text", fix="save it as CSV, or as Parquet").at("file")
    first_record(path, Form(encoding="utf-8-sig" if codec == "utf-8" else codec))  # which refuses too many columns
    width, delim, records = max((_split(start, sign) for sign in SIGNS), key=lambda some: (
        some[0] > 1, sum(len(fields) == some[0] for _, fields in some[2]), some[0],
    ))  # fmt: skip
    may_lack = width > 2  # one name
    at = next((n for n, (_, fields) in enumerate(records)
               if len(fields) == width and sum(not field.strip() for field in fields) <= may_lack), None)  # fmt: skip
    if at is None:
        raise DataError(f"{name} has no line that names its columns", fix="save it with a line of names").at("file")
    said, (line, fields) = None if codec == "utf-8" else codec, records[at]
    if not _is_row(fields, [other for _, other in records[at + 1 :] if len(other) == width and other != fields]):
        return Layout(said, delim, line, line=tuple(fields))
    above = records[at - 1][1] if at else []
    if len(above) == width - 1 and all(above):  # R writes no name above the names of rows
        return Layout(said, delim, records[at - 1][0], ("row", *above))
    return Layout(said, delim, line, tuple(f"column_{n}" for n in range(1, width + 1)), has_header=False)


def _codec(path: str) -> str:
    """Return the first codec that reads the whole file."""
    with _bytes(path) as file:
        start = file.read(1000)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if start[1::2].count(0) > len(start) // 3:
        return "utf-16-le"
    for codec in _CODECS:
        try:
            with _text(path, codec) as text:
                while text.read(1 << 20):
                    pass
        except UnicodeError:
            continue
        return codec
    raise UnicodeError


def _bytes(path: str) -> io.BufferedReader | gzip.GzipFile:
    return gzip.open(path) if path.endswith(".gz") else open(path, "rb")


def _text(path: str, codec: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(_bytes(path), encoding=codec, newline="")


def _split(start: str, sign: str) -> tuple[int, str, list[tuple[int, list[str]]]]:
    """Return how many fields most records have, and the records, each with the number of lines before it."""
    reader = csv.reader(io.StringIO(start, newline=""), delimiter=sign)
    records, before = list[tuple[int, list[str]]](), 0
    try:
        for fields in reader:
            records.append((before, fields))
            before = reader.line_num
            if len(records) == _LINES:
                break
    except csv.Error:  # a field is too long
        pass
    widths = Counter(len(fields) for _, fields in records if any(fields))
    return max(widths, key=lambda some: (some > 1, widths[some], some), default=1), sign, records


def _is_row(fields: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a line looks like those below, with digits somewhere, and shares a value with one of them."""
    columns = list(zip(*below, strict=True)) or [()] * len(fields)
    is_alike = all(_shape(f) in map(_shape, known) for f, known in zip(fields, columns, strict=True))
    is_known = any(field and field in known for field, known in zip(fields, columns, strict=True))
    return is_alike and is_known and any("9" in _shape(field) for field in fields)


def _shape(text: str) -> str:
    """Return a text with 9 for digits and one letter for words.

    >>> _shape("2026-01-05T10:00"), _shape("Zone 7")
    ('9999-99-99a99:99', 'a 9')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", text))
