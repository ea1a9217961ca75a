"""JSON lines: a record in each line, with one value in each of its fields; what a record lacks is missing."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from functools import partial

from takifugu.core.errors import DataError
from takifugu.core.plain import Json
from takifugu.data.files.copied_rows import MOST_COLUMNS, checked_names, read_rows
from takifugu.data.files.csv_text import LONGEST_LINE, text_of_file
from takifugu.data.files.formats import DataFile, Rows, SourceFormat
from takifugu.data.files.other_kinds import refuse_other_kinds
from takifugu.data.values.written import Written

_FLATTEN = "leave that field out, or flatten it: pandas.json_normalize makes a field of each value in an object"


def rows(file: DataFile, written: Written) -> Rows:
    """Return the names of all fields, as they appear, and the records.

    The file is read twice.
    """
    refuse_other_kinds(file, is_utf_16=written.codec is not None)
    names_so_far = dict[str, None]()
    for record in _records(file, written):
        names_so_far |= dict.fromkeys(record)
        if len(names_so_far) > MOST_COLUMNS:
            break
    names = tuple(names_so_far)
    checked_names(file.name, names)
    return names, (list(map(record.get, names)) for record in _records(file, written))


def _records(file: DataFile, notation: Written) -> Iterator[dict[str, str | None]]:
    with text_of_file(file, notation.codec) as text:
        number = 0
        while line := text.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise DataError(f"{file.name} has a line of more than {LONGEST_LINE:,} characters", fix="shorten it")
            if line.strip():
                yield fields(parsed(line, f"{file.name}, line {number},"), f"{file.name}, line {number},")


def parsed(text: str, what: str) -> object:
    """Return the value of a JSON text, with numbers as written.

    Raises DataError, quoting nothing, for others. Repeated names are refused, because readers take different ones.
    """

    def unique(pairs: list[tuple[str, Hashable]]) -> Json:
        record = dict(pairs)
        if len(record) < len(pairs):
            raise DataError(f"{what} has two fields of one name", fix="rename one")
        return record

    try:
        return json.loads(text, object_pairs_hook=unique, parse_float=str, parse_int=str, parse_constant=str)
    except DataError:  # which is a ValueError
        raise
    except (ValueError, RecursionError):
        raise DataError(f"{what} is no JSON", fix="repair it; a file of JSON lines has a record in each line") from None


def fields(record: object, what: str) -> dict[str, str | None]:
    """Return a record's fields as texts; DataError, by place, if nested."""
    if not isinstance(record, dict):
        raise DataError(f"{what} is no record", fix='write each one as in {"person": "Ana", "minute": 0}')
    texts = dict[str, str | None]()
    for place, (name, value) in enumerate(record.items(), 1):
        if isinstance(value, dict | list):
            nested = {dict: "an object", list: "a list"}[type(value)]
            raise DataError(f"{what} has {nested} in field {place} of {len(record)}", fix=_FLATTEN)
        if isinstance(value, bool):
            value = str(value).lower()
        texts[name] = value
    return texts


JSON_LINES = SourceFormat("JSON lines", partial(read_rows, rows), suffixes=(".jsonl", ".ndjson"), rows=rows)
