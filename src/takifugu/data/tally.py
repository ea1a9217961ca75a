"""Rows counted by what their columns say, where the rows are: a few integers come back, however many rows there are."""

from __future__ import annotations

from collections.abc import Mapping

from takifugu.data.engines.faults import careful
from takifugu.data.engines.table import Table
from takifugu.data.values.bins import Bins
from takifugu.data.values.classes import Classes
from takifugu.data.values.codes import UNOBSERVED

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
    from takifugu.data.engines.fixed_point import number_code
    from takifugu.data.engines.sanitise import is_text, kind_of, state_code, state_column, text

    roles = {f"c{number}": column for number, column in enumerate(known)}
    with careful(table.source):
        frame = table.pick(roles)
        raw, coded, blank = dict[str, nw.Expr](), dict[str, Mapping[str, int]](), list[int]()
        stripped = list[nw.Expr]()
        for role, (column, codes) in zip(roles, known.items(), strict=True):
            kind = kind_of(frame, role, column)
            if not isinstance(codes, Mapping):
                raw[role] = number_code(role, column, kind, table, codes)
                blank.append(codes.missing if isinstance(codes, Classes) else UNOBSERVED)
                continue
            raw[role], coded[role] = state_column(role, column, kind), codes
            blank.append(UNOBSERVED)
            if is_text(kind):
                stripped.append(text(nw.col(role), table.missing).alias(role))
        frame = frame.select(**raw)
        frame = frame.group_by(*roles).agg(rows=nw.len())  # so that only the few different texts are recoded
        if stripped:
            frame = frame.with_columns(stripped)
        if coded:
            schema = frame.collect_schema()
            frame = frame.with_columns(**{role: state_code(role, schema[role], codes) for role, codes in coded.items()})
        frame = frame.group_by(*roles).agg(rows=nw.col("rows").sum())
        counts = {tuple(map(int, key)): int(rows) for *key, rows in collected(frame.select(*roles, "rows"))}
    if tuple(blank) in counts and table.without_blank_rows is not None:
        return tally(table.filled, known)
    return counts
