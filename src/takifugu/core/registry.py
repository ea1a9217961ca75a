"""Things that are found by name: those of the package are loaded on first use, others register themselves."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Generic, TypeVar

from takifugu.core.errors import InputError, did_you_mean

Thing = TypeVar("Thing")

_OURS = "takifugu."


class Registry(Generic[Thing]):
    """`built_in` has "module:attribute", inside the package, by name; `what` is how an error begins, and ends in where.

    >>> shapes = Registry("the shape", {"circle": "core.text.pictures:circle"})
    >>> shapes.register("square", 4)
    >>> shapes.find("square"), shapes.names
    (4, ('circle', 'square'))
    """

    def __init__(self, what: str, built_in: Mapping[str, str]) -> None:
        self.what = what
        self._built_in, self._known = built_in, dict[str, Thing]()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self._built_in, *self._known]))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._built_in or name in self._known)

    def register(self, name: str, thing: Thing) -> None:
        """Let a thing written elsewhere be found by its name; InputError for a name that is taken, or is none."""
        if not isinstance(name, str) or not name:
            raise InputError(f"{self.what} is {name!r}", rule="it is registered under a name", fix="write text")
        if name in self:
            raise InputError(f"{self.what} {name!r} is registered already", fix="register it under another name")
        self._known[name] = thing

    def find(self, name: object) -> Thing:
        """Return what has this name; InputError for an unknown one."""
        if name not in self:
            fix = f"write one of {list(self.names)}{did_you_mean(name, self.names)}"
            raise InputError(f"{self.what} is {name!r}", fix=fix).at(self.what.split()[-1])
        key = str(name)
        if key not in self._known:
            module, attribute = self._built_in[key].split(":")
            self._known[key] = getattr(import_module(_OURS + module), attribute)
        return self._known[key]
