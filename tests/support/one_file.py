"""An extension as its author would write it: one file, imported by its name."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def load(text: str, name: str, folder: Path) -> ModuleType:
    """Write a module and import it, as the command line does with what an installed package declares."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    name = f"tests_one_file_{name}"  # documents have modules of the same names
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
