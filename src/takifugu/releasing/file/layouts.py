"""What of a release file decides which rows become which entry: the layout of its source, as a ledger keeps it."""

from __future__ import annotations

from typing import Any

#: Keys of [source] that decide nothing of it: where the data are, what may be spent, what is public, which batch it is.
ELSEWHERE = frozenset((
    "name", "file", "sheet", "table", "budget", "same_people", "only_release", "list_units", "until", "gaps", "nulls",
    "attributes", "batch", "rows_per_person", "as_composing", "begins_series",
))  # fmt: skip

#: What is meant where a key of [source] is left out, if its section does not say so.
DEFAULTS = {"timezone": "UTC", "encoding": "utf-8", "decimal": ".", "thousands": "", "header": True}


def layout_in(source: Any) -> dict[str, Any]:
    """Return the keys of [source] that decide it, one text for each way to write them; defaults are left out."""
    said: dict[str, Any] = source.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    layout = {key: value for key, value in said.items() if key not in ELSEWHERE and DEFAULTS.get(key) != value}
    return {**layout, "missing": sorted(source.missing) or None}
