"""Readings, compared: how rows became entries is a text, one fact a line, `name: value`.

What a source's owner knows is declared: two texts that differ are shown line by line, and asked about.
"""

from __future__ import annotations

import json

#: The line of where sequences start that no calendar places.
STARTS = "sequences start"
#: Lines that are never the same entries where they differ.
STEPS = ("step", "start between steps", STARTS)
#: Lines that say whose a row is: where they differ, a person may have another name.
NAMING = ("unit", "recording", "sql")
#: The line of moments, which clocks without a zone lack: their times are counted as if they showed UTC.
TIMES = "times"
#: The last line of a reading that is about entries which nobody named.
UNNAMED = "entries: without a name"


def differences(one: str, other: str) -> list[tuple[str, str]]:
    """Return the lines in which two readings differ, "" for none."""
    before, after = _by_name(one), _by_name(other)
    pairs = [(before.get(name, ""), after.get(name, "")) for name in before | after]
    return [pair for pair in pairs if pair[0] != pair[1]]


def are_never_the_same(one: str, other: str) -> str:
    """Return the line that shows, without any row, that two readings make different entries; "" without one."""
    before, after = _by_name(one), _by_name(other)
    changed = [after.get(name) or before.get(name, "") for name in STEPS if before.get(name) != after.get(name)]
    return changed[0] if changed else ""


def same_entries(one: str, other: str) -> str:
    """Return what it is to say that two readings make the same entries: people and recordings go by their names."""
    changed = {name for pair in differences(one, other) for line in pair for name in _by_name(line)}
    whose = ", under the same names" * (not changed.isdisjoint(NAMING))
    clocks = ", of clocks that showed UTC (times without an offset count as UTC)" * (TIMES in changed)
    return f"the same entries{whose}{clocks}"


def side_by_side(one: str, other: str) -> str:
    """Return the lines that differ, each as it was and as it is now."""
    pairs = differences(one, other)
    return "\n".join(f"  before: {before or '-'}\n  now:    {now or '-'}" for before, now in pairs)


def with_entries(reading: str, name: str | None) -> str:
    """Return a reading with the name of its entries, or with the line that there is none."""
    line = UNNAMED if name is None else f"entries: {json.dumps(name, ensure_ascii=False)}"
    return f"{reading}\n{line}" if reading else line


def is_unnamed(reading: str) -> bool:
    """Return whether nobody named the entries of a reading: they are no others' entries, unless somebody says so."""
    return reading.rpartition("\n")[2].startswith(UNNAMED)


def _by_name(text: str) -> dict[str, str]:
    return {line.partition(": ")[0]: line for line in text.split("\n")}
