"""What questions are about: a table as it looks, and the kind of file that the answers so far mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from takifugu.model.queries.sections import EACH_ROW, RECORDS, WHOLE_COLUMNS
from takifugu.releasing.file.guessing.columns import FirstLook
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.keys import STEPS
from takifugu.releasing.file.kinds import KINDS, SEQUENCES
from takifugu.releasing.file.questions.likely import Likely, likely_of
from takifugu.releasing.file.questions.question import Choice

#: The shape of a file about answers, by what stays secret of them.
SHAPES = {"answers": RECORDS, "column": WHOLE_COLUMNS, "population": EACH_ROW}
Answers = Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Subject:
    """A table that questions are about, its kind of file where that was said, and the file that answers draft."""

    look: FirstLook = field(repr=False)
    kind: str | None = None
    data: Path = Path("data.csv")
    output: Path = Path("release.toml")

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.look)

    @cached_property
    def likely(self) -> Likely:
        return likely_of(self.facts)

    def column(self, role: str) -> str | None:
        """Return the name of the likely column of a role."""
        column = self.facts.roles.get(role)
        return None if column is None else column.name

    def kind_of(self, answers: Answers) -> str:
        """Return the kind of file for the answers, or of those before the secret for the likely one."""
        rows = answers["rows"]
        if self.kind is not None:
            return self.kind
        if rows in STEPS:
            return SEQUENCES
        if rows in ("visits", "contacts"):
            return {"visits": "asymmetric", "contacts": "contacts"}[rows]
        columns = "normal" if len(self.facts.amounts) > len(self.facts.answers) else "independent-records"
        kinds = {"answers": "users", "column": columns, "population": "populations"}
        return kinds[answers.get("secret", self.likely.secret)]

    def unit_role(self, answers: Answers) -> str | None:
        """Return the key of [source] for people or units, if any."""
        return next((role for role, like in self.all_roles(answers).items() if like in ("unit", "person")), None)

    def all_roles(self, answers: Answers) -> Mapping[str, str]:
        """Return the column keys of [source], with the columns' likeness."""
        return KINDS.find(self.kind_of(answers)).facts.roles

    def named_columns(self, answers: Answers) -> set[str]:
        """Return the columns in earlier answers."""
        words = {answers[name] for name in ("whose", "when") if name in answers}
        stays = [{*stay} for stay in self.facts.stays if ", ".join(stay) in words]
        return words.union(*stays)

    def unnamed_columns(self, answers: Answers, choices: Sequence[Choice]) -> tuple[str, ...]:
        """Return the columns outside these choices and earlier answers."""
        taken = {*self.named_columns(answers), *(choice.name for choice in choices)}
        return tuple(name for name in self.look.columns if name not in taken)


def shape_of(kind: str) -> str:
    """Return the meaning of a row in a kind's data."""
    return KINDS.find(kind).facts.rows
