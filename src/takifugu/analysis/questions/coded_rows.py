"""Private values, row by row, as the numbers that a belief over populations gives them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import IntArray
from takifugu.core.columns import no_list, value_of, values_of
from takifugu.core.errors import DataError

if TYPE_CHECKING:
    from takifugu.model.beliefs.populations import FromPopulations


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows of many people, one number of a value each, in the order in which they are published; read and valid."""

    codes: npt.NDArray[np.int32] = field(repr=False)

    def __len__(self) -> int:
        return len(self.codes)

    def tobytes(self) -> bytes:
        """Return bytes of the data, equal for equal data only."""
        return b"rows" + self.codes.tobytes()


def of_rows(belief: FromPopulations, data: object) -> IntArray:
    """Return the numbers of one person's values, shape (rows, 1); no error repeats the data."""
    if no_list(data) is not None:
        raise DataError("the data are no list of values", fix="give one value for each row of the person")
    values = values_of(data)
    if len(values) != belief.rows:
        raise DataError(
            "the data have another number of rows than the belief", fix="calibrate for as many rows as there are"
        ).at("rows")
    try:
        places = [belief.place[_plain(value)] for value in values]
    except (KeyError, TypeError):
        raise DataError(
            "the data have a value that no population has", fix="declare it, or clamp it before"
        ).at("data") from None
    return np.array(places, dtype=np.int64).reshape(-1, 1)


def _plain(value: object) -> Hashable:
    if isinstance(value, list | tuple):
        return tuple(map(value_of, value))
    return value_of(value)
