"""How texts are read, the same wherever the rows are: patterns, and the messages about a column that fits none."""

from __future__ import annotations

from takifugu.core.errors import DataError

#: What is stripped from both ends of a text; engines differ in what they call a blank.
BLANKS = " \t\n\r\x0b\x0c"
NUMBER = r"^-?[0-9]{1,60}(?:[.][0-9]{1,60})?(?:[eE][+-]?[0-9]{1,2})?$"
NOT_FINITE = r"^[+-]?(?:[nN][aA][nN]|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)$"
#: Infinities, which are numbers of a bin that has them; nan is none.
INFINITE = r"^[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?$"


def not_numbers(column: str, fix: str) -> DataError:
    return DataError(f"column {column!r} has texts that are no numbers", fix=fix)


#: A cell that holds nothing, a value that is not known, and a number that is in no bin.
UNOBSERVED, UNKNOWN, OUTSIDE = -1, -2, -3
