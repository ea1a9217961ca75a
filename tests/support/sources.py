"""Python files as syntax trees, each parsed once in a process: for tests that read all of the package's code."""

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def parsed(path: Path) -> ast.Module:
    """Return a file's syntax tree, which nobody may change."""
    gc.disable()  # it would look at all the trees again and again while one is made
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.enable()
