"""Tables that an experiment writes into a page: between `<!-- made: name -->` and `<!-- end: name -->`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def made(page: Path, name: str) -> str:
    """Return what now stands between the marks called `name`."""
    return _split(page, name)[1].strip("\n")


def write(page: Path, name: str, text: str) -> None:
    """Put `text` between the marks called `name`."""
    before, _, after = _split(page, name)
    page.write_text(f"{before}\n{text}\n{after}", encoding="utf-8")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but the first are aligned to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def commit() -> str:
    """Return the commit of the checkout that an experiment runs in, for the line under its tables."""
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def _split(page: Path, name: str) -> tuple[str, str, str]:
    begin, end = f"<!-- made: {name} -->", f"<!-- end: {name} -->"
    text = page.read_text(encoding="utf-8")
    start, stop = text.index(begin) + len(begin), text.index(end)
    return text[:start], text[start:stop], text[stop:]
