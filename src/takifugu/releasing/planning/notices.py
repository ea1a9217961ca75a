"""What is said before anything is drawn: what is about to be spent, and what the release rules out."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from takifugu.accounting.suspicion import warning
from takifugu.core.people import People

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Preview
    from takifugu.calibration import Calibration
    from takifugu.releasing.planning.questions import Question

#: Receives what would otherwise be a warning, and what is about to be spent.
Listener = Callable[[str], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
_INSTALLED = f"{Path(__file__).parents[2]}{os.sep}"

#: What is said where nothing adds up what releases reveal together.
NOBODY_COUNTS = (
    "no ledger is given, so nobody is counting: each release about these people adds to what the others reveal, and "
    "nothing refuses one too many; write ledger='ledger.db'"
)


class Notice(UserWarning):
    """Something to know before a release is drawn: what it rules out, what it costs beyond its own epsilon."""


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send notices before a draw to `listener` instead of warning."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell(words: Iterable[str]) -> None:
    """Warn with a `Notice` for each sentence, or call the listener."""
    listener = _LISTENER.get()
    for notice in words:
        if listener is None:
            warnings.warn(notice, Notice, stacklevel=_of_the_caller())
        else:
            listener(notice)


def _of_the_caller() -> int:
    """Return the stack level of the caller's line, for warnings.

    `tell` is 1; a notice points to the caller and to no file of this package.
    """
    level = 0
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_INSTALLED):
        level, frame = level + 1, frame.f_back
    return level


def tell_before(questions: Sequence[Question], source: str, account: Preview, people: People) -> None:
    """Announce a release's exclusions and extra costs, and its spending to listeners."""
    listener = _LISTENER.get()
    if listener is not None and account.fits:
        listener(f"about to spend: {spending(source, account)}")
    tell(notices(questions, source, account, people))


def spending(source: str, account: Preview) -> str:
    """Say a source's spending before and after, and its budget."""
    after = "no proven bound" if account.after is None else str(account.after)
    budget = "" if account.budget is None or not account.budget_is_declared else f" of {account.budget.text(up=False)}"
    return f"the source {source!r} goes from {account.before} to {after}{budget}"


def notices(questions: Sequence[Question], source: str, account: Preview, people: People) -> tuple[str, ...]:
    """Return the notices due before payment."""
    notices = [*forbidden((q.release, q.calibration) for q in questions if not q.begins_series)]
    large = {q.release: q.calibration.epsilon for q in questions}
    notices += [f"{name}: {words}" for name, epsilon in large.items() if (words := warning(epsilon))]
    if not account.budget_is_declared:
        notices.append(
            f"no budget is declared for the source {source!r}, so its budget is the cost of its first release, and a "
            "second one is refused: declare one (budget under [source], budget=... in Python)"
        )
    notices += _per_distance(questions)
    notices += [words for words in (account.layout, account.people) if words]
    for charge in account.charges:
        if charge.charged.epsilon > charge.alone.epsilon:
            whose = people.each_of(charge.units)
            notices.append(f"{whose} is charged {charge.charged}, not {charge.alone} as on its own: {charge.reason}")
    return tuple(notices)


def _per_distance(questions: Sequence[Question]) -> Iterator[str]:
    """Yield what the epsilons are multiplied by, where that is a distance."""
    from takifugu.accounting import definitions

    frameworks = {question.release: question.calibration.framework for question in questions}
    for name, framework in frameworks.items():
        if definitions.find(framework.definition).per_distance:
            yield f"{name}: epsilon, and what is spent of the budget, is multiplied by the distance of two populations"


def forbidden(calibrations: Iterable[tuple[str, Calibration]]) -> Iterator[str]:
    """Yield the facts excluded by single-output promises, once per release name."""
    for name, words in dict.fromkeys((name, c.forbids) for name, c in calibrations):
        if words:
            yield f"{name}: {words}"
