"""A wide table as the long one that it says: a row for each cell, which has the step of its header and its value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import DataError
from takifugu.data.engines.sql import quoted
from takifugu.data.engines.table import Table
from takifugu.data.values.texts import BLANKS
from takifugu.data.wide import Wide, steps_of

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.differences import Frame

#: Labels of the columns that are made: no column is called so, which have numbers, and narwhals takes them as they are.
HEADER, CELL = "header", "cell"


def melted(table: Table, wide: Wide) -> Table:
    """Return the long table of a wide one; its rows have no order of their own, and none is read yet.

    Raises InputError for columns that are not as they are declared, DataError for cells of several kinds.
    """
    steps = steps_of(table.names, wide)
    others = [name for name in wide.others if name in table.names]
    names = (*others, wide.order, wide.value)
    if table.in_python:
        columns = MeltedLists(table.frame, tuple(others), steps, wide)
        return replace(table, names=names, labels=names, frame=columns, ordered=False)
    label = dict(zip(table.names, table.labels, strict=True))
    labels = {label[name]: f"k{number}" for number, name in enumerate(others)}
    melt = partial(_melted, labels=labels, steps={label[name]: step for name, step in steps.items()}, empty=wide.empty)
    blank, check = table.without_blank_rows, table.check_texts

    def check_parts(columns: Sequence[str]) -> None:
        texts = [before for before, now in labels.items() if now in columns]
        texts += [label[name] for name in steps] if CELL in columns else []
        if check is not None and texts:
            check(texts)

    return replace(
        table, names=names, labels=(*labels.values(), HEADER, CELL), frame=melt(table.frame), ordered=False,
        check_texts=None if check is None else check_parts, within=None,
        without_blank_rows=None if blank is None else lambda: melt(blank()),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class MeltedLists(Mapping[str, Any]):
    """The columns of a long table, made of lists of texts; none is read before it is asked for."""

    columns: Mapping[str, list[str | None]]
    others: tuple[str, ...]
    steps: Mapping[str, str]
    wide: Wide

    def __getitem__(self, name: str) -> list[str | None]:
        if name == self.wide.value:
            cells = zip(*(self.columns[header] for header in self.steps), strict=True)
            return [self._filled(text) for text in chain.from_iterable(cells)]
        if name == self.wide.order:
            return [*self.steps.values()] * len(self.columns[next(iter(self.steps))])
        return [text for text in self.columns[name] for _ in self.steps]

    def __iter__(self) -> Iterator[str]:
        return iter((*self.others, self.wide.order, self.wide.value))

    def __len__(self) -> int:
        return len(self.others) + 2

    def _filled(self, text: str | None) -> str | None:
        return self.wide.empty[0] if self.wide.empty and not (text or "").strip(BLANKS) else text


def _melted(frame: Frame, labels: Mapping[str, str], steps: Mapping[str, str], empty: Sequence[str]) -> Frame:
    """Return a frame with a row for each of the columns `steps` of each row."""
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.differences import is_duckdb, typed, wrapped

    frame = typed(frame.select(*labels, *steps))
    kinds = {label: kind for label, kind in frame.collect_schema().items() if label in steps}
    kind = _common([*kinds.values()])
    numbered = {label: f"h{number}" for number, label in enumerate(steps)}
    cells = {numbered[label]: _filled(nw.col(label), kinds[label], kind, empty) for label in steps}
    frame = frame.select(**{now: nw.col(before) for before, now in labels.items()}, **cells)
    if is_duckdb(frame):  # whose "unpivot" leaves out nulls where narwhals writes it
        lists = {HEADER: map(quoted, steps.values()), CELL: cells}
        unnested = [f"unnest([{', '.join(values)}]) as {name}" for name, values in lists.items()]
        return wrapped(frame.to_native().project(", ".join([*labels.values(), *unnested])))
    frame = frame.unpivot(on=[*cells], index=[*labels.values()], variable_name=HEADER, value_name=CELL)
    header = nw.col(HEADER).cast(nw.String).replace_strict([*cells], [*steps.values()], return_dtype=nw.String)
    return frame.with_columns(header.alias(HEADER))


def _common(kinds: Sequence[nw.dtypes.DType]) -> nw.dtypes.DType:
    """Return the type of all cells; DataError where some are texts and others numbers."""
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.sanitise import is_text

    some = {kind for kind in kinds if not isinstance(kind, nw.Unknown)} or {nw.String()}  # of nulls alone
    if all(map(is_text, some)):
        return nw.String()
    if len(some) == 1:
        return some.pop()
    if all(kind.is_numeric() for kind in some):
        return nw.Int64() if all(kind.is_integer() for kind in some) else nw.Float64()
    raise DataError("the columns of steps hold values of several kinds", fix="write all as texts, or as numbers").at(
        "columns"
    )


def _filled(cell: nw.Expr, kind: nw.dtypes.DType, wanted: nw.dtypes.DType, empty: Sequence[str]) -> nw.Expr:
    """Return a cell of the type that all have, with what an empty one is."""
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.sanitise import as_kind, is_text

    cell = cell if kind == wanted else cell.cast(wanted)
    if not empty:
        return cell
    values = [value for value in (as_kind(text, wanted) for text in empty) if value is not None]
    if not values:
        raise DataError(
            f"the columns of steps hold values of type {wanted}, and what an empty cell is says none of that type",
            fix=f"write in map which value of the data is {empty[0]!r}",
        ).at("empty")  # fmt: skip
    is_empty = cell.is_null()
    if is_text(wanted):
        is_empty = is_empty | (cell.str.strip_chars(BLANKS) == "").fill_null(True)
    elif wanted.is_float():
        is_empty = is_empty | cell.is_nan().fill_null(True)
    return nw.when(is_empty).then(nw.lit(values[0], wanted)).otherwise(cell)  # type: ignore[arg-type]
