"""The scripts of a page without a browser."""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import dukpy


class Scripts:
    """Scripts of a page in one interpreter; `call` passes and returns plain data.

    A folder's name is that of a page of the package; a path is itself.
    """

    def __init__(self, folder: str | Path, names: Sequence[str]) -> None:
        place = files("takifugu.pages").joinpath(folder) if isinstance(folder, str) else folder
        self.interpreter = dukpy.JSInterpreter()
        # each is evaluated for itself: what is declared at the top is made global
        text = "\n".join(place.joinpath(name).read_text("utf-8") for name in names)
        self.interpreter.evaljs(f"{text}\n;globalThis.evaluate = source => eval(source); null")

    def call(self, expression: str, **values: Any) -> Any:
        """Return the value of an expression in which the values are known by name."""
        names, given = ", ".join(values), json.dumps(list(values.values()))
        source = f"(({names}) => ({expression}))(...{given})"
        return self.interpreter.evaljs(f"globalThis.evaluate({json.dumps(source)})")
