"""Things that are found by name, and answers that are found by the type that they are about.

Those of the package are listed by name and loaded on first use, so that a question loads only the modules of the
beliefs that it meets; a type says in its `answers` where each is. Others register themselves. Nothing asks a belief for
its type.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from importlib import import_module
from operator import attrgetter
from typing import Any, Generic, TypeVar

from takifugu.core.errors import InputError
from takifugu.core.nearest import did_you_mean, nearest

Thing = TypeVar("Thing")
Answer = TypeVar("Answer")

_OURS = "takifugu."


class Registry(Generic[Thing]):
    """The things of one kind by their names, loaded when needed."""

    # `built_in` has "module:attribute" of the package by name; errors begin with `what`; a name is a text, or a type
    def __init__(
        self, what: str, built_in: Mapping[str, str], check: Callable[[object, Thing], object] | None = None
    ) -> None:
        self.what, self.check = what, check
        self._built_in, self._known = built_in, dict[Hashable, Thing]()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(str, dict.fromkeys([*self._built_in, *self._known])))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, Hashable) and (name in self._built_in or name in self._known)

    def __iter__(self) -> Iterator[Thing]:
        """Yield everything, loaded, in the order of the names."""
        return map(self.find, dict.fromkeys([*self._built_in, *self._known]))

    def register(self, name: str | type, thing: Thing) -> None:
        """Register a thing from elsewhere under a name; InputError for a name that is taken, or is none."""
        if self.check is not None:
            self.check(name, thing)
        if not isinstance(name, str | type) or not name:
            raise InputError(f"{self.what} is {name!r}", rule="it is registered under a name", fix="write text")
        if name in self:
            raise InputError(f"{self.what} {name!r} is registered already", fix="register it under another name")
        self._known[name] = thing

    def find(self, name: object) -> Thing:
        """Return the thing of this name; InputError for an unknown name, and for one that cannot be loaded."""
        if name not in self:
            fix = f"write {nearest(name, self.names)}, or name the package that brings it in plugins"
            fix += did_you_mean(name, self.names)
            raise InputError(f"{self.what} is {name!r}", fix=fix).at(self.what.split()[-1])
        if name not in self._known:
            self._known[name] = self._loaded(str(name))
        return self._known[name]

    def get(self, name: object) -> Thing | None:
        """Return the thing of this name, or None."""
        return self.find(name) if name in self else None

    def has(self, name: object, thing: type) -> bool:
        """Whether a type has this name; nothing is loaded for it."""
        return name in self and (self._known.get(name) is thing or self._built_in.get(str(name)) == place_of(thing))

    def _loaded(self, name: str) -> Thing:
        try:
            thing: Thing = loaded(self._built_in[name])
        except (ModuleNotFoundError, AttributeError) as error:
            raise InputError(
                f"{self.what} {name!r} is listed at {self._built_in[name]!r}, which cannot be loaded ({error})",
                fix="install the package again, and report this if it stays so",
            ) from error
        return thing


class Question(Generic[Answer]):
    """One question: a type of the package has "module:attribute" of its answer in `answers`, by the question's name."""

    def __init__(self, name: str, default: Answer) -> None:
        self.name, self.default = name, default
        self.answers: Registry[Answer] = Registry(name, {})
        self._known: dict[type, Answer] = {}

    def register(self, kind: type, answer: Answer) -> None:
        """Let `answer` answer for beliefs of a type and its derived types; InputError for a second answer."""
        if not isinstance(kind, type):
            raise InputError(f"{kind!r} is not a type", rule=f"{self.name} is registered for a type of belief")
        of_the_package = bool(place_of(kind)) and any(map(self._has, kind.__mro__))
        if self._has(kind) or of_the_package:
            raise InputError(
                f"{self.name} of a {kind.__name__} is registered already", fix="register a type of your own"
            )
        self.answers.register(kind, answer)
        self._known.clear()

    def of(self, belief: object) -> Answer:
        """Return the answer of a belief's type or the nearest that it derives from, or the default."""
        kind = type(belief)
        if kind not in self._known:
            answering = next(filter(self._has, kind.__mro__), None)
            if answering is None:
                self._known[kind] = self.default
            elif answering in self.answers:
                self._known[kind] = self.answers.find(answering)
            else:
                self._known[kind] = Registry(answering.__name__, answers_of(answering)).find(self.name)
        return self._known[kind]

    def inherits(self, kind: type) -> bool:
        """Return whether a type has no answer but a parent's."""
        return not self._has(kind) and any(map(self._has, kind.__mro__))

    def _has(self, kind: type) -> bool:
        return kind in self.answers or self.name in answers_of(kind)


def answers_of(kind: type) -> Mapping[str, str]:
    """Return the `answers` that a type of the package has itself, and no parent."""
    own: Mapping[str, str] = vars(kind).get("answers", {}) if place_of(kind) else {}
    return own


def loaded(place: str) -> Any:
    """Return what is at "module:attribute" of the package, or at "module:class.attribute"."""
    module, _, attribute = place.partition(":")
    return attrgetter(attribute)(import_module(_OURS + module))


def loading(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package with lazy modules, which are named by the names that they have."""
    assert modules.keys().isdisjoint(modules.values()), "once it is loaded, a module hides what has its name"

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


def place_of(kind: type) -> str:
    """Return the place of a type of this package, "" for others."""
    ours = kind.__module__.startswith(_OURS)
    if ours:
        return f"{kind.__module__.removeprefix(_OURS)}:{kind.__qualname__}"
    return ""


def later(name: str) -> Callable[..., Any]:
    """Return the function "module:attribute", loaded at its first call."""
    return lambda *arguments: loaded(name)(*arguments)
