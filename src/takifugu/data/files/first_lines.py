"""Lines of a table that are none of its rows: a title above its names, more lines of a header, its header again."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from takifugu.data.values.spellings import WORD_OF_TOTALS

#: A text that begins as a number or a time.
_NUMBER, _LONGEST_UNIT = re.compile(r"[-+]?[.,]?[0-9]"), 20
_NO_UNIT = r"(?i)[-\u2013?.]*|[(\[].*[)\]]|n/?a|none|text|string"
#: What stands in a first row where a number is missing.
_MISSING = r"(?i)[-\u2013?.]*|n/?a|nan|null|none|missing"
_SUBTOTAL = re.compile(rf"({WORD_OF_TOTALS})\b")
#: No header has more rows below that of the names.
_ROWS_OF_HEADER = 3
Cells = Sequence[str | None]


def line_of_names(lines: Sequence[str]) -> int:
    """Return the line of the names, from 1, below shorter titles.

    >>> line_of_names(["Report of May", "", "who,state", "Ana,up", "Bo,down"])
    3
    """
    return _row_of_names([_widths(lines, sign) for sign in ";\t|,"])  # a comma may belong to numbers


def header_of(rows: Sequence[Cells]) -> tuple[int, int] | None:
    """Return the first and last row of a header, None for the first row alone.

    >>> rows = [["Report of May", None, None], [], ["who", "time", "state"], *[["Ana", str(k), "up"] for k in range(9)]]
    >>> header_of(rows), header_of(rows[2:]), header_of([[" "]])
    ((3, 3), None, None)
    """
    widths = [max((place for place, cell in enumerate(row, 1) if cell and cell.strip()), default=0) for row in rows]
    filled = [number for number, width in enumerate(widths, 1) if width]
    if not filled:
        return None
    first = max(_row_of_names([widths]), filled[0])
    below = [number for number in filled if number > first]
    last = [first, *below][rows_of_header([rows[number - 1] for number in below])]
    return None if last == filled[0] else (first, last)


def _row_of_names(by_sign: Sequence[Sequence[int]]) -> int:
    """Return the first row as wide as most, from 1, below narrower titles."""
    usual, widths = max(((_usual(widths), widths) for widths in by_sign), key=lambda pair: pair[0])
    if usual < 2 or any(_usual(some) == next(filter(None, some), 0) > 1 for some in by_sign):
        return 1
    above = next((number for number, width in enumerate(widths) if width >= usual), 0)
    short, full = list(filter(None, widths[:above])), list(filter(None, widths[above:]))
    of_ten = 5 if max(short, default=0) == 1 else 9  # what has one cell alone is a title, whatever follows
    if short and full.count(usual) * 10 >= of_ten * len(full):
        return above + 1
    return 1


def _widths(lines: Sequence[str], sign: str) -> list[int]:
    """Return each line's number of fields, without a last empty one; 1 where all others are empty."""
    reader = csv.reader(lines, delimiter=sign)
    widths = [0] * len(lines)
    try:
        for row in reader:
            width = len(row) - (len(row) > 1 and not row[-1].strip())
            widths[reader.line_num - 1] = width if any(map(str.strip, row[1:])) else min(width, 1)
    except csv.Error:
        return []  # opening it says what is wrong
    return widths


def _usual(widths: Sequence[int]) -> int:
    full = list(filter(None, widths))
    return max(set(full), key=full.count, default=0)


def rows_of_header(rows: Sequence[Cells]) -> int:
    """Count the rows of units or words below the names.

    >>> rows_of_header([["min", "-"], ["0", "up"], ["1", "up"], ["2", "down"]])
    1
    >>> rows_of_header([["", "", "Bus"], *[[str(n), f"{n}:30", "Bus"] for n in range(9)]])
    1
    """
    number = min(_ROWS_OF_HEADER, len(rows) - _ROWS_OF_HEADER)
    for count in range(number, 0, -1):
        below = [*zip(*rows[count:], strict=False)]
        if all(_is_of_header(row, below) for row in rows[:count]):
            return count
    columns = [*zip(rows[0], zip(*rows[1:], strict=False), strict=False)]
    return int(number > 0 and (_are_units(columns) or _are_of_nobody(columns)))


def _is_of_header(row: Cells, columns_below: Sequence[Cells]) -> bool:
    """Tell whether a row has unrepeated words above several numeric columns."""
    above_numbers = 0
    for cell, below in zip(row, columns_below, strict=False):
        if cell and cell in below:
            return False
        if are_numbers(below):
            above_numbers += 1
            if re.fullmatch(_MISSING, cell or ""):
                return False
    return above_numbers > 1 and not any(map(_begins_as_number, row))


def _are_units(columns: Sequence[tuple[str | None, Cells]]) -> bool:
    """Return whether first cells may be units, one of them above numbers."""
    if any(_begins_as_number(first) for first, _ in columns):
        return False
    has_unit = False
    for first, below in columns:
        if not first:
            continue
        is_word = not re.fullmatch(_NO_UNIT, first)
        if are_numbers(below):
            if len(first) > _LONGEST_UNIT:
                return False
            has_unit = has_unit or is_word or re.fullmatch(r"[(\[].+[)\]]", first) is not None
        elif is_word or first in below:
            return False
    return has_unit


def _are_of_nobody(columns: Sequence[tuple[str | None, Cells]]) -> bool:
    """Return whether first cells lack the ids and times that all other rows have."""
    ids, others = list[str | None](), list[str | None]()
    has_key = False
    for first, below in columns:
        differ = all(below) and len({*below}) == len(below)
        if all(below) and are_numbers(below):
            ids.append(first)
            has_key = has_key or differ
        elif first and differ:  # a name
            return False
        else:
            others.append(first)
    return len(ids) > 1 and has_key and not any(ids) and any(others)


def _begins_as_number(cell: str | None) -> bool:
    return cell is not None and _NUMBER.match(cell) is not None


def are_numbers(values: Cells) -> bool:
    """Return whether all present values begin as numbers or times."""
    return any(values) and all(map(_NUMBER.match, filter(None, values)))


def subtotals_of(columns: Sequence[Cells]) -> tuple[int, str] | None:
    """Return the column, and the word, of totals among the rows: cells that begin so beside a missing one.

    >>> subtotals_of([["Ana", "Ben", "Total Mon", "Ana"], ["1", "2", "3", "4"], ["car", "bus", None, "car"]])
    (0, 'Total')
    """
    usual = [column for column in columns if 2 * column.count(None) < len(column)]
    for place, column in enumerate(columns):
        for row, cell in enumerate(column):
            match = _SUBTOTAL.match(cell or "")
            if match is not None and any(other[row] is None for other in usual):
                return place, match[1]
    return None
