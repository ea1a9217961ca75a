"""One root for everything a user can get wrong; each error names the value, the rule it broke, and the fix."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class TakifuguError(Exception):
    """The root of every error that Takifugu raises for a mistake in its input."""


class InputError(TakifuguError, ValueError):
    """A value breaks a rule: a probability is negative, an epsilon is zero, a state is unknown."""


class DataError(InputError):
    """The private data breaks a rule; the message never repeats the data."""


class Unsupported(TakifuguError):
    """This belief, query or mechanism has no proven answer to what was asked; the message says what has."""


class CalibrationRefused(TakifuguError):
    """No mechanism may be used as asked: none applies, or the noise would be less than the default rules allow."""


class CompositionRefused(TakifuguError):
    """Releases on one source have no joint promise that is proved."""


class LedgerError(TakifuguError):
    """The ledger cannot be read, written or trusted; nothing was released."""


class BudgetExceeded(LedgerError):
    """The release would cost more than what is left; the message says spent, asked, left, and what would fit."""


class ReleaseError(TakifuguError):
    """A release stopped before anything was published."""


class SpecError(TakifuguError, ValueError):
    """A release file is wrong; `problems` lists every fault as `path.in.file: what is wrong; what to write instead`."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """Return `; did you mean 'x'?` for the nearest known word, or an empty string.

    >>> did_you_mean("walkin", ["still", "walking"])
    "; did you mean 'walking'?"
    """
    close = get_close_matches(str(word), [str(k) for k in known], n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""
