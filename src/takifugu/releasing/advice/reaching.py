"""Numbers without a verdict: how far one may be off beside all that it can be, so that hopeless ones can be mended."""

from __future__ import annotations

from dataclasses import dataclass

from takifugu.core.text.tables import number
from takifugu.releasing.advice.bands import Band
from takifugu.releasing.advice.worth import ROUGH, Expectation, Worth, measured
from takifugu.releasing.planning.expected import Expected


@dataclass(frozen=True)
class Reach(Worth):
    """The ± of a value beside its range, which stands for a verdict where nothing says what matters: it is none."""

    def sentence(self, unit: str = "") -> str:
        off, most = measured(self.cell.width, unit), number(ROUGH * self.matters)
        return f"{self.off} up to {off}, and from its least to its largest possible value it is {most}"


def reach_of(table: Expected) -> Reach | None:
    """Compare a table's ± with the range of its values, if informative.

    The reach is useless where the ± exceeds the range, as for a table that is refused.
    """
    widest = [blur for blur in table.blurs if blur.ranges and not blur.marks]
    if not widest or not all(blur.widest for blur in widest):
        return None
    blur = max(widest, key=lambda blur: float(blur.half_width) / blur.widest)
    return Reach(Band(float(blur.half_width), 0.95), None, blur.widest / ROUGH, Expectation(None, None, ""))
