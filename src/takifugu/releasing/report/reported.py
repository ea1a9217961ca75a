"""One published table, as the parts of its report take it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from takifugu.analysis.randomisers import answered
from takifugu.releasing.advice.worth import Worth
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.postprocess.possible import Ends, possible_ends
from takifugu.releasing.postprocess.readability import Rule
from takifugu.releasing.postprocess.release import Release


@dataclass(frozen=True)
class Reported:
    """One published table: its answers by unit (None: of all units together), and the promise that they share.

    `worth` is what it is worth to a reader, where the release file says what to expect; `files` are the names of the
    files that lie beside the report.
    """

    name: str
    certificate: Certificate
    answers: tuple[tuple[str | None, Release], ...]
    worth: Worth | None = None
    files: tuple[str, ...] = ()

    @property
    def rule(self) -> Rule:
        """Return the rule separating values from their noise."""
        matters = None if self.worth is None else self.worth.matters
        return Rule(self.certificate.query, matters)

    @cached_property
    def possible(self) -> Ends | None:
        """Return the least and largest possible true value, if known."""
        return possible_ends(self.certificate)

    @property
    def cells(self) -> int:
        return sum(len(answer.labels) for _, answer in self.answers)

    @property
    def by_unit(self) -> bool:
        return self.certificate.scope == "unit" and len(self.answers) > 1

    @property
    def noisiest(self) -> tuple[str | None, Release]:
        return max(self.answers, key=lambda pair: answered(lambda: pair[1].randomiser.scale) or 0)
