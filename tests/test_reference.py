"""The reference has every public name once, in its room."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import takifugu as tf

ROOT = Path(__file__).resolve().parent.parent


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference_of_pages", ROOT / "tools" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_in_one_room() -> None:
    tool = load()
    described = {name for name in tf.__all__ if tool.described(getattr(tf, name))}
    assert Counter(name for room in tool.ROOMS for name in tool.names_in(room)) == dict.fromkeys(described, 1)
    page = "\n".join(tool.lines())
    assert all(f"\n### {name}\n" in page for name in described)
    assert all(importlib.util.find_spec(f"takifugu.{room}") is not None for room in tool.ROOMS)
