"""What of a release file decides which rows become which entry: the layout of its source, as a ledger keeps it."""

from __future__ import annotations

from typing import Any

#: Keys of [source] that decide nothing of it: where the data are, what may be spent, what is public, which batch it is.
ELSEWHERE = frozenset((
    "name", "file", "budget", "same_people", "only_release", "list_units", "until", "gaps", "nulls", "attributes",
    "batch", "rows_per_person",
))  # fmt: skip


def layout_in(source: Any) -> dict[str, Any]:
    """Return the keys of [source] that decide it, as they are written; what they say by default is left out."""
    said: dict[str, Any] = source.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {key: value for key, value in said.items() if key not in ELSEWHERE}
