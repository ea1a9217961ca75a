"""Transitions counted in a table whose columns are named: what a chain is estimated from."""

from __future__ import annotations

from collections.abc import Hashable

from takifugu.core.arrays import IntArray
from takifugu.core.errors import InputError
from takifugu.data.open import open_frame
from takifugu.data.rows.layout import Layout, Recode
from takifugu.data.sequences import transitions


def transitions_of(
    data: object,
    states: tuple[Hashable, ...],
    value: str | None = None,
    order: str | None = None,
    unit: str | None = None,
    piece: str | None = None,
    step: int | float | str | None = None,
) -> IntArray:
    """Count the transitions in a frame or a file, as counts[x, y].

    Frames are of any engine, files CSV or Parquet. `value` and `order` name the columns of states and of the order of
    rows, `unit` and `piece` those of people and of unbroken runs. With a `step`, rows further apart are no transition.
    Raises InputError for a missing column, and DataError for data against the layout.
    """
    for key, column, content in (("value", value, "the states"), ("order", order, "what sorts the rows")):
        if column is None:
            raise InputError(
                f"the column of {content} is not named", rule="a table is read by its columns",
                fix='write for example value="posture", order="minute", unit="person"',
            ).at(key)  # fmt: skip
    return transitions(open_frame(data), Layout(str(value), unit, piece, order, step), Recode(states))
