"""Which tables of a file are to be paid for, which wait or were published: decided by the table of states.

Nothing that was paid for is paid for again unless the caller says so by name, under a key that pays once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

from takifugu.accounting.ledger import OVER
from takifugu.core.errors import InputError, ReleaseError
from takifugu.core.escaping import visible
from takifugu.core.names import normalised
from takifugu.core.nearest import did_you_mean
from takifugu.core.rules import as_path, check_type
from takifugu.data.relation.opening import files_read
from takifugu.releasing.certificates.files import files_of
from takifugu.releasing.file.keys import names_of as keys_named
from takifugu.releasing.file.keys import plain, texts_within
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.planning.notices import tell
from takifugu.releasing.planning.plan import table_names
from takifugu.releasing.publishing.new_ledger import check_ledger
from takifugu.releasing.publishing.standing import Standing, standings
from takifugu.releasing.publishing.states import Does, paying_again, resuming

_LONGEST_KEY = 200
_ONCE = "one key pays once"
#: What a printed line has in place of a reason (`--same-entries WHY`): pasted as it is, it gives none.
_PLACE_OF_A_REASON = "WHY"
#: What SQLite keeps beside a ledger.
_FILES_OF_A_LEDGER = ("", "-journal")


@dataclass(frozen=True)
class Choice:
    """The tables that a caller wants: `only` some; some to `replace`, under an `idempotency_key`."""

    #: One name may stand for a list of one.
    only: str | Sequence[str] = ()
    replace: str | Sequence[str] = ()
    #: Two spellings that look alike are one (`normalised`).
    idempotency_key: str | None = None
    #: Overwrite other files.
    force: bool = False
    #: Why a source that is read otherwise than before has the same entries; or whether it has others.
    same_entries: str = ""
    other_entries: bool = False
    #: Whether a second source is about the same people.
    same_people: bool = False

    def __post_init__(self) -> None:
        for key, names in (("only", self.only), ("replace", self.replace)):
            if names is not None:
                check_type(names, Iterable, "the name of a table, or several", "write for example 'flu'", key)
            object.__setattr__(self, key, tuple(map(str, keys_named(names))))
        if not isinstance(self.same_entries, str) or self.same_entries.strip() == _PLACE_OF_A_REASON:
            raise InputError(
                f"same_entries is {self.same_entries!r:.40}",
                fix="write why they are the same, same_entries='the export was corrected': certificates print it",
            ).at("same_entries")
        check_type(self.other_entries, bool, "an answer", "write other_entries=True, or leave it out", "other_entries")
        if self.same_entries and self.other_entries:
            raise InputError("the entries are declared to be the same, and others", fix="write one of them").at(
                "other_entries"
            )
        if self.idempotency_key is None:
            if self.replace:
                raise InputError(
                    f"{', '.join(self.replace)} is to be paid for again, and nothing says how often",
                    fix="write a key, such as --idempotency-key 2 (idempotency_key='2' in Python): whatever happens, "
                    "one key pays once",
                ).at("replace")
            return
        check_type(self.idempotency_key, str, "a key", "write for example '2026-W07'", "idempotency_key")
        once = normalised(self.idempotency_key, "the key")
        object.__setattr__(self, "idempotency_key", once)
        if not once or len(once) > _LONGEST_KEY or visible(once) != once:
            raise InputError(
                f"the key is {once[:40]!r}", fix=f"write up to {_LONGEST_KEY} letters or digits, such as 2026-W07"
            ).at("idempotency_key")

    @property
    def are_same(self) -> bool | None:
        """Whether the entries are the same, None where nobody says it."""
        return True if self.same_entries else False if self.other_entries else None

    def of(self, file: ReleaseFile) -> ReleaseFile:
        """Return the file with the wanted tables; InputError for names unknown to the file."""
        names_of_file = dict.fromkeys(chain.from_iterable(map(names_of, file.items)))
        for key, names in (("only", self.only), ("replace", self.replace)):
            for name in names:
                if name not in names_of_file:
                    nearest = did_you_mean(name, names_of_file)
                    raise InputError(
                        f"the file has no [[table]] named {name!r}", fix=f"it has {list(names_of_file)}{nearest}"
                    ).at(key)
        if not self.only:
            return file
        return file.only([item for item in file.items if set(names_of(item)) & {*self.only, *self.replace}])

    def wants_again(self, item: Item) -> bool:
        return bool(set(names_of(item)) & set(self.replace))

    def does(self, standing: Standing) -> Does:
        """Return the action of a release on a [[table]]."""
        if self.wants_again(standing.item):
            return Does.PAY
        return standing.row.done(self.force, self.idempotency_key is not None)


#: What is wanted where a caller chooses nothing.
NO_CHOICE = Choice()


def names_of(item: Item) -> tuple[str, ...]:
    """Return the names of one [[table]]: with its window, and without."""
    if not item.period:
        return (item.name,)
    return tuple(dict.fromkeys((item.name, item.name.removesuffix(f"-{item.period}"))))


def folder_of(file: ReleaseFile, output: str | Path | None) -> Path:
    """Return the chosen folder of tables, or the file's own."""
    return file.output if output is None else as_path(output, "output")


