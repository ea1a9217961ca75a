"""One root for everything a user can get wrong; each error names the value, the rule it broke, and the fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, Self, TypeVar

from takifugu.core.escaping import command, option, visible
from takifugu.core.readings import UNNAMED, is_unnamed, same_entries, side_by_side


class ReleaseState(StrEnum):
    """The progress of a release, worded only here.

    >>> print(ReleaseState.PAID)
    paid, not drawn
    """

    NOTHING = "nothing happened"
    PAID = "paid, not drawn"
    DRAWN = "drawn, not published"
    UNRECORDED = "published, not recorded"
    DONE = "done"

    def sentence(self, ledger: object = None) -> str:
        """Return the state, its meaning and the next step. The command is named where the ledger is known."""
        resuming = "" if ledger is None else f", or {command('ledger', 'resume', ledger)},"
        return f"State of the release: {self}. {_MEANS[self].format(again=f'The same command again{resuming}')}"


_MEANS = {
    ReleaseState.NOTHING: "No epsilon was spent, and nothing was published.",
    ReleaseState.PAID: "Its epsilon is spent, and no noisy value exists yet. {again} draws once and pays nothing.",
    ReleaseState.DRAWN: (
        "Its epsilon is spent, and the noisy values are kept beside the ledger; not, or not all, are handed out. "
        "{again} publishes these very values and pays nothing."
    ),
    ReleaseState.UNRECORDED: (
        "Everything is public and paid; only the ledger's last note about it is missing. "
        "{again} writes that note and pays nothing."
    ),
    ReleaseState.DONE: "Everything is published, paid and recorded.",
}


#: How far a command about a ledger came that was stopped before it wrote anything.
LEDGER_AS_IT_WAS = "State of the ledger: as it was. Nothing was written to it."

#: One step to the place of a fault: a key of a release file, the number in a list, a parameter, a column.
Step = str | int


Error = TypeVar("Error", bound="TakifuguError")


class TakifuguError(Exception):
    """Report a mistake in the input: the root of every such error.

    Whoever raises it names the parameter; outer layers put the keys before it (`at`). `state` tells how far a release
    had come; the message says so if anything happened.

    Args:
        what: What is wrong.
        rule: The rule that it breaks.
        fix: One fix to paste.
        where: Path to the mistake, as far as it is known.

    Examples:
        >>> error = InputError("epsilon is 0", rule="it must be above 0", fix="write for example 1", where=("epsilon",))
        >>> print(error)
        epsilon is 0: it must be above 0; write for example 1
        >>> print(error.at("table", 0).line)
        table[0].epsilon: epsilon is 0; it must be above 0; write for example 1
    """

    state: ReleaseState = ReleaseState.NOTHING
    #: The answers that mend it, each with its meaning, where there are several.
    offers: tuple[tuple[str, str], ...] = ()
    #: What stands after the fault, and between rule and fix.
    separators: ClassVar[tuple[str, str]] = (": ", "; ")

    def __init__(self, what: str = "", *, rule: str = "", fix: str = "", where: Iterable[Step] = ()) -> None:
        super().__init__(what)
        self.what, self.rule, self.fix, self.where = what, rule, fix, tuple(where)

    def offering(self, offers: Iterable[tuple[str, str]], otherwise: str = "") -> Self:
        """Return the error with the answers that mend it, which its fix has as options of the command line.

        Args:
            offers: Each answer with its meaning.
            otherwise: What else mends it.

        Returns:
            This error.
        """
        self.offers = tuple(offers)
        lines = [option(self.place, word) + (meaning and f" ({meaning})") for word, meaning in self.offers]
        self.fix = ", or ".join([*lines, *filter(None, [otherwise])])
        return self

    def __str__(self) -> str:
        if self.state is ReleaseState.NOTHING:
            return self.message
        return f"{self.message}. {standing(self)}"

    def at(self, *outer: Step) -> Self:
        """Return this error with outer steps before its place.

        Args:
            outer: Keys and list numbers, outermost first.

        Returns:
            This error.
        """
        self.where = (*outer, *self.where)
        return self

    def of(self, kind: type[Error]) -> Error:
        """Return this error as one of another kind, with the same parts.

        Args:
            kind: The class.

        Returns:
            The new error.
        """
        return kind(self.what, rule=self.rule, fix=self.fix, where=self.where)

    def reworded(self, how: Callable[[str], str]) -> Self:
        """Return this error in other words, for readers without Python.

        Args:
            how: Rewrites a text.

        Returns:
            This error.
        """
        self.what, self.rule, self.fix = how(self.what), how(self.rule), how(self.fix)
        return self

    def about(self, subject: str) -> Self:
        """Return this error with a subject before its words.

        Args:
            subject: The subject.

        Returns:
            This error.
        """
        self.what = f"{subject}: {self.what}"
        return self

    def placed(self) -> Self:
        """Return this error with its place before its words."""
        return self.about(self.place)

    @property
    def message(self) -> str:
        """Return fault, rule and fix in one sentence, without place and state."""
        after_fault, between = self.separators
        reasons = between.join(filter(None, (self.rule, self.fix)))
        return visible(after_fault.join(filter(None, (self.what, reasons))))

    @property
    def asked(self) -> str:
        """The message where a question is asked: its answers as they are typed there, not for a shell."""
        some = ", or ".join(f"{answer} ({meaning})" if meaning else answer for answer, meaning in self.offers)
        return InputError(self.what, rule=self.rule, fix=f"write {some}").message if some else self.message

    @property
    def place(self) -> str:
        """The path as one would write it: `table[0].epsilon`."""
        path = ""
        for step in self.where:
            path += f"[{step}]" if isinstance(step, int) else f".{step}"
        return path.removeprefix(".")

    @property
    def line(self) -> str:
        """Return place, fault, rule and fix, as in a list of faults."""
        words = self.what
        if self.where:
            words = f"{self.place}: {words}"
        return visible("; ".join(filter(None, (words, self.rule, self.fix))))


@contextmanager
def within(*outer: Step) -> Iterator[None]:
    """Put the outer steps before the place of every error inside."""
    try:
        yield
    except TakifuguError as error:
        error.at(*outer)
        raise


@contextmanager
def about(*where: Step) -> Iterator[None]:
    """Blame a key for every error inside, whatever place it names; faults of a SpecError keep theirs."""
    try:
        yield
    except SpecError:
        raise
    except TakifuguError as error:
        error.where = where
        raise


def standing(error: BaseException) -> str:
    """Return the progress of a stopped release or command about a ledger, "" where there was neither."""
    attributes = getattr(error, "__dict__", {})
    state, public = attributes.get("state"), attributes.get("public")
    if state is None:
        return str(attributes.get("standing", ""))
    # commands name the ledger where it is known, so that they can be pasted
    words = str(state.sentence(attributes.get("ledger")))
    if state is ReleaseState.DRAWN and public is not None:
        out = f"These of its files are out: {', '.join(public)}." if public else "None of its files is out."
        words = f"{words} {out}"
    if before := attributes.get("completed"):
        return f"Paid for by an earlier call, and published now: {', '.join(before)}. Of the rest: {words}"
    return words


class InputError(TakifuguError, ValueError):
    """A value breaks a rule, such as a negative probability."""


class DataError(InputError):
    """The private data breaks a rule; the message never repeats the data."""


class Unsupported(TakifuguError):
    """Nothing is proved for this belief, query or mechanism.

    The message says which of them have an answer.
    """


class CalibrationRefused(TakifuguError):
    """No mechanism applies, or the default rules demand more noise."""


class CompositionRefused(TakifuguError):
    """Releases on one source have no proven joint promise."""


class ReadingChanged(InputError):
    """A source is read otherwise than before, or its entries have no name, and nobody has said which entries these are.

    `before` and `now` are the readings, as texts; `same` and `others` say what the source comes to by either answer,
    where that is known; `is_same_refused` says that the first one is. The message has a line for each fact that
    differs, and one for each answer.
    """

    separators = (":\n", "\n")

    def __init__(
        self, source: str, before: str, now: str, same: str = "", others: str = "", is_same_refused: bool = False
    ) -> None:
        self.source, self.before, self.now, self.same, self.others = source, before, now, same, others
        self.is_same_refused = is_same_refused
        is_nameless = is_unnamed(now)
        if is_nameless:  # the name of its own is of no use to a reader
            now = now[: now.rindex(UNNAMED) + len(UNNAMED)]
        answers = [
            ("--same-entries WHY", "same_entries='...'", same), ("--other-entries", "other_entries=True", others),
        ]  # fmt: skip
        question = f"are these {same_entries(before, now)}?"
        what = f"the source {source!r} is read otherwise than before"
        if is_nameless:
            answers = answers if before else answers[1:]
            what = f"nothing names the entries that the source {source!r} is about"
            question = "name what is measured (entries under [source], entries='...' in Python), or answer for once:"
        lines = [f"  {flag} ({argument} in Python){price and f': {price}'}" for flag, argument, price in answers]
        fix = "\n".join([question, *lines])
        rule = side_by_side(before, now)
        if is_nameless and not before:
            rule = "a ledger adds up what is known to be about the same entries"
        super().__init__(what, rule=rule, fix=fix, where=("same_entries",))
        self.args = (source, before, self.now, same, others, is_same_refused)  # by which a copy is made


class PeopleUndeclared(InputError):
    """A second source of a ledger may be about the same people as another one, and nobody has said whether it is.

    `same` says what the source comes to if they are, where that is known.
    """

    separators = (": ", "\n")

    def __init__(self, source: str, other: str, same: str = "") -> None:
        self.source, self.other, self.same = source, other, same
        answers = [
            ("same_people = true", "same_people=True", "each release about the one counts for the other, too", same),
            ('ledger = "NAME-ledger.db"', "ledger=...", "other people, in a ledger of their own", ""),
        ]
        lines = ["write in the release file (or in Python):"]
        for key, argument, meaning, price in answers:
            lines.append(f"  {key} ({argument}): {meaning}{price and f'; {price}'}")
        what = f"the ledger knows the people of {other!r}, and has to be told whether those of {source!r} are the same"
        super().__init__(what, fix="\n".join(lines), where=("same_people",))
        self.args = (source, other, same)  # by which a copy is made


class LedgerError(TakifuguError):
    """The ledger cannot be read, written or trusted."""


#: An epsilon and a delta.
Cost = tuple[Fraction, Fraction]
NO_COST: Cost = (Fraction(0), Fraction(0))


class BudgetExceeded(LedgerError):
    """The release would cost more than the rest of the budget.

    `spent`, `requested`, `left`, `total` and `budget` are exact pairs (epsilon, delta), and `fits` says in words what
    would fit, `share` by how much all epsilons would be multiplied, if that is known; `source` is the one whose budget
    it is. The message has a line for the cost, what is left, each remedy, and each command.
    """

    separators = (":\n", ";\n")

    def __init__(
        self, what: str = "", *, rule: str = "", fix: str = "", spent: Cost = NO_COST, requested: Cost = NO_COST,
        left: Cost = NO_COST, total: Cost = NO_COST, budget: Cost = NO_COST, fits: str = "", source: str = "",
        share: Fraction | None = None,
    ) -> None:  # fmt: skip
        super().__init__(what, rule=rule, fix=fix)
        self.spent, self.requested, self.left, self.total, self.budget = spent, requested, left, total, budget
        self.fits, self.source, self.share = fits, source, share


class ReleaseError(TakifuguError):
    """A release stopped; `state` says whether anything is paid, drawn or public."""


class Fault(ReleaseError):
    """A fault of Takifugu itself in a release.

    The message names its place only: the fault's own could hold data.
    """


class Notice(UserWarning):
    """Something to know before a release is drawn: what it rules out, what it costs beyond its own epsilon."""


class SpecError(TakifuguError, ValueError):
    """A release file is wrong.

    `faults` has every fault with its place, and `problems` their lines `path.in.file: what is wrong; what to write
    instead`.
    """

    def __init__(self, faults: Iterable[TakifuguError]) -> None:
        self.faults = tuple(faults)
        for fault in self.faults:  # what raised them is over: a traceback would keep what its frames held
            fault.__traceback__ = fault.__cause__ = fault.__context__ = None
        super().__init__("\n".join(self.problems))
        self.args = (self.faults,)  # by which a copy is made

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(fault.line for fault in self.faults)


def faults_in(error: TakifuguError) -> tuple[TakifuguError, ...]:
    """Return the faults that an error tells of: its own, or those of a SpecError."""
    return error.faults if isinstance(error, SpecError) else (error,)


@contextmanager
def gathered(
    faults: list[TakifuguError], placed: Callable[[TakifuguError], Iterable[TakifuguError]] = faults_in
) -> Iterator[None]:
    """Add an error inside to the faults, as `placed` tells it, instead of raising it."""
    try:
        yield
    except TakifuguError as error:
        faults += placed(error)


def raise_gathered(faults: Iterable[TakifuguError]) -> None:
    """Raise the one fault, or SpecError for several different ones."""
    different = list({fault.line: fault for fault in faults}.values())
    if len(different) == 1:
        raise different[0]
    if different:
        raise SpecError(different)


def reason(error: OSError) -> str:
    """Return why the system refused, in words."""
    return (error.strerror or type(error).__name__).lower()
