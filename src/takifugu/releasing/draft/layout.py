"""How a text file is written: its codec, the sign between fields, and the line that names the columns.

Only what the whole file bears out is said: that its bytes are of the codec, and that its lines have these columns.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.errors import DataError, InputError
from takifugu.core.escaping import visible
from takifugu.data.files.text_file import LONGEST_LINE, SIGNS, Form, bytes_of, first_record, text_in
from takifugu.data.sql.words import literal
from takifugu.data.values.encodings import check_encoding

#: So much of a file is looked at for its line of names, and so many letters tell one codec from another.
_START, _LINES, _LETTERS = 2_000_000, 300, 12
#: The codecs that are offered where bytes are not UTF-8.
_CODECS = ("cp1252", "cp1250", "cp1251", "mac_roman", "cp850", "shift_jis", "gb18030")
#: Control signs that no text has, and how JSON, pages, lists of contacts, SQL and others begin: their words are rows.
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_NO_TABLE = re.compile(
    r"""\s*([{]\s*["'}]|\[\s*([{["\]]|(-?[\d.]+|true|false|null)\s*(,[^\]\n]*)?\]|$)|<[?!]|<[^\n]*</"""
    r"|<[a-z][^<>]*> *(\n|<)|[(][dl]p?\d*\s|c(copy_?reg|pandas|numpy|__builtin__|builtins)[\w.]*\n\w+\n"
    r"|BEGIN:V|%YAML|---\s*\n|@relation\b"
    r"|--[^\n]*dump|(insert\s+into|create\s+table)\s)", re.IGNORECASE | re.MULTILINE,
)  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """A text file's codec, where it is not UTF-8, and what read_csv() must be told; `line` is the one of its names."""

    encoding: str | None
    delim: str
    skip: int
    line: tuple[str, ...]
    names: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Return whether name and codec suffice: the first line is split in one way, into different names."""
        names = {name.lower() for name in self.line if name and not any(sign in name for sign in SIGNS)}
        return not (self.skip or self.names) and len(names) == len(self.line)

    def select(self, path: str) -> str:
        """Return the SELECT of the file."""
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.names)
        said = {
            f"delim = {literal(self.delim)}": self.delim != ",", f"skip = {self.skip}": self.skip,
            f"header = false, columns = {{{columns}}}": self.names,
            f"encoding = {literal(self.encoding or '')}": self.encoding,
        }  # fmt: skip
        return f"FROM read_csv({', '.join([literal(path), *(text for text, is_said in said.items() if is_said)])})"


def layout_of(path: str, encoding: str | None = None) -> Layout:
    """Return how a text file is written; DataError for a file that is empty, or no text, InputError for no codec."""
    name = Path(path).name
    check_encoding(encoding)
    try:
        said = encoding or _codec(path)
        codec = said or "utf-8-sig"
        with text_in(path, codec) as text:
            start = text.read(_START) + text.readline(LONGEST_LINE)
    except UnicodeError:
        fix = 'encoding = "cp1252", or the codec that it was saved with'
        raise DataError(f"{name} is not written in {str(encoding)[:40]}", fix=fix).at("encoding") from None
    except OSError:
        raise DataError(f"{name} cannot be read", fix="look at the file and who may read it").at("file") from None
    if not start.strip():
        raise DataError(f"{name} is empty", fix="export it again, with its rows").at("file")
    if _BINARY.search(start) or _NO_TABLE.match(start):
        raise DataError(f"{name} is no text of rows and columns", fix="save it as CSV, or as Parquet").at("file")
    first_record(path, Form(encoding=codec))  # which refuses too many columns
    width, delim, records = max((_split(start, sign) for sign in SIGNS), key=lambda some: (
        some[0] > 1, sum(len(fields) == some[0] for _, fields in some[2]), some[0],
    ))  # fmt: skip
    may_lack = width > 2  # one name
    at = next((n for n, (_, fields) in enumerate(records)
               if len(fields) == width and sum(not field.strip() for field in fields) <= may_lack), None)  # fmt: skip
    if at is None:
        raise DataError(f"{name} has no line that names its columns", fix="save it with a line of names").at("file")
    line, fields = records[at]
    is_row = _is_row(fields, [other for _, other in records[at + 1 :] if len(other) == width and other != fields])
    if is_row and not any(re.search(r"\d", field) for field in fields):
        rule = "its first line has a value that is in its column below, too, and is perhaps a row"
        fix = "write a line of names above, or other names for columns that are called as their values"
        raise DataError(f"{name} has perhaps no line of names", rule=rule, fix=fix).at("file")
    numbered = tuple(f"column_{n}" for n in range(1, width + 1)) if is_row else ()
    return Layout(said, delim, line, tuple(fields), numbered)


def _codec(path: str) -> str | None:
    """Return UTF-16 where its mark is there, None for UTF-8; InputError, with what each gives, for other bytes."""
    with bytes_of(path) as file:
        start = file.read(1000)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if _BINARY.search(start.decode("latin-1")):
        raise DataError(f"{Path(path).name} is no text", fix="save it as CSV, or as Parquet").at("file")
    if _letters(path, "utf-8") is not None:
        return None
    some = [(codec, f"where these letters are right: {found}") for codec in _CODECS if (found := _letters(path, codec))]
    raise InputError(
        f"{Path(path).name} is not UTF-8 text, and its bytes are of several codecs",
        rule="no table tells which letters are right, and codecs that give the same here differ elsewhere",
    ).at("encoding").offering(some)


def _letters(path: str, codec: str) -> str | None:
    """Return letters of a file that are not ASCII, by their codes; None if its bytes are not of the codec."""
    letters = set[str]()
    try:
        with text_in(path, codec) as text:
            while block := text.read(1 << 20):
                letters |= {letter for letter in set(block) if not letter.isascii()}
    except UnicodeError:
        return None
    return " ".join(visible(letter) for letter in sorted(letters)[:_LETTERS])


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
    """Return whether a line looks like those below, and shares a value with one of them."""
    columns = list(zip(fields, zip(*below, strict=True), strict=True)) if below else []
    is_alike = all(_shape(field) in map(_shape, known) for field, known in columns)
    return is_alike and any(field and field in known for field, known in columns)


def _shape(text: str) -> str:
    """Return a text with 9 for digits and one letter for words."""
    return re.sub(r"[^\W\d_]+([^\w]+[^\W\d_]+)*", "a", re.sub(r"\d", "9", text))
