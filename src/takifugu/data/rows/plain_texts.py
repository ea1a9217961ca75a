"""Numbers and times in texts as DuckDB writes them itself: it reads these exactly, and several times as fast."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from takifugu.data.engines.differences import Frame, is_duckdb, wrapped
from takifugu.data.engines.sql import identifier

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
