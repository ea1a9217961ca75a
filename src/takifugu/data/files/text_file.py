"""Text files: the first line names the columns, fields are split as declared, and every value is a text.

Nothing is sniffed: a guess from the first rows is another one with a new version, or with later rows.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.errors import DataError
from takifugu.core.files import no_room
from takifugu.data.sql.faults import wrong_data
from takifugu.data.sql.words import literal
from takifugu.data.values.encodings import check_encoding

#: The signs that may split a line, the longest first line, and the most columns.
SIGNS, LONGEST_LINE, MOST_COLUMNS = ",;\t|", 10_000_000, 10_000
#: DuckDB refuses a longer line, in bytes; but leaves out unsaid a last one without its end, which fills a buffer, and
#: rows behind blank lines of as many. Such lines hold one whole block.
_LONGEST_ROW, _BLOCK = 2_000_000, 1_000_000
ENDINGS = (".csv", ".tsv", ".txt")
#: How files begin that are no text, whatever they are called, and the ending that says so.
_MARKS = {b"PK\x03\x04": ".xlsx", b"PAR1": ".parquet"}


@dataclass(frozen=True)
class Form:
    """How a text file is split."""

    delim: str = ","
    quote: str = '"'
    escape: str = '"'
    header: bool = True
    skip: int = 0
    null_padding: bool = False
    filename: bool = False
    encoding: str | None = None

    def select(self, files: Sequence[str], names: Sequence[str], kinds: Sequence[str] = ()) -> str:
        """Return the SELECT of some files with these columns; nothing of it is detected."""
        kinds = kinds or ["VARCHAR"] * len(names)
        for path in files:
            _check_lines(path)
        columns = ", ".join(f"{literal(n)}: {literal(k)}" for n, k in zip(names, kinds, strict=True))
        paths = ", ".join(literal(path) for path in files)
        return (
            f"select * from read_csv([{paths}], auto_detect = false, header = {str(self.header).lower()}, "
            f"skip = {self.skip}, delim = {literal(self.delim)}, quote = {literal(self.quote)}, "
            f"escape = {literal(self.escape)}, columns = {{{columns}}}, nullstr = '', strict_mode = true, "
            f"null_padding = {str(self.null_padding).lower()}, filename = {str(self.filename).lower()})"
        )


def first_record(path: str, form: Form) -> list[str]:
    """Return the fields of the line that names the columns; DataError for a file that is no text."""
    name = Path(path).name
    try:
        with bytes_of(path) as raw:
            ending = _MARKS.get(raw.read(4))
        if ending is not None:
            what = f"{name} is no text, and begins as a file {ending} does"
            raise wrong_data("file", what, "a file's ending says what it is", f"give it the ending {ending}")
        with text_in(path, form.encoding or "utf-8-sig") as lines:
            for _ in range(form.skip):
                lines.readline(LONGEST_LINE)
            start = lines.read(LONGEST_LINE)
    except (UnicodeError, OSError) as error:
        raise _no_text(path, form.encoding, isinstance(error, UnicodeError)) from None
    if "\0" in start[:1000]:
        raise _no_text(path, form.encoding, True)
    if not start.strip():
        raise wrong_data("file", f"{name} is empty", "", "export it again")
    quoting = {"quotechar": form.quote} if form.quote else {"quoting": csv.QUOTE_NONE}
    try:
        names = next(csv.reader(io.StringIO(start, newline=""), delimiter=form.delim, **quoting), [])
    except csv.Error:  # a field is too long
        return []
    refuse_columns(len(names), name)
    return names


def refuse_columns(count: int, name: str) -> None:
    """Refuse more columns than DuckDB opens in a minute."""
    if count > MOST_COLUMNS:
        what, fix = f"{name} has more than {MOST_COLUMNS:,} columns", "leave columns out, or write them as rows"
        raise wrong_data("file", what, "columns are looked up by their names", fix)


def _check_lines(path: str) -> None:
    """Refuse a last line longer than any line may be, and blank lines over more than that."""
    last, what, name = b"", "", Path(path).name
    with suppress(OSError), bytes_of(path) as file:  # DuckDB refuses a damaged one
        for block in _blocks(file):
            last = (last + block)[-_LONGEST_ROW - 1 :]
            if len(block) == _BLOCK and not block.strip(b"\r\n"):
                what = f"{name} has blank lines over more than {_BLOCK // 10**6} MB"
    if len(last) > _LONGEST_ROW and b"\n" not in last and b"\r" not in last:
        what = f"{name} ends with a line of more than {_LONGEST_ROW // 10**6} MB"
    if what:
        raise wrong_data("file", what, "a line is a row", "look at its lines; export the file again")


def _blocks(file: io.BufferedReader | gzip.GzipFile) -> Iterator[bytes]:
    """Yield the blocks of a file: of one that is not packed one byte of each, but of blank ones and the last three."""
    if isinstance(file, gzip.GzipFile):
        yield from iter(lambda: file.read(_BLOCK), b"")
        return
    starts = range(0, file.seek(0, io.SEEK_END), _BLOCK)
    for start in starts:
        file.seek(start)
        first = file.read(1)
        yield first + file.read(_BLOCK - 1) if first in b"\r\n" or start in starts[-3:] else first


def split_at(path: str, fits: Callable[[Sequence[str]], bool]) -> tuple[str, list[str]] | None:
    """Return the one sign at which the first line is split into names that fit, with the names; None without it."""
    candidates = [(sign, names) for sign in SIGNS if fits(names := first_record(path, Form(sign)))]
    split = [(sign, names) for sign, names in candidates if len(names) > 1]  # a line without the sign is one name
    candidates = split or candidates[:1]
    return candidates[0] if len(candidates) == 1 else None


def unique_names(names: Sequence[str], used: Callable[[str], bool], file: str) -> list[str]:
    """Return the names of columns, numbers where none is; DataError for one that is used and there twice."""
    times, unique = Counter(name.lower() for name in names), list[str]()
    for number, name in enumerate(names):
        if not name or times[name.lower()] > 1:
            if name and used(name):
                fix = "rename one of them in the file, or give all names by columns = {...} of read_csv() in sql"
                what = f"the first line of {file} names {name[:80]!r} twice"
                raise wrong_data("file", what, "a column has one name", fix)
            name = f"column {number + 1}"
            while name.lower() in times:
                name += "'"
        unique.append(name)
    return unique


def transcoded(path: str, encoding: str, folder: str, number: int) -> str:
    """Return a copy of a text file in UTF-8, in a private folder; DataError for a byte of no letter."""
    check_encoding(encoding)
    copy = Path(folder) / str(number) / Path(path).name.removesuffix(".gz")  # messages say the name
    try:
        copy.parent.mkdir()
        with text_in(path, encoding) as source, open(copy, "w", encoding="utf-8", newline="") as out:
            start = source.read(1000)
            out.write(start)
            shutil.copyfileobj(source, out, 1 << 20)
    except (UnicodeError, gzip.BadGzipFile) as error:
        raise _no_text(path, encoding, isinstance(error, UnicodeError)) from None
    except OSError as error:
        raise _no_text(path, encoding, False) if error.filename == path else no_room(str(error.strerror)) from None
    if "\0" in start:
        raise _no_text(path, encoding, True)
    return str(copy)


@contextmanager
def bytes_of(path: str) -> Iterator[io.BufferedReader | gzip.GzipFile]:
    """Open a file that may be packed; BadGzipFile, an OSError, for one that is damaged."""
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            yield file
    except (EOFError, zlib.error):
        raise gzip.BadGzipFile from None


@contextmanager
def text_in(path: str, encoding: str) -> Iterator[io.TextIOWrapper]:
    """Open a text file that may be packed, with its line ends as they are."""
    with bytes_of(path) as raw, io.TextIOWrapper(raw, encoding=encoding, newline="") as lines:
        yield lines


def _no_text(path: str, encoding: str | None, is_decoding: bool) -> DataError:
    name = Path(path).name
    if not is_decoding:
        fix = "look at the file and who may read it; if it is damaged, export it again"
        return wrong_data("file", f"{name} cannot be read", "", fix)
    with bytes_of(path) as file:
        is_marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    fix = 'encoding = "utf-16"' if is_marked else 'encoding = "cp1252"' if encoding is None else "write its encoding"
    if encoding:
        return wrong_data("encoding", f"{name} is not written in {encoding}", "", fix)
    rule = "a text file is UTF-8, or its encoding is declared"
    return wrong_data("file", f"{name} is not UTF-8 text", rule, fix)
