"""Questions to a belief, each answered by what is registered for its type, or for the nearest type it derives from.

What answers for the beliefs of the package is listed by name and loaded on first use, so that a question loads only the
modules of the beliefs that it meets. A belief written elsewhere registers its answers; nothing asks for its type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from takifugu.core.errors import InputError
from takifugu.core.registry import Registry, loaded, place_of

Answer = TypeVar("Answer")


class Question(Generic[Answer]):
    """One question: `built_in` has "module:attribute" by "module:type", both inside the package.

    >>> size = Question("how long it is", {}, default=None)
    >>> size.register(str, len)
    >>> size.of("belief")("belief"), size.of(3)
    (6, None)
    """

    def __init__(self, name: str, built_in: Mapping[str, str], default: Answer) -> None:
        self.name, self.default = name, default
        self.answers: Registry[Answer] = Registry(name, built_in)
        self._known: dict[type, Answer] = {}

    def register(self, kind: type, answer: Answer) -> None:
        """Let `answer` answer for beliefs of a type and its derived types.

        Raises InputError for a second answer.
        """
        if not isinstance(kind, type):
            raise InputError(f"{kind!r} is not a type", rule=f"{self.name} is registered for a type of belief")
        of_the_package = bool(place_of(kind)) and any(map(self._has, kind.__mro__))
        if self._has(kind) or of_the_package:
            raise InputError(
                f"{self.name} of a {kind.__name__} is registered already", fix="register a type of your own"
            )
        self.answers.register(_key(kind), answer)
        self._known.clear()

    def of(self, belief: object) -> Answer:
        """Return the answer registered for a belief, or the default."""
        kind = type(belief)
        if kind not in self._known:
            answering = next((k for k in kind.__mro__ if self._has(k)), None)
            if answering is None:
                self._known[kind] = self.default
            else:
                self._known[kind] = self.answers.find(_key(answering))
        return self._known[kind]

    def inherits(self, kind: type) -> bool:
        """Return whether a type has no answer but a parent's."""
        return not self._has(kind) and any(map(self._has, kind.__mro__))

    def _has(self, kind: type) -> bool:
        return _key(kind) in self.answers


def later(name: str) -> Callable[..., Any]:
    """Return the function "module:attribute", loaded at its first call."""
    return lambda *arguments: loaded(name)(*arguments)


def _key(kind: type) -> str | type:
    """Return a type's key: its place in the package, or itself."""
    return place_of(kind) or kind
