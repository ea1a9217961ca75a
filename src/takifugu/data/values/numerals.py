"""How numbers are written in texts: which sign divides off the fraction, and which one groups the digits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from takifugu.core.errors import InputError
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
