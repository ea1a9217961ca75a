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
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.sanitise import is_text

    with table.reading():
        schema = table.frame.collect_schema()
    kinds = dict[str, str]()
    for name, label in zip(table.names, table.labels, strict=True):
        if name not in texts:
            continue
        kind, kinds[name] = schema[label], OTHER
        if is_text(kind):
            different = list(map(table.numerals.plain, set(texts[name])))
            fitting = (word for word, form in _FORMS if different and all(re.match(form, text) for text in different))
            kinds[name] = next(fitting, TEXTS)
        elif kind.is_integer():
            kinds[name] = WHOLE
        elif kind.is_numeric():
            kinds[name] = NUMBERS
        elif isinstance(kind, nw.Date | nw.Datetime):
            kinds[name] = TIMES
        elif isinstance(kind, nw.Boolean):
            kinds[name] = YES_NO
    return kinds
