"""What is published: additive queries as integer tables on a grid, and how far an answer moves when entries change.

Queries that few frameworks ask load their modules when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.core.entries import Entries
from takifugu.core.registry import loaded
from takifugu.model.queries.above import CountAbove
from takifugu.model.queries.additive import Additive, IntArray, State
from takifugu.model.queries.by import By
from takifugu.model.queries.candidates import Candidates
from takifugu.model.queries.coded import Identity, Linear, Mean, Sum
from takifugu.model.queries.coding import FINEST_IMPLIED_GRID, implied_grid
from takifugu.model.queries.counts import Count, Histogram
from takifugu.model.queries.each_value import EachValue
from takifugu.model.queries.forms import Query
from takifugu.model.queries.registry import (
    check,
    from_dict,
    is_ours,
    key_of,
    name_of,
    names_of,
    register,
    resolved,
    sections_of,
)
from takifugu.model.queries.selection import Median, Mode, Quantile, TopK

if TYPE_CHECKING:
    from takifugu.model.queries.cross_table import CrossTable
    from takifugu.model.queries.rows import CountRows
    from takifugu.model.queries.statistic import Statistic
    from takifugu.model.queries.together import Together
    from takifugu.model.queries.visits import AtMost, Visitors

__all__ = [
    "FINEST_IMPLIED_GRID",
    "Additive",
    "AtMost",
    "By",
    "Candidates",
    "Count",
    "CountAbove",
    "CountRows",
    "CrossTable",
    "EachValue",
    "Entries",
    "Histogram",
    "Identity",
    "IntArray",
    "Linear",
    "Mean",
    "Median",
    "Mode",
    "Quantile",
    "Query",
    "State",
    "Statistic",
    "Sum",
    "Together",
    "TopK",
    "Visitors",
    "check",
    "from_dict",
    "implied_grid",
    "is_ours",
    "key_of",
    "name_of",
    "names_of",
    "register",
    "resolved",
    "sections_of",
]

_MODULES = {
    "AtMost": "visits", "CountRows": "rows", "CrossTable": "cross_table", "Statistic": "statistic",
    "Together": "together", "Visitors": "visits",
}  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'takifugu.model.queries' has no attribute {name!r}")
    value = loaded(f"model.queries.{_MODULES[name]}:{name}")
    globals()[name] = value
    return value
