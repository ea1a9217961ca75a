"""Data frames of any engine: opened, sanitised, bounded, and reduced to integers where the rows are."""

from takifugu.data.engines.outside import Engine, register
from takifugu.data.engines.table import Table
from takifugu.data.files.sniff import sniffed
from takifugu.data.files.written import Written
from takifugu.data.kinds import column_kinds
from takifugu.data.lookalikes import refuse_lookalikes
from takifugu.data.open import open_frame
from takifugu.data.rows.layout import Layout, Lengths, Recode, missing_states, parse_step, text_of
from takifugu.data.sequences import Counted, Piece, pieces, transitions, transitions_by
from takifugu.data.tally import Known, tally
from takifugu.data.times.calendar import Calendar
from takifugu.data.times.cells import Slots, axes_of
from takifugu.data.times.time_format import TimeFormat
from takifugu.data.times.zones import Zone
from takifugu.data.totals import Group, totals
from takifugu.data.values.bins import Bins
from takifugu.data.values.bounded import Bounded
from takifugu.data.values.classes import Classes
from takifugu.data.values.codes import OUTSIDE, UNKNOWN, UNOBSERVED
from takifugu.data.values.numerals import Numerals
from takifugu.data.values.spellings import meant

__all__ = [
    "OUTSIDE",
    "UNKNOWN",
    "UNOBSERVED",
    "Bins",
    "Bounded",
    "Calendar",
    "Classes",
    "Counted",
    "Engine",
    "Group",
    "Known",
    "Layout",
    "Lengths",
    "Numerals",
    "Piece",
    "Recode",
    "Slots",
    "Table",
    "TimeFormat",
    "Written",
    "Zone",
    "axes_of",
    "column_kinds",
    "meant",
    "missing_states",
    "open_frame",
    "parse_step",
    "pieces",
    "refuse_lookalikes",
    "register",
    "sniffed",
    "tally",
    "text_of",
    "totals",
    "transitions",
    "transitions_by",
]
