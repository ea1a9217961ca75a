"""Tables of units and the pooled table made to agree: weighted least squares with the known variances of the noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from takifugu.analysis.randomisers import Noise
from takifugu.core.errors import InputError
from takifugu.core.plain import Json
from takifugu.core.text.parts import InParts, Part, rows, words
from takifugu.numbers import projection
from takifugu.numbers.rationals import to_text
from takifugu.releasing.postprocess.adjust import CUT, POST, WHOLE, check_not_negative
from takifugu.releasing.postprocess.readable import cells_of, frame_of
from takifugu.releasing.postprocess.release import HEADER, KEYS, Adjusted, Release, title


@dataclass(frozen=True)
class Reconciled(InParts):
    """Tables of units and the pooled table, adjusted so that in every cell the units sum to the pooled value."""

    units: Mapping[str, Adjusted]
    pooled: Adjusted
    notes: tuple[str, ...]

    def rows(self, level: float = 0.95) -> list[Json]:
        """Return a row per unit and cell, then pooled ones (unit None), all at once (`Adjusted.rows`)."""
        cells = sum(len(a.labels) for a in (*self.units.values(), self.pooled))
        tables: list[tuple[str | None, Adjusted]] = [*self.units.items(), (None, self.pooled)]
        rows: list[Json] = []
        for unit, adjusted in tables:
            rows += [{"unit": unit, **row} for row in adjusted.rows(level, cells)]
        return rows

    def to_frame(self, library: object = None, level: float = 0.95) -> Any:
        """Return the rows as a frame of a library (see `Release.to_frame`)."""
        return frame_of(self.rows(level), library or self.pooled.raw.library)

    @property
    def parts(self) -> Iterator[Part]:
        lines = list[list[str]]()
        for row in self.rows():
            lines.append([row["unit"] or "(all)", *cells_of(row, KEYS)])
        yield title(self.pooled.certificate, "reconciled after the noise")
        yield rows((self.pooled.certificate.person, *HEADER), lines)
        yield words(*self.notes)


def reconcile(per_unit: Mapping[str, Release], pooled: Release, nonnegative: bool = True) -> Reconciled:
    """Adjust tables of units and their pooled table so that they add up.

    Weighted least squares: in each cell the x that minimise sum (x_u - v_u)^2/s_u + (sum x_u - p)^2/s_p. Here v_u and p
    are noisy values, s_u and s_p the known variances of their noise. Without `nonnegative` it is the best linear
    unbiased estimate, no worse than either table. The pooled value is rounded to the grid, and units to it by largest
    remainders.

    Args:
        per_unit: The release of each unit.
        pooled: The release of all units together.
        nonnegative: Whether values must not be negative.

    Returns:
        The adjusted tables.

    Raises:
        InputError: For tables that do not add up (other cells, grids or units; means), and where true values may be
            negative.

    Examples:
        >>> import takifugu as tf
        >>> def noisy(lengths, data):
        ...     chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
        ...     framework = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, lengths))
        ...     return tf.release(tf.calibrate(framework, tf.Histogram(), epsilon=1), data)
        >>> ana, ben = ["still"] * 4, ["walking"] * 4
        >>> both = reconcile({"Ana": noisy([4], [ana]), "Ben": noisy([4], [ben])}, noisy([4, 4], [ana, ben]))
        >>> both.pooled.value["still"] == sum(unit.value["still"] for unit in both.units.values())
        True
    """
    _check_addable(per_unit, pooled)
    if nonnegative:
        for table in (*per_unit.values(), pooled):
            check_not_negative(table.certificate)
    grid = to_text(pooled.randomiser.grid)
    notes = (POST, *_reconciling(nonnegative, pooled.certificate.people.many), WHOLE.format(grid=grid))
    if nonnegative:
        notes = (*notes, CUT)
    rows, sums = _summing(list(per_unit.values()), pooled, nonnegative)
    units = dict[str, Adjusted]()
    for (unit, table), values in zip(per_unit.items(), rows, strict=True):
        units[unit] = Adjusted(table, values, notes, table.certificate, nonnegative)
    return Reconciled(units, Adjusted(pooled, sums, notes, pooled.certificate, nonnegative), notes)


def _summing(
    tables: Sequence[Release], pooled: Release, nonnegative: bool
) -> tuple[list[tuple[Fraction, ...]], tuple[Fraction, ...]]:
    """Return the nearest consistent values, table by table, and their sums."""
    grid, variance = pooled.randomiser.grid, Fraction(pooled.randomiser.variance())
    spread = [Fraction(table.randomiser.variance()) for table in tables]
    cells, sums = list[list[Fraction]](), list[Fraction]()
    for column, value in zip(zip(*(table.values for table in tables), strict=True), pooled.values, strict=True):
        near = projection.nearest(column, spread, value, variance, nonnegative)
        steps = round(sum(near) / grid)
        whole = projection.whole([x / grid for x in near], steps, column)
        cells.append([step * grid for step in whole])
        sums.append(steps * grid)
    return list(zip(*cells, strict=True)), tuple(sums)


def _reconciling(nonnegative: bool, people: str) -> Iterator[str]:
    yield (
        f"In every cell the values of the {people} sum to the pooled value: weighted least squares, where each value "
        "moves in proportion to the variance of its noise."
    )
    if nonnegative:
        yield (
            f"No value is negative. This adds bias: {people} whose true value is near 0 come out too high on average, "
            "and the others and the pooled value shift with them."
        )
    else:
        yield "This introduces no bias beyond the rounding to the grid."


def _check_addable(per_unit: Mapping[str, Release], pooled: Release) -> None:
    if not isinstance(per_unit, Mapping) or not per_unit:
        raise InputError(
            "there are no tables of people", fix="give a mapping of their names to their releases"
        ).at("per_unit")
    if not isinstance(pooled, Release) or not all(isinstance(r, Release) for r in per_unit.values()):
        raise InputError("only releases can be reconciled", fix="give what release() returned").at("per_unit")
    if pooled.certificate.query["kind"] == "mean":
        raise InputError(
            "means of people do not sum to the pooled mean", fix="release sums, and divide them afterwards"
        ).at("pooled")
    for unit, table in per_unit.items():
        if (
            _statistic(table) != _statistic(pooled)
            or table.labels != pooled.labels
            or table.randomiser.grid != pooled.randomiser.grid
        ):
            raise InputError(
                f"the table of {unit!r} and the pooled table have different statistics, cells or grids",
                rule="they do not add up",
            ).at("per_unit", str(unit))
    for whose, table in (*((f"of {unit!r}", table) for unit, table in per_unit.items()), ("of all", pooled)):
        if not isinstance(table.randomiser, Noise):
            raise InputError(
                f"the table {whose} was not made with added noise ({table.randomiser.kind})",
                rule="the variance of its error depends on the true value, so it has no weight",
            )
    pooled_units = pooled.certificate.units
    if pooled_units and set(pooled_units) != set(per_unit):
        raise InputError(
            f"the pooled table is over the people {list(pooled_units)}", fix="give exactly their tables"
        ).at("per_unit")
    count = pooled.certificate.unit_count
    if count is not None and count != len(per_unit):
        raise InputError(
            f"the pooled table is over {count} people, and {len(per_unit)} tables are given", fix="give them all"
        ).at("per_unit")


def _statistic(release: Release) -> Json:
    """Return the part of a query common to tables that add up. Entries are each unit's own; cells are compared."""
    query = release.certificate.query
    varying = {"entries", "weights", "grid"}
    if query["kind"] == "histogram":
        varying.add("states")
    return {key: value for key, value in query.items() if key not in varying}
