"""Where research data lies: in TAKIFUGU_DATA, or in shared/data beside the checkout; never in the project."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pages import ROOT


def find(name: str) -> Path | None:
    """Return the path of a research data file, or None where it is missing."""
    folder = Path(os.environ.get("TAKIFUGU_DATA", ROOT.parent / "shared" / "data"))
    path = folder / name
    return path if path.is_file() else None


def find_or_leave(name: str) -> Path:
    """Return the path of a research data file; without it end the program with a message, as a failure in CI."""
    path = find(name)
    if path is None:
        print(f"this needs the research data file {name}: put it where TAKIFUGU_DATA points", file=sys.stderr)
        sys.exit(1 if os.environ.get("CI") == "true" else 0)
    return path
