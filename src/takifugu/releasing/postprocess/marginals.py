"""Rows, columns and total of a published table of several ways: sums of its own values, so that all of them agree.

Adding up published numbers reveals nothing beyond them. A sum of k cells carries the noise of all k: its standard
deviation is sqrt(k) times that of one cell, where cells have independent noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from takifugu.core.errors import InputError
from takifugu.core.plain import Plain
from takifugu.model.queries.registry import two_way_of
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.releasing.postprocess.intervals import Readable
from takifugu.releasing.postprocess.readable import readable
from takifugu.releasing.postprocess.release import Adjusted, Release

_BETWEEN = ", "


@dataclass(frozen=True)
class Marginals:
    """The cells of a table, each as its parts such as ("07", "busy"), with their values, exact."""

    cells: tuple[tuple[str, ...], ...]
    values: tuple[Fraction, ...]

    @property
    def rows(self) -> dict[str, Readable]:
        """Return the sum of the cells of each first part."""
        return self.along(0)

    @property
    def columns(self) -> dict[str, Readable]:
        """Return the sum of the cells of each second part."""
        return self.along(1)

    @property
    def total(self) -> Readable:
        """Return the sum of all cells."""
        return readable(sum(self.values, Fraction(0)))  # type: ignore[no-any-return]

    def along(self, *places: int) -> dict[str, Readable]:
        """Return the sums of cells agreeing in some parts, counted from 0; InputError for a part of none."""
        width = len(self.cells[0])
        if any(isinstance(place, bool) or not 0 <= place < width for place in places):
            raise InputError(f"a cell has no part {list(places)}", rule=f"parts are numbered 0 to {width - 1}")
        sums: dict[str, Fraction] = {}
        for cell, value in zip(self.cells, self.values, strict=True):
            key = _BETWEEN.join([cell[place] for place in places])
            sums[key] = sums.get(key, Fraction(0)) + value
        return {key: readable(value) for key, value in sums.items()}


def marginals(published: object) -> Marginals:
    """Add up the rows, columns and total of a published table.

    Only published values are read, so it costs nothing.

    Args:
        published: A release, its adjusted values, or the rows of `read_table`: a histogram by cells, or a table of
            several columns.

    Returns:
        The sums.

    Raises:
        InputError: Where labels do not have the same number of parts, two or more; for means, which do not add up; and
            for the answers of several people.

    Examples:
        >>> table = marginals([{"cell": "A, ill", "value": 3}, {"cell": "A, well", "value": -1},
        ...                    {"cell": "B, ill", "value": 2}, {"cell": "B, well", "value": 5}])
        >>> table.rows, table.columns, table.total
        ({'A': 2, 'B': 7}, {'ill': 5, 'well': 4}, 9)
    """
    if isinstance(published, Release | Adjusted):
        query = published.certificate.query
        labels, values = tuple(map(str, published.labels)), tuple(published.values)
        return Marginals(_parts(labels, query), _numbers(values))
    if isinstance(published, str | Mapping) or not isinstance(published, Sequence) or not published:
        raise InputError("no published table is given", fix='give a release, or tf.read_table("table.csv")')
    if any(not isinstance(row, Mapping) or {"cell", "value"} - set(row) for row in published):
        raise InputError("a row of the table has no cell or no value", fix="give the rows of tf.read_table(...)")
    if len({row.get("unit") for row in published}) > 1:
        raise InputError("the table has the answers of several people", fix="give the rows of one person")
    return Marginals(_parts([str(row["cell"]) for row in published], {}), _numbers([row["value"] for row in published]))


def _parts(labels: Sequence[str], query: Plain) -> tuple[tuple[str, ...], ...]:
    """Return the parts of each label, by the query, or by splitting where all have as many parts."""
    inner = query.get("query") if query.get("kind") == "by" else query
    kind = inner.get("kind") if isinstance(inner, Mapping) else None
    if kind == "mean":
        raise InputError("means do not add up to a mean", fix="publish sums, and divide them afterwards")
    if kind in ("quantile", "top-k", "count-above"):
        kind_of_values = "values that were chosen" if kind != "count-above" else "counts above several thresholds"
        raise InputError(f"{kind_of_values} do not add up", fix="publish a histogram by cells, and add that up")
    split = tuple(tuple(label.split(_BETWEEN)) for label in labels)
    cells: tuple[tuple[str, ...], ...] = two_way_of(query, labels) or split
    widths = set(map(len, cells))
    if len(widths) != 1 or max(widths) < 2 or len(set(cells)) < len(cells):
        raise InputError(
            "the labels of the cells do not tell two parts or more",
            rule="each has as many, with a comma and a blank between them",
            fix="give a histogram by cells, or a table of several columns",
        )
    return tuple(cells)


def _numbers(values: Sequence[Number]) -> tuple[Fraction, ...]:
    return tuple(as_fraction(value, "a value of the table") for value in values)
