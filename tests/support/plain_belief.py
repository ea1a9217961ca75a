"""A belief from outside that tells only what every belief tells: nothing is registered for it but its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from takifugu.model import beliefs


class Plain:
    """Another belief, of which nobody knows more than its entries, values and components."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def component(self, number: int) -> Plain:
        return Plain(self._inner.component(number))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "plain", "inner": beliefs.to_dict(self._inner)}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Plain:
        return Plain(beliefs.from_dict(data["inner"]))


def _asks(name: str) -> Any:
    return lambda self, *given: getattr(self._inner, name)(*given)


def _tells(name: str) -> Any:
    return property(lambda self: getattr(self._inner, name))


for _name in ("alphabet", "possible", "components", "assumptions", "describe", "position"):
    setattr(Plain, _name, _asks(_name))
for _name in ("source", "size", "names", "one_alphabet"):
    setattr(Plain, _name, _tells(_name))
