"""The first line of a text file: it names the columns of all roles, and how it does so tells how the file is split.

Where it does not, it may be a row: a message tells which of its columns is spelt alike, and none of its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from takifugu.core.errors import DataError, TakifuguError, gathered, raise_gathered
from takifugu.core.nearest import likeliest, spelt_alike
from takifugu.data.files.text_file import SIGNS, Form, first_record, split_at, unique_names
from takifugu.data.relation.keys import Column, key_of
from takifugu.data.sql.faults import wrong_data
from takifugu.data.sql.tree import columns_in, expression
from takifugu.data.sql.words import folded, literal

#: The roles with their texts.
Wanted = Sequence[tuple[str, str]]


def split_of(files: Sequence[str], wanted: Wanted, path: str, statement: str) -> tuple[Form, list[str]]:
    """Return how text files are split, and their names of columns; those that no role names may be made unique."""
    texts = [text for _, text in wanted]
    found = split_at(files[0], lambda names: all(_names_in(text, names) is not None for text in texts))
    if found is None:
        _refuse(max((first_record(files[0], Form(sign)) for sign in SIGNS), key=len), wanted, path, statement)
    sign, names = found
    if any(first_record(other, Form(sign)) != names for other in files[1:]):
        raise wrong_data("file", "the first lines of the files differ", "", "UNION ALL of read_csv() in sql")
    used = {folded(name) for text in texts for name in _names_in(text, names) or ()}
    return Form(sign), unique_names(names, lambda name: folded(name) in used, path)


def _refuse(names: Sequence[str], wanted: Wanted, path: str, statement: str) -> NoReturn:
    """Raise the error about a first line that does not name what the keys do."""
    faults = list[TakifuguError]()
    for role, text in wanted:
        if _names_in(text, names) is None:
            with gathered(faults):
                raise _no_name("file" if isinstance(text, Column) else key_of(role), text, names, path, statement)
    raise_gathered(faults)
    what = f"the first line of {path[-60:]} is split in several ways at which all columns are found"
    raise wrong_data("file", what, "", f"{statement} = \"from read_csv('...', delim = ';')\", with your sign")


def _no_name(key: str, text: str, names: Sequence[str], path: str, statement: str) -> DataError:
    """Return the error about a role whose column none of the names is, or that is no expression."""
    lacking = text
    if not isinstance(text, Column) and likeliest(text, names) is None:
        columns = columns_in(expression(text, key))
        lacking = next(name for name in columns if folded(name) not in {folded(name) for name in names})
    what = f"the first line of {path[-60:]} has no {lacking[:80]!r}{spelt_alike(lacking, names)}"
    call = f"read_csv({literal(path[-60:])}, skip = 3, delim = ' ')"
    named = "write a name of it" if statement == "sql" else "call a column so"
    fix = f"{named}; or, if names stand elsewhere, {statement} = \"from {call}\", with your numbers and signs"
    return wrong_data(key, what, "a text file names its columns in its first line, split at one of , ; tab |", fix)


def _names_in(text: str, names: Sequence[str]) -> list[str] | None:
    """Return the columns that a role's text names, itself or those of its expression; None if one is not there."""
    if text in names:
        return [text]
    if isinstance(text, Column):
        return None
    try:
        used = columns_in(expression(text, "value"))
    except TakifuguError:
        return None
    return used if {folded(name) for name in used} <= {folded(name) for name in names} else None
