"""Whether two layouts read every table alike that both accept, and have a layout that accepts what either does.

Then releases in the one and in the other are releases in one layout, and nothing more is charged
(docs/theory/composition.md#agreement). Layouts are resolved: what was read, not which keys were written. Each rule
below is about one key; a key without a rule agrees with itself alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from itertools import product, starmap
from typing import Any

from takifugu.core.lists import without_keys
from takifugu.core.names import fits
from takifugu.core.plain import Plain
from takifugu.numbers.rationals import read_fraction

#: Codecs whose bytes below 128 are ASCII wherever they stand.
ASCII_BELOW = frozenset((
    "utf-8", "iso8859-1", "iso8859-2", "iso8859-9", "iso8859-15", "cp1250", "cp1252", "cp850", "cp437", "mac-roman",
))  # fmt: skip
#: Keys that say at which step an entry lies.
PLACES = frozenset(("step", "from", "times", "timezone", "order_format", "round_to", "ambiguous"))
#: Keys by which rows are left out, one of several counts, or are no entries: an entry of one layout may be none of
#: another.
_CHOOSING = ("rows", "duplicates", "min_length", "max_length")
#: Keys of columns that are read as numbers or times, and where an empty cell has a meaning.
_OF_NUMBERS = ("bins", "end", "duration")
_NUMERIC = re.compile(r"[0-9]|nan|inf", re.IGNORECASE)


def conflicts(left: Plain, right: Plain) -> tuple[str, ...]:
    """Return the keys allowing two layouts to read one table differently.

    >>> once = {"value": "state", "states": {"calm": "calm"}}
    >>> conflicts(once, {**once, "duplicates": "first"})
    ()
    >>> conflicts({**once, "duplicates": "last"}, {**once, "duplicates": "first"})
    ('duplicates',)
    """
    keys, of_sequences = [], "states" in left and "states" in right
    for key in sorted({*left, *right}):
        rule = _OF_FILES.get(key)
        if rule is None and of_sequences:
            rule = _OF_SEQUENCES.get(key)
        if left.get(key) != right.get(key) and (rule is None or not rule(left, right)):
            keys.append(key)
    return tuple(keys)


def are_moved(left: Plain, right: Plain) -> bool:
    """Return whether two layouts have the same entries at other steps.

    Each row is an entry in both, of one unit and value.

    >>> once = {"value": "state", "order": "t", "states": {"calm": "calm"}}
    >>> are_moved(once, {**once, "step": "60s"}), are_moved(once, {**once, "value": "lag"})
    (True, False)
    """
    of_sequences = "states" in left and "states" in right
    is_choosing = any(key in left or key in right for key in _CHOOSING)
    dropped = any(layout.get("ambiguous") == "drop" for layout in (left, right))
    is_choosing |= left.get("wide") != right.get("wide")  # an empty cell that is a state is no row elsewhere
    return of_sequences and not is_choosing and not dropped and PLACES.issuperset(conflicts(left, right))


def _same(key: str, or_else: Callable[[Any, Any], object]) -> Callable[[Plain, Plain], bool]:
    """Compare values, or where they differ what is kept with each."""

    def agree(left: Plain, right: Plain) -> bool:
        value, other = left.get(key), right.get(key)
        return value is None or other is None or value[0] == other[0] or bool(or_else(value, other))

    return agree


def _written(layout: Plain) -> tuple[str, str]:
    """Return the codec and the kind of names.

    What is no text file holds characters, as UTF-8 does.
    """
    codec, names = layout.get("encoding") or ("utf-8", "ASCII")
    return codec, names


def _encoding(left: Plain, right: Plain) -> bool:
    """Accept the same codec, or two readings of pure ASCII alike.

    Nothing else can then be read, neither in names nor in values. A piece's name may be anything, and blanks beyond
    ASCII are stripped from it by one codec only.
    """
    if _written(left)[0] == _written(right)[0]:
        return True
    for layout in (left, right):
        codec, names = _written(layout)
        plain = without_keys(layout, {"encoding"})
        if codec not in ASCII_BELOW or names != "ASCII" or layout.get("recording") is not None:
            return False
        if not repr(plain).isascii():
            return False
    return True


def _one_rule(key: str) -> Callable[[Plain, Plain], bool]:
    """Accept one rule beside the other layout's refusal of its cases."""
    return lambda left, right: left.get(key) is None or right.get(key) is None


def _null_keys(left: Plain, right: Plain) -> bool:
    """Accept rows without a name left out here and refused there.

    No text is a name here and none there.
    """
    if left.get("null_keys") is None:
        left, right = right, left
    return right.get("null_keys") is None and set(left.get("missing") or ()) <= set(right.get("missing") or ())


