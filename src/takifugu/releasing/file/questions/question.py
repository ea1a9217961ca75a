"""A question as data, with its words and choices, and the table that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path

from takifugu.core.errors import InputError, within
from takifugu.core.escaping import visible
from takifugu.core.lists import among, without
from takifugu.core.nearest import did_you_mean
from takifugu.data import parse_step
from takifugu.model.queries.sections import EACH_ROW, RECORDS, WHOLE_COLUMNS
from takifugu.releasing.file.guessing.columns import FirstLook
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.guessing.seen import Seen
from takifugu.releasing.file.keys import STEPS
from takifugu.releasing.file.kinds import KINDS, SEQUENCES
from takifugu.releasing.file.questions.likely import Likely, likely_of

#: The answer that none of the columns, or nothing, is meant.
NONE = "-"
#: An error lists so many choices.
_LISTED = 8
_STEPS = {"times": "1min", "numbers": "1"}


#: The questions whose option is called as the key that it sets.
_OPTIONS = {"whose": "unit", "when": "order"}


def option_of(name: str) -> str:
    """Return the option of a question.

    >>> option_of("whose"), option_of("step")
    ('--unit', '--step')
    """
    return f"--{_OPTIONS.get(name, name)}"


@dataclass(frozen=True)
class Choice:
    """An answer as it is written, and what it means."""

    name: str
    words: str


def of_columns(columns: Sequence[Seen], words: str) -> list[Choice]:
    return [Choice(column.name, words) for column in columns]


@dataclass(frozen=True)
class Question:
    """A question about a table; of its choices the likely one is `offered`, and `why` says what speaks for it.

    Where the answer decides what is protected or counted it `must_be_clear`: nobody but a person takes what is offered
    then, unless it `is_clear`. What `others` name is an answer, too, and what has the `form`, if any: the length of a
    step in "times" or "numbers", or "text", which the file that it drafts judges. It is `about` columns, the likeliest
    first.
    """

    name: str
    words: str
    choices: tuple[Choice, ...]
    offered: str | None
    why: str = ""
    is_clear: bool = True
    must_be_clear: bool = False
    others: tuple[str, ...] = ()
    form: str | None = None
    about: tuple[str, ...] = ()

    def answer(self, word: str) -> str:
        """Return the answer of a word; InputError for an invalid one."""
        names = [choice.name for choice in self.choices]
        if word in names or word in self.others:
            return word
        if self.form in _STEPS and word:
            with within(self.name):
                form = "times" if isinstance(parse_step(word), timedelta) else "numbers"
            if form != self.form:
                fault_text = f"{word!r} is one of the {form}, and steps are {self.form}"
                raise InputError(fault_text, fix=f"write for example {_STEPS[self.form]}").at(self.name)
        if self.form is not None and word:
            return word
        raise InputError(
            f"{visible(word)!r} is no answer to: {self.words}{did_you_mean(word, [*names, *self.others])}",
            rule=self.why, fix=f"write {self.listed()}",
        ).at(self.name)  # fmt: skip

    def listed(self) -> str:
        """Return the choices as options of the command line."""
        options = list[str]()
        for choice in self.choices[:_LISTED]:
            word = visible(choice.name)
            if not choice.name.replace("-", "").replace("_", "").isalnum():
                word = f'"{word}"'
            options.append(f"{option_of(self.name)} {word} ({visible(choice.words)})")
        return ", or ".join(options)


def unsaid(questions: Sequence[Question]) -> InputError:
    """Return the error of questions for a person only."""
    words = " ".join(question.words for question in questions)
    reasons = dict.fromkeys(question.why or "what is protected depends on it" for question in questions)
    options = "; and ".join(map(Question.listed, questions))
    return InputError(
        f"the table does not tell: {words}", rule="; ".join(reasons), fix=f"write {options}"
    ).at(questions[0].name)


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
        """Return the kind of file for the answers.

        Before the secret is asked, for the likely one.
        """
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
        return "unit" if "unit" in self.all_roles(answers) else None

    def all_roles(self, answers: Answers) -> Sequence[str]:
        """Return the keys of [source] that name columns."""
        return KINDS.find(self.kind_of(answers)).facts.roles

    def named_columns(self, answers: Answers) -> set[str]:
        """Return the columns in earlier answers."""
        return {*self._columns_in(answers[name] for name in ("whose", "when") if name in answers)}

    def columns_about(self, question: Question, answers: Answers) -> tuple[str, ...]:
        """Return the columns among a question's choices, then those of answers, the last first."""
        words = [choice.name for choice in question.choices]
        names = dict.fromkeys(self._columns_in([*words, *reversed([*answers.values()])]))
        return tuple(among(names, self.look.columns))

    def _columns_in(self, words: Iterable[str]) -> Iterator[str]:
        """Yield the columns that words of answers name, those of a stay one by one."""
        stays = {", ".join(stay): stay for stay in self.facts.stays}
        for word in words:
            yield from stays.get(word, (word,))

    def unnamed_columns(self, answers: Answers, choices: Sequence[Choice]) -> tuple[str, ...]:
        """Return the columns outside these choices and earlier answers."""
        taken = {*self.named_columns(answers), *(choice.name for choice in choices)}
        return tuple(without(self.look.columns, taken))


def shape_of(kind: str) -> str:
    """Return the meaning of a row in a kind's data."""
    return KINDS.find(kind).facts.rows
