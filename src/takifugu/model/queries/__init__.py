"""What is published: additive queries as integer tables on a grid, and how far an answer moves when entries change.

Each query loads its module when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.core.arrays import IntArray
from takifugu.core.entries import Entries
from takifugu.core.registry import loading
from takifugu.model.queries.answer import Additive, State
from takifugu.model.queries.coding import FINEST_IMPLIED_GRID, implied_grid
from takifugu.model.queries.forms import Query
from takifugu.model.queries.registry import check, from_dict, name_of, names_of, register, sections_of
from takifugu.model.queries.resolving.summing import is_chosen_from, key_of, resolved

if TYPE_CHECKING:
    from takifugu.model.queries.additive.coded import Identity, Linear, Mean, Sum
    from takifugu.model.queries.additive.counts import Count, CountAbove, Histogram
    from takifugu.model.queries.choices.candidates import Candidates
    from takifugu.model.queries.choices.selection import Median, Mode, Quantile, TopK
    from takifugu.model.queries.tables.by import GroupBy
    from takifugu.model.queries.tables.cross_table import CrossTable
    from takifugu.model.queries.tables.each_value import LocalValue
    from takifugu.model.queries.tables.rows import CountRows
    from takifugu.model.queries.tables.statistic import Statistic
    from takifugu.model.queries.tables.together import JointQuery
    from takifugu.model.queries.tables.visits import AtMost, Visitors

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
    "AtMost": "tables.visits", "Candidates": "choices.candidates", "Count": "additive.counts",
    "CountAbove": "additive.counts", "CountRows": "tables.rows", "CrossTable": "tables.cross_table",
    "GroupBy": "tables.by", "Histogram": "additive.counts", "Identity": "additive.coded",
    "JointQuery": "tables.together", "Linear": "additive.coded", "LocalValue": "tables.each_value",
    "Mean": "additive.coded", "Median": "choices.selection", "Mode": "choices.selection",
    "Quantile": "choices.selection", "Statistic": "tables.statistic", "Sum": "additive.coded",
    "TopK": "choices.selection", "Visitors": "tables.visits",
})  # fmt: skip
