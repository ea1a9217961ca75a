"""Data frames of any engine: opened, sanitised, bounded, and reduced to integers where the rows are."""

from takifugu.frames.bins import Bins
from takifugu.frames.bounded import Bounded
from takifugu.frames.calendar import Calendar
from takifugu.frames.cells import Slots, axes_of
from takifugu.frames.classes import Classes
from takifugu.frames.codes import OUTSIDE, UNKNOWN, UNOBSERVED
from takifugu.frames.kinds import column_kinds
from takifugu.frames.layout import Layout, Lengths, Recode, missing_states, parse_step, text_of
from takifugu.frames.lookalikes import refuse_lookalikes
from takifugu.frames.numerals import Numerals
from takifugu.frames.open import open_frame
from takifugu.frames.outside import Engine, register
from takifugu.frames.sequences import Counted, Piece, pieces, transitions, transitions_by
from takifugu.frames.sniff import sniffed
from takifugu.frames.spellings import meant
from takifugu.frames.table import Table
from takifugu.frames.tally import Known, tally
from takifugu.frames.time_format import TimeFormat
from takifugu.frames.totals import Group, totals
from takifugu.frames.written import Written
from takifugu.frames.zones import Zone

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
