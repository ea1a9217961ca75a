"""What a layout makes of a table, read cell by cell: slow, in plain steps, and with nothing of the package."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

#: A row by its columns, and an entry: whose, at which minute.
Row = Mapping[str, str]
Entry = tuple[str, Fraction]
#: By how many minutes clocks of a zone are ahead of UTC.
AHEAD = {"UTC+0s": 0, "Etc/UTC": 0, "Asia/Tokyo": 540, "Asia/Seoul": 540}


def entries(layout: Mapping[str, Any], rows: Sequence[Row]) -> dict[Entry, str | None] | None:
    """Return the state of every entry, None for a missing one; nothing where the layout refuses the table."""
    read: dict[Entry, str | None] = {}
    missing = {*(layout.get("missing") or ()), ""}
    for row in rows:
        if row["unit"] in missing:
            if layout.get("null_keys") == "drop":
                continue
            return None
        minute = _minute(row[layout["order"]], layout)
        raw = row[layout["value"]]
        if minute is None or (raw not in missing and raw not in layout["states"]):
            return None
        entry = (row["unit"], minute)
        state = None if raw in missing else layout["states"][raw]
        if entry in read and layout.get("duplicates") is None:
            return None
        if entry not in read or layout.get("duplicates") == "last":
            read[entry] = state
    return read


def _minute(text: str, layout: Mapping[str, Any]) -> Fraction | None:
    """Return the minute in UTC of a time in minutes on a clock; nothing for one that lies between two steps."""
    sign = layout.get("thousands")
    head, _, tail = text.partition(sign) if sign and sign in text else (text, "", "")
    if tail and len(tail) != 3:
        return None
    digits = head + tail
    if not digits.isdecimal():
        return None
    minute = Fraction(int(digits))
    rounded = layout.get("round_to")
    if rounded is not None:
        part = int(rounded[0])
        minute = Fraction((minute + Fraction(part, 2)) // part * part)
    minute -= AHEAD[layout["timezone"][0]]
    return minute if (minute - int(layout["from"])) % int(layout["step"]) == 0 else None
