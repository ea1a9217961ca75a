"""What a row says, in one word: the one list of these words, with what each means."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator

from takifugu.core.errors import InputError
from takifugu.releasing.file.keys import meaning

#: Words of rows that are steps in time, or last over some; those that last; and those of other data.
StepWord = Literal["samples", "changes", "stays", "events", "wide"]
STEPS: tuple[str, ...] = get_args(StepWord)
LASTING = ("changes", "stays", "events")
#: What a row is, by the word of it.
ROWS = {
    "samples": "the state in its own step", "changes": "a state from then on",
    "stays": "a state from a start to an end", "events": "what happened in its step",
    "wide": "a state in each of several columns", "answers": "what is so of one person or case",
    "visits": "that somebody was somewhere", "contacts": "that two people met",
}  # fmt: skip
#: What a row was, by the kind of its data, before there was a word for it.
UNSAID = ("samples", "answers", "visits")


def _meanings(*words: str) -> str:
    phrases = [f'{ROWS[word]} ("{word}")' for word in words]
    return "what a row says: " + " or ".join([", ".join(phrases[:-1]), phrases[-1]] if phrases[:-1] else phrases)


def rows_among(*words: str) -> BeforeValidator:
    """Return a validator of the words for rows."""

    def checked(value: object) -> object:
        if isinstance(value, str) and value in ROWS and value not in words:
            choices = " or ".join(f'"{word}"' for word in words)
            raise InputError(
                f"is {value!r}, {ROWS[value]}", rule=f"under this belief a row is {ROWS[words[0]]}",
                fix=f"write rows = {choices}, or another belief.kind",
            )  # fmt: skip
        return value

    return BeforeValidator(checked)


#: Rows of sequences; of surveys and records; and under a policy.
Steps = Annotated[StepWord, rows_among(*STEPS), meaning(_meanings(*STEPS))]
Answers = Annotated[Literal["answers"], rows_among("answers"), meaning(_meanings("answers"))]
OfPolicy = Annotated[
    Literal["visits", "answers"] | None, rows_among("visits", "answers"), meaning(_meanings("visits", "answers"))
]
