"""What each column of a table holds, as far as its type or the form of its texts tells: for a first release file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from takifugu.data.engines.table import Table
from takifugu.data.values.texts import INTEGER, NUMBER, TIME

#: The kinds a column can be of, in the words of the messages.
WHOLE, NUMBERS, TIMES, YES_NO, TEXTS, OTHER = (
    "whole numbers", "numbers", "dates and times", "true or false", "texts", "something else",
)  # fmt: skip
_FORMS = ((WHOLE, INTEGER), (NUMBERS, NUMBER), (TIMES, TIME))


def column_kinds(table: Table, texts: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the kinds of columns, in words.

    Texts that are all written as numbers are numbers. `texts` are the present ones of each column. Raises DataError for
    an unreadable file.

    >>> import tempfile, pathlib
    >>> from takifugu.data import column_kinds, open_frame
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "activity.csv"
    >>> _ = file.write_text("person,at,posture\\nAna,2026-01-31T10:00,lying\\nBen,2026-01-31T10:01,walking\\n")
    >>> column_kinds(open_frame(file), {"person": ["Ana", "Ben"], "at": ["2026-01-31T10:00", "2026-01-31T10:01"]})
    {'person': 'texts', 'at': 'dates and times'}
    """
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
