"""Keys and words that release files had before, each with the line that stands in its place now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from takifugu.core.errors import InputError, Step, TakifuguError
from takifugu.core.plain import Json, toml_of
from takifugu.core.sections import section_in
from takifugu.releasing.file.before.old_cleaning import instead

Names = Mapping[str, str]
#: The key of now, by the section and the key of before; "" stands above all sections.
NOW: Mapping[str, Names] = MappingProxyType({
    "": {"release": "[[table]]"},
    "source": {
        "piece": "recording", "before": "default_state", "otherwise": "default_state",
        "start": "order", "person": "unit", "place": "value", "x": "value", "y": "value", "coordinates": "value",
        "batch": "entries", "only_release": "single_release",
    },
    "belief": {
        "pieces_independent": "recordings_independent", "stay": "mean_duration", "stays": "mean_durations",
        "next": "next_state",
    },
    "belief.fit": {"piece": "recording"},
    "belief.reference": {"coordinates": "value"},
})  # fmt: skip
#: The kind of belief of now, by that of before.
KINDS: Names = MappingProxyType({"table": "joint-table"})
#: Kinds of belief without one of now: what to write in their place.
KINDS_GONE: Names = MappingProxyType({
    "parameter-box": 'write kind = "parameters" with the values that each parameter may have: intervals are gone',
})

LEAVE = "leave it out"
#: Keys without one of now, by section and key: why nothing stands in their place, and what to do.
GONE: Mapping[str, tuple[str, str]] = MappingProxyType({
    "source.as_composing": ("a promise about one output is counted by its noise beside others, without a key", LEAVE),
    "source.begins_series": ("a table begins a series", "write begins_series = true under the [[table]] that does"),
    "ledger_id": (
        "require_ledger and the certificates tell another ledger", "leave it out, and write require_ledger = true"
    ),
    "joint_delta": (
        "tables of a file share an epsilon alone", "leave it out, or call tf.calibrate_jointly with a delta in Python"
    ),
    "table.importance": (
        "tables that share an epsilon count alike", "leave it out, or give the table an epsilon of its own"
    ),
})

#: Keys of now with a value of before: the fault that it is, and the key.
VALUES_OF_BEFORE = frozenset({
    ("string_type", "order"), ("string_type", "end"), ("literal_error", "rows"), ("literal_error", "engine")
})  # fmt: skip

#: Two keys that are the two columns of one.
_COORDINATES = ("x", "y")
#: A value, and a line, that is longer is not printed.
_LONGEST, _LONGEST_LINE = 120, 600


def renamed(where: tuple[Step, ...], file: Json, allowed: Collection[str]) -> InputError | None:
    """Return the error about a key of before in a file, None for any other.

    `allowed` are the keys of its section.

    >>> print(renamed(("release",), {"release": []}, ["table"]).line)
    is the key of before; write [[table]]
    """
    *steps, key = map(str, where)
    new_name = NOW.get(".".join(steps), {}).get(key)
    if new_name is None:
        return None
    section: Any = file
    for step in where[:-1]:
        section = section[step]
    name = new_name.strip("[]")
    if name not in allowed:
        return None
    line = new_name
    if name in section:
        return InputError(f"is the key of before, and {line} is there, too", fix="leave it out")
    if key in _COORDINATES:
        line = f"value = {toml_of([section.get(axis, '...') for axis in _COORDINATES])}"
    elif name == new_name:
        value = toml_of(section[key])
        line = f"{name} = {value}" if len(value) <= _LONGEST else f"{name} for {key}, with the same value"
    return InputError("is the key of before", fix=f"write {line}")


def gone(where: tuple[Step, ...]) -> InputError | None:
    """Return the error about a key of before that needs none of now, None for any other.

    >>> print(gone(("source", "as_composing")).line)
    is gone; a promise about one output is counted by its noise beside others, without a key; leave it out
    """
    steps = [str(step) for step in where if not isinstance(step, int)]
    if ".".join(steps) not in GONE:
        return None
    why, fix = GONE[".".join(steps)]
    return InputError("is gone", rule=why, fix=fix)


def cleaned(where: tuple[Step, ...], file: Json) -> InputError | None:
    """Return the error about a key of before that cleaned rows, None for any other.

    >>> print(cleaned(("source", "missing"), {"source": {"value": "v", "missing": ["NA"]}}).line)
    is a key of before; cleaning is an expression now; write value = "nullif(v, 'NA')"
    """
    if len(where) < 2 or where[0] not in ("source", "belief"):
        return None
    section, key = str(where[0]), str(where[1])
    if key not in section_in(file, section):
        return None
    try:
        fix = instead((section, key), section_in(file, "source"), section_in(file, "belief"))
    except (TakifuguError, TypeError, ValueError, LookupError, AttributeError):  # a value that never was one
        fix = "leave it out, and write what it did as an expression"
    if fix is None:
        return None
    if len(fix) > _LONGEST_LINE:
        fix = "write it as an expression, or in sql"
    return InputError("is a key of before", rule="cleaning is an expression now", fix=fix)
