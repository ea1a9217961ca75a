"""Files that are no part of a package, imported: a tool, an example, an extension as its author would write it."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def load(text: str, name: str, folder: Path) -> ModuleType:
    """Write a module and import it, as the command line does with what an installed package declares."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return imported(path)


def imported(path: Path) -> ModuleType:
    """Import a file by its path, under a name that no other module has."""
    name = f"tests_one_file_{path.stem}"  # documents have modules of the same names
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
