"""Tables by rank, frequency or thresholds: medians, quantiles, the most frequent states, counts above numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, StrictInt

from takifugu.core.errors import TakifuguError
from takifugu.model.queries import CountAbove, Median, Quantile, Query, State, TopK
from takifugu.numbers.rationals import Number
from takifugu.releasing.file.problems import fault
from takifugu.releasing.file.sections import Number as Written

#: The queries that choose, in the order of the documentation; those of an order, and those of how often.
BY_RANK, BY_COUNT = ("median", "quantile"), ("mode", "top-k")
CHOICES = (*BY_RANK, *BY_COUNT)
ABOVE = "count-above"

Share = Annotated[
    Written | tuple[Written, ...] | None,
    Field(description="quantile: the share of the entries that lie below it, or several", examples=[0.9]),
]
HowMany = Annotated[
    StrictInt | None, Field(ge=1, description="top-k: how many of the most frequent states are published", examples=[3])
]
Thresholds = Annotated[
    tuple[Written, ...] | None,
    Field(min_length=1, description="count-above: the numbers above which entries are counted", examples=[[30, 60]]),
]


def missing_of(item: Any, number: int) -> Iterator[TakifuguError]:
    """Yield a fault for a key that is missing."""
    if item.query == "quantile" and item.share is None:
        yield fault(("release", number, "share"), "is missing", "write for example share = 0.9, or [0.25, 0.75]")
    if item.query == "top-k" and item.k is None:
        yield fault(("release", number, "k"), "is missing", "write how many states are published, for example k = 3")
    if item.query == ABOVE and item.thresholds is None:
        fix = "write the numbers above which entries are counted, for example thresholds = [30, 60]"
        yield fault(("release", number, "thresholds"), "is missing", fix)


def choice_of(
    item: Any,
    codes: Mapping[State, Number] | None,
    states: Sequence[State] | None,
    entries: Sequence[int | str] | None = None,
) -> Query:
    """Return the query of such a table; InputError for what does not fit together."""
    if item.query == ABOVE:
        return CountAbove(item.thresholds, codes, entries)
    if item.query == "median":
        return Median(codes, states, entries)
    if item.query == "quantile":
        return Quantile(item.share, codes, states, entries)
    return TopK(1 if item.query == "mode" else item.k, states, entries)  # type: ignore[arg-type]


def blamed_key(error: TakifuguError, item: Any) -> str:
    """Return the key of such a table that an error is about."""
    at = str(error.where[0]) if error.where else ""
    known = {"share": "share", "states": "states", "codes": "codes", "count": "k", "thresholds": "thresholds"}
    if item.query == ABOVE:
        return known.get(at, "codes")
    return known.get(at, "states" if item.query in BY_COUNT or item.codes is None else "codes")
