"""Rules that many arguments keep: one function for each, which words its error once.

Rules about numbers are beside their readers (`takifugu.numbers.rationals`), unknown names in `takifugu.core.nearest`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sized
from fractions import Fraction
from os import PathLike
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar

from takifugu.core.columns import has_members, no_list
from takifugu.core.errors import InputError, Step, Unsupported
from takifugu.core.escaping import is_printable, on_one_line
from takifugu.core.nearest import unknown
from takifugu.core.plain import to_text

Value = TypeVar("Value")


def check_any(values: Sized, what: str, *where: Step, fix: str = "name at least one") -> None:
    """Raise InputError for an empty list."""
    if not values:
        raise InputError(what, rule="its list is empty", fix=fix).at(*where)


def check_known(words: Iterable[object], choices: Collection[object], what: str, *where: Step) -> None:
    """Raise InputError for the first word that is none of the choices."""
    for word in words:
        if not _is_among(word, choices):
            raise unknown(f"{what} {word!r}", word, choices).at(*where)


def _is_among(word: object, choices: Collection[object]) -> bool:
    try:
        return word in choices
    except (TypeError, ValueError):  # no key, such as a list or an array
        return False


def are_different(names: Collection[object]) -> bool:
    """Return whether all can be names, and no two are one."""
    try:
        return len(set(names)) == len(names)
    except TypeError:  # no key, such as a list or an array
        return False


def check_as_many(values: Sized, name: str, owners: Sized, of: str, *where: Step, fix: str = "") -> None:
    """Raise InputError unless there is one value for each owner."""
    if len(values) != len(owners):
        words = f"there are {len(values)} {name} and {len(owners)} {of}"
        raise InputError(words, fix=fix or "give one for each").at(*where)


def check_printable(names: Iterable[object], what: str, *where: Step) -> None:
    """Raise InputError for a name with a character that a terminal, a table or a page would obey."""
    for name in names:
        if isinstance(name, str) and not is_printable(name):
            raise InputError(
                f"{what} '{on_one_line(name)}'",
                rule="a name is printed and published, and this one holds a control character",
                fix="remove it, or map the value to another name",
            ).at(*where)


def check_written_apart(values: Iterable[object], what: str, *where: Step, fix: str = "rename one of them") -> None:
    """Raise InputError for two values with one text, and for one that cannot be printed (`check_printable`)."""
    value_of_text: dict[str, object] = {}
    for value in values:
        text = str(value)
        check_printable((text,), what, *where)
        if text in value_of_text:
            rule = "they are written alike, and results could not be told apart"
            raise InputError(f"{what} {value_of_text[text]!r} and {value!r}", rule=rule, fix=fix).at(*where)
        value_of_text[text] = value


def no_law(title: str, total: float | Fraction) -> InputError:
    """Return the error for masses that are no probabilities."""
    rule = "they must be finite, not negative, and sum to 1"
    words = to_text(total) if isinstance(total, Fraction) else f"{total:.12g}"
    words = words if len(words) <= 40 else f"{words[:40]}..."
    fix = "divide each by their sum" if total > 0 else ""  # of counts, and of numbers that have too few digits
    if 99 <= total <= 101:
        fix = "these are per cent: divide each by 100"
    return InputError(f"the probabilities of {title} sum to {words}", rule=rule, fix=fix)


def too_large(what: str, count: float, most: float, of: str, fix: str) -> Unsupported:
    """Return the error for more of something than is computed."""
    number = f"{count:,.0f}" if count < 10**9 else f"about 10^{math.log10(count):.0f}"
    return Unsupported(f"{what} needs {number} {of}", rule=f"at most {most:,.0f} are computed", fix=fix)


def unwritable(what: str, value: object) -> InputError:
    """Return the error for a value that no file reads back."""
    what = f"{what} {value!r} of type {type(value).__name__}"
    return InputError(what, rule="a file could not read it back", fix="write text, a number, true or false")


def check_type(value: object, kind: type | UnionType, due: str, fix: str, *where: Step) -> None:
    """Raise InputError for a value of another type than is due."""
    if not isinstance(value, kind):
        raise wrong_type(value, due, fix).at(*where)


def wrong_type(value: object, due: str, fix: str) -> InputError:
    """Return the error for a value of another type than is due."""
    return InputError(f"a value of type {type(value).__name__} is not {due}", fix=fix)


def as_path(path: str | Path, *where: Step) -> Path:
    """Return a path; InputError for what is none."""
    check_type(path, str | PathLike, "a path", "give the path of a file", *where)
    return Path(path)


def requires(what: str, needed: str, fix: str) -> InputError:
    """Return the error for a question that a belief has no answer to."""
    return InputError(what, rule=f"it requires {needed}", fix=f"give {fix}")


def list_of(values: Iterable[Value], what: str, key: str, example: str, any_order: bool = False) -> list[Value]:
    """Return the values of a list, or of a set in `any_order`; InputError at `key` for anything else."""
    if any_order and isinstance(values, set | frozenset):
        return list(values)
    odd = no_list(values)
    if odd is not None:
        raise InputError(f"{what}: this is {odd}", fix=f"give a list, such as {example}").at(key)
    return list(values)


def members_of(values: Iterable[Value], what: str, key: str, example: str) -> list[Value]:
    """Return the members of whatever has any: a text's letters, a mapping's keys; errors are those of `list_of`."""
    if isinstance(values, str | bytes | set | frozenset | Mapping):
        return list(values)
    return list_of(values, what, key, example)


def pairs_of(values: Any, what: str, key: str, example: str) -> list[tuple[Any, Any]]:
    """Return the items of a mapping, or the pairs of a list."""
    if isinstance(values, Mapping):
        return list(values.items())
    pairs = []
    for value in list_of(values, what, key, example, any_order=True):
        pair = tuple(value) if has_members(value) and not isinstance(value, str) else ()
        if len(pair) != 2:
            raise InputError(f"{what}: {value!r} is no pair", fix=f"give a list, such as {example}").at(key)
        pairs.append(pair)
    return pairs
