"""Plain data: what is written to JSON or TOML and read back from it, and the rows of tables that are published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: An object of JSON, as it is written: `to_dict` returns it.
Json = dict[str, Any]
#: An object of JSON or TOML, as it is read: `from_dict` takes it.
Plain = Mapping[str, Any]
#: A row of a table, by the names of its columns.
Row = Mapping[str, Any]
