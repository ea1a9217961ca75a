"""Children of a test: they start with one thread and no lock, and nobody waits for them without end.

A fork of this process would be made in the middle of what its other threads do (of a data engine, of the test runner):
it can wait for ever for what they hold. Children therefore come from a server that has everything imported.
"""

import importlib
import multiprocessing
import os
import pkgutil
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import takifugu

#: A child that does not end in this time hangs: long enough for a machine with ten times as much to do as it can.
SECONDS = 500.0

#: The server: children start in milliseconds.
FAST = multiprocessing.get_context("forkserver")
FAST.set_forkserver_preload([
    "tests.support.ledger_tools", "tests.support.terminals", "takifugu.cli.starting", "takifugu.cli.examples",
    "takifugu.data.relation.source", "takifugu.releasing.file.sequences.kind", "duckdb",
    "tests.support.crashing", "takifugu.cli.releasing", "takifugu.releasing.publishing.resuming",
])  # fmt: skip


def in_a_child(action: Callable[..., object], *args: object) -> int:
    """Call a function of a module in a child; return the child's exit code, or minus the signal that killed it."""
    child = FAST.Process(target=action, args=args)
    child.start()
    child.join(SECONDS)
    if child.exitcode is None:
        child.kill()
        raise AssertionError(f"a child did not end within {SECONDS:g} seconds")
    return child.exitcode


def result_of_a_child(action: Callable[..., Any], *args: object) -> Any:
    """Return what a function of a module returns in a child."""
    (answer,) = side_by_side(action, [args])
    return answer


def bytes_of_a_fork(action: Callable[[], bytes]) -> bytes:
    """Return the bytes, 4,096 at most, that an action gives in a copy of this process: to be called in a child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, action())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as pipe:
        return pipe.read()


def side_by_side(work: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Call a function of a module once for each tuple of arguments, in as many processes at once."""
    arguments = list(calls)
    with FAST.Pool(len(arguments)) as pool:
        return pool.starmap_async(work, arguments, chunksize=1).get(SECONDS)


class NothingLoads:
    """Fails for a module that is not loaded yet."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        raise NotLoaded(name)


class NotLoaded(Exception):
    """Nobody may load a module where a checkout is its owner's alone: load it before privileges are given up."""


def become_nobody(rehearsal: Callable[[], object]) -> None:
    """Give up all privileges, in a child, with everything loaded that its work needs; afterwards nothing loads.

    A checkout, its environment and Python itself may lie in a folder that only its owner may enter. A `rehearsal` of
    the work with privileges loads what the package does not load by itself.
    """
    for module in pkgutil.walk_packages(takifugu.__path__, "takifugu."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    rehearsal()
    sys.meta_path.insert(0, NothingLoads())
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
