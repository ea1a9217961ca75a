"""How a file is read that holds several tables, or says nothing of its signs: which part, and by which delimiter."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from takifugu.core.sections import values_of
from takifugu.data.files.csv_text import look
from takifugu.data.files.formats import careful_with_format, data_file, format_of
from takifugu.data.files.many import files_of, is_many
from takifugu.data.values.written import Written


def dialect_of(path: Path, written: Written) -> Mapping[str, object]:
    """Return the dialect of a file, by its keys.

    A CSV file has a `delimiter`, beside that of its first line, and an `encoding` by Python's name; a workbook or
    database has a `sheet` or `table`, and whether it is the only one. The first of many files decides.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "activity.csv"
    >>> _ = file.write_text("person;posture\\nAna;lying\\n")
    >>> dialect_of(file, Written(delimiter=";"))
    {'delimiter': [';', ';'], 'encoding': 'utf-8'}
    """
    path = Path(os.path.abspath(path))
    file = data_file(files_of(path)[0])
    form = format_of(file)
    with careful_with_format(file, form):
        if form.name == "CSV":
            seen_sign = look(file, replace(written, delimiter=None)).separator
            return {"delimiter": [written.delimiter or seen_sign, seen_sign], "encoding": written.codec or "utf-8"}
        declared = values_of(written, form.parts)
        if is_many(path) or form.contents is None:
            parts = {part: [name, False] for part, name in declared.items() if name is not None}
        else:
            parts = {part: [name or next(iter(form.contents(file))), name is None] for part, name in declared.items()}
        return parts if written.lines is None else {**parts, "header": [*written.lines]}