def to_plan(file: ReleaseFile, folder: Path, choice: Choice, new_ledger: bool) -> ReleaseFile:
    """Return a release file of new, repeated and already paid tables; ReleaseError for something in the way."""
    wanted_file = choice.of(file)
    check_place(file, folder, table_names(wanted_file, wanted_file.items), new_ledger)
    standing = standings(wanted_file, folder)
    waiting = [release for release in standing if release.is_waited_for]
    due = to_pay([release for release in standing if release not in waiting], choice, bool(waiting))
    planned = (*waiting, *due)
    left = [release for release in standing if release not in planned]
    tell(f"{_refusal(release).what}; nothing is paid for it now" for release in left if release.row.keyed is not None)
    return wanted_file.only([release.item for release in standing if release in planned])


def check_place(file: ReleaseFile, folder: Path, tables: Sequence[str], new_ledger: bool) -> None:
    """Raise for tables over inputs, or in another ledger's folder."""
    refuse_inputs(file, folder, files_of(tables))
    check_ledger(file, folder, new_ledger)


def to_pay(standing: Sequence[Standing], choice: Choice, goes_on: bool) -> tuple[Standing, ...]:
    """Return the tables to pay for now; ReleaseError where something is in the way, or nothing is to do."""
    due, alone, refused = list[Standing](), list[Standing](), list[Standing]()
    for release in standing:
        if _is_paid_under(release, choice.idempotency_key):
            continue
        act = choice.does(release)
        if act is Does.PAY:
            due.append(release)
        elif act is Does.REFUSE_ALONE:
            alone.append(release)
        elif act is not Does.LEAVE:
            refused.append(release)
    # a published table of other keys, or in another folder, is refused where no other work is left
    if not refused and not due and not goes_on:
        is_done = any(release.row.does is Does.LEAVE for release in standing)
        in_question = [release for release in alone if release.is_here or not is_done]
        refused = sorted(in_question, key=lambda release: release.is_here)
    if refused:
        raise _refusal(refused[0])
    return tuple(due)


def _is_paid_under(standing: Standing, once: str | None) -> bool:
    """Return whether this key paid for a table lying here whole; ReleaseError for one that is not whole."""
    if once is None:
        return False
    with_key = [paid for paid in standing.payments if paid.once == once]
    under = next((paid for paid in with_key if {*paid.ids} & {*standing.tables}), None)
    if under is None or (standing.is_here and standing.paid == under):
        return under is not None
    names, how = ", ".join(standing.tables), f"with the key {once!r} ({under.created[:10]})"
    if under.state == OVER:
        fault = f"{names} was published {how}, and its files are not in {str(standing.folder)!r}"
        fix = "bring them back, or write another key, which pays for new values"
    else:
        fault = f"{names} was paid for {how}, and the release file, or the data that it reads, is not what was paid for"
        fix = f"restore both and run again, or {resuming(standing.file)}; another key pays for a new one"
    raise ReleaseError(fault, rule=_ONCE, fix=fix).at("idempotency_key")


def _refusal(standing: Standing) -> ReleaseError:
    """Return the refusal of an unpublished table, in the words of its row, with commands to paste."""
    file, folder, name = standing.file, standing.folder, names_of(standing.item)[0]
    output, rule = "", ""
    if folder != file.output:
        output = str(folder)
    if standing.row.keyed is not None:
        rule = "one table is paid for once"
    is_only = len(file.items) + len(file.others) == 1
    again = paying_again(file.path, name, standing.payments, output, file.window or "", is_only)
    return standing.row.refusal(
        rule=rule, names=", ".join(standing.published), files=", ".join(standing.files), where=str(folder),
        day=standing.since[:10], output=standing.output, again=again, resume=resuming(file),
    )  # fmt: skip


def refuse_inputs(file: ReleaseFile, folder: Path, names: Sequence[str]) -> None:
    """Raise ReleaseError for output files among a release's inputs."""
    read: dict[object, Path] = {}
    real = cache(os.path.realpath)
    for path in reversed(dict.fromkeys(inputs_of(file))):
        read |= dict.fromkeys(_keys(path, real), path)
    for name in names:
        taken = next((read[key] for key in _keys(folder / name, real) if key in read), None)
        if taken is not None:
            raise ReleaseError(
                f"{name} in {str(folder)!r} would replace {taken.name!r}, which this release reads",
                rule="no input, release file or ledger is ever overwritten",
                fix="give the table another name, or write into another folder (output)",
            ).at("output")


def inputs_of(file: ReleaseFile) -> Iterator[Path]:
    """Yield every possible input file of a release, existing or not: any text may be a path, a pattern or a SELECT."""
    yield file.path
    ledger = str(file.ledger).removeprefix("sqlite:///")
    if "://" not in ledger:
        yield from (Path(f"{ledger}{end}") for end in _FILES_OF_A_LEDGER)
    if isinstance(file.given, str | os.PathLike):
        yield Path(file.given)
    for text in dict.fromkeys(texts_within(plain(file.spec))):
        if text and "\0" not in text and len(text) < 1000:
            yield file.inside(text)
            yield from files_read(text, file.folder)


def _keys(path: Path, real: Callable[[str], str]) -> Iterator[object]:
    """Yield keys shared by all paths to one file, existing or not; `real` remembers where folders are."""
    above, name = os.path.split(path)
    is_plain = name not in ("", ".", "..") and not os.path.islink(path)
    yield os.path.normcase(os.path.join(real(above), name) if is_plain else os.path.realpath(path))
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return
    yield status.st_dev, status.st_ino
