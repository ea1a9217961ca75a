"""Columns of a table under names of our own: whose row it is, its state, and its place in the order as exact ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from takifugu.core.lists import among
from takifugu.data.engines.differences import Frame, alike, is_duckdb, numbered, settled, wrapped
from takifugu.data.engines.sanitise import bin_number, is_text, key_column, kind_of, state_code, state_column, text
from takifugu.data.engines.sql import identifier
from takifugu.data.engines.table import Table
from takifugu.data.rows.layout import Layout, Recode, text_of, unit_name
from takifugu.data.rows.local_time import in_utc
from takifugu.data.rows.order import kind_of_texts, with_ticks
from takifugu.data.rows.pieces import FAR, TWICE, Key, NotPlain
from takifugu.data.times.clock import Clock

#: Numbers and times as DuckDB writes them, and how logs do: with a T, without seconds. The first rows tell which it is.
_PLAIN = {
    "bigint": ("x::varchar",),
    "timestamp": (
        "x::varchar", "replace(x::varchar, ' ', 'T')", "left(x::varchar, 16)",
        "replace(left(x::varchar, 16), ' ', 'T')", "left(x::varchar, 10)",
    ),
}  # fmt: skip
_BOUNDS = {"bigint": "", "timestamp": " and x >= timestamp '0001-01-01' and x < timestamp '9999-12-31'"}
_FIRST_ROWS = 100


def with_plain_texts(frame: Frame, role: str, kind: nw.dtypes.DType) -> Frame | None:
    """Add `tick`, the numbers or times of DuckDB's texts, and `written`.

    Texts unlike the first are null; `written` is 1 for any text. None stands for other engines, and for first rows that
    DuckDB would write otherwise.
    """
    if not is_duckdb(frame) or not (kind.is_integer() or isinstance(kind, nw.Datetime)):
        return None
    sql_type = "bigint" if kind.is_integer() else "timestamp"
    text, forms = identifier(role), _PLAIN[sql_type]
    typed = frame.to_native().project(f"*, try_cast({text} as {sql_type}) as x")
    first = typed.filter(f"{text} is not null").limit(_FIRST_ROWS)
    (fitting,) = first.aggregate(", ".join(f"bool_and(coalesce({form} = {text}, false))" for form in forms)).fetchall()
    form = next((form for form, fits in zip(forms, fitting, strict=True) if fits), None)
    if form is None:
        return None
    names = [name for name in frame.collect_schema().names() if name != "tick"]
    plain = f"case when {form} = {text}{_BOUNDS[sql_type]} then x end as tick"
    added = plain, f"({text} is not null)::bigint as written"
    return wrapped(typed.project(", ".join([*map(identifier, names), *added])))


#: How many rows are looked at to guess how the texts of an order column are written; all rows are checked later.
GUESSED_FROM = 100


@dataclass(frozen=True)
class PickedRows:
    """A frame with the columns of `keys`, `raw` (the state), `tick` if there is an order, `row` if rows have one.

    Texts stay as they are until few are left. A `step` is so many ticks; `guessed` says that the kind of texts was seen
    in the first rows alone, `naive` that times tell no zone, `in_place` that rows stand as they were read.
    """

    frame: Frame
    keys: tuple[str, ...]
    texts: frozenset[str]
    request: tuple[Table, Layout, Recode]
    step: int | None
    guessed: bool
    naive: bool = False
    in_place: bool = True

    @property
    def in_rows(self) -> bool:
        """Return whether rows have an order of their own."""
        return self.request[0].ordered

    @property
    def in_ticks(self) -> bool:
        return self.request[1].order is not None

    @property
    def start(self) -> int | None:
        """Return the tick of a calendar's first place, if any."""
        calendar = self.request[1].calendar
        return None if calendar is None or self.step is None else calendar.ticks(self.step)

    @property
    def text_keys(self) -> list[str]:
        return among(self.keys, self.texts)

    def key(self, values: Sequence[object]) -> Key:
        """Return the names of a piece."""
        values_by_role = dict(zip(self.keys, values, strict=False))
        return unit_name(values_by_role.get("unit"), self.request[1].unit), text_of(values_by_role.get("piece"))

    def stripped(self, frame: Frame, columns: Sequence[str]) -> Frame:
        return frame.with_columns(text(nw.col(column), self.request[0].missing).alias(column) for column in columns)

    def coded(self, frame: Frame, role: str) -> Frame:
        """Add the numbers of raw states."""
        if "raw" in self.texts:
            frame = self.stripped(frame, [role])
        return frame.with_columns(self._code(frame, role))

    def _code(self, frame: Frame, role: str) -> nw.Expr:
        code = state_code(role, frame.collect_schema()[role], self.request[2].codes)
        return code.alias(role.replace("raw", "code"))

    def recoded(self, by_raw: Frame) -> Frame:
        """Strip keys and add the `code` of states to grouped rows.

        `changed` is 1 for a stripped key.
        """
        changed = nw.lit(0)
        for role in self.text_keys:
            changed = nw.when(alike(role, f"{role}_written")).then(changed).otherwise(nw.lit(1))
        written = by_raw.with_columns(nw.col(role).alias(f"{role}_written") for role in self.text_keys)
        stripped = self.stripped(written, among((*self.keys, "raw"), self.texts))
        return stripped.with_columns(self._code(stripped, "raw"), changed=changed)


