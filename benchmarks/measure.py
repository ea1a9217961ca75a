"""How benchmarks measure and print: the best of a few runs, always next to a peer or a naive method in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def seconds(work: Callable[[], Any], runs: int = 3) -> float:
    """Return the shortest wall time of `runs` runs."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def title(text: str) -> None:
    print(f"\n{text}")


def row(what: str, value: str, against: str = "") -> None:
    print(f"  {what:<52} {value:>12}  {against}")


def span(time_in_seconds: float) -> str:
    """Write a duration in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if time_in_seconds >= size:
            return f"{time_in_seconds / size:.3g} {unit}"
    return f"{time_in_seconds * 1e6:.3g} µs"


def compared(ours: float, theirs: float, name: str) -> str:
    """Say how a peer's time relates to ours."""
    ratio = theirs / ours
    return f"{name} takes {span(theirs)}: {ratio:.2g} times ours" if ratio < 1000 else f"{name} takes {span(theirs)}"
