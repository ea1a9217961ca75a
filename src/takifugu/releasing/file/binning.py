"""Numbers of records as values: by the bins that [source] declares for the one column that is read, or for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.core.sections import values_of, written
from takifugu.data import OUTSIDE, UNKNOWN, UNOBSERVED, Bins, Numerals
from takifugu.data.values.texts import NAME_MARKS
from takifugu.releasing.file.reading import wrong

if TYPE_CHECKING:
    from takifugu.releasing.file.sections import SourceKeys


def bins_of(source: SourceKeys, column: str | None = None) -> Bins | None:
    """Return the bins of a column, by default of the only one."""
    declared = values_of(source, written(source, ("bins",)))  # records of whole columns have classes
    if not declared:
        return None
    edges = declared["bins"]
    if column is None:
        return Bins(edges)
    return Bins(edges[column]) if column in edges else None


def binned(text: str | None, column: str, bins: Bins | None, numerals: Numerals) -> str | None:
    """Return the bin of a text's number, if there are bins."""
    if bins is None or text is None:
        return text
    code = bins.code_of(numerals.plain(text))
    return None if code == UNOBSERVED else state_in(code, column, bins)


def state_in(code: int, column: str, bins: Bins) -> str:
    """Return a bin's state; DataError, without the number, outside all bins."""
    if code == OUTSIDE:
        bin_words = [f"{state}: {words}" for state, words in zip(bins.states, bins.words, strict=True)]
        fault_text = f"column {column!r} has a number that is in none of the bins"
        fix = f"declare bins for all numbers that can occur, or {NAME_MARKS}; the bins are {bin_words}"
        raise wrong("bins", fault_text, fix=fix)
    if code == UNKNOWN:
        fix = f"repair them, or {NAME_MARKS}"
        raise wrong("bins", f"column {column!r} has texts that are no numbers", fix=fix)
    return str(bins.states[code])
