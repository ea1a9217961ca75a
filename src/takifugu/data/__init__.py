"""Data of any kind: read as one typed relation, bounded, and reduced to integers where the rows are."""

from takifugu.data.times.calendar import Calendar
from takifugu.data.times.cells import Slots, axes_of
from takifugu.data.times.steps import parse_step, steps_in
from takifugu.data.times.zones import Zone
from takifugu.data.values.bins import Bins, Classes
from takifugu.data.values.bounded import Bounded
from takifugu.data.values.counts import Counts
from takifugu.data.values.spellings import meant

__all__ = [
    "Bins",
    "Bounded",
    "Calendar",
    "Classes",
    "Counts",
    "Slots",
    "Zone",
    "axes_of",
    "meant",
    "parse_step",
    "steps_in",
]
