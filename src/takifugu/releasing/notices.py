"""What is said before anything is drawn: what a release rules out, and that nobody declared a budget."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.ledger import Ledger


class Notice(UserWarning):
    """Something to know before a release is drawn: what it rules out, or that no budget was declared."""


def forbidden(calibrations: Iterable[tuple[str, Calibration]]) -> Iterator[str]:
    """Yield what promises about one output alone rule out, once for each name of a release."""
    for name, words in dict.fromkeys((name, c.forbids) for name, c in calibrations):
        if words:
            yield f"{name}: {words}"


def no_budget(source: str) -> str:
    """Say what it means that nobody declared the budget of a source before its first release."""
    return (
        f"no budget is declared for the source {source!r}, so its budget is what its first release costs, and a second "
        "one is refused: declare one (budget = ... under [source], budget=... in Python, or `takifugu ledger budget`)"
    )


def has_budget(book: Ledger, source: str) -> bool:
    """Whether the ledger knows a budget of this source that somebody declared."""
    return any(row.name == source and row.budget is not None and not row.budget_is_implied for row in book.show())


def tell(words: Iterable[str]) -> None:
    """Warn of each (category `Notice`); the command line prints them on stderr."""
    for one in words:
        warnings.warn(one, Notice, stacklevel=2)
