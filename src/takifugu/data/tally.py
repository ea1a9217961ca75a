"""Rows counted by what their columns say, where the rows are: a few integers come back, however many rows there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from takifugu.data.engines.table import Table
from takifugu.data.values.bins import Bins, Classes
from takifugu.data.values.texts import UNOBSERVED

if TYPE_CHECKING:
    from takifugu.data.engines.differences import Frame

#: How a column is read: the code of each text, or the classes or bins that its numbers are put into.
Known = Mapping[str, int] | Classes | Bins


def tally(table: Table, known: Mapping[str, Known]) -> dict[tuple[int, ...], int]:
    """Count the rows with each combination of codes, in one scan.

    `known` gives each column's codes, by texts or by classes. Other codes are -1 for a missing value, -2 for an unknown
    one (another text, or no number), -3 for a number in no bin. Raises InputError for a missing column, DataError for
    one without names.

    >>> import tempfile, pathlib
    >>> from takifugu.data import open_frame
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("group,smokes\\na,no\\na,yes\\nb,no\\na,no\\nb,never\\n")
    >>> found = tally(open_frame(file), {"group": {"a": 0, "b": 1}, "smokes": {"no": 0, "yes": 1}})
    >>> sorted(found.items())
    [((0, 0), 2), ((0, 1), 1), ((1, -2), 1), ((1, 0), 1)]
    """
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.differences import collected
    from takifugu.data.engines.sanitise import is_text, kind_of, number_code, state_column

    roles = {f"c{number}": column for number, column in enumerate(known)}
    rules = dict(zip(roles, known.values(), strict=True))
    with table.reading():
        frame = table.pick(roles)
        raw, texts = dict[str, nw.Expr](), list[str]()
        for role, rule in rules.items():
            kind = kind_of(frame, role, roles[role])
            if not isinstance(rule, Mapping):
                raw[role] = number_code(role, roles[role], kind, table, rule)
                continue
            raw[role] = state_column(role, roles[role], kind)
            if is_text(kind):
                texts.append(role)
        frame = frame.select(**raw).group_by(*roles).agg(rows=nw.len())  # only the few different texts are recoded
        frame = _with_codes(frame, rules, texts, table.missing).group_by(*roles).agg(rows=nw.col("rows").sum())
        counts = {tuple(map(int, key)): int(rows) for *key, rows in collected(frame.select(*roles, "rows"))}
    blank = tuple(rule.missing if isinstance(rule, Classes) else UNOBSERVED for rule in rules.values())
    may_be_blank = blank in counts and table.without_blank_rows is not None
    return tally(table.filled, known) if may_be_blank else counts


def _with_codes(frame: Frame, rules: Mapping[str, Known], texts: Iterable[str], missing: Iterable[str]) -> Frame:
    """Return raw states, their texts stripped, as their codes."""
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.sanitise import state_code, text

    stripped = {role: text(nw.col(role), missing) for role in texts}
    if stripped:
        frame = frame.with_columns(**stripped)
    schema, codes = frame.collect_schema(), dict[str, nw.Expr]()
    for role, rule in rules.items():
        if isinstance(rule, Mapping):
            codes[role] = state_code(role, schema[role], rule)
    return frame.with_columns(**codes) if codes else frame
