"""What is published: additive queries as integer tables on a grid, and how far an answer moves when entries change."""

from takifugu.queries.above import CountAbove
from takifugu.queries.additive import Additive, Entries, IntArray, State
from takifugu.queries.by import By
from takifugu.queries.candidates import Candidates
from takifugu.queries.coded import Identity, Linear, Mean, Sum
from takifugu.queries.coding import FINEST_IMPLIED_GRID, implied_grid
from takifugu.queries.counts import Count, Histogram
from takifugu.queries.cross_table import CrossTable
from takifugu.queries.each_value import EachValue
from takifugu.queries.forms import Query
from takifugu.queries.registry import check, from_dict, is_ours, key_of, register, resolved
from takifugu.queries.rows import CountRows
from takifugu.queries.selection import Median, Mode, Quantile, TopK
from takifugu.queries.statistic import Statistic
from takifugu.queries.together import Together
from takifugu.queries.visits import AtMost, Visitors

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
    "register",
    "resolved",
]
