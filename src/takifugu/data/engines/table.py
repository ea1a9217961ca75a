"""An opened table of any engine: its column names, and the columns that a caller picks, under names of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import DataError, InputError
from takifugu.core.escaping import is_plain
from takifugu.core.lists import take
from takifugu.core.nearest import apart
from takifugu.data.engines.faults import careful
from takifugu.data.values.written import Numerals, Written

if TYPE_CHECKING:
    from takifugu.data.engines.differences import Frame


@dataclass(frozen=True, eq=False)
class Table:
    """Rows that were opened but not read: `names` are the columns, `source` is what messages call the table.

    `ordered` says that rows have an order of their own (a file, a frame in memory); where they have none (a Spark
    frame, a DuckDB relation), only an order column puts them in one. `missing` are the texts that count as missing.
    """

    source: str
    names: tuple[str, ...]
    ordered: bool
    missing: frozenset[str]
    scan: Callable[[], Frame] = field(repr=False)  # opens the rows, once one of them or a type is asked for
    labels: tuple[str, ...] = field(repr=False)
    keeps: object = field(default=None, repr=False)
    #: Refuses columns, by their labels, of too long texts, where a file can repeat one without holding it twice.
    check_texts: Callable[[Sequence[str]], None] | None = field(default=None, repr=False)
    #: Returns the frame without the rows that hold nothing at all, where they may be there: it looks at every column.
    without_blank_rows: Callable[[], Frame] | None = field(default=None, repr=False)
    written: Written = field(default_factory=Written, repr=False)
    #: Refuses a file that is no longer as it was when it was opened.
    check_unchanged: Callable[[], None] | None = field(default=None, repr=False)
    #: Gives DuckDB no more bytes while it lasts, where nobody else uses it and it knows the bounds of columns unread.
    within: Callable[[int], AbstractContextManager[None]] | None = field(default=None, repr=False)
    #: The other package whose source format or engine read it, if any.
    reader: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not all(map(is_plain, self.names)):
            raise DataError(f"{self.source} has control characters in the names of its columns", fix="rename them")

    @cached_property
    def frame(self) -> Frame:
        """Return the rows as a narwhals frame."""
        return self.scan()

    @property
    def numerals(self) -> Numerals:
        """Return how numbers are written in texts."""
        return self.written.numerals

    @property
    def filled(self) -> Table:
        """Return the table without its empty rows."""
        if self.without_blank_rows is None:
            return self
        return replace(self, scan=self.without_blank_rows, without_blank_rows=None)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn engines' errors into DataError, and refuse files changed meanwhile."""
        with careful(self.source):
            yield
        if self.check_unchanged is not None:
            self.check_unchanged()

    def renamed(self, names: Mapping[str, str]) -> Table:
        """Return the table with columns under their old names, if renamed.

        Raises InputError for a table with both names.
        """
        for now, before in names.items():
            if now in self.names and before in self.names:
                raise InputError(
                    f"the data has a column {now!r} and a column {before!r}",
                    rule="a column that was renamed is there once", fix="leave it out, or name the other column",
                ).at("renamed")  # fmt: skip
        return replace(self, names=tuple(names.get(name, name) for name in self.names))

    def head(self, rows: int) -> Table:
        """Return the table of the first rows, reading no further."""
        return self.derived(lambda frame: frame.head(rows), {})

    def derived(
        self, transform: Callable[[Frame], Frame], origins: Mapping[str, Sequence[str]], **changes: Any
    ) -> Table:
        """Return the table of transformed rows.

        `origins` are the labels here of each new column; `changes` are other fields of the new table.
        """
        blank = self.without_blank_rows
        if blank is not None:
            changes["without_blank_rows"] = lambda: transform(blank())

        def check(labels: Sequence[str]) -> None:
            former_labels = chain.from_iterable(origins.get(label, (label,)) for label in labels)
            self._check_texts(list(dict.fromkeys(former_labels)))

        if self.check_texts is not None:
            changes["check_texts"] = check
        return replace(self, scan=lambda: transform(self.frame), **changes)

    def _check_texts(self, labels: Sequence[str]) -> None:
        """Raise DataError for too long texts in those of the columns with texts."""
        if self.check_texts is None:
            return
        import narwhals.stable.v2 as nw

        schema = self.frame.collect_schema()
        texts = [label for label in labels if isinstance(schema[label], nw.String)]
        if texts:
            self.check_texts(texts)

    def require(self, columns: Sequence[str], known: Sequence[str] = ()) -> None:
        """Raise InputError for a missing or repeated column.

        `known` are all declared columns. The first line of a file, or a frame read from it, may be somebody's row and
        is not quoted, except for a name that differs from a declared one by a letter.
        """
        for column in columns:
            if column not in self.names and set(self.names).isdisjoint(known or columns):
                raise InputError(
                    f"the data has no column {column!r}, nor any other that is named",
                    rule="its columns must have names, in a text file in its first line",
                )
            if column not in self.names:
                fix = (
                    "write the name of a column; a text file without a line of names needs header = false, an index of "
                    "pandas reset_index()"
                )
                near = [name for name in self.names if _differs_by_a_letter(column, name)]
                if near:
                    fix = f"did you mean {near[0]!r}?"
                raise InputError(f"the data has no column {column!r}", fix=fix)
            if self.names.count(column) > 1:
                raise InputError(f"the data has two columns called {column!r}", fix="rename one")

    def pick(self, roles: Mapping[str, str]) -> Frame:
        """Return a narwhals frame with a column per role; InputError if missing."""
        import narwhals.stable.v2 as nw

        from takifugu.data.engines.differences import typed

        self.require(list(roles.values()))
        label = dict(zip(self.names, self.labels, strict=True))
        self._check_texts(take(label, roles.values()))
        columns = {role: nw.col(label[name]) for role, name in roles.items()}
        return typed(self.frame.select(**columns or {"row": nw.col(self.labels[0])}))  # without a column: as many rows


def _differs_by_a_letter(word: str, other: str) -> bool:
    """Return whether two words differ by a letter, or by swapped ones.

    Case does not count. In words of three letters none is replaced: other words, such as names, are as near.
    """
    short, long = sorted((word.strip().casefold(), other.strip().casefold()), key=len)
    if len(short) < 3 or len(long) - len(short) > 1 or (len(long) == 3 and {*short} != {*long}):
        return False
    return apart(short, long) <= 1
