"""Complete what was paid for and not published: `takifugu ledger resume` and `tf.resume`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.errors import LedgerError, ReleaseState, TakifuguError
from takifugu.core.tracebacks import place_of, without_data
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan, tables_of
from takifugu.releasing.postprocess.release import Release, releases_of
from takifugu.releasing.publishing.bundle import bundle_of
from takifugu.releasing.publishing.folder import alone_in
from takifugu.releasing.publishing.in_folder import public_of, row_of_pending
from takifugu.releasing.publishing.new_ledger import close
from takifugu.releasing.publishing.orders import completed, handed_out, ordered
from takifugu.releasing.publishing.progress import Progress, state_of
from takifugu.releasing.publishing.publish import Stored
from takifugu.releasing.publishing.sheets import published_at
from takifugu.releasing.publishing.states import Does
from takifugu.releasing.report.outcomes import Outcome

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger, Pending


@dataclass(frozen=True)
class Resumed:
    """What became of one release that was pending: its state now, and what it published or why it could not.

    `releases` are the names of its tables; `outcome` is an Outcome for a release file, a Release for `tf.release`, and
    None where another process has completed it meanwhile.
    """

    source: str
    releases: tuple[str, ...]
    since: str
    state: ReleaseState
    outcome: Outcome | Release | None = field(default=None, repr=False)
    problem: str = ""


@without_data
def resume(ledger: Ledger | str | Path, source: str | None = None, *, files_only: bool = False) -> tuple[Resumed, ...]:
    """Complete every pending release of a ledger, or of one source, oldest first; nothing is spent.

    Where the noisy values were drawn, these very values are published: a release file's tables in the folder where
    they were to go, a release of `tf.release` as the `outcome` (left alone with `files_only`). What was paid and not
    drawn is drawn once if the release file and its data are what they were; for `tf.release` call it again with the
    same data. One that cannot be completed says why and stays pending.

    Raises LedgerError for a ledger that is missing or cannot be used, and for a source that it does not know.

    >>> import os, tempfile
    >>> from takifugu.accounting.ledger import Ledger
    >>> resume(Ledger.open(os.path.join(tempfile.mkdtemp(), "ledger.db")))
    ()
    """
    from takifugu.accounting.ledger import Ledger

    book = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger, create=False)
    if source is not None:
        book.spent(source)  # a name that it does not know is a typing error
    waiting = book.pending(source)
    # What is published by returning it comes last: nothing that stops the others may lose it.
    resumed = {one.group: _resumed(book, one, files_only) for one in sorted(waiting, key=_is_of_the_library)}
    return tuple(resumed[one.group] for one in waiting)


def _is_of_the_library(one: Pending) -> bool:
    return one.recipe.get("kind") == "library"


def _resumed(book: Ledger, one: Pending, files_only: bool) -> Resumed:
    progress = Progress()
    progress.state = ReleaseState.DRAWN if one.state == "drawn" else ReleaseState.PAID
    common = (one.source, tuple(one.ids), one.created)
    try:
        with progress.telling():
            outcome = _completed(book, one, files_only, progress)
    except Exception as error:  # concerns one, and is no reason to leave the others
        if state_of(book, one) is ReleaseState.DONE:  # by another process, meanwhile
            return Resumed(*common, ReleaseState.DONE)
        problem = error.message if isinstance(error, TakifuguError) else place_of(error)
        return Resumed(*common, progress.state, None, problem)
    return Resumed(*common, ReleaseState.DONE, outcome)


def _completed(book: Ledger, one: Pending, files_only: bool, progress: Progress) -> Outcome | Release:
    """Do what the table of states says of what was paid for with a release file; return what the library drew."""
    kind = one.recipe.get("kind")
    if kind == "file":
        public = public_of(one, ())
        does = row_of_pending(one, public).does
        if does is Does.CLOSE:
            close(book, one)
            tables = (published_at(paid.path.parent, paid.name) for paid in public if paid.is_whole)
            return Outcome(tuple(tables), one, one.created)
        return _drawn(book, one, progress) if does is Does.DRAW else _files_of(book, one, progress)
    if kind == "session":
        raise LedgerError("it is a session", fix="go on with it, ledger.Session(ledger, pending), or close it")
    if kind == "outside" and one.state != "drawn":
        raise LedgerError("it was paid for by tf.charge", fix="call it again with the same words, and it pays nothing")
    if kind not in ("library", "outside"):
        raise LedgerError("the ledger does not say how to complete it", rule="its epsilon counts as spent")
    if one.state != "drawn":
        raise LedgerError("it was paid for by tf.release", fix="call it again with the same data, and it draws once")
    if files_only:
        raise LedgerError(
            "it was drawn by tf.release, which has no files",
            fix="call it again with the same data, or tf.resume(ledger)",
        )
    certificate = bundle_of(one.bundle, one.ids).sheets[0].certificate
    release = next(iter(releases_of(certificate).values()))
    progress.record(book, one, ReleaseState.DRAWN)
    return release


def _files_of(book: Ledger, one: Pending, progress: Progress) -> Outcome:
    """Publish the files that the ledger keeps, where they were to go; raises LedgerError where they are lost."""
    stored, folder = Stored(one, bundle_of(one.bundle, one.ids), one.created), Path(one.recipe["output"])
    with alone_in(folder):  # whoever was publishing them has ended, or was killed
        return Outcome(handed_out(stored, book, folder, False, progress, {}), one, one.created)


def _drawn(book: Ledger, one: Pending, progress: Progress) -> Outcome:
    """Read the release file and its data again, and draw on the same reservation if they are what was paid for."""
    from takifugu.accounting.ledger.disk.places import path_of

    if one.recipe.get("frame"):
        raise LedgerError(
            "its data came as a frame", fix="call tf.release_file again with the same frame, and it draws once"
        )
    file = load(one.recipe["file"], one.recipe["data"], one.recipe["only_release"], one.recipe.get("window"))
    mine = [item for item in file.items if {name for name, _ in tables_of(file, item)} & set(one.ids)]
    planned = plan(file.only(mine))
    where = path_of(file.ledger)
    if not (where.exists() and where.samefile(book.store.place)):
        raise LedgerError(
            f"{one.recipe['file']} names the ledger {str(where)!r}, but it was paid for in {str(book.store.path)!r}",
            fix="name that one there, and resume",
        )
    order = ordered(planned, Path(one.recipe["output"]), one.recipe["data"])
    tables = completed(order, one.group, progress)
    if tables is None:
        raise LedgerError(
            f"{one.recipe['file']}, or the data that it reads, is not what was paid for",
            fix=(
                "restore both and resume, or accept that this epsilon is lost; the release as it is now is a new "
                "one, and must be paid for"
            ),
        )
    return Outcome(tables, one, one.created)
