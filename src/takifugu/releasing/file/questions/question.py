"""A question as data: its name, its words, its choices with what each means, and the likely one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from takifugu.core.errors import InputError, within
from takifugu.core.escaping import visible
from takifugu.core.nearest import did_you_mean
from takifugu.data import parse_step
from takifugu.releasing.file.guessing.seen import Seen

#: The answer that none of the columns, or nothing, is meant.
NONE = "-"
#: An error lists so many choices.
_LISTED = 8
_STEPS = {"times": "1min", "numbers": "1"}


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

    Where the answer decides what is protected it `must_be_clear`: nobody but a person takes what is offered then,
    unless it `is_clear`. What `others` name is an answer, too, and what has the `form`, if any: the length of a step in
    "times" or "numbers", or "text", which the file that it drafts judges.
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
            options.append(f"--{self.name} {word} ({visible(choice.words)})")
        return ", or ".join(options)


def unsaid(questions: Sequence[Question]) -> InputError:
    """Return the error of questions for a person only."""
    words = " ".join(question.words for question in questions)
    reasons = dict.fromkeys(question.why or "what is protected depends on it" for question in questions)
    options = "; and ".join(question.listed() for question in questions)
    return InputError(
        f"the table does not tell: {words}", rule="; ".join(reasons), fix=f"write {options}"
    ).at(questions[0].name)
