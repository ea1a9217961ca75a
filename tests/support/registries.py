"""What is registered inside a test ends with it: mechanisms, beliefs, queries and the rest are as they were before."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from takifugu.core.registry import Question, Registry

#: Where the registries are that must be loaded before a test registers anything.
FIRST = ("takifugu.calibration.registry", "takifugu.model.beliefs", "takifugu.model.queries.registry")


def registries() -> Iterator[Registry[Any] | Question[Any]]:
    """Yield every registry that is loaded: each is a name of the module that it stands in."""
    for name, module in list(sys.modules.items()):
        if name.startswith("takifugu."):
            yield from _of(module)


@cache
def _of(module: ModuleType) -> tuple[Registry[Any] | Question[Any], ...]:
    return tuple(held for held in vars(module).values() if isinstance(held, Registry | Question))


def _held() -> Iterator[Any]:
    """Yield what registering changes."""
    for registry in registries():
        yield registry._known
        if isinstance(registry, Question):
            yield registry.answers._known


@contextmanager
def restored() -> Iterator[None]:
    """Let extensions register in the block, and forget them at its end."""
    for module in FIRST:
        import_module(module)
    before = [(held, held.copy()) for held in _held()]
    known = {id(held) for held, _ in before}
    try:
        yield
    finally:
        for held in _held():
            if id(held) not in known:  # loaded in the block: what it knows of ours is found again
                held.clear()
        for held, before_test in before:
            held.clear()
            held.update(before_test)
