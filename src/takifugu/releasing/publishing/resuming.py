"""Complete what was paid for and not published: `takifugu ledger resume` and `tf.resume`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.errors import LedgerError, ReleaseError, ReleaseState, TakifuguError
from takifugu.core.escaping import command
from takifugu.core.names import normalised
from takifugu.core.tracebacks import place_of, without_data
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.book import there
from takifugu.releasing.planning.plan import plan, table_names
from takifugu.releasing.postprocess.release import Release, releases_of
from takifugu.releasing.publishing.folder import alone_in
from takifugu.releasing.publishing.orders import completed, handed_out
from takifugu.releasing.publishing.progress import Progress, state_of
from takifugu.releasing.publishing.publish import drawn_of
from takifugu.releasing.publishing.sheets import published_at
from takifugu.releasing.publishing.standing import close, public_of, row_of_pending
from takifugu.releasing.publishing.states import Does
from takifugu.releasing.report.outcomes import Outcome

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger, Payment

#: What cannot be completed from here, and who completes it.
_BY_THE_CALLER = {
    "session": ("it is a session", "go on with it, ledger.Session(ledger, pending), or close it"),
    "outside": ("it was paid for by tf.charge_external", "call it again, and pay again: its epsilon is spent"),
    "library": ("it was paid for by tf.release", "call it again with the same data, and it draws once"),
}
_NO_FILES = ("it was drawn by tf.release, which has no files", "call it again with the same data, or tf.resume(ledger)")


@dataclass(frozen=True)
class Resumed:
    """One release that was pending: its state now, and its outcome or why it could not be completed."""

    source: str
    #: The names of its tables.
    releases: tuple[str, ...]
    since: str
    state: ReleaseState
    #: None where another process has completed it meanwhile.
    outcome: Outcome | Release | None = field(default=None, repr=False)
    problem: str = ""


@without_data
def resume(ledger: Ledger | str | Path, source: str | None = None, *, files_only: bool = False) -> tuple[Resumed, ...]:
    """Complete the pending releases of a ledger, oldest first, at no further cost.

    Values that were drawn are published: tables in their folder, a release of `tf.release` as `outcome`. A release that
    was paid for and not drawn is drawn once, if its file and data are unchanged; for `tf.release` call it again with
    the same data. A release that cannot be completed stays pending and says why.

    Args:
        ledger: The ledger, its path or its URL.
        source: The only source to complete; None for all.
        files_only: Leave releases of `tf.release` alone.

    Returns:
        One line for each pending release.

    Raises:
        LedgerError: For a ledger that is missing or cannot be used, and for an unknown source.

    Examples:
        >>> import os, tempfile
        >>> from takifugu.accounting.ledger import Ledger
        >>> resume(Ledger.open(os.path.join(tempfile.mkdtemp(), "ledger.db")))
        ()
    """
    from takifugu.accounting.ledger import Ledger

    book = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger, create=False)
    if source is not None:
        book.spent(source)  # a name that it does not know is a typing error
    waiting = book.pending(None if source is None else normalised(source))
    # What is published by returning it comes last: nothing that stops the others may lose it.
    last = sorted(waiting, key=lambda pending: pending.recipe.get("kind") == "library")
    resumed = {pending.group: _resumed(book, pending, files_only) for pending in last}
    return tuple(resumed[pending.group] for pending in waiting)


def _resumed(book: Ledger, pending: Payment, files_only: bool) -> Resumed:
    progress = Progress()
    progress.state = ReleaseState.DRAWN if pending.state == "drawn" else ReleaseState.PAID
    common = (pending.source, tuple(pending.ids), pending.created)
    try:
        with progress.telling():
            outcome: Outcome | Release
            if pending.recipe.get("kind") == "file":
                outcome = _outcome(book, pending, progress)
            else:
                outcome = _release(book, pending, files_only, progress)
    except Exception as error:  # concerns one, and is no reason to leave the others
        if state_of(book, pending) is ReleaseState.DONE:  # by another process, meanwhile
            return Resumed(*common, ReleaseState.DONE)
        problem = error.message if isinstance(error, TakifuguError) else place_of(error)
        return Resumed(*common, progress.state, None, problem)
    return Resumed(*common, ReleaseState.DONE, outcome)


def _release(book: Ledger, pending: Payment, files_only: bool, progress: Progress) -> Release:
    """Return the drawn values of an unreturned library release; LedgerError where only its caller completes it."""
    kind, is_drawn = pending.recipe.get("kind"), pending.state == "drawn"
    if kind not in _BY_THE_CALLER:
        why = pending.recipe.get("unreadable", "the ledger does not say how to complete it")
        raise LedgerError(why, rule="its epsilon counts as spent")
    if kind == "session" or not is_drawn or files_only:
        fault, fix = _NO_FILES if is_drawn and kind != "session" else _BY_THE_CALLER[kind]
        recipe = pending.recipe
        if kind == "session" and "file" in recipe:
            window = ("--window", recipe["window"]) if recipe["window"] else ()
            fix = f"go on with it: {command('session', recipe['file'], '--only', recipe['only'], *window)}"
        raise LedgerError(fault, fix=fix)
    drawn = drawn_of(book, pending)
    release = next(iter(releases_of(drawn.certificate).values()))
    progress.record(book, pending, drawn.bundle.certificates, ReleaseState.DRAWN)
    return release


def _outcome(book: Ledger, pending: Payment, progress: Progress) -> Outcome:
    """Complete a release file's payment by the table of states."""
    public = public_of(pending)
    does = row_of_pending(pending, public).does
    if does is Does.CLOSE:
        close(book, pending, public)
        whole = [published_at(certified.path.parent, certified.name) for certified in public if certified.is_whole]
        return Outcome(tuple(whole), pending, pending.created)
    folder = Path(pending.recipe["output"])
    if not folder.parent.is_dir():  # it was there when this was paid for
        file = command("release", Path(pending.recipe["file"]).name)
        raise ReleaseError(
            f"{str(folder.parent)!r}, where its tables go, is not there any more",
            fix=f"bring it back, or run {file} where the release file lies now: it completes this, and pays nothing",
        )
    if does is Does.DRAW:
        return _drawn_now(book, pending, progress)
    drawn = drawn_of(book, pending)
    with alone_in(folder):  # whoever was publishing them has ended, or was killed
        return handed_out(drawn, folder, False, progress)


def _drawn_now(book: Ledger, pending: Payment, progress: Progress) -> Outcome:
    """Reread a release file and its data, and draw on its reservation; LedgerError for others than were paid."""
    recipe = pending.recipe
    if recipe.get("frame"):
        raise LedgerError(
            "its data came as a frame", fix="call tf.release_file again with the same frame, and it draws once"
        )
    file = load(recipe["file"], recipe["data"], recipe["single_release"], recipe.get("window"))
    items = [item for item in file.items if not pending.ids.keys().isdisjoint(table_names(file, [item]))]
    now = plan(file.only(items))
    named = there(file.ledger)
    if named is None or named.id != book.id:
        raise LedgerError(
            f"{recipe['file']} names the ledger {str(file.ledger)!r}, but it was paid for in {book.store.name!r}",
            fix="name that one there, and resume",
        )
    outcome = completed(now, Path(recipe["output"]), pending.group, progress)
    if outcome is None:
        raise LedgerError(
            f"{recipe['file']}, or the data that it reads, is not what was paid for",
            fix=(
                "restore both and resume, or accept that this epsilon is lost; the release as it is now is a new "
                "one, and must be paid for"
            ),
        )
    return outcome
