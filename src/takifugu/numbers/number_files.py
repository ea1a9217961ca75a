"""CSV files of numbers, read exactly: weights of entries, matrices."""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from pathlib import Path

from takifugu.core.errors import InputError
from takifugu.core.files import read_file
from takifugu.numbers.rationals import as_fraction

#: A file holds at most so many numbers.
MOST_NUMBERS = 200_000


def numbers_in(path: Path, expected: str, most: int = MOST_NUMBERS) -> list[list[Fraction]]:
    """Return the rows of a CSV file of numbers, or raise."""
    try:
        text = read_file(path, max(1_000_000, 50 * most)).decode("utf-8-sig")
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise InputError(f"{path.name} cannot be read ({reason})", fix="check the path") from None
    except (ValueError, csv.Error):
        raise InputError(f"{path.name} is not a CSV file of numbers", fix=f"write {expected}") from None
    if sum(map(len, rows)) > most:
        raise InputError(f"{path.name} holds more than {most:,} numbers", fix=f"write {expected}")
    numbers = []
    try:
        for row in rows:
            numbers.append([as_fraction(text, "a number") for text in row])
    except InputError:
        raise InputError(f"{path.name} holds something that is not a number", fix=f"write {expected}") from None
    return numbers
