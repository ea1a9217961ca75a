"""What is known of the terminal: how wide it is, whether it shows colours, and whether it redraws a line."""

from __future__ import annotations

import os
import sys
from typing import IO

from takifugu.core.text.tables import WIDEST, WIDTH


def columns() -> int:
    """Return the number of columns, by COLUMNS or the terminal."""
    width = os.environ.get("COLUMNS", "")
    if width.isascii() and width.isdigit() and int(width):
        return min(int(width), WIDEST)
    for stream in (sys.stdout, sys.stderr):
        try:
            return min(os.get_terminal_size(stream.fileno()).columns or WIDTH, WIDEST)
        except (OSError, ValueError, AttributeError):  # no terminal, closed, or none at all
            continue
    return WIDTH


def is_dumb() -> bool:
    """Return whether the terminal shows plain lines only."""
    return os.environ.get("TERM", "") in ("dumb", "unknown")


def is_plain() -> bool:
    """Return whether colours are unwanted or impossible."""
    return bool(os.environ.get("NO_COLOR")) or is_dumb()


def is_terminal(stream: IO[str] | IO[bytes] | None) -> bool:
    """Return whether somebody reads a stream on a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False
