"""Private rows as counts: every person once at a place, and one declared value for each person; nobody is named."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from takifugu.core.arrays import IntArray
from takifugu.core.cache import cached
from takifugu.data.relation.source import Table
from takifugu.data.relation.types import Known
from takifugu.data.relation.visits import Grid, Visits
from takifugu.model.beliefs.domain import Domain
from takifugu.model.policies import places
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.reading import are_degrees, placed_at, wrong


def read_by(spec: Any, belief: object) -> tuple[dict[str, Any], Sequence[Hashable], tuple[str, ...]]:
    """Return the keys that rows are read by; what a row is follows from the belief."""
    rows = "answers" if spec.belief.meant.values is not None else "visits"
    return {"rows": rows, **spec.source.read()}, (), ()


def known(spec: Any, belief: Domain | places.Visits) -> Sequence[Known]:
    """Return how the value of a row is counted: by declared values or places, or by the edges of boxes."""
    if isinstance(belief, Domain):
        return [tuple(map(str, belief.alphabets[0]))]
    counted = _counted(belief, names_of(spec.source.value))
    if not isinstance(counted, Grid):
        return [counted]
    return counted.bins if isinstance(spec.source.value, tuple) else ()


def _counted(domain: places.Visits, values: Sequence[str]) -> Grid | tuple[str, ...]:
    """Return the places that visits are counted at: their names, or the boxes of two coordinates."""
    if domain.boxes is None:
        return tuple(map(str, domain.places))
    return Grid(*domain.boxes.edges(), in_degrees=len(values) == 2 and are_degrees(values))


def visited(table: Table, domain: places.Visits, window: range | None) -> IntArray:
    """Return the number of people at each place in a window of steps, shape (1, places)."""
    # DataError, with the key and nobody's name, for rows against a rule, and for a person at too many places
    with placed_at():
        counted = _counted(domain, table.opened.source.values)  # once for all windows
        visits: Visits = cached(table, ("visits", counted), lambda: table.visits(counted))
        if window is not None:
            visits = visits.within(window)
    with placed_at("file"):
        domain.check_sizes([visits.most])
    return visits.people(domain.size)[None]


def valued(table: Table, values: Sequence[Hashable], people: int) -> list[Hashable]:
    """Return one value per person, in an order independent of the data; DataError for rows against a rule."""
    with placed_at():
        table.refuse_lookalikes(values, "value")
        groups = table.answers([tuple(map(str, values))])
    if groups.rows.sum() != people:
        raise wrong("file", "the data have another number of rows than belief.people says", fix="check both")
    by_value = list[Hashable]()
    for (code,), rows in zip(groups.codes.tolist(), groups.rows.tolist(), strict=True):
        by_value += [values[code]] * rows
    return by_value
