"""How a source writes what it holds, where that is declared: characters, fields, parts of a file, and numbers."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

from takifugu.core.errors import DataError, InputError
from takifugu.core.escaping import visible
from takifugu.core.nearest import did_you_mean
from takifugu.data.values.numerals import Numerals

#: What an unknown encoding is likely to have meant.
ENCODINGS = (
    "utf-8", "latin-1", "cp1252", "iso-8859-1", "iso-8859-15", "utf-16", "cp850", "cp437", "cp1250", "cp1251",
    "mac-roman", "koi8-r", "shift_jis", "gb18030", "big5", "euc-jp", "euc-kr", "windows-1252",
)  # fmt: skip
#: Codecs of Python's that turn texts into texts, but that no file is written in.
_NO_FILES = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7", "mbcs", "oem")


@dataclass(frozen=True)
class Written:
    """How a file is written, and the numbers of any source; what is None is seen from the file itself.

    Without a `header` the columns are called column_1, column_2 and so on; of a file whose header is not its first
    line alone, `lines` are its first line, which has the names, and its last one, from 1. Parquet files and frames know
    their own characters, fields and names. `sheet` and `table` choose a part of a workbook or a database, and
    `file_names` is the column that each file's name becomes where there are many. Raises InputError for an encoding
    that there is not, and for a delimiter or lines that are none.

    >>> Written(encoding="latin-1", delimiter=";").codec
    'iso8859-1'
    """

    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True
    numerals: Numerals = field(default_factory=Numerals)
    sheet: str | None = None
    table: str | None = None
    file_names: str | None = None
    lines: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        check_encoding(self.encoding)
        if self.lines is not None and not 1 <= self.lines[0] <= self.lines[1]:
            raise InputError(
                f"the header is {list(self.lines)}", rule="lines are counted from 1, the first before the last",
                fix="write the line that has the names, such as 4, or with the last above the rows, such as [1, 3]",
            ).at("header")  # fmt: skip
        sign = self.delimiter
        if sign is not None and sign != "\t" and (
            len(sign) != 1 or sign.isalnum() or sign in "\"' \r\n\\-+_" or visible(sign) != sign
        ):
            raise InputError(
                f"the delimiter is {sign!r}", rule="it is one character that no field holds",
                fix='write for example ";", "," or "\\t"',
            ).at("delimiter")  # fmt: skip

    @property
    def codec(self) -> str | None:
        """Return Python's name of the encoding, None for UTF-8."""
        if self.encoding is not None:
            name = codecs.lookup(self.encoding).name
            if name not in ("utf-8", "utf-8-sig", "ascii"):
                return name
        return None


def check_encoding(name: str | None) -> None:
    """Raise InputError for an encoding impossible in text files."""
    if name is None:
        return
    try:
        codec = codecs.lookup(name)
        is_known = getattr(codec, "_is_text_encoding", True) and codec.name.replace("_", "-") not in _NO_FILES
    except (LookupError, ValueError):  # ValueError: a NUL in the name
        is_known = False
    if not is_known:
        raise InputError(
            f"{name[:40]!r} is no encoding of text files{did_you_mean(name, ENCODINGS)}",
            fix='write for example "latin-1", "cp1252" or "utf-16"',
        ).at("encoding")


def not_written_so(name: str, codec: str | None) -> DataError:
    """Return the error about bytes of another encoding."""
    if codec is None:
        return DataError(
            f"{name} is not UTF-8 text", fix='save it as UTF-8, or declare its encoding, such as encoding = "cp1252"'
        )
    return DataError(f"{name} is not {codec} text", fix="declare the encoding that it was saved in")
