"""What each column of a table holds, as far as its type or the form of its texts tells: for a first release file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from takifugu.data.engines.table import Table
from takifugu.data.values.texts import BLANKS, INTEGER, NUMBER, TIME

#: The kinds a column can be of, in the words of the messages.
WHOLE, NUMBERS, TIMES, YES_NO, TEXTS, OTHER = (
    "whole numbers", "numbers", "dates and times", "true or false", "texts", "something else",
)  # fmt: skip
_FORMS = ((WHOLE, INTEGER), (NUMBERS, NUMBER), (TIMES, TIME))


def column_kinds(table: Table, texts: Mapping[str, Iterable[str]] | None = None) -> dict[str, str]:
    """Return what every column holds, in words; a column of texts that are all written as numbers holds numbers.

    Only whether a rule holds for a whole column is looked at. `texts` are those of the named columns that are not
    missing, where they were read already; then the others are not looked at. Raises DataError for a file that cannot be
    read.

    >>> import tempfile, pathlib
    >>> from takifugu.data import column_kinds, open_frame
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "activity.csv"
    >>> _ = file.write_text("person,at,posture\\nAna,2026-01-31T10:00,lying\\nBen,2026-01-31T10:01,walking\\n")
    >>> column_kinds(open_frame(file))
    {'person': 'texts', 'at': 'dates and times', 'posture': 'texts'}
    """
    if table.in_python:
        return {name: _in_python(table, name) for name in table.names}
    return _in_engine(table) if texts is None else _of_texts(table, texts)


def _of_texts(table: Table, texts: Mapping[str, Iterable[str]]) -> dict[str, str]:
    from takifugu.data.engines.differences import careful
    from takifugu.data.engines.sanitise import is_text

    with careful(table.source):
        schema = table.frame.collect_schema()
    types = {name: schema[label] for name, label in zip(table.names, table.labels, strict=True) if name in texts}
    return {name: _of(texts[name], table) if is_text(kind) else _word(kind) for name, kind in types.items()}


def _of(texts: Iterable[str], table: Table) -> str:
    different = [table.numerals.plain(text) for text in set(texts)]
    fitting = (word for word, form in _FORMS if different and all(re.match(form, text) for text in different))
    return next(fitting, TEXTS)


def _in_python(table: Table, name: str) -> str:
    texts = ((text or "").strip(BLANKS) for text in table.frame[name])
    return _of((text for text in texts if text not in table.missing), table)


def _first(matches: Sequence[int], texts: int) -> str:
    fitting = (word for (word, _), count in zip(_FORMS, matches, strict=True) if texts and count == texts)
    return next(fitting, TEXTS)


def _in_engine(table: Table) -> dict[str, str]:
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.differences import careful, collected
    from takifugu.data.engines.sanitise import is_text, text

    kinds: dict[str, str] = {}
    with careful(table.source):
        schema = table.frame.collect_schema()
        sums: dict[str, nw.Expr] = {}
        for number, (name, label) in enumerate(zip(table.names, table.labels, strict=True)):
            kind = schema[label]
            kinds[name] = _word(kind)
            if is_text(kind):
                value = table.numerals.plain_in_engine(text(nw.col(label).cast(nw.String), table.missing))
                tests = [~value.is_null(), *(value.str.contains(form) for _, form in _FORMS)]
                sums |= {f"s{number}_{i}": t.fill_null(False).cast(nw.Int64).sum() for i, t in enumerate(tests)}
        if sums:
            (row,) = collected(table.frame.select(**sums))
            counts = dict(zip(sums, (count or 0 for count in row), strict=True))
            for number, name in enumerate(table.names):
                if f"s{number}_0" in counts:
                    there, *matches = (int(counts[f"s{number}_{i}"]) for i in range(len(_FORMS) + 1))
                    kinds[name] = _first(matches, there)
    return kinds


def _word(kind: object) -> str:
    import narwhals.stable.v2 as nw

    if isinstance(kind, nw.dtypes.DType):
        if kind.is_integer():
            return WHOLE
        if kind.is_numeric():
            return NUMBERS
        if isinstance(kind, nw.Date | nw.Datetime):
            return TIMES
        if isinstance(kind, nw.Boolean):
            return YES_NO
        if isinstance(kind, nw.String | nw.Categorical | nw.Enum):
            return TEXTS
    return OTHER
