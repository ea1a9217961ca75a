"""Ten questions of a newcomer: from the home page each is answered within three pages, by the words that stand here.

A walk begins at the home page, and every page of it has a link to the next one.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


@dataclass(frozen=True)
class Question:
    """A question, the pages after the home page, and words of the last one that answer it."""

    text: str
    walk: tuple[str, ...]
    answers: tuple[str, ...]


START = "getting-started.md"
QUESTIONS = (
    Question(
        "What does Takifugu protect that differential privacy of single records does not?", ("why.md",),
        ("The count moves by the whole run, and the noise covers one minute.",),
    ),
    Question(
        "Publish the example and say between which numbers the first exact count lies.", (START,),
        ("All three exact counts lie within ±33 of the published values with probability 95 %.",),
    ),
    Question(
        "A reader is 10 % sure of a secret. How sure can she become, at ε = 1?", ("concepts/limits.md",),
        ("at ε = 1 a reader who is 50 % sure can become 73 % sure, and one who is 10 % sure 23 %",),
    ),
    Question(
        "Name two things that the certificate does not promise.", (START, "reading-a-certificate.md"),
        ("readers with other beliefs, and publications outside the ledger", "the numbers may be wrong"),
    ),
    Question(
        "Take this CSV of your own (a log of changes) to a verdict.", ("changes-and-stays.md",),
        ('| `"changes"` | from now on this state |', "takifugu advise calls.toml"),
    ),
    Question(
        'The verdict is "useless". Find a change that makes it "good", and say what it gives up.',
        (START, "advice.md"), ("good: differences above 515 hours show", "| Change | Gives up |"),
    ),
    Question(
        "Publish it by hour. Does that cost more?", ("tables-by.md",),
        ("costs the same epsilon and gets the same noise scale as the whole",),
    ),
    Question(
        "How much of the budget is left, and what happens when it is used up?", (START,),
        ("takifugu ledger show activity-ledger.db", "Nothing was drawn or spent. The error prints the largest ε"),
    ),
    Question(
        "The release stopped half-way. What now, and what was paid?", (START,),
        ("If a release is interrupted, run the command again. It finishes the work and pays nothing twice.",),
    ),
    Question(
        "Where do the belief's numbers come from, and what if they are wrong?", (START, "choosing-beliefs.md"),
        ("Take the numbers from public knowledge, never from the private data.", "## What a wrong belief costs"),
    ),
)  # fmt: skip


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_a_question_is_answered_within_three_pages(question: Question) -> None:
    pages = ("index.md", *question.walk)
    assert len(pages) <= 3
    for name, following in pairwise(pages):
        assert re.search(rf"\]\({re.escape(following)}(#[\w-]+)?\)", page(name)), f"{name} has no link to {following}"
    text = " ".join(page(pages[-1]).split())
    assert [answer for answer in question.answers if answer not in text] == []


def test_there_are_ten_questions() -> None:
    assert len(QUESTIONS) == 10
