"""An answer that is one real number, of which no range is known."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from takifugu.core.errors import Unsupported


@dataclass(frozen=True)
class RealNumber:
    """A published number as it is given, in units of `grid`, which it need not be a multiple of."""

    grid: Fraction

    labels = ("value",)
    cells = 1
    size = 1
    on_grid = False

    @property
    def key(self) -> Hashable:
        return self.grid

    def entry_changes(self) -> NoReturn:
        """Raise Unsupported, as a number without a range may change by any."""
        raise Unsupported(
            "the published number has no range, so no noise covers every change of it",
            fix="use a mechanism that looks at its distribution",
        )

    def change(self, entries: object) -> NoReturn:
        """Raise Unsupported, as `entry_changes`."""
        self.entry_changes()

    def coordinate_change(self, entries: object) -> NoReturn:
        """Raise Unsupported, as `entry_changes`."""
        self.entry_changes()

    def cell_ranges(self) -> NoReturn:
        """Raise Unsupported, as `entry_changes`."""
        self.entry_changes()

    def evaluate(self, totals: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return the number itself in grid units; the noise rounds it."""
        return tuple(number / self.grid for number in totals)

    def restrict(self, entries: slice) -> RealNumber:
        """Return itself: it has no parts."""
        return self
