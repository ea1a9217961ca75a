"""What is said before anything is drawn: what is about to be spent, and what the release rules out."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.accounting.suspicion import warning
from takifugu.core.errors import InputError, Notice
from takifugu.core.escaping import command
from takifugu.core.lasting import holding
from takifugu.core.people import People
from takifugu.releasing.planning.book import there

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Amount, Preview
    from takifugu.accounting.ledger.fitting import Charged
    from takifugu.calibration import Calibration
    from takifugu.releasing.file.kind import ReleaseFile
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


def listening(listener: Listener) -> AbstractContextManager[None]:
    """Send notices before a draw to `listener` instead of warning."""
    return holding(_LISTENER, listener)


def tell(words: Iterable[str]) -> None:
    """Warn with a `Notice` for each sentence, or call the listener."""
    listener = _LISTENER.get()
    for notice in words:
        if listener is None:
            level, frame = 2, sys._getframe().f_back  # a notice points to the caller, and to no file of this package
            while frame is not None and frame.f_code.co_filename.startswith(_INSTALLED):
                level, frame = level + 1, frame.f_back
            warnings.warn(notice, Notice, stacklevel=level)
        else:
            listener(notice)


def tell_before(questions: Sequence[Question], source: str, account: Preview, people: People) -> None:
    """Announce a release's exclusions and extra costs, and its spending to listeners."""
    listener = _LISTENER.get()
    if listener is not None and account.fits:
        listener(f"about to spend: {spending(source, account)}")
    tell(notices(questions, source, account, people))


def spending(source: str, account: Preview) -> str:
    """Say a source's spending before and after, and its budget."""
    after = str(account.after)
    if account.budget_is_declared:
        after = " of ".join(account.after.with_budget(account.budget))
    return f"the source {source!r} goes from {account.before} to {after}"


def notices(questions: Sequence[Question], source: str, account: Preview, people: People) -> tuple[str, ...]:
    """Return the notices due before payment."""
    from takifugu.accounting import definitions

    notices = [*forbidden((q.release, q.calibration) for q in questions if not q.begins_series)]
    notices += dict.fromkeys(f"{q.release}: {words}" for q in questions if (words := q.calibration.fallback))
    large = {q.release: q.calibration.epsilon for q in questions}
    notices += [f"{name}: {words}" for name, epsilon in large.items() if (words := warning(epsilon))]
    if not account.budget_is_declared:
        notices.append(
            f"no budget is declared for the source {source!r}, so its budget is the cost of its first release, and a "
            "second one is refused: declare one (budget under [source], budget=... in Python)"
        )
    frameworks = {question.release: question.calibration.framework for question in questions}
    for name, framework in frameworks.items():
        if definitions.find(framework.definition).per_distance:
            notices.append(
                f"{name}: epsilon, and what is spent of the budget, is multiplied by the distance of two populations"
            )
    if account.asks is not None:
        notices.append(asks_words(account.asks))
    if dearer := dearer_than_alone(account):
        units, charged, alone = dearer
        notices.append(f"{people.each_of(units)} would be charged {charged}, not {alone} as on its own: {WHY_DEARER}")
    return tuple(notices)


#: Why a release costs somebody more than it promises.
WHY_DEARER = "beside other tables about the same data its noise hides less than alone"


def dearer_than_alone(account: Preview) -> tuple[int, str, str] | None:
    """Return the number of people charged more than alone, that charge, and the one of the release alone."""
    dearer = [charge for charge in account.charges if charge.added.epsilon > charge.alone.epsilon]
    if not dearer:
        return None
    # people of many lengths have as many charges
    return sum(map(attrgetter("units"), dearer)), added(dearer), _from_to(map(attrgetter("alone"), dearer))


def added(charges: Iterable[Charged]) -> str:
    """Write what a release adds to the totals of unlike units, the least and the most of it."""
    return _from_to(map(attrgetter("added"), charges))


def _from_to(amounts: Iterable[Amount]) -> str:
    """Write the least and the most of several amounts."""
    ordered = sorted(amounts)
    return " to ".join(dict.fromkeys(map(str, (ordered[0], ordered[-1]))))


def forbidden(calibrations: Iterable[tuple[str, Calibration]]) -> Iterator[str]:
    """Yield the facts excluded by single-output promises, once per release name."""
    for name, words in dict.fromkeys((name, c.forbids) for name, c in calibrations):
        if words:
            yield f"{name}: {words}"


def notices_of_reading(file: ReleaseFile) -> tuple[str, ...]:
    """Tell what a release will ask of a reading that is new to its ledger."""
    if file.opened is None or (book := there(file.ledger)) is None:
        return ()
    from takifugu.accounting.ledger.trials import new_entries

    new = new_entries(book.view(), file.source.name, file.reading, file.entries)
    if new is None:
        return ()
    return (f"{asks_words(new[0])}\n{command('cost', file.path)} shows what either answer costs",)


def unjudged_words(file: ReleaseFile) -> str:
    """Say why a table of all units together is not judged where they were not read."""
    advise = command("advise", file.path)
    return (
        f"whether it is worth reading depends on how many {file.people.many} there are, which was not read; {advise} "
        f"tells it"
    )


def asks_words(question: InputError | None) -> str:
    """Say what a release will ask before it pays; "" for nothing."""
    return "" if question is None else f"the release will ask first: {question.message}"
