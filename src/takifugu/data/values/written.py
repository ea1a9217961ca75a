"""How a source writes what it holds: characters, fields, parts of a file, and the signs in its numbers."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from takifugu.core.errors import DataError, InputError
from takifugu.core.escaping import visible
from takifugu.core.nearest import did_you_mean
from takifugu.data.values.texts import NUMBER

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


#: What may group digits, each with the characters that are written for it: a blank is often one that does not break.
GROUPING = {".": ".", ",": ",", "'": "'\u2019", "_": "_", " ": " \u00a0\u202f"}


@dataclass(frozen=True)
class Numerals:
    """The decimal sign, and the sign between groups of three digits, if there is one.

    A text that is a number by another convention is none here: with a decimal comma 1.5 could be 15 or 1.5. Raises
    InputError for signs that mean nothing, or both things.

    >>> numerals = Numerals(",", ".")
    >>> [numerals.plain(text) for text in ("1.234,5", "-7", "1.5", "n/a")]
    ['1234.5', '-7', '?', 'n/a']
    """

    decimal: str = "."
    thousands: str = ""

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise InputError(f"the decimal sign is {self.decimal!r}", fix='write "." or ","').at("decimal")
        if self.thousands and self.thousands not in GROUPING:
            signs = " or ".join(f'"{sign}"' for sign in GROUPING)
            raise InputError(f"the sign between thousands is {self.thousands!r}", fix=f"write {signs}").at("thousands")
        if self.thousands == self.decimal:
            raise InputError(
                f"the sign between thousands is {self.thousands!r}, as the decimal sign is", fix="write two signs"
            ).at("thousands")

    @property
    def usual(self) -> bool:
        """Return whether numbers are written as everywhere in this package."""
        return self.decimal == "." and not self.thousands

    @cached_property
    def pattern(self) -> str:
        """Return a pattern of numbers for every engine."""
        digits = "[0-9]{1,60}"
        if self.thousands:
            digits += f"|[0-9]{{1,3}}(?:[{GROUPING[self.thousands]}][0-9]{{3}}){{1,19}}"
        return f"^-?(?:{digits})(?:[{self.decimal}][0-9]{{1,60}})?(?:[eE][+-]?[0-9]{{1,2}})?$"

    def plain(self, text: str) -> str:
        """Return a number in this package's notation, "?" for another one.

        Other texts stay.
        """
        if self.usual:
            return text
        if not re.match(self.pattern, text):
            return "?" if re.match(NUMBER, text) else text
        for sign in GROUPING.get(self.thousands, ""):
            text = text.replace(sign, "")
        return text.replace(self.decimal, ".")

    def plain_in_engine(self, value: nw.Expr) -> nw.Expr:
        """Return the same of a column of texts."""
        if self.usual:
            return value
        import narwhals.stable.v2 as nw

        number = value
        for sign in GROUPING.get(self.thousands, ""):
            number = number.str.replace_all(sign, "", literal=True)
        if self.decimal != ".":
            number = number.str.replace_all(self.decimal, ".", literal=True)
        other = nw.when(value.str.contains(NUMBER)).then(nw.lit("?")).otherwise(value)
        return nw.when(value.str.contains(self.pattern)).then(number).otherwise(other)


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
