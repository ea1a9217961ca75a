"""An answer about whole columns, of which every record may change: what does not depend on how it is computed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Self

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.model.queries.additive import IntArray


class WholeColumns:
    """`labels`, `records`, `size` (entries are parameters of columns) and `change` (D of some) are the answer's own."""

    labels: tuple[str, ...]
    size: int
    records: int

    on_grid = True  # every answer is a multiple of the grid

    def change(self, entries: Iterable[int]) -> int:
        raise NotImplementedError

    @property
    def cells(self) -> int:
        return len(self.labels)

    @property
    def weights(self) -> IntArray:
        """Return 1 for every entry with a column in use, else 0."""
        read: IntArray = (self.entry_changes() != 0).astype(np.int64)
        return read

    def entry_changes(self) -> IntArray:
        """Return D of each entry's column alone, in grid units.

        D(N) may be less than their sum, never more.
        """
        return self._alone

    @cached_property
    def _alone(self) -> IntArray:
        return np.array([self.change((entry,)) for entry in range(self.size)], dtype=np.int64)

    def restrict(self, entries: slice) -> Self:
        """Return the answer itself, as parameters share its records.

        Even independent ones do.
        """
        if range(self.size)[entries] != range(self.size):
            raise Unsupported("an answer about whole columns has no share of some parameters alone")
        return self
