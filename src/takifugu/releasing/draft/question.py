"""A question about a table as data: its words, its choices, what was seen, and why it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from takifugu.core.errors import InputError
from takifugu.core.escaping import option, visible

Answers = Mapping[str, str]
#: The answer that no column says it.
NONE = "-"
_PROMISE = "what is protected depends on it"
_ORDER = "the order of rows is part of what is protected"
#: The questions by the key that each one sets, and what of it: the words, with a place for a column, and why.
QUESTIONS = {
    "rows": ("What does a row say?", _PROMISE),
    "unit": ("Whose is a row?", _PROMISE), "unit-read": ("Are the names in {} the same, read so?", _PROMISE),
    "order": ("When was a row?", _ORDER), "order-of-stays": ("When does it start?", _ORDER),
    "end": ("When does it end?", _ORDER),
    "order-read": ("How are the times in {} written?", "they can be read in several ways, and each gives other days"),
    "where": ("Which rows count?", "rows are never left out unseen"),
    "step": ("How long is a step?", "a step is what is protected, and public"),
    "timezone": ("Where do clocks show these times?", "hours, days and weekdays are those of clocks somewhere"),
    "kind": ("What is secret?", _PROMISE),
    "value": ("What is published?", "its values are counted"),
    "value-of-visits": ("Where was it?", "its visitors are counted: of coordinates write two columns, as lon, lat"),
    "value-read": ("How are the numbers in {} written?", "each gives other numbers"),
    "nulls": ("What does a missing value mean?", "what is missing is part of what is protected"),
    "missing": ("What does a missing answer count as?", "who gave no answer is a secret, too, so no row is left out"),
    "encoding": ("Which letters are right?", "no table tells it, and codecs that give the same here differ elsewhere"),
    "sql": ("Which table of the file is it?", "a source is one of them"),
    "called": ("What is one of those that {} names?", "readers are told how many of them there are"),
    "called-row": ("What is one row?", "each is protected by itself: who has several rows is not"),
}
#: So many choices are pasted in an error.
_LISTED = 12


@dataclass(frozen=True)
class Choice:
    """An answer to a question, and what it means."""

    name: str
    words: str


@dataclass(frozen=True)
class Question:
    """A question by the key that it sets; `evidence` is for the owner's eyes."""

    name: str
    words: str
    choices: tuple[Choice, ...]
    evidence: str
    why: str
    #: The only answer that there is, where the answer is no promise.
    offered: str | None = None
    #: An answer is a choice or a column, or is written in a form (declared.py), for each of some `parts`, as the `hint`
    #: is.
    form: str = ""
    hint: str = ""
    parts: tuple[str, ...] = ()

    @property
    def is_by_name(self) -> bool:
        """Return whether columns are too many to be choices."""
        return not self.form and all(choice.name == NONE for choice in self.choices)

    def listed(self) -> str:
        """Return the choices as options of the command line, of many the first and the last."""
        words = [f"{option(self.name, 'COLUMN')} (its name)"] if self.is_by_name else []
        left = len(self.choices) - _LISTED
        for choice in (*self.choices[: _LISTED - 1], *self.choices[_LISTED - 1 :][-1:]):
            words.append(f"{option(self.name, visible(choice.name))} ({visible(choice.words)})")
        return ", or ".join([*words, f"{left} more"] if left > 0 else words)


def ask(
    what: str, choices: Iterable[Choice], evidence: str = "", *, column: str = "", key: str = "", is_clear: bool = False
) -> Question:
    """Return a question of the table above; what `is_clear` is offered where it is the only choice."""
    (words, why), some = QUESTIONS[what], tuple(choices)
    offered = some[0].name if is_clear and len(some) == 1 else None
    return Question(key or what.partition("-")[0], words.format(repr(visible(column))), some, evidence, why, offered)


def question_called(name: str) -> Question:
    """Return the question of an answer that nothing asks for, without choices."""
    words, why = QUESTIONS[name]
    return Question(name, words, (), "", why, form="text")


def unsaid(some: Sequence[Question]) -> InputError:
    """Return the error of questions for the owner alone."""
    return InputError(
        "the table does not tell " + " and ".join(f'"{question.words}"' for question in some),
        rule="; ".join(dict.fromkeys(question.why for question in some)),
        fix="; and ".join(question.listed() for question in some),
    ).at(some[0].name)


def opening(error: InputError) -> Question:
    """Return the question of a file that can be opened in several ways; the error again where it is none."""
    name = str(error.where[-1]) if error.where else ""
    if name not in ("encoding", "sql") or not error.offers:
        raise error
    choices = [Choice(*offer) for offer in error.offers]
    return ask(name, choices)
