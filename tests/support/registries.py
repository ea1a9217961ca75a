"""What is registered inside a test ends with it: mechanisms, beliefs, queries and the rest are as they were before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

#: The registries that are plain lists or dictionaries.
PLAIN = (
    "takifugu.calibration.registry:REGISTRY",
    "takifugu.model.beliefs:_KINDS",
    "takifugu.model.queries.registry:KINDS",
)
#: The types of those that are objects, and what registering changes of them.
TYPES, HELD = ("Registry", "Question"), ("_known", "_registered")


def _plain() -> Iterator[Any]:
    for place in PLAIN:
        module, _, name = place.partition(":")
        yield getattr(import_module(module), name)


def _objects() -> Iterator[Any]:
    """Yield what registries hold: each is a name of the module that it stands in."""
    for name, module in list(sys.modules.items()):
        if name.startswith("takifugu."):
            for found in list(vars(module).values()):
                if type(found).__name__ in TYPES and type(found).__module__.startswith("takifugu."):
                    yield from (held for key, held in vars(found).items() if key in HELD)


@contextmanager
def restored() -> Iterator[None]:
    """Let extensions register in the block, and forget them at its end."""
    before = [(held, held.copy()) for held in (*_plain(), *_objects())]
    known = {id(held) for held, _ in before}
    try:
        yield
    finally:
        for held in _objects():
            if id(held) not in known:  # loaded in the block: what it knows of ours is found again
                held.clear()
        for held, kept in before:
            held.clear()
            held.extend(kept) if isinstance(held, list) else held.update(kept)
