"""What is published: additive queries as integer tables on a grid, and how far an answer moves when entries change.

Queries that few frameworks ask load their modules when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.core.arrays import IntArray
from takifugu.core.entries import Entries
from takifugu.core.registry import loading
from takifugu.model.queries.additive import Additive, State
from takifugu.model.queries.coding import FINEST_IMPLIED_GRID, implied_grid
from takifugu.model.queries.counts import Count, Histogram
from takifugu.model.queries.forms import Query
from takifugu.model.queries.registry import (
    check,
    from_dict,
    is_chosen_from,
    key_of,
    name_of,
    names_of,
    register,
    resolved,
    sections_of,
)

if TYPE_CHECKING:
    from takifugu.model.queries.by import GroupBy
    from takifugu.model.queries.candidates import Candidates
    from takifugu.model.queries.coded import Identity, Linear, Mean, Sum
    from takifugu.model.queries.counts import CountAbove
    from takifugu.model.queries.cross_table import CrossTable
    from takifugu.model.queries.each_value import LocalValue
    from takifugu.model.queries.rows import CountRows
    from takifugu.model.queries.selection import Median, Mode, Quantile, TopK
    from takifugu.model.queries.statistic import Statistic
    from takifugu.model.queries.together import JointQuery
    from takifugu.model.queries.visits import AtMost, Visitors

__all__ = [
    "FINEST_IMPLIED_GRID",
    "Additive",
    "AtMost",
    "Candidates",
    "Count",
    "CountAbove",
    "CountRows",
    "CrossTable",
    "Entries",
    "GroupBy",
    "Histogram",
    "Identity",
    "IntArray",
    "JointQuery",
    "Linear",
    "LocalValue",
    "Mean",
    "Median",
    "Mode",
    "Quantile",
    "Query",
    "State",
    "Statistic",
    "Sum",
    "TopK",
    "Visitors",
    "check",
    "from_dict",
    "implied_grid",
    "is_chosen_from",
    "key_of",
    "name_of",
    "names_of",
    "register",
    "resolved",
    "sections_of",
]  # fmt: skip

__getattr__ = loading(__name__, {
    "AtMost": "visits", "GroupBy": "by", "Candidates": "candidates", "CountAbove": "counts", "CountRows": "rows",
    "CrossTable": "cross_table", "LocalValue": "each_value", "Identity": "coded", "Linear": "coded", "Mean": "coded",
    "Median": "selection", "Mode": "selection", "Quantile": "selection", "Statistic": "statistic", "Sum": "coded",
    "JointQuery": "together", "TopK": "selection", "Visitors": "visits",
})  # fmt: skip
