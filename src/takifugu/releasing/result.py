"""What a release hands back: the noisy value, its error bars, its certificate."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from takifugu.errors import InputError, did_you_mean
from takifugu.laws.rationals import to_text
from takifugu.randomisers import Randomiser
from takifugu.releasing.certificate import Certificate
from takifugu.tables import WIDTH, html_table, text_table

Shown = int | float
LIBRARIES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True)
class Release:
    """A noisy answer: `values` are exact multiples of the grid, one a cell of `labels`."""

    labels: tuple[str, ...]
    values: tuple[Fraction, ...]
    certificate: Certificate
    randomiser: Randomiser = field(repr=False)

    @property
    def value(self) -> Shown | dict[str, Shown]:
        """Return the noisy number, or a mapping of cells to numbers for a histogram."""
        numbers = [shown(v) for v in self.values]
        if self.certificate.query["kind"] == "histogram":
            return dict(zip(self.labels, numbers, strict=True))
        return numbers[0]

    def interval(self, level: float = 0.95) -> tuple[Shown, Shown] | dict[str, tuple[Shown, Shown]]:
        """Return where the true answer lies with probability `level`, over the noise alone, in all cells at once.

        This is not sampling error: it says nothing about a population. Raises InputError unless 0 < level < 1.
        """
        half = self.randomiser.half_width(level)
        ends = [(shown(v - half), shown(v + half)) for v in self.values]
        if self.certificate.query["kind"] == "histogram":
            return dict(zip(self.labels, ends, strict=True))
        return ends[0]

    def rows(self, level: float = 0.95, cells: int | None = None) -> list[dict[str, Any]]:
        """Return one row a cell: cell, value, low, high; simultaneous over `cells` values published together."""
        half = self.randomiser.half_width(level, cells)
        return [
            {"cell": label, "value": shown(v), "low": shown(v - half), "high": shown(v + half)}
            for label, v in zip(self.labels, self.values, strict=True)
        ]

    def to_frame(self, library: Any = "pandas", level: float = 0.95) -> Any:
        """Return the cells, values and error bars as a frame of the named library.

        Raises InputError for a library that is unknown or not installed.
        """
        if library not in LIBRARIES:
            raise InputError(
                f"the library is {library!r}; write one of {list(LIBRARIES)}{did_you_mean(library, LIBRARIES)}"
            )
        import narwhals as nw

        rows = self.rows(level)
        try:
            return nw.from_dict({key: [row[key] for row in rows] for key in rows[0]}, backend=library).to_native()
        except ImportError:
            raise InputError(f"{library} is not installed: install it, or take one of {list(LIBRARIES)}") from None

    def to_dict(self) -> dict[str, Any]:
        values = [{"cell": c, "value": to_text(v)} for c, v in zip(self.labels, self.values, strict=True)]
        return {"values": values, "certificate": self.certificate.to_dict()}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        c = self.certificate
        head = f"{c.statistic}, noisy: {self._made}"
        rows = [[r["cell"], _number(r["value"]), _number(r["low"]), _number(r["high"])] for r in self.rows()]
        table = text_table(("cell", "value", "low", "high"), rows)
        note = "low to high: 95 % intervals of the noise alone, all cells at once; not sampling error"
        warning = "" if c.private else "NOT PRIVATE: the noise came from a test seed.\n"
        return warning + "\n".join([*textwrap.wrap(head, WIDTH), "", table, "", *textwrap.wrap(note, WIDTH)])

    def _repr_html_(self) -> str:
        c = self.certificate
        warning = "" if c.private else "<p><strong>NOT PRIVATE: the noise came from a test seed.</strong></p>"
        rows = [[r["cell"], _number(r["value"]), f"{_number(r['low'])} to {_number(r['high'])}"] for r in self.rows()]
        return warning + html_table(
            ("cell", "noisy value", "95 % interval (noise only)"), rows, f"{c.statistic}: {self._made}"
        )

    @property
    def _made(self) -> str:
        c = self.certificate
        return f"{', '.join(c.mechanisms)}, epsilon {float(Fraction(c.epsilon)):.6g}"


def shown(value: Fraction) -> Shown:
    """Return a multiple of the grid as people read it: an int where it is whole, else the nearest float.

    >>> shown(Fraction(6, 2)), shown(Fraction(1, 4))
    (3, 0.25)
    """
    return value.numerator if value.denominator == 1 else float(value)


def _number(value: Shown) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
