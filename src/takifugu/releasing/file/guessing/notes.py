"""What `takifugu init` says of a table beside its questions: what its author must know before they are believed.

Notes name columns and never a value.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from takifugu.core.escaping import visible
from takifugu.core.plain import toml_of
from takifugu.data import Written
from takifugu.data.files.first_lines import subtotals_of
from takifugu.releasing.file.guessing.columns import FirstLook
from takifugu.releasing.file.guessing.roles import Roles

#: So many sheets, tables or columns are named.
_LISTED = 10
_LEFT_OUT = 'null_keys = "drop" under [source]'
_REPEATED = (
    "A few rows are repeated as a whole, so several are in one step. If that is a mistake of the export, let one of "
    'them count, and leave the others out: duplicates = "first" under [source].'
)
_NO_ORDER = (
    "No column seems to order the rows, so they count as steps in time in the order of the file. If each row is a "
    "separate record (a person, a case), start again with --rows answers."
)
_MARKS = (
    "Among the numbers in {} are a few texts that are none. Where such a column is read, name each of them as it is "
    'written: missing = ["NA"] under [source].'
)
_PARTS = (
    "The file has {0} {1}s: {2}. The largest was taken, {3}; for another one write its name as {1} in the file, and "
    "the names of its columns."
)
_MIXED = (
    "the dates in {0} are written in several ways, or in one that is not usual; if they matter say how (--order {0}, "
    "and --dates such as '%Y-%m-%d %H:%M:%S UTC'), or write them alike first (in pandas, frame[{0}] = "
    "pandas.to_datetime(frame[{0}], format='mixed'), where dayfirst = True says that the day comes first)"
)
_MERGED = (
    "{0} is empty in most rows, as where cells are merged: if a name is that of the rows below it, too, fill them "
    "first (in pandas, frame[{0}] = frame[{0}].ffill())"
)

#: What makes one line of names of two, of which the upper one is as merged cells are.
_JOINED = (
    " (if the line above tells them apart, in pandas: rows = pandas.read_csv(FILE, header=None); rows.columns = "
    "(rows.iloc[{0}].ffill().fillna('') + ' ' + rows.iloc[{1}].fillna('')).str.strip(); "
    "rows[{2}:].to_csv('data.csv', index = False))"
)


def notes(look: FirstLook, roles: Roles, file: Path, rows: str) -> Iterator[str]:
    """Yield the notes on a draft.

    Of samples, `rows` without a unit may be left out.
    """
    has_order, is_sampled = "order" in roles, rows == "samples"
    if is_sampled and not has_order:
        yield _NO_ORDER
    if look.twice:
        words = twice_words(look)
        yield f"{words[0].upper()}{words[1:]}."
    yield from _odd_lines(look, file, roles["unit"].name if is_sampled and "unit" in roles else None)
    if has_order and look.odd.repeated:
        yield _REPEATED
    with_texts = [column.name for column in look.columns.values() if column.marks]
    if with_texts:
        yield _MARKS.format(_first_of(with_texts))


def _odd_lines(look: FirstLook, file: Path, unit: str | None) -> Iterator[str]:
    """Yield the lines to leave out, with a key or command.

    No row of a `unit` has a name that is missing: keys leave the others out.
    """
    odd, name = look.odd, shlex.quote(file.name)
    is_text = file.suffix.lower() in (".csv", ".tsv", ".txt") and look.written.encoding != "utf-16"
    if look.written.lines is not None:
        yield _lines_of_header(*look.written.lines)
    if odd.below_names:
        yield f"Of the file {_lines(2, 1 + odd.below_names)} more of its header, and no row: delete what is no row."
    if odd.names_again:
        first = 1 if look.written.lines is None else look.written.lines[0]
        command = f": (head -n {first} {name}; tail -n +{first + 1} {name} | grep -avxF \"$(sed -n {first}p {name})\")"
        command = f"{command} > data.csv" if is_text else "."
        keys = "" if unit is None else f" missing = {visible(toml_of([unit]))} and {_LEFT_OUT} leave them out. Or"
        yield f"The names of the columns stand among the rows, where tables were joined:{keys} delete them{command}"
    if odd.totals:
        last = f"$(grep -a '[^;,|[:space:]]' {name} | tail -n 1)"  # below it may be empty rows
        command = f': grep -avxF "{last}" {name} > data.csv' if is_text else "."
        is_named = unit is not None and look.all_rows[unit][-1] is not None
        word = 'missing = ["Total"], as it is written there, and ' if is_named else ""
        keys = "" if unit is None else f" {word}{_LEFT_OUT} leaves it out. Or"
        yield f"The last line of the file looks like totals, which are no row of their own:{keys} delete it{command}"
    among = None if odd.totals else subtotals_of([*look.all_rows.values()])
    if among is not None:
        column, word = [*look.all_rows][among[0]], among[1]
        command = f": `grep -avE '(^|[;,|\"[:cntrl:]]){word}\\b' {name} > data.csv`" if is_text else "."
        yield (
            f"Among the rows are some that look like totals, by {visible(column)!r}. Such a row tells of everybody, "
            f"and is nobody's: if that is so, delete them{command}"
        )
    if is_text and (odd.names_again or odd.totals or among):
        yield 'The file that is left is data.csv: write file = "data.csv" under [source].'


def _lines_of_header(first: int, last: int) -> str:
    parts = [f"{_lines(1, first - 1)} a title"] if first > 1 else []
    parts += [f"{_lines(first + 1, last)} more of its header"] if last > first else []
    key = first if first == last else f"[{first}, {last}]"
    return f"Of the file {' and '.join(parts)}, and no row: header = {key} leaves out what is none."


def _lines(first: int, last: int) -> str:
    return f"line {first} is" if first == last else f"lines {first} to {last} are"


def one_of_several(contents: Mapping[str, int], written: Written) -> str:
    """Name the sheet or table read from a file of several."""
    part, taken = ("sheet", str(written.sheet)) if written.table is None else ("table", written.table)
    return _PARTS.format(len(contents), part, _first_of([*contents]), repr(visible(taken)))


def merged_words(name: str) -> str:
    """Say how to fill names that stand in the first of several rows."""
    return _MERGED.format(repr(visible(name)))


def twice_words(look: FirstLook) -> str:
    """Say how to give columns of one name their own, from the line above where there is one."""
    words = f"several columns are called {_first_of(look.twice)}, so none of them is read: give each a name of its own"
    if look.written.lines is None or look.written.lines[0] == 1:
        return words
    line = look.written.lines[0]
    return words + _JOINED.format(line - 2, line - 1, line)


def mixed_words(name: str) -> str:
    """Say how to make dates in several formats order rows."""
    return _MIXED.format(repr(visible(name)))


def unread_words(name: str) -> str:
    """Say that a column may order the rows as times."""
    return (
        f"{visible(name)!r} may say when each row was, in no usual format: make dates of it first, or say that rows "
        "are in the order of the file"
    )


def _first_of(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(repr(visible(name)) for name in names[:_LISTED]) + more
