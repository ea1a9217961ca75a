"""The reference has every public name once, in its room."""

import importlib.util
from collections import Counter
from pathlib import Path

from tests.support.one_file import imported

import takifugu as tf

ROOT = Path(__file__).resolve().parent.parent


def test_every_public_name_is_in_one_room() -> None:
    tool = imported(ROOT / "tools" / "reference.py")
    described = {name for name in tf.__all__ if tool.described(getattr(tf, name))}
    assert Counter(name for room in tool.ROOMS for name in tool.names_in(room)) == dict.fromkeys(described, 1)
    page = "\n".join(tool.lines())
    assert all(f"\n### {name}\n" in page for name in described)
    assert all(importlib.util.find_spec(f"takifugu.{room}") is not None for room in tool.ROOMS)
