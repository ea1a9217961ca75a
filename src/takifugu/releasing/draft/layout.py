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
_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
#: Control signs that no text has.
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True)
class Layout:
    """A text file's codec, where it is not UTF-8, and what read_csv() must be told to find its rows."""

    encoding: str | None
    delim: str = ","
    skip: int = 0
    names: tuple[str, ...] = ()
    has_header: bool = True
    pads: bool = False

    @property
    def is_plain(self) -> bool:
        """Return whether the file needs no more than its name and codec."""
        return not (self.skip or self.names or self.pads)

    def select(self, path: str) -> str:
        """Return the SELECT of the file."""
        said = [literal(path)]
        if self.delim != ",":
            said.append(f"delim = {literal(self.delim)}")
        if self.skip:
            said.append(f"skip = {self.skip}")
        if self.names:
            columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.names)
            said += [f"header = {str(self.has_header).lower()}", f"columns = {{{columns}}}"]
        if self.pads:
            said.append("null_padding = true")
        if self.encoding is not None:
            said.append(f"encoding = {literal(self.encoding)}")
        return f"FROM read_csv({', '.join(said)})"


def layout_of(path: str, encoding: str | None = None) -> Layout:
    """Return how a text file is written; DataError for a file that is empty, or no text."""
    codec = encoding or _codec(path)
    name, start = Path(path).name, _start(path, codec)
    if _BINARY.search(start):
        raise DataError(f"{name} is no text", fix="save it as CSV, or as Parquet").at("file")
    first_record(path, Form(encoding="utf-8-sig" if codec == "utf-8" else codec))  # which refuses too many columns
    delim, records, width = max((_split(start, sign) for sign in SIGNS), key=lambda some: _regular(*some[1:]))
    at = next((n for n, (_, fields) in enumerate(records) if _may_be_names(fields, width)), None)
    if at is None:
        raise DataError(f"{name} has no line that names its columns", fix="save it with a line of names").at("file")
    said = None if codec == "utf-8" else codec
    line, fields = records[at]
    below = [fields for _, fields in records[at + 1 :] if len(fields) == width]
    if not _is_row(fields, below):
        return Layout(said, delim, line)
    above = records[at - 1][1] if at else []
    if len(above) == width - 1 and all(above):  # R writes no name above the names of rows
        return Layout(said, delim, records[at - 1][0], ("row", *above))
    return Layout(said, delim, line, tuple(f"column_{n}" for n in range(1, width + 1)), has_header=False)


def _codec(path: str) -> str:
    """Return the first codec that reads the whole file."""
    with _bytes(path) as file:
        start = file.read(1000)
    for bom, codec in _BOMS.items():
        if start.startswith(bom):
            return codec
    if start[1::2].count(0) > len(start) // 3:
        return "utf-16-le"
    return next(codec for codec in _CODECS if _reads(path, codec))


def _reads(path: str, codec: str) -> bool:
    decoder = codecs.getincrementaldecoder(codec)()
    with _bytes(path) as file:
        try:
            while block := file.read(1 << 20):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeError:
            return False
    return True


def _start(path: str, codec: str) -> str:
    try:
        with _bytes(path) as file, io.TextIOWrapper(file, encoding=codec, newline="") as text:
            start = text.read(_START)
            if len(start) == _START:
                start += text.readline(LONGEST_LINE)
    except (UnicodeError, LookupError):
        fix = 'encoding = "cp1252", or the codec that it was saved with'
        raise DataError(f"{Path(path).name} is not written in {codec[:40]}", fix=fix).at("encoding") from None
    start = start.removeprefix("\ufeff")
    if not start.strip():
        raise DataError(f"{Path(path).name} is empty", fix="export it again, with its rows").at("file")
    return start


def _bytes(path: str) -> io.BufferedIOBase:
    try:
        opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")  # noqa: SIM115
        opened.peek(1)
    except (OSError, EOFError):
        raise DataError(
            f"{Path(path).name[-60:]} cannot be read", fix="look at the file and who may read it"
        ).at("file") from None  # fmt: skip
    assert isinstance(opened, io.BufferedIOBase)
    return opened


#: A sign, the records that it splits, each with the number of lines before it, and how many fields most of them have.
_Split = tuple[str, list[tuple[int, list[str]]], int]


def _split(start: str, sign: str) -> _Split:
    reader, records, before = csv.reader(io.StringIO(start, newline=""), delimiter=sign), [], 0
    try:
        for fields in reader:
            records.append((before, fields))
            before = reader.line_num
            if len(records) == _LINES:
                break
    except csv.Error:  # a field is too long
        pass
    widths = Counter(len(fields) for _, fields in records if any(fields))
    width = max(widths, key=lambda some: (some > 1, widths[some], some), default=1)
    return sign, records, width


def _regular(records: Sequence[tuple[int, list[str]]], width: int) -> tuple[bool, int, int]:
    return width > 1, sum(len(fields) == width for _, fields in records), width


def _may_be_names(fields: Sequence[str], width: int) -> bool:
    """Return whether a line names its columns, but for one at most."""
    return len(fields) == width and sum(not field.strip() for field in fields) <= (width > 2)


def _is_row(fields: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a line looks like those below, with digits somewhere, and shares a value with one of them."""
    others = [other for other in below if other != fields]
    columns = list(zip(*others, strict=True)) or [()] * len(fields)
    is_alike = all(_shape(f) in map(_shape, known) for f, known in zip(fields, columns, strict=True))
    is_known = any(field and field in known for field, known in zip(fields, columns, strict=True))
    return is_alike and is_known and any("9" in _shape(field) for field in fields)


def _shape(text: str) -> str:
    """Return a text with 9 for digits and one letter for words.

    >>> _shape("2026-01-05T10:00"), _shape("Zone 7")
    ('9999-99-99a99:99', 'a 9')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", text))
