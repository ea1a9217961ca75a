"""What names in the data mean: one spelling of each, wherever the rows are, and a refusal of two spellings of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from takifugu.core.errors import DataError, InputError
from takifugu.core.names import LONGEST, normalised, without_zeros
from takifugu.core.people import PEOPLE

#: A name as it is written, and the number of a row that holds it, counted from 0 (None where rows have no order).
Written = tuple[str, int | None]
#: The keys of names of people; and a large number as R (1e+05) and Java (1.0E7) write it: 3e8 may be a name.
_PEOPLE, _WITH_EXPONENT = ("unit", "person"), re.compile(r"[+-]?[0-9]+(?:\.[0-9]*[eE]\+?|[eE]\+)[0-9]+")

#: What rows of totals are called.
WORD_OF_TOTALS = r"(?i:(?:grand|sub)?[ -]?total[es]?|totaal|(?:gesamt)?summe|gesamt|insgesamt|sum|somme|suma|totaux)"
_TOTALS = re.compile(rf"\W*{WORD_OF_TOTALS}\W*")
#: A line that is a number with zeros in front, or a word of totals.
_UNCLEAR = re.compile(rf"(?m)^(?:0[0-9]+|{WORD_OF_TOTALS})$")


def meant(written: Iterable[Written], column: str, what: str) -> dict[str, str]:
    """Return the one spelling of every written name; DataError, with rows and no name, for unfit ones."""
    written = list(written)
    names = [raw for raw, _ in written]
    if _are_plain(names):  # as most are, and there may be millions
        return dict(zip(names, names, strict=True))
    noun, reasons, is_person = what, "blanks, accents, characters of zero width", what in _PEOPLE
    if is_person:
        noun, reasons = PEOPLE.one, f"{reasons}, or zeros or a plus in front of a number"
    subject, below = f"column {column!r}: a {noun}", " (counted from 1 below the header)"
    spelling_of: dict[str, str] = {}
    first: dict[str, Written] = {}
    for raw, row in written:
        if raw in spelling_of:
            continue
        try:
            name = normalised(raw)
        except InputError:
            name = ""
        if not name or (is_person and _WITH_EXPONENT.fullmatch(name)):
            place = "" if row is None else f" in row {row + 1}{below}"
            raise _unfit(raw, f"{subject}{place}").at(what)
        # rows of totals tell of everybody
        if is_person and are_totals(name):
            raise _of_totals(column).at(what)
        budget = name
        if is_person:  # no promise is made to a piece: 007 is not 7
            budget = without_zeros(name)
        other, at = first.setdefault(budget, (raw, row))
        if other != raw:
            rows = ""
            if at is not None and row is not None:
                rows = f" in rows {at + 1} and {row + 1}{below}"
            words = f"{subject} is written in two ways{rows}, which look alike ({reasons})"
            raise DataError(words, fix="write it in one way").at(what)
        spelling_of[raw] = name
    return spelling_of


def _are_plain(names: Sequence[str]) -> bool:
    """Return whether each name is of ASCII letters and digits, has no second spelling, and is none of totals."""
    lines = "\n".join(names)
    is_plain = lines.isascii() and all(map(str.isalnum, names)) and not _UNCLEAR.search(lines)
    return is_plain and max(map(len, names), default=0) <= LONGEST


def are_totals(name: str) -> bool:
    """Return whether rows of this name are those of totals."""
    return _TOTALS.fullmatch(name) is not None


def _of_totals(column: str) -> DataError:
    return DataError(
        f"column {column!r} has a name of totals",
        rule="they tell of everybody, and nobody's rows would hide that",
        fix="delete their rows; somebody who is really called so needs another name",
    )


def _unfit(text: str, subject: str) -> DataError:
    """Return the error about a text without a spelling, or with several."""
    try:
        name = normalised(text, subject)
    except InputError as error:
        return error.of(DataError)
    if name:
        rule = "1e+05 is 100000 in another file"
        return DataError(f"{subject} is a number with an exponent", rule=rule, fix="write it in full")
    return DataError(f"{subject} has no character that can be seen", fix="write its name")
