"""The commands that complete what is paid for, and that pay for it again under a key that has paid for nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count
from pathlib import Path

from takifugu.accounting.ledger import Payment, Pending
from takifugu.core.commands import command
from takifugu.releasing.file.kind import ReleaseFile


def resuming(file: ReleaseFile) -> str:
    return command("ledger", "resume", file.ledger)


def paying_again(
    path: str | Path, name: str, payments: Iterable[Payment], output: str | Path = "", window: str = "",
    is_only: bool = True,
) -> str:  # fmt: skip
    """Return the command for paying for one [[release]] again.

    `is_only` says that the file has no other.
    """
    key = _unused({paid.once for paid in payments})
    options = [*(("--output", output) if output else ()), *(("--window", window) if window else ())]
    return command("release", path, *options, *(() if is_only else ("--only", name)), "--again", name, "--once", key)


def paying_for_new_values(pending: Pending, payments: Iterable[Payment]) -> str:
    """Explain how to pay again for lost values, or who has to."""
    recipe = pending.recipe
    names = list(recipe.get("keys", ()))
    if not names or recipe.get("frame"):
        return "by another call, under another key"
    return paying_again(recipe["file"], names[0], payments, recipe["output"], recipe.get("window") or "", False)


def _unused(keys: Collection[str | None]) -> str:
    return next(key for key in map(str, count(2)) if key not in keys)
