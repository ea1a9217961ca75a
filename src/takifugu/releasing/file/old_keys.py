"""Keys and words that release files had before, each with the line that stands in its place now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from takifugu.core.errors import InputError, Step
from takifugu.core.plain import Json, toml_of

Names = Mapping[str, str]
#: The key of now, by the section and the key of before; "" stands above all sections.
NOW: Mapping[str, Names] = MappingProxyType({
    "": {"release": "[[table]]"},
    "source": {
        "piece": "recording", "before": "default_state", "otherwise": "default_state",
        "start": "order", "person": "unit", "place": "value", "x": "value", "y": "value", "coordinates": "value",
        "batch": "entries",
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

#: Two keys that are the two columns of one.
_COORDINATES = ("x", "y")
#: A value that is longer is not printed.
_LONGEST = 120


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
