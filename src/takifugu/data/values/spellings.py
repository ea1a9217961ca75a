"""What names in the data mean: one spelling of each, wherever the rows are, and a refusal of two spellings of one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from takifugu.core.errors import DataError, InputError
from takifugu.core.names import normalised, without_zeros
from takifugu.core.people import PEOPLE

#: A name as it is written, and the number of a row that holds it, counted from 0 (None where rows have no order).
Written = tuple[str, int | None]
#: The keys of names that have budgets; and a large number as programs write it.
_PEOPLE, _WITH_EXPONENT = ("unit", "person"), re.compile(r"-?[0-9]+(?:\.[0-9]*)?[eE]\+[0-9]+")


def meant(written: Iterable[Written], column: str, what: str, counted: str = "") -> dict[str, str]:
    """Return the one spelling of every written name.

    `what` is the key (unit, piece), `counted` the rows left out of row numbers. Raises DataError, with row numbers and
    never a name, for unfit or empty names, for two spellings of one, and for people called 1e+05, who are 100000
    elsewhere.

    >>> meant([("Ana ", 0), ("Ben", 1)], "person", "unit")
    {'Ana ': 'Ana', 'Ben': 'Ben'}
    """
    noun, reasons = what, "blanks, accents, characters of zero width"
    if what == "unit":
        noun, reasons = PEOPLE.one, f"{reasons}, or zeros in front of a number"
    below = f" (counted from 1 below the header{counted})"
    spelling_of: dict[str, str] = {}
    first: dict[str, Written] = {}
    for raw, row in written:
        if raw in spelling_of:
            continue
        try:
            name = normalised(raw)
        except InputError:
            name = ""
        if not name:
            place = "" if row is None else f" in row {row + 1}{below}"
            try:
                normalised(raw, f"column {column!r}: a {noun}{place}")
            except InputError as error:
                raise error.of(DataError).at(what) from None
            raise DataError(
                f"column {column!r}: a {noun}{place} has no character that can be seen", fix="write its name"
            ).at(what)
        if what in _PEOPLE and _WITH_EXPONENT.fullmatch(name):
            raise DataError(
                f"column {column!r}: a {noun} is a number with an exponent", rule="1e+05 is 100000 in another file",
                fix="write it in full",
            ).at(what)  # fmt: skip
        budget = name
        if what == "unit":  # no budget hangs on a piece: 007 is not 7
            budget = without_zeros(name)
        other, at = first.setdefault(budget, (raw, row))
        if other != raw:
            rows = ""
            if at is not None and row is not None:
                rows = f" in rows {at + 1} and {row + 1}{below}"
            raise DataError(
                f"column {column!r}: a {noun} is written in two ways{rows}, which look alike ({reasons})",
                fix="write it in one way",
            ).at(what)
        spelling_of[raw] = name
    return spelling_of