def _missing(left: Plain, right: Plain) -> bool:
    """Accept texts missing here and refused there.

    What is no name is refused, or treated alike.
    """
    if left.get("null_keys") is not None and right.get("null_keys") is not None:
        return False
    before, now = set(left.get("missing") or ()), set(right.get("missing") or ())
    if (now - before) & set(left["states"]) or (before - now) & set(right["states"]):
        return False
    has_numbers = any(left.get(key) is not None or right.get(key) is not None for key in _OF_NUMBERS)
    return not (has_numbers and any(map(_NUMERIC.search, before ^ now)))


def _states(left: Plain, right: Plain) -> bool:
    """Accept raw values unless one is another state, or missing, there.

    A value is a text, or what a column of numbers or of true and false has for it.
    """
    if left.get("bins") is not None:
        return False
    before, now = left["states"], right["states"]
    for read in _VALUES_OF_COLUMNS:
        state_of, state_there = _states_of_values(before, read), _states_of_values(now, read)
        if any(state_of[value] != state_there[value] for value in state_of.keys() & state_there.keys()):
            return False
    missing = set(left.get("missing") or ()), set(right.get("missing") or ())
    return not (missing[0] & (now.keys() - before.keys()) or missing[1] & (before.keys() - now.keys()))


#: What a column of texts, of whole numbers, of real ones, and of true and false has for a text.
_VALUES_OF_COLUMNS: tuple[Callable[[str], Hashable], ...] = (
    str,
    read_fraction,
    lambda text: float(read_fraction(text)),
    lambda text: {"true": True, "false": False}[text.lower()],
)


def _states_of_values(states: Plain, read: Callable[[str], Hashable]) -> dict[Hashable, str]:
    """Return the state of each value of a column.

    A column with two of one value is refused.
    """
    states_of: dict[Hashable, set[str]] = {}
    for text, state in states.items():
        with suppress(ValueError, ZeroDivisionError, OverflowError, KeyError):
            states_of.setdefault(read(text), set()).add(state)
    return {value: min(names) for value, names in states_of.items() if len(names) == 1}


def _round_to(left: Plain, right: Plain) -> bool:
    """Accept the same rounding of times, or rounding beside refusal.

    All times read there lie where they are rounded to here.
    """
    rounded = [layout["round_to"] for layout in (left, right) if layout.get("round_to") is not None]
    if len(rounded) == 1:
        return bool(rounded[0][1])
    return bool(rounded[0][0] == rounded[1][0])


def _wide(left: Plain, right: Plain) -> bool:
    """Accept headers unless one is another step, or none, there.

    A table with the columns of a row a step is no wide one: a wide one has none of their names.
    """
    headers, other_headers = left.get("wide"), right.get("wide")
    if headers is None or other_headers is None:
        return True
    if headers["form"] != other_headers["form"] or headers["empty"] != other_headers["empty"]:
        return False
    if _reads_others(headers, other_headers):
        return False
    before, now = headers["columns"], other_headers["columns"]
    if isinstance(before, list) or isinstance(now, list):  # steps are headers in both, or one agrees with none
        return isinstance(before, list) and isinstance(now, list)
    return all(now.get(header, step) == step for header, step in before.items())


def _reads_others(headers: Plain, other_headers: Plain) -> bool:
    """Return whether a step is none in the other."""
    pairs = [*product(headers["others"], other_headers["columns"])]
    pairs += product(other_headers["others"], headers["columns"])
    return any(starmap(fits, pairs))


def _are_only(part: Any, other: Any) -> bool:
    """Return whether each part is its file's only one."""
    return bool(part[1] and other[1])


_OF_FILES: Mapping[str, Callable[[Plain, Plain], bool]] = {
    # Each side's sign is the one that its file's first line shows.
    "delimiter": _same("delimiter", lambda sign, other: sign[0] == sign[1] and other[0] == other[1]),
    "sheet": _same("sheet", _are_only),
    "table": _same("table", _are_only),
}
_OF_SEQUENCES: Mapping[str, Callable[[Plain, Plain], bool]] = {
    "encoding": _encoding, "thousands": _one_rule("thousands"), "duplicates": _one_rule("duplicates"),
    "null_keys": _null_keys, "missing": _missing, "states": _states, "times": _one_rule("times"),
    # The clocks are the same; without a zone there are numbers, or times that carry their offset: `times` says so.
    "timezone": _same("timezone", lambda zone, other: zone[1] == other[1]),
    "round_to": _round_to, "wide": _wide,
}  # fmt: skip
