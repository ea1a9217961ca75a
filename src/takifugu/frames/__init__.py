"""Data frames of any engine: opened, sanitised, bounded, and reduced to integers where the rows are."""

from takifugu.frames.bounded import Bounded
from takifugu.frames.classes import Classes
from takifugu.frames.kinds import column_kinds
from takifugu.frames.layout import UNKNOWN, UNOBSERVED, Layout, Lengths, Recode, missing_states, parse_step, text_of
from takifugu.frames.open import open_frame
from takifugu.frames.outside import Engine, register
from takifugu.frames.sequences import Counted, Piece, pieces, transitions
from takifugu.frames.spellings import meant
from takifugu.frames.table import Table
from takifugu.frames.tally import tally
from takifugu.frames.totals import Group, totals

__all__ = [
    "UNKNOWN",
    "UNOBSERVED",
    "Bounded",
    "Classes",
    "Counted",
    "Engine",
    "Group",
    "Layout",
    "Lengths",
    "Piece",
    "Recode",
    "Table",
    "column_kinds",
    "meant",
    "missing_states",
    "open_frame",
    "parse_step",
    "pieces",
    "register",
    "tally",
    "text_of",
    "totals",
    "transitions",
]
