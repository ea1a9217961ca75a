"""Which columns of a Parquet file are durations: Arrow says so beside the data, where they are stored as integers.

The schema is a message of Arrow's in base64, whose tables (flatbuffers) hold the places of their fields.
"""

from __future__ import annotations

import struct
from base64 import b64decode

#: Arrow's number of a duration among the types of a field.
_DURATION = 18
#: Places in a message, a schema and a field.
_HEADER, _FIELDS, _NAME, _TYPE = 2, 1, 0, 2
#: A message begins with a mark and its length.
_BEGINNING = 8


def durations(written: bytes) -> frozenset[str]:
    """Return the columns of durations in a written schema; none of a damaged one.

    >>> durations(b"/////xAA")
    frozenset()
    """
    try:
        message = b64decode(written)
        root = _follow(message, _BEGINNING)
        schema = _follow(message, _field(message, root, _HEADER))
        fields = _follow(message, _field(message, schema, _FIELDS))
        names = set[str]()
        for number in range(*struct.unpack_from("<I", message, fields)):
            field = _follow(message, fields + 4 + 4 * number)
            if message[_field(message, field, _TYPE)] == _DURATION:
                name = _follow(message, _field(message, field, _NAME))
                (length,) = struct.unpack_from("<I", message, name)
                names.add(message[name + 4 : name + 4 + length].decode())
        return frozenset(names)
    except (ValueError, IndexError, struct.error):
        return frozenset()


def _follow(message: bytes, place: int) -> int:
    """Return where the offset at a place leads."""
    (offset,) = struct.unpack_from("<I", message, place)
    return place + int(offset)


def _field(message: bytes, table: int, number: int) -> int:
    """Return the place of a table's field; IndexError without one."""
    (back,) = struct.unpack_from("<i", message, table)
    (size,) = struct.unpack_from("<H", message, table - back)
    if size < 6 + 2 * number:
        raise IndexError
    (offset,) = struct.unpack_from("<H", message, table - back + 4 + 2 * number)
    if not offset:
        raise IndexError
    return table + int(offset)
