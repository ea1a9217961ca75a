"""Counts above thresholds: how many entries have a number above each of declared ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import MinLen

from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.plain import PlainForm, set_fields
from takifugu.core.sections import Key
from takifugu.core.sections import Number as Written
from takifugu.model.queries.additive import Additive, Chosen, State
from takifugu.model.queries.coding import code_of, state_tables
from takifugu.model.queries.forms import CODES, RUNS, copied_codes, entry_tuple, plain, where
from takifugu.model.queries.sections import Codes, Variables, meant
from takifugu.numbers.rationals import Number, as_fraction, to_text


@dataclass(frozen=True)
class CountAbove(PlainForm, kind="count-above"):
    """How many entries are above each of `thresholds`, one number or several; not those that equal it.

    Entries' numbers are the states themselves, or their `codes`. One entry moves as many of the counts as thresholds
    lie between its two numbers. Raises InputError for no threshold, a repeated one, and a state without a number.

    >>> CountAbove([30, "50.5"]).describe()
    'how many values are above 30 and above 50.5'
    """

    thresholds: tuple[Fraction, ...]
    codes: Mapping[State, Number] | None = field(default=None, hash=False, metadata=CODES)
    entries: Chosen | None = field(default=None, metadata=RUNS)

    reads_alike = True

    def __init__(
        self,
        thresholds: Number | Sequence[Number],
        codes: Mapping[State, Number] | None = None,
        entries: Sequence[int | str] | None = None,
    ) -> None:
        all_thresholds = thresholds if isinstance(thresholds, list | tuple) else [thresholds]
        exact = tuple(as_fraction(plain(threshold), "a threshold", "thresholds") for threshold in all_thresholds)
        if not exact or len(set(exact)) < len(exact):
            raise InputError(
                "a threshold is repeated" if exact else "there is no threshold", fix="give each threshold once"
            ).at("thresholds")
        set_fields(self, thresholds=exact, codes=copied_codes(codes), entries=entry_tuple(entries))

    def resolve(self, entries: Entries) -> Additive:
        def rows(alphabet: tuple[State, ...]) -> list[list[int]]:
            table = []
            for state in alphabet:
                number = code_of(state, self.codes)
                table.append([int(number > threshold) for threshold in self.thresholds])
            return table

        tables, weights, table_of = state_tables(entries, self.entries, rows)
        return Additive(Fraction(1), tuple(f"above {to_text(t)}" for t in self.thresholds), tables, weights, table_of)

    def describe(self) -> str:
        *first, last = (f"above {to_text(t)}" for t in self.thresholds)
        all_words = f"{', '.join(first)} and {last}" if first else last
        return f"how many values are {all_words}{where(self.entries)}"


@dataclass(frozen=True, kw_only=True)
class CountAboveSection:
    """How many entries have a number above each of some."""

    query: Literal["count-above"]
    thresholds: Annotated[
        tuple[Written, ...], MinLen(1), Key("the numbers above which entries are counted", [30, 60])
    ]
    codes: Codes = None
    variables: Variables = None

    blamed = "codes"

    def query_about(self, belief: Entries, folder: Path) -> CountAbove:
        meaning = meant(belief, self.codes, None, self.variables)
        return CountAbove(self.thresholds, meaning.codes, meaning.entries)