def picked_rows(
    table: Table, layout: Layout, states: Recode, kind: nw.dtypes.DType | None = None, is_plain: bool = False,
    undecided: int = 0,
) -> PickedRows:  # fmt: skip
    """Pick the columns, and number and time every row.

    A few rows at most are read; clocks that show more than those do are left undecided. `undecided` says what an
    earlier read left so: of times that are FAR all are read first. `kind` is that of an order's texts, if known;
    `is_plain` gives no tick to texts that DuckDB would write otherwise. Raises InputError for a missing column,
    DataError for unfit values, NotPlain if the first texts are not plain.
    """
    states.check(table.missing)
    frame, roles, kinds = picked(
        table, {"unit": layout.unit, "piece": layout.piece, "tick": layout.order, "raw": layout.value}
    )
    frame, keys, texts = _with_keys_and_states(frame, roles, kinds, (table, layout, states))
    step, exact, guessed, naive, in_place, clock = None, ["row"], False, False, True, layout.clock
    order_kind, in_texts = kinds.get("tick"), False
    if layout.order is not None and order_kind is not None:
        if is_written(order_kind, clock):
            guessed, in_texts = kind is None and clock.form is None, not is_plain
            frame, order_kind = _with_read_texts(frame, table, layout, kind, is_plain)
        frame, step, is_whole = with_ticks(frame, layout.order, layout.step, order_kind, in_texts, clock)
        if is_whole:
            exact.append("tick")
    if table.ordered:
        frame = numbered(frame)
    frame = settled(frame, exact)
    if isinstance(order_kind, nw.Date | nw.Datetime):
        has_zone = isinstance(order_kind, nw.Datetime) and bool(order_kind.time_zone)
        naive = clock.zone is None and not has_zone
        if clock.zone is not None and (in_texts or not has_zone):
            of_first = None if undecided == FAR else GUESSED_FROM
            rules = clock.zone, table.ordered, layout.ambiguous, layout.moments
            frame, in_place = in_utc(frame, keys, *rules, of_first, undecided == TWICE)
    return PickedRows(frame, keys, texts, (table, layout, states), step, guessed, naive, in_place)


def _with_read_texts(
    frame: Frame, table: Table, layout: Layout, kind: nw.dtypes.DType | None, is_plain: bool
) -> tuple[Frame, nw.dtypes.DType]:
    """Return the frame with an order's texts as they are read, and their kind."""
    written = with_order_texts(frame, "tick", table, layout)
    kind = kind or kind_of_texts(written.head(GUESSED_FROM), str(layout.order), layout.clock.form)
    if not is_plain:
        return written, kind
    plain = with_plain_texts(frame, "tick", kind)
    if plain is None:
        raise NotPlain("the first texts of the order are written otherwise")
    return plain, kind


def _with_keys_and_states(
    frame: Frame, roles: Mapping[str, str], kinds: Mapping[str, nw.dtypes.DType], request: tuple[Table, Layout, Recode]
) -> tuple[Frame, tuple[str, ...], frozenset[str]]:
    """Return the rows that count, their keys, and the columns that are texts."""
    table, layout, states = request
    keys = tuple(among(("unit", "piece"), roles))
    columns = {role: key_column(role, roles[role], kinds[role]) for role in keys} or {"all": nw.lit(0)}
    frame = frame.with_columns(**columns, raw=raw_states(kinds["raw"], table, layout, states))
    texts = [role for role in keys if is_text(kinds[role])]
    if keys and layout.null_keys == "drop":
        frame = frame.with_columns(text(nw.col(role), table.missing).alias(role) for role in texts)
        frame = frame.drop_nulls(list(keys))
    if states.bins is None and is_text(kinds["raw"]):
        texts.append("raw")
    return frame, tuple(columns), frozenset(texts)


def picked(table: Table, columns: Mapping[str, str | None]) -> tuple[Frame, dict[str, str], dict[str, nw.dtypes.DType]]:
    """Return the declared columns, with their names and types by role."""
    roles = {role: column for role, column in columns.items() if column is not None}
    frame = table.pick(roles)
    return frame, roles, {role: kind_of(frame, role, column) for role, column in roles.items()}


def raw_states(kind: nw.dtypes.DType, table: Table, layout: Layout, states: Recode) -> nw.Expr:
    """Return the states of `raw`, or the numbers of its bins."""
    if states.bins is None:
        return state_column("raw", layout.value, kind)
    return bin_number("raw", layout.value, kind, table, states.bins)


def is_written(kind: nw.dtypes.DType, clock: Clock) -> bool:
    """Return whether an order is read from texts, or formatted integers."""
    return is_text(kind) or (clock.form is not None and kind.is_integer())


def with_order_texts(frame: Frame, role: str, table: Table, layout: Layout) -> Frame:
    """Add `tick`, an order column as texts, with numbers plainly written."""
    stripped = text(nw.col(role).cast(nw.String), table.missing)
    if layout.clock.form is None:
        stripped = table.numerals.plain_in_engine(stripped)
    return frame.with_columns(tick=stripped)
