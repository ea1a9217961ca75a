"""Tables and pictures of an experiment; a table goes between `<!-- made: name -->` and `<!-- end: name -->`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"


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


def pyplot() -> Any:
    """Return matplotlib's pyplot, set up to write SVG that changes only when the picture does."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plots

    plots.rcParams.update({"svg.hashsalt": "takifugu", "font.size": 10})
    return plots


def save(figure: Any, name: str, command: str) -> None:
    """Write a figure into docs/images, with the command and the commit that made it."""
    IMAGES.mkdir(exist_ok=True)
    about = {"Date": None, "Description": f"made by `{command}` at commit {commit()}"}
    figure.savefig(IMAGES / f"{name}.svg", metadata=about)
    pyplot().close(figure)


def _split(page: Path, name: str) -> tuple[str, str, str]:
    begin, end = f"<!-- made: {name} -->", f"<!-- end: {name} -->"
    text = page.read_text(encoding="utf-8")
    start, stop = text.index(begin) + len(begin), text.index(end)
    return text[:start], text[start:stop], text[stop:]
