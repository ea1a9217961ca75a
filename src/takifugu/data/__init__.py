"""Data frames of any engine: opened, sanitised, bounded, and reduced to integers where the rows are."""

from takifugu.data.engines.outside import Engine
from takifugu.data.engines.outside import register as register_engine
from takifugu.data.engines.table import Table
from takifugu.data.files.formats import DataFile, SourceFormat
from takifugu.data.files.formats import register as register_source_format
from takifugu.data.lookalikes import refuse_lookalikes
from takifugu.data.open import looked_into, open_frame, sniffed
from takifugu.data.rows.kinds_of_order import order_kind
from takifugu.data.rows.layout import Layout, Lengths, Recode, missing_states, parse_step, text_of
from takifugu.data.sequences import pieces, rows_that_count, transitions, transitions_by
from takifugu.data.tally import Known, tally
from takifugu.data.times.calendar import Calendar
from takifugu.data.times.cells import Slots, axes_of
from takifugu.data.times.time_format import TimeFormat, check_order_format
from takifugu.data.times.zones import Zone
from takifugu.data.totals import Group, rows_of, totals, unit_names
from takifugu.data.values.bins import Bins, Classes
from takifugu.data.values.bounded import Bounded
from takifugu.data.values.pieces import Counted, Piece
from takifugu.data.values.spellings import meant
from takifugu.data.values.texts import OUTSIDE, UNKNOWN, UNOBSERVED
from takifugu.data.values.written import Numerals, Written

__all__ = [
    "OUTSIDE",
    "UNKNOWN",
    "UNOBSERVED",
    "Bins",
    "Bounded",
    "Calendar",
    "Classes",
    "Counted",
    "DataFile",
    "Engine",
    "Group",
    "Known",
    "Layout",
    "Lengths",
    "Numerals",
    "Piece",
    "Recode",
    "Slots",
    "SourceFormat",
    "Table",
    "TimeFormat",
    "Written",
    "Zone",
    "axes_of",
    "check_order_format",
    "looked_into",
    "meant",
    "missing_states",
    "open_frame",
    "order_kind",
    "parse_step",
    "pieces",
    "refuse_lookalikes",
    "register_engine",
    "register_source_format",
    "rows_of",
    "rows_that_count",
    "sniffed",
    "tally",
    "text_of",
    "totals",
    "transitions",
    "transitions_by",
    "unit_names",
]
